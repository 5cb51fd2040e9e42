"""The ascent to the maxima of a Gaussian kernel sum.

In scaled coordinates: ``g(x) = Σ_s w_s exp(-|x - c_s|²)`` with w_s > 0, centres as columns (d, s). The mean-shift step
goes to the mean of the centres, weighted by their terms of the sum at x,

    P(x) = Σ_s p_s(x) c_s,    p_s(x) = w_s exp(-|x - c_s|²) / g(x).

**It never descends.** As exp is convex, ``g(y) >= Q(y) = Σ_s w_s K_s(x) (1 + |x - c_s|² - |y - c_s|²)`` for all y.
Q is g(x) at x, falls off equally in all directions from its maximum P(x), so ``g >= g(x)`` on the line from x to P(x).

**It may end early** in a ball whose points certainly have the same limit; these balls are in `_certified_balls_jit`.
The steps themselves are not accelerated, which could change the limit.

Source of the step: Fukunaga, Hostetler (1975), The estimation of the gradient of a density function, IEEE Trans.
Information Theory 21. The plain version in numpy is ``clusterkit_campaign/oracles/domains.py``.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts, Indices
from clusterkit.numerics.exponential_jit import fast_exp
from clusterkit.numerics.gaussian_jit import CENTRES, FAST, distances_to

__all__ = [
    "NO_BALL",
    "UNFINISHED",
    "Ascents",
    "BallArrays",
    "SumArrays",
    "centre_shares",
    "climb",
    "step",
]

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
    trace : ndarray of shape (p, t, d)
        The first points of each ascent, the start first.
    """

    ends: Array
    steps: Counts
    end_balls: Indices
    trace: Array


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
    ends, steps, end_balls, trace = ascents
    d = starts.shape[1]
    work = np.empty(CENTRES)
    mean = np.empty(d)
    x = np.empty(d)
    for i in range(first, last):
        for c in range(d):
            x[c] = starts[i, c]
        end_balls[i] = UNFINISHED
        steps[i] = 0
        for turn in range(max_iter + 1):
            if turn < trace.shape[1]:
                for c in range(d):
                    trace[i, turn, c] = x[c]
            ball = _enclosing(x, balls.columns, balls.radii, work)
            if ball >= 0:
                end_balls[i] = ball
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
