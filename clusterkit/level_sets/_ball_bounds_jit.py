"""Bounds on a Gaussian domain's value over a ball, from one kernel sum at its centre.

Scaled coordinates as in `_lines_jit`. For a ball of radius r around y and D_s = |x_s - y|:

    g <= g(y) + |∇g(y)| r + r²/2 Σ β_s sup φ,    φ(x) = (4 x² - 2) e^{-x²} over max(0, D_s - r) <= x <= D_s + r,
    g <= Σ β_s exp(-max(0, D_s - r)²).

The first wins where the ball is small in units of the kernel's width, the second where it is large. The expansion
to third order serves small balls that hold the samples of many lines.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clusterkit._jit import njit
from clusterkit.numerics.exponential_jit import fast_exp
from clusterkit.numerics.gaussian_jit import FAST
from clusterkit.numerics.near_jit import SIZE, block_terms, near_blocks

__all__ = ["ball_space", "expansion", "is_alive", "is_dead", "largest_eigenvalue", "third_derivative", "value_terms"]

SQRT_3_2, SQRT_1_2 = math.sqrt(1.5), math.sqrt(0.5)


@njit
def ball_space(d: Any, arrays: Any) -> Any:
    """Work space: near blocks, squared distances and summands by block, gradient, Hessian, a row of numbers."""
    b = len(arrays[3])
    near = np.empty(b, dtype=np.int64)
    return near, np.empty((b, SIZE)), np.empty((b, SIZE)), np.empty(d), np.empty((d, d)), np.empty(SIZE)


@njit
def value_terms(y: Any, r: Any, arrays: Any, space: Any) -> Any:
    """g at y and the number of blocks near the ball; their distances and summands stay in the work space."""
    near, squares, terms = space[0], space[1], space[2]
    blocks, total = near_blocks(y, r, arrays, near), 0.0
    for n in range(blocks):
        total += block_terms(y, near[n], arrays, squares[n], terms[n])
    return total, blocks


@njit(fastmath=FAST)
def _steepness(y: Any, blocks: Any, arrays: Any, space: Any) -> Any:
    """|∇g| at y; the gradient stays in the work space."""
    near, terms, gradient = space[0], space[2], space[3]
    size = terms.shape[1]
    total = 0.0
    for c in range(len(y)):
        at, whole = y[c], 0.0
        for n in range(blocks):
            x, t, part = arrays[0][near[n], c], terms[n], 0.0
            for s in range(size):
                part += t[s] * (x[s] - at)
            whole += part
        gradient[c] = 2.0 * whole
        total += gradient[c] * gradient[c]
    return math.sqrt(total)


@njit(fastmath=FAST)
def _curvature(r: Any, blocks: Any, arrays: Any, space: Any) -> Any:
    """Bound on the second derivative of g in the ball, in any direction."""
    near, squares = space[0], space[1]
    size = squares.shape[1]
    total = 0.0
    for n in range(blocks):
        w, q, part = arrays[1][near[n]], squares[n], 0.0
        for s in range(size):
            distance = math.sqrt(q[s])
            x = min(max(SQRT_3_2, distance - r), distance + r)
            x *= x
            part += w[s] * max(4.0 * x - 2.0, 0.0) * fast_exp(-x)
        total += part
    return total


@njit(fastmath=FAST)
def _nearest_possible(r: Any, blocks: Any, arrays: Any, space: Any) -> Any:
    """g if every centre were as near to a point of the ball as it can be."""
    near, squares = space[0], space[1]
    size = squares.shape[1]
    total = 0.0
    for n in range(blocks):
        w, q, part = arrays[1][near[n]], squares[n], 0.0
        for s in range(size):
            x = max(math.sqrt(q[s]) - r, 0.0)
            part += w[s] * fast_exp(-x * x)
        total += part
    return total


@njit
def is_dead(y: Any, r: Any, value: Any, blocks: Any, low: Any, arrays: Any, space: Any) -> Any:
    """Whether g < low in the whole ball, after `value_terms` with value < low."""
    taylor = r < 0.7
    for _ in range(2):
        if taylor:
            steep = _steepness(y, blocks, arrays, space)
            bound = value + r * (steep + 0.5 * r * _curvature(r, blocks, arrays, space))
        else:
            bound = _nearest_possible(r, blocks, arrays, space)
        if bound < low:
            return True
        taylor = not taylor
    return False


@njit
def is_alive(y: Any, r: Any, value: Any, blocks: Any, high: Any, arrays: Any, space: Any) -> Any:
    """Whether g >= high in the whole ball, after `value_terms` with value >= high: Sturm's comparison."""
    steep = _steepness(y, blocks, arrays, space) / math.sqrt(2.0)
    reach = math.acos(high / math.sqrt(value * value + steep * steep)) - math.atan2(steep, value)
    return reach > math.sqrt(2.0) * r * (1.0 + 1e-9)


@njit(fastmath=FAST)
def expansion(y: Any, value: Any, blocks: Any, arrays: Any, space: Any) -> Any:
    """|∇g| at y; gradient and matrix of second derivatives stay in the work space. O(s d²)."""
    near, terms, hessian, scratch = space[0], space[2], space[4], space[5]
    size = len(scratch)
    for a in range(len(y)):
        for b in range(a + 1):
            hessian[a, b] = 0.0
    for n in range(blocks):
        block, t = arrays[0][near[n]], terms[n]
        for a in range(len(y)):
            x, at = block[a], y[a]
            for s in range(size):
                scratch[s] = t[s] * (x[s] - at)
            for b in range(a + 1):
                x, at, part = block[b], y[b], 0.0
                for s in range(size):
                    part += scratch[s] * (x[s] - at)
                hessian[a, b] += 4.0 * part
    for a in range(len(y)):
        hessian[a, a] -= 2.0 * value
        for b in range(a):
            hessian[b, a] = hessian[a, b]
    return _steepness(y, blocks, arrays, space)


@njit(fastmath=FAST)
def third_derivative(r: Any, blocks: Any, arrays: Any, space: Any) -> Any:
    """Bound on the third derivative of g in the ball, in any direction.

    A centre at distance x contributes at most ``e^{-x²} max |12 p - 8 p³|`` over 0 <= p <= x, which has its peaks
    3.905 at x = 0.524 and 1.0604 at x = 1.651; used is its least decreasing majorant.
    """
    near, squares = space[0], space[1]
    size = squares.shape[1]
    total = 0.0
    for n in range(blocks):
        w, q, part = arrays[1][near[n]], squares[n], 0.0
        for s in range(size):
            x = max(math.sqrt(q[s]) - r, 0.0)
            inner, outer = 12.0 * x - 8.0 * x * x * x, 8.0 * x * x * x - 12.0 * x
            most = inner if x < SQRT_1_2 else max(5.6569, outer)
            bound = most * fast_exp(-x * x)
            bound = max(bound, 1.0604) if x < 1.652 else bound
            part += w[s] * (3.905 if x < 0.5245 else bound)
        total += part
    return total


@njit
def largest_eigenvalue(hessian: Any) -> Any:
    """Upper bound from trace and Frobenius norm (Wolkowicz, Styan 1980); not below 0."""
    d = len(hessian)
    trace, squares = 0.0, 0.0
    for a in range(d):
        trace += hessian[a, a]
        for b in range(d):
            squares += hessian[a, b] * hessian[a, b]
    mean = trace / d
    return max(0.0, mean + math.sqrt(max(squares / d - mean * mean, 0.0) * (d - 1)))
