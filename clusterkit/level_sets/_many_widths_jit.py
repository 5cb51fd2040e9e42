"""Compiled loops of `many_widths`: distances of all points, bounds for all segments, and their tests."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Labels
from clusterkit.level_sets._segments_jit import stretch
from clusterkit.numerics.disjoint_jit import find, join
from clusterkit.numerics.exponential_jit import fast_exp
from clusterkit.numerics.gaussian_jit import FAST

__all__ = [
    "DistanceContour",
    "SegmentBounds",
    "bounded_pairs",
    "distances",
    "join_segments",
    "least_distances",
    "spanning_tree",
    "undecided_pairs",
    "values_at",
]


class DistanceContour(NamedTuple):
    """A Gaussian domain whose centres are some of the points, in terms of distances.

    Parameters
    ----------
    gamma : float
    D : ndarray of shape (u, u)
        Squared distances, no two points equal.
    E : ndarray of shape (u, s)
        ``gamma`` times the squared distances of the points to the centres.
    weights : ndarray of shape (s,)
        With sum 1.
    level : float
    n_segment_points : int
        Points tested on a segment.
    """

    gamma: float
    D: Array
    E: Array
    weights: Array
    level: float
    n_segment_points: int


class SegmentBounds(NamedTuple):
    """Pairs that need no test: of the same component, or with a point of their segment that is certainly outside.

    Parameters
    ----------
    component : ndarray of shape (u,)
    least : ndarray of shape (u, u)
        Below the diagonal, lower bounds of the squared distance from one point of the segment to the centres.
    limit : float
        A point without a centre within this squared distance is outside.
    D : ndarray of shape (u, u)
        Squared distances of the points.
    """

    component: Labels
    least: Array
    limit: float
    D: Array


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
    """Smallest squared distance from a point of a segment, whose ends have the distances `one` and `other` (u,)."""
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
    """The kernel sum of a point with scaled squared distances E (s,) to the centres."""
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
    """g on the segment from one point to another, and its derivative with respect to the position.

    `one` and `other` (s,) are the scaled squared distances of the ends to the centres, `length2` that of the ends.
    """
    rest = 1.0 - position
    shift, slope_shift = position * rest * length2, (1.0 - 2.0 * position) * length2
    value, slope = 0.0, 0.0
    for s in range(len(weights)):
        near, far = one[s], other[s]
        # rounding may leave a number slightly below 0, for which fast_exp is not defined
        term = weights[s] * fast_exp(-max(rest * near + position * far - shift, 0.0))
        value += term
        slope += term * (near - far + slope_shift)
    return value, slope


@njit
def _inside(length2: Any, one: Any, other: Any, weights: Any, level: Any, n_segment_points: Any) -> Any:
    """Whether the sample points of a segment are inside; those on certified stretches are not evaluated."""
    m = n_segment_points
    length = math.sqrt(length2)
    middle = (m + 1) // 2
    value, slope = _value_slope(middle / (m + 1), length2, one, other, weights)
    if value < level:
        return False
    if length == 0.0:  # of distinct points too, where the squares of their differences vanish: one point
        return True
    for direction in (1, -1):
        k, here, rise = middle, value, slope
        while True:
            certified = stretch(here, direction * rise / length, level) / length * (m + 1)
            k += direction * max(1, int(min(certified, m) + 1.0))
            if k < 1 or k > m:
                break
            here, rise = _value_slope(k / (m + 1), length2, one, other, weights)
            if here < level:
                return False
    return True


@njit
def join_segments(edges: Any, parent: Any, contour: Any) -> Any:
    """Join the ends of every edge (e, 2) whose segment is inside, in the order of the edges; number of tests.

    Parameters
    ----------
    edges : ndarray of shape (e, 2)
    parent : ndarray of shape (u,)
        Disjoint sets; edges whose ends are joined already are skipped.
    contour : DistanceContour
    """
    gamma, D, E, weights, level, m = contour
    tested = 0
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        if find(parent, i) != find(parent, j):
            tested += 1
            if _inside(gamma * D[i, j], E[i], E[j], weights, level, m):
                join(parent, i, j)
    return tested


@njit
def spanning_tree(D: Any, rows: Any) -> Any:
    """Minimum spanning tree of the points `rows` (r,), edges (r - 1, 2); Prim's algorithm, O(r²)."""
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
def bounded_pairs(bounds: Any, rows: Any, long: Any, pairs: Any) -> Any:
    """Pairs i > j that the bounds do not reject, written to `pairs` until it is full.

    Parameters
    ----------
    bounds : SegmentBounds
    rows : ndarray
        Points whose pairs are considered, ascending.
    long : float
        Squared distance above which a pair counts as long.
    pairs : ndarray of shape (most, 2)

    Returns
    -------
    count, long_count : int
        Number of such pairs, including those for which `pairs` has no room, and number of long ones among them.
    """
    component, least, limit, D = bounds
    count = long_count = 0
    for a in range(len(rows)):
        i = rows[a]
        for b in range(a):
            j = rows[b]
            if component[i] != component[j] and least[i, j] <= limit:
                if count < len(pairs):
                    pairs[count, 0], pairs[count, 1] = i, j
                count += 1
                long_count += D[i, j] > long
    return count, long_count


@njit
def undecided_pairs(sums: Any, rows: Any, columns: Any, bounds: Any, reach: Any, low: Any, largest: Any) -> Any:
    """Pairs that neither the bounds nor the sum at one point of their segment rejects, (e, 2).

    Parameters
    ----------
    sums : ndarray of shape (a, b)
        Kernel sums on the segments from points `rows` (a,) to points `columns` (b,), without the factor
        ``exp(reach D_ij)``.
    rows, columns : ndarray of int
    bounds : SegmentBounds
    reach : float
    low : float
        Sums below it reject.
    largest : float
        Largest exponent of the factor: a larger one would multiply what was rounded to 0, and does not reject.
    """
    component, least, limit, D = bounds
    pairs = np.empty((256, 2), dtype=np.int64)
    count = 0
    for a in range(len(rows)):
        i = rows[a]
        for b in range(len(columns)):
            j = columns[b]
            if component[i] == component[j] or least[max(i, j), min(i, j)] > limit:
                continue
            exponent = reach * D[i, j]
            if exponent <= largest and sums[a, b] * math.exp(exponent) < low:
                continue
            if count == len(pairs):
                pairs = np.concatenate((pairs, np.empty_like(pairs)))
            pairs[count, 0], pairs[count, 1] = max(i, j), min(i, j)
            count += 1
    return pairs[:count]
