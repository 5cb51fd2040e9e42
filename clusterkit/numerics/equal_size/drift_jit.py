"""Centres that drift by the sizes of their cells: the loops of equal clustering, on plain arrays.

Sizes drive the iteration, and they are integers kept exactly, so a turn need only find the sizes of cells, not the cell
of every row. Here are the rule, the loop for centres on a line and that for few attributes; the loop for all else is in
`equal_list_jit`. The sizes of every turn are those of the plain loop; the plain twin is in the tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit
from clusterkit.numerics.equal_size.tree_jit import count

__all__ = [
    "COLLAPSED",
    "DOUBT",
    "FIXED",
    "GOING",
    "REACHED",
    "RUNAWAY",
    "closest",
    "finish",
    "grove",
    "line",
    "minus_distances",
]

GOING, REACHED, FIXED, COLLAPSED, RUNAWAY, DOUBT = 0, 1, 2, 3, 4, 5
# The distances between centres are looked at once in so many turns.
CHECKED = 10


@njit
def minus_distances(H: Any, C: Any, offsets: Any, out: Any) -> Any:
    """``-|h_i - c_j|² + offset_j`` for rows H (b, d) and centres as columns C (d, m), into `out` (b, m)."""
    for i in range(H.shape[0]):
        _distances(H, i, C, out[i])
        for j in range(C.shape[1]):
            out[i, j] = offsets[j] - out[i, j]


@njit
def _distances(X: Any, i: Any, C: Any, squares: Any) -> Any:
    for j in range(C.shape[1]):
        squares[j] = 0.0
    for f in range(C.shape[0]):
        x = X[i, f]
        for j in range(C.shape[1]):
            difference = x - C[f, j]
            squares[j] += difference * difference


@njit
def _shares(sizes: Any, slope: Any, original: Any, shares: Any) -> Any:
    """How much of the way to centre j centre i goes, ``shares[j, i]``."""
    m = len(sizes)
    for j in range(m):
        for i in range(m):
            if original:
                shares[j, i] = sizes[j] / max(sizes[i], 1) - 1.0
            elif sizes[i] == 0 and sizes[j] == 0:
                shares[j, i] = 0.0
            else:
                shares[j, i] = (slope - 1.0) * (sizes[j] - sizes[i]) / (sizes[j] + (slope - 1.0) * sizes[i])


@njit
def _move(C: Any, shares: Any, alpha: Any, delta: Any, steps: Any) -> Any:
    """All centres at once, from where they were; their squared steps."""
    m = C.shape[1]
    for j in range(m):
        steps[j] = 0.0
    for f in range(C.shape[0]):
        for j in range(m):
            delta[j] = 0.0
        for j in range(m):
            other = C[f, j]
            for i in range(m):
                delta[i] += shares[j, i] * (other - C[f, i])
        for i in range(m):
            before = C[f, i]
            C[f, i] = before + alpha * delta[i]
            steps[i] += (C[f, i] - before) ** 2


@njit
def _height(sizes: Any, mean: Any) -> Any:
    height = 0
    for size in sizes:
        height = max(height, abs(size - mean))
    return height


@njit
def closest(C: Any) -> Any:
    """Smallest squared distance between two centres."""
    least = np.inf
    for i in range(C.shape[1]):
        for j in range(i):
            square = 0.0
            for f in range(C.shape[0]):
                square += (C[f, i] - C[f, j]) ** 2
            least = min(least, square)
    return least


@njit
def _copy(source: Any, target: Any) -> None:
    # (loops are compiled several times faster than assignments of arrays)
    for f in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[f, j] = source[f, j]


@njit
def _largest(C: Any) -> Any:
    largest = 0.0
    for f in range(C.shape[0]):
        for j in range(C.shape[1]):
            largest = max(largest, abs(C[f, j]))
    return largest


@njit
def finish(
    turn: Any, n: Any, C: Any, sizes: Any, rule: Any, ends: Any, best: Any, heights: Any, record: Any,
    shares: Any, delta: Any, steps: Any,
) -> Any:  # fmt: skip
    """What follows the count of a turn: its height, the best so far, whether to stop, the centres moved."""
    alpha, slope, original, eps, least, limit = rule
    height = _height(sizes, n // len(sizes))
    heights[turn] = height
    if turn < record.shape[0]:
        for j in range(len(sizes)):
            record[turn, j] = sizes[j]
    _copy(C, ends[1])
    if height < best[0]:
        best[0], best[1] = height, turn
        _copy(C, ends[0])
    if height < eps:
        return REACHED
    _shares(sizes, slope, original > 0.0, shares)
    _move(C, shares, alpha, delta, steps)
    longest = 0.0
    for step in steps:
        longest = max(longest, step)
    if longest == 0.0:
        return FIXED
    if _largest(C) > limit:
        return RUNAWAY
    if least > 0.0 and turn % CHECKED == 0 and closest(C) < least:
        return COLLAPSED
    return GOING


@njit
def _cells(Q: Any, P: Any, order: Any, sizes: Any) -> Any:
    """Sizes of the cells of centres P (m,) on a line, of sorted rows Q (n,), by binary search at the midpoints."""
    m = len(P)
    for a in range(1, m):  # they hardly change places from turn to turn
        centre = order[a]
        b = a - 1
        while b >= 0 and (P[order[b]] > P[centre] or (P[order[b]] == P[centre] and order[b] > centre)):
            order[b + 1] = order[b]
            b -= 1
        order[b + 1] = centre
    sizes[:] = 0
    begin, left = 0, order[0]
    for a in range(1, m):
        right = order[a]
        if P[right] == P[left]:
            continue  # of coincident centres the first has all
        middle = 0.5 * (P[left] + P[right])
        end = np.searchsorted(Q, middle, side="right") if left < right else np.searchsorted(Q, middle, side="left")
        sizes[left] = end - begin
        begin, left = end, right
    sizes[left] = len(Q) - begin


@njit
def line(
    Q: Any,
    P: Any,
    order: Any,
    sizes: Any,
    first: Any,
    last: Any,
    rule: Any,
    ends: Any,
    best: Any,
    heights: Any,
    record: Any,
) -> Any:
    """Turns where all centres lie on one line: rows sorted once, O(m log n + m²) a turn whatever n is.

    Q (n,) are the rows, sorted; P (1, m) the centres; ``order`` (m,) their order, any permutation at first. From
    ``sizes`` (m,) on the arguments are those of every loop. Turns `first` … `last` - 1 are made. ``rule``: alpha, l,
    whether the original rule, the height below which it ends (< 0: never), the squared distance of centres below which
    they have collapsed (0: never), the coordinate beyond which they have run away. ``ends`` (2, d, m) keeps the centres
    of the best and of the last turn, ``best`` the height and the number of the best, ``heights`` (turns,) all heights.
    ``record`` (turns, m) takes the sizes, or has no rows. Returns the turns done so far and why it stopped (`GOING` if
    it did not).
    """
    n, m = len(Q), P.shape[1]
    delta, steps = np.empty(m), np.empty(m)
    shares = np.empty((m, m))
    for turn in range(first, last):
        _cells(Q, P[0], order, sizes)
        why = finish(turn, n, P, sizes, rule, ends, best, heights, record, shares, delta, steps)
        if why != GOING:
            return turn + 1, why
    return last, GOING


@njit
def grove(
    X: Any,
    boxes: Any,
    spans: Any,
    C: Any,
    sizes: Any,
    lists: Any,
    lengths: Any,
    stack: Any,
    first: Any,
    last: Any,
    rule: Any,
    ends: Any,
    best: Any,
    heights: Any,
    record: Any,
) -> Any:
    """`line` for few attributes: sizes by the tree of boxes of `equal_tree_jit`, without anything kept for a row."""
    n, m = X.shape[0], C.shape[1]
    delta, steps = np.empty(m), np.empty(m)
    shares = np.empty((m, m))
    for turn in range(first, last):
        count(X, boxes, spans, C, sizes, lists, lengths, stack)
        why = finish(turn, n, C, sizes, rule, ends, best, heights, record, shares, delta, steps)
        if why != GOING:
            return turn + 1, why
    return last, GOING
