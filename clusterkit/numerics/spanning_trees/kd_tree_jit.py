"""A balanced k-d tree whose leaves hold their points as columns, and its search.

The tree is implicit: the children of node v are 2 v + 1 and 2 v + 2, and node j of level l owns the rows
``[j n >> l, (j + 1) n >> l)`` of one permutation. Everything about a row is kept in *slot* order: slot
``leaf * slots + s`` is the s-th place of a leaf, and places without a row are padding at infinity. Nodes are split at
the median of the coordinate with the largest variance.

From `FILTERED` columns on the leaves hold float32 copies of the centred points, scaled by a power of two. They only
decide which points need a look: a search keeps every slot whose single-precision distance may belong to a true
distance within the limit, and computes the distance of those again from the float64 rows, so that results are exact.

A search takes the nearest leaves first (`next_leaf`), and of a leaf the slots that are near a query (`near_slots`). The
innermost functions take arrays instead of the tree: numba counts the references of all arrays of a named tuple that a
function is called with, which takes longer than the distances of a leaf.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clusterkit._jit import inner, njit
from clusterkit._typing import Array, Counts, Indices, Mask

FILTERED = 8
"""Number of columns from which leaves are float32: below, single precision saves less than the check of candidates in
double precision costs."""

BALLS = 4
"""Number of columns above which nodes have a ball besides the box: boxes alone separate little in many dimensions."""

TASKS = 8
"""Parts of the work, each with its skipped bounds. Constant, so that results do not depend on the number of threads."""

CHUNK = 4
"""Leaves that a task takes in a row: enough that neighbours share the processor's cache."""

SAMPLE = 256
"""Rows from which the variances of a large node are estimated; they decide which coordinate is split, nothing else."""


class KdTree(NamedTuple):
    """The tree of u rows in `leaves` leaves (a power of two) of `slots` places, with ``2 leaves - 1`` nodes.

    `points` (leaves, d, slots) has the type of the search; `rows` (leaves slots, d) is float64 and in slot order, `row`
    (leaves slots,) the row of each slot or -1. `low`, `high`, `centre` and `radius` are the boxes and balls of the
    nodes; `least` and `most` (leaves, d) the boxes of the leaves in the type of `points`. `scale`, `grow` and `slack`
    turn a limit of the float64 distances into one of the float32 distances: ``sqrt(limit) * scale * grow + slack``,
    whose square is cut off at `cut`.
    """

    points: Array
    rows: Array
    row: Indices
    low: Array
    high: Array
    centre: Array
    radius: Array
    least: Array
    most: Array
    n: int
    scale: float
    grow: float
    slack: float
    cut: float
    filtered: bool


@inner
def select(key: Array, index: Indices, low: int, high: int, middle: int) -> None:
    """Reorder ``[low, high)`` so that no key before `middle` is above one from there on.

    The partition moves every entry without a branch on its value, which would be mispredicted half of the time.
    """
    while high - low > 1:
        pivot = key[low + (high - low) // 2]
        # the median of three keeps sorted input from the worst case
        a, b = key[low], key[high - 1]
        pivot = max(min(a, b), min(max(a, b), pivot))
        below = low
        for i in range(low, high):
            t, u = key[i], index[i]
            key[i], index[i] = key[below], index[below]
            key[below], index[below] = t, u
            below += t < pivot
        if middle < below:
            high = below
            continue
        upto = below
        for i in range(below, high):
            t, u = key[i], index[i]
            key[i], index[i] = key[upto], index[upto]
            key[upto], index[upto] = t, u
            upto += t <= pivot
        if middle < upto:
            return
        low = upto


@inner
def _split(X: Array, index: Indices, key: Array, low: int, high: int, middle: int) -> None:
    d = X.shape[1]
    step = max(1, (high - low) // SAMPLE)
    widest, column = -1.0, 0
    for c in range(d):
        count, total, squares, first = 0, 0.0, 0.0, X[index[low], c]
        for i in range(low, high, step):
            value = X[index[i], c] - first
            total += value
            squares += value * value
            count += 1
        spread = squares / count - (total / count) ** 2
        if spread > widest:
            widest, column = spread, c
    for i in range(low, high):
        key[i] = X[index[i], column]
    select(key, index, low, high, middle)


@njit
def split_task(t: int, X: Array, index: Indices, key: Array, level: int) -> None:
    """Split node t of a level."""
    n = len(X)
    _split(X, index, key, (t * n) >> level, ((t + 1) * n) >> level, ((2 * t + 1) * n) >> (level + 1))


@njit
def subtree_task(t: int, X: Array, index: Indices, key: Array, level: int, depth: int) -> None:
    """Split all nodes below node t of a level, down to the leaves at `depth`."""
    n = len(X)
    for lower in range(level, depth):
        for j in range(t << (lower - level), (t + 1) << (lower - level)):
            _split(X, index, key, (j * n) >> lower, ((j + 1) * n) >> lower, ((2 * j + 1) * n) >> (lower + 1))


@njit
def fill_task(
    t: int,
    X: Array,
    index: Indices,
    shift: Array,
    scale: float,
    points: Array,
    rows: Array,
    row: Indices,
    least: Array,
    most: Array,
) -> None:
    """Copy the rows of a task's leaves into slot order; `shift` and `scale` are those of the copies in the leaves."""
    n = len(X)
    leaves, d, slots = points.shape
    for leaf in range((t * leaves) // TASKS, ((t + 1) * leaves) // TASKS):
        start, stop = (leaf * n) // leaves, ((leaf + 1) * n) // leaves
        for c in range(d):
            least[leaf, c], most[leaf, c] = np.inf, -np.inf
        for s in range(slots):
            place = leaf * slots + s
            if start + s < stop:
                i = index[start + s]
                row[place] = i
                for c in range(d):
                    rows[place, c] = X[i, c]
                    points[leaf, c, s] = (X[i, c] - shift[c]) * scale
                    value = points[leaf, c, s]
                    least[leaf, c], most[leaf, c] = min(least[leaf, c], value), max(most[leaf, c], value)
            else:
                row[place] = -1
                for c in range(d):
                    rows[place, c] = np.inf
                    points[leaf, c, s] = np.inf


@njit
def ball_task(t: int, rows: Array, row: Indices, low: Array, high: Array, centre: Array, radius: Array) -> None:
    """Boxes of a task's nodes, and their balls: the mean and the largest distance from it."""
    leaves = (len(low) + 1) // 2
    slots, d, level = len(rows) // leaves, rows.shape[1], 0
    for node in range(2 * leaves - 1):
        if node + 1 >= 2 << level:
            level += 1
        if node % TASKS != t:
            continue
        width = leaves >> level
        first = (node + 1 - (1 << level)) * width * slots
        last, count = first + width * slots, 0
        for c in range(d):
            low[node, c], high[node, c], centre[node, c] = np.inf, -np.inf, 0.0
        for s in range(first, last):
            if row[s] >= 0:
                count += 1
                for c in range(d):
                    value = rows[s, c]
                    low[node, c], high[node, c] = min(low[node, c], value), max(high[node, c], value)
                    centre[node, c] += value
        for c in range(d):
            centre[node, c] /= count
        farthest = 0.0
        for s in range(first, last):
            if row[s] >= 0:
                total = 0.0
                for c in range(d):
                    apart = rows[s, c] - centre[node, c]
                    total += apart * apart
                farthest = max(farthest, total)
        # a hair larger, so that rounding cannot put a point outside its ball
        radius[node] = np.sqrt(farthest) * (1.0 + 1e-9)


DEPTH = 64
"""Places of a stack of nodes: more than twice the depth of any tree that fits into memory."""


class Work(NamedTuple):
    """Arrays of one task.

    `queries` (slots, d), their `edges` (`edge_of`) and lower `bounds` of their distances from a leaf, a query for each
    slot of a leaf; which of them are `wanted`, and their `distances` (slots, slots) from the slots of a leaf, from
    `starts` on, with the number of `hits`; `near` slots and their `squares`; the stack of `nodes` to visit and the
    squared distances they are `apart` at least.
    """

    queries: Array
    edges: Array
    bounds: Array
    wanted: Mask
    distances: Array
    starts: Counts
    hits: Counts
    near: Indices
    squares: Array
    nodes: Indices
    apart: Array


@inner
def work_arrays(tree: KdTree) -> Work:
    """Work arrays for a tree.

    All are made by `np.empty` with lengths that are no constants: numba compiles each other kind of call anew.
    """
    d, slots = tree.points.shape[1], tree.points.shape[2]
    kind = tree.points.dtype
    edges, wanted = np.empty(slots, kind), np.empty(slots, np.bool_)
    starts, hits = np.empty(slots, np.int64), np.empty(slots, np.int64)
    for s in range(slots):
        edges[s], wanted[s], starts[s], hits[s] = 0, False, 0, 0
    return Work(
        np.empty((slots, d), kind),
        edges,
        np.empty(slots, kind),
        wanted,
        np.empty((slots, slots), kind),
        starts,
        hits,
        np.empty(slots + 1, np.int64),
        np.empty(slots + 1),
        np.empty(slots + DEPTH, np.int64),
        np.empty(slots + DEPTH),
    )


@inner
def edge_of(limit: float, filtered: bool, scale: float, grow: float, slack: float, cut: float) -> float:
    """Largest squared distance in the type of the leaves that a squared distance of at most `limit` can have."""
    if filtered:
        reach = np.sqrt(limit) * scale * grow + slack
        return min(reach * reach, cut)
    return min(limit, cut)


@inner
def between(
    lows: Array,
    highs: Array,
    centres: Array,
    radii: Array,
    node: int,
    low: Array,
    high: Array,
    centre: Array,
    radius: float,
    widest: float,
) -> float:
    """Lower bound of the squared distances between the rows of a node and those in a box and a ball.

    The balls are compared only if the boxes are nearer than `widest`.
    """
    d = lows.shape[1]
    total = 0.0
    for c in range(d):
        below, above = lows[node, c] - high[c], low[c] - highs[node, c]
        gap = below if below > above else above
        gap = gap if gap > 0.0 else 0.0
        total += gap * gap
    if d > BALLS and total < widest:
        apart = 0.0
        for c in range(d):
            difference = centres[node, c] - centre[c]
            apart += difference * difference
        reach = np.sqrt(apart) * (1.0 - 1e-9) - radii[node] - radius
        if reach > 0.0:
            total = max(total, reach * reach * (1.0 - 1e-9))
    return total


@inner
def squared(rows: Array, i: int, j: int) -> float:
    """The squared distance of two rows; sums as `leaf_squares` does."""
    total = 0.0
    for c in range(rows.shape[1]):
        difference = rows[i, c] - rows[j, c]
        total += difference * difference
    return total


@inner
def point_bound(lows: Array, highs: Array, node: int, rows: Array, s: int) -> float:
    """Lower bound of the squared distances between a row and the rows of a node; sums as `leaf_squares` does."""
    total = 0.0
    for c in range(lows.shape[1]):
        below, above = lows[node, c] - rows[s, c], rows[s, c] - highs[node, c]
        gap = below if below > above else above
        gap = gap if gap > 0.0 else 0.0
        total += gap * gap
    return total


@inner
def reaching(
    points: Array, home: int, least: Array, most: Array, leaf: int, edges: Array, out: Array, wanted: Mask
) -> None:
    """Mark in `wanted` the slots of the leaf `home` that may have a row of the leaf `leaf` within their edges.

    `out` gets the lower bounds of their squared distances to the box of that leaf, in the type of the leaves.
    """
    d, slots = points.shape[1], points.shape[2]
    for j in range(slots):
        out[j] = 0
    zero = out[0]
    for c in range(d):
        low, high = least[leaf, c], most[leaf, c]
        for j in range(slots):
            below, above = low - points[home, c, j], points[home, c, j] - high
            gap = below if below > above else above
            gap = gap if gap > zero else zero
            out[j] = out[j] + gap * gap
    for j in range(slots):
        wanted[j] = out[j] <= edges[j]


@inner
def next_leaf(
    lows: Array,
    highs: Array,
    centres: Array,
    radii: Array,
    top: int,
    nodes: Indices,
    bounds: Array,
    low: Array,
    high: Array,
    centre: Array,
    radius: float,
    floor: Array,
    pure: Indices,
    skipped: int,
    widest: float,
    heaviest: float,
) -> tuple[int, int]:
    """The next leaf, as a node, that may hold a row nearer than `widest`, and the height of the stack; -1 at the end.

    Nodes whose bound is not below `widest` are passed over, and so are nodes whose `floor` is not below `heaviest` or
    all of whose rows are in the component `skipped` (`pure`). The child where less is possible is visited first.
    """
    first = len(lows) // 2
    while top > 0:
        top -= 1
        node = nodes[top]
        if bounds[top] >= widest or floor[node] >= heaviest:
            continue
        while node < first:
            left, right = 2 * node + 1, 2 * node + 2
            a, b = np.inf, np.inf
            if floor[left] < heaviest and (skipped < 0 or pure[left] != skipped):
                a = between(lows, highs, centres, radii, left, low, high, centre, radius, widest)
            if floor[right] < heaviest and (skipped < 0 or pure[right] != skipped):
                b = between(lows, highs, centres, radii, right, low, high, centre, radius, widest)
            if max(b, floor[right]) < max(a, floor[left]):
                left, right, a, b = right, left, b, a
            if b < widest:
                nodes[top], bounds[top] = right, b
                top += 1
            if a >= widest:
                node = -1
                break
            node = left
        if node >= 0:
            return node, top
    return -1, 0


@inner
def prepare_queries(points: Array, leaf: int, queries: Array) -> None:
    """Make the rows of a leaf the queries, one a slot."""
    for c in range(points.shape[1]):
        for s in range(points.shape[2]):
            queries[s, c] = points[leaf, c, s]


@inner
def leaf_squares(
    points: Array,
    leaf: int,
    queries: Array,
    count: int,
    wanted: Mask,
    edges: Array,
    out: Array,
    starts: Counts,
    hits: Counts,
) -> None:
    """Write squared distances from the wanted ones of the first queries to all slots of a leaf, and count the near.

    The distances of query a are in ``out[a]`` from place ``starts[a]`` on, in the type of the leaves. ``hits[a]``
    counts those of at most ``edges[a]``.
    """
    d, slots = points.shape[1], points.shape[2]
    for a in range(count):
        hits[a] = 0
        if not wanted[a]:
            continue
        line = out[a, starts[a] : starts[a] + slots]  # its places are counted from 0, which lets loops be vectorised
        if d == 2:
            x, y = queries[a, 0], queries[a, 1]
            for j in range(slots):
                p, q = points[leaf, 0, j] - x, points[leaf, 1, j] - y
                line[j] = p * p + q * q
        else:
            for j in range(slots):
                line[j] = 0
            c = 0
            while c + 4 <= d:
                x, y, z, v = queries[a, c], queries[a, c + 1], queries[a, c + 2], queries[a, c + 3]
                for j in range(slots):
                    p, q = points[leaf, c, j] - x, points[leaf, c + 1, j] - y
                    r, s = points[leaf, c + 2, j] - z, points[leaf, c + 3, j] - v
                    line[j] = line[j] + p * p + q * q + r * r + s * s
                c += 4
            while c < d:
                x = queries[a, c]
                for j in range(slots):
                    p = points[leaf, c, j] - x
                    line[j] = line[j] + p * p
                c += 1
        edge, near = edges[a], 0
        for j in range(slots):
            near += line[j] <= edge
        hits[a] = near


@inner
def near_slots(
    out: Array,
    a: int,
    edge: float,
    within: int,
    rows: Array,
    leaf: int,
    filtered: bool,
    exact: Array,
    s: int,
    limit: float,
    near: Indices,
    squares: Array,
) -> int:
    """Number of slots of a leaf within a squared distance `limit` of a query: `near` and `squares` have them.

    ``out[a]`` are the distances of `leaf_squares`, `within` of which are at most `edge`; ``exact[s]`` is the query.
    """
    count, j, base = 0, 0, leaf * out.shape[1]
    while count < within:  # no branch on a distance, which would be mispredicted
        near[count] = base + j
        squares[count] = out[a, j]
        count += out[a, j] <= edge
        j += 1
    if not filtered:
        return count
    count = 0
    for i in range(within):
        place = near[i]
        total = 0.0
        for c in range(rows.shape[1]):
            difference = rows[place, c] - exact[s, c]
            total += difference * difference
        near[count] = place
        squares[count] = total
        count += total <= limit
    return count
