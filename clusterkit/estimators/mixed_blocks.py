"""The mixture of mixed columns on tables that do not fit into memory: a search on a sample, then EM over all rows.

The blocks of the table are read twice: for its preparation, which is a sum over them, and to write its columns as
numbers and codes into a temporary file, 8 bytes a cell. Starts, roles, the form of the covariances and the number of
clusters come from a random sample of the rows. Each further iteration is one pass over the file (`ModelSums` in
numerics/mixed/expectation.py). Memory is that of the sample, of a block and of the labels.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, cast

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.outcomes import Ending
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers.single import SingleDriver
from clusterkit.errors import InvalidData, counted
from clusterkit.estimators import same_place
from clusterkit.estimators.base import FittedAttributes, set_fitted
from clusterkit.estimators.number import set_report
from clusterkit.estimators.preparing import attach, stages_of_tables
from clusterkit.fitting.samples import ArraySamples
from clusterkit.labelers.most_probable import MostProbableComponent
from clusterkit.numerics.mixed.expectation import ModelSums
from clusterkit.numerics.selection import sample_rows
from clusterkit.samples.limits import Report, notify
from clusterkit.samples.mixed_space import split_points
from clusterkit.solvers.mixtures.mixed_mixture import MixedPosteriors
from clusterkit.tables import FittedPreparation, Preparation

__all__ = ["fit_blocks"]

SAMPLE = 50_000
"""Rows of the sample: a search on them takes seconds, and a role that they do not show matters to few rows."""

BLOCK = 2**16
"""Rows of the temporary file that are in memory at once."""

MOST_PASSES, TOL = 40, 1e-5
"""Iterations on all rows at most, and the share of the log-likelihood that the last one gained."""


def fit_blocks(
    model: FittedAttributes, blocks: Callable[[], Iterable[object]], preparation: Preparation | None = None
) -> FittedPreparation:
    """Fit a model that takes the columns of tables to one that comes in blocks.

    The labels are of all rows, in their order; the space and the scores are those of the sample.

    Parameters
    ----------
    model : FittedAttributes
        A `Pipeline` whose stages take tables, such as the recipe "mixture".
    blocks : callable
        Gives the blocks of rows, tables or data frames, anew at each call.
    preparation : Preparation, optional

    Raises
    ------
    InvalidData
        If the model takes features only.

    Examples
    --------
    >>> import numpy as np
    >>> from clusterkit import recipe
    >>> def blocks():
    ...     for start in (0.0, 9.0):
    ...         rng = np.random.default_rng(0)
    ...         yield {"x": start + rng.normal(size=50), "y": start + rng.normal(size=50)}
    >>> model = recipe("mixture", n_clusters=2, random_state=0)
    >>> fitted = fit_blocks(model, blocks)
    >>> np.bincount(model.labels_), model.resolved_["solver"]["rows_of_sample"]
    (array([50, 50]), 100)
    """
    stages = stages_of_tables(model)
    if stages is None:
        raise InvalidData("fit_blocks: this model takes features only; blocks of tables are for the recipe 'mixture'")
    fitted = attrs.evolve((preparation or Preparation()).fit_blocks(blocks()), coded=True)
    any_model: Any = model
    seeds = Seeds.of(any_model.random_state)
    with tempfile.TemporaryFile() as file, same_place.shown(any_model.verbose), same_place.hooks():
        chosen = sample_rows(fitted.rows, SAMPLE, seeds.stream("rows of a table"))
        sample = _written(file, fitted, blocks(), np.sort(chosen))
        fit = _of_sample(stages, fitted, sample, seeds)
        if len(sample) < fitted.rows:
            fit = _of_all_rows(fit, file, len(fitted.names_of_codes), fitted.rows)
    model.n_features_in_ = len(fitted.columns)
    model.feature_names_in_ = np.array(fitted.columns, dtype=object)
    any_model._takes_sparse_rows = False
    resolved = {**fit.resolved, "solver": {**fit.resolved["solver"], "rows_of_sample": len(sample)}}
    set_fitted(model, attrs.evolve(fit, resolved=resolved), None, stages.labeler.name)
    set_report(model, {})
    attach(model, fitted)
    return fitted


def _written(file: IO[bytes], fitted: FittedPreparation, blocks: Iterable[object], chosen: Labels) -> Array:
    """Write the columns as numbers and codes, and return the chosen rows."""
    parts, start = list[Array](), 0
    for block in blocks:
        rows = np.ascontiguousarray(fitted.transform(block, quiet=True), dtype=np.float64)
        rows.tofile(file)
        inside = chosen[(chosen >= start) & (chosen < start + len(rows))]
        parts.append(rows[inside - start])
        start += len(rows)
    file.flush()
    if start != fitted.rows:
        raise InvalidData(f"fit_blocks: the blocks had {fitted.rows:,} rows, and {start:,} when they were read again")
    return np.concatenate(parts)


def _of_sample(stages: Composition, fitted: FittedPreparation, sample: Array, seeds: Seeds) -> FitResult:
    featuremap = stages.featuremap.with_parameters(kinds=fitted.kinds_of_codes, names=fitted.names_of_codes)
    composition = attrs.evolve(stages, featuremap=featuremap)
    with same_place.limited_threads(same_place.elements(len(sample), featuremap)):
        return SingleDriver().run([composition], ArraySamples(sample), seeds).fit


def _of_all_rows(fit: FitResult, file: IO[bytes], width: int, n: int) -> FitResult:
    """The fit after EM over all rows, and their labels.

    With gaps in numbers and covariances the mixture of the sample stays, since products of numbers with gaps are no
    sums over the rows.
    """
    predictor = cast("MostProbableComponent", fit.predict)
    extend = cast("MixedPosteriors", predictor.extend)
    history, ending = list[float](), Ending.SETTLED
    reason = "the mixture of the sample: with gaps and covariances there is no iteration over all rows"
    try:
        for step in range(MOST_PASSES):
            total: ModelSums | None = None
            for rows in _read(file, width):
                part = ModelSums.of(extend.model, *split_points(extend.transform(rows), extend.n_numbers))
                total = part if total is None else total + part
            assert total is not None
            has_gaps = bool((total.observed < total.sizes[:, None] - 1e-6 * n).any())
            if has_gaps and extend.model.spreads.ndim == 3:
                break
            gained = -total.likelihood - history[-1] if history else -math.inf
            history.append(-total.likelihood)
            notify(Report("mixed_mixture", step + 1, MOST_PASSES, history[-1]))
            reason = f"the log-likelihood of all rows rose by less than {TOL:g} of itself in the last pass"
            if -gained < TOL * abs(total.likelihood):
                break
            extend = attrs.evolve(extend, model=total.maximised(extend.model))
        else:
            reason = f"{MOST_PASSES} passes over all rows, the most"
    except KeyboardInterrupt:
        ending = Ending.INTERRUPTED
        reason = (
            f"interrupted after {counted(len(history), 'pass', 'passes')} over all rows: the mixture so far is kept"
        )
    predictor = attrs.evolve(predictor, extend=extend)
    labels = np.concatenate([predictor(rows) for rows in _read(file, width)])
    outcome = None if fit.outcome is None else attrs.evolve(cast("Any", fit.outcome), extend=extend)
    return attrs.evolve(
        fit, labels=labels, n_iter=max(1, len(history)), ending=ending, reason=reason, outcome=outcome,
        predict=predictor, memberships=None, history=tuple(history) or fit.history,
        objective=history[-1] if history else fit.objective,
    )  # fmt: skip


def _read(file: IO[bytes], width: int) -> Iterator[Array]:
    """The rows of the temporary file, block by block."""
    file.seek(0)
    while len(rows := np.fromfile(file, dtype=np.float64, count=BLOCK * width)):
        yield rows.reshape(-1, width)
