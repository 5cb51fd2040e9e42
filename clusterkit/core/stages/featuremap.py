"""The abstract feature map."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from clusterkit._typing import Array, Rng
from clusterkit.core.spaces import FeatureSpace, Space
from clusterkit.core.stages.stage import Stage, Task

__all__ = ["FeatureMap"]


class FeatureMap(Stage):
    """Turns data into a space."""

    kind: ClassVar[str] = "featuremap"
    gives: ClassVar[type[Space]] = FeatureSpace
    nonnegative: ClassVar[bool | None] = None
    """whether no feature is negative; None if that depends on the data"""
    takes_negative: ClassVar[bool] = True
    """whether it takes data with negative values; if not, `fit` refuses them with `InvalidData`"""
    sparse: ClassVar[bool] = False
    """whether an estimator takes sparse samples for it; it gets them dense, or as `SparseRows` where that is large"""
    keeps_sparse: ClassVar[bool] = False
    """whether it gets sparse samples as `SparseRows` whatever their size"""
    makes_dense: ClassVar[bool] = False
    """whether its features of sparse samples are dense"""

    @abstractmethod
    def fit(self, X: Array, task: Task, rng: Rng) -> Space:
        """The space of the samples X (n, d); it maps new rows with what was fitted here.

        `task` says how many clusters are asked for, which a spectral map needs to know.
        """
