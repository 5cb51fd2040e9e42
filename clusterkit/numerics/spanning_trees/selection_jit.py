"""The k-th smallest of some numbers: exactly, or a bound of it by counting, which processors do many at a time."""

from __future__ import annotations

import numpy as np

from clusterkit._jit import inner
from clusterkit._typing import Array, Counts

__all__ = ["bracket", "count_upto", "kth_near", "smallest", "smallest_weighted"]

MARGIN = 1.5
"""Places beside the k-th at which a guess aims until it is between two of them: about how far a guess is off."""

TURNS = 12
"""Guesses, with a count of what is not above, before the rest is sorted out one by one: they are on a straight line
between the last two, and so three or four are needed unless many of the numbers are equal."""

STEPS = 2
"""Values by which the k-th smallest is reached from below, each by a look at all for the next one."""

MANY = 10
"""Values between two guesses from which on a straight line between them is likely to miss by more than one."""

GROWTH = 4.0
"""Largest factor from a guess to the next one while all are too small."""

LARGEST = np.int64(0x7FF0000000000000)
"""The bits of infinity."""


@inner
def smallest(values: Array, count: int, k: int) -> float:
    """The k-th smallest of the first `count` values, which it brings to the front together with the smaller ones."""
    low, high, place = 0, count, k - 1
    while high - low > 1:
        a, b, pivot = values[low], values[high - 1], values[low + (high - low) // 2]
        pivot = max(min(a, b), min(max(a, b), pivot))
        below = low
        for i in range(low, high):  # no branch on a value, as in the tree's own selection
            t = values[i]
            values[i] = values[below]
            values[below] = t
            below += t < pivot
        if place < below:
            high = below
            continue
        upto = below
        for i in range(below, high):
            t = values[i]
            values[i] = values[upto]
            values[upto] = t
            upto += t <= pivot
        if place < upto:
            return pivot
        low = upto
    return values[place]


@inner
def smallest_weighted(values: Array, weights: Counts, count: int, k: int) -> tuple[float, int]:
    """The least of the first `count` values that weighs k together with the smaller ones, and how many are these.

    They are brought to the front.
    """
    low, high, lighter = 0, count, 0
    while high - low > 1:
        a, b, pivot = values[low], values[high - 1], values[low + (high - low) // 2]
        pivot = max(min(a, b), min(max(a, b), pivot))
        below, weight = low, lighter
        for i in range(low, high):
            t, u = values[i], weights[i]
            values[i], weights[i] = values[below], weights[below]
            values[below], weights[below] = t, u
            below += t < pivot
        for i in range(low, below):
            weight += weights[i]
        if weight >= k:
            high = below
            continue
        upto = below
        for i in range(below, high):
            t, u = values[i], weights[i]
            values[i], weights[i] = values[upto], weights[upto]
            values[upto], weights[upto] = t, u
            upto += t <= pivot
        for i in range(below, upto):
            weight += weights[i]
        if weight >= k:
            return pivot, upto
        low, lighter = upto, weight
    return values[low], low + 1


@inner
def count_upto(values: Array, count: int, edge: float) -> int:
    """How many of the first values are not above `edge`."""
    inside = 0
    for i in range(count):
        inside += values[i] <= edge
    return inside


@inner(fastmath={"reassoc", "nsz"})
def _total(values: Array, count: int, low: float, high: float) -> float:
    """The sum, in any order, of the first values above `low` that are not above `high`."""
    total, zero = low - low, low - low
    for i in range(count):
        total += values[i] if (values[i] > low) & (values[i] <= high) else zero
    return total


@inner
def bracket(
    values: Array, count: int, k: int, above: int, inside: int, edge: float, scratch: Array
) -> tuple[float, int, float, int]:
    """Two numbers between which the k-th smallest of the first `count` values is, and how many are not above each.

    The second, which may be the k-th itself, has at most ``k + above`` values not above it, and there are at most
    `inside` between the two, unless many values are equal. Values are at least 0, of the type of `scratch` and `edge`,
    and k or more of them not above `edge`. `scratch` has two places at least.
    """
    scratch[0], scratch[1] = 0.0, -1.0  # in the type of the values, in which loops do twice as many at once
    zero, low, below, high, upto = scratch[0], scratch[1], 0, edge, count_upto(values, count, edge)
    # straight lines begin at twice the mean, up to which squared distances of points in a plane reach
    end = min(high, 2 * _total(values, count, low, high) / upto)
    margin = max(0.5 * above, MARGIN)
    for _ in range(TURNS):
        if upto <= k + above and upto - below <= inside:
            break
        if upto > k + 2.0 * margin:
            aim = k + margin
        elif below < k - 1 - 2.0 * margin:
            aim = k - 1 - margin
        else:
            aim = 0.5 * (below + upto)
        start = max(low, zero)
        scratch[0] = start + (end - start) * ((aim - below) / (upto - below))
        guess = scratch[0]  # rounded to the type of the values
        if not low < guess < high:
            break
        smaller = count_upto(values, count, guess)
        if smaller >= k:
            high, upto = guess, smaller
        else:
            low, below = guess, smaller
        end = high
    return low, below, high, upto


@inner
def _next_above(values: Array, bits: Counts, count: int, low: float) -> np.int64:
    """The least value above `low`, as its bits: numbers that are not negative are in the order of their bits."""
    least = LARGEST
    for i in range(count):
        least = min(least, bits[i] if values[i] > low else LARGEST)
    return least


@inner
def kth_near(values: Array, bits: Counts, count: int, k: int, guess: float, scratch: Array) -> float:
    """The k-th smallest of the first `count` values, which stay where they are: fast if it is near the guess.

    Parameters
    ----------
    values, bits : ndarray of shape (> count,)
        Float64, none negative, at least k of them finite; and the same memory as int64. The place behind them is
        written to.
    count, k : int
    guess : float
    scratch : ndarray of shape (> count,)
    """
    low, below, high, upto = -1.0, 0, np.inf, count
    for _ in range(TURNS):
        if not low < guess < high:
            break
        smaller = count_upto(values, count, guess)
        if smaller >= k:
            high, upto = guess, smaller
        else:
            low, below = guess, smaller
        if k - below <= STEPS:
            break
        start = max(low, 0.0)
        if high == np.inf:
            guess = start * min((k - 0.5) / max(below, 1), GROWTH)
        else:  # a little below the k-th, from where it is reached by steps
            aim = max(k - 0.5 * STEPS - (0.5 if upto - below > MANY else 0.0), 0.5 * (below + k))
            guess = start + (high - start) * ((aim - below) / (upto - below))
    if k - below > STEPS:
        inside = 0
        for i in range(count):
            value = values[i]
            scratch[inside] = value
            inside += (value > low) & (value <= high)
        return smallest(scratch, inside, k - below)
    values[count] = low
    while below < k:
        bits[count] = _next_above(values, bits, count, values[count])
        below = below + 1 if below + 1 == k else count_upto(values, count, values[count])
    return values[count]
