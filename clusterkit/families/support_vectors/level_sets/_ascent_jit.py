"""The ascent to the maxima of a Gaussian kernel sum.

In scaled coordinates: ``g(x) = Σ_s w_s exp(-|x - c_s|²)`` with w_s > 0, centres as columns (d, s). The mean-shift step
goes to the mean of the centres, weighted by their terms of the sum at x,

    P(x) = Σ_s p_s(x) c_s,    p_s(x) = w_s exp(-|x - c_s|²) / g(x).

**It never descends.** As exp is convex, ``g(y) >= Q(y) = Σ_s w_s K_s(x) (1 + |x - c_s|² - |y - c_s|²)`` for all y.
Q is g(x) at x, falls off equally in all directions from its maximum P(x), so ``g >= g(x)`` on the line from x to P(x).

**It may end early** in a ball whose points certainly have the same limit. The steps themselves are not accelerated,
which could change the limit.

Source of the step: Fukunaga, Hostetler (1975), The estimation of the gradient of a density function, IEEE Trans.
Information Theory 21. The plain version in numpy is ``clusterkit_campaign/oracles/domains.py``.

**Bounds of g over a ball**, from one kernel sum at its centre. For a ball of radius r around y and D_s = |c_s - y|:

    g <= g(y) + |∇g(y)| r + r²/2 Σ w_s sup φ,    φ(x) = (4 x² - 2) e^{-x²} over max(0, D_s - r) <= x <= D_s + r,
    g <= Σ w_s exp(-max(0, D_s - r)²).

The first bound is the smaller one for balls that are small in units of the kernel's width, the second one for large
balls. The expansion to third order (`expansion`) is for small balls that contain sample points of many segments.

**Balls whose points ascend to the same limit.** A step changes differences by the matrix ``JP(y) = 2 Cov_p(y)(c)``. For
y = z + δ the weights are ``p_s(z) exp(2 δ·(c_s - m)) / Z`` with m = P(z), and Z >= 1 by Jensen, because
``Σ p_s(z) (c_s - m) = 0``. A covariance is at most the second moment about m; with |δ| = t the matrix is therefore at
most ``2 Σ_s p_s(z) exp(2 t |c_s - m|) (c_s - m)(c_s - m)'``. Integrating t over the line from z to x, |x - z| <= r,
gives

    (1)  |P(x) - P(z)| <= L(z, r) |x - z|,
         L(z, r) = λ_max( 2 Σ_s p_s(z) φ(2 r |c_s - m|) (c_s - m)(c_s - m)' ),    φ(a) = (exp(a) - 1) / a.

So balls B(e, r) can be certified around an equilibrium e known up to ε = |P(e) - e|: if ``L(e, r) r + ε < r``, orbits
stay in the ball and end within ``ε' = ε / (1 - L(e, r))`` of e. If also exp instead of φ and the radius 2ε' give a
factor < 1, the step contracts there, and all of them have one limit.

So an ascent that enters a ball can end there: its limit is known.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts, Indices
from clusterkit.numerics.gaussian_jit import (
    CENTRES,
    FAST,
    SIZE,
    block_terms,
    distances_to,
    fast_exp,
    near_blocks,
    product,
)

NO_BALL, UNFINISHED = -1, -2
"""Ends of an ascent other than a ball: a step of at most the tolerance, or the largest number of steps."""

UNDERFLOW = 1e-200
"""Kernel sums below this are computed again relative to their largest term."""


class SumArrays(NamedTuple):
    """A Gaussian kernel sum in scaled coordinates.

    Parameters
    ----------
    columns : ndarray of shape (d, s)
        Centres.
    weights : ndarray of shape (s,)
        All > 0.
    """

    columns: Array
    weights: Array


class BallArrays(NamedTuple):
    """Certified balls: centres as columns (d, J) and radii (J,)."""

    columns: Array
    radii: Array


class Ascents(NamedTuple):
    """The arrays that `climb` writes.

    Parameters
    ----------
    ends : ndarray of shape (p, d)
    steps : ndarray of shape (p,)
        Number of steps.
    end_balls : ndarray of shape (p,)
        The ball that the ascent ended in, or `NO_BALL` or `UNFINISHED`.
    """

    ends: Array
    steps: Counts
    end_balls: Indices


@njit(fastmath=FAST)
def step(x: Any, columns: Any, weights: Any, work: Any, mean: Any) -> Any:
    """Write P(x) to `mean` (d,) and return g(x); `work` (CENTRES,) is work space."""
    d = len(x)
    total = 0.0
    for c in range(d):
        mean[c] = 0.0
    for first in range(0, len(weights), CENTRES):
        size = min(CENTRES, len(weights) - first)
        distances_to(x, columns, first, size, work)
        w = weights[first : first + size]
        part = 0.0
        for s in range(size):
            value = w[s] * fast_exp(-work[s])
            work[s] = value
            part += value
        total += part
        _add_moments(columns, first, size, work, mean)
    if total < UNDERFLOW:
        return _far_step(x, columns, weights, mean)
    for c in range(d):
        mean[c] /= total
    return total


@njit(fastmath=FAST)
def _add_moments(columns: Any, first: Any, size: Any, work: Any, mean: Any) -> Any:
    """Add ``Σ_s work_s c_s`` to `mean`; three attributes in one pass over the values."""
    d = len(mean)
    rest = d % 3
    for c in range(0, d - rest, 3):
        x0 = columns[c, first : first + size]
        x1 = columns[c + 1, first : first + size]
        x2 = columns[c + 2, first : first + size]
        a0, a1, a2 = 0.0, 0.0, 0.0
        for s in range(size):
            value = work[s]
            a0 += value * x0[s]
            a1 += value * x1[s]
            a2 += value * x2[s]
        mean[c] += a0
        mean[c + 1] += a1
        mean[c + 2] += a2
    for c in range(d - rest, d):
        x0 = columns[c, first : first + size]
        a0 = 0.0
        for s in range(size):
            a0 += work[s] * x0[s]
        mean[c] += a0


@njit
def _far_step(x: Any, columns: Any, weights: Any, mean: Any) -> Any:
    """The step computed relative to the largest term, so that no quotient of two sums that underflow occurs."""
    shares = np.empty(len(weights))
    largest = centre_shares(x, columns, weights, shares)
    for c in range(len(x)):
        total = 0.0
        for s in range(len(weights)):
            total += shares[s] * columns[c, s]
        mean[c] = total
    return math.exp(largest)


@njit
def centre_shares(x: Any, columns: Any, weights: Any, shares: Any) -> Any:
    """Write p_s(x) to `shares` (s,) and return log g(x)."""
    largest = -np.inf
    for s in range(len(weights)):
        distance = 0.0
        for c in range(len(x)):
            difference = x[c] - columns[c, s]
            distance += difference * difference
        shares[s] = math.log(weights[s]) - distance
        largest = max(largest, shares[s])
    total = 0.0
    for s in range(len(weights)):
        # if all squared distances overflow, all terms are equal
        shares[s] = math.exp(shares[s] - largest) if largest > -np.inf else 1.0
        total += shares[s]
    for s in range(len(weights)):
        shares[s] /= total
    return largest + math.log(total)


@njit
def climb(
    starts: Any, first: Any, last: Any, kernel_sum: Any, tol: Any, max_iter: Any, balls: Any, ascents: Any
) -> Any:
    """Ascend from rows first..last-1 of `starts` (p, d) until a step is at most `tol` long or ends in a ball.

    Parameters
    ----------
    starts : ndarray of shape (p, d)
    first, last : int
    kernel_sum : SumArrays
    tol : float
    max_iter : int
    balls : BallArrays
    ascents : Ascents
        Written.
    """
    columns, weights = kernel_sum
    ends, steps, end_balls = ascents
    d = starts.shape[1]
    work = np.empty(CENTRES)
    mean = np.empty(d)
    x = np.empty(d)
    for i in range(first, last):
        for c in range(d):
            x[c] = starts[i, c]
        end_balls[i] = UNFINISHED
        steps[i] = 0
        for iteration in range(max_iter + 1):
            ball = _enclosing(x, balls.columns, balls.radii, work)
            if ball >= 0:
                end_balls[i] = ball
                break
            if iteration == max_iter:
                break
            step(x, columns, weights, work, mean)
            steps[i] = iteration + 1
            moved = 0.0
            for c in range(d):
                difference = mean[c] - x[c]
                moved += difference * difference
                x[c] = mean[c]
            if moved <= tol * tol:
                end_balls[i] = NO_BALL
                break
        for c in range(d):
            ends[i, c] = x[c]


@njit(fastmath=FAST)
def _enclosing(x: Any, columns: Any, radii: Any, work: Any) -> Any:
    """The ball in which x lies deepest, or NO_BALL; their centres are columns (d, J)."""
    best, depth = NO_BALL, 0.0
    for first in range(0, len(radii), CENTRES):
        size = min(CENTRES, len(radii) - first)
        distances_to(x, columns, first, size, work)
        r = radii[first : first + size]
        highest = -1.0
        for s in range(size):
            highest = max(highest, r[s] * r[s] - work[s])
        if highest > 0.0:
            for s in range(size):
                inner = r[s] - math.sqrt(work[s])
                if inner > depth:
                    best, depth = first + s, inner
    return best


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


SHELLS = 32
"""Number of ranges of distances within each of which φ is replaced by its largest value."""
WIDE = 32
"""Number of attributes from which the trace bounds the largest eigenvalue: d x d matrices cost more than they save."""
LARGEST = 4.0
"""Largest radius of a ball, in units of 1 / sqrt(gamma)."""
ROUNDING = 1e-13
"""Error of a step relative to the coordinates, a few hundred units of rounding: subtracted from all radii."""


class _CertificateWorkspace(NamedTuple):
    """Second moments of the centres about a point, by shells of distance, and work space.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        The point P(z).
    edges : ndarray of shape (SHELLS,)
        Outer radii of the shells.
    moments : ndarray of shape (SHELLS, D, D)
        Moments of the centres in each shell, D = d; for `WIDE` data their traces, D = 1.
    matrix, square : ndarray of shape (D, D)
        Work space.
    """

    mean: Array
    edges: Array
    moments: Array
    matrix: Array
    square: Array


@njit
def _spread(z: Any, kernel_sum: Any, work: Any) -> Any:
    """Write P(z) and the second moments of the centres about it, by shells of distance, to `work`."""
    columns, weights = kernel_sum
    mean, edges, moments = work.mean, work.edges, work.moments
    d, count = len(z), len(weights)
    shares = np.empty(count)
    centre_shares(z, columns, weights, shares)
    for c in range(d):
        mean[c] = 0.0
        for s in range(count):
            mean[c] += shares[s] * columns[c, s]
    edges[:] = 0.0
    moments[:] = 0.0
    shell = np.empty(count, dtype=np.int64)
    sizes = np.zeros(SHELLS + 1, dtype=np.int64)
    for s in range(count):
        distance = 0.0
        for c in range(d):
            difference = columns[c, s] - mean[c]
            distance += difference * difference
        if moments.shape[1] == 1:
            weight = shares[s] * distance
        distance = math.sqrt(distance)
        # shells of an eighth of a unit up to 2 units, then each larger by a factor of 2^(1/4)
        b = int(8.0 * distance) if distance < 2.0 else 16 + min(15, int(4.0 * math.log2(distance / 2.0)))
        shell[s] = b
        sizes[b + 1] += 1
        edges[b] = max(edges[b], distance)
        if moments.shape[1] == 1:
            moments[b, 0, 0] += weight
    if moments.shape[1] == 1:
        return
    for b in range(SHELLS):
        sizes[b + 1] += sizes[b]
    sorted_columns = np.empty((d, count))
    place = sizes[:SHELLS].copy()
    for s in range(count):
        to = place[shell[s]]
        place[shell[s]] = to + 1
        root = math.sqrt(shares[s])
        for c in range(d):
            sorted_columns[c, to] = root * (columns[c, s] - mean[c])
    for b in range(SHELLS):
        low, high = sizes[b], sizes[b + 1]
        if low < high:
            for c in range(d):
                for e in range(c + 1):
                    value = product(sorted_columns[c, low:high], sorted_columns[e, low:high])
                    moments[b, c, e] = value
                    moments[b, e, c] = value


@njit
def _factor(r: Any, averaged: Any, work: Any) -> Any:
    """Upper bound of L(z, r) after `_spread` for z, with φ if `averaged`, with exp otherwise."""
    _, edges, moments, matrix, square = work
    matrix[:] = 0.0
    for b in range(SHELLS):
        if edges[b] > 0.0:
            a = 2.0 * r * edges[b]
            if a > 600.0:
                return np.inf
            tilt = math.exp(a)
            if averaged:
                tilt = (tilt - 1.0) / a if a > 1e-4 else 1.0 + a
            matrix += 2.0 * tilt * moments[b]
    return (1.0 + 1e-9) * _largest_eigenvalue(matrix, square)


@njit
def _largest_eigenvalue(matrix: Any, square: Any) -> Any:
    """Upper bound of the largest eigenvalue: the root of the Frobenius norm of the 2^k-th power, by repeated squaring.

    Overwrites `matrix`.
    """
    d = len(matrix)
    squarings = 5 if d <= 12 else 3
    logarithm, share = 0.0, 1.0
    for k in range(squarings + 1):
        norm = 0.0
        for c in range(d):
            for e in range(d):
                norm += matrix[c, e] * matrix[c, e]
        norm = math.sqrt(norm)
        if norm == 0.0:
            return 0.0
        logarithm += share * math.log(norm)
        if k == squarings or d == 1:
            break
        share *= 0.5
        for c in range(d):
            for e in range(c + 1):
                total = 0.0
                for f in range(d):
                    total += matrix[c, f] * matrix[e, f]
                square[c, e] = total / (norm * norm)
                square[e, c] = square[c, e]
        for c in range(d):
            for e in range(d):
                matrix[c, e] = square[c, e]
    return math.exp(logarithm)


@njit
def _work_space(d: Any) -> Any:
    D = d if d < WIDE else 1
    return _CertificateWorkspace(
        np.empty(d), np.empty(SHELLS), np.empty((SHELLS, D, D)), np.empty((D, D)), np.empty((D, D))
    )


@njit
def limit_ball_radius(e: Any, kernel_sum: Any) -> Any:
    """Radius of a ball around the equilibrium e (d,) all of whose points ascend to it; 0 if none can be certified."""
    work = _work_space(len(e))
    _spread(e, kernel_sum, work)
    mean = work.mean
    error, extent = 0.0, 0.0
    for c in range(len(e)):
        error += (mean[c] - e[c]) ** 2
        extent += e[c] ** 2
    error = math.sqrt(error) + ROUNDING * (1.0 + math.sqrt(extent))
    r = LARGEST
    while r > 8.0 * error and r > 1e-6:
        rate = _factor(r, True, work)
        if rate * r + error < r * (1.0 - 1e-6):
            inner = 2.0 * error / (1.0 - rate)
            if _factor(inner, False, work) < 1.0:
                return r
        r *= 0.85
    return 0.0
