"""Bounds on a Gaussian kernel sum over a ball, from one kernel sum at its centre.

Scaled coordinates as in `_segments_jit`. For a ball of radius r around y and D_s = |x_s - y|:

    g <= g(y) + |∇g(y)| r + r²/2 Σ β_s sup φ,    φ(x) = (4 x² - 2) e^{-x²} over max(0, D_s - r) <= x <= D_s + r,
    g <= Σ β_s exp(-max(0, D_s - r)²).

The first bound is the smaller one for balls that are small in units of the kernel's width, the second one for large
balls. The expansion to third order is for small balls that contain sample points of many segments.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices
from clusterkit.numerics.exponential_jit import fast_exp
from clusterkit.numerics.gaussian_jit import FAST
from clusterkit.numerics.near_jit import SIZE, block_terms, near_blocks

__all__ = [
    "BallWorkspace",
    "ball_workspace",
    "expansion",
    "is_inside",
    "is_outside",
    "largest_eigenvalue",
    "third_derivative",
    "value_terms",
]

SQRT_3_2, SQRT_1_2 = math.sqrt(1.5), math.sqrt(0.5)
"""Where φ(x) = (4 x² - 2) e^{-x²} has its maximum for x > 0, and where it changes its sign."""
SMALL_BALL = 0.7
"""Radius, in units of the kernel's width, below which the bound from the second derivative is usually the smaller one.

Both bounds are tried, so the value affects the speed only.
"""


class BallWorkspace(NamedTuple):
    """Work space of the functions of this module; made by `ball_workspace`.

    Parameters
    ----------
    near : ndarray of shape (b,) of int
        Blocks of centres near the ball.
    squares, terms : ndarray of shape (b, SIZE)
        Squared distances and summands of these blocks.
    gradient : ndarray of shape (d,)
    hessian : ndarray of shape (d, d)
    row : ndarray of shape (SIZE,)
    """

    near: Indices
    squares: Array
    terms: Array
    gradient: Array
    hessian: Array
    row: Array


@njit
def ball_workspace(d: Any, arrays: Any) -> Any:
    """Work space for balls in d coordinates and the kernel sum with the arrays of a `Blocks`."""
    b = len(arrays[3])
    near = np.empty(b, dtype=np.int64)
    return BallWorkspace(near, np.empty((b, SIZE)), np.empty((b, SIZE)), np.empty(d), np.empty((d, d)), np.empty(SIZE))


@njit
def value_terms(y: Any, r: Any, arrays: Any, work: Any) -> Any:
    """g at y and the number of blocks near the ball; their distances and summands stay in the work space."""
    near, squares, terms = work.near, work.squares, work.terms
    blocks, total = near_blocks(y, r, arrays, near), 0.0
    for n in range(blocks):
        total += block_terms(y, near[n], arrays, squares[n], terms[n])
    return total, blocks


@njit(fastmath=FAST)
def _steepness(y: Any, blocks: Any, arrays: Any, work: Any) -> Any:
    """|∇g| at y; the gradient stays in the work space."""
    near, terms, gradient = work.near, work.terms, work.gradient
    size = terms.shape[1]
    total = 0.0
    for c in range(len(y)):
        at, component = y[c], 0.0
        for n in range(blocks):
            x, t, part = arrays[0][near[n], c], terms[n], 0.0
            for s in range(size):
                part += t[s] * (x[s] - at)
            component += part
        gradient[c] = 2.0 * component
        total += gradient[c] * gradient[c]
    return math.sqrt(total)


@njit(fastmath=FAST)
def _curvature(r: Any, blocks: Any, arrays: Any, work: Any) -> Any:
    """Upper bound on the second derivative of g in the ball, in any direction."""
    near, squares = work.near, work.squares
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
def _nearest_possible(r: Any, blocks: Any, arrays: Any, work: Any) -> Any:
    """Bound on g in the ball: the sum with each centre at its smallest distance to a point of the ball."""
    near, squares = work.near, work.squares
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
def is_outside(y: Any, r: Any, value: Any, blocks: Any, low: Any, arrays: Any, work: Any) -> Any:
    """Whether g < low is certain in the whole ball; call `value_terms` first, and only if its value is < low."""
    taylor = r < SMALL_BALL
    for _ in range(2):
        if taylor:
            steep = _steepness(y, blocks, arrays, work)
            bound = value + r * (steep + 0.5 * r * _curvature(r, blocks, arrays, work))
        else:
            bound = _nearest_possible(r, blocks, arrays, work)
        if bound < low:
            return True
        taylor = not taylor
    return False


@njit
def is_inside(y: Any, r: Any, value: Any, blocks: Any, high: Any, arrays: Any, work: Any) -> Any:
    """Whether g >= high is certain in the whole ball, by Sturm's comparison.

    Call `value_terms` first, and only if its value is >= high.
    """
    steep = _steepness(y, blocks, arrays, work) / math.sqrt(2.0)
    reach = math.acos(high / math.sqrt(value * value + steep * steep)) - math.atan2(steep, value)
    return reach > math.sqrt(2.0) * r * (1.0 + 1e-9)


@njit(fastmath=FAST)
def expansion(y: Any, value: Any, blocks: Any, arrays: Any, work: Any) -> Any:
    """|∇g| at y; the gradient and the matrix of second derivatives stay in the work space. O(s d²)."""
    near, terms, hessian, row = work.near, work.terms, work.hessian, work.row
    size = len(row)
    for a in range(len(y)):
        for b in range(a + 1):
            hessian[a, b] = 0.0
    for n in range(blocks):
        block, t = arrays[0][near[n]], terms[n]
        for a in range(len(y)):
            x, at = block[a], y[a]
            for s in range(size):
                row[s] = t[s] * (x[s] - at)
            for b in range(a + 1):
                x, at, part = block[b], y[b], 0.0
                for s in range(size):
                    part += row[s] * (x[s] - at)
                hessian[a, b] += 4.0 * part
    for a in range(len(y)):
        hessian[a, a] -= 2.0 * value
        for b in range(a):
            hessian[b, a] = hessian[a, b]
    return _steepness(y, blocks, arrays, work)


@njit(fastmath=FAST)
def third_derivative(r: Any, blocks: Any, arrays: Any, work: Any) -> Any:
    """Upper bound on the third derivative of g in the ball, in any direction.

    A centre at distance x contributes at most ``e^{-x²} max |12 p - 8 p³|`` over 0 <= p <= x, which has its peaks
    3.905 at x = 0.524 and 1.0604 at x = 1.651; its smallest decreasing majorant is used.
    """
    near, squares = work.near, work.squares
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
    """Upper bound of the largest eigenvalue from trace and Frobenius norm (Wolkowicz, Styan 1980); not below 0."""
    d = len(hessian)
    trace, squares = 0.0, 0.0
    for a in range(d):
        trace += hessian[a, a]
        for b in range(d):
            squares += hessian[a, b] * hessian[a, b]
    mean = trace / d
    return max(0.0, mean + math.sqrt(max(squares / d - mean * mean, 0.0) * (d - 1)))
