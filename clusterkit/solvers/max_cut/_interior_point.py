"""A primal-dual interior point method for the semidefinite program of maximum cuts."""

from __future__ import annotations

import attrs
import numpy as np
from scipy.linalg import lapack

from clusterkit._typing import Array
from clusterkit.core.progress import Report, tell
from clusterkit.solvers.max_cut._low_rank import MaxCut, Solution, relative_gap

__all__ = ["interior"]

BACK, COARSE, KEPT = 0.85, 0.6, 0.95
"""A step that leaves the cone is shortened by the first (of the predictor by the second), one near its border by the
third."""
SMALLEST_STEP = 1e-6
LEAST_CENTRING = 0.01


@attrs.frozen(eq=False)
class _Point:
    """Strictly feasible: W and ``S - diag(g)`` positive definite, ``s = W_ii - 1 + p > 0``, ``0 < g < price``, p > 0.

    p is what rows fall short of the margin by; without a price it is 0.
    """

    W: Array
    p: Array
    g: Array

    @property
    def s(self) -> Array:
        return self.W.diagonal() - 1.0 + self.p


def interior(problem: MaxCut, tol: float, max_iter: int) -> Solution:
    """Predictor-corrector steps in the direction of Helmberg, Rendl, Vanderbei and Wolkowicz.

    O(n³) an iteration, some 20 of them, about nine n x n matrices. Nothing is random.
    """
    S, soft = problem.S, bool(np.isfinite(problem.price))
    point = _start(problem)
    history: list[float] = []
    interrupted, stuck, bound = False, False, 0.0
    try:
        for turn in range(1, max_iter + 1):
            value = float(np.vdot(S, point.W)) + (problem.price * float(point.p.sum()) if soft else 0.0)
            history.append(value)
            bound = float(point.g.sum())
            tell(Report("gmmc", turn, max_iter, value))
            if relative_gap(value, bound) <= tol or turn == max_iter:
                break
            moved = _move(problem, point)
            if moved is None:
                stuck = True
                break
            point = moved
    except KeyboardInterrupt:
        if not history:
            raise
        interrupted = True
    gap = relative_gap(history[-1], bound)
    converged = gap <= tol and not interrupted
    if interrupted:
        reason = f"interrupted after {len(history)} iterations: the matrix so far is kept"
    elif converged:
        reason = f"tolerance reached: relative gap {gap:.1e}"
    elif stuck:
        reason = f"rounding ends the iteration at relative gap {gap:.1e}"
    else:
        reason = f"max_iter = {max_iter} iterations reached with relative gap {gap:.1e}"
    weights, vectors = np.linalg.eigh(point.W)
    weights = np.maximum(weights[::-1], 0.0)
    leading = np.sqrt(weights[0]) * vectors[:, -1]
    return Solution(
        leading, weights / weights.sum(), point.W.diagonal().copy(), history[-1], bound, len(history), converged,
        interrupted, reason, tuple(history),
    )  # fmt: skip


def _start(problem: MaxCut) -> _Point:
    """S⁻¹ with its diagonal scaled to 1.1, and equal multipliers below the least eigenvalue of S."""
    n, inverse = problem.n, problem.inverse
    least = 1.0 / float(np.abs(inverse).sum(axis=1).max())
    g = np.full(n, min(0.9 * least, 0.5 * problem.price))
    root = 1.0 / np.sqrt(inverse.diagonal())
    W = 1.1 * root[:, None] * inverse * root
    return _Point(W, np.full(n, 0.1 if np.isfinite(problem.price) else 0.0), g)


def _move(problem: MaxCut, point: _Point) -> _Point | None:
    """The next point; None if rounding leaves no step.

    The conditions ``W Z = μ I``, ``g s = μ``, ``p (price - g) = μ`` with ``Z = S - diag(g)`` are linearised; W's part
    is made symmetric. What remains is one system for the change d of g:
    ``(W ∘ Z⁻¹ + diag(s/g + p/(price - g))) d = 1 + μ (1/g - diag(Z⁻¹) - 1/(price - g))``.
    """
    W, p, g, s = point.W, point.p, point.g, point.s
    n, soft = problem.n, bool(np.isfinite(problem.price))
    room = problem.price - g  # inf without a price: its terms are 0
    Z = problem.S.copy()
    Z[np.diag_indices(n)] -= g
    inverse = _inverse(Z)
    if inverse is None:
        return None
    z = inverse.diagonal()
    H = W * inverse
    H[np.diag_indices(n)] += s / g + p / room
    factor, failed = lapack.dpotrf(H, lower=1, overwrite_a=1)
    if failed:
        return None
    mu = (float(np.vdot(W, Z)) + g @ s + (room @ p if soft else 0.0)) / ((3 if soft else 2) * n)

    # where the step to μ = 0 would lead, and how far it can go
    d0 = lapack.dpotrs(factor, np.ones(n), lower=1)[0]
    P = (W * d0) @ inverse
    dW0 = 0.5 * (P + P.T) - W
    dp0 = p / room * d0 - p
    ds0 = dW0.diagonal() + dp0
    primal, dual = _lengths(problem, point, Z, dW0, dp0, ds0, d0, COARSE)
    left = float(np.vdot(W + primal * dW0, Z)) - dual * float((W + primal * dW0).diagonal() @ d0)
    left += (g + dual * d0) @ (s + primal * ds0)
    left += (room - dual * d0) @ (p + primal * dp0) if soft else 0.0
    share = left / ((3 if soft else 2) * n * mu)
    mu *= min(1.0, max(LEAST_CENTRING, share * share))

    # with the products of that step as second-order terms
    second, third = d0 * ds0, d0 * dp0
    right = 1.0 + mu * (1.0 / g - z - 1.0 / room) - second / g - third / room - (dW0 * inverse) @ d0
    d = lapack.dpotrs(factor, right, lower=1)[0]
    P = (W * d + dW0 * d0) @ inverse
    dW = mu * inverse - W + 0.5 * (P + P.T)
    dp = (mu + third + p * d) / room - p
    ds = dW.diagonal() + dp
    primal, dual = _lengths(problem, point, Z, dW, dp, ds, d, BACK)
    if max(primal, dual) < SMALLEST_STEP:
        return None
    return _Point(W + primal * dW, p + primal * dp, g + dual * d)


def _lengths(
    problem: MaxCut, point: _Point, Z: Array, dW: Array, dp: Array, ds: Array, d: Array, back: float
) -> tuple[float, float]:
    """Steps, at most 1, that stay inside: of W, p and s, and of g."""
    primal = _in_cone(point.W, dW, min(_positive(point.s, ds), _positive(point.p, dp)), back)
    dual = _in_cone(Z, np.diag(-d), min(_positive(point.g, d), _positive(problem.price - point.g, -d)), back)
    return primal, dual


def _positive(x: Array, dx: Array) -> float:
    """The step at which an entry of x > 0 reaches 0; entries that are constant at 0 do not count."""
    falls = dx < 0.0
    return float((-x[falls] / dx[falls]).min()) if falls.any() else np.inf


def _in_cone(A: Array, dA: Array, most: float, back: float) -> float:
    """A step up to `most` and 1 for which ``A + step dA`` is positive definite, kept off the border."""
    step = min(1.0, KEPT * most)
    while step >= SMALLEST_STEP:
        if not lapack.dpotrf(A + step * dA, lower=1, overwrite_a=1, clean=0)[1]:
            return step if step == 1.0 else KEPT * step
        step *= back
    return 0.0


def _inverse(A: Array) -> Array | None:
    """Of a positive definite matrix; None if it is not."""
    factor, failed = lapack.dpotrf(A, lower=1, clean=1)
    if failed:
        return None
    half, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if failed:
        return None
    lower = np.tril(half)
    return np.asarray(lower + np.tril(lower, -1).T)
