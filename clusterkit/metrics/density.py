"""Density-based validation: whether clusters of any shape are denser inside than between them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clusterkit.metrics._labels import Noise
from clusterkit.metrics.internal import _clustered

__all__ = ["dbcv"]


def dbcv(X: ArrayLike, labels: ArrayLike, *, squared: bool = True, noise: Noise = "singletons") -> float:
    """Density-based clustering validation (DBCV). Higher is better.

    Of each cluster the sparsest place inside (the longest edge between inner nodes of the minimum spanning tree of
    mutual reachability) is compared with the densest place between it and another cluster:
    ``V = (separation - sparseness) / max(separation, sparseness)``, averaged with the sizes of the clusters as weights.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data the labels belong to, finite numbers.
    labels : array-like of shape (n,)
        Cluster of each sample: ints, strings or bools.
    squared : bool, default True
        Squared Euclidean distances, as in the authors' program; else Euclidean ones, as the paper's definitions read.
        With few attributes the second are less sure of clear clusters: far points weigh more in the density of a point.
    noise : {"singletons", "exclude", "cluster"}, default "singletons"
        Samples with the label -1 count in n and contribute 0, as in the paper; or are left out of n too; or are one
        cluster. A cluster of one sample always contributes 0.

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
    O(n² d) time, O(n d) memory. Of edges equally long the tree takes those between nearer points, so the order of the
    rows does not matter. Where the tree of a cluster has no edge between inner nodes, all its edges count; without
    inner nodes, all its nodes.

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
    # alone or left out: noise is in no cluster
    points, numbers = _clustered(X, labels, noise)
    n = len(points)
    sizes = np.bincount(numbers) if n else np.zeros(0, dtype=np.int64)
    kept = np.flatnonzero(sizes > 1)
    if len(kept) < 2:
        return math.nan
    from clusterkit.metrics import _density_jit as jit

    inner: list[NDArray[np.float64]] = []
    cores: list[NDArray[np.float64]] = []
    sparseness = np.empty(len(kept))
    for place, number in enumerate(kept):
        own = np.ascontiguousarray(points[numbers == number], dtype=np.float64)
        core = jit.core_distances(own, squared)
        edges, lengths = jit.reachability_tree(own, core, squared)
        is_inner = np.bincount(edges.ravel(), minlength=len(own)) > 1
        between = is_inner[edges].all(axis=1)
        sparseness[place] = lengths[between].max() if between.any() else lengths.max()
        chosen = is_inner if is_inner.any() else np.ones(len(own), dtype=bool)
        inner.append(own[chosen])
        cores.append(core[chosen])
    cluster = np.repeat(np.arange(len(kept)), [len(part) for part in inner])
    separation = jit.separations(np.concatenate(inner), np.concatenate(cores), cluster, len(kept), squared)
    larger = np.maximum(separation, sparseness)
    # both are 0 where copies of one point are in two clusters
    validity = np.divide(separation - sparseness, larger, out=np.zeros(len(kept)), where=larger > 0.0)
    return math.fsum(sizes[kept] * validity) / n
