"""Scaling of each attribute, ``(x - shift) * factor + offset``: to a range, to mean 0 and deviation 1, or none.

`Unit` scales each row to length 1 instead, so that Euclidean distances order as cosines do.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.contracts import FeatureMap, FittedMap, Task, params
from clusterkit.errors import ClusterkitWarning, InvalidData, InvalidParameter
from clusterkit.numerics.shapes import array, wide
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import FeatureSpace, sums
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    as_type,
    host_dtype,
    is_device_array,
    row_chunks,
    to_device_of,
)
from clusterkit.samples.sums import Sums
from clusterkit.samples.survey import extremes
from clusterkit.samples.transform import IdentityMap


@final
@attrs.frozen(eq=False)
class Affine(BlockFunction):
    """Row map ``(x - shift) * factor + offset``, attribute by attribute.

    Parameters
    ----------
    shift, factor, offset : ndarray of shape (d,)
    """

    columnwise: ClassVar[bool] = True
    """every column of the result depends on the same column of the input alone, so it can have its name"""

    array_api: ClassVar[bool] = True

    shift: Array = attrs.field(validator=array("d"))
    factor: Array = attrs.field(validator=array("d"))
    offset: Array = attrs.field(validator=array("d"))

    @property
    def width(self) -> int:
        """Number of attributes."""
        return len(self.shift)

    def __call__(self, Y: Array) -> Array:
        """Scaled rows, (m, d), computed in float64 and returned in the type of Y, on its device."""
        if is_device_array(Y):
            scaled = as_type(Y, np.float64) - to_device_of(self.shift, Y, np.float64)
            scaled *= to_device_of(self.factor, Y, np.float64)
            scaled += to_device_of(self.offset, Y, np.float64)
            return as_type(scaled, host_dtype(Y))
        scaled = np.subtract(Y, self.shift, dtype=np.float64)
        scaled *= self.factor
        scaled += self.offset
        return scaled.astype(Y.dtype, copy=False)

    def inverse(self, H: Array) -> Array:
        """The rows that are scaled to H, (m, d); a constant attribute has its value again."""
        factor = np.where(self.factor != 0, self.factor, 1.0)
        return np.where(self.factor != 0, (H - self.offset) / factor, 0.0) + self.shift


def to_range(samples: FeatureSpace, low: float, high: float) -> Affine:
    """The scaling of the attributes of some samples to [low, high], in one pass.

    A constant attribute becomes `low` if that is 0 (then it adds nothing to NMF), and the middle of the interval
    otherwise.
    """
    ends = extremes(samples)
    smallest, largest = ends.low.astype(np.float64), ends.high.astype(np.float64)
    spread = largest - smallest
    # a spread so small that its inverse overflows is treated as constant
    constant = spread <= (high - low) / np.finfo(np.float64).max
    factor = np.where(constant, 0.0, (high - low) / np.where(constant, 1.0, spread))
    middle = low if low == 0 else (low + high) / 2
    return Affine(smallest, factor, np.where(constant, middle, low))


@final
@attrs.frozen
class MinMax(FeatureMap):
    """Scales each attribute linearly to a range; the scaling is fitted on the clustered data.

    For attributes in different units, before any method that measures distances, and with [0, 1] before NMF. New data
    outside the range of the clustered data are not clipped. O(n d).

    Parameters
    ----------
    limits : (float, float), default (0, 1)
        The new minimum and maximum. A constant attribute becomes 0 if the minimum is 0, and the middle otherwise.

    References
    ----------
    He, Jin, Du, Zhuang, Shi (2014), Clustering in extreme learning machine feature space, Neurocomputing, eq. (9).
    """

    name: ClassVar[str] = "minmax"
    synonyms: ClassVar[tuple[str, ...]] = ("min_max_scaler",)
    reads: ClassVar[Literal["passes", "all"]] = "passes"
    limits: tuple[float, float] = params.interval((0.0, 1.0))

    @property
    def nonnegative(self) -> bool:  # type: ignore[override] # a property for a class attribute
        """True if the lower limit is nonnegative."""
        return self.limits[0] >= 0

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> FittedMap:
        """The scaling, in one pass over the samples."""
        return FittedMap(to_range(samples, *self.limits))


def _as_weights(value: object) -> Any:
    return tuple(np.atleast_1d(np.array(value, dtype=object)).tolist())


def _check_weights(value: Any) -> str | None:
    fine = all(0 <= params.as_float(each) <= params.LARGEST for each in value) and (any(value) or not value)
    return None if fine else "finite numbers of at least 0, one for each column and some above 0"


@final
@attrs.frozen
class Weighted(FeatureMap):
    """Multiplies each attribute by the root of its weight, so that squared distances count it that many times.

    A weight of 2 is that of two equal columns, 0 leaves a column out. Behind `zscore` or `minmax`, which would undo it.
    Columns of a table are weighted by their names: `clusterkit.tables.Preparation`. O(n d).

    Parameters
    ----------
    weights : sequence of float, default ()
        The weight of each attribute, at least 0; () changes nothing.
    """

    name: ClassVar[str] = "weighted"
    synonyms: ClassVar[tuple[str, ...]] = ("column_weights", "feature_weights")
    reads: ClassVar[Literal["passes", "all"]] = "passes"
    weights: tuple[float, ...] = params.free((), _check_weights, invalid=((-1.0,), (0.0,)), converter=_as_weights)

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> FittedMap:
        """The scaling, without a look at the samples."""
        d = samples.width
        if self.weights and len(self.weights) != d:
            raise InvalidParameter(
                f"featuremap 'weighted': weights has {len(self.weights)} numbers, and the samples have {d} columns"
            )
        return FittedMap(Affine(np.zeros(d), np.sqrt(self.weights or np.ones(d)), np.zeros(d)))


@final
@attrs.frozen
class ZScore(FeatureMap):
    """Scales each attribute to mean 0 and standard deviation 1 (with divisor n, not n - 1).

    For attributes in different units without hard limits. Constant attributes become 0. Nearly constant attributes
    (border pixels of images) are magnified: use `minmax` or the raw data for these. O(n d).
    """

    name: ClassVar[str] = "zscore"
    synonyms: ClassVar[tuple[str, ...]] = ("standard_scaler", "scaler", "standardise", "standardize", "scale")
    reads: ClassVar[Literal["passes", "all"]] = "passes"
    nonnegative: ClassVar[bool | None] = False

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> FittedMap:
        """The scaling, in three passes over the samples: extremes, mean, and squared differences from the mean."""
        if samples.in_memory and samples.n <= sums.GROUP:
            X = samples.points
            mean, deviation = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
            return FittedMap(_scaling(mean, deviation, X.min(axis=0), X.max(axis=0)))
        ends, mean = extremes(samples), samples.mean()
        squares = samples.reduce(_SquaredDifferences(mean)).arrays[0]
        return FittedMap(_scaling(mean, np.sqrt(squares / samples.n), ends.low, ends.high))


def _scaling(mean: Array, deviation: Array, low: Array, high: Array) -> Affine:
    """Differences from the mean in units of the standard deviation; constant attributes become 0."""
    # the computed standard deviation of a constant column of large values is a rounding error, not 0
    constant = (low == high) | (deviation == 0)
    factor = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, deviation))
    return Affine(mean, factor, np.zeros_like(mean))


@final
@attrs.frozen(eq=False)
class _SquaredDifferences(BlockFunction):
    """Part of a variance: the squared differences from the mean, added up."""

    array_api: ClassVar[bool] = True

    mean: Array

    def __call__(self, rows: slice, H: Array) -> Sums:
        if is_device_array(H):
            xp, mean = array_namespace(H), to_device_of(self.mean, H, np.float64)
            chunks = (as_type(chunk, np.float64) - mean for _, chunk in row_chunks(H))
            return Sums.of(sum((xp.sum(each * each, axis=0) for each in chunks), xp.zeros_like(mean)))
        return Sums.of(np.square(H - self.mean).sum(axis=0))


@final
@attrs.frozen(eq=False)
class UnitRows(BlockFunction):
    """Row map ``(x - origin) / |x - origin|``; a row without a direction becomes 0.

    Parameters
    ----------
    origin : ndarray of shape (d,) or None
        None subtracts nothing.
    columns : int
        Number of attributes, d.
    """

    array_api: ClassVar[bool] = True
    directions: ClassVar[bool] = True

    origin: Array | None = attrs.field(validator=array("d"))
    columns: int = attrs.field(validator=wide("d"))

    @property
    def width(self) -> int:
        """Number of attributes."""
        return self.columns

    def __call__(self, Y: Array) -> Array:
        """Rows of length 1, (m, d), in the type and form of Y, on its device; lengths are summed in float64."""
        if isinstance(Y, SparseRows):
            csr: Any = Y.csr.copy()
            largest = np.ones(len(Y))
            entries = np.diff(csr.indptr) > 0
            largest[entries] = np.maximum.reduceat(np.abs(csr.data), csr.indptr[:-1][entries])
            csr.data = csr.data / np.repeat(np.where(largest > 0, largest, 1.0), np.diff(csr.indptr))
            lengths = np.sqrt(SparseRows(csr).squares())
            csr.data = (csr.data / np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(csr.indptr))).astype(Y.dtype)
            return SparseRows(csr)
        if is_device_array(Y):
            xp = array_namespace(Y)
            rows = as_type(Y, np.float64)
            rows = rows if self.origin is None else rows - to_device_of(self.origin, Y, np.float64)
            largest = xp.max(xp.abs(rows), axis=1, keepdims=True)
            rows = rows / xp.where(largest > 0, largest, xp.ones_like(largest))
            lengths = xp.sqrt(xp.sum(rows * rows, axis=1, keepdims=True))
            return as_type(rows / xp.where(lengths > 0, lengths, xp.ones_like(lengths)), host_dtype(Y))
        rows = Y if self.origin is None else Y - self.origin.astype(Y.dtype)
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        factors = np.divide(1.0, np.sqrt(squares), out=np.zeros(len(rows)), where=squares > SMALLEST_SQUARE)
        H = rows * factors[:, None].astype(Y.dtype)
        tiny = np.flatnonzero(squares <= SMALLEST_SQUARE)
        if len(tiny):  # squares that underflow: in units of the largest entry
            few = rows[tiny].astype(np.float64)
            largest = np.abs(few).max(axis=1, keepdims=True, initial=0.0)
            few = np.divide(few, largest, out=np.zeros_like(few), where=largest > 0)
            lengths = np.linalg.norm(few, axis=1, keepdims=True)
            H[tiny] = np.divide(few, lengths, out=np.zeros_like(few), where=lengths > 0)
        return H


SMALLEST_SQUARE = 1e-60
"""Squared lengths up to this are computed again in units of the largest entry of the row: their squares lose digits,
and the inverse of the length may be out of the range of float32."""


@final
@attrs.frozen(eq=False)
class _WithoutDirection(BlockFunction):
    """Part of a count: the rows that are 0, or equal to the origin."""

    array_api: ClassVar[bool] = True

    rows_of: UnitRows

    def __call__(self, rows: slice, H: Any) -> Sums:
        unit = self.rows_of(H)
        if isinstance(unit, SparseRows):
            return Sums.of(np.int64(np.count_nonzero(unit.squares() == 0)))
        if is_device_array(unit):
            xp = array_namespace(unit)
            return Sums.of(xp.sum(xp.astype(xp.all(unit == 0, axis=1), xp.int64)))
        return Sums.of(np.int64(np.count_nonzero(~unit.any(axis=1))))


@final
@attrs.frozen
class Unit(FeatureMap):
    """Scales each row to length 1: what is compared is the direction, by the cosine, not the length.

    For embeddings of texts, images or cells, and for counts whose sum does not matter. Between rows of length 1 the
    squared Euclidean distance is ``2 - 2 cos``, so that every method on distances becomes one on cosines;
    ``metric="cosine"`` puts this map in front of any pipeline. The type of the rows stays, and sparse rows stay sparse.
    O(n d).

    Parameters
    ----------
    center : bool, default False
        Subtract the mean of the clustered rows first. Embeddings of neural networks often share a large offset, which
        makes all cosines nearly 1.

    Warns
    -----
    ClusterkitWarning
        If rows have no direction: they are 0, or equal to the mean that is subtracted. They stay 0, at distance 1 from
        all others; `resolved_` has their number as `zero_rows`.
    """

    name: ClassVar[str] = "unit"
    synonyms: ClassVar[tuple[str, ...]] = ("cosine", "unit_rows", "l2")
    reads: ClassVar[Literal["passes", "all"]] = "passes"
    sparse: ClassVar[bool] = True
    keeps_sparse: ClassVar[bool] = True

    center: bool = params.flag(False)

    @property
    def nonnegative(self) -> bool | None:  # type: ignore[override] # a property for a class attribute
        """False for centred rows; of others the samples decide."""
        return False if self.center else None

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> FittedMap:
        """The scaling, in one pass over the samples, and one more for their mean."""
        if self.center and samples.sparse:
            raise InvalidData(
                "featuremap 'unit' with center=True makes sparse rows dense; leave center=False, or put 'pca' in front"
            )
        mapping = UnitRows(samples.mean() if self.center else None, samples.width)
        zero = int(samples.reduce(_WithoutDirection(mapping)).arrays[0])
        if not zero:
            return FittedMap(mapping)
        which = "equal to the mean, which center=True subtracts" if self.center else "0"
        warnings.warn(
            f"featuremap 'unit': {zero} of {samples.n} rows have no direction, they are {which}. They stay 0, equally "
            "far from all other rows; leave them out, or read their labels with care",
            ClusterkitWarning,
            stacklevel=2,
        )
        return FittedMap(mapping, {"zero_rows": zero})


@final
@attrs.frozen
class Identity(FeatureMap):
    """The data without any change, dense or sparse: the map of plain k-means and NMF.

    No computation and no copy.
    """

    name: ClassVar[str] = "identity"
    synonyms: ClassVar[tuple[str, ...]] = ("none", "linear")
    reads: ClassVar[Literal["passes", "all"]] = "passes"
    sparse: ClassVar[bool] = True
    keeps_sparse: ClassVar[bool] = True

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> FittedMap:
        """The identity, without a pass."""
        return FittedMap(IdentityMap(samples.width))
