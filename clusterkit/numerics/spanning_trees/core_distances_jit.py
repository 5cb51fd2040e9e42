"""Core distances, which reach to the k-th neighbour, of all rows of a k-d tree, and lists of the nearest rows.

**Two columns** (`gathered_task`): the leaves that may hold a neighbour of any row of a leaf are few and nearly the same
for all of its rows, and so they are copied side by side once. Every row is compared with all of them: processors take
several distances at a time, and the k-th smallest needs no more than counts of the distances up to some guesses. The
radius to gather is guessed too, from the area of the leaf; rows whose k-th neighbour is farther are searched again,
with leaves up to that distance. With more columns there are many more leaves to gather than a single row needs.
"""

from __future__ import annotations

import math

import numpy as np

from clusterkit._jit import inner, njit
from clusterkit._typing import Array, Counts, Indices
from clusterkit.numerics.spanning_trees.boruvka_jit import count_upto, kth_near
from clusterkit.numerics.spanning_trees.kd_tree_jit import (
    CHUNK,
    DEPTH,
    TASKS,
    KdTree,
    between,
    edge_of,
    leaf_squares,
    near_slots,
    next_leaf,
    prepare_queries,
    reaching,
    select,
    work_arrays,
)

FRESH = 16
"""Rows beyond k among which the k nearest are selected anew, which lowers the bound; half of k if that is more."""

LARGEST = float(np.finfo(np.float64).max)
"""The bound of a row that has fewer than k candidates."""


@njit
def core_task(t: int, tree: KdTree, k: int, repeats: Counts, floor: Array, core: Array, near_to: Indices) -> None:
    """The k-th nearest row, itself the first, and the nearest other rows, of the rows in a task's leaves.

    Parameters
    ----------
    t : int
    tree : KdTree
    k : int
        At most the number of rows, repeated ones counted.
    repeats : ndarray of shape (slots,) or (0,)
        Number of equal rows of each row, in slot order; empty if all are 1.
    floor : ndarray of shape (nodes,)
        Zeros.
    core : ndarray of shape (slots,)
        Gets the squared distances to the k-th nearest rows.
    near_to : ndarray of shape (slots, K)
        Gets the slots of the nearest other rows, nearest first; K is less than k and than the number of rows of the
        tree. Of rows at equal distances those hit first are listed. Rows beyond the k-th distance, which repeated rows
        leave, are -1.
    """
    points, rows, row, filtered = tree.points, tree.rows, tree.row, tree.filtered
    lows, highs, centres, radii, least, most = tree.low, tree.high, tree.centre, tree.radius, tree.least, tree.most
    scale, grow, slack, cut = tree.scale, tree.grow, tree.slack, tree.cut
    queries, edges, bounds, wanted, out, starts, hits, near, squares, nodes, apart = work_arrays(tree)
    leaves, _, slots = points.shape
    K = near_to.shape[1]
    enough = k + max(k // 2, FRESH)
    # candidates of each row, and a bound of its k-th distance
    values, places = np.empty((slots, enough + slots)), np.empty((slots, enough + slots), np.int64)
    counts, limits, listed = np.empty(slots, np.int64), np.empty(slots), np.empty((slots, K))
    for chunk in range(t * CHUNK, leaves, TASKS * CHUNK):
        for leaf in range(chunk, min(chunk + CHUNK, leaves)):
            home = leaves - 1 + leaf
            filled = 0
            while filled < slots and row[leaf * slots + filled] >= 0:
                counts[filled], limits[filled] = 0, LARGEST
                listed[filled] = np.inf
                edges[filled] = edge_of(LARGEST, filtered, scale, grow, slack, cut)
                filled += 1
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
                    if hits[a] > 0:
                        slot, limit, count = leaf * slots + a, limits[a], counts[a]
                        met = near_slots(
                            out,
                            a,
                            edges[a],
                            hits[a],
                            rows,
                            there,
                            filtered,
                            rows,
                            slot,
                            limit,
                            near,
                            squares,
                        )
                        for i in range(met):
                            other, distance = near[i], squares[i]
                            values[a, count + i], places[a, count + i] = distance, other
                            if other == slot or distance >= listed[a, K - 1]:
                                continue
                            place = K - 1
                            while place > 0 and listed[a, place - 1] > distance:
                                listed[a, place] = listed[a, place - 1]
                                near_to[slot, place] = near_to[slot, place - 1]
                                place -= 1
                            listed[a, place], near_to[slot, place] = distance, other
                        count += met
                        if count >= enough or (count >= k and limit == LARGEST):
                            select(values[a], places[a], 0, count, k - 1)
                            count, limits[a] = k, values[a, k - 1]
                            edges[a] = edge_of(limits[a], filtered, scale, grow, slack, cut)
                        counts[a] = count
                    widest = max(widest, limits[a])
            for a in range(filled):
                slot, count = leaf * slots + a, counts[a]
                select(values[a], places[a], 0, count, min(k, count) - 1)
                core[slot] = values[a, min(k, count) - 1]
                if len(repeats) > 0:
                    low, high, mass = 0, min(k, count), 0
                    while high - low > 1:  # the least value up to which there are k rows is from low on, below high
                        middle, part = (low + high) // 2, mass
                        select(values[a], places[a], low, high, middle - 1)
                        for i in range(low, middle):
                            part += repeats[places[a, i]]
                        if part >= k:
                            high = middle
                        else:
                            low, mass = middle, part
                    core[slot] = values[a, low]
                for i in range(K):
                    if listed[a, i] > core[slot]:
                        near_to[slot, i] = -1


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
    """Write the leaves that may hold rows nearer than `reach` to rows of a node, and more until they hold k rows."""
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
        Tree of rows with two columns.
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
    # space for all leaves; the operating system gives memory only for the leaves gathered
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
                if rows < k:  # all leaves gathered hold at least k rows: the k-th distance bounds the next gathering
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
