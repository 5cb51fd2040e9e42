"""Sequential minimal optimisation with any kernel matrix: a quadratic over the capped simplex.

    minimise  f(β) = β'Kβ - Σ K_ii β_i   subject to  Σ β_i = 1,  0 <= β_i <= bound_i

Two variables move at a time, chosen by second-order information (Fan, Chen & Lin 2005, WSS 2). The pair step is in
`_move`; the numpy twin of this loop is ``smo`` in ``clusterkit_campaign/oracles/one_class.py``.
"""

from __future__ import annotations

from typing import Any, Protocol, final

import attrs
import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts, Indices
from clusterkit.core import memory
from clusterkit.core.outcomes import Ending, Status
from clusterkit.core.progress import Report, tell
from clusterkit.core.work import spend

__all__ = [
    "BETA_ZERO",
    "MAX_GRADIENT_CHECKS",
    "GramMatrix",
    "Minimum",
    "filled_in_order",
    "minimise",
    "snapped_to_bounds",
]

BETA_ZERO = 1e-12
"""Weights within this distance of a bound count as at the bound: four digits above the rounding of weights that sum to
1."""

SMALLEST_CURVATURE = 1e-12
"""Least curvature along a pair, relative to the largest K_ii: equal samples, where it is 0, need a positive one."""

CHUNK_ITERATIONS = 10_000
"""Most pairs of one call of the compiled loop: after each call progress is reported and Ctrl-C takes effect."""

CHUNK_WORK = 200_000_000
"""Pairs times samples of one call of the compiled loop, some 0.1 s."""

MAX_GRADIENT_CHECKS = 10
"""Most times that the loop may reach the tolerance by its updated gradient while a fresh gradient says otherwise. Each
time costs a product with K; where ten do not help, `tol` is below rounding."""

_MORE, _DONE, _MISSING, _STALLED = 0, 1, 2, 3
"""How a call of the compiled loop ended: at its limit of pairs, within the tolerance, for lack of a column, or where
rounding leaves β as it is."""


class GramMatrix(Protocol):
    """A positive semidefinite matrix that computes its columns on demand, all in float64."""

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
    """The point at which the minimisation ended.

    Parameters
    ----------
    beta : ndarray of shape (n,)
        Feasible: the bounds hold exactly, the sum up to rounding.
    gradient : ndarray of shape (n,)
        ``2 K β - diag(K)``, computed afresh at the end.
    gap : float
        Largest violation of the optimality conditions, in units of the gradient.
    status : Status
        Its number of iterations is that of pairs moved.
    rounds : int
        Working sets solved, 1 where pairs move over all variables.
    """

    beta: Array
    gradient: Array
    gap: float
    status: Status
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
        """The minimum, with the reason of the end put into words."""
        if gap <= tol:
            ending, reason = Ending.SETTLED, f"gap {gap:.2g} within tolerance {tol:.2g}"
        else:
            if interrupted:
                ending, why = Ending.INTERRUPTED, "interrupted"
            elif n_iter >= max_iter:
                ending, why = Ending.OUT_OF_ITERATIONS, f"max_iter = {max_iter} reached"
            else:
                ending, why = Ending.STALLED, "rounding allows no further progress"
            reason = f"{why}, gap {gap:.2g} above tolerance {tol:.2g}"
        return cls(beta, gradient, gap, Status(n_iter, ending, reason), rounds)


def filled_in_order(order: Indices, bounds: Array, total: float = 1.0) -> Array:
    """Weights of sum `total` that fill the variables up to their bounds in the order `order`; O(n)."""
    filled = np.cumsum(bounds[order])
    beta = np.zeros(len(bounds))
    beta[order] = np.clip(total - (filled - bounds[order]), 0.0, bounds[order])
    return beta


def minimise(matrix: GramMatrix, bounds: Array, beta: Array, tol: float, max_iter: int, cache_bytes: int) -> Minimum:
    """Minimise from a feasible start.

    Parameters
    ----------
    matrix : GramMatrix
    bounds : ndarray of shape (n,)
        Upper bounds, sum at least 1.
    beta : ndarray of shape (n,)
        Feasible start, not changed.
    tol : float
        Gap at which to stop, in units of the gradient.
    max_iter : int
        Most pairs moved.
    cache_bytes : int
        Memory for columns. The whole matrix is computed at once if it fits; else the columns used least recently are
        replaced by new ones.

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
    cache = ColumnCache.whole(matrix) if 8 * n * n <= limit else ColumnCache.empty(matrix, max(2, limit // (8 * n)))
    smallest = max(SMALLEST_CURVATURE * float(matrix.diag.max()), np.finfo(np.float64).tiny)
    chunk = max(100, min(CHUNK_ITERATIONS, CHUNK_WORK // n))
    G = 2.0 * matrix.product(beta) - matrix.diag
    n_moved, clock, n_checks, interrupted = 0, 0, 0, False
    try:
        while True:
            code, missing, moved = _move(
                beta, G, bounds, matrix.diag, cache.columns, cache.slot, cache.stamp, clock, tol, smallest,
                min(chunk, max_iter - n_moved),
            )  # fmt: skip
            n_moved, clock = n_moved + moved, clock + moved + 1
            if code == _MISSING:
                cache.fetch(missing, clock)
                continue
            tell(Report("smo", n_moved, max_iter))
            spend(n * moved)
            # The updated gradient collects the rounding of every update: only a fresh one may end the search.
            G = 2.0 * matrix.product(beta) - matrix.diag
            n_checks += code == _DONE
            at_limit = n_moved >= max_iter or n_checks == MAX_GRADIENT_CHECKS
            if code == _STALLED or at_limit or _gap(beta, G, bounds) <= tol:
                break
    except KeyboardInterrupt:
        interrupted = True
    # Where tol is tiny, weights that are set to 0 must not be able to open the gap again.
    margin = min(BETA_ZERO, 1e-3 * tol / max(float(matrix.diag.max()), np.finfo(np.float64).tiny))
    beta = snapped_to_bounds(beta, bounds, margin)
    G = 2.0 * matrix.product(beta) - matrix.diag
    gap = max(0.0, float(_gap(beta, G, bounds)))
    return Minimum.ended(beta, G, gap, n_moved, tol, max_iter, interrupted=interrupted)


def snapped_to_bounds(beta: Array, bounds: Array, margin: float) -> Array:
    """β with weights within `margin` of 0 or of their bound put exactly there.

    The variable farthest from its bounds takes the difference, so that the sum is 1 again.
    """
    snapped = np.where(beta < margin, 0.0, np.where(bounds - beta < margin, bounds, beta))
    room = np.minimum(snapped, bounds - snapped)
    freest = int(np.argmax(room))
    missing = 1.0 - float(snapped.sum())
    # Without a free variable the sum stays off by about the margin: moving one off its bound would undo the optimum.
    if abs(missing) < room[freest]:
        snapped[freest] += missing
    return snapped


@attrs.define(eq=False)
class ColumnCache:
    """Columns of the matrix; a new column replaces the one used least recently.

    Parameters
    ----------
    matrix : GramMatrix
    columns : ndarray of shape (slots, n)
        Row s is a column of K, which is symmetric.
    slot : ndarray of shape (n,)
        Row that holds a column, -1 if none does.
    stamp : ndarray of shape (slots,)
        Time of the last use of a row.
    owner : ndarray of shape (slots,)
        Index of the column in a row, -1 if it is empty.
    """

    matrix: GramMatrix
    columns: Array
    slot: Indices
    stamp: Counts
    owner: Indices

    @classmethod
    def whole(cls, matrix: GramMatrix) -> ColumnCache:
        """All columns, computed at once."""
        n = len(matrix.diag)
        every = np.arange(n, dtype=np.int64)
        return cls(matrix, np.ascontiguousarray(matrix.whole()), every, np.zeros(n, np.int64), every)

    @classmethod
    def empty(cls, matrix: GramMatrix, slots: int) -> ColumnCache:
        """Room for some columns, at least two."""
        n = len(matrix.diag)
        nowhere = np.full(n, -1, dtype=np.int64)
        # Negative stamps: empty rows are filled before any column is replaced.
        stamp = np.arange(-slots, 0, dtype=np.int64)
        return cls(matrix, np.empty((slots, n)), nowhere, stamp, np.full(slots, -1, dtype=np.int64))

    def fetch(self, i: int, clock: int) -> None:
        """Compute column i and store it."""
        # At least two rows: the other column of the current pair was used last, so it stays.
        place = int(np.argmin(self.stamp))
        if self.owner[place] >= 0:
            self.slot[self.owner[place]] = -1
        self.columns[place] = self.matrix.column(i)
        self.slot[i], self.owner[place], self.stamp[place] = place, i, clock


@njit
def _gap(beta: Any, G: Any, bounds: Any) -> Any:
    """Largest -G among the variables that may grow, less the smallest -G among those that may shrink."""
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
    """Move up to `limit` pairs in place: (one of `_MORE` … `_STALLED`, missing column or -1, pairs moved)."""
    n = len(beta)
    for moved in range(limit):
        i, top, bottom = -1, -np.inf, np.inf
        for t in range(n):
            if beta[t] < bounds[t] and -G[t] > top:
                i, top = t, -G[t]
            if beta[t] > 0.0 and -G[t] < bottom:
                bottom = -G[t]
        if top - bottom <= tol:
            return _DONE, -1, moved
        if slot[i] < 0:
            return _MISSING, i, moved
        stamp[slot[i]] = clock + moved
        column = columns[slot[i]]
        j, best, curvature = -1, -1.0, 1.0
        for t in range(n):
            if beta[t] > 0.0 and G[t] > G[i]:
                a = max(2.0 * (diag[i] + diag[t] - 2.0 * column[t]), smallest)
                b = G[t] - G[i]
                if b * b / a > best:
                    j, best, curvature = t, b * b / a, a
        if slot[j] < 0:
            return _MISSING, j, moved
        stamp[slot[j]] = clock + moved
        other = columns[slot[j]]
        room, step = bounds[i] - beta[i], (G[j] - G[i]) / curvature
        # Bounds are met exactly: a residue of rounding would keep a variable among those that may move for ever.
        if step >= beta[j] or step >= room:
            step = min(beta[j], room)
            grown = bounds[i] if step == room else beta[i] + step
            shrunk = 0.0 if step == beta[j] else beta[j] - step
        else:
            grown, shrunk = min(beta[i] + step, bounds[i]), max(beta[j] - step, 0.0)
        if grown == beta[i] and shrunk == beta[j]:
            return _STALLED, -1, moved
        beta[i], beta[j] = grown, shrunk
        for t in range(n):
            G[t] += 2.0 * step * (column[t] - other[t])
    return _MORE, -1, limit
