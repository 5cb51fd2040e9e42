"""Mutual reachability distances: the nearest row of a k-d tree for new rows, and the spanning tree by Prim's algorithm.

The mutual reachability distance of two points is ``max(d_ij, core_i, core_j)``: their distance, but at least the core
distance of each, which is large where points are sparse. Its minimum spanning tree is what density-based methods read
clusters from (HDBSCAN, DBCV). `prim` looks at all pairs of points, in O(n² d) time and O(n d) memory;
`reachability_tree` also takes a distance matrix. `reach_task` is for rows that are not in the k-d tree.
"""

from __future__ import annotations

import math

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices
from clusterkit.numerics.spanning_trees.boruvka_jit import smallest
from clusterkit.numerics.spanning_trees.kd_tree_jit import (
    TASKS,
    KdTree,
    leaf_squares,
    near_slots,
    next_leaf,
    work_arrays,
)

LARGEST = float(np.finfo(np.float64).max)
"""A bound that no square exceeds."""


@njit
def reach_task(
    t: int,
    tree: KdTree,
    core: Array,
    floor: Array,
    k: int,
    Y: Array,
    nearest: Indices,
    weights: Array,
) -> None:
    """The row x of least ``max(|x - y|, core_x, core_y)`` for the rows y of a task, and that value.

    `core` are distances, and `floor` lower bounds of their squares below each node. The core distance of y reaches to
    its k-th nearest row of the tree (k = 0: it is 0). Of rows at equal values the one at the smallest distance is
    taken, then the lowest. The tree is in double precision.
    """
    points, rows, row_of, filtered = tree.points, tree.rows, tree.row, tree.filtered
    lows, highs, centres, radii = tree.low, tree.high, tree.centre, tree.radius
    queries, edges, _, wanted, out, starts, hits, near, squares, nodes, bounds = work_arrays(tree)
    leaves, _, slots = points.shape
    pure = np.empty(0, np.int64)
    none = np.zeros(len(floor))
    wanted[0] = True
    most = LARGEST
    cap = k + k // 2 + 2 * slots
    values = np.empty(cap)
    for i in range(t, len(Y), TASKS):
        y = Y[i]
        queries[0] = y
        core_y = 0.0
        if k > 0:
            nodes[0], bounds[0] = 0, 0.0
            count, limit, top = 0, most, 1
            while True:
                node, top = next_leaf(
                    lows, highs, centres, radii, top, nodes, bounds, y, y, y, 0.0, none, pure, -1, limit, np.inf
                )
                if node < 0:
                    break
                edges[0] = limit
                there = node - leaves + 1
                leaf_squares(points, there, queries, 1, wanted, edges, out, starts, hits)
                met = near_slots(out, 0, limit, hits[0], rows, there, filtered, Y, i, limit, near, squares)
                before = count
                for j in range(met):
                    values[count + j] = squares[j]
                count += met
                if count >= k and (before < k or count > cap - slots):
                    limit, count = smallest(values, count, k), k
            core_y = math.sqrt(smallest(values, count, k))
        nodes[0], bounds[0] = 0, 0.0
        # Many mutual reachability distances are equal, because they equal a core distance. Squaring a rounded square
        # root does not give the square back, so comparing squares would break these ties: edges are compared by
        # distance. Subtrees are pruned by squared distance, with a relative margin of 1e-14 for rounding.
        best, apart, row, top, limit = np.inf, np.inf, -1, 1, most
        while True:
            node, top = next_leaf(
                lows, highs, centres, radii, top, nodes, bounds, y, y, y, 0.0, floor, pure, -1, limit, limit
            )
            if node < 0:
                break
            edges[0] = limit
            there = node - leaves + 1
            leaf_squares(points, there, queries, 1, wanted, edges, out, starts, hits)
            met = near_slots(out, 0, limit, hits[0], rows, there, filtered, Y, i, limit, near, squares)
            for j in range(met):
                slot, square = near[j], squares[j]
                w = max(np.sqrt(square), core_y, core[slot])
                better = w < best or (w == best and square < apart)
                if better or (w == best and square == apart and row_of[slot] < row):
                    best, apart, row = w, square, row_of[slot]
                    limit = min(best * best * (1.0 + 1e-14), most)
        nearest[i], weights[i] = row, best


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
        core[i] = smallest(row, n, n_neighbors)
    return core


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
def prim(X: Array, core: Array, metric: int) -> tuple[Indices, Array]:
    """Edges (n - 1, 2) and weights (n - 1,) of the tree under ``max(d_ij, core_i, core_j)``.

    `metric` says how X is read (`distance`); with SQUARED distances, core distances and weights are squares.

    Among edges of equal weight the shortest is taken, and among equally long ones the one with the lowest (lower,
    higher) row, which makes the tree unique.
    """
    n = len(X)
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
            total = distance(X, last, j, metric)
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
