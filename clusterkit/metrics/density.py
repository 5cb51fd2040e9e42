"""Density-based validation: whether clusters of any shape are denser inside than between them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clusterkit.metrics.internal import _clustered
from clusterkit.metrics.labels import Noise

__all__ = ["dbcv"]


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
    inner nodes, all its nodes. The loops are in ``_density_jit.py`` and ``numerics/reachability_jit.py``.

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
    from clusterkit.numerics.reachability_jit import EUCLIDEAN, SQUARED, reachability_tree

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
