"""Core distances of all rows of a k-d tree with two columns, with lists of the nearest neighbours.

The leaves that may hold a neighbour of any row of a leaf are few and nearly the same for all of its rows, and so they
are put side by side once. A row looks at all of them: processors take several distances at a time, and the k-th
smallest needs no more than counts of the distances up to some guesses. How far to gather is guessed too, from the area
of the leaf; rows that reach farther are looked at again, with leaves up to what they reached.

With more columns the leaves to gather are many more than those that a single row needs, which `core_task` finds.
"""

from __future__ import annotations

import math

import numpy as np

from clusterkit._jit import inner, njit
from clusterkit._typing import Array, Indices
from clusterkit.numerics.spanning_trees.descent_jit import DEPTH, between, next_leaf
from clusterkit.numerics.spanning_trees.kd_tree_jit import CHUNK, TASKS, KdTree
from clusterkit.numerics.spanning_trees.selection_jit import count_upto, kth_near

__all__ = ["gathered_task"]

REACH = 1.5
"""How many times k rows the ball has that leaves are gathered within at first: of 1 to 2 it is the fastest."""

LISTED_WITHIN = 3.0
"""Rows over those of a list that the distance is guessed to reach within which they are looked for."""

FARTHER = 1.4
"""Factor by which that distance grows where it reaches too few."""


@inner
def _rows_of(leaf: int, leaves: int, n: int) -> int:
    return ((leaf + 1) * n) // leaves - (leaf * n) // leaves


@inner
def _gather(
    tree: KdTree,
    node: int,
    floor: Array,
    reach: float,
    k: int,
    nodes: Indices,
    apart: Array,
    near: Indices,
) -> int:
    """The leaves that may hold rows nearer to those of a node than `reach`, or more of them until they have k rows."""
    lows, highs, centres, radii = tree.low, tree.high, tree.centre, tree.radius
    leaves = tree.points.shape[0]
    low, high, centre, radius = lows[node], highs[node], centres[node], radii[node]
    nodes[0], apart[0], top, count, rows = 0, 0.0, 1, 0, 0
    while True:
        widest = reach if rows >= k else np.inf
        leaf, top = next_leaf(
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
        if leaf < 0:
            return count
        near[count] = leaf
        rows += _rows_of(leaf - leaves + 1, leaves, tree.n)
        count += 1


@njit
def gathered_task(t: int, tree: KdTree, k: int, floor: Array, core: Array, near_to: Indices) -> None:
    """The k-th nearest row, itself the first, and the nearest other rows, of the rows in a task's leaves.

    Parameters
    ----------
    t : int
    tree : KdTree
        Of two columns.
    k : int
        At most the number of rows.
    floor : ndarray of shape (nodes,)
        Zeros.
    core : ndarray of shape (slots,)
        Gets the squared distances to the k-th nearest rows.
    near_to : ndarray of shape (slots, K)
        Gets the slots of the nearest other rows, nearest first; K is less than k. Of rows at equal distances those hit
        first are listed.
    """
    points, n, lows, highs, centres, radii = tree.points, tree.n, tree.low, tree.high, tree.centre, tree.radius
    leaves, _, slots = points.shape
    K = near_to.shape[1]
    # room for all leaves, of which memory is taken for those that are gathered
    near, first = np.empty(leaves, np.int64), np.empty(leaves, np.int64)
    places = leaves * slots + 1
    xs, ys, values, buffer = np.empty(places), np.empty(places), np.empty(places), np.empty(places)
    bits, close = values.view(np.int64), np.empty(places, np.int64)
    nodes, apart = np.empty(slots + DEPTH, np.int64), np.empty(slots + DEPTH)
    done, reaches, listed = np.empty(slots, np.bool_), np.empty(slots + CHUNK), np.empty(K)
    shrink = min((K + LISTED_WITHIN) / k, 1.0)
    width, guess = min(CHUNK, leaves), np.inf
    for chunk in range(t * CHUNK, leaves, TASKS * CHUNK):
        above, covered, widest, count = (leaves + chunk) // width - 1, -1.0, 0.0, 0
        for i in range(width):
            node = leaves - 1 + chunk + i
            area = (highs[node, 0] - lows[node, 0]) * (highs[node, 1] - lows[node, 1])
            reaches[i] = REACH * k * leaves / n * area / math.pi
            widest = max(widest, reaches[i])
        for leaf in range(chunk, chunk + width):
            home, reach = leaves - 1 + leaf, reaches[leaf - chunk]
            low, high, centre, radius = lows[home], highs[home], centres[home], radii[home]
            filled = _rows_of(leaf, leaves, n)
            left = filled
            for a in range(filled):
                done[a] = False
            while left > 0:
                if reach > covered:
                    covered = max(reach, widest)
                    count = _gather(tree, above, floor, covered, k, nodes, apart, near)
                met, rows = 0, 0
                for j in range(count):
                    if between(lows, highs, centres, radii, near[j], low, high, centre, radius, reach) < reach:
                        first[met] = (near[j] - leaves + 1) * slots
                        rows += _rows_of(near[j] - leaves + 1, leaves, n)
                        met += 1
                if rows < k:  # all of them have more, and the k-th of those bounds what the next look gathers
                    met = count
                    for j in range(count):
                        first[j] = (near[j] - leaves + 1) * slots
                places = met * slots
                for j in range(met):
                    there = first[j] // slots
                    for s in range(slots):
                        xs[j * slots + s], ys[j * slots + s] = points[there, 0, s], points[there, 1, s]
                farthest = 0.0
                for a in range(filled):
                    if done[a]:
                        continue
                    x, y = points[leaf, 0, a], points[leaf, 1, a]
                    for j in range(places):
                        p, q = xs[j] - x, ys[j] - y
                        values[j] = p * p + q * q
                    # rows of a leaf have similar core distances
                    guess = kth_near(values, bits, places, k, guess, buffer)
                    if guess > reach:
                        farthest = max(farthest, guess)
                        continue
                    done[a] = True
                    left -= 1
                    slot, edge = leaf * slots + a, guess * shrink
                    core[slot] = guess
                    while edge < guess and count_upto(values, places, edge) <= K:
                        edge = min(FARTHER * edge, guess) if edge > 0.0 else guess
                    size = 0
                    for j in range(met):
                        hits, base = 0, j * slots
                        for s in range(slots):
                            hits += values[base + s] <= edge
                        if hits > 0:
                            for s in range(slots):
                                close[size], buffer[size] = first[j] + s, values[base + s]
                                size += values[base + s] <= edge
                    length = 0
                    for i in range(size):
                        other, distance = close[i], buffer[i]
                        if other == slot or (length == K and distance >= listed[K - 1]):
                            continue
                        length = min(length + 1, K)
                        place = length - 1
                        while place > 0 and listed[place - 1] > distance:
                            listed[place] = listed[place - 1]
                            near_to[slot, place] = near_to[slot, place - 1]
                            place -= 1
                        listed[place], near_to[slot, place] = distance, other
                reach = np.nextafter(farthest, np.inf)
