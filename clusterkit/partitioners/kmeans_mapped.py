"""k-means in the feature space."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from clusterkit._typing import Labels, Rng
from clusterkit.core.params import integer
from clusterkit.core.spaces import FeatureSpace, Space
from clusterkit.core.stages import Partitioner, Task

__all__ = ["KMeansMapped"]


@final
@attrs.frozen
class KMeansMapped(Partitioner[FeatureSpace]):
    """Labels of k-means on the features H (n, L).

    The start of the published EMMC. O(n_init · iterations · n k L) time. It holds all of H, and raises `NeedsMemory` if
    H exceeds the memory cap. The iteration is scikit-learn's, called in numerics/lloyd.py (`kmeans`).

    Parameters
    ----------
    n_init : int, default 10
        Number of k-means++ starts; the one with the lowest within-cluster sum of squares is returned.
    max_iter : int, default 300
        Most Lloyd iterations of a start.

    Notes
    -----
    If there are fewer than k distinct rows, some parts stay empty. Source: Zhang, Xia, Liu & Zhang 2013; Lloyd 1982.
    """

    name: ClassVar[str] = "kmeans_mapped"
    spaces: ClassVar[tuple[type[Space], ...]] = (FeatureSpace,)

    n_init: int = integer(10, at_least=1)
    max_iter: int = integer(300, at_least=1)

    def partition(self, samples: FeatureSpace, task: Task, rng: Rng) -> Labels:
        """Labels of the samples of a `FeatureSpace`."""
        from clusterkit.numerics.lloyd import kmeans

        seed = int(rng.integers(2**31 - 1))
        return kmeans(samples.rows(), task.k, n_init=self.n_init, max_iter=self.max_iter, seed=seed)[0]
