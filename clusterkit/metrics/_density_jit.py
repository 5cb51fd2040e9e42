"""Compiled loops of density-based validation: no distance matrix, O(m² d) time. Plain twin: tests/oracles/dbcv.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit


@njit
def _distance(points: Any, i: int, j: int, squared: bool) -> float:
    total = 0.0
    for c in range(points.shape[1]):
        total += (points[i, c] - points[j, c]) ** 2
    return total if squared else np.sqrt(total)


@njit
def core_distances(points: Any, squared: bool) -> Any:
    """Of each point of a cluster (m, d) to its others: the mean of (1/distance)^d, to the power -1/d; (m,)."""
    m, d = points.shape
    core = np.zeros(m)
    row = np.empty(m)
    for i in range(m):
        nearest = np.inf
        for j in range(m):
            row[j] = _distance(points, i, j, squared)
            if j != i and row[j] < nearest:
                nearest = row[j]
        if nearest == 0.0:
            continue  # an equal point: infinitely dense
        # ratios to the nearest are at most 1: the power cannot overflow
        total = 0.0
        for j in range(m):
            if j != i:
                total += (nearest / row[j]) ** d
        core[i] = nearest * (total / (m - 1)) ** (-1.0 / d)
    return core


@njit
def reachability_tree(points: Any, core: Any, squared: bool) -> Any:
    """Minimum spanning tree of max(core_i, core_j, distance): its edges (m - 1, 2) and their lengths (m - 1,).

    Prim. Many edges are equally long, namely as long as a core distance; of these the one between the nearer points
    wins, so that the tree does not depend on the order of the rows.
    """
    m = len(points)
    edges = np.empty((m - 1, 2), np.int64)
    lengths = np.empty(m - 1)
    length = np.full(m, np.inf)
    plain = np.full(m, np.inf)
    parent = np.zeros(m, np.int64)
    inside = np.zeros(m, np.bool_)
    last = 0
    inside[0] = True
    for step in range(m - 1):
        best = -1
        for j in range(m):
            if inside[j]:
                continue
            distance = _distance(points, last, j, squared)
            reach = max(distance, core[last], core[j])
            if reach < length[j] or (reach == length[j] and distance < plain[j]):
                length[j], plain[j], parent[j] = reach, distance, last
            if best < 0 or length[j] < length[best] or (length[j] == length[best] and plain[j] < plain[best]):
                best = j
        edges[step, 0], edges[step, 1], lengths[step] = parent[best], best, length[best]
        inside[best] = True
        last = best
    return edges, lengths


@njit
def separations(points: Any, core: Any, cluster: Any, k: int, squared: bool) -> Any:
    """Shortest max(core_i, core_j, distance) from each of k clusters to another one, (k,)."""
    found = np.full(k, np.inf)
    for i in range(len(points)):
        for j in range(i):
            if cluster[i] != cluster[j]:
                reach = max(core[i], core[j])
                if reach < found[cluster[i]] or reach < found[cluster[j]]:
                    reach = max(reach, _distance(points, i, j, squared))
                    found[cluster[i]] = min(found[cluster[i]], reach)
                    found[cluster[j]] = min(found[cluster[j]], reach)
    return found
