"""Scaling of each attribute to mean 0 and standard deviation 1."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core import sums
from clusterkit.core.namespaces import (
    BlockFunction,
    array_namespace,
    as_type,
    is_device_array,
    row_chunks,
    to_device_of,
)
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.stages import FeatureMap, FittedMap, Task
from clusterkit.core.sums import Sums
from clusterkit.core.survey import extremes
from clusterkit.featuremaps._affine import Affine

__all__ = ["ZScore"]


@final
@attrs.frozen
class ZScore(FeatureMap):
    """Scales each attribute to mean 0 and standard deviation 1 (with divisor n, not n - 1).

    For attributes in different units without hard limits. Constant attributes become 0. Nearly constant attributes
    (border pixels of images) are magnified: use `minmax` or the raw data for these. O(n d).
    """

    name: ClassVar[str] = "zscore"
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
