"""Distances to the k-th neighbour, and lists of the nearest neighbours, of all rows of a k-d tree."""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts, Indices
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
def _smallest_weighted(values: Array, weights: Counts, count: int, k: int) -> tuple[float, int]:
    """The least of the first `count` values that weighs k together with the smaller ones, and how many are these.

    They are brought to the front.
    """
    low, high, lighter = 0, count, 0
    while high - low > 1:
        a, b, pivot = values[low], values[high - 1], values[low + (high - low) // 2]
        pivot = max(min(a, b), min(max(a, b), pivot))
        below, weight = low, lighter
        for i in range(low, high):
            t, u = values[i], weights[i]
            values[i], weights[i] = values[below], weights[below]
            values[below], weights[below] = t, u
            below += t < pivot
        for i in range(low, below):
            weight += weights[i]
        if weight >= k:
            high = below
            continue
        upto = below
        for i in range(below, high):
            t, u = values[i], weights[i]
            values[i], weights[i] = values[upto], weights[upto]
            values[upto], weights[upto] = t, u
            upto += t <= pivot
        for i in range(below, upto):
            weight += weights[i]
        if weight >= k:
            return pivot, upto
        low, lighter = upto, weight
    return values[low], low + 1


@njit
def core_task(t: int, tree: KdTree, k: int, repeats: Counts, floor: Array, core: Array) -> None:
    """Squared distance to the k-th nearest row, itself the first, of the rows in a task's leaves.

    Row i stands for ``repeats[slot]`` equal rows. `floor` are zeros, one a node.
    """
    points, rows, row, filtered = tree.points, tree.rows, tree.row, tree.filtered
    lows, highs, centres, radii, least, most = tree.low, tree.high, tree.centre, tree.radius, tree.least, tree.most
    scale, grow, slack, cut = tree.scale, tree.grow, tree.slack, tree.cut
    queries, edges, bounds, wanted, out, hits, near, squares, nodes, apart = work_arrays(tree)
    leaves, _, slots = points.shape
    largest = np.finfo(np.float64).max
    cap = k + k // 2 + 2 * slots
    weighted = len(repeats) > 0
    values = np.empty((slots, cap))
    weights = np.empty((slots if weighted else 0, cap), np.int64)
    # entries of a row, what they weigh (the entries themselves without weights), and the k-th smallest so far
    counts, masses, limits = np.empty(slots, np.int64), np.empty(slots, np.int64), np.empty(slots)
    pure = np.empty(0, np.int64)
    for chunk in range(t * CHUNK, leaves, TASKS * CHUNK):
        for leaf in range(chunk, min(chunk + CHUNK, leaves)):
            home = leaves - 1 + leaf
            filled = 0
            while filled < slots and row[leaf * slots + filled] >= 0:
                counts[filled], masses[filled], limits[filled] = 0, 0, largest
                edges[filled] = edge_of(largest, filtered, scale, grow, slack, cut)
                filled += 1
            prepare_queries(points, leaf, queries)
            nodes[0], apart[0], top, widest = 0, 0.0, 1, np.inf
            low, high, centre, radius = lows[home], highs[home], centres[home], radii[home]
            while True:
                node, top = next_leaf(
                    lows, highs, centres, radii, top, nodes, apart, low, high, centre, radius, floor, pure, -1, widest
                )
                if node < 0:
                    break
                there = node - leaves + 1
                reaching(points, leaf, least, most, there, edges, bounds, wanted)
                leaf_squares(points, there, queries, filled, wanted, edges, out, hits)
                widest = 0.0
                for a in range(filled):
                    if hits[a] > 0:
                        met = near_slots(
                            out,
                            a,
                            edges[a],
                            hits[a],
                            rows,
                            there,
                            filtered,
                            rows,
                            leaf * slots + a,
                            limits[a],
                            near,
                            squares,
                        )
                        count, before = counts[a], masses[a]
                        for i in range(met):
                            values[a, count + i] = squares[i]
                        mass = before + met
                        if weighted:
                            mass = before
                            for i in range(met):
                                weights[a, count + i] = repeats[near[i]]
                                mass += repeats[near[i]]
                        count += met
                        if mass >= k and (before < k or count > cap - slots):
                            if weighted:
                                limits[a], count = _smallest_weighted(values[a], weights[a], count, k)
                                mass = k
                            else:
                                limits[a], count, mass = smallest(values[a], count, k), k, k
                            edges[a] = edge_of(limits[a], filtered, scale, grow, slack, cut)
                        counts[a], masses[a] = count, mass
                    widest = max(widest, limits[a])
            for a in range(filled):
                if weighted:
                    core[leaf * slots + a] = _smallest_weighted(values[a], weights[a], counts[a], k)[0]
                else:
                    core[leaf * slots + a] = smallest(values[a], counts[a], k)


@njit
def list_task(t: int, tree: KdTree, floor: Array, near_to: Indices, listed: Array) -> None:
    """The K nearest other rows of the rows in a task's leaves, nearest first: slots and squared distances, (., K).

    Of rows at equal distances those hits first are listed.
    """
    points, rows, row, filtered = tree.points, tree.rows, tree.row, tree.filtered
    lows, highs, centres, radii, least, most = tree.low, tree.high, tree.centre, tree.radius, tree.least, tree.most
    scale, grow, slack, cut = tree.scale, tree.grow, tree.slack, tree.cut
    queries, edges, bounds, wanted, out, hits, near, squares, nodes, apart = work_arrays(tree)
    leaves, _, slots = points.shape
    K = near_to.shape[1]
    largest = np.finfo(np.float64).max
    pure = np.empty(0, np.int64)
    for chunk in range(t * CHUNK, leaves, TASKS * CHUNK):
        for leaf in range(chunk, min(chunk + CHUNK, leaves)):
            home = leaves - 1 + leaf
            filled = 0
            while filled < slots and row[leaf * slots + filled] >= 0:
                edges[filled] = edge_of(largest, filtered, scale, grow, slack, cut)
                filled += 1
            near_to[leaf * slots : (leaf + 1) * slots] = -1
            listed[leaf * slots : (leaf + 1) * slots] = largest
            prepare_queries(points, leaf, queries)
            nodes[0], apart[0], top, widest = 0, 0.0, 1, np.inf
            low, high, centre, radius = lows[home], highs[home], centres[home], radii[home]
            while True:
                node, top = next_leaf(
                    lows, highs, centres, radii, top, nodes, apart, low, high, centre, radius, floor, pure, -1, widest
                )
                if node < 0:
                    break
                there = node - leaves + 1
                reaching(points, leaf, least, most, there, edges, bounds, wanted)
                leaf_squares(points, there, queries, filled, wanted, edges, out, hits)
                widest = 0.0
                for a in range(filled):
                    slot = leaf * slots + a
                    last = listed[slot, K - 1]
                    if hits[a] > 0:
                        met = near_slots(
                            out, a, edges[a], hits[a], rows, there, filtered, rows, slot, last, near, squares
                        )
                        for i in range(met):
                            other, distance = near[i], squares[i]
                            if other == slot or distance >= last:
                                continue
                            place = K - 1
                            while place > 0 and listed[slot, place - 1] > distance:
                                listed[slot, place] = listed[slot, place - 1]
                                near_to[slot, place] = near_to[slot, place - 1]
                                place -= 1
                            listed[slot, place], near_to[slot, place] = distance, other
                            last = listed[slot, K - 1]
                        if met > 0:
                            edges[a] = edge_of(last, filtered, scale, grow, slack, cut)
                    widest = max(widest, last)
