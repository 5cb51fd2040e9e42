"""Scaling of each attribute, ``(x - shift) * factor + offset``: to a range, to mean 0 and deviation 1, or none."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.contracts import FeatureMap, FittedMap, Task, params
from clusterkit.samples import FeatureSpace, coding, sums
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    as_type,
    host_dtype,
    is_device_array,
    row_chunks,
    to_device_of,
)
from clusterkit.samples.row_graph import Node
from clusterkit.samples.sums import Sums
from clusterkit.samples.survey import extremes
from clusterkit.samples.transform import IdentityMap

__all__ = [
    "Affine",
    "Identity",
    "MinMax",
    "ZScore",
    "to_range",
]


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

    shift: Array = attrs.field(validator=coding.shaped("d"))
    factor: Array = attrs.field(validator=coding.shaped("d"))
    offset: Array = attrs.field(validator=coding.shaped("d"))

    @property
    def width(self) -> int:
        """Number of attributes."""
        return len(self.shift)

    def __call__(self, Y: Array) -> Array:
        """Scaled rows, (m, d), computed in float64 and returned in the type of Y, where that lies."""
        if is_device_array(Y):
            scaled = as_type(Y, np.float64) - to_device_of(self.shift, Y, np.float64)
            scaled *= to_device_of(self.factor, Y, np.float64)
            scaled += to_device_of(self.offset, Y, np.float64)
            return as_type(scaled, host_dtype(Y))
        scaled = np.subtract(Y, self.shift, dtype=np.float64)
        scaled *= self.factor
        scaled += self.offset
        return scaled.astype(Y.dtype, copy=False)

    def onnx(self, rows: Node) -> Node:
        """Scaled rows."""
        return (rows - self.shift) * self.factor + self.offset

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
