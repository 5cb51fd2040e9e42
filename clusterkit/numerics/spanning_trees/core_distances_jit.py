"""Core distances, which reach to the k-th neighbour, of all rows of a k-d tree, with lists of the nearest neighbours.

A row keeps the distances of the leaves that it meets (`core_task`), and lowers the bound of its k-th neighbour by
counting them: a guess, and the number of distances up to it. Processors count several distances at a time, but cannot
sort them so. The lists (`list_task`) hold the nearest neighbours; few of them reach to the core distance.

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
from clusterkit.numerics.spanning_trees.boruvka_jit import bracket, count_upto, kth_near, smallest, smallest_weighted
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
    squared,
    work_arrays,
)

__all__ = [
    "core_task",
    "gathered_task",
    "list_task",
]


ROOM = 8
"""Places above the k-th value at which the search for a bound of it may end: fewer passes over the values."""


BLOCKS = 4
"""Capacity of the candidates of a row, in multiples of k plus the rows of a leaf; if half is used, too large distances
are dropped."""

DENSE = 2
"""All distances of a leaf are kept if one in `DENSE` is wanted or more: to pick these out would take longer."""

FRESH = 16
"""Number of new distances within the bound of a row at which the bound is lowered; half of k if that is more."""

STRIDE = 32
"""Distances that are tested together before single ones are."""

LARGEST = float(np.finfo(np.float64).max)
"""The bound of a row that has fewer than k candidates."""


@inner
def _limit_of(square: float, filtered: bool, scale: float, grow: float, slack: float) -> float:
    """Upper bound of a squared distance, from its rounded value in the type of the leaves."""
    if filtered:
        reach = (math.sqrt(square) * grow + slack) / scale
        return reach * reach
    return square


@inner
def _pack(values: Array, places: Indices, count: int, edge: float) -> int:
    """Move the values that are at most `edge` to the front, with their places; returns their number."""
    left = 0
    for i in range(count):  # no branch on a value, which would be mispredicted
        value = values[i]
        values[left], places[left] = value, places[i]
        left += value <= edge
    return left


@inner
def _within(values: Array, places: Indices, count: int, low: float, high: float, near: Indices) -> int:
    """The places of the values from `low` to `high`, and their number."""
    inside = 0
    for start in range(0, count, STRIDE):  # most parts have none
        part = values[start : min(start + STRIDE, count)]
        any_inside = 0
        for i in range(len(part)):
            any_inside += (part[i] >= low) & (part[i] <= high)
        if any_inside > 0:
            for i in range(len(part)):
                near[inside] = places[start + i]
                inside += (part[i] >= low) & (part[i] <= high)
    return inside


@inner
def _keep_nearest(
    values: Array,
    places: Indices,
    count: int,
    k: int,
    repeats: Counts | None,
    rows: Array,
    slot: int,
    squares: Array,
    scratch: Array,
    weights: Counts,
) -> tuple[float, int]:
    """Keep the nearest places, by exact distances, whose weights sum to k; the k-th distance and their number.

    Without `repeats` all weights are 1.
    """
    for i in range(count):
        square = squared(rows, slot, places[i])
        squares[i], scratch[i] = square, square
    if repeats is None:
        last = smallest(scratch, count, k)
    else:
        for i in range(count):
            weights[i] = repeats[places[i]]
        last = smallest_weighted(scratch, weights, count, k)[0]
    mass, left = 0, 0
    for i in range(count):
        if squares[i] < last:
            mass += 1 if repeats is None else repeats[places[i]]
    for i in range(count):
        if squares[i] < last or (squares[i] == last and mass < k):
            if squares[i] == last:
                mass += 1 if repeats is None else repeats[places[i]]
            values[left], places[left] = values[i], places[i]
            left += 1
    return last, left


@inner
def _kth_square(
    values: Array,
    places: Indices,
    count: int,
    k: int,
    edge: float,
    rows: Array,
    slot: int,
    filtered: bool,
    scale: float,
    grow: float,
    slack: float,
    cut: float,
    buffer: Array,
    near: Indices,
    squares: Array,
) -> float:
    """The exact k-th smallest squared distance, from values in the leaves' type."""
    start, _, stop, _ = bracket(values, count, k, 2, 4, edge, buffer)
    # the k-th row is not nearer than rows below `low`, since these are nearer than all those above `start`
    reach = max(((math.sqrt(max(start, 0.0)) - slack) / grow - slack) / grow, 0.0)
    buffer[0] = reach * reach
    low = buffer[0]
    buffer[0] = edge_of(_limit_of(stop, filtered, scale, grow, slack), filtered, scale, grow, slack, cut)
    high = buffer[0]
    nearer = 0
    for i in range(count):
        nearer += values[i] < low
    inside = _within(values, places, count, low, high, near)
    for i in range(inside):
        squares[i] = squared(rows, slot, near[i])
    return smallest(squares, inside, k - nearer)


@njit
def core_task(
    t: int,
    tree: KdTree,
    k: int,
    repeats: Counts | None,
    floor: Array,
    core: Array,
    near_to: Indices,
) -> None:
    """The k-th nearest row, itself the first, and the nearest other rows, of the rows in a task's leaves.

    Parameters
    ----------
    t : int
    tree : KdTree
    k : int
        At most the number of rows.
    repeats : ndarray of shape (slots,) or None
        Number of equal rows of each row, in slot order; None if all are 1: the compiled code then has no branch for
        repeated rows.
    floor : ndarray of shape (nodes,)
        Zeros.
    core : ndarray of shape (slots,)
        Gets the squared distances to the k-th nearest rows.
    near_to : ndarray of shape (slots, K)
        Gets the slots of the nearest other rows, nearest first; K is less than k. Of rows at equal distances those hit
        first are listed. If repeated rows leave fewer than K slots within the k-th distance, the rest of a list is -1.
    """
    points, rows, row, filtered = tree.points, tree.rows, tree.row, tree.filtered
    lows, highs, centres, radii, least, most = tree.low, tree.high, tree.centre, tree.radius, tree.least, tree.most
    scale, grow, slack, cut = tree.scale, tree.grow, tree.slack, tree.cut
    queries, edges, bounds, wanted, _, counts, hits, _, _, nodes, apart = work_arrays(tree)
    leaves, _, slots = points.shape
    K = near_to.shape[1]
    cap = BLOCKS * (k + slots) + ROOM
    # candidates of each row: squared distances in the type of the leaves, and slots
    values, places = np.empty((slots, cap), points.dtype), np.empty((slots, cap), np.int32)
    buffer, near = np.empty(cap, points.dtype), np.empty(cap + 1, np.int32)
    squares, scratch, weights, listed = np.empty(cap), np.empty(cap), np.empty(cap, np.int64), np.empty(K)
    # weight of the candidates of each row (their number if no row is repeated), and a bound of the k-th distance
    masses, limits, fresh = np.empty(slots, np.int64), np.empty(slots), np.empty(slots, np.int64)
    again = max(k // 2, FRESH)
    for chunk in range(t * CHUNK, leaves, TASKS * CHUNK):
        for leaf in range(chunk, min(chunk + CHUNK, leaves)):
            home = leaves - 1 + leaf
            filled = 0
            while filled < slots and row[leaf * slots + filled] >= 0:
                counts[filled], masses[filled], limits[filled], fresh[filled] = 0, 0, LARGEST, 0
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
                    masses,
                    -1,
                    widest,
                    np.inf,
                )
                if node < 0:
                    break
                there = node - leaves + 1
                reaching(points, leaf, least, most, there, edges, bounds, wanted)
                leaf_squares(points, there, queries, filled, wanted, edges, values, counts, hits)
                widest = 0.0
                for a in range(filled):
                    if hits[a] > 0:
                        count, first, stop = counts[a], there * slots, counts[a] + hits[a]
                        if repeats is None:
                            masses[a] += hits[a]
                        else:
                            for j in range(slots):
                                if values[a, count + j] <= edges[a]:
                                    masses[a] += repeats[first + j]
                        if hits[a] * DENSE >= slots:  # rows that are too far among them do no harm
                            part = places[a, count : count + slots]
                            for j in range(slots):
                                part[j] = first + j
                            count += slots
                        else:
                            edge, j, start = edges[a], 0, count
                            while count < stop:  # no branch on a distance, which would be mispredicted
                                value = values[a, start + j]
                                values[a, count], places[a, count] = value, first + j
                                count += value <= edge
                                j += 1
                        fresh[a] += hits[a]
                        full = count > cap - slots
                        if masses[a] >= k and (full or fresh[a] >= again):
                            if repeats is None:
                                value = bracket(values[a], count, k, ROOM, cap, edges[a], buffer)[2]
                                limits[a] = _limit_of(value, filtered, scale, grow, slack)
                                edges[a] = edge_of(limits[a], filtered, scale, grow, slack, cut)
                            fresh[a] = 0
                            if repeats is not None or 2 * count > cap:
                                count = _pack(values[a], places[a], count, edges[a])
                            if repeats is not None or count > cap - slots:
                                limits[a], count = _keep_nearest(
                                    values[a],
                                    places[a],
                                    count,
                                    k,
                                    repeats,
                                    rows,
                                    leaf * slots + a,
                                    squares,
                                    scratch,
                                    weights,
                                )
                                edges[a] = edge_of(limits[a], filtered, scale, grow, slack, cut)
                                masses[a] = k
                        counts[a] = count
                    widest = max(widest, limits[a])
            for a in range(filled):
                slot = leaf * slots + a
                count, last = _pack(values[a], places[a], counts[a], edges[a]), limits[a]
                if repeats is not None:
                    last, count = _keep_nearest(
                        values[a], places[a], count, k, repeats, rows, slot, squares, scratch, weights
                    )
                else:
                    last = _kth_square(
                        values[a],
                        places[a],
                        count,
                        k,
                        edges[a],
                        rows,
                        slot,
                        filtered,
                        scale,
                        grow,
                        slack,
                        cut,
                        buffer,
                        near,
                        squares,
                    )
                core[slot] = last
                for i in range(K):
                    near_to[slot, i] = -1
                edge = edges[a]
                if repeats is None or count > K + 1:
                    value = bracket(values[a], count, K + 1, 2, cap, edge, buffer)[2]
                    buffer[0] = edge_of(
                        _limit_of(value, filtered, scale, grow, slack), filtered, scale, grow, slack, cut
                    )
                    edge = buffer[0]
                met = _within(values[a], places[a], count, edge - edge, edge, near)
                length = 0
                for i in range(met):
                    other = near[i]
                    if other == slot:
                        continue
                    distance = squared(rows, slot, other)
                    if length == K and distance >= listed[K - 1]:
                        continue
                    length = min(length + 1, K)
                    place = length - 1
                    while place > 0 and listed[place - 1] > distance:
                        listed[place] = listed[place - 1]
                        near_to[slot, place] = near_to[slot, place - 1]
                        place -= 1
                    listed[place], near_to[slot, place] = distance, other


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
