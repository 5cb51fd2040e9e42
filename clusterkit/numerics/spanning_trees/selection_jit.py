"""The k-th smallest of some numbers: exactly, or a bound of it by counting, which processors do many at a time."""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts

__all__ = ["bound_of_smallest", "smallest", "smallest_weighted"]

TURNS = 6
"""Counts of numbers below a guess before the rest is sorted out one by one: guesses on a straight line between the last
two need three or four unless many of the numbers are equal."""


@njit
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


@njit
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


@njit(fastmath={"nnan", "nsz"})
def _largest(values: Array, count: int) -> float:
    """The largest of the first values, none of which is NaN."""
    most = values[0]
    for i in range(count):
        most = values[i] if values[i] > most else most
    return most


@njit
def bound_of_smallest(values: Array, count: int, k: int, room: int, scratch: Array) -> float:
    """A number that k to ``k + room`` of the first `count` values are not above; with `room` 0 the k-th smallest.

    Values are at least 0, and of the type of `scratch`, which has a place for each of them. Where many are equal there
    may be no such number; then it is the k-th smallest. The values stay where they are.
    """
    high, upto = _largest(values, count), count
    if high == 0.0:
        return high
    low, below = values[0] * 0 - high, 0
    for _ in range(TURNS):
        if upto <= k + room:
            if room > 0:
                return high
            break
        # on a straight line, a little above the place that is looked for, where a bound may be
        share = (k + 0.5 * room - below) / (upto - below)
        scratch[0] = max(low, 0.0) + (high - max(low, 0.0)) * share
        guess = scratch[0]  # rounded to the type of the values
        if not low < guess < high:
            break
        smaller = 0
        for i in range(count):
            smaller += values[i] <= guess
        if smaller >= k:
            high, upto = guess, smaller
        else:
            low, below = guess, smaller
    inside = 0
    for i in range(count):
        value = values[i]
        scratch[inside] = value
        inside += (value > low) & (value <= high)
    return smallest(scratch, inside, k - below)
