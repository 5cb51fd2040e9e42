"""Lists of the nearest neighbours of all rows of a k-d tree, and few of them reach to the core distances."""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices
from clusterkit.numerics.spanning_trees.descent_jit import (
    edge_of,
    leaf_squares,
    near_slots,
    next_leaf,
    prepare_queries,
    reaching,
    work_arrays,
)
from clusterkit.numerics.spanning_trees.kd_tree_jit import CHUNK, TASKS, KdTree

__all__ = ["list_task"]

LARGEST = float(np.finfo(np.float64).max)
"""The bound of a row that has not met K others."""


@njit
def list_task(t: int, tree: KdTree, floor: Array, core: Array, near_to: Indices) -> None:
    """The K nearest other rows of the rows in a task's leaves, nearest first, and squared distances to the last ones.

    Parameters
    ----------
    t : int
    tree : KdTree
    floor : ndarray of shape (nodes,)
        Zeros.
    core : ndarray of shape (slots,) or (0,)
        Gets the squared distances to the K-th nearest other rows, unless it is empty.
    near_to : ndarray of shape (slots, K)
        Gets the slots of the nearest other rows, nearest first; K is less than the number of rows. Of rows at equal
        distances those hit first are listed.
    """
    points, rows, row, filtered = tree.points, tree.rows, tree.row, tree.filtered
    lows, highs, centres, radii, least, most = tree.low, tree.high, tree.centre, tree.radius, tree.least, tree.most
    scale, grow, slack, cut = tree.scale, tree.grow, tree.slack, tree.cut
    queries, edges, bounds, wanted, out, starts, hits, near, squares, nodes, apart = work_arrays(tree)
    leaves, _, slots = points.shape
    K = near_to.shape[1]
    listed = np.empty((slots, K))
    for chunk in range(t * CHUNK, leaves, TASKS * CHUNK):
        for leaf in range(chunk, min(chunk + CHUNK, leaves)):
            home = leaves - 1 + leaf
            filled = 0
            while filled < slots and row[leaf * slots + filled] >= 0:
                edges[filled] = edge_of(LARGEST, filtered, scale, grow, slack, cut)
                filled += 1
            for a in range(slots):
                for i in range(K):
                    near_to[leaf * slots + a, i], listed[a, i] = -1, LARGEST
            prepare_queries(points, leaf, queries)
            nodes[0], apart[0], top, widest = 0, 0.0, 1, np.inf
            low, high, centre, radius = lows[home], highs[home], centres[home], radii[home]
            while True:
                node, top = next_leaf(
                    lows,
                    highs,
                    centres,
                    radii,
                    top,
                    nodes,
                    apart,
                    low,
                    high,
                    centre,
                    radius,
                    floor,
                    near,
                    -1,
                    widest,
                    np.inf,
                )
                if node < 0:
                    break
                there = node - leaves + 1
                reaching(points, leaf, least, most, there, edges, bounds, wanted)
                leaf_squares(points, there, queries, filled, wanted, edges, out, starts, hits)
                widest = 0.0
                for a in range(filled):
                    slot = leaf * slots + a
                    last = listed[a, K - 1]
                    if hits[a] > 0:
                        met = near_slots(
                            out, a, edges[a], hits[a], rows, there, filtered, rows, slot, last, near, squares
                        )
                        for i in range(met):
                            other, distance = near[i], squares[i]
                            if other == slot or distance >= last:
                                continue
                            place = K - 1
                            while place > 0 and listed[a, place - 1] > distance:
                                listed[a, place] = listed[a, place - 1]
                                near_to[slot, place] = near_to[slot, place - 1]
                                place -= 1
                            listed[a, place], near_to[slot, place] = distance, other
                            last = listed[a, K - 1]
                        if met > 0:
                            edges[a] = edge_of(last, filtered, scale, grow, slack, cut)
                    widest = max(widest, last)
            for a in range(min(filled, len(core))):
                core[leaf * slots + a] = listed[a, K - 1]
