"""k-means in the feature space."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from clusterkit._typing import Labels, Rng
from clusterkit.core.params import MOST_REPEATS, integer
from clusterkit.core.spaces import FeatureSpace, Space
from clusterkit.core.stages import BlockLabels, Partitioner, Task
from clusterkit.partitioners._scattered import NearestOf, scattered_centres

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
    Above 262,144 rows the centres come from k-means||, as in the partitioner `kmeans`, and H is not held.

    If there are fewer than k distinct rows, some parts stay empty. Source: Zhang, Xia, Liu & Zhang 2013; Lloyd 1982.
    """

    name: ClassVar[str] = "kmeans_mapped"
    spaces: ClassVar[tuple[type[Space], ...]] = (FeatureSpace,)
    reads: ClassVar[str] = "passes"
    weighted: ClassVar[bool] = True

    n_init: int = integer(10, at_least=1, at_most=MOST_REPEATS)
    max_iter: int = integer(300, at_least=1)

    def start(self, samples: FeatureSpace, task: Task, rng: Rng) -> Labels | BlockLabels:
        """Labels of the samples of a `FeatureSpace`; by k-means|| where they are many."""
        if samples.by_blocks:
            centres = scattered_centres(samples, task.k, rng, self.n_init, task.sample_weight)
            return NearestOf(centres[0], centres)
        from clusterkit.numerics.lloyd import kmeans

        seed = int(rng.integers(2**31 - 1))
        return kmeans(
            samples.rows(), task.k, n_init=self.n_init, max_iter=self.max_iter, seed=seed, weights=task.sample_weight
        )[0]
