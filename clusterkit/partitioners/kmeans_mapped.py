"""k-means in the feature space."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from clusterkit._typing import Labels, Rng
from clusterkit.core import sums
from clusterkit.core.params import MOST_REPEATS, integer
from clusterkit.core.spaces import FeatureSpace, Space
from clusterkit.core.stages import BlockLabels, Partitioner, Task, labels_by_blocks
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
    weighted: ClassVar[bool] = True

    n_init: int = integer(10, at_least=1, at_most=MOST_REPEATS)
    max_iter: int = integer(300, at_least=1)

    def partition(self, samples: FeatureSpace, task: Task, rng: Rng) -> Labels:
        """Labels of the samples of a `FeatureSpace`."""
        from clusterkit.numerics.lloyd import kmeans

        if samples.n > sums.GROUP and not samples.sparse:
            return labels_by_blocks(self.starts(samples, task, rng), samples)
        seed = int(rng.integers(2**31 - 1))
        return kmeans(
            samples.rows(), task.k, n_init=self.n_init, max_iter=self.max_iter, seed=seed, weights=task.sample_weight
        )[0]

    def why_not_by_blocks(self) -> str | None:
        """None: whatever the parameters are."""
        return None

    def starts(self, samples: FeatureSpace, task: Task, rng: Rng) -> BlockLabels:
        """The labels by k-means||, for features that need not be in memory."""
        centres = scattered_centres(samples, task.k, rng, self.n_init, task.sample_weight)
        return NearestOf(centres[0], centres)
