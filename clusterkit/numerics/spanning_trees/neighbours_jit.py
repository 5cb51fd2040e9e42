"""Distances to the k-th neighbour, and lists of the nearest neighbours, of all rows of a k-d tree."""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts, Indices
from clusterkit.numerics.spanning_trees.kd_tree_jit import (
    CHUNK,
    TASKS,
    KdTree,
    near_slots,
    next_leaf,
    point_bound,
    prepare_queries,
    work_arrays,
)

__all__ = ["core_task", "list_task", "smallest"]


@njit
def smallest(values: Array, count: int, k: int) -> float:
    """The k-th smallest of the first `count` values, which it brings to the front together with the smaller ones."""
    low, high, place = 0, count, k - 1
    while high - low > 1:
        a, b, pivot = values[low], values[high - 1], values[low + (high - low) // 2]
        pivot = max(min(a, b), min(max(a, b), pivot))
        below = low
        for i in range(low, high):  # no branch on a value, as in the tree's own selection
            t = values[i]
            values[i] = values[below]
            values[below] = t
            below += t < pivot
        if place < below:
            high = below
            continue
        upto = below
        for i in range(below, high):
            t = values[i]
            values[i] = values[upto]
            values[upto] = t
            upto += t <= pivot
        if place < upto:
            return pivot
        low = upto
    return values[place]


@njit
def core_task(t: int, tree: KdTree, k: int, repeats: Counts, floor: Array, core: Array) -> None:
    """Squared distance to the k-th nearest row, itself the first, of the rows in a task's leaves.

    Row i stands for ``repeats[slot]`` equal rows. `floor` are zeros, one a node.
    """
    leaves, _, slots = tree.points.shape
    work = work_arrays(tree)
    most = np.finfo(np.float64).max
    cap = k + k // 2 + 2 * slots
    weighted = len(repeats) > 0
    values = np.empty((slots, cap + (k if weighted else 0)))
    counts = np.empty(slots, np.int64)
    radii = np.empty(slots)
    pure = np.empty(0, np.int64)
    for chunk in range(t * CHUNK, leaves, TASKS * CHUNK):
        for leaf in range(chunk, min(chunk + CHUNK, leaves)):
            home = leaves - 1 + leaf
            filled = 0
            while filled < slots and tree.row[leaf * slots + filled] >= 0:
                counts[filled], radii[filled] = 0, most
                filled += 1
            prepare_queries(tree, leaf, work)
            work.nodes[0], work.bounds[0] = 0, 0.0
            widest, top = np.inf, 1
            low, high, centre = tree.low[home], tree.high[home], tree.centre[home]
            while True:
                node, top = next_leaf(tree, top, work, low, high, centre, tree.radius[home], floor, pure, -1, widest)
                if node < 0:
                    break
                widest = 0.0
                for a in range(filled):
                    slot = leaf * slots + a
                    if node == home or point_bound(tree, node, tree.rows[slot]) < radii[a]:
                        query, exact = work.queries[a], tree.rows[slot]
                        near = near_slots(tree, node - leaves + 1, work, query, exact, radii[a])
                        count, before = counts[a], counts[a]
                        for i in range(near):
                            if weighted:
                                for _ in range(min(repeats[work.slots[i]], k)):
                                    values[a, count] = work.squares[i]
                                    count += 1
                                if count >= cap:
                                    radii[a] = smallest(values[a], count, k)
                                    count = k
                            else:
                                values[a, count] = work.squares[i]
                                count += 1
                        if count >= k and (before < k or count > cap - slots):
                            radii[a] = smallest(values[a], count, k)
                            count = k
                        counts[a] = count
                    widest = max(widest, radii[a])
            for a in range(filled):
                core[leaf * slots + a] = smallest(values[a], counts[a], k)


@njit
def list_task(t: int, tree: KdTree, floor: Array, near_to: Indices, squares: Array) -> None:
    """The K nearest other rows of the rows in a task's leaves, nearest first: slots and squared distances, (., K).

    Of rows at equal distances those found first are listed.
    """
    leaves, _, slots = tree.points.shape
    K = near_to.shape[1]
    work = work_arrays(tree)
    most = np.finfo(np.float64).max
    pure = np.empty(0, np.int64)
    for chunk in range(t * CHUNK, leaves, TASKS * CHUNK):
        for leaf in range(chunk, min(chunk + CHUNK, leaves)):
            home = leaves - 1 + leaf
            filled = 0
            while filled < slots and tree.row[leaf * slots + filled] >= 0:
                filled += 1
            near_to[leaf * slots : (leaf + 1) * slots] = -1
            squares[leaf * slots : (leaf + 1) * slots] = most
            prepare_queries(tree, leaf, work)
            work.nodes[0], work.bounds[0] = 0, 0.0
            widest, top = np.inf, 1
            low, high, centre = tree.low[home], tree.high[home], tree.centre[home]
            while True:
                node, top = next_leaf(tree, top, work, low, high, centre, tree.radius[home], floor, pure, -1, widest)
                if node < 0:
                    break
                widest = 0.0
                for a in range(filled):
                    slot = leaf * slots + a
                    last = squares[slot, K - 1]
                    if node == home or point_bound(tree, node, tree.rows[slot]) < last:
                        query, exact = work.queries[a], tree.rows[slot]
                        near = near_slots(tree, node - leaves + 1, work, query, exact, last)
                        for i in range(near):
                            other, distance = work.slots[i], work.squares[i]
                            if other == slot or distance >= squares[slot, K - 1]:
                                continue
                            place = K - 1
                            while place > 0 and squares[slot, place - 1] > distance:
                                squares[slot, place] = squares[slot, place - 1]
                                near_to[slot, place] = near_to[slot, place - 1]
                                place -= 1
                            squares[slot, place], near_to[slot, place] = distance, other
                    widest = max(widest, squares[slot, K - 1])
