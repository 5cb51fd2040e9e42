"""The first medoids of PAM, and the swaps of FasterPAM, on a symmetric matrix of distances."""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices


@njit
def first_medoids(D: Array, weights: Array, k: int) -> Indices:
    """Of each next medoid the sum of weighted distances to the nearest one falls most; (k,). O(n² k)."""
    n = len(D)
    nearest = np.full(n, np.inf)
    medoids = np.full(k, -1)
    taken = np.zeros(n, np.bool_)
    for j in range(k):
        least = np.inf
        for c in range(n):
            if taken[c]:
                continue
            total = 0.0
            for o in range(n):
                total += weights[o] * min(nearest[o], D[c, o])
            if medoids[j] < 0 or total < least:
                least, medoids[j] = total, c
        taken[medoids[j]] = True
        for o in range(n):
            nearest[o] = min(nearest[o], D[medoids[j], o])
    return medoids


@njit
def nearest_two(D: Array, medoids: Indices, place: Indices, first: Array, second: Array) -> None:
    """Write the place of the nearest medoid of each row, and the distances to it and to the next one."""
    for o in range(len(D)):
        first[o], second[o] = np.inf, np.inf
        for j in range(len(medoids)):
            d = D[medoids[j], o]
            if d < first[o]:
                second[o], first[o], place[o] = first[o], d, j
            elif d < second[o]:
                second[o] = d


@njit
def swap_round(
    D: Array, weights: Array, medoids: Indices, place: Indices, first: Array, second: Array, least: float
) -> int:
    """Try each row in the place of the medoid for which it gains most, at once if more than `least`; count the swaps.

    Needs two medoids. One look at a row gives the change for all k of them: O(n + k), FasterPAM's.
    """
    n, k = len(D), len(medoids)
    change, loss = np.zeros(k), np.zeros(k)
    stale, swaps = True, 0
    for c in range(n):
        if stale:  # what it costs to take each medoid away
            nearest_two(D, medoids, place, first, second)
            for j in range(k):
                loss[j] = 0.0
            for o in range(n):
                loss[place[o]] += weights[o] * (second[o] - first[o])
            stale = False
        for j in range(k):
            change[j] = loss[j]
        shared, is_medoid = 0.0, False
        for j in range(k):
            is_medoid |= medoids[j] == c
        if is_medoid:
            continue
        for o in range(n):
            d = D[c, o]
            if d < first[o]:
                shared += weights[o] * (d - first[o])
                change[place[o]] += weights[o] * (first[o] - second[o])
            elif d < second[o]:
                change[place[o]] += weights[o] * (d - second[o])
        best = 0
        for j in range(k):
            if change[j] < change[best]:
                best = j
        if change[best] + shared < -least:
            medoids[best] = c
            stale, swaps = True, swaps + 1
    if stale:
        nearest_two(D, medoids, place, first, second)
    return swaps
