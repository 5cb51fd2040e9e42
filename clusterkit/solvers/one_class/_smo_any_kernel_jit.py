"""Sequential minimal optimisation of a quadratic over the capped simplex, the dual of one-class machines.

    minimise  f(β) = β'Kβ - Σ K_ii β_i   subject to  Σ β_i = 1,  0 <= β_i <= bound_i

Two variables move at a time, chosen by second-order information (Fan, Chen & Lin 2005, WSS 2). The numpy twin
of the compiled loop is ``smo`` in ``tests/oracles/svdd.py``.
"""

from __future__ import annotations

from typing import Any, Protocol, final

import attrs
import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array
from clusterkit.core import memory
from clusterkit.core.progress import Report, tell

__all__ = ["BETA_ZERO", "REFUTED", "Matrix", "Minimum", "minimise", "nearest_start", "without_dust"]

BETA_ZERO = 1e-12
SMALLEST_CURVATURE = 1e-12
CHUNK_ITERATIONS = 10_000
CHUNK_WORK = 200_000_000
REFUTED = 10

_MORE, _DONE, _MISSING, _STALLED = 0, 1, 2, 3


class Matrix(Protocol):
    """A positive semidefinite matrix that gives its columns on demand, all in float64."""

    @property
    def diag(self) -> Array:
        """K_ii, (n,)."""

    def whole(self) -> Array:
        """K, (n, n)."""

    def column(self, i: int) -> Array:
        """K[:, i], (n,)."""

    def product(self, beta: Array) -> Array:
        """K β, (n,)."""


@final
@attrs.frozen(eq=False)
class Minimum:
    """Where the minimisation ended.

    Parameters
    ----------
    beta : ndarray of shape (n,)
        Feasible: the bounds hold exactly, the sum up to rounding.
    gradient : ndarray of shape (n,)
        ``2 K β - diag(K)``, computed afresh at the end.
    gap : float
        Largest violation of the optimality conditions, in units of the gradient.
    n_iter : int
        Pairs moved.
    converged : bool
    reason : str
    interrupted : bool
        By Ctrl-C.
    rounds : int
        Working sets solved, 1 where pairs move over all variables.
    """

    beta: Array
    gradient: Array
    gap: float
    n_iter: int
    converged: bool
    reason: str
    interrupted: bool = False
    rounds: int = 1

    @classmethod
    def ended(
        cls,
        beta: Array,
        gradient: Array,
        gap: float,
        n_iter: int,
        tol: float,
        max_iter: int,
        *,
        interrupted: bool,
        rounds: int = 1,
    ) -> Minimum:
        """The result with its reason in words."""
        if gap <= tol:
            reason = f"gap {gap:.2g} within tolerance {tol:.2g}"
            return cls(beta, gradient, gap, n_iter, True, reason, rounds=rounds)
        if interrupted:
            why = "interrupted"
        else:
            why = f"max_iter = {max_iter} reached" if n_iter >= max_iter else "rounding allows no further progress"
        reason = f"{why}, gap {gap:.2g} above tolerance {tol:.2g}"
        return cls(beta, gradient, gap, n_iter, False, reason, interrupted, rounds)


def nearest_start(order: Array, bounds: Array, total: float = 1.0) -> Array:
    """Feasible start that fills the variables up to their bounds in the given order; O(n)."""
    filled = np.cumsum(bounds[order])
    beta = np.zeros(len(bounds))
    beta[order] = np.clip(total - (filled - bounds[order]), 0.0, bounds[order])
    return beta


def minimise(matrix: Matrix, bounds: Array, beta: Array, tol: float, max_iter: int, cache_bytes: int) -> Minimum:
    """Minimise from a feasible start.

    Parameters
    ----------
    matrix : Matrix
    bounds : ndarray of shape (n,)
        Upper bounds, sum at least 1.
    beta : ndarray of shape (n,)
        Feasible start, not changed.
    tol : float
        Gap at which to stop, in units of the gradient.
    max_iter : int
        Most pairs moved.
    cache_bytes : int
        For columns. The whole matrix is computed at once if it fits; else the columns used least recently make
        room for new ones.

    Returns
    -------
    Minimum
        After Ctrl-C, or where `max_iter` or rounding ends it before `tol`, the feasible point reached, marked as
        not converged.

    Notes
    -----
    O(n) an iteration, plus two columns where they are not cached. In practice O(n) to O(n²) iterations.
    """
    n, beta = len(beta), beta.copy()
    limit = min(cache_bytes, memory.cap())
    cache = _Cache.whole(matrix) if 8 * n * n <= limit else _Cache.empty(matrix, max(2, limit // (8 * n)))
    smallest = max(SMALLEST_CURVATURE * float(matrix.diag.max()), np.finfo(np.float64).tiny)
    chunk = max(100, min(CHUNK_ITERATIONS, CHUNK_WORK // n))
    G = 2.0 * matrix.product(beta) - matrix.diag
    done, clock, refuted, interrupted = 0, 0, 0, False
    try:
        while True:
            code, wanted, moved = _move(
                beta, G, bounds, matrix.diag, cache.columns, cache.slot, cache.stamp, clock, tol, smallest,
                min(chunk, max_iter - done),
            )  # fmt: skip
            done, clock = done + moved, clock + moved + 1
            if code == _MISSING:
                cache.fetch(wanted, clock)
                continue
            tell(Report("smo", done, max_iter))
            # The running gradient collects the rounding of every update: only a fresh one may end the search.
            G = 2.0 * matrix.product(beta) - matrix.diag
            refuted += code == _DONE
            if code == _STALLED or done >= max_iter or refuted == REFUTED or _gap(beta, G, bounds) <= tol:
                break
    except KeyboardInterrupt:
        interrupted = True
    # Where tol is tiny, what counts as dust must not be able to open the gap again.
    dust = min(BETA_ZERO, 1e-3 * tol / max(float(matrix.diag.max()), np.finfo(np.float64).tiny))
    beta = without_dust(beta, bounds, dust)
    G = 2.0 * matrix.product(beta) - matrix.diag
    gap = max(0.0, float(_gap(beta, G, bounds)))
    return Minimum.ended(beta, G, gap, done, tol, max_iter, interrupted=interrupted)


def without_dust(beta: Array, bounds: Array, dust: float) -> Array:
    """Exact bounds where only rounding is missing; the freest variable takes what the sum lacks then."""
    kept = np.where(beta < dust, 0.0, np.where(bounds - beta < dust, bounds, beta))
    room = np.minimum(kept, bounds - kept)
    freest = int(np.argmax(room))
    missing = 1.0 - float(kept.sum())
    # With no free variable the sum stays off by some dust: a nudge off a bound would undo the optimum.
    if abs(missing) < room[freest]:
        kept[freest] += missing
    return kept


@attrs.define(eq=False)
class _Cache:
    """Columns of the matrix, least recently used out first."""

    matrix: Matrix
    columns: Array  # (slots, n): row s is a column of K, which is symmetric
    slot: Array  # (n,): where a column is, -1 nowhere
    stamp: Array  # (slots,): when it was last used
    owner: Array  # (slots,): which column is there, -1 none

    @classmethod
    def whole(cls, matrix: Matrix) -> _Cache:
        n = len(matrix.diag)
        every = np.arange(n, dtype=np.int64)
        return cls(matrix, np.ascontiguousarray(matrix.whole()), every, np.zeros(n, np.int64), every)

    @classmethod
    def empty(cls, matrix: Matrix, slots: int) -> _Cache:
        n = len(matrix.diag)
        nowhere = np.full(n, -1, dtype=np.int64)
        # Negative stamps: empty slots are filled before anything is thrown out.
        stamp = np.arange(-slots, 0, dtype=np.int64)
        return cls(matrix, np.empty((slots, n)), nowhere, stamp, np.full(slots, -1, dtype=np.int64))

    def fetch(self, i: int, clock: int) -> None:
        # At least two slots: the other column of the current pair is the last one used, so it stays.
        place = int(np.argmin(self.stamp))
        if self.owner[place] >= 0:
            self.slot[self.owner[place]] = -1
        self.columns[place] = self.matrix.column(i)
        self.slot[i], self.owner[place], self.stamp[place] = place, i, clock


@njit
def _gap(beta: Any, G: Any, bounds: Any) -> Any:
    """Largest -G among the variables that may grow, less the smallest among those that may shrink."""
    top, bottom = -np.inf, np.inf
    for t in range(len(beta)):
        if beta[t] < bounds[t] and -G[t] > top:
            top = -G[t]
        if beta[t] > 0.0 and -G[t] < bottom:
            bottom = -G[t]
    return top - bottom


@njit
def _move(
    beta: Any, G: Any, bounds: Any, diag: Any, columns: Any, slot: Any, stamp: Any, clock: Any, tol: Any,
    smallest: Any, limit: Any,
) -> Any:  # fmt: skip
    """Move up to `limit` pairs in place: (how it ended, column it misses, pairs moved)."""
    n = len(beta)
    for done in range(limit):
        i, top, bottom = -1, -np.inf, np.inf
        for t in range(n):
            if beta[t] < bounds[t] and -G[t] > top:
                i, top = t, -G[t]
            if beta[t] > 0.0 and -G[t] < bottom:
                bottom = -G[t]
        if top - bottom <= tol:
            return _DONE, -1, done
        if slot[i] < 0:
            return _MISSING, i, done
        stamp[slot[i]] = clock + done
        column = columns[slot[i]]
        j, best, curvature = -1, -1.0, 1.0
        for t in range(n):
            if beta[t] > 0.0 and G[t] > G[i]:
                a = max(2.0 * (diag[i] + diag[t] - 2.0 * column[t]), smallest)
                b = G[t] - G[i]
                if b * b / a > best:
                    j, best, curvature = t, b * b / a, a
        if slot[j] < 0:
            return _MISSING, j, done
        stamp[slot[j]] = clock + done
        other = columns[slot[j]]
        room, step = bounds[i] - beta[i], (G[j] - G[i]) / curvature
        # Bounds are met exactly: a residue of rounding would keep a variable in the wrong set for ever.
        if step >= beta[j] or step >= room:
            step = min(beta[j], room)
            grown = bounds[i] if step == room else beta[i] + step
            shrunk = 0.0 if step == beta[j] else beta[j] - step
        else:
            grown, shrunk = min(beta[i] + step, bounds[i]), max(beta[j] - step, 0.0)
        if grown == beta[i] and shrunk == beta[j]:
            return _STALLED, -1, done
        beta[i], beta[j] = grown, shrunk
        for t in range(n):
            G[t] += 2.0 * step * (column[t] - other[t])
    return _MORE, -1, limit
