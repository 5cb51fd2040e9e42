"""k-means, on the rows as the feature map scales them (`KMeans`) or in the feature space (`KMeansMapped`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal, final

import attrs

from clusterkit._typing import Labels, Rng
from clusterkit.contracts import BlockLabels, Partitioner, Task
from clusterkit.contracts.params import MOST_REPEATS, integer
from clusterkit.families.means._kmeans_parallel import NearestOf, scattered_centres
from clusterkit.numerics.sparse_rows import Rows
from clusterkit.samples import FeatureSpace, Space

__all__ = [
    "KMeans",
    "KMeansMapped",
]


@final
@attrs.frozen
class KMeans(Partitioner[FeatureSpace]):
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
    reads: ClassVar[str] = "passes"
    sparse: ClassVar[bool] = True
    weighted: ClassVar[bool] = True

    n_init: int = integer(10, at_least=1, at_most=MOST_REPEATS)
    max_iter: int = integer(300, at_least=1)

    def start(self, samples: FeatureSpace, task: Task, rng: Rng) -> Labels | BlockLabels:
        """Labels of the rows; by k-means|| where they are many."""
        return _by_kmeans(self, samples, lambda: samples.points, task, rng)


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
    synonyms: ClassVar[tuple[str, ...]] = ("elm_kmeans",)
    spaces: ClassVar[tuple[type[Space], ...]] = (FeatureSpace,)
    reads: ClassVar[str] = "passes"
    weighted: ClassVar[bool] = True

    n_init: int = integer(10, at_least=1, at_most=MOST_REPEATS)
    max_iter: int = integer(300, at_least=1)

    def start(self, samples: FeatureSpace, task: Task, rng: Rng) -> Labels | BlockLabels:
        """Labels of the samples of a `FeatureSpace`; by k-means|| where they are many."""
        return _by_kmeans(self, samples, samples.rows, task, rng)


def _by_kmeans(
    spec: KMeans | KMeansMapped, samples: FeatureSpace, rows: Callable[[], Rows], task: Task, rng: Rng
) -> Labels | BlockLabels:
    """Labels by k-means of the rows (n, d), or a function of blocks by k-means|| where the samples are many."""
    if samples.by_blocks:
        centres = scattered_centres(samples, task.k, rng, spec.n_init, task.sample_weight)
        return NearestOf(centres[0], centres, samples.transform.feature_error)
    from clusterkit.numerics.lloyd import kmeans

    seed = int(rng.integers(2**31 - 1))
    return kmeans(rows(), task.k, n_init=spec.n_init, max_iter=spec.max_iter, seed=seed, weights=task.sample_weight)[0]
