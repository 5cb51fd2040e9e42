"""The nearest row of a k-d tree by mutual reachability, for rows that are not in it."""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices
from clusterkit.numerics.spanning_trees.kd_tree_jit import (
    TASKS,
    KdTree,
    Work,
    near_slots,
    next_leaf,
    point_bound,
    work_arrays,
)
from clusterkit.numerics.spanning_trees.neighbours_jit import smallest

__all__ = ["reach_task"]


@njit
def _ask(y: Array, work: Work) -> None:
    """Make a new row the query."""
    work.query[:] = y
    work.nodes[0], work.bounds[0] = 0, 0.0


@njit
def reach_task(
    t: int,
    tree: KdTree,
    core: Array,
    floor: Array,
    k: int,
    Y: Array,
    nearest: Indices,
    squares: Array,
) -> None:
    """The row x of least ``max(|x - y|², core_x, core_y)`` for the rows y of a task, and that value.

    The core distance of y reaches to its k-th nearest row of the tree (k = 0: it is 0). Of rows at equal values the one
    at the smallest distance is taken, then the lowest.
    """
    slots = tree.points.shape[2]
    leaves = tree.points.shape[0]
    work, pure = work_arrays(tree), np.empty(0, np.int64)
    none = np.zeros(len(floor))
    most = np.finfo(np.float64).max
    cap = k + k // 2 + 2 * slots
    values = np.empty(cap)
    for i in range(t, len(Y), TASKS):
        y = Y[i]
        own = 0.0
        if k > 0:
            _ask(y, work)
            count, radius, top = 0, most, 1
            while True:
                node, top = next_leaf(tree, top, work, y, y, y, 0.0, none, pure, -1, radius)
                if node < 0:
                    break
                near, before = near_slots(tree, node - leaves + 1, work, radius), count
                values[count : count + near] = work.squares[:near]
                count += near
                if count >= k and (before < k or count > cap - slots):
                    radius, count = smallest(values, count, k), k
            own = smallest(values, count, k)
        _ask(y, work)
        best, apart, row, top = np.inf, np.inf, -1, 1
        while True:
            # not strictly: of equal values the nearest row is wanted
            node, top = next_leaf(tree, top, work, y, y, y, 0.0, floor, pure, -1, np.nextafter(best, np.inf))
            if node < 0:
                break
            if max(point_bound(tree, node, y), floor[node]) > best:
                continue
            near = near_slots(tree, node - leaves + 1, work, min(best, most))
            for j in range(near):
                slot, square = work.slots[j], work.squares[j]
                w = max(square, own, core[slot])
                better = w < best or (w == best and square < apart)
                if better or (w == best and square == apart and tree.row[slot] < row):
                    best, apart, row = w, square, tree.row[slot]
        nearest[i], squares[i] = row, best
