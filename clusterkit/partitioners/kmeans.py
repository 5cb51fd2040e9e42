"""k-means on the rows as the feature map scales them."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import attrs

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core.params import integer
from clusterkit.core.stages import Partitioner, Task

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
    If there are fewer than k distinct rows, some parts stay empty. Source: Lloyd 1982; Arthur & Vassilvitskii 2007.
    """

    name: ClassVar[str] = "kmeans"
    sees: ClassVar[Literal["input", "space"]] = "input"
    sparse: ClassVar[bool] = True

    n_init: int = integer(10, at_least=1)
    max_iter: int = integer(300, at_least=1)

    def partition(self, samples: Array, task: Task, rng: Rng) -> Labels:
        """Labels of the rows, (n, d) to (n,)."""
        from clusterkit.numerics.lloyd import kmeans

        seed = int(rng.integers(2**31 - 1))
        return kmeans(samples, task.k, n_init=self.n_init, max_iter=self.max_iter, seed=seed)[0]
