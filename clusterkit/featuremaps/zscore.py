"""Scaling of each attribute to mean 0 and standard deviation 1."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core.spaces import FeatureSpace, build_space
from clusterkit.core.stages import FeatureMap, Task
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
    nonnegative: ClassVar[bool | None] = False

    def fit(self, X: Array, task: Task, rng: Rng) -> FeatureSpace:
        """The space of the scaled rows of X (n, d)."""
        mean = X.mean(axis=0, dtype=np.float64)
        deviation = X.std(axis=0, dtype=np.float64)
        # the computed standard deviation of a constant column of large values is a rounding error, not 0
        constant = (X[0] == X).all(axis=0) | (deviation == 0)
        factor = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, deviation))
        return build_space(X, Affine(mean, factor, np.zeros_like(mean)), storage="dense")
