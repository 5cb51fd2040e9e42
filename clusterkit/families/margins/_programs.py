"""The semidefinite program of maximum cuts with its bounds.

`interior_point` is a primal-dual interior point method; its step is `_next_point`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import attrs
import numpy as np
from scipy.linalg import lapack

from clusterkit._typing import Array
from clusterkit.contracts.iteration import Iteration, Iterations, Start, solve
from clusterkit.contracts.outcomes import Ending, Status


@attrs.frozen(eq=False)
class MaxCutProblem:
    """``min <S, W> + price Σ_i max(0, 1 - W_ii)`` over ``W ⪰ 0``; price inf means ``W_ii >= 1``.

    The dual is ``max Σ g_i`` over ``S - diag(g) ⪰ 0``, ``0 <= g_i <= price``.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Positive definite.
    inverse : ndarray of shape (n, n)
        Inverse of S.
    price : float
        Cost of a missing unit of W_ii.
    """

    S: Array
    inverse: Array
    price: float = np.inf

    @property
    def n(self) -> int:
        """Order of the matrices."""
        return len(self.S)


@attrs.frozen(eq=False)
class MaxCutSolution:
    """The matrix W at the end, by its leading vector, its spectrum and its diagonal, with both bounds.

    Parameters
    ----------
    leading : ndarray of shape (n,)
        Leading eigenvector of W times the square root of its eigenvalue; the sign is arbitrary.
    shares : ndarray
        Eigenvalues of W over their sum, the largest first.
    lengths : ndarray of shape (n,)
        Diagonal of W.
    bound : float
        Dual value; the optimum lies between it and the primal one.
    status : Status
        How the iterations ended, with the primal values as history.
    """

    leading: Array
    shares: Array
    lengths: Array
    bound: float
    status: Status

    @property
    def value(self) -> float:
        """Primal value."""
        return self.status.history[-1]

    @property
    def gap(self) -> float:
        """Relative gap between the two values."""
        return relative_gap(self.value, self.bound)


def relative_gap(value: float, bound: float) -> float:
    """Difference of the bounds relative to the upper one, not negative."""
    return max(0.0, value - bound) / value if value > 0.0 else 0.0


BACKTRACK, COARSE_BACKTRACK = 0.85, 0.6
"""Factors that shorten a step which leaves the cone: of the corrector, and of the predictor, whose length is only an
estimate."""

BORDER_FRACTION = 0.95
"""Part of the step to the border of the cone that is taken, so that the point stays inside."""

SMALLEST_STEP = 1e-6
"""Step length below which rounding ends the iteration."""

LEAST_CENTRING = 0.01
"""Smallest factor of μ from one iteration to the next, so that steps do not run into the border of the cone."""


@attrs.frozen(eq=False)
class InteriorPoint:
    """A strictly feasible point.

    W and ``S - diag(g)`` are positive definite, ``s = W_ii - 1 + p > 0``, ``0 < g < price`` and p > 0.

    Parameters
    ----------
    W : ndarray of shape (n, n)
    p : ndarray of shape (n,)
        Amounts by which rows may fall short of the margin; 0 without a price.
    g : ndarray of shape (n,)
        Multipliers.
    """

    W: Array
    p: Array
    g: Array

    @property
    def s(self) -> Array:
        """Slacks of ``W_ii >= 1 - p``, (n,)."""
        return self.W.diagonal() - 1.0 + self.p

    @property
    def bound(self) -> float:
        """Dual value."""
        return float(self.g.sum())


def interior_point(problem: MaxCutProblem, tol: float, max_iter: int) -> MaxCutSolution:
    """Predictor-corrector steps in the direction of Helmberg, Rendl, Vanderbei and Wolkowicz.

    O(n³) an iteration, some 20 iterations, about nine n x n matrices. Nothing is random.
    """
    point, status = solve(_PointIterations(problem, tol), Start(0, None, keeps_best=False), max_iter)
    weights, vectors = np.linalg.eigh(point.W)
    weights = np.maximum(weights[::-1], 0.0)
    leading = np.sqrt(weights[0]) * vectors[:, -1]
    return MaxCutSolution(leading, weights / weights.sum(), point.W.diagonal().copy(), point.bound, status)


@attrs.frozen(eq=False)
class _PointIterations(Iterations[InteriorPoint]):
    """Steps from point to point; the first iteration looks at the start."""

    problem: MaxCutProblem
    tol: float

    name = "gmmc"
    sentences: ClassVar[Mapping[Ending, str]] = {
        Ending.SETTLED: "tolerance reached: relative gap {detail}",
        Ending.STALLED: "rounding ends the iteration at relative gap {detail}",
        Ending.INTERRUPTED: "interrupted after {n} iterations: the matrix so far is returned",
        Ending.OUT_OF_ITERATIONS: "max_iter = {most} iterations reached with relative gap {detail}",
    }

    def advance(self, active: list[Start[InteriorPoint]]) -> Iterator[Iteration[InteriorPoint]]:
        """One step, unless rounding leaves none."""
        [start] = active
        problem = self.problem
        point = _start(problem) if start.answer is None else _next_point(problem, start.answer)
        if point is None:
            assert start.answer is not None
            yield Iteration(start.answer, None, Ending.STALLED, start.detail)
            return
        soft = np.isfinite(problem.price)
        start.judge(float(np.vdot(problem.S, point.W)) + (problem.price * float(point.p.sum()) if soft else 0.0))
        gap = relative_gap(start.last, point.bound)
        yield Iteration(point, None, Ending.SETTLED if gap <= self.tol else None, f"{gap:.1e}")


def _start(problem: MaxCutProblem) -> InteriorPoint:
    """S⁻¹ with its diagonal scaled to 1.1, and equal multipliers below the least eigenvalue of S."""
    n, inverse = problem.n, problem.inverse
    least = 1.0 / float(np.abs(inverse).sum(axis=1).max())
    g = np.full(n, min(0.9 * least, 0.5 * problem.price))
    root = 1.0 / np.sqrt(inverse.diagonal())
    W = 1.1 * root[:, None] * inverse * root
    return InteriorPoint(W, np.full(n, 0.1 if np.isfinite(problem.price) else 0.0), g)


def _next_point(problem: MaxCutProblem, point: InteriorPoint) -> InteriorPoint | None:
    """The point after a predictor and a corrector step; None if rounding leaves no step.

    The conditions ``W Z = μ I``, ``g s = μ``, ``p (price - g) = μ`` with ``Z = S - diag(g)`` are linearised; W's part
    is made symmetric. Eliminating all but the change d of g leaves one system:
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

    # predictor: the step to μ = 0, and how far it can go
    d0 = lapack.dpotrs(factor, np.ones(n), lower=1)[0]
    P = (W * d0) @ inverse
    dW0 = 0.5 * (P + P.T) - W
    dp0 = p / room * d0 - p
    ds0 = dW0.diagonal() + dp0
    primal, dual = _lengths(problem, point, Z, dW0, dp0, ds0, d0, COARSE_BACKTRACK)
    remaining = float(np.vdot(W + primal * dW0, Z)) - dual * float((W + primal * dW0).diagonal() @ d0)
    remaining += (g + dual * d0) @ (s + primal * ds0)
    remaining += (room - dual * d0) @ (p + primal * dp0) if soft else 0.0
    share = remaining / ((3 if soft else 2) * n * mu)
    mu *= min(1.0, max(LEAST_CENTRING, share * share))

    # corrector: the products of that step enter as second-order terms
    second, third = d0 * ds0, d0 * dp0
    right = 1.0 + mu * (1.0 / g - z - 1.0 / room) - second / g - third / room - (dW0 * inverse) @ d0
    d = lapack.dpotrs(factor, right, lower=1)[0]
    P = (W * d + dW0 * d0) @ inverse
    dW = mu * inverse - W + 0.5 * (P + P.T)
    dp = (mu + third + p * d) / room - p
    ds = dW.diagonal() + dp
    primal, dual = _lengths(problem, point, Z, dW, dp, ds, d, BACKTRACK)
    if max(primal, dual) < SMALLEST_STEP:
        return None
    return InteriorPoint(W + primal * dW, p + primal * dp, g + dual * d)


def _lengths(
    problem: MaxCutProblem, point: InteriorPoint, Z: Array, dW: Array, dp: Array, ds: Array, d: Array, backtrack: float
) -> tuple[float, float]:
    """Step lengths, at most 1, that stay inside the cones: of W, p and s, and of g."""
    primal = _in_cone(point.W, dW, min(_positive(point.s, ds), _positive(point.p, dp)), backtrack)
    dual = _in_cone(Z, np.diag(-d), min(_positive(point.g, d), _positive(problem.price - point.g, -d)), backtrack)
    return primal, dual


def _positive(x: Array, dx: Array) -> float:
    """The step at which the first entry of x > 0 reaches 0; entries that stay at 0 do not count."""
    falls = dx < 0.0
    with np.errstate(over="ignore"):  # a step that overflows is none that ends
        return float((-x[falls] / dx[falls]).min()) if falls.any() else np.inf


def _in_cone(A: Array, dA: Array, most: float, backtrack: float) -> float:
    """A step up to `most` and 1 for which ``A + step dA`` is positive definite and off the border; 0 if none is."""
    step = min(1.0, BORDER_FRACTION * most)
    while step >= SMALLEST_STEP:
        if not lapack.dpotrf(A + step * dA, lower=1, overwrite_a=1, clean=0)[1]:
            return step if step == 1.0 else BORDER_FRACTION * step
        step *= backtrack
    return 0.0


def _inverse(A: Array) -> Array | None:
    """Inverse of a positive definite matrix; None if it is not positive definite."""
    factor, failed = lapack.dpotrf(A, lower=1, clean=1)
    if failed:
        return None
    half, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if failed:
        return None
    lower = np.tril(half)
    return np.asarray(lower + np.tril(lower, -1).T)
