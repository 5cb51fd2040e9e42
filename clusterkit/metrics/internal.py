"""Indices from the data and one clustering, without classes: how tight the clusters are, and how far apart.

`dbcv` is density-based validation: whether clusters of any shape are denser inside than between them. `disco` judges
the noise as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clusterkit.metrics.table import Noise, check_labels, check_noise, is_noise, number_clusters

BLOCK_DISTANCES = 2**20
"""Distances computed at a time: 8 MiB."""

MARGIN = 16.0
"""Rounding errors of a centroid are below this many units of eps times the spread of the data.

Measured: at most 12 units for random clusters of up to 20,000 members. A value twice as large changes nothing, because
distinct centroids are millions of units apart.
"""


def compactness(X: ArrayLike, labels: ArrayLike, *, squared: bool = False, noise: Noise = "exclude") -> float:
    """Mean distance between two samples of a cluster, clusters weighted by their size. Lower is better.

    ``(1/N) Σ_k N_k · [Σ d(x, x')] / [N_k (N_k - 1) / 2]`` with the inner sum over the unordered pairs of cluster k.
    A cluster of one sample has no pairs and contributes 0, so the index rewards shattering: compare it only
    between clusterings of about as many clusters.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data the labels belong to, finite numbers.
    labels : array-like of shape (n,)
        Cluster of each sample: ints, strings or bools.
    squared : bool, default False
        Squared Euclidean distances instead of Euclidean ones: a different index, computed in O(n d).
    noise : {"exclude", "singletons", "cluster"}, default "exclude"
        Samples with the label -1 are left out (of N too), or count as clusters of one sample each, or as one cluster.

    Returns
    -------
    float
        At least 0, in the unit of X (its square if `squared`); nan if no sample is left.

    Raises
    ------
    ValueError
        If X is no finite matrix, its length is not that of the labels, a label is missing, or `noise` is none of
        the three.

    Notes
    -----
    O(Σ N_k² d) time by blocks of distances, O(n d) with `squared`; memory O(n + N_k d) and 8 MiB. Computed in
    float64. Invariant to translation and rotation of X, proportional to its scale (the square of it).

    References
    ----------
    Halkidi, Batistakis and Vazirgiannis, On clustering validation techniques, J. Intell. Inf. Syst. 2001: indices
    of this kind. Pham, Dang, Le, Le, Fast support vector clustering, Vietnam J. Comput. Sci. 2017: this index.

    Examples
    --------
    >>> compactness([[0.0], [1.0], [5.0], [7.0]], [0, 0, 1, 1])
    1.5
    >>> compactness([[0.0], [1.0], [5.0], [7.0]], [0, 0, 1, 1], squared=True)
    2.5
    """
    points, numbers = _clustered(X, labels, noise)
    if not numbers.size:
        return math.nan
    parts = []
    for members in _members(points, numbers):
        if len(members) > 1:
            total = _sum_of_squares(members) * len(members) if squared else _sum_of_distances(members)
            parts.append(total * 2.0 / (len(members) - 1))
    return math.fsum(parts) / numbers.size


def davies_bouldin(X: ArrayLike, labels: ArrayLike, *, noise: Noise = "exclude") -> float:
    """Mean over the clusters of the worst ratio of spreads to separation. Lower is better.

    ``(1/m) Σ_i max_{j≠i} (Δ_i + Δ_j) / |c_i - c_j|`` with the centroids c and the mean Euclidean distance Δ of the
    members of a cluster from its centroid.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data the labels belong to, finite numbers.
    labels : array-like of shape (n,)
        Cluster of each sample: ints, strings or bools.
    noise : {"exclude", "singletons", "cluster"}, default "exclude"
        Samples with the label -1 are left out, or count as clusters of one sample each, or as one cluster.

    Returns
    -------
    float
        At least 0. inf if two clusters have the same centroid (up to rounding) and one of them is more than one
        point; two clusters that are the same point have ratio 0 to each other. nan for a single cluster, or none.

    Raises
    ------
    ValueError
        If X is no finite matrix, its length is not that of the labels, a label is missing, or `noise` is none of
        the three.

    Notes
    -----
    O(n d + m² d) time, O(N_k d + m d) memory and 8 MiB. Computed in float64. Invariant to translation, rotation
    and scale of X. scikit-learn's function of this name counts coincident centroids as ratio 0.

    References
    ----------
    Davies and Bouldin, A cluster separation measure, IEEE Trans. Pattern Anal. Mach. Intell. 1979, with p = q of
    1 and 2.

    Examples
    --------
    >>> davies_bouldin([[0.0], [2.0], [9.0], [11.0]], [0, 0, 1, 1])
    0.2222222222222222
    """
    points, numbers = _clustered(X, labels, noise)
    if not numbers.size or not numbers.any():
        return math.nan
    origin = points[0].astype(np.float64)
    centroids = np.empty((int(numbers.max()) + 1, points.shape[1]))
    spreads = np.empty(len(centroids))
    radius = 0.0
    for number, members in enumerate(_members(points, numbers)):
        G = members - origin
        # Differences from a member: a cluster of equal samples then has a spread of exactly 0.
        centroids[number] = G[0] + (G - G[0]).mean(axis=0)
        spreads[number] = np.linalg.norm(G - centroids[number], axis=1).mean()
        radius = max(radius, float(np.linalg.norm(G, axis=1).max()))
    same = MARGIN * float(np.finfo(np.float64).eps) * radius
    return math.fsum(_worst_ratios(centroids, spreads, same)) / len(centroids)


def _worst_ratios(centroids: NDArray[np.float64], spreads: NDArray[np.float64], same: float) -> Iterator[float]:
    """Largest ratio of each cluster to another cluster, one by one; centroids closer than `same` count as equal."""
    from scipy.spatial.distance import cdist

    m = len(centroids)
    step = max(1, BLOCK_DISTANCES // m)
    for start in range(0, m, step):
        rows = np.arange(start, min(m, start + step))
        distances = cdist(centroids[rows], centroids)
        sums = spreads[rows, None] + spreads
        ratios = np.where(sums > 0.0, np.inf, 0.0)
        np.divide(sums, distances, out=ratios, where=distances > same)
        ratios[np.arange(len(rows)), rows] = 0.0
        yield from ratios.max(axis=1).tolist()


def _sum_of_squares(members: NDArray[np.float64]) -> float:
    """Σ |x - mean|²; times the number of members it is the sum of squared distances over their pairs."""
    shifted = members - members[0]
    shifted -= shifted.mean(axis=0)
    return float(np.einsum("ij,ij->", shifted, shifted))


def _sum_of_distances(members: NDArray[np.float64]) -> float:
    """Sum of distances over unordered pairs: each block with itself (halved, as both orders occur) and later rows."""
    from scipy.spatial.distance import cdist

    step = max(1, BLOCK_DISTANCES // len(members))
    sums = []
    for start in range(0, len(members), step):
        rows = members[start : start + step]
        sums.append(0.5 * float(cdist(rows, rows).sum()))
        later = members[start + step :]
        if len(later):
            sums.append(float(cdist(rows, later).sum()))
    return math.fsum(sums)


def _clustered(X: ArrayLike, labels: ArrayLike, noise: Noise) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The samples that remain without noise, and the numbers of their clusters, which are 0, 1, … without gaps."""
    mode = check_noise(noise)
    points = _check_points(X)
    names = check_labels(labels, "labels")
    if len(points) != names.size:
        raise ValueError(f"X has {len(points)} samples but labels has {names.size}")
    _, numbers, remaining = number_clusters(names, mode)
    return (points if remaining is None else points[remaining]), numbers


def _members(points: NDArray[Any], numbers: NDArray[np.int64]) -> Iterator[NDArray[np.float64]]:
    """The samples of each cluster in float64, one cluster after the other."""
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers))
    for start, end in zip(np.append(0, ends[:-1]), ends, strict=True):
        yield points[order[start:end]].astype(np.float64, copy=False)


def _check_points(X: ArrayLike) -> NDArray[Any]:
    try:
        points = np.asarray(X)
    except ValueError as error:
        raise ValueError(f"X must be a matrix of numbers: {error}") from error
    if points.ndim != 2:
        raise ValueError(f"X must be of shape (n, d), got shape {points.shape}")
    if points.dtype.kind not in "biuf":
        raise ValueError(f"X has values of type {points.dtype}; numbers are needed")
    if points.dtype.kind == "f" and not np.isfinite(points).all():
        row, column = (int(index[0]) for index in np.nonzero(~np.isfinite(points)))
        raise ValueError(f"X[{row}, {column}] is {points[row, column]}; finite numbers are needed")
    return points


def dbcv(X: ArrayLike, labels: ArrayLike, *, squared: bool = True, noise: Noise = "singletons") -> float:
    """Density-based clustering validation (DBCV). Higher is better.

    For each cluster the sparsest place inside (the longest edge between inner nodes of the minimum spanning tree of
    mutual reachability) is compared with the densest place between this cluster and another one:
    ``V = (separation - sparseness) / max(separation, sparseness)``, averaged with the cluster sizes as weights.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data the labels belong to, finite numbers.
    labels : array-like of shape (n,)
        Cluster of each sample: ints, strings or bools.
    squared : bool, default True
        Squared Euclidean distances, as in the authors' program; otherwise Euclidean distances, as in the definitions of
        the paper. With few attributes the latter score clear clusters lower: far points weigh more in the density of a
        point.
    noise : {"singletons", "exclude", "cluster"}, default "singletons"
        Samples with the label -1 count in n and contribute 0, as in the paper; or they are left out of n too; or they
        form one cluster. A cluster of one sample always contributes 0.

    Returns
    -------
    float
        In [-1, 1]; nan with fewer than two clusters of two samples or more.

    Raises
    ------
    ValueError
        If X is no finite matrix, its length is not that of the labels, a label is missing, or `noise` is none of
        the three.

    Notes
    -----
    O(n² d) time, O(n d) memory. Among edges of equal length the tree takes those between nearer points, so the order of
    the rows does not matter. Where the tree of a cluster has no edge between inner nodes, all its edges count; without
    inner nodes, all its nodes. The loops are in ``_density_jit.py`` and ``numerics/spanning_trees/reach_jit.py``.

    References
    ----------
    Moulavi, Jaskowiak, Campello, Zimek, Sander, Density-based clustering validation, SDM 2014, definitions 1 to 8.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0], [20.0], [21.0], [22.0], [23.0]]
    >>> dbcv(X, [0, 0, 0, 0, 1, 1, 1, 1]) > 0.9
    True
    >>> dbcv(X, [0, 1, 0, 1, 0, 1, 0, 1]) < 0
    True
    """
    # noise samples are alone or left out here: either way they are in no cluster
    points, numbers = _clustered(X, labels, noise)
    n = len(points)
    sizes = np.bincount(numbers) if n else np.zeros(0, dtype=np.int64)
    large = np.flatnonzero(sizes > 1)
    if len(large) < 2:
        return math.nan
    from clusterkit.metrics._density_jit import core_distances, separations
    from clusterkit.numerics.spanning_trees.reach_jit import EUCLIDEAN, SQUARED, reachability_tree

    metric = SQUARED if squared else EUCLIDEAN

    inner: list[NDArray[np.float64]] = []
    cores: list[NDArray[np.float64]] = []
    sparseness = np.empty(len(large))
    for place, number in enumerate(large):
        cluster = np.ascontiguousarray(points[numbers == number], dtype=np.float64)
        core = core_distances(cluster, metric)
        edges, lengths = reachability_tree(cluster, core, metric)
        is_inner = np.bincount(edges.ravel(), minlength=len(cluster)) > 1
        between = is_inner[edges].all(axis=1)
        sparseness[place] = lengths[between].max() if between.any() else lengths.max()
        chosen = is_inner if is_inner.any() else np.ones(len(cluster), dtype=bool)
        inner.append(cluster[chosen])
        cores.append(core[chosen])
    number_of = np.repeat(np.arange(len(large)), [len(part) for part in inner])
    separation = separations(np.concatenate(inner), np.concatenate(cores), number_of, len(large), metric)
    larger = np.maximum(separation, sparseness)
    # both are 0 where copies of one point are in two clusters
    validity = np.divide(separation - sparseness, larger, out=np.zeros(len(large)), where=larger > 0.0)
    return math.fsum(sizes[large] * validity) / n


def disco(X: ArrayLike, labels: ArrayLike, *, min_points: int = 5) -> float:
    """Density-based internal score for clusterings with noise (DISCO). Higher is better; the noise is judged too.

    The distance of two samples is the longest edge on their path in the minimum spanning tree of mutual reachability.
    A sample of a cluster scores its silhouette by these distances, the noise left out; beside a single cluster each
    noise sample counts as a cluster. A noise sample scores the least of ``(κ - κ_C) / max(κ, κ_C)`` and
    ``(d_C - κ_C) / max(d_C, κ_C)`` over the clusters C, with its core distance κ, the largest core distance κ_C of the
    cluster, and its distance d_C from the cluster: it is right where it is sparse and far. The index is the mean.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data the labels belong to, finite numbers.
    labels : array-like of shape (n,)
        Cluster of each sample: ints, strings or bools; the number -1 is noise.
    min_points : int, default 5
        The core distance of a sample is that to so many samples, itself the first.

    Returns
    -------
    float
        In [-1, 1]; -1 if all samples are noise, 0 if all are one cluster. A cluster of one sample contributes 0.

    Raises
    ------
    ValueError
        If X is no finite matrix, its length is not that of the labels, or a label is missing.

    Notes
    -----
    O(n²) time and memory: above some ten thousand rows take a sample.

    References
    ----------
    Beer, Krieger, Weber, Ritzert, Assent, Plant, Internal evaluation of density-based clusterings with noise, ICLR
    2026.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0], [20.0], [21.0], [22.0], [23.0], [60.0]]
    >>> disco(X, [0, 0, 0, 0, 1, 1, 1, 1, -1], min_points=2) > 0.9
    True
    >>> disco(X, [0, 0, 0, -1, 1, 1, 1, 1, 0], min_points=2) < 0.4
    True
    """
    from scipy.cluster.hierarchy import cophenet, linkage
    from scipy.spatial.distance import cdist, squareform
    from sklearn.metrics import silhouette_samples

    points, numbers = _clustered(X, labels, "cluster")
    lost, n = is_noise(check_labels(labels, "labels")), len(points)
    clusters = np.unique(numbers[~lost])
    if len(clusters) + lost.any() < 2:
        return float(len(clusters) - 1)
    D = cdist(points, points)
    core = np.sort(D, axis=1)[:, min(min_points, n) - 1]
    reach = np.maximum(D, np.maximum.outer(core, core))
    between = squareform(cophenet(linkage(squareform(reach, checks=False), "single")))
    judged = ~lost | (len(clusters) == 1)
    names = np.where(lost, -1 - np.arange(n), numbers)[judged]
    scores = np.zeros(n)
    if len(np.unique(names)) < len(names):
        scores[judged] = silhouette_samples(between[np.ix_(judged, judged)], names, metric="precomputed")
    scores[lost] = 1.0
    for cluster in clusters:
        members = numbers == cluster
        sparsest = core[members].max()
        for value in (core[lost], between[np.ix_(lost, members)].min(axis=1)):
            larger = np.maximum(value, sparsest)
            excess = np.divide(value - sparsest, larger, out=np.zeros(len(value)), where=larger > 0.0)
            scores[lost] = np.minimum(scores[lost], excess)
    return math.fsum(scores) / n
