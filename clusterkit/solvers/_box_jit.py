"""Sequential minimal optimisation of the dual of a machine with a bias, support vector classifier or regression.

    minimise  ½ β'Kβ - y'β + ε |β|₁   subject to  Σ β_i = 0,  low_i <= β_i <= high_i

Classification has low = -C, high = 0 for y = -1 and low = 0, high = C for y = +1; regression has ±C for all. One pair
moves at a time, chosen by second-order information (Fan, Chen, Lin 2005, WSS 2). The numpy twin of the compiled
loop is ``smo`` in ``tests/oracles/machines.py``.
"""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array
from clusterkit.core.progress import Report, tell

__all__ = ["Minimum", "feasible", "minimise"]

CHUNK_WORK = 100_000_000
"""Steps in one go: some 50 ms, so that Ctrl-C is heard."""

ROUNDING = 16.0
"""Gap that counts as rounding, in units of eps times the magnitude of the gradient's terms."""

REFUTED = 10
_HUGE = 1e300
_SMALLEST_CURVATURE = 1e-12
_MORE, _DONE, _STALLED = 0, 1, 2


@final
@attrs.frozen(eq=False)
class Minimum:
    """Where the minimisation ended.

    Parameters
    ----------
    beta : ndarray of shape (n,)
        The bounds hold exactly, the sum up to rounding.
    gap : float
        Largest violation of the optimality conditions, in units of the targets.
    n_iter : int
        Pairs moved.
    converged : bool
    """

    beta: Array
    gap: float
    n_iter: int
    converged: bool


def feasible(beta: Array, low: Array, high: Array) -> Array:
    """A point near `beta` inside the bounds whose sum is 0, for bounds on both sides of 0.

    The side that weighs more gives up its smallest entries, because those are the ones off their bounds.
    """
    beta = np.clip(beta, low, high)
    excess = float(beta.sum())
    heavy = np.flatnonzero(beta > 0 if excess > 0 else beta < 0)
    order = heavy[np.argsort(np.abs(beta[heavy]), kind="stable")]
    weight = np.abs(beta[order])
    before = np.cumsum(weight) - weight
    beta[order] -= np.sign(excess) * np.clip(abs(excess) - before, 0.0, weight)
    return beta


def minimise(
    K: Array, y: Array, low: Array, high: Array, epsilon: float, beta: Array, tol: float, max_iter: int
) -> Minimum:
    """Minimise from a feasible start, which is not changed.

    Parameters
    ----------
    K : ndarray of shape (n, n), float64
        Symmetric positive semidefinite.
    y, low, high, beta : ndarray of shape (n,), float64
    epsilon : float
    tol : float
        Gap at which to stop; one that rounding errors explain stops it too.
    max_iter : int
        Most pairs moved.

    Notes
    -----
    O(n) a pair; in practice O(n) to O(n²) pairs.
    """
    beta, n = beta.copy(), len(y)
    diagonal = np.diag(K).copy()
    smallest = max(_SMALLEST_CURVATURE * float(diagonal.max()), np.finfo(np.float64).tiny)
    chunk, done, refuted = max(100, CHUNK_WORK // (4 * n)), 0, 0
    top = np.sqrt(max(float(diagonal.max()), 0.0) * np.maximum(diagonal, 0.0))
    while True:
        # The running gradient collects the rounding of every update: only a fresh one may end the search.
        G = K @ beta - y
        noise = ROUNDING * float(np.finfo(np.float64).eps) * (1.0 + float(np.abs(beta) @ top))
        gap = float(_gap(G, beta, low, high, epsilon))
        converged = gap <= max(tol, noise)
        if converged or done >= max_iter or refuted == REFUTED:
            return Minimum(beta, max(gap, 0.0), done, converged)
        code, moved = _move(
            K, diagonal, G, beta, low, high, epsilon, max(tol, noise), smallest, min(chunk, max_iter - done)
        )
        done += moved
        tell(Report("smo", done, max_iter))
        refuted = REFUTED if code == _STALLED else refuted + (code == _DONE)


@njit
def _gap(G: Any, beta: Any, low: Any, high: Any, epsilon: Any) -> Any:
    smallest, largest = _HUGE, -_HUGE
    for t in range(len(G)):
        if beta[t] < high[t]:
            smallest = min(smallest, G[t] + (epsilon if beta[t] >= 0.0 else -epsilon))
        if beta[t] > low[t]:
            largest = max(largest, G[t] + (epsilon if beta[t] > 0.0 else -epsilon))
    return largest - smallest


@njit
def _move(
    K: Any, diagonal: Any, G: Any, beta: Any, low: Any, high: Any, epsilon: Any, tol: Any, smallest: Any, limit: Any
) -> Any:
    """Move pairs in place: (how it ended, pairs moved). Each grows by what the other shrinks."""
    n = len(G)
    for done in range(limit):
        i, least, largest = -1, _HUGE, -_HUGE
        for t in range(n):
            if beta[t] < high[t]:
                slope = G[t] + (epsilon if beta[t] >= 0.0 else -epsilon)
                if slope < least:
                    i, least = t, slope
            if beta[t] > low[t]:
                largest = max(largest, G[t] + (epsilon if beta[t] > 0.0 else -epsilon))
        if i < 0 or largest - least <= tol:
            return _DONE, done
        column = K[i]
        j, best, own, fall, curvature = -1, 0.0, diagonal[i], 0.0, 1.0
        for t in range(n):
            if beta[t] > low[t]:
                drop = G[t] + (epsilon if beta[t] > 0.0 else -epsilon) - least
                if drop > 0.0:
                    bend = max(own + diagonal[t] - 2.0 * column[t], smallest)
                    score = drop * drop / bend
                    if score > best:
                        j, best, fall, curvature = t, score, drop, bend
        if j < 0:
            return _DONE, done
        # The slope of ε|β| jumps at 0: a step ends there, and the next one may cross.
        ceiling = 0.0 if epsilon > 0.0 and beta[i] < 0.0 else high[i]
        floor = 0.0 if epsilon > 0.0 and beta[j] > 0.0 else low[j]
        step = min(fall / curvature, ceiling - beta[i], beta[j] - floor)
        # Bounds are met exactly: a residue of rounding would keep a variable in the wrong set for ever.
        grown = ceiling if step == ceiling - beta[i] else beta[i] + step
        shrunk = floor if step == beta[j] - floor else beta[j] - step
        if grown == beta[i] and shrunk == beta[j]:
            return _STALLED, done
        beta[i], beta[j] = min(grown, ceiling), max(shrunk, floor)
        other = K[j]
        for t in range(n):
            G[t] += step * (column[t] - other[t])
    return _MORE, limit
