"""Sequential minimal optimisation over the capped simplex, and the gradient steps of `lmsvc`.

    minimise  f(β) = β'Kβ - Σ K_ii β_i   subject to  Σ β_i = 1,  0 <= β_i <= bound_i

Two variables move at a time, chosen by second-order information (Fan, Chen & Lin 2005, WSS 2). With any kernel matrix
the loop is `minimise` and the pair step `_move`.

With a Gaussian kernel (`GaussianSubproblem`) K_ii is 1, the sum is that of a set of points, and the gradient is
``G = 2 K β - 1``. A column of K is computed when a pair first needs it: a solution has few support vectors, so most
columns are never needed. The pair step is `_move_gaussian`; `_step` updates the gradient and chooses the variable to
grow, `_partner` the variable to shrink. The numpy twin of both loops is ``smo`` in
``clusterkit_campaign/oracles/one_class.py``.

`sgd_steps` are steps of stochastic gradient descent for the hyperplane of `lmsvc`, on inner products of the samples
drawn.
"""

from __future__ import annotations

from typing import Any, Protocol, final

import attrs
import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts, Indices
from clusterkit.contracts.outcomes import Ending, Status
from clusterkit.numerics.gaussian_jit import CENTRES, FAST, distances_to, fast_exp
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import memory
from clusterkit.samples.kernels import EXPLICIT_SUMS, Gaussian
from clusterkit.samples.limits import Report, notify, spend

__all__ = [
    "BETA_ZERO",
    "DONE",
    "HARMONIC",
    "LENGTH2",
    "MAX_GRADIENT_CHECKS",
    "MORE",
    "N_SHORT_STEPS",
    "STALLED",
    "STATE_SIZE",
    "STEPS",
    "STEP_LENGTH2",
    "GaussianSubproblem",
    "GramMatrix",
    "Minimum",
    "filled_in_order",
    "minimise",
    "sgd_steps",
    "snapped_to_bounds",
    "violation",
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
        The minimiser: the bounds hold exactly, the sum up to rounding.
    gradient : ndarray of shape (n,)
        ``2 K β - diag(K)``, computed afresh at the end.
    gap : float
        Largest violation of the optimality conditions, in units of the gradient.
    status : Status
        Status, whose number of iterations counts the pairs moved.
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
            notify(Report("smo", n_moved, max_iter))
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


MORE, DONE, STALLED = 0, 1, 2
"""How a call of the compiled loop ended: at its limit of pairs, within the tolerance, or where rounding leaves β as it
is."""

GAUSSIAN_CHUNK_WORK = 100_000_000
"""Pairs times points of one call of the compiled loop: some 50 ms, so that Ctrl-C takes effect soon."""

"""Least curvature along a pair, ``4 - 4 k(x_i, x_j)``; where rounding makes it 0, the step needs a positive one."""

_BLOCK = 128
"""Variables of one block of `_step`: the gradients of a block stay in the first-level cache."""

_HUGE = 1e300
"""Number above every gradient, used for infinity, which the compiler flags of `_NO_NAN` do not allow."""

_NO_NAN = {*FAST, "nnan"}
"""Compiler flags. Gradients are finite, and minima become vector instructions only if the compiler may ignore NaN."""


@final
@attrs.define(eq=False)
class GaussianSubproblem:
    """The dual on one set of points, with the columns of its kernel matrix that were computed so far.

    Parameters
    ----------
    points : ndarray of shape (m, d), float64 or float32
        Kernel values are computed in the type of the points.
    kernel : Gaussian
    bounds : ndarray of shape (m,)
    columns : ndarray of shape (d, m)
        The transposed points, contiguous.
    pool : ndarray of shape (slots, m)
        Columns of K computed so far; a full pool is emptied as a whole.
    slot : ndarray of shape (m,)
        Row of the pool that holds the column of a point, -1 if none does.
    used : int
        Rows of the pool in use.
    """

    points: Array
    kernel: Gaussian
    bounds: Array
    columns: Array
    pool: Array
    slot: Indices
    used: int = 0

    @classmethod
    def of(cls, points: Array, kernel: Gaussian, bounds: Array, pool_bytes: int) -> GaussianSubproblem:
        """The problem with room for all columns, or for as many as fit into `pool_bytes`, but two at least.

        Sparse rows, and dense rows with many attributes whose columns all fit, have the whole matrix computed at once.

        Raises
        ------
        NeedsMemory
            If sparse rows need a matrix larger than `pool_bytes` and than the memory cap.
        """
        m = len(points)
        slots = min(m, max(2, pool_bytes // (points.itemsize * m)))
        sparse = isinstance(points, SparseRows)
        if sparse or (points.shape[1] > EXPLICIT_SUMS and slots == m):
            if slots < m:
                memory.require(
                    points.itemsize * m * m,
                    f"the {m} x {m} kernel values of a working set of sparse samples",
                    "Use fewer rows, or reduce the attributes first (featuremap 'pca').",
                )
            pool, slot = kernel(points, points), np.arange(m)
            # the compiled loop never reads the points where all columns are in the pool
            points = np.empty((m, 0), points.dtype) if sparse else points
            return cls(points, kernel, bounds, np.empty((0, m), points.dtype), pool, slot, m)
        pool = np.empty((slots, m), dtype=points.dtype)
        return cls(points, kernel, bounds, np.ascontiguousarray(points.T), pool, np.full(m, -1))

    def move(self, beta: Array, G: Array, tol: float, limit: int) -> tuple[int, int]:
        """Move up to `limit` pairs, `beta` and `G` in place: one of `MORE`, `DONE`, `STALLED`, and the pairs moved."""
        limit = min(limit, max(1000, GAUSSIAN_CHUNK_WORK // len(beta)))
        code, moved, self.used = _move_gaussian(
            self.points, self.columns, self.points.dtype.type(self.kernel.gamma), self.pool, self.slot, self.used,
            G, beta, self.bounds, tol, limit,
        )  # fmt: skip
        return code, moved


def violation(beta: Array, G: Array, bounds: Array) -> tuple[float, float]:
    """Smallest G among the variables that may grow, largest G among those that may shrink; ±1e300 if there is none.

    The optimality gap is the second number less the first. O(n).
    """
    low, high = _extremes(G, beta, bounds)
    return float(low), float(high)


@njit(fastmath=_NO_NAN)
def _extremes(G: Any, beta: Any, bounds: Any) -> Any:
    low, high = _HUGE, -_HUGE
    for t in range(len(G)):
        low = min(low, G[t] if beta[t] < bounds[t] else _HUGE)
        high = max(high, G[t] if beta[t] > 0.0 else -_HUGE)
    return low, high


@njit(fastmath=_NO_NAN)
def _step(G: Any, column: Any, other: Any, change: Any, barrier: Any) -> Any:
    """Update the gradient by ``change (column - other)`` and choose the variable to grow: (index, its G).

    The choice is the variable of smallest G, the first of equals; the index is -1 if no variable may grow. `barrier` is
    0 for variables that may grow and `_HUGE` for all others.
    """
    best, where = _HUGE, 0
    for first in range(0, len(G), _BLOCK):
        g, wall = G[first : first + _BLOCK], barrier[first : first + _BLOCK]
        up, down = column[first : first + _BLOCK], other[first : first + _BLOCK]
        low = _HUGE
        for t in range(len(g)):
            value = g[t] + change * (up[t] - down[t])
            g[t] = value
            low = min(low, value + wall[t])
        if low < best:
            best, where = low, first
    for t in range(where, len(G)):
        if G[t] == best and barrier[t] == 0.0:
            return t, best
    return -1, best


@njit
def _partner(G: Any, low: Any, column: Any, members: Any) -> Any:
    """Second-order choice of the variable to shrink, the first of equals, and the largest G among `members`.

    `low` and `column` are the G and the kernel column of the variable to grow (Fan, Chen & Lin 2005, WSS 2).
    """
    top, where, best, under = -_HUGE, -1, -1.0, 1.0
    for t in members:
        top = max(top, G[t])
        fall = G[t] - low
        if fall > 0.0:
            score, curvature = fall * fall, max(4.0 - 4.0 * column[t], SMALLEST_CURVATURE)
            # score / curvature > best / under without a division
            ahead = score * under - best * curvature
            if ahead > 0.0 or (ahead == 0.0 and t < where):
                where, best, under = t, score, curvature
    return where, top


@njit(fastmath=FAST)
def _fill(y: Any, columns: Any, gamma: Any, distances: Any, column: Any) -> Any:
    """One column of K: the kernel values of y with all points, whose coordinates are `columns` (d, m)."""
    for first in range(0, columns.shape[1], CENTRES):
        size = min(CENTRES, columns.shape[1] - first)
        distances_to(y, columns, first, size, distances)
        part = column[first : first + size]
        for s in range(size):
            part[s] = fast_exp(-gamma * distances[s])


@njit
def _move_gaussian(
    points: Any, columns: Any, gamma: Any, pool: Any, slot: Any, used: Any, G: Any, beta: Any, bounds: Any, tol: Any,
    limit: Any,
) -> Any:  # fmt: skip
    """Move up to `limit` pairs in place: (`MORE`, `DONE` or `STALLED`, pairs moved, slots used)."""
    m = len(beta)
    distances, barrier = np.empty(CENTRES, dtype=points.dtype), np.empty(m)
    # The variables that may shrink are few: a list of them, and the place of every variable in it.
    members, place, count = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64), 0
    i, low = -1, _HUGE
    for t in range(m):
        barrier[t] = 0.0 if beta[t] < bounds[t] else _HUGE
        if barrier[t] == 0.0 and G[t] < low:
            i, low = t, G[t]
        if beta[t] > 0.0:
            members[count], place[t] = t, count
            count += 1
    for moved in range(limit):
        if i < 0:
            return DONE, moved, used
        if slot[i] < 0:
            if used == len(pool):
                slot[:] = -1
                used = 0
            _fill(points[i], columns, gamma, distances, pool[used])
            slot[i] = used
            used += 1
        column = pool[slot[i]]
        j, top = _partner(G, low, column, members[:count])
        if top - low <= tol:
            return DONE, moved, used
        if slot[j] < 0:
            if used == len(pool):
                # the pool is full: only the column of i stays, in the first slot
                for t in range(m):  # whole rows would be checked for their shapes, which takes a second to compile
                    pool[0, t] = column[t]
                slot[:] = -1
                slot[i], used = 0, 1
                column = pool[0]
            _fill(points[j], columns, gamma, distances, pool[used])
            slot[j] = used
            used += 1
        other = pool[slot[j]]
        room, step = bounds[i] - beta[i], (G[j] - low) / max(4.0 - 4.0 * column[j], SMALLEST_CURVATURE)
        # Bounds are met exactly: a residue of rounding would keep a variable among those that may move for ever.
        if step >= beta[j] or step >= room:
            step = min(beta[j], room)
            grown = bounds[i] if step == room else beta[i] + step
            shrunk = 0.0 if step == beta[j] else beta[j] - step
        else:
            grown, shrunk = min(beta[i] + step, bounds[i]), max(beta[j] - step, 0.0)
        if grown == beta[i] and shrunk == beta[j]:
            return STALLED, moved, used
        if beta[i] == 0.0:
            members[count], place[i] = i, count
            count += 1
        if shrunk == 0.0:
            count -= 1
            last = members[count]
            members[place[j]], place[last] = last, place[j]
        if grown == bounds[i]:
            barrier[i] = _HUGE
        barrier[j] = 0.0
        beta[i], beta[j] = grown, shrunk
        i, low = _step(G, column, other, 2.0 * step, barrier)
    return MORE, limit, used


STEPS, LENGTH2, HARMONIC, N_SHORT_STEPS, STEP_LENGTH2 = range(5)
"""Entries of the state: number t of steps, ``Σ c_i c_j K_ij``, ``Σ_{s<=t} 1/s``, number of steps in a row that were no
longer than the tolerance, squared length of the last step."""

STATE_SIZE = 5
"""Number of entries of the state."""


@njit
def sgd_steps(
    drawn: Any, K: Any, products: Any, counts: Any, delays: Any, state: Any, C: Any, step_tol: Any, t_min: Any,
    n_short: Any,
) -> Any:  # fmt: skip
    """Take the steps ``drawn``, changing the arrays in place, until the stop criterion holds; returns whether it does.

    Parameters
    ----------
    drawn : ndarray of int64, shape (T,)
        Samples of the steps, as rows of K.
    K : ndarray of shape (u, u)
        Inner products between the samples that occur.
    products : ndarray of shape (u,)
        ``h_j = Σ_i c_i K_ij`` over all samples counted so far.
    counts : ndarray of int64, shape (u,)
        ``c_i``: number of steps at which sample i was drawn and violated its margin.
    delays : ndarray of shape (u,)
        Sum over those steps τ of ``Σ_{s<τ} 1/s``: the part that the mean over all iterates lacks.
    state : ndarray of shape (STATE_SIZE,)
    C, step_tol : float
    t_min, n_short : int
        The criterion: at least t_min steps, and the last `n_short` of them no longer than `step_tol`. It never holds if
        `n_short` is 0.

    Notes
    -----
    The iterate before step t is ``w_t = C/(t-1) Σ c_i φ(x_i)``; counts are exact, so no rounding errors add up. O(1) a
    step, and O(u) where the sample violates its margin.
    """
    for k in range(len(drawn)):
        j = drawn[k]
        state[STEPS] += 1.0
        t = state[STEPS]
        scale = C / (t - 1.0) if t > 1.0 else 0.0
        score, square = scale * products[j], K[j, j]
        step2 = scale * scale * state[LENGTH2]
        if score < 1.0:
            step2 += C * (C * square - 2.0 * score)
            state[LENGTH2] += 2.0 * products[j] + square
            counts[j] += 1
            delays[j] += state[HARMONIC]
            row = K[j]
            for i in range(len(products)):
                products[i] += row[i]
        step2 = max(step2, 0.0) / (t * t)
        state[STEP_LENGTH2] = step2
        state[HARMONIC] += 1.0 / t
        state[N_SHORT_STEPS] = state[N_SHORT_STEPS] + 1.0 if step2 <= step_tol * step_tol else 0.0
        if n_short > 0 and t >= t_min and state[N_SHORT_STEPS] >= n_short:
            return True
    return False
