"""Compiled loops of density-based validation without a distance matrix: O(m² d) time, O(m) memory.

The tree is in numerics/spanning_trees/reach_jit.py, a plain version of everything in
clusterkit_campaign/oracles/measures.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit
from clusterkit.numerics.spanning_trees.reach_jit import distance


@njit
def core_distances(points: Any, metric: int) -> Any:
    """Core distance of each point of a cluster (m, d): ``(mean over the other points of distance^-d)^(-1/d)``; (m,)."""
    m, d = points.shape
    core = np.zeros(m)
    row = np.empty(m)
    for i in range(m):
        nearest = np.inf
        for j in range(m):
            row[j] = distance(points, i, j, metric)
            if j != i and row[j] < nearest:
                nearest = row[j]
        if nearest == 0.0:
            continue  # an equal point: the density is infinite, the core distance 0
        # relative to the nearest distance, so that the ratios are at most 1 and the power cannot overflow
        total = 0.0
        for j in range(m):
            if j != i:
                total += (nearest / row[j]) ** d
        core[i] = nearest * (total / (m - 1)) ** (-1.0 / d)
    return core


@njit
def separations(points: Any, core: Any, cluster: Any, k: int, metric: int) -> Any:
    """Shortest ``max(core_i, core_j, distance)`` from each of k clusters to another cluster, (k,)."""
    shortest = np.full(k, np.inf)
    for i in range(len(points)):
        for j in range(i):
            if cluster[i] != cluster[j]:
                reach = max(core[i], core[j])
                if reach < shortest[cluster[i]] or reach < shortest[cluster[j]]:
                    reach = max(reach, distance(points, i, j, metric))
                    shortest[cluster[i]] = min(shortest[cluster[i]], reach)
                    shortest[cluster[j]] = min(shortest[cluster[j]], reach)
    return shortest
