"""Sequential minimal optimisation over the capped simplex, and the gradient steps of `lmsvc`.

    minimise  f(β) = β'Kβ - Σ K_ii β_i   subject to  Σ β_i = 1,  0 <= β_i <= bound_i

Two variables move at a time, chosen by second-order information (Fan, Chen & Lin 2005, WSS 2). With a Gaussian kernel
(`GaussianSubproblem`) K_ii is 1, the sum is that of a set of points, and the gradient is ``G = 2 K β - 1``. A column of
K is computed when a pair first needs it: a solution has few support vectors, so most columns are never needed. The pair
step is `_move_gaussian`; `_step` updates the gradient and chooses the variable to grow, `_partner` the variable to
shrink. The numpy twin of the loop is ``smo`` in ``clusterkit_campaign/oracles/one_class.py``.

`sgd_steps` are steps of stochastic gradient descent for the hyperplane of `lmsvc`, on inner products of the samples
drawn.
"""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices
from clusterkit.contracts.outcomes import Ending, Status
from clusterkit.numerics.gaussian_jit import CENTRES, FAST, distances_to, fast_exp
from clusterkit.samples.kernels import EXPLICIT_SUMS, Gaussian

BETA_ZERO = 1e-12
"""Weights within this distance of a bound count as at the bound: four digits above the rounding of weights that sum to
1."""

SMALLEST_CURVATURE = 1e-12
"""Smallest curvature along a pair: equal samples, where it is 0, need a positive one."""

MAX_GRADIENT_CHECKS = 10
"""Largest number of times that the loop may reach the tolerance by its updated gradient while a fresh gradient says
otherwise. Each time costs a product with K; where ten do not help, `tol` is below rounding."""


@final
@attrs.frozen(eq=False)
class Minimum:
    """The point at which the minimisation ended.

    Parameters
    ----------
    beta : ndarray of shape (n,)
        The minimiser: the bounds hold exactly, the sum up to rounding.
    gradient : ndarray of shape (n,)
        ``2 K β - 1``, computed afresh at the end.
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


def filled_in_order(order: Indices, bounds: Array) -> Array:
    """Weights of sum 1 that fill the variables up to their bounds in the order `order`; O(n)."""
    filled = np.cumsum(bounds[order])
    beta = np.zeros(len(bounds))
    beta[order] = np.clip(1.0 - (filled - bounds[order]), 0.0, bounds[order])
    return beta


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


MORE, DONE, STALLED = 0, 1, 2
"""How a call of the compiled loop ended: at its limit of pairs, within the tolerance, or where rounding leaves β as it
is."""

GAUSSIAN_CHUNK_WORK = 100_000_000
"""Pairs times points of one call of the compiled loop: some 50 ms, so that Ctrl-C takes effect soon."""

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

        Rows with many attributes whose columns all fit have the whole matrix computed at once.
        """
        m = len(points)
        slots = min(m, max(2, pool_bytes // (points.itemsize * m)))
        if points.shape[1] > EXPLICIT_SUMS and slots == m:
            # the compiled loop never reads the points where all columns are in the pool
            return cls(points, kernel, bounds, np.empty((0, m), points.dtype), kernel(points, points), np.arange(m), m)
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


STEPS, LENGTH2, HARMONIC, STEP_LENGTH2 = range(4)
"""Entries of the state: number t of steps, ``Σ c_i c_j K_ij``, ``Σ_{s<=t} 1/s``, squared length of the last step."""

STATE_SIZE = 4
"""Number of entries of the state."""


@njit
def sgd_steps(
    drawn: Any, K: Any, products: Any, counts: Any, delays: Any, state: Any, C: Any, step_tol: Any, t_min: Any,
    may_end: Any,
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
    t_min : int
        The criterion: at least t_min steps, and the last of them no longer than `step_tol`.
    may_end : bool
        Whether the criterion may hold at all.

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
        if may_end and t >= t_min and step2 <= step_tol * step_tol:
            return True
    return False
