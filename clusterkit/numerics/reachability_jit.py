"""The minimum spanning tree of mutual reachability distances, from points or from a distance matrix.

The mutual reachability distance of two points is ``max(d_ij, core_i, core_j)``: their distance, but at least the core
distance of each, which is large where points are sparse. Its minimum spanning tree is what density-based methods read
clusters from (HDBSCAN, DBCV).
"""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices

__all__ = ["EUCLIDEAN", "PRECOMPUTED", "SQUARED", "distance", "reachability_tree"]

EUCLIDEAN, SQUARED, PRECOMPUTED = 0, 1, 2
"""How `distance` reads its first argument: as points, with their Euclidean or squared Euclidean distance, or as a
matrix (m, m) of distances."""


@njit
def distance(source: Array, i: int, j: int, metric: int) -> float:
    """Distance of the points i and j of `source`: points (m, d) or, for PRECOMPUTED, distances (m, m)."""
    if metric == PRECOMPUTED:
        return source[i, j]
    total = 0.0
    for c in range(source.shape[1]):
        total += (source[i, c] - source[j, c]) ** 2
    return total if metric == SQUARED else np.sqrt(total)


@njit
def reachability_tree(source: Array, core: Array, metric: int) -> tuple[Indices, Array]:
    """Minimum spanning tree of ``max(d_ij, core_i, core_j)`` by Prim's algorithm: edges (m - 1, 2), lengths (m - 1,).

    Many edges are equally long, namely as long as a core distance. Among these the one between the nearer points is
    taken, so that the tree does not depend on the order of the rows. O(m²) distances, O(m) memory.

    Parameters
    ----------
    source : ndarray of shape (m, d) or (m, m)
        Points, or distances where `metric` is PRECOMPUTED.
    core : ndarray of shape (m,)
        Core distances, in the unit of the metric.
    metric : int
        EUCLIDEAN, SQUARED or PRECOMPUTED.
    """
    m = len(core)
    edges = np.empty((m - 1, 2), np.int64)
    lengths = np.empty(m - 1)
    length = np.full(m, np.inf)
    plain = np.full(m, np.inf)
    parent = np.zeros(m, np.int64)
    inside = np.zeros(m, np.bool_)
    last = 0
    inside[0] = True
    row = np.empty(m)
    for step in range(m - 1):
        # the branch on the metric is outside the loop over j, which is the hot one
        if metric == PRECOMPUTED:
            for j in range(m):
                row[j] = source[last, j]
        else:
            for j in range(m):
                if not inside[j]:
                    row[j] = distance(source, last, j, metric)
        best = -1
        for j in range(m):
            if inside[j]:
                continue
            direct = row[j]
            reach = max(direct, core[last], core[j])
            if reach < length[j] or (reach == length[j] and direct < plain[j]):
                length[j], plain[j], parent[j] = reach, direct, last
            if best < 0 or length[j] < length[best] or (length[j] == length[best] and plain[j] < plain[best]):
                best = j
        edges[step, 0], edges[step, 1], lengths[step] = parent[best], best, length[best]
        inside[best] = True
        last = best
    return edges, lengths
