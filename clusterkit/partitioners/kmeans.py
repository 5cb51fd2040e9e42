"""k-means on the rows as the feature map scales them."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core import sums
from clusterkit.core.params import MOST_REPEATS, integer
from clusterkit.core.spaces import DenseSpace, FeatureSpace
from clusterkit.core.stages import BlockLabels, Partitioner, Task, labels_by_blocks
from clusterkit.core.transform import IdentityMap
from clusterkit.partitioners._scattered import NearestOf, scattered_centres

__all__ = ["KMeans"]


@final
@attrs.frozen
class KMeans(Partitioner[Array]):
    """Labels of k-means on the rows, scaled as the feature map scales them before anything else.

    The default start of margin methods: cheap, and independent of a random feature map. O(n_init · iterations · n k d).
    The iteration is scikit-learn's, called in numerics/lloyd.py (`kmeans`).

    Parameters
    ----------
    n_init : int, default 10
        Number of k-means++ starts; the one with the lowest within-cluster sum of squares is returned.
    max_iter : int, default 300
        Most Lloyd iterations of a start.

    Notes
    -----
    Above 262,144 dense rows the centres come from k-means|| (Bahmani et al. 2012) instead: a few passes draw rows far
    from each other, `n_init` starts of k-means++ cluster these, weighted by the rows nearest to them, and every row
    gets the label of its nearest centre. `max_iter` then has no meaning.

    If there are fewer than k distinct rows, some parts stay empty. Source: Lloyd 1982; Arthur & Vassilvitskii 2007.
    """

    name: ClassVar[str] = "kmeans"
    sees: ClassVar[Literal["input", "space"]] = "input"
    sparse: ClassVar[bool] = True
    weighted: ClassVar[bool] = True

    n_init: int = integer(10, at_least=1, at_most=MOST_REPEATS)
    max_iter: int = integer(300, at_least=1)

    def partition(self, samples: Array, task: Task, rng: Rng) -> Labels:
        """Labels of the rows, (n, d) to (n,)."""
        from clusterkit.numerics.lloyd import kmeans

        if len(samples) > sums.GROUP and isinstance(samples, np.ndarray):
            space = DenseSpace(samples, IdentityMap(samples.shape[1]), samples)
            return labels_by_blocks(self.starts(space, task, rng), space)
        seed = int(rng.integers(2**31 - 1))
        return kmeans(
            samples, task.k, n_init=self.n_init, max_iter=self.max_iter, seed=seed, weights=task.sample_weight
        )[0]

    def why_not_by_blocks(self) -> str | None:
        """None: whatever the parameters are."""
        return None

    def starts(self, samples: FeatureSpace, task: Task, rng: Rng) -> BlockLabels:
        """The labels by k-means||, for rows that need not be in memory."""
        centres = scattered_centres(samples, task.k, rng, self.n_init, task.sample_weight)
        return NearestOf(centres[0], centres)
