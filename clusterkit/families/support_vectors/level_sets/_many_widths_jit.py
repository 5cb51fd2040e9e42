"""Compiled loops of `many_widths`: candidate edges and their tests.

Candidate edges (`join_candidates`) are tested by few terms in single precision, in a domain whose centres are among the
points. All distances are computed once, as squares in float32, with the `many_widths.NEAR` nearest points of each,
ascending. On the segment from x_i to x_j, ``|x(λ) - x_s|² = (1-λ) d_is + λ d_js - λ(1-λ) d_ij``, so a kernel value
takes one exponential whatever the number of attributes.

**Which centres matter.** Every point of the segment lies within ``|x_i - x_j| / 2`` of an end. A centre farther than
``far + |x_i - x_j| / 2`` from both ends is farther than `far` from all of it, and as the weights sum to 1, all such
centres together add at most ``exp(-γ far²)``, which `far` makes `LEFT_OUT` of the level. Where the lists of both ends
reach that far, their union replaces all centres.

The plain version in numpy is ``clusterkit_campaign/oracles/domains.py``.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices
from clusterkit.families.support_vectors.level_sets._segments_jit import stretch
from clusterkit.numerics.gaussian_jit import FAST, fast_exp
from clusterkit.numerics.structures_jit import find, join

LEFT_OUT = 1e-4
"""Bound of the terms left out of a sum, relative to the level: a segment this near the level may be decided wrongly."""
CLOSE = 3e-5
"""Sums in single precision this near the level, relative to it, are computed again in double precision: their rounding,
which differs between processors, must not decide."""
FEW = 256
"""Centres up to which all are summed: to pick those that matter would take as long."""
FOREIGN = 3
"""Components of other points that are tried from each point."""

ONE, TWO = np.float32(1.0), np.float32(2.0)
"""Constants of the loops in single precision, which a number without a type would turn into double precision."""


class Lists(NamedTuple):
    """Distances of the points, and the nearest others of each.

    Parameters
    ----------
    D : ndarray of shape (u, u), float32
        Squared distances.
    near : ndarray of shape (u, k)
        The k nearest other points of each, the nearest first.
    reach : ndarray of shape (u,)
        Distance to the last of them; inf if the list has all others.
    """

    D: Array
    near: Indices
    reach: Array


class RunArrays(NamedTuple):
    """A domain: ``Σ_s w_s exp(-gamma |x - x_s|²) >= level``, weights with sum 1.

    Parameters
    ----------
    gamma : float
    level : float
    n_segment_points : int
        Points tested on a segment.
    weights : ndarray of shape (u,), float32
        Weight of each point, mostly 0.
    centres : ndarray of shape (s,)
        The points with a weight.
    E : ndarray of shape (u, s), float32
        ``gamma`` times the squared distances of the points to the centres.
    shares : ndarray of shape (s,), float32
        Weights of the centres.
    far : float
        Distance beyond which all centres together are at most `LEFT_OUT` times the level.
    """

    gamma: float
    level: float
    n_segment_points: int
    weights: Array
    centres: Indices
    E: Array
    shares: Array
    far: float


@njit(fastmath=FAST)
def _edge_value_slope(position: Any, length2: Any, one: Any, other: Any, shares: Any) -> Any:
    """g at a position of a segment and its derivative with respect to the position, in single precision.

    `one` and `other` (t,) are the scaled squared distances of the ends to the centres, `length2` that of the ends.
    """
    rest = ONE - position
    shift, slope_shift = position * rest * length2, (ONE - TWO * position) * length2
    value, slope = np.float32(0.0), np.float32(0.0)
    for t in range(len(shares)):
        near, far = one[t], other[t]
        term = shares[t] * fast_exp(-max(rest * near + position * far - shift, np.float32(0.0)))
        value += term
        slope += term * (near - far + slope_shift)
    return value, slope


@njit(fastmath=FAST)
def _value(position: Any, length2: Any, one: Any, other: Any, shares: Any) -> Any:
    """g at a position of a segment, in double precision."""
    rest, total = 1.0 - position, 0.0
    shift = position * rest * length2
    for t in range(len(shares)):
        total += np.float64(shares[t]) * fast_exp(-max(rest * one[t] + position * other[t] - shift, 0.0))
    return total


@njit
def _gather(i: Any, j: Any, lists: Any, run: Any, stamp: Any, mark: Any, work: Any) -> Any:
    """Write scaled distances of both ends to the centres that matter, and their weights, to `work`.

    Returns the number of these centres, or -1 if the lists of near centres do not reach far enough.
    """
    D, near, reach = lists
    weights, gamma = run.weights, np.float32(run.gamma)
    one, other, shares = work
    radius = run.far + 0.5 * math.sqrt(D[i, j])
    if len(run.centres) <= FEW or radius > reach[i] or radius > reach[j]:
        return -1
    count, limit = 0, np.float32(radius * radius)
    for end in (i, j):
        if weights[end] > 0 and stamp[end] != mark:
            stamp[end] = mark
            one[count], other[count], shares[count] = gamma * D[i, end], gamma * D[j, end], weights[end]
            count += 1
        for s in near[end]:
            if D[end, s] > limit:
                break
            if weights[s] > 0 and stamp[s] != mark:
                stamp[s] = mark
                one[count], other[count], shares[count] = gamma * D[i, s], gamma * D[j, s], weights[s]
                count += 1
    return count


@njit
def _edge_inside(length2: Any, one: Any, other: Any, shares: Any, level: Any, m: Any, tested: Any) -> Any:
    """Whether the sample points of a segment are inside; those on certified stretches are not evaluated."""
    length = math.sqrt(length2)
    middle = (m + 1) // 2
    low, high = level * (1.0 - CLOSE), level * (1.0 + CLOSE)
    first_value, first_slope = 0.0, 0.0
    for direction in (0, 1, -1):
        k, here, rise = middle, first_value, first_slope
        while True:
            if direction != 0:
                certified = stretch(here, direction * rise / length, high) / length * (m + 1)
                k += direction * max(1, int(min(certified, m) + 1.0))
                if k < 1 or k > m:
                    break
            position = k / (m + 1)
            here, rise = _edge_value_slope(np.float32(position), length2, one, other, shares)
            tested[0] += 1
            if here < high and (here < low or _value(position, length2, one, other, shares) < level):
                return False
            if direction == 0:
                first_value, first_slope = here, rise
                break
    return True


@njit
def join_candidates(edges: Any, parent: Any, is_inside: Any, lists: Any, run: Any) -> Any:
    """Join the ends of edges (e, 2) whose segments are inside, in their order; number of terms that were summed.

    Parameters
    ----------
    edges : ndarray of shape (e, 2)
    parent : ndarray of shape (u,)
        Disjoint sets; edges whose ends are joined already are skipped, as are those with an end outside.
    is_inside : ndarray of shape (u,)
    lists : Lists
    run : RunArrays
    """
    u = len(parent)
    one, other, shares = np.empty(u, np.float32), np.empty(u, np.float32), np.empty(u, np.float32)
    stamp, tested = np.full(u, -1), np.zeros(1, np.int64)
    terms = 0
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        if not (is_inside[i] and is_inside[j]) or find(parent, i) == find(parent, j):
            continue
        length2 = np.float32(run.gamma) * lists.D[i, j]
        if length2 <= 0.0:  # too near to be told apart in single precision
            join(parent, i, j)
            continue
        count = _gather(i, j, lists, run, stamp, e, (one, other, shares))
        tested[0] = 0
        if count < 0:
            count = len(run.centres)
            stays = _edge_inside(length2, run.E[i], run.E[j], run.shares, run.level, run.n_segment_points, tested)
        else:
            terms_of_one, terms_of_other = one[:count], other[:count]
            stays = _edge_inside(
                length2, terms_of_one, terms_of_other, shares[:count], run.level, run.n_segment_points, tested
            )
        if stays:
            join(parent, i, j)
        terms += count * tested[0]
    return terms


@njit
def scaled_distances(D: Any, centres: Any, gamma: Any, E: Any) -> None:
    """Write ``gamma`` times the columns `centres` (s,) of D (u, u) to E (u, s)."""
    for i in range(len(E)):
        row, out = D[i], E[i]
        for t in range(len(centres)):
            out[t] = gamma * row[centres[t]]


@njit(fastmath=FAST)
def _edge_sum(distances: Any, shares: Any) -> Any:
    """The kernel sum of a point with scaled squared distances (s,) to the centres, in single precision."""
    total = np.float32(0.0)
    for t in range(len(shares)):
        total += shares[t] * fast_exp(-distances[t])
    return total


@njit(fastmath=FAST)
def _exact_sum(gamma: Any, i: Any, points: Any, centres: Any, weights: Any) -> Any:
    """The kernel sum at point i in double precision, from the coordinates."""
    total = 0.0
    for t in range(len(centres)):
        square = 0.0
        for c in range(points.shape[1]):
            difference = points[i, c] - points[centres[t], c]
            square += difference * difference
        total += weights[t] * fast_exp(-gamma * square)
    return total


@njit
def inside_rows(points: Any, weights: Any, lists: Any, run: Any, values: Any, is_inside: Any) -> Any:
    """Write the kernel sum at every point to `values` (u,), and whether it is inside; number of terms.

    Sums within `LEFT_OUT` of the level are computed from `points` (u, d) and `weights` (s,) in double precision.
    """
    D, near, reach = lists
    terms = 0
    picked = np.empty(len(run.weights), np.int64)
    number = np.empty(len(run.weights), np.int64)
    for t in range(len(run.centres)):
        number[run.centres[t]] = t
    exactly = math.sqrt(run.far * run.far + math.log(1e8) / run.gamma)
    wider = np.float32(exactly * exactly)
    exact_weights = np.empty(len(weights))
    for i in range(len(values)):
        values[i] = _edge_sum(run.E[i], run.shares)
        terms += len(run.shares)
        is_inside[i] = values[i] >= run.level
        if abs(values[i] - run.level) > 2.0 * LEFT_OUT * run.level:
            continue
        if exactly <= reach[i]:
            count = 0
            if run.weights[i] > 0:
                picked[count], exact_weights[count] = i, weights[number[i]]
                count += 1
            for s in near[i]:
                if D[i, s] > wider:
                    break
                if run.weights[s] > 0:
                    picked[count], exact_weights[count] = s, weights[number[s]]
                    count += 1
            exact = _exact_sum(run.gamma, i, points, picked[:count], exact_weights)
        else:
            count = len(run.centres)
            exact = _exact_sum(run.gamma, i, points, run.centres, weights)
        terms += count
        values[i] = exact
        is_inside[i] = exact >= run.level
    return terms


@njit
def foreign_edges(component: Any, is_inside: Any, near: Any, edges: Any) -> Any:
    """Write edges from every point inside to the nearest point of up to `FOREIGN` other components; their number.

    Parameters
    ----------
    component : ndarray of shape (u,)
    is_inside : ndarray of shape (u,)
    near : ndarray of shape (u, k)
        The points that are looked at, the nearest first.
    edges : ndarray of shape (FOREIGN u, 2)
    """
    count = 0
    others = np.empty(FOREIGN, np.int64)
    for i in range(len(component)):
        if not is_inside[i]:
            continue
        n_others = 0
        for j in near[i]:
            if not is_inside[j] or component[j] == component[i]:
                continue
            is_new = True
            for t in range(n_others):
                is_new = is_new and others[t] != component[j]
            if is_new:
                others[n_others] = component[j]
                n_others += 1
                edges[count, 0], edges[count, 1] = i, j
                count += 1
                if n_others == FOREIGN:
                    break
    return count


@njit
def nearest_of_groups(D: Any, rows: Any, group: Any, nearest: Any, start: Any, stop: Any) -> Any:
    """Write to `nearest` (r, c) which of the points `rows` (r,) in each group is nearest to each of them.

    `group` (r,) numbers the group 0..c-1 of each of these points; the nearest of the own group is -1. Only the rows
    `start` to `stop` are written.
    """
    least = np.empty(nearest.shape[1], np.float32)
    for a in range(start, stop):
        least[:] = np.inf
        nearest[a] = -1
        for b in range(len(rows)):
            c = group[b]
            if D[rows[a], rows[b]] < least[c]:
                least[c] = D[rows[a], rows[b]]
                nearest[a, c] = rows[b]
        nearest[a, group[a]] = -1
