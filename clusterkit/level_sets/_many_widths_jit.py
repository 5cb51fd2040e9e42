"""Compiled loops of `_same_points`: distances of all points, bounds for all lines, and lines tested by distances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clusterkit._jit import njit
from clusterkit.level_sets._segments_jit import stretch
from clusterkit.numerics.disjoint_jit import find, join
from clusterkit.numerics.exponential_jit import fast_exp
from clusterkit.numerics.gaussian_jit import FAST

__all__ = ["bounded_pairs", "distances", "join_lines", "least_distances", "tree", "undecided_pairs", "values_at"]


@njit
def distances(points: Any) -> Any:
    """Squared distances (u, u) of points (u, d) by differences: symmetric, and 0 only between equal points."""
    u, d = points.shape
    D = np.zeros((u, u))
    for i in range(u):
        for j in range(i):
            total = 0.0
            for c in range(d):
                difference = points[i, c] - points[j, c]
                total += difference * difference
            D[i, j] = D[j, i] = total
    return D


@njit(fastmath=FAST)
def _least(one: Any, other: Any, position: Any, shift: Any) -> Any:
    least, rest = math.inf, 1.0 - position
    for s in range(len(one)):
        least = min(least, rest * one[s] + position * other[s])
    return least - shift


@njit
def least_distances(D: Any, position: Any, start: Any, stop: Any, least: Any) -> Any:
    """Squared distance from ``x_i + position (x_j - x_i)``, i > j, to the nearest of all points; rows start..stop."""
    for i in range(start, stop):
        for j in range(i):
            least[i, j] = _least(D[i], D[j], position, position * (1.0 - position) * D[i, j])


@njit(fastmath=FAST)
def _sum(E: Any, weights: Any) -> Any:
    total = 0.0
    for s in range(len(weights)):
        total += weights[s] * fast_exp(-E[s])
    return total


@njit
def values_at(E: Any, weights: Any) -> Any:
    """``Σ_s weights_s exp(-E_is)`` for each row i of E (u, s)."""
    values = np.empty(len(E))
    for i in range(len(E)):
        values[i] = _sum(E[i], weights)
    return values


@njit(fastmath=FAST)
def _value_slope(position: Any, length2: Any, one: Any, other: Any, weights: Any) -> Any:
    """g on the line from one point to another, and its derivative by the position.

    `one` and `other` hold the scaled squared distances of the ends to the centres, `length2` that of the ends.
    """
    rest = 1.0 - position
    shift, turn = position * rest * length2, (1.0 - 2.0 * position) * length2
    value, slope = 0.0, 0.0
    for s in range(len(weights)):
        near, far = one[s], other[s]
        # rounding may leave a little below 0, where the exponential must not be asked
        term = weights[s] * fast_exp(-max(rest * near + position * far - shift, 0.0))
        value += term
        slope += term * (near - far + turn)
    return value, slope


@njit
def _inside(length2: Any, one: Any, other: Any, weights: Any, level: Any, m: Any) -> Any:
    """Whether the m samples of a line are inside; what a value and its slope certify is not sampled."""
    length = math.sqrt(length2)
    middle = (m + 1) // 2
    value, slope = _value_slope(middle / (m + 1), length2, one, other, weights)
    if value < level:
        return False
    for way in (1, -1):
        k, here, rise = middle, value, slope
        while True:
            sure = stretch(here, way * rise / length, level) / length * (m + 1)
            k += way * max(1, int(min(sure, m) + 1.0))
            if k < 1 or k > m:
                break
            here, rise = _value_slope(k / (m + 1), length2, one, other, weights)
            if here < level:
                return False
    return True


@njit
def join_lines(edges: Any, parent: Any, gamma: Any, D: Any, E: Any, weights: Any, level: Any, m: Any) -> Any:
    """Join the ends of every edge (e, 2) whose m samples are all inside, in the order given; lines tested.

    Parameters
    ----------
    parent : ndarray of shape (u,)
        Disjoint sets; ends that are joined already are skipped.
    D : ndarray of shape (u, u)
        Squared distances, no two points equal.
    E : ndarray of shape (u, s)
        ``gamma`` times the squared distances of the points to the centres.
    """
    tested = 0
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        if find(parent, i) != find(parent, j):
            tested += 1
            if _inside(gamma * D[i, j], E[i], E[j], weights, level, m):
                join(parent, i, j)
    return tested


@njit
def tree(D: Any, rows: Any) -> Any:
    """Minimum spanning tree of some points, edges (r - 1, 2); Prim, O(r²)."""
    r = len(rows)
    edges = np.empty((r - 1, 2), dtype=np.int64)
    least, nearest = np.full(r, math.inf), np.zeros(r, dtype=np.int64)
    out = np.ones(r, dtype=np.bool_)
    at = 0
    for e in range(r - 1):
        out[at] = False
        following = -1
        for b in range(r):
            if out[b]:
                d = D[rows[at], rows[b]]
                if d < least[b]:
                    least[b], nearest[b] = d, at
                if following < 0 or least[b] < least[following]:
                    following = b
        edges[e, 0], edges[e, 1] = rows[nearest[following]], rows[following]
        at = following
    return edges


@njit
def bounded_pairs(component: Any, rows: Any, least: Any, limit: Any, D: Any, long: Any, pairs: Any) -> Any:
    """Pairs i > j of different components that a bound does not reject, written into `pairs` as far as it goes.

    Parameters
    ----------
    component : ndarray of shape (u,)
    rows : ndarray
        Points to look at, ascending.
    least : ndarray of shape (u, u)
        Lower bounds of the squared distance to a centre, at one sample of the line.
    limit : float
        No centre within this squared distance means outside.
    D : ndarray of shape (u, u)
    long : float
        Squared distance from which a pair counts as long.

    Returns
    -------
    found, far : int
        How many there are, also of those that did not go into `pairs`, and how many of them are long.
    """
    found = far = 0
    for a in range(len(rows)):
        i = rows[a]
        for b in range(a):
            j = rows[b]
            if component[i] != component[j] and least[i, j] <= limit:
                if found < len(pairs):
                    pairs[found, 0], pairs[found, 1] = i, j
                found += 1
                far += D[i, j] > long
    return found, far


@njit
def undecided_pairs(
    sums: Any,
    some: Any,
    others: Any,
    component: Any,
    least: Any,
    limit: Any,
    D: Any,
    reach: Any,
    level: Any,
    most: Any,
) -> Any:
    """Pairs of different components that neither a bound nor the sum at one sample of their line rejects, (e, 2).

    Parameters
    ----------
    sums : ndarray of shape (a, b)
        Sums of the lines from `some` (a,) to `others` (b,) without the factor ``exp(reach D_ij)``.
    component, least, limit, D
        As in `bounded_pairs`.
    reach, level : float
    most : float
        Exponents above it would multiply what was rounded to 0: not rejected.
    """
    pairs = np.empty((256, 2), dtype=np.int64)
    found = 0
    for a in range(len(some)):
        i = some[a]
        for b in range(len(others)):
            j = others[b]
            if component[i] == component[j] or least[max(i, j), min(i, j)] > limit:
                continue
            exponent = reach * D[i, j]
            if exponent <= most and sums[a, b] * math.exp(exponent) < level:
                continue
            if found == len(pairs):
                pairs = np.concatenate((pairs, np.empty_like(pairs)))
            pairs[found, 0], pairs[found, 1] = max(i, j), min(i, j)
            found += 1
    return pairs[:found]
