"""Balls whose points certainly ascend to the same limit.

The ascent x → P(x) of a Gaussian kernel sum, and the notation, are in `_ascent_jit`.

A step changes differences by the matrix ``JP(y) = 2 Cov_p(y)(c)``. For y = z + δ the weights are
``p_s(z) exp(2 δ·(c_s - m)) / Z`` with m = P(z), and Z >= 1 by Jensen, because ``Σ p_s(z) (c_s - m) = 0``. A covariance
is at most the second moment about m; with |δ| = t the matrix is therefore at most
``2 Σ_s p_s(z) exp(2 t |c_s - m|) (c_s - m)(c_s - m)'``. Integrating t over the line from z to x, |x - z| <= r, gives

    (1)  |P(x) - P(z)| <= L(z, r) |x - z|,
         L(z, r) = λ_max( 2 Σ_s p_s(z) φ(2 r |c_s - m|) (c_s - m)(c_s - m)' ),    φ(a) = (exp(a) - 1) / a.

Two kinds of balls B(z, r) follow. Every start in one of them has the same limit as z:

* around an equilibrium e known up to ε = |P(e) - e|: if ``L(e, r) r + ε < r``, orbits stay in the ball and end within
  ``ε' = ε / (1 - L(e, r))`` of e. If also exp instead of φ and the radius 2ε' give a factor < 1, the step contracts
  there, and all of them have one limit.
* around any z: if ``|P(z) - b| + L(z, r) r <= R`` for a ball B(b, R) known before, the next step lands in that ball.

So an ascent that enters a ball can end there: its limit is known.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array
from clusterkit.level_sets._ascent_jit import centre_shares
from clusterkit.numerics.gaussian_jit import FAST

__all__ = ["limit_ball_radius", "trajectory_ball_radii"]

SHELLS = 32
"""Number of ranges of distances within each of which φ is replaced by its largest value."""
WIDE = 32
"""Number of attributes from which the trace bounds the largest eigenvalue: d x d matrices cost more than they save."""
LARGEST = 4.0
"""Largest radius of a ball, in units of 1 / sqrt(gamma)."""
HALVINGS = 8
"""Bisection steps for the radius of a ball on a trajectory, which give a relative precision of 2^-8."""
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
        matrix[:] = square
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


@njit
def trajectory_ball_radii(points: Any, count: Any, target: Any, kernel_sum: Any, least: Any, radii: Any) -> Any:
    """Write to `radii` the radii of balls around ``points[0..count-1]``, the successive points of an ascent.

    A step from the last of them leads to a point around which a ball of radius `target` is known. If a radius is below
    `least`, that radius and all before it are 0.
    """
    work = _work_space(points.shape[1])
    for j in range(count - 1, -1, -1):
        extent = 0.0
        for c in range(points.shape[1]):
            extent += points[j, c] ** 2
        target = target * (1.0 - 1e-9) - ROUNDING * (1.0 + math.sqrt(extent))
        if target < least:
            radii[: j + 1] = 0.0
            return
        _spread(points[j], kernel_sum, work)
        rate = _factor(0.0, True, work)
        low, high = 0.0, (min(LARGEST, target / rate) if rate * LARGEST > target else LARGEST)
        if _factor(high, True, work) * high <= target:
            low = high
        else:
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                if _factor(middle, True, work) * middle <= target:
                    low = middle
                else:
                    high = middle
        radii[j] = low
        target = low
