"""Drivers over samples that a device computes: what `Driven` does with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from clusterkit._typing import Array, ArrayLike, Samples
from clusterkit.core import devices
from clusterkit.core.compat import Problem
from clusterkit.core.device_engine import ArrayRows, DeviceEngine
from clusterkit.core.devices import on_host
from clusterkit.core.engines import engine_for
from clusterkit.core.errors import IncompatibleStages
from clusterkit.core.rows_fit import check_rows
from clusterkit.core.seeds import Seeds
from clusterkit.core.stages import Driver, DriverResult
from clusterkit.drivers import compose
from clusterkit.drivers.auto.fits import run_driver
from clusterkit.drivers.samples import RowsThere
from clusterkit.estimators import bars, threads
from clusterkit.estimators._rows_elsewhere import rows_in_memory, space_of
from clusterkit.estimators.fitted_attributes import set_fitted
from clusterkit.estimators.number import set_report
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.estimators.samples import checked
from clusterkit.estimators.units import SCALE_FIRST, warn_of_units

if TYPE_CHECKING:
    from clusterkit.estimators.driven import Driven

__all__ = ["fit_driven_on_device"]


def fit_driven_on_device(
    model: Driven, driver: Driver, base: Pipeline, X: Samples, sample_weight: ArrayLike | None
) -> bool:
    """Fit a model to samples that a device computes, and set its attributes; False where there is no device."""
    engine, here = engine_for(X), None
    if isinstance(engine, DeviceEngine):
        samples = RowsThere(engine.rows(X), engine)
    elif engine is None and (device := devices.current()) is not None:
        here = checked(model, X, None, reset=True)
        samples = RowsThere(rows_in_memory(model, here), DeviceEngine(device))
    else:
        return False
    n, composition, seeds = len(samples), base.composition(), _seeds(model, base)
    unfit = [] if driver.weighted else [Problem("driver", f"'{driver.name}' counts rows")]
    composition = base.weighted(composition, sample_weight, n, unfit)
    option = "tuner" if base.tuner is not None else "n_clusters='auto'" if base.chooses_number(composition) else None
    if option is not None:
        raise IncompatibleStages(f"{option} compares fits of all rows in memory. {samples.engine.by_sample}")
    if not samples.engine.in_process:
        raise IncompatibleStages(f"driver '{driver.name}' compares labels in one process. {samples.engine.by_sample}")
    check_rows(composition, samples.engine, n)
    with (
        on_host(),  # what works on the host, such as a start that is a recipe, does not go back to the device
        threads.suited(threads.elements(n, composition.featuremap)),
        bars.shown(model.verbose),
        bars.hooks(),
    ):
        # the interface of drivers names arrays; those that have `on_devices` take both
        answer = run_driver(driver, composition, cast("Array", samples), seeds)
    _set(model, base, samples, answer, compose.Tuning(composition))
    if here is not None:
        warn_of_units(model, here, space_of(model.space_, here), SCALE_FIRST)
    return True


def _seeds(model: Driven, base: Pipeline) -> Seeds:
    return Seeds.of(base.random_state if model.random_state is None else model.random_state)


def _set(model: Driven, base: Pipeline, samples: RowsThere, answer: DriverResult, tuning: compose.Tuning) -> None:
    """The attributes of the fit: arrays lie where the samples lie."""
    rows = samples.rows
    set_fitted(model, answer.fit, tuning, base.reported_labeler(tuning.composition))
    report = dict(answer.report)
    if isinstance(rows, ArrayRows):
        put = rows.device.put
        model.labels_, model.history_ = put(np.asarray(model.labels_)), put(model.history_)
        report = {name: put(value) if isinstance(value, np.ndarray) else value for name, value in report.items()}
    set_report(model, report)
    if rows.names is None:
        model.__dict__.pop("feature_names_in_", None)
    else:
        model.feature_names_in_ = np.array(rows.names, dtype=object)
    model.n_features_in_ = rows.d
