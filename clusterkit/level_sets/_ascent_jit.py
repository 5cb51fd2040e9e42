"""The ascent to the maxima of a Gaussian kernel sum, and balls whose points are known to share a limit.

All in scaled coordinates: ``g(x) = Σ_s w_s exp(-|x - c_s|²)`` with w_s > 0, centres as columns (d, s). The step is the
mean of the centres under the weights that x sees,

    P(x) = Σ_s p_s(x) c_s,    p_s(x) = w_s exp(-|x - c_s|²) / g(x).

**It never descends.** As exp is convex, ``g(y) >= Q(y) = Σ_s w_s K_s(x) (1 + |x - c_s|² - |y - c_s|²)`` for all y.
Q is g(x) at x, falls off equally in all directions from its maximum P(x), so ``g >= g(x)`` on the line from x to P(x).

**Balls.** A step changes differences by the matrix ``JP(y) = 2 Cov_p(y)(c)``. For y = z + δ the weights are
``p_s(z) exp(2 δ·(c_s - m)) / Z`` with m = P(z), and Z >= 1 by Jensen, because ``Σ p_s(z) (c_s - m) = 0``. A covariance
is at most the second moment about m; with |δ| = t the matrix is therefore at most
``2 Σ_s p_s(z) exp(2 t |c_s - m|) (c_s - m)(c_s - m)'``. Integrating t over the line from z to x, |x - z| <= r, gives

    (1)  |P(x) - P(z)| <= L(z, r) |x - z|,
         L(z, r) = λ_max( 2 Σ_s p_s(z) φ(2 r |c_s - m|) (c_s - m)(c_s - m)' ),    φ(a) = (exp(a) - 1) / a.

Two kinds of balls B(z, r) follow, and every start in one of them has the limit of z, whatever lies between:

* around an equilibrium e known up to ε = |P(e) - e|: if ``L(e, r) r + ε < r``, orbits stay in the ball and end within
  ``ε' = ε / (1 - L(e, r))`` of e. If also exp instead of φ and the radius 2ε' give a factor < 1, the step contracts
  there, and all of them have one limit.
* around any z: if ``|P(z) - b| + L(z, r) r <= R`` for a ball B(b, R) known before, the next step lands in that one.

So an ascent that enters a ball is at its end. Nothing is accelerated that could change the limit.

Source of the step: Fukunaga, Hostetler (1975), The estimation of the gradient of a density function, IEEE Trans.
Information Theory 21. The numpy twin is ``tests/oracles/equilibrium.py``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clusterkit._jit import njit
from clusterkit.numerics.exponential_jit import fast_exp
from clusterkit.numerics.gaussian_jit import CENTRES, FAST, distances_to

__all__ = ["NO_BALL", "UNFINISHED", "certify", "certify_chain", "climb", "step"]

NO_BALL, UNFINISHED = -1, -2
"""How an ascent ended, instead of the number of a ball: at the tolerance, or at the limit of steps."""

UNDERFLOW = 1e-200
"""Sums below it are added up again relative to their largest term."""
SHELLS = 32
"""Classes of distances in which φ is replaced by its largest value."""
WIDE = 32
"""Attributes from which the trace stands for the largest eigenvalue: d x d matrices would cost more than they save."""
LARGEST = 4.0
"""No ball is wider, in units of 1 / sqrt(gamma)."""
HALVINGS = 8
ROUNDING = 1e-13


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
    """``mean += Σ_s work_s c_s``; three attributes in one pass over the values."""
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
    """The step relative to the largest term: no quotient of two sums that are both 0."""
    shares = np.empty(len(weights))
    largest = _shares(x, columns, weights, shares)
    for c in range(len(x)):
        total = 0.0
        for s in range(len(weights)):
            total += shares[s] * columns[c, s]
        mean[c] = total
    return math.exp(largest)


@njit
def _shares(x: Any, columns: Any, weights: Any, shares: Any) -> Any:
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
        # beyond the range of squares all terms are equal
        shares[s] = math.exp(shares[s] - largest) if largest > -np.inf else 1.0
        total += shares[s]
    for s in range(len(weights)):
        shares[s] /= total
    return largest + math.log(total)


@njit
def climb(
    starts: Any, first: Any, last: Any, columns: Any, weights: Any, tol: Any, max_iter: Any, balls: Any, radii: Any,
    ends: Any, steps: Any, caught: Any, trace: Any,
) -> Any:  # fmt: skip
    """Ascend from rows first..last-1 of `starts` (p, d) until a step is at most `tol` or ends in a ball.

    `balls` (d, J) and `radii` (J,) are what is known; `ends` (p, d), `steps` (p,) and `caught` (p,) are written, and
    the first points of every ascent to `trace` (p, t, d), x itself first.
    """
    d = starts.shape[1]
    work = np.empty(CENTRES)
    mean = np.empty(d)
    x = np.empty(d)
    for i in range(first, last):
        for c in range(d):
            x[c] = starts[i, c]
        caught[i] = UNFINISHED
        steps[i] = 0
        for turn in range(max_iter + 1):
            if turn < trace.shape[1]:
                for c in range(d):
                    trace[i, turn, c] = x[c]
            ball = _enclosing(x, balls, radii, work)
            if ball >= 0:
                caught[i] = ball
                break
            if turn == max_iter:
                break
            step(x, columns, weights, work, mean)
            steps[i] = turn + 1
            moved = 0.0
            for c in range(d):
                difference = mean[c] - x[c]
                moved += difference * difference
                x[c] = mean[c]
            if moved <= tol * tol:
                caught[i] = NO_BALL
                break
        for c in range(d):
            ends[i, c] = x[c]


@njit(fastmath=FAST)
def _enclosing(x: Any, balls: Any, radii: Any, work: Any) -> Any:
    """The ball in which x lies deepest, or NO_BALL."""
    best, depth = NO_BALL, 0.0
    for first in range(0, len(radii), CENTRES):
        size = min(CENTRES, len(radii) - first)
        distances_to(x, balls, first, size, work)
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


@njit
def _spread(z: Any, columns: Any, weights: Any, mean: Any, edges: Any, moments: Any) -> Any:
    """Second moments of the centres about ``mean = P(z)`` by shells of distance.

    Written: `edges` (SHELLS,), their outer radii, and `moments` (SHELLS, D, D) with D = d, or the traces with D = 1 for
    `WIDE` data.
    """
    d, count = len(z), len(weights)
    shares = np.empty(count)
    _shares(z, columns, weights, shares)
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
        # eighths of a unit first, then a factor of 2^(1/4) each
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
                    value = _product(sorted_columns[c, low:high], sorted_columns[e, low:high])
                    moments[b, c, e] = value
                    moments[b, e, c] = value


@njit(fastmath=FAST)
def _product(a: Any, b: Any) -> Any:
    total = 0.0
    for s in range(len(a)):
        total += a[s] * b[s]
    return total


@njit
def _factor(r: Any, edges: Any, moments: Any, averaged: Any, matrix: Any, square: Any) -> Any:
    """Upper bound of L(z, r), with φ if `averaged`, with exp otherwise."""
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
    """An upper bound: the Frobenius norm of the 2^k-th power, by repeated squaring; destroys `matrix`."""
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
        matrix[:] = square
    return math.exp(logarithm)


@njit
def _work_space(d: Any) -> Any:
    D = d if d < WIDE else 1
    return np.empty(d), np.empty(SHELLS), np.empty((SHELLS, D, D)), np.empty((D, D)), np.empty((D, D))


@njit
def certify(e: Any, columns: Any, weights: Any) -> Any:
    """Radius of a ball around the equilibrium e (d,) all of whose points ascend to it, 0 if none can be shown."""
    mean, edges, moments, matrix, square = _work_space(len(e))
    _spread(e, columns, weights, mean, edges, moments)
    error, extent = 0.0, 0.0
    for c in range(len(e)):
        error += (mean[c] - e[c]) ** 2
        extent += e[c] ** 2
    error = math.sqrt(error) + ROUNDING * (1.0 + math.sqrt(extent))
    r = LARGEST
    while r > 8.0 * error and r > 1e-6:
        rate = _factor(r, edges, moments, True, matrix, square)
        if rate * r + error < r * (1.0 - 1e-6):
            inner = 2.0 * error / (1.0 - rate)
            if _factor(inner, edges, moments, False, matrix, square) < 1.0:
                return r
        r *= 0.85
    return 0.0


@njit
def certify_chain(points: Any, count: Any, target: Any, columns: Any, weights: Any, least: Any, radii: Any) -> Any:
    """Radii of the balls around ``points[0..count-1]``, each a step before the next, written to `radii`.

    The step after the last one ends in a point around which a ball of radius `target` is known. Once a radius falls
    below `least` it and those before it are 0.
    """
    mean, edges, moments, matrix, square = _work_space(points.shape[1])
    for j in range(count - 1, -1, -1):
        extent = 0.0
        for c in range(points.shape[1]):
            extent += points[j, c] ** 2
        target = target * (1.0 - 1e-9) - ROUNDING * (1.0 + math.sqrt(extent))
        if target < least:
            radii[: j + 1] = 0.0
            return
        _spread(points[j], columns, weights, mean, edges, moments)
        rate = _factor(0.0, edges, moments, True, matrix, square)
        low, high = 0.0, (min(LARGEST, target / rate) if rate * LARGEST > target else LARGEST)
        if _factor(high, edges, moments, True, matrix, square) * high <= target:
            low = high
        else:
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                if _factor(middle, edges, moments, True, matrix, square) * middle <= target:
                    low = middle
                else:
                    high = middle
        radii[j] = low
        target = low
