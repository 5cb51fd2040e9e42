"""The nearest row of a k-d tree by mutual reachability, for rows that are not in it."""

from __future__ import annotations

import math

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices
from clusterkit.numerics.spanning_trees.kd_tree_jit import (
    TASKS,
    KdTree,
    near_slots,
    next_leaf,
    work_arrays,
)
from clusterkit.numerics.spanning_trees.neighbours_jit import smallest

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
    slots = tree.points.shape[2]
    leaves = tree.points.shape[0]
    work, pure = work_arrays(tree), np.empty(0, np.int64)
    none = np.zeros(len(floor))
    most = float(np.finfo(np.float64).max)
    cap = k + k // 2 + 2 * slots
    values = np.empty(cap)
    for i in range(t, len(Y), TASKS):
        y = Y[i]
        core_y = 0.0
        if k > 0:
            work.nodes[0], work.bounds[0] = 0, 0.0
            count, radius, top = 0, most, 1
            while True:
                node, top = next_leaf(tree, top, work, y, y, y, 0.0, none, pure, -1, radius)
                if node < 0:
                    break
                near, before = near_slots(tree, node - leaves + 1, work, y, y, radius), count
                values[count : count + near] = work.squares[:near]
                count += near
                if count >= k and (before < k or count > cap - slots):
                    radius, count = smallest(values, count, k), k
            core_y = math.sqrt(smallest(values, count, k))
        work.nodes[0], work.bounds[0] = 0, 0.0
        # Weights tie at core distances, which are roots: squared again they would not. So roots are compared, and nodes
        # are passed over by squares with room for rounding.
        best, apart, row, top, limit = np.inf, np.inf, -1, 1, most
        while True:
            node, top = next_leaf(tree, top, work, y, y, y, 0.0, floor, pure, -1, limit)
            if node < 0:
                break
            near = near_slots(tree, node - leaves + 1, work, y, y, limit)
            for j in range(near):
                slot, square = work.slots[j], work.squares[j]
                w = max(np.sqrt(square), core_y, core[slot])
                better = w < best or (w == best and square < apart)
                if better or (w == best and square == apart and tree.row[slot] < row):
                    best, apart, row = w, square, tree.row[slot]
                    limit = min(best * best * (1.0 + 1e-14), most)
        nearest[i], weights[i] = row, best
