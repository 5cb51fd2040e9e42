"""Straight lines in a Gaussian domain, tested with as few kernel sums as exactness allows.

Everything here is in scaled coordinates, where the kernel is ``exp(-|x - y|²)``, with weights >= 0 that sum to 1.
Then along any line ``h(t) = g(y + t u)`` has ``h'' = Σ β_s K_s (4 (d_s·u)² - 2) >= -2 h``, so by Sturm's comparison

    h(t) >= h(0) cos(√2 t) + h'(0)/√2 sin(√2 t)      until the right side meets 0,

and one value with its slope certifies a stretch of the line (`stretch`). What is certified needs no further sample;
what is not is decided by the samples themselves, so the answers are those of the plain test.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clusterkit._jit import njit
from clusterkit.numerics.disjoint_jit import find, join
from clusterkit.numerics.gaussian_jit import FAST
from clusterkit.numerics.near_jit import SIZE, block_terms, near_blocks, near_sum

__all__ = ["connected", "first_outside", "join_edges", "line_space", "stretch"]

SQRT2 = math.sqrt(2.0)
# certified lengths are used up to rounding
SHORTER = 1.0 - 1e-9


@njit
def stretch(value: Any, slope: Any, level: Any) -> Any:
    """How far a line surely stays at or above `level` from a point with this value and slope."""
    if value < level:
        return 0.0
    s = slope / SQRT2
    angle = math.atan2(s, value) + math.acos(min(1.0, level / math.sqrt(value * value + s * s)))
    return max(0.0, SHORTER * angle / SQRT2)


@njit(fastmath=FAST)
def _value_slope(y: Any, u: Any, arrays: Any, near: Any, squares: Any, terms: Any) -> Any:
    """g at y and its derivative along the unit vector u."""
    value, derivative, size = 0.0, 0.0, len(terms)
    for n in range(near_blocks(y, 0.0, arrays, near)):
        value += block_terms(y, near[n], arrays, squares, terms)
        block = arrays[0][near[n]]
        for s in range(size):
            squares[s] = 0.0
        for c in range(len(y)):
            x, at, share = block[c], y[c], u[c]
            for s in range(size):
                squares[s] += share * (x[s] - at)
        part = 0.0
        for s in range(size):
            part += terms[s] * squares[s]
        derivative += part
    return value, 2.0 * derivative


@njit
def line_space(d: Any, m: Any, arrays: Any) -> Any:
    """Work space of `first_outside`."""
    vectors, stack = np.empty((2, d)), np.empty((m + 2, 2), dtype=np.int64)
    near = np.empty(len(arrays[3]), dtype=np.int64)
    return vectors, stack, near, np.empty(SIZE), np.empty(SIZE)


@njit
def first_outside(i: Any, j: Any, samples: Any, domain: Any, space: Any, count: Any) -> Any:
    """0 if the m samples between points i and j are inside the domain, else the number of one that is not.

    Parameters
    ----------
    i, j : int
        Samples are numbered 1..m and run from the smaller index to the larger: their coordinates round alike
        whoever asks.
    samples : tuple of ndarray
        Points (u, d), values (u,), gradients (u, d).
    domain : tuple
        m, level, arrays of the `Blocks`.
    space : tuple
        From `line_space`.
    count : ndarray of shape (1,)
        Kernel sums, added up.
    """
    if i > j:
        i, j = j, i
    points, values, gradients = samples
    m, level, arrays = domain
    vectors, stack, near, squares, terms = space
    u, y = vectors[0], vectors[1]
    length = 0.0
    for c in range(len(u)):
        u[c] = points[j, c] - points[i, c]
        length += u[c] * u[c]
    length = math.sqrt(length)
    if length == 0.0:
        return 0
    rate, back = 0.0, 0.0
    for c in range(len(u)):
        u[c] /= length
        rate += gradients[i, c] * u[c]
        back -= gradients[j, c] * u[c]
    # 1e-9 above the level: what rounding could decide otherwise is left to the samples
    high = level * (1.0 + 1e-9)
    step = length / (m + 1)
    first = 1 + int(min(float(m), stretch(values[i], rate, high) / step))
    last = m - int(min(float(m), stretch(values[j], back, high) / step))
    if first > last:
        return 0
    stack[0, 0], stack[0, 1], top = first, last, 1
    while top > 0:
        top -= 1
        first, last = stack[top, 0], stack[top, 1]
        k = (first + last) // 2
        position = k / (m + 1)
        for c in range(len(u)):
            y[c] = points[i, c] + position * (points[j, c] - points[i, c])
        value, rate = _value_slope(y, u, arrays, near, squares, terms)
        count[0] += 1
        before, after = 0, 0
        if value >= high:
            before = int(min(float(m), stretch(value, -rate, high) / step))
            after = int(min(float(m), stretch(value, rate, high) / step))
        elif value < level * (1.0 - 1e-9) or near_sum(y, arrays, squares) < level:
            return k
        # the longer rest on top: it is the one more likely to leave the domain
        left, right = (first, k - 1 - before), (k + 1 + after, last)
        if left[1] - left[0] > right[1] - right[0]:
            left, right = right, left
        for part in (left, right):
            if part[0] <= part[1]:
                stack[top, 0], stack[top, 1] = part[0], part[1]
                top += 1
    return 0


@njit
def join_edges(edges: Any, start: Any, budget: Any, parent: Any, samples: Any, domain: Any) -> Any:
    """Join the ends of edges whose lines are inside, from edge `start` until `budget` kernel sums: the next edge."""
    space = line_space(samples[0].shape[1], domain[0], domain[2])
    count = np.zeros(1, dtype=np.int64)
    for e in range(start, len(edges)):
        if count[0] >= budget:
            return e
        i, j = edges[e, 0], edges[e, 1]
        if find(parent, i) != find(parent, j) and not first_outside(i, j, samples, domain, space, count):
            join(parent, i, j)
    return len(edges)


@njit
def connected(A: Any, B: Any, start: Any, stop: Any, positions: Any, domain: Any, result: Any) -> Any:
    """Whether the samples at `positions` between A[i] and B[i] are inside, for i in start..stop-1; ends not tested."""
    _, level, arrays = domain
    y, squares = np.empty(A.shape[1]), np.empty(SIZE)
    for i in range(start, stop):
        result[i] = True
        for position in positions:
            for c in range(len(y)):
                y[c] = A[i, c] + position * (B[i, c] - A[i, c])
            if near_sum(y, arrays, squares) < level:
                result[i] = False
                break
