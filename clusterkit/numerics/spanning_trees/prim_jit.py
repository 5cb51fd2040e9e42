"""Prim's algorithm on points: the spanning tree by a look at all pairs, O(n² d) time and O(n d) memory."""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices

__all__ = ["core_squares", "prim"]


@njit
def core_squares(X: Array, n_neighbors: int) -> Array:
    """Squared distance of each row to its n_neighbors-th nearest row, itself counted as the first, (n,)."""
    n, d = X.shape
    core = np.zeros(n)
    if n_neighbors <= 1:
        return core
    row = np.empty(n)
    for i in range(n):
        for j in range(n):
            total = 0.0
            for c in range(d):
                total += (X[i, c] - X[j, c]) ** 2
            row[j] = total
        core[i] = np.partition(row, n_neighbors - 1)[n_neighbors - 1]
    return core


@njit
def prim(X: Array, core: Array) -> tuple[Indices, Array]:
    """Edges (n - 1, 2) and squared weights (n - 1,) of the tree under ``max(|x_i - x_j|², core_i, core_j)``.

    Of edges of equal weight the one with the lowest (lower, higher) row is taken, which makes the tree unique.
    """
    n, d = X.shape
    edges = np.empty((max(n - 1, 0), 2), np.int64)
    squares = np.empty(max(n - 1, 0))
    least = np.full(n, np.inf)
    near = np.zeros(n, np.int64)
    inside = np.zeros(n, np.bool_)
    last = 0
    inside[0] = True
    for step in range(n - 1):
        best = -1
        for j in range(n):
            if inside[j]:
                continue
            total = 0.0
            for c in range(d):
                total += (X[last, c] - X[j, c]) ** 2
            reach = max(total, core[last], core[j])
            if reach < least[j] or (
                reach == least[j] and (min(last, j), max(last, j)) < (min(near[j], j), max(near[j], j))
            ):
                least[j], near[j] = reach, last
            if (
                best < 0
                or least[j] < least[best]
                or (
                    least[j] == least[best]
                    and (min(near[j], j), max(near[j], j)) < (min(near[best], best), max(near[best], best))
                )
            ):
                best = j
        edges[step, 0], edges[step, 1], squares[step] = near[best], best, least[best]
        inside[best] = True
        last = best
    return edges, squares
