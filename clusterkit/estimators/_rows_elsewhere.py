"""Fits and predictions of rows that an engine reads: from files, other collections, or on a device."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import attrs
import numpy as np

from clusterkit._typing import Array, ArrayLike, Labels
from clusterkit.core.device_engine import ArrayRows, DeviceEngine
from clusterkit.core.device_paths import device_problems
from clusterkit.core.devices import on_host
from clusterkit.core.engines import Engine
from clusterkit.core.errors import IncompatibleStages, InvalidData
from clusterkit.core.namespaces import follows
from clusterkit.core.rows import Rows, SlicedRows, place_of
from clusterkit.core.rows_fit import check_rows, fit_rows, in_memory, predict_rows, row_problems
from clusterkit.core.seeds import Seeds
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Predict
from clusterkit.core.survey import Extremes
from clusterkit.drivers import compose
from clusterkit.estimators import bars, threads
from clusterkit.estimators._rows_by_sample import fit_by_sample, sample_size
from clusterkit.estimators.fitted_attributes import FittedAttributes, set_fitted
from clusterkit.estimators.number import is_open, set_report
from clusterkit.estimators.samples import new_rows

if TYPE_CHECKING:
    from clusterkit.estimators.pipeline import Pipeline

__all__ = [
    "fit_elsewhere",
    "predict_elsewhere",
    "rows_in_memory",
    "space_of",
    "takes_arrays",
]

LOOKED_AT = 10_000
"""Rows that tell the spreads of the columns of a fit on a device well enough."""

REMEMBERED = 256
"""Values of slots whose answer to `takes_arrays` is kept: every validation of samples asks for the tags."""

_taken: dict[object, bool] = {}


def rows_in_memory(model: FittedAttributes, X: Array) -> Rows:
    """Checked samples in memory as rows, for a device, with the names of their columns."""
    if not isinstance(X, np.ndarray):
        raise InvalidData(
            "sparse samples have no path on a device. Pass X.toarray() if that fits into memory, or compute on the "
            "host: clusterkit.config(device='cpu')"
        )
    names = getattr(model, "feature_names_in_", None)
    return SlicedRows(X, None if names is None else tuple(names))


def space_of(space: Space | None, X: Array) -> Space | None:
    """The fitted space, which keeps no samples, with some of those in memory, for a look at their scale."""
    if space is None:
        return None
    some = X[:: -(-len(X) // LOOKED_AT)]
    return attrs.evolve(space, points=space.coordinates(some))


def fit_elsewhere(model: Pipeline, rows: Rows, engine: Engine, sample_weight: ArrayLike | None = None) -> None:
    """Fit a model to rows that an engine reads, and set its attributes.

    Few rows are read at once; with a device only where a sample would be fitted on the host, and holds them all.
    """
    if not rows.d:
        raise InvalidData(f"X has {rows.n} rows and no column; a minimum of 1 is required")
    if in_memory(rows) and (not isinstance(engine, DeviceEngine) or _all_are_a_sample(model, rows)):
        _fit_at_once(model, rows, engine, sample_weight)
    else:
        _fit_by_passes(model, rows, engine, sample_weight)
    if rows.names is not None:
        model.feature_names_in_ = np.array(rows.names, dtype=object)


def _fit_at_once(model: Pipeline, rows: Rows, engine: Engine, sample_weight: ArrayLike | None) -> None:
    X, place = rows.read(slice(0, rows.n)), place_of(rows)
    if len(X):
        Extremes.of(slice(0, rows.n), X).check(rows.names, place)
    with on_host() if isinstance(engine, DeviceEngine) else nullcontext():
        model.fit(X, sample_weight=sample_weight)
    model.labels_ = engine.placed(model.labels_, rows)
    if isinstance(rows, ArrayRows):
        model.history_ = rows.device.put(model.history_)


def _all_are_a_sample(model: Pipeline, rows: Rows) -> bool:
    """Whether a fit by sample would be one of all rows."""
    if not model.fits_by_sample():
        return False
    tuner = None if model.tuner is None else compose.resolve("tuner", model.tuner)
    return rows.n <= sample_size(tuner)


def _fit_by_passes(model: Pipeline, rows: Rows, engine: Engine, sample_weight: ArrayLike | None) -> None:
    composition, tuning = model.weighted(model.composition(), sample_weight, rows.n), None
    sampled = model.fits_by_sample()
    if not sampled:
        check_rows(composition, engine, rows.n)
    if (model.tuner is not None and not sampled) or is_open(getattr(model, "n_clusters", None)):
        option = "tuner" if model.tuner is not None else "n_clusters='auto'"
        raise IncompatibleStages(f"{option} compares fits of all rows in memory. {engine.by_sample}")
    seeds = Seeds.of(model.random_state)
    with (
        threads.suited(threads.elements(rows.n, composition.featuremap)),
        bars.shown(model.verbose),
        bars.hooks(),
    ):
        if sampled:
            tuner = compose.resolve("tuner", model.tuner)
            tuning, answer = fit_by_sample(composition, tuner, rows, engine, seeds)
        else:
            answer = fit_rows(composition, rows, engine, seeds)
    model.n_features_in_ = rows.d
    model.__dict__.pop("feature_names_in_", None)
    model._takes_sparse_rows = False
    set_fitted(model, answer, tuning, model.reported_labeler(composition))
    set_report(model, {})
    if isinstance(rows, ArrayRows):
        model.history_ = rows.device.put(model.history_)


def predict_elsewhere(model: FittedAttributes, predict: Predict, rows: Rows, engine: Engine) -> Labels:
    """Labels of rows that an engine reads, (m,)."""
    rows = new_rows(model, rows)
    if isinstance(engine, DeviceEngine) and not follows(predict):
        raise IncompatibleStages(f"the labels of new rows have no path on a device for this model. {engine.by_sample}")
    width = model.n_features_in_ if model.space_ is None else getattr(model.space_, "width", model.n_features_in_)
    return predict_rows(predict, rows, engine, width)


def takes_arrays(model: Pipeline) -> bool:
    """Whether arrays of other libraries can be fitted where they lie (scikit-learn's tag `array_api_support`)."""
    number = getattr(model, "n_clusters", None)
    if model.tuner is not None or is_open(number):
        return False
    key: object = (number, model.featuremap, model.solver, model.labeler)
    try:
        known = _taken.get(key)
    except TypeError:  # a list of maps, or a dict with parameters
        key = _frozen(key)
        try:
            known = _taken.get(key)
        except TypeError:  # what fit reports
            return False
    if known is None:
        if len(_taken) >= REMEMBERED:
            _taken.clear()
        known = _taken[key] = _take_arrays(
            {"featuremap": model.featuremap, "solver": model.solver, "labeler": model.labeler}, number
        )
    return known


def _frozen(value: object) -> object:
    """The value of a slot, lists and dicts in it too, as something with a hash."""
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    return frozenset((key, _frozen(each)) for key, each in value.items()) if isinstance(value, dict) else value


def _take_arrays(slots: dict[str, object], number: int | None) -> bool:
    """The same for the values of slots."""
    # few rows are started and balanced on the host, whatever stage does that
    try:
        c = attrs.evolve(compose.compose({**slots, "balancer": None, "init": "random"}, number), init=None)
    except ValueError:  # fit reports what is wrong
        return False
    return not list(row_problems(c, in_process=True)) and not list(device_problems(c))
