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
    """True if no feature is negative, False if some may be, None if that depends on the data."""
    exact_on_training: ClassVar[bool] = True
    """False if mapping the samples as new rows gives other features than they have in the fitted space."""
    takes_negative: ClassVar[bool] = True
    """True if data with negative values are accepted; otherwise `fit` refuses them with `InvalidData`."""
    sparse: ClassVar[bool] = False
    """True if sparse input is accepted. An estimator densifies it up to 1 GiB and passes it as `SparseRows` above."""
    keeps_sparse: ClassVar[bool] = False
    """True if sparse input is passed as `SparseRows` whatever its size."""
    makes_dense: ClassVar[bool] = False
    """True if the features of sparse samples are dense."""

    @abstractmethod
    def fit(self, X: Array, task: Task, rng: Rng) -> Space:
        """The space of the samples X (n, d); it maps new rows with what was fitted here.

        Parameters
        ----------
        X : ndarray or SparseRows of shape (n, d)
        task : Task
            The number of clusters, for maps that depend on it: a spectral map takes that many eigenvectors.
        rng : Generator
            The only source of randomness.
        """
