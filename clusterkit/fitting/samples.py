"""The samples of a fit before any map, in memory or read by an engine: the only module that knows where they are.

The engine is found by the type of the samples, without importing a package, and by the device chosen for this process.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.contracts import Predict
from clusterkit.contracts.registry import registry
from clusterkit.numerics.selection import n_distinct
from clusterkit.numerics.sparse_rows import SparseRows, column_extremes
from clusterkit.samples import FeatureSpace, build_space, devices
from clusterkit.samples.array_libraries import BlockFunction
from clusterkit.samples.device_engine import ArrayRows, DeviceEngine
from clusterkit.samples.engines import Engine
from clusterkit.samples.rows import Rows, RowsOfColumns, place_of, read_whole
from clusterkit.samples.rows_space import RowsSpace
from clusterkit.samples.survey import DistinctUpTo, Extremes, OfFiniteRows, extremes
from clusterkit.samples.transform import IdentityMap, RowMap, Transform

__all__ = [
    "ArrayOrSamples",
    "ArraySamples",
    "Engine",
    "EngineSamples",
    "Predicted",
    "Samples",
    "as_samples",
    "engine_for",
    "on_device",
]


class Samples(ABC):
    """Raw samples (n, d), in memory or elsewhere; estimators, drivers and fits hand them around."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of samples."""

    @property
    @abstractmethod
    def d(self) -> int:
        """Number of attributes."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype:
        """float32 or float64."""

    def __len__(self) -> int:
        """Number of samples."""
        return self.n

    @abstractmethod
    def extremes(self) -> tuple[Array, Array]:
        """Smallest and largest value of each attribute, (d,) each."""

    @abstractmethod
    def n_distinct(self, enough: int) -> int:
        """The number of distinct samples, or a smaller number of them that is at least `enough`."""

    @abstractmethod
    def gather(self, index: Indices) -> Array:
        """Some samples on the host, (m, d)."""

    @abstractmethod
    def whole(self, what: str, advice: str) -> Array:
        """All samples on the host, (n, d); `what` and `advice` are for the error.

        Raises
        ------
        NeedsMemory
            If they are not in memory, and the memory cap does not allow it.
        """

    @abstractmethod
    def columns(self, index: Indices) -> Samples:
        """The samples with some of their attributes."""

    @abstractmethod
    def space(self, mapping: RowMap, before: tuple[RowMap, ...] = ()) -> FeatureSpace:
        """The features that maps make of the samples, the last one being `mapping`."""

    @abstractmethod
    def labels(self, predict: Predict, width: int, before: str = "the prediction") -> Labels:
        """Labels of all samples by a predictor of raw rows, (n,), in blocks of `width` features.

        The labels are on the device of the samples, and may be lazy there.

        Raises
        ------
        InvalidData
            If a value of samples outside memory is no finite number; `before` says what it is needed for.
        """


@final
@attrs.frozen(eq=False)
class ArraySamples(Samples):
    """Samples in memory; an estimator has checked that they are finite numbers.

    Parameters
    ----------
    X : ndarray or SparseRows of shape (n, d)
    """

    X: Array

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.X)

    @property
    def d(self) -> int:
        """Number of attributes."""
        return int(self.X.shape[1])

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64."""
        return self.X.dtype

    def extremes(self) -> tuple[Array, Array]:
        """Smallest and largest value of each attribute."""
        return self.X.extremes() if isinstance(self.X, SparseRows) else column_extremes(self.X)

    def all_equal(self) -> bool:
        """Whether all rows are the same; two rows settle it for nearly all data, without an n x d comparison."""
        X = self.X
        if len(X) < 2:
            return False
        if isinstance(X, SparseRows):
            return bool(np.all(X.squares() == X.squares()[0])) and len(X.distinct()[0]) == 1
        first = X[0]
        return bool((X[-1] == first).all() and (X[len(X) // 2] == first).all() and (first == X).all())

    def n_distinct(self, enough: int) -> int:
        """Those of the array."""
        return n_distinct(self.X, enough)

    def gather(self, index: Indices) -> Array:
        """Some rows, (m, d)."""
        return self.X[index]

    def whole(self, what: str, advice: str) -> Array:
        """The array itself."""
        return self.X

    def columns(self, index: Indices) -> ArraySamples:
        """A copy of some columns."""
        return ArraySamples(np.ascontiguousarray(self.X[:, index]))

    def space(self, mapping: RowMap, before: tuple[RowMap, ...] = ()) -> FeatureSpace:
        """The features in memory, or computed in each pass where they have no room."""
        points = Transform(before, self.dtype)(self.X) if before else self.X
        return build_space(points, mapping, before=before)

    def labels(self, predict: Predict, width: int, before: str = "the prediction") -> Labels:
        """Labels of the array's rows, (n,)."""
        return predict(self.X)


@final
@attrs.frozen(eq=False)
class EngineSamples(Samples):
    """Samples that an engine reads block by block: of a file, of a collection, or computed by a device.

    Parameters
    ----------
    rows : Rows
    engine : Engine
    """

    rows: Rows
    engine: Engine

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.rows.n

    @property
    def d(self) -> int:
        """Number of columns."""
        return self.rows.d

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64, of what is read."""
        return self.rows.dtype

    @property
    def on_device(self) -> bool:
        """Whether a device computes the blocks."""
        return isinstance(self.engine, DeviceEngine)

    @property
    def keeps_rows(self) -> bool:
        """Whether numbers of every row may stay between passes: on a device that this process uses."""
        return isinstance(self.engine, DeviceEngine) and self.engine.in_process

    @property
    def identity(self) -> RowsSpace:
        """The raw rows as features."""
        return self.space(IdentityMap(self.d))

    def column_extremes(self) -> Extremes:
        """The extremes of the columns, in one pass.

        Raises
        ------
        InvalidData
            If a value is no finite number; column and row are named.
        """
        ends = extremes(self.identity)
        ends.check(self.rows.names, place_of(self.rows))
        return ends

    def extremes(self) -> tuple[Array, Array]:
        """Smallest and largest value of each column, in one pass."""
        ends = extremes(self.identity)
        return ends.low, ends.high

    def n_distinct(self, enough: int) -> int:
        """By one pass, but where the first rows are enough."""
        first = n_distinct(self.gather(np.arange(min(self.n, 2 * enough))), enough)
        return first if first >= enough else len(self.identity.reduce(DistinctUpTo(enough)).rows)

    def gather(self, index: Indices) -> Array:
        """Some rows on the host, (m, d)."""
        return self.rows.gather(index)

    def whole(self, what: str, advice: str) -> Array:
        """All rows, if the memory cap allows it."""
        return read_whole(self.rows, what, advice)

    def columns(self, index: Indices) -> EngineSamples:
        """Some columns of the rows."""
        rows = self.rows
        return attrs.evolve(
            self, rows=rows.columns(index) if isinstance(rows, ArrayRows) else RowsOfColumns(rows, index)
        )

    def space(self, mapping: RowMap, before: tuple[RowMap, ...] = ()) -> RowsSpace:
        """The features, which are computed in each pass."""
        return RowsSpace.of(self.rows, self.engine, mapping, before)

    def labels(self, predict: Predict, width: int, before: str = "the prediction") -> Labels:
        """Labels of all rows, (n,), by one pass of the engine."""
        return self.engine.labels(OfFiniteRows(Predicted(predict), self.rows.names, before), self.rows, width)

    def placed(self, labels: Labels) -> Labels:
        """Labels (n,) of the host, moved to the device of the samples."""
        return self.engine.placed(labels, self.rows)

    def table(self, function: Predict, width: int) -> Array:
        """Numbers of all rows by a function of raw rows, (n, q), where the rows of a device lie."""
        assert isinstance(self.engine, DeviceEngine)
        return cast("Array", self.engine.values(Predicted(function), self.rows, width))


ArrayOrSamples: TypeAlias = Array | Samples
"""An array (n, d) in memory, or samples in any place."""


def as_samples(X: ArrayOrSamples) -> Samples:
    """The samples of an array; samples themselves stay as they are."""
    return X if isinstance(X, Samples) else ArraySamples(X)


@final
@attrs.frozen(eq=False)
class Predicted(BlockFunction):
    """The labels of a block by a predictor of raw rows."""

    predict: Predict

    def __call__(self, rows: slice, X: Array) -> Labels:
        """Predicted labels of the rows, (b,)."""
        return self.predict(X)


ORDINARY = frozenset({"builtins", "numpy", "pandas", "scipy", "polars", "pyarrow", "narwhals"})
"""Packages whose collections are in memory already and become arrays; no engine is looked for."""

LOCAL = "clusterkit"
"""Name of the engine for rows on this machine: engines are named after the package whose collections they take."""


def engine_for(X: object) -> Engine | None:
    """The engine for samples of this type; None where they are in memory, or where no engine is installed for them.

    Arrays of other libraries have one where scikit-learn's array API dispatch is on; with a device chosen for this
    process (`clusterkit.config`) the blocks of all others are computed there.

    Examples
    --------
    >>> import numpy as np
    >>> engine_for(np.zeros((3, 2))) is None
    True
    """
    package = type(X).__module__.partition(".")[0]
    if package in ORDINARY:
        return None
    if package in devices.LIBRARIES:
        if not devices.dispatches():
            return None
        return DeviceEngine.of(X)
    name = LOCAL if registry.find("engine", package) is None else package
    if name == LOCAL and not isinstance(X, Rows):
        return None
    engine: Callable[[], Engine] = registry.get("engine", name)  # type: ignore[assignment] # of any registered class
    return on_device(engine())


def on_device(engine: Engine) -> Engine:
    """The engine, or in front of it that of the device that is chosen for this process."""
    if (device := devices.current()) is None:
        return engine
    return DeviceEngine(device, engine)
