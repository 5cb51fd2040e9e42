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

    Of edges of equal weight the shortest is taken, and of equally long ones the one with the lowest (lower, higher)
    row, which makes the tree unique.
    """
    n, d = X.shape
    edges = np.empty((max(n - 1, 0), 2), np.int64)
    squares = np.empty(max(n - 1, 0))
    least, apart = np.full(n, np.inf), np.full(n, np.inf)
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
            if _before(reach, total, last, j, least[j], apart[j], near[j], j):
                least[j], apart[j], near[j] = reach, total, last
            if best < 0 or _before(least[j], apart[j], near[j], j, least[best], apart[best], near[best], best):
                best = j
        edges[step, 0], edges[step, 1], squares[step] = near[best], best, least[best]
        inside[best] = True
        last = best
    return edges, squares


@njit
def _before(w: float, square: float, i: int, j: int, w2: float, square2: float, i2: int, j2: int) -> bool:
    """Whether the edge (i, j) comes before the edge (i2, j2)."""
    if w != w2:
        return w < w2
    if square != square2:
        return square < square2
    if min(i, j) != min(i2, j2):
        return min(i, j) < min(i2, j2)
    return max(i, j) < max(i2, j2)
