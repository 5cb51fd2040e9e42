"""Hartigan's dip: the distance of a sample to the nearest unimodal distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit

__all__ = ["dip"]


@njit
def _minorant(x: Any) -> Any:
    """For each point the point before it on the greatest convex minorant of the points up to it."""
    before = np.zeros(len(x), dtype=np.int64)
    for j in range(1, len(x)):
        before[j] = j - 1
        while True:
            i = before[j]
            h = before[i]
            if i == 0 or (x[j] - x[i]) * (i - h) < (x[i] - x[h]) * (j - i):
                break
            before[j] = h
    return before


@njit
def _majorant(x: Any) -> Any:
    """For each point the point after it on the least concave majorant of the points from it on."""
    n = len(x)
    after = np.full(n, n - 1, dtype=np.int64)
    for k in range(n - 2, -1, -1):
        after[k] = k + 1
        while True:
            i = after[k]
            h = after[i]
            if i == n - 1 or (x[k] - x[i]) * (i - h) < (x[i] - x[h]) * (k - i):
                break
            after[k] = h
    return after


@njit
def dip(x: Any) -> float:
    """The dip of sorted values x, (n,): at least 1 / (2 n), at most 1/4.

    The largest distance of the empirical distribution function to the nearest distribution function with one mode
    (Hartigan, Hartigan 1985, The dip test of unimodality, Annals of Statistics 13; P. M. Hartigan 1985, algorithm
    AS 217, Applied Statistics 34). The modal interval shrinks until the difference of minorant and majorant inside it
    is no larger than the dip outside it. O(n) time for each interval, of which there are few.
    """
    n = len(x)
    low, high, largest = 0, n - 1, 1.0
    if n < 2 or x[0] == x[n - 1]:
        return 0.5 / max(n, 1)
    before, after = _minorant(x), _majorant(x)
    convex, concave = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    while True:
        convex[0], p = high, 0
        while convex[p] > low:
            convex[p + 1] = before[convex[p]]
            p += 1
        concave[0], q = low, 0
        while concave[q] < high:
            concave[q + 1] = after[concave[q]]
            q += 1
        first, last, i, j, widest = p, q, p - 1, 1, 1.0
        if p != 1 or q != 1:
            widest = 0.0
            while True:
                a, b = convex[i], concave[j]
                if a > b:
                    c = convex[i + 1]
                    gap = b - c + 1 - (x[b] - x[c]) * (a - c) / (x[a] - x[c])
                    j += 1
                    if gap >= widest:
                        widest, first, last = gap, i + 1, j - 1
                else:
                    c = concave[j - 1]
                    gap = (x[a] - x[c]) * (b - c) / (x[b] - x[c]) - (a - c - 1)
                    i -= 1
                    if gap >= widest:
                        widest, first, last = gap, i + 1, j
                i, j = max(i, 0), min(j, q)
                if convex[i] == concave[j]:
                    break
        if widest < largest:
            break
        for e in range(first, p):
            largest = max(largest, _above_chord(x, convex[e + 1], convex[e]))
        for e in range(last, q):
            largest = max(largest, _below_chord(x, concave[e], concave[e + 1]))
        if low == convex[first] and high == concave[last]:
            break
        low, high = convex[first], concave[last]
    return largest / (2.0 * n)


@njit
def _above_chord(x: Any, start: Any, stop: Any) -> float:
    """Largest height of the steps above a chord of the minorant, in steps."""
    most = 1.0
    if stop - start > 1 and x[stop] != x[start]:
        slope = (stop - start) / (x[stop] - x[start])
        for i in range(start, stop + 1):
            most = max(most, i - start + 1 - (x[i] - x[start]) * slope)
    return most


@njit
def _below_chord(x: Any, start: Any, stop: Any) -> float:
    """Largest depth of the steps below a chord of the majorant, in steps."""
    most = 1.0
    if stop - start > 1 and x[stop] != x[start]:
        slope = (stop - start) / (x[stop] - x[start])
        for i in range(start, stop + 1):
            most = max(most, (x[i] - x[start]) * slope - (i - start - 1))
    return most
