"""Starts: the nearest of k samples drawn at random (`Seeded`), and k-means on rows or features (`KMeans`).

For many rows, compiled loops make the draws of k-means++.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.contracts import BlockLabels, Partitioner, Task
from clusterkit.contracts.params import MOST_REPEATS, choice, integer
from clusterkit.families.means._kmeans_parallel import NearestOf, scattered_centres
from clusterkit.numerics.lloyd import LEAST_WORK
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.numerics.threads import thread_pool
from clusterkit.samples import FeatureSpace, KernelSpace, Space, distance_noise, kernel_noise, memory
from clusterkit.samples.survey import draw_rows, draw_weighted

DRAW_MARGIN = 1e-4
"""Share of a distance by which the triangle inequality must hold, so that no rounding error decides: far above the
errors of float32, and so small that hardly more rows are compared."""


def drawn_by_distance(space: FeatureSpace, k: int, rng: Rng, trials: int, first: int) -> tuple[Labels, Indices]:
    """Labels by the nearest seed, and k seeds drawn in proportion to the squared distance to the nearest seed so far.

    The draws are those of the partitioner `seeds` on small data. A row that is nearer to its seed than half the way
    from there to a drawn row is not compared with it: by the triangle inequality its label stays.

    Parameters
    ----------
    first : int
        The first seed.
    """
    from clusterkit.numerics.nearest_jit import adopt, compare, cumulate, gains, reachable

    seeds, labels = [first], np.zeros(space.n, dtype=np.intp)
    cumulated, spare = np.empty(space.n), np.empty(space.n, dtype=np.intp)
    compared = np.empty((trials, space.n))
    at_seeds = space.rows(np.array(seeds)).astype(np.float64)
    best = np.empty(space.n)
    for rows, H in space.pieces():
        compare(H, rows.start, np.arange(rows.start, rows.stop), at_seeds, best[None, rows])
    noise = _noise(space, best, at_seeds[0])
    with thread_pool() as over:
        while len(seeds) < k:
            cumulate(best, noise, cumulated)
            if cumulated[-1] == 0.0:
                break
            # side="right" never lands on a sample of weight 0
            drawn = np.searchsorted(cumulated, rng.random(trials) * cumulated[-1], side="right")
            at_drawn = space.rows(drawn).astype(np.float64, copy=False)
            between = ((at_seeds[:, None] - at_drawn) ** 2).sum(axis=2).min(axis=1)
            index = spare[: reachable(best, labels, 0.25 * (1.0 - DRAW_MARGIN) * between, spare)]
            begin = 0
            for rows, H in space.pieces():
                end = begin + int(np.searchsorted(index[begin:], rows.stop))
                compare(H, rows.start, index[begin:end], at_drawn, compared[:, begin:end], over)
                begin = end
            chosen = int(np.argmax(gains(compared[:, :begin], index, best))) if trials > 1 else 0
            adopt(compared[chosen], index, len(seeds), best, labels)
            seeds.append(int(drawn[chosen]))
            at_seeds = np.concatenate([at_seeds, at_drawn[chosen : chosen + 1]])
            best[seeds] = 0.0
    return labels, np.array(seeds)


@final
@attrs.frozen
class Seeded(Partitioner[Space]):
    """Labels by the nearest of k samples, the seeds, drawn from the space.

    The start of k-means and kernel k-means. Uniform seeds cost O(n k L) on features and O(n k) kernel values. k-means++
    costs the same, in k passes over the features instead of two. The draws are in `_uniform` and `_by_distance`.

    Parameters
    ----------
    weighting : {"uniform", "kmeans++"}, default "uniform"
        How a seed is drawn: every sample with the same probability, or in proportion to its squared distance to the
        nearest seed so far.
    trials : int, default 1
        k-means++: number of samples drawn for each seed after the first; the sample that leaves the lowest sum of
        squared distances becomes the seed. Several cost little more than one, because they share a pass over the
        features.

    Notes
    -----
    The seeds are distinct in value if there are k distinct samples; otherwise the remaining seeds are duplicates. Every
    seed has its number as label, so no part is empty. Ties go to the seed drawn first.

    Above 262,144 rows of dense features, "uniform" looks for distinct rows among 8 k drawn ones (at least 64), and
    "kmeans++" is replaced by k-means|| (Bahmani et al. 2012): six passes, whatever k is, and `trials` has no meaning.

    References
    ----------
    Lloyd (1982), Least squares quantization in PCM, IEEE Transactions on Information Theory 28(2).
    Arthur, Vassilvitskii (2007), k-means++: the advantages of careful seeding, SODA.
    """

    name: ClassVar[str] = "seeds"
    synonyms: ClassVar[tuple[str, ...]] = ("kmeans++", "kmeans_plus_plus")
    spaces: ClassVar[tuple[type[Space], ...]] = (FeatureSpace, KernelSpace)
    reads: ClassVar[str] = "passes"
    weighted: ClassVar[bool] = True

    weighting: str = choice("uniform", ("uniform", "kmeans++"))
    trials: int = integer(1, at_least=1, at_most=MOST_REPEATS)

    def start(self, samples: Space, task: Task, rng: Rng) -> Labels | BlockLabels:
        """Labels of the samples of a space, 0..k-1 in the order of the seeds."""
        assert isinstance(samples, FeatureSpace | KernelSpace)
        if isinstance(samples, FeatureSpace) and samples.by_blocks:
            return self._of_many(samples, task, rng)
        if self.weighting == "uniform":
            labels, seeds = _uniform(samples, task.k, rng, task.sample_weight)
        else:
            labels, seeds = _by_distance(samples, task.k, rng, self.trials, task.sample_weight)
        if len(seeds) < task.k:
            spare = np.delete(np.arange(samples.n), seeds)[: task.k - len(seeds)]
            seeds = np.concatenate([seeds, spare])
        labels[seeds] = np.arange(task.k)
        return labels

    def _of_many(self, samples: FeatureSpace, task: Task, rng: Rng) -> BlockLabels:
        """The labels of features that need not be in memory: by k drawn rows, or by the centres of k-means||."""
        if self.weighting != "uniform":
            centres = scattered_centres(samples, task.k, rng, weights=task.sample_weight)
            return NearestOf(centres[0], centres, samples.transform.feature_error)
        size = max(64, 8 * task.k)
        if task.sample_weight is None:
            order = draw_rows(rng, samples.n, size)
        else:
            order = draw_weighted(rng, task.sample_weight, size)
        pool = samples.rows(order)
        distinct = _first_of_equals(pool)[: task.k]
        spare = np.delete(np.arange(len(order)), distinct)[: task.k - len(distinct)]
        chosen = np.concatenate([distinct, spare])
        centres = pool[chosen].astype(np.float64)
        return NearestOf(centres[0], centres, samples.transform.feature_error, order[chosen])


def _uniform(space: FeatureSpace | KernelSpace, k: int, rng: Rng, weights: Array | None) -> tuple[Labels, Indices]:
    """Labels by the nearest of k random samples with distinct values, and the indices of these samples."""
    seeds = np.empty(0, dtype=np.intp)
    order = rng.permutation(space.n) if weights is None else draw_weighted(rng, weights, space.n)
    for candidates in _growing(order, k):
        pool = np.concatenate([seeds, candidates])
        distinct = _first_of_equals(space.points[pool])
        if isinstance(space, FeatureSpace):  # different points may have the same features
            distinct = np.intersect1d(distinct, _first_of_equals(space.rows(pool)))
        seeds = pool[distinct[:k]]
        if len(seeds) == k:
            break
    return np.argmin(_relative_distances(space, seeds), axis=1), seeds


def _by_distance(
    space: FeatureSpace | KernelSpace, k: int, rng: Rng, trials: int, weights: Array | None
) -> tuple[Labels, Indices]:
    """k-means++: labels, and seeds drawn in proportion to the squared distance to the nearest seed so far.

    With weights also in proportion to these, and a sum of distances is a weighted one.
    """
    memory.require(
        8 * space.n * trials,
        f"partitioner 'seeds' with trials={trials} (the distances of {space.n} samples to as many)",
        "Try fewer.",
    )
    seeds = [int(rng.integers(space.n) if weights is None else draw_weighted(rng, weights, 1)[0])]
    if (
        weights is None
        and isinstance(space, FeatureSpace)
        and not space.sparse
        and space.n * space.width * k >= LEAST_WORK
    ):
        return drawn_by_distance(space, k, rng, trials, seeds[0])
    first, noise = _distances_to(space, seeds[0])
    best, labels = first.copy(), np.zeros(space.n, dtype=np.intp)
    while len(seeds) < k:
        rates = np.where(best > noise, best, 0.0)
        cumulated = np.cumsum(rates if weights is None else rates * weights)
        if cumulated[-1] == 0.0:
            break
        # side="right" never lands on a sample of weight 0
        drawn = np.searchsorted(cumulated, rng.random(trials) * cumulated[-1], side="right")
        to_drawn = first[:, None] + _relative_distances(space, np.concatenate([seeds[:1], drawn]))[:, 1:]
        np.maximum(to_drawn, 0.0, out=to_drawn)
        chosen = 0
        if trials > 1:
            left = np.minimum(to_drawn, best[:, None])
            chosen = int(np.argmin(left.sum(axis=0) if weights is None else weights @ left))
        distances = to_drawn[:, chosen]
        labels[distances < best] = len(seeds)
        best = np.minimum(best, distances)
        seeds.append(int(drawn[chosen]))
        best[seeds] = 0.0
    return labels, np.array(seeds)


def _growing(order: Indices, k: int) -> Iterator[Indices]:
    """The order in sections, each twice as long as the one before: one is enough unless there are many duplicates."""
    start, size = 0, k
    while start < len(order):
        yield order[start : start + size]
        start, size = start + size, 2 * size


def _first_of_equals(rows: Array) -> Indices:
    """Indices, ascending, of the rows that equal no row before them."""
    if isinstance(rows, SparseRows):
        return rows.distinct()[0]
    return np.sort(np.unique(rows, axis=0, return_index=True)[1])


def _relative_distances(space: FeatureSpace | KernelSpace, seeds: Indices) -> Array:
    """Squared distances to the seeds less the distance to the first seed, (n, b): large squared norms cancel."""
    if isinstance(space, KernelSpace):
        distances = space.diag()[seeds] - 2.0 * space.columns(seeds)
        return distances - distances[:, :1]
    rows = space.rows(seeds).astype(np.float64, copy=False)
    origin = rows[0]
    C = (rows - origin).T
    return np.einsum("ij,ij->j", C, C) + 2.0 * (origin @ C) - 2.0 * space.apply(C, np.float64)


def _noise(space: FeatureSpace, lengths: Array, origin: Array) -> Array:
    """Squared distances of samples to others that count as 0, (n,), from those to an origin."""
    return np.asarray(distance_noise(np.sqrt(lengths), float(np.linalg.norm(origin)), space.transform.feature_error))


def _distances_to(space: FeatureSpace | KernelSpace, seed: int) -> tuple[Array, Array]:
    """Squared distances to one sample, and the size of the rounding errors of each sample, (n,) each."""
    if isinstance(space, KernelSpace):
        diagonal = space.diag().astype(np.float64, copy=False)
        distances = diagonal + diagonal[seed] - 2.0 * space.columns(np.array([seed]))[:, 0]
        return np.maximum(distances, 0.0), np.asarray(kernel_noise(np.abs(diagonal), space.dtype))
    origin = space.rows(np.array([seed]))[0].astype(np.float64, copy=False)
    distances = space.squared_distances_to(origin)
    return distances, _noise(space, distances, origin)


@attrs.frozen
class _ByKMeans(Partitioner[FeatureSpace]):
    """Labels of k-means, on the rows or on their features."""

    reads: ClassVar[str] = "passes"
    weighted: ClassVar[bool] = True

    n_init: int = integer(10, at_least=1, at_most=MOST_REPEATS)
    max_iter: int = integer(300, at_least=1)

    def start(self, samples: FeatureSpace, task: Task, rng: Rng) -> Labels | BlockLabels:
        """Labels of the samples, or a function of blocks by k-means|| where they are many."""
        if samples.by_blocks:
            centres = scattered_centres(samples, task.k, rng, self.n_init, task.sample_weight)
            return NearestOf(centres[0], centres, samples.transform.feature_error)
        from clusterkit.numerics.lloyd import kmeans

        seed = int(rng.integers(2**31 - 1))
        rows = samples.points if self.sees == "input" else samples.rows()
        weights, n_init = task.sample_weight, self.n_init
        return kmeans(rows, task.k, n_init=n_init, max_iter=self.max_iter, seed=seed, weights=weights)[0]


@final
@attrs.frozen
class KMeans(_ByKMeans):
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


@final
@attrs.frozen
class KMeansMapped(_ByKMeans):
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
