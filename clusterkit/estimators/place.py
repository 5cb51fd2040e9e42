"""Place of an estimator's samples: where they are, what is fitted and predicted there, and where the results go."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, final

import attrs
import numpy as np
from sklearn.exceptions import NotFittedError

from clusterkit._typing import Array, Labels
from clusterkit.contracts import FeatureMap
from clusterkit.contracts.arguments import SamplesLike
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.outcomes import Domain
from clusterkit.errors import IncompatibleStages, InvalidData
from clusterkit.estimators.samples import checked, new_rows
from clusterkit.fitting.device_paths import read_at_once
from clusterkit.fitting.samples import ArraySamples, EngineSamples, Samples, engine_for
from clusterkit.samples import Space, devices
from clusterkit.samples.array_libraries import has_array_api
from clusterkit.samples.device_engine import ArrayRows, DeviceEngine
from clusterkit.samples.devices import on_host
from clusterkit.samples.rows import Rows, SlicedRows, place_of
from clusterkit.samples.survey import Extremes

if TYPE_CHECKING:
    from clusterkit.estimators.base import FittedAttributes

LOOKED_AT = 10_000
"""Rows of a fit on a device from which the spreads of the columns are estimated."""

SAMPLE = 2000
"""Largest number of rows of a device that are fitted on the host by methods that need all rows at once, such as
`svc`."""


@final
@attrs.frozen(eq=False)
class PlacedSamples:
    """The samples of a fit, checked, and where its results go.

    Parameters
    ----------
    samples : Samples
        Samples that are fitted.
    origin : EngineSamples or None
        Samples of an engine as they were given, for the results; few rows of it are read at once and fitted in memory.
    array : ndarray, SparseRows or None
        The part of the samples that is in memory.
    """

    samples: Samples
    origin: EngineSamples | None = None
    array: Array | None = None

    @classmethod
    def of(
        cls,
        model: FittedAttributes,
        X: SamplesLike,
        featuremap: FeatureMap | None,
        *,
        whole: int = 0,
        dense_only: bool = False,
        only_devices: bool = False,
    ) -> PlacedSamples:
        """The samples X of a fit of a model, whose `n_features_in_` and `feature_names_in_` are set.

        Parameters
        ----------
        model : FittedAttributes
        X : array-like of shape (n, d), or what an engine takes
        featuremap : FeatureMap or None
            Feature map for `checked`, which checks the samples in memory.
        whole : int
            Largest number of rows of a device that are fitted in memory.
        dense_only : bool
            Passed to `checked`.
        only_devices : bool
            Whether only engines of devices are used.
        """
        engine = engine_for(X)
        if engine is None or (only_devices and not isinstance(engine, DeviceEngine)):
            array = checked(model, X, featuremap, reset=True, dense_only=dense_only)
            if (device := devices.current()) is None:
                return cls(ArraySamples(array), array=array)
            rows, engine = rows_in_memory(model, array), DeviceEngine(device)
        else:
            array, rows = None, engine.rows(X)
            if not rows.d:
                raise InvalidData(f"X has {rows.n} rows and no column; a minimum of 1 is required")
        origin = EngineSamples(rows, engine)
        if not only_devices and read_at_once(rows) and (not origin.on_device or 0 < rows.n <= whole):
            values = rows.read(slice(0, rows.n))
            if len(values):
                Extremes.of(slice(0, rows.n), values).check(rows.names, place_of(rows))
            with on_host() if origin.on_device else nullcontext():
                array = checked(model, values, featuremap, reset=True, dense_only=dense_only)
            return cls(ArraySamples(array), origin, array)
        return cls(origin, origin, array)

    def in_memory(self) -> Array:
        """The array, where the samples are in memory."""
        assert self.array is not None
        return self.array

    def fitted_where(self) -> AbstractContextManager[object]:
        """Context of a fit: stages that work on the host, as for few rows of a device, do not use the device again."""
        on_device = self.origin is not None and self.origin.on_device
        return on_host() if on_device and isinstance(self.samples, ArraySamples) else nullcontext()

    def place(self, model: FittedAttributes) -> None:
        """Move the results of the fit to the place of the samples, and set the names of the columns."""
        if self.origin is None:
            return
        rows = self.origin.rows
        if isinstance(model.labels_, np.ndarray):
            model.labels_ = self.origin.placed(model.labels_)
        if isinstance(rows, ArrayRows):
            model.history_ = rows.device.put(model.history_)
        model.n_features_in_ = rows.d
        if rows.names is not None:
            model.feature_names_in_ = np.array(rows.names, dtype=object)
        else:
            model.__dict__.pop("feature_names_in_", None)

    def placed_report(self, report: dict[str, object]) -> dict[str, object]:
        """The report of a driver with its arrays on the device of the samples."""
        rows = None if self.origin is None else self.origin.rows
        if not isinstance(rows, ArrayRows):
            return report
        put = rows.device.put
        return {name: put(value) if isinstance(value, np.ndarray) else value for name, value in report.items()}

    def with_samples(self, space: Space | None) -> Space | None:
        """The fitted space with samples in memory; after a fit by passes with some rows, enough to see their scale."""
        if space is None or self.array is None or not isinstance(self.samples, EngineSamples):
            return space
        some = self.array[:: -(-len(self.array) // LOOKED_AT)]
        return attrs.evolve(space, points=space.coordinates(some))


def rows_in_memory(model: FittedAttributes, X: Array) -> Rows:
    """Checked samples in memory as rows, for a device, with the names of their columns."""
    if not isinstance(X, np.ndarray):
        raise InvalidData(
            "sparse samples have no path on a device. Pass X.toarray() if that fits into memory, or compute on the "
            "host: clusterkit.config(device='cpu')"
        )
    names = getattr(model, "feature_names_in_", None)
    return SlicedRows(X, None if names is None else tuple(names))


def predicted(model: FittedAttributes, X: SamplesLike) -> Labels:
    """Labels of new samples, in memory or elsewhere, (m,).

    Raises
    ------
    NotFittedError
        If the fit cannot predict.
    IncompatibleStages
        If a device is to compute labels, and the model has no path there.
    """
    engine, predict = engine_for(X), model.predictor_
    if engine is not None and predict is not None:
        if vars(model).get("preparation_") is not None and engine.are_tables(X):
            from clusterkit.estimators.mixed_blocks import labels_of_tables

            return labels_of_tables(model, X, engine)
        samples: Samples = EngineSamples(new_rows(model, engine.rows(X)), engine)
    else:
        rows = model._rows_of(X)
        if predict is None:
            raise NotFittedError("the stages changed since the fit, which cannot predict; fit again")
        samples = ArraySamples(rows)
        if (device := devices.current()) is not None:
            samples = EngineSamples(new_rows(model, rows_in_memory(model, rows)), DeviceEngine(device))
    if isinstance(samples, EngineSamples) and samples.on_device and not has_array_api(predict):
        advice = samples.engine.by_sample
        raise IncompatibleStages(f"the labels of new rows have no path on a device for this model. {advice}")
    width = model.n_features_in_ if model.space_ is None else getattr(model.space_, "width", model.n_features_in_)
    return samples.labels(predict, width)


def domain_of_sample(c: Composition) -> bool:
    """Whether a sample can represent all rows: clusters are read from a domain, which has a value at every row."""
    return c.path is not None and issubclass(c.path.gives, Domain) and issubclass(c.labeler.consumes, Domain)
