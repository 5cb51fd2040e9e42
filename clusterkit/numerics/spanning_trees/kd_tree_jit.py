"""A balanced k-d tree whose leaves hold their points as columns, and the search of its leaves nearest first.

The tree is implicit: the children of node v are 2 v + 1 and 2 v + 2, and node j of level l owns the rows
``[j n >> l, (j + 1) n >> l)`` of one permutation. Everything about a row is kept in *slot* order: slot
``leaf * slots + s`` is the s-th place of a leaf, and places without a row are padding at infinity. Nodes are split at
the median of the coordinate with the largest variance.

From `FILTERED` columns on the leaves hold float32 copies of the centred points, scaled by a power of two. They only
decide which points need a look: `near_slots` keeps every slot whose single-precision distance may belong to a true
distance within the limit, and computes the distance of those again from the float64 rows, so that results are exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices

__all__ = [
    "FILTERED",
    "TASKS",
    "KdTree",
    "Work",
    "between",
    "fill_task",
    "near_slots",
    "next_leaf",
    "point_bound",
    "prepare_queries",
    "split_task",
    "subtree_task",
    "summary_task",
    "work_arrays",
]

FILTERED = 8
"""Columns from which leaves are float32: below, single precision saves less than the second look costs."""

BALLS = 4
"""Nodes with more columns than this have a ball beside the box: boxes alone separate little in many dimensions."""

TASKS = 8
"""Parts of the work, each with its skipped bounds. Constant, so that results do not depend on the number of threads."""

CHUNK = 4
"""Leaves that a task takes in a row: enough that neighbours share the processor's cache."""

SAMPLE = 256
"""Rows from which the variances of a large node are estimated; they decide which coordinate is split, nothing else."""

DEPTH = 64
"""Places of a stack of nodes: more than twice the depth of any tree that fits into memory."""


class KdTree(NamedTuple):
    """The tree of u rows in `leaves` leaves (a power of two) of `slots` places, with ``2 leaves - 1`` nodes.

    `points` (leaves, d, slots) has the type of the search; `rows` (leaves slots, d) is float64 and in slot order, `row`
    (leaves slots,) the row of each slot or -1. `scale`, `grow` and `slack` turn a limit of the float64 distances into
    one of the float32 distances: ``sqrt(limit) * scale * grow + slack``.
    """

    points: Array
    rows: Array
    row: Indices
    low: Array
    high: Array
    centre: Array
    radius: Array
    n: int
    scale: float
    grow: float
    slack: float
    most: float
    filtered: bool


class Work(NamedTuple):
    """Arrays of one task: queries in the type of the leaves, a row for each slot of a leaf, and what is near one."""

    queries: Array
    limit: Array
    distances: Array
    slots: Indices
    squares: Array
    nodes: Indices
    bounds: Array


@njit
def work_arrays(tree: KdTree) -> Work:
    """Work arrays for a tree."""
    d, slots = tree.points.shape[1], tree.points.shape[2]
    kind = tree.points.dtype
    return Work(
        np.empty((slots, d), kind),
        np.empty(1, kind),
        np.empty(slots, kind),
        np.empty(slots + 1, np.int64),
        np.empty(slots + 1),
        np.empty(DEPTH, np.int64),
        np.empty(DEPTH),
    )


@njit
def _select(key: Array, index: Indices, low: int, high: int, middle: int) -> None:
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


@njit
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
    _select(key, index, low, high, middle)


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
def fill_task(t: int, X: Array, index: Indices, shift: Array, tree: KdTree) -> None:
    """Copy the rows of a task's leaves into slot order; `shift` is what float32 copies are centred by."""
    leaves, d, slots = tree.points.shape
    n = tree.n
    for leaf in range((t * leaves) // TASKS, ((t + 1) * leaves) // TASKS):
        start, stop = (leaf * n) // leaves, ((leaf + 1) * n) // leaves
        for s in range(slots):
            place = leaf * slots + s
            if start + s < stop:
                i = index[start + s]
                tree.row[place] = i
                for c in range(d):
                    tree.rows[place, c] = X[i, c]
                    tree.points[leaf, c, s] = (X[i, c] - shift[c]) * tree.scale
            else:
                tree.row[place] = -1
                for c in range(d):
                    tree.rows[place, c] = np.inf
                    tree.points[leaf, c, s] = np.inf


@njit
def summary_task(t: int, tree: KdTree) -> None:
    """Boxes of a task's nodes, and their balls: the mean and the largest distance from it."""
    leaves, d, slots = tree.points.shape
    level = 0
    for node in range(2 * leaves - 1):
        if node + 1 >= 2 << level:
            level += 1
        if node % TASKS != t:
            continue
        width = leaves >> level
        first = (node + 1 - (1 << level)) * width * slots
        last = first + width * slots
        low, high, centre = tree.low[node], tree.high[node], tree.centre[node]
        low[:] = np.inf
        high[:] = -np.inf
        centre[:] = 0.0
        count = 0
        for s in range(first, last):
            if tree.row[s] >= 0:
                count += 1
                for c in range(d):
                    value = tree.rows[s, c]
                    low[c] = min(low[c], value)
                    high[c] = max(high[c], value)
                    centre[c] += value
        farthest = 0.0
        if d > BALLS:
            for c in range(d):
                centre[c] /= count
            for s in range(first, last):
                if tree.row[s] >= 0:
                    total = 0.0
                    for c in range(d):
                        total += (tree.rows[s, c] - centre[c]) ** 2
                    farthest = max(farthest, total)
        # a hair larger, so that rounding cannot put a point outside its ball
        tree.radius[node] = np.sqrt(farthest) * (1.0 + 1e-9)


@njit
def between(tree: KdTree, node: int, low: Array, high: Array, centre: Array, radius: float) -> float:
    """Lower bound of the squared distances between the rows of a node and those in a box and a ball."""
    d = tree.low.shape[1]
    total = 0.0
    for c in range(d):
        gap = max(tree.low[node, c] - high[c], low[c] - tree.high[node, c])
        gap = max(gap, 0.0)
        total += gap * gap
    if d > BALLS:
        apart = 0.0
        for c in range(d):
            difference = tree.centre[node, c] - centre[c]
            apart += difference * difference
        reach = np.sqrt(apart) * (1.0 - 1e-9) - tree.radius[node] - radius
        if reach > 0.0:
            total = max(total, reach * reach * (1.0 - 1e-9))
    return total


@njit
def point_bound(tree: KdTree, node: int, x: Array) -> float:
    """Lower bound of the squared distances between a point and the rows of a node; sums as `near_slots` does."""
    total = 0.0
    for c in range(len(x)):
        gap = max(tree.low[node, c] - x[c], x[c] - tree.high[node, c])
        gap = max(gap, 0.0)
        total += gap * gap
    return total


@njit
def next_leaf(
    tree: KdTree,
    top: int,
    work: Work,
    low: Array,
    high: Array,
    centre: Array,
    radius: float,
    floor: Array,
    pure: Indices,
    skipped: int,
    widest: float,
) -> tuple[int, int]:
    """The next leaf, as a node, that may hold a row nearer than `widest`, and the height of the stack; -1 at the end.

    Nodes whose bound, or whose `floor`, is not below `widest` are passed over, and so are nodes all of whose rows are
    in the component `skipped` (`pure`). The nearer child is visited first.
    """
    first = tree.points.shape[0] - 1
    while top > 0:
        top -= 1
        node = work.nodes[top]
        if work.bounds[top] >= widest:
            continue
        while node < first:
            left, right = 2 * node + 1, 2 * node + 2
            a = max(between(tree, left, low, high, centre, radius), floor[left])
            b = max(between(tree, right, low, high, centre, radius), floor[right])
            if skipped >= 0:
                if pure[left] == skipped:
                    a = np.inf
                if pure[right] == skipped:
                    b = np.inf
            if b < a:
                left, right, a, b = right, left, b, a
            if b < widest:
                work.nodes[top], work.bounds[top] = right, b
                top += 1
            if a >= widest:
                node = -1
                break
            node = left
        if node >= 0:
            return node, top
    return -1, 0


@njit
def prepare_queries(tree: KdTree, leaf: int, work: Work) -> None:
    """Make the rows of a leaf the queries, one a slot."""
    for s in range(tree.points.shape[2]):
        for c in range(tree.points.shape[1]):
            work.queries[s, c] = tree.points[leaf, c, s]


@njit
def near_slots(tree: KdTree, leaf: int, work: Work, query: Array, exact: Array, limit: float) -> int:
    """Number of slots of a leaf within a squared distance of a query: `work.slots` and `work.squares` have them.

    The query comes in the type of the leaves, and as it is.
    """
    points, out = tree.points[leaf], work.distances
    d, slots = points.shape
    if d == 2:
        p, q = points[0], points[1]
        x, y = query[0], query[1]
        for j in range(slots):
            a, b = p[j] - x, q[j] - y
            out[j] = a * a + b * b
    else:
        for j in range(slots):
            out[j] = 0
        c = 0
        while c + 4 <= d:
            p, q, r, s = points[c], points[c + 1], points[c + 2], points[c + 3]
            x, y, z, v = query[c], query[c + 1], query[c + 2], query[c + 3]
            for j in range(slots):
                a, b, e, f = p[j] - x, q[j] - y, r[j] - z, s[j] - v
                out[j] = out[j] + a * a + b * b + e * e + f * f
            c += 4
        while c < d:
            p, x = points[c], query[c]
            for j in range(slots):
                a = p[j] - x
                out[j] = out[j] + a * a
            c += 1
    if tree.filtered:
        reach = np.sqrt(limit) * tree.scale * tree.grow + tree.slack
        work.limit[0] = min(reach * reach, tree.most)
    else:
        work.limit[0] = min(limit, tree.most)
    edge = work.limit[0]
    near = 0
    for j in range(slots):
        near += out[j] <= edge
    if near == 0:
        return 0
    count, j = 0, 0
    base = leaf * slots
    while count < near:
        work.slots[count] = base + j
        work.squares[count] = out[j]
        count += out[j] <= edge
        j += 1
    if not tree.filtered:
        return count
    count = 0
    for i in range(near):
        row = tree.rows[work.slots[i]]
        total = 0.0
        for c in range(d):
            difference = row[c] - exact[c]
            total += difference * difference
        work.slots[count] = work.slots[i]
        work.squares[count] = total
        count += total <= limit
    return count
