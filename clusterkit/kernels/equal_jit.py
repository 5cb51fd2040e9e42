"""Centres that drift by the sizes of their cells: the loops of equal clustering, on plain arrays.

Sizes drive the iteration, and they are integers kept exactly, so a turn need only look at the rows whose nearest
centre may have changed. Every row has a deadline on a clock. Two distances near each other no faster than both centres
move (Elkan 2003, Using the triangle inequality to accelerate k-means, ICML), and the clock advances by the largest
quotient of a centre's step and its usual step. Rows wait in a monotone radix queue, so those that keep their cell cost
nothing at all. Deadlines are early by the rounding errors of distances: the sizes of every turn are those of the plain
loop. The plain twin is in the tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit
from clusterkit.kernels.equal_tree_jit import count

__all__ = [
    "BUCKETS",
    "COLLAPSED",
    "FIXED",
    "GOING",
    "REACHED",
    "RUNAWAY",
    "closest",
    "drift",
    "grove",
    "line",
    "minus_distances",
]

BUCKETS = 66
GOING, REACHED, FIXED, COLLAPSED, RUNAWAY = 0, 1, 2, 3, 4
# The distances between centres are looked at once in so many turns.
CHECKED = 10
EPS = float(np.finfo(np.float64).eps)


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
    steps[:] = 0.0
    for f in range(C.shape[0]):
        delta[:] = 0.0
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
def _finish(
    turn: Any, n: Any, C: Any, sizes: Any, rule: Any, ends: Any, best: Any, heights: Any, record: Any,
    shares: Any, delta: Any, steps: Any,
) -> Any:  # fmt: skip
    """What follows the count of a turn: its height, the best so far, whether to stop, the centres moved."""
    alpha, slope, original, eps, least, limit = rule
    height = _height(sizes, n // len(sizes))
    heights[turn] = height
    if turn < record.shape[0]:
        record[turn] = sizes
    ends[1] = C
    if height < best[0]:
        best[0], best[1] = height, turn
        ends[0] = C
    if height < eps:
        return REACHED
    _shares(sizes, slope, original > 0.0, shares)
    _move(C, shares, alpha, delta, steps)
    if steps.max() == 0.0:
        return FIXED
    if np.abs(C).max() > limit:
        return RUNAWAY
    if least > 0.0 and turn % CHECKED == 0 and closest(C) < least:
        return COLLAPSED
    return GOING


@njit
def _bucket(key: Any, now: Any) -> Any:
    """Position, from 1, of the highest bit in which two patterns differ; 0 if they are equal."""
    bits = key ^ now
    found = 0
    for shift in (32, 16, 8, 4, 2, 1):
        if bits >> shift:
            bits >>= shift
            found += shift
    return found + 1 if bits else 0


@njit
def _push(i: Any, patterns: Any, now: Any, head: Any, follow: Any) -> Any:
    b = _bucket(patterns[i], now)
    follow[i] = head[b]
    head[b] = i


@njit
def _due(patterns: Any, before: Any, now: Any, head: Any, follow: Any, due: Any, count: Any) -> Any:
    """Rows whose deadline is not after `now`, into ``due[count:]``; the count after them.

    Floats >= 0 are in the order of their bits.
    """
    b = _bucket(now, before)
    # deadlines below bucket b agree with `before` where `now` is already larger
    for lower in range(max(b, 1)):
        count = _drain(lower, head, follow, due, count)
    if b > 0:
        i = head[b]
        head[b] = -1
        while i >= 0:
            after = follow[i]
            if patterns[i] <= now:
                due[count] = i
                count += 1
            else:
                _push(i, patterns, now, head, follow)
            i = after
    return count


@njit
def _drain(bucket: Any, head: Any, follow: Any, due: Any, count: Any) -> Any:
    i = head[bucket]
    head[bucket] = -1
    while i >= 0:
        due[count] = i
        count += 1
        i = follow[i]
    return count


@njit(fastmath={"nnan", "nsz"})
def _look(X: Any, i: Any, C: Any, own: Any, urgency: Any, pad: Any, squares: Any) -> Any:
    """The nearest centre of row i, ties the lowest, and by how much the clock may advance until that can change.

    The distances of centres a and b differ by a gap that shrinks by ``1 / urgency[a, b]`` a unit of the clock at most.
    `own` is a guess of the nearest centre. Nothing here is not a number, which lets the compiler take minima of
    vectors.
    """
    m = C.shape[1]
    _distances(X, i, C, squares)
    mine = squares[own]
    nearer = 0
    for b in range(m):
        nearer += squares[b] < mine
    if nearer:
        own = np.argmin(squares)
    else:
        for b in range(own):  # ties, the lowest
            if squares[b] == mine:
                own = b
                break
    mine = np.sqrt(squares[own])
    squares[own] = np.inf
    wait = np.inf
    for b in range(m):
        away = np.sqrt(squares[b])
        ticks = (away - mine - pad * (away + mine)) * urgency[own, b]
        wait = min(wait, ticks)
    return own, wait


@njit
def _rates(usual: Any, urgency: Any) -> Any:
    """The speeds of centres that the clock counts on; they decide how often rows are looked at, and nothing else.

    Returns them, and fills ``urgency[a, b]``, one over the speed at which the distances to a and b may near each other.
    """
    rates = usual + 0.05 * usual.mean() + 1e-290
    for a in range(len(usual)):
        for b in range(len(usual)):
            urgency[a, b] = 1.0 / (rates[a] + rates[b])
    return rates


@njit
def drift(
    X: Any,
    C: Any,
    labels: Any,
    sizes: Any,
    keys: Any,
    patterns: Any,
    head: Any,
    follow: Any,
    due: Any,
    clock: Any,
    ticks: Any,
    usual: Any,
    rates: Any,
    urgency: Any,
    first: Any,
    last: Any,
    rule: Any,
    ends: Any,
    best: Any,
    heights: Any,
    record: Any,
) -> Any:
    """Turns `first` … `last` - 1; returns the turns done so far and why it stopped (`GOING` if it did not).

    X (n, d) and the centres C (d, m) are float64, ``labels`` (n,) and ``sizes`` (m,) those of the turn before.
    ``keys`` (n,) are the deadlines and ``patterns`` the same memory as integers; ``head`` (BUCKETS,) and ``follow``
    (n,) the queue, ``due`` (n,) room for rows. ``clock`` is the time, the looks since all rows were looked at, and the
    time as the queue knows it, ``ticks`` the same memory as integers. ``usual`` (m,) are mean speeds of the centres of
    late, ``rates`` (m,) and ``urgency`` (m, m) those the deadlines were made with. ``rule``: alpha, l, whether the
    original rule, the height below which it ends (< 0: never), the squared distance of centres below which they have
    collapsed (0: never), the coordinate beyond which they have run away. ``ends`` (2, d, m) keeps the centres of the
    best and of the last turn, ``best`` the height and the number of the best, ``heights`` (turns,) all heights.
    ``record`` (turns, m) takes the sizes, or has no rows.
    """
    n, d = X.shape
    m = C.shape[1]
    squares, delta, steps = np.empty(m), np.empty(m), np.empty(m)
    shares = np.empty((m, m))
    slack = (d + 16) * EPS
    for turn in range(first, last):
        if turn < 2 or clock[1] > n:
            # all rows anew, with the speeds of today: as dear as what has been looked at since
            if turn:
                rates[:] = _rates(usual, urgency)
            head[:] = -1
            clock[:] = 0.0
            count = n
            for i in range(n):
                due[i] = i
        else:
            count = _due(patterns, ticks[2], ticks[0], head, follow, due, 0)
            ticks[2] = ticks[0]
            clock[1] += count
        for position in range(count):
            i = due[position]
            if turn == 0:
                _distances(X, i, C, squares)
                own = np.argmin(squares)
                sizes[own] += 1
                labels[i] = own
                continue
            before = labels[i]
            own, wait = _look(X, i, C, before, urgency, 4.0 * slack, squares)
            if own != before:
                sizes[before] -= 1
                sizes[own] += 1
                labels[i] = own
            keys[i] = max(clock[0], (clock[0] + wait) * (1.0 - 4.0 * EPS))
            _push(i, patterns, ticks[2], head, follow)
        why = _finish(turn, n, C, sizes, rule, ends, best, heights, record, shares, delta, steps)
        if why != GOING:
            return turn + 1, why
        advance = 0.0
        for b in range(m):
            length = np.sqrt(steps[b])
            usual[b] = length if turn == 0 else 0.5 * (usual[b] + length)
            advance = max(advance, length / rates[b])
        clock[0] = (clock[0] + advance * (1.0 + slack)) * (1.0 + 4.0 * EPS)
    return last, GOING


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
    """`drift` where all centres lie on one line: rows sorted once, O(m log n + m²) a turn whatever n is.

    Q (n,) are the rows, sorted; P (1, m) the centres; ``order`` (m,) their order, any permutation at first.
    """
    n, m = len(Q), P.shape[1]
    delta, steps = np.empty(m), np.empty(m)
    shares = np.empty((m, m))
    for turn in range(first, last):
        _cells(Q, P[0], order, sizes)
        why = _finish(turn, n, P, sizes, rule, ends, best, heights, record, shares, delta, steps)
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
    """`drift` for few attributes: sizes by the tree of boxes of `equal_tree_jit`, without anything kept for a row."""
    n, m = X.shape[0], C.shape[1]
    delta, steps = np.empty(m), np.empty(m)
    shares = np.empty((m, m))
    for turn in range(first, last):
        count(X, boxes, spans, C, sizes, lists, lengths, stack)
        why = _finish(turn, n, C, sizes, rule, ends, best, heights, record, shares, delta, steps)
        if why != GOING:
            return turn + 1, why
    return last, GOING
