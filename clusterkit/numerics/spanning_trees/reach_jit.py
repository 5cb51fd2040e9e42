"""The nearest row of a k-d tree by mutual reachability, for rows that are not in it."""

from __future__ import annotations

import math

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices
from clusterkit.numerics.spanning_trees.descent_jit import leaf_squares, near_slots, next_leaf, work_arrays
from clusterkit.numerics.spanning_trees.kd_tree_jit import TASKS, KdTree
from clusterkit.numerics.spanning_trees.selection_jit import smallest

__all__ = ["reach_task"]


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
    most = float(np.finfo(np.float64).max)
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
        # Weights tie at core distances, which are roots: squared again they would not. So roots are compared, and nodes
        # are passed over by squares with room for rounding.
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
