"""A balanced k-d tree whose leaves hold their points as columns.

The tree is implicit: the children of node v are 2 v + 1 and 2 v + 2, and node j of level l owns the rows
``[j n >> l, (j + 1) n >> l)`` of one permutation. Everything about a row is kept in *slot* order: slot
``leaf * slots + s`` is the s-th place of a leaf, and places without a row are padding at infinity. Nodes are split at
the median of the coordinate with the largest variance.

From `FILTERED` columns on the leaves hold float32 copies of the centred points, scaled by a power of two. They only
decide which points need a look: a search keeps every slot whose single-precision distance may belong to a true
distance within the limit, and computes the distance of those again from the float64 rows, so that results are exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clusterkit._jit import inner, njit
from clusterkit._typing import Array, Indices

__all__ = [
    "FILTERED",
    "TASKS",
    "KdTree",
    "ball_task",
    "fill_task",
    "split_task",
    "subtree_task",
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
