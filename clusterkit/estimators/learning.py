"""Batches of samples one after the other: the work of `Pipeline.partial_fit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clusterkit._typing import ArrayLike, Samples
from clusterkit.core.batches import begin, go_on, why_not_by_batches
from clusterkit.core.device_engine import DeviceEngine
from clusterkit.core.engines import engine_for
from clusterkit.core.errors import IncompatibleStages, InvalidData, InvalidParameter
from clusterkit.core.rows import Rows
from clusterkit.core.seeds import Seeds
from clusterkit.estimators import bars
from clusterkit.estimators.fitted_attributes import set_fitted
from clusterkit.estimators.number import set_report
from clusterkit.estimators.samples import checked
from clusterkit.estimators.unsuited import refuse_device
from clusterkit.numerics.sparse_rows import SparseRows

if TYPE_CHECKING:
    from clusterkit.estimators.pipeline import Pipeline

__all__ = ["add_batch", "why_not_learning"]


def add_batch(model: Pipeline, X: Samples, sample_weight: ArrayLike | None) -> None:
    """Fit a first batch, or go on with a further one, and set the fitted attributes."""
    if not hasattr(model, "_learned") and hasattr(model, "labels_"):
        raise InvalidData(
            "partial_fit cannot go on with a loaded model, as files do not keep the sums of earlier batches; "
            "go on with the model in memory, or begin anew with clone(model)"
        )
    before = getattr(model, "_learned", None)
    composition = model.composition()
    stages = (composition.featuremap, composition.solver, composition.labeler, composition.n_clusters)
    if before is not None and stages != model._learned_by:
        raise InvalidParameter(
            "a stage or n_clusters was changed since the first batch, whose sums do not fit it; begin anew with "
            "clone(model)"
        )
    refuse_device("partial_fit")
    if not isinstance(X, Rows) and isinstance(engine_for(X), DeviceEngine):
        raise IncompatibleStages(
            f"partial_fit computes with numpy, and X is an array of {type(X).__module__.partition('.')[0]}: pass "
            "numpy.asarray(X), from a device after moving it to the host"
        )
    dense_only = not model._accepts_sparse_samples()
    rows = checked(model, X, composition.featuremap, reset=before is None, dense_only=dense_only)
    composition = model.weighted(composition, sample_weight, rows.shape[0])
    seeds = Seeds.of(model.random_state)
    with bars.shown(model.verbose), bars.hooks():
        if before is None:
            learned, answer = begin(composition, rows, seeds)
        else:
            learned, answer = go_on(before, composition, rows, seeds)
    model._learned, model._learned_by = learned, stages
    model._takes_sparse_rows = isinstance(rows, SparseRows)
    set_fitted(model, answer, None, model.reported_labeler(composition))
    set_report(model, {})


def why_not_learning(model: Pipeline) -> str | None:
    """Why a model has no `partial_fit`; None if it has."""
    try:
        c = model.composition()
    except ValueError:
        return None  # partial_fit reports what is wrong
    if model.tuner is not None or model.chooses_number(c):
        return "a tuner, or the choice of n_clusters, compares fits of all samples"
    return why_not_by_batches(c)
