"""Moves of items with weights between clusters until every size is within its bounds, at little cost."""

from __future__ import annotations

import numpy as np

from clusterkit._jit import inner, njit
from clusterkit._typing import Array, Indices, Labels, Sizes

ROUNDING = 1e-9
"""Fraction of the bounds that is rounding of sums of weights."""


@njit
def least_priced(C: Array, prices: Array, weights: Array, labels: Labels) -> float:
    """Cost of the cheapest priced labels, which are written to `labels`; `weights` of no rows mean that all are 1."""
    n, k = C.shape
    total = 0.0
    for i in range(n):
        best, least = 0, np.float64(C[i, 0]) + prices[0]
        for j in range(1, k):
            value = np.float64(C[i, j]) + prices[j]
            if value < least:
                best, least = j, value
        labels[i] = best
        total += least * weights[i] if len(weights) else least
    return total


@inner
def _largest(values: Sizes) -> float:
    """The largest value."""
    largest = values[0]
    for c in range(len(values)):
        largest = max(largest, values[c])
    return largest


@njit
def make_room(
    D: Array, weights: Array, starts: Indices, near: Indices, labels: Labels, low: Sizes, high: Sizes, free: float
) -> bool:
    """Move groups until the other rows, of weight `free` in all, can fill the clusters up; whether that succeeds.

    No move breaks a pair that is apart. Each takes away most of the violation for its cost.
    """
    m, k = D.shape
    sizes = np.zeros(k)
    conflicts = np.zeros((m, k), np.int64)
    for g in range(m):
        sizes[labels[g]] += weights[g]
        for at in range(starts[g], starts[g + 1]):
            conflicts[g, labels[near[at]]] += 1
    small = ROUNDING * (1.0 + _largest(high))
    for _ in range(4 * m + 4):
        violation = _violation(sizes, low, high, free)
        if violation <= small:
            return True
        best, who, where = np.inf, -1, -1
        for g in range(m):
            a, w = labels[g], weights[g]
            for j in range(k):
                if j == a or conflicts[g, j] > 0 or D[g, j] == np.inf:
                    continue
                sizes[a] -= w
                sizes[j] += w
                less = violation - _violation(sizes, low, high, free)
                sizes[a] += w
                sizes[j] -= w
                if less > small:
                    price = max(D[g, j] - D[g, a], 0.0) / less
                    if price < best:
                        best, who, where = price, g, j
        if who < 0:
            return False
        a = labels[who]
        sizes[a] -= weights[who]
        sizes[where] += weights[who]
        for at in range(starts[who], starts[who + 1]):
            conflicts[near[at], a] -= 1
            conflicts[near[at], where] += 1
        labels[who] = where
    return False


@njit
def _violation(sizes: Array, low: Sizes, high: Sizes, free: float) -> float:
    """Weight above the highest sizes, and what the free weight does not suffice for up to the lowest."""
    over, short, room = 0.0, 0.0, 0.0
    for j in range(len(sizes)):
        over += max(0.0, sizes[j] - high[j])
        short += max(0.0, low[j] - sizes[j])
        room += max(0.0, high[j] - sizes[j])
    return over + max(0.0, short - free) + max(0.0, free - room)


@njit
def move_into_bounds(C: Array, weights: Array, labels: Labels, sizes: Array, low: Sizes, high: Sizes) -> bool:
    """Move rows until every size is within its bounds, the least loss for each unit of weight first; O(n k) a move.

    `sizes` may count further weight that does not move. C holds the costs of a unit of weight.
    """
    n, k = C.shape
    small = ROUNDING * (1.0 + _largest(high))
    for _ in range(2 * n + 2):
        violation = 0.0
        for j in range(k):
            violation += max(0.0, sizes[j] - high[j]) + max(0.0, low[j] - sizes[j])
        if violation <= small:
            return True
        best, who, where = np.inf, -1, -1
        for i in range(n):
            a, w = labels[i], weights[i]
            if w <= 0.0:
                continue
            before = max(0.0, sizes[a] - high[a]) + max(0.0, low[a] - sizes[a])
            after = max(0.0, sizes[a] - w - high[a]) + max(0.0, low[a] - sizes[a] + w)
            for j in range(k):
                if j == a or C[i, j] == np.inf:
                    continue
                less = before - after + max(0.0, sizes[j] - high[j]) + max(0.0, low[j] - sizes[j])
                less -= max(0.0, sizes[j] + w - high[j]) + max(0.0, low[j] - sizes[j] - w)
                if less > small:
                    price = max((C[i, j] - C[i, a]) * w, 0.0) / less
                    if price < best:
                        best, who, where = price, i, j
        if who < 0:
            return False
        sizes[labels[who]] -= weights[who]
        sizes[where] += weights[who]
        labels[who] = where
    return False


@njit
def improve(C: Array, weights: Array, labels: Labels, sizes: Array, low: Sizes, high: Sizes, sweeps: int) -> None:
    """Move single rows to cheaper clusters while the sizes stay within their bounds."""
    n, k = C.shape
    small = ROUNDING * (1.0 + _largest(high))
    for _ in range(sweeps):
        moved = False
        for i in range(n):
            a, w = labels[i], weights[i]
            if sizes[a] - w < low[a] - small:
                continue
            best = a
            for j in range(k):
                if C[i, j] < C[i, best] and sizes[j] + w <= high[j] + small:
                    best = j
            if best != a:
                sizes[a] -= w
                sizes[best] += w
                labels[i] = best
                moved = True
        if not moved:
            break
