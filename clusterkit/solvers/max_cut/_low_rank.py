"""The semidefinite program of maximum cuts with its bounds, and low-rank coordinate descent for it.

The step of the descent is in ``_low_rank_jit.py`` (sweep).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import ClassVar

import attrs
import numpy as np
from scipy.linalg import eigh

from clusterkit._typing import Array, Rng
from clusterkit.core.iteration import Start, Turn, Turns, solve
from clusterkit.core.outcomes import Ending, Status
from clusterkit.solvers.max_cut._low_rank_jit import sweep

__all__ = ["MaxCutProblem", "MaxCutSolution", "default_rank", "low_rank_descent"]

RELAXATION = 1.5
"""Relaxation factor of the sweeps. All values between 1.3 and 1.8 take about as many sweeps, a third of the number that
1 takes."""

FIRST_CHECK, NEXT_CHECK = 20, 1.25
"""Sweeps before the first dual bound, and the factor from there to the next: a bound costs about 100 sweeps."""


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

    def value(self, products: Array, lengths: Array) -> float:
        """Primal value from ``products_i = (S W)_ii`` and ``lengths_i = W_ii``."""
        short = float(np.maximum(0.0, 1.0 - lengths).sum()) if np.isfinite(self.price) else 0.0
        return float(products.sum()) + (self.price * short if short else 0.0)

    def bound(self, g: Array) -> float:
        """Dual value of the multipliers g (n,) after they were made feasible: below every primal value.

        They are cut to [0, price] and scaled by the largest factor up to 1 that leaves ``S - diag(g)`` positive
        semidefinite: 1 over the largest eigenvalue of ``D S⁻¹ D`` with ``D² = diag(g)``. O(n³).
        """
        g = np.clip(g, 0.0, self.price)
        root = np.sqrt(g)
        scaled = root[:, None] * self.inverse * root
        last = self.n - 1
        largest = float(eigh(scaled, eigvals_only=True, subset_by_index=[last, last], check_finite=False)[0])
        return float(g.sum()) / max(1.0, largest)


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
        How the iterations ended; its history has the primal values.
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


def default_rank(n: int) -> int:
    """Sufficient number of columns: some optimum has a rank r with ``r (r + 1) / 2 <= n`` (Barvinok, Pataki)."""
    return int(np.ceil(np.sqrt(2.0 * n))) + 1


def low_rank_descent(problem: MaxCutProblem, rank: int, tol: float, max_iter: int, rng: Rng) -> MaxCutSolution:
    """Low-rank coordinate descent ``W = VV'`` from a random start; O(n² r) a sweep, O(n³) a dual bound.

    Parameters
    ----------
    problem : MaxCutProblem
    rank : int
        Columns r of V.
    tol : float
        Relative gap at which to stop.
    max_iter : int
        Most sweeps.
    rng : Generator
        Draws the start.
    """
    # smoothed by S⁻¹: a random start is too large in the directions that S weighs most
    V = problem.inverse @ rng.standard_normal((problem.n, rank))
    V /= np.linalg.norm(V, axis=1)[:, None]
    turns = _Sweeps(problem, V, tol, max_iter)
    _, status = solve(turns, Start(0, None, keeps_best=False), max_iter)
    weights, vectors = np.linalg.eigh(V.T @ V)
    weights = np.maximum(weights[::-1], 0.0)
    shares = weights / max(float(weights.sum()), np.finfo(np.float64).tiny)
    leading = np.asarray(V @ vectors[:, -1])
    return MaxCutSolution(leading, shares, _diagonals(problem.S, V)[1], turns.bound, status)


@attrs.define(eq=False)
class _Sweeps(Turns[Array]):
    """Sweeps that change V in place; the dual bound, and with it the gap, is computed now and then, and at the end."""

    problem: MaxCutProblem
    V: Array
    tol: float
    max_iter: int
    bound: float = 0.0
    _next_check: int = FIRST_CHECK

    name = "gmmc"
    sentences: ClassVar[Mapping[Ending, str]] = {
        Ending.SETTLED: "tolerance reached: relative gap {detail}",
        Ending.INTERRUPTED: "interrupted after {n} sweeps: the matrix so far is returned",
        Ending.OUT_OF_ITERATIONS: "max_iter = {most} sweeps reached with relative gap {detail}",
    }

    def advance(self, active: list[Start[Array]]) -> Iterator[Turn[Array]]:
        """One sweep."""
        [start] = active
        sweep(self.problem.S, self.V, np.empty(self.V.shape[1]), self.problem.price, RELAXATION)
        products, lengths = self._judge(start)
        gap, n_sweeps = math.inf, start.n_iter
        if n_sweeps >= self._next_check or n_sweeps == self.max_iter:
            self.bound = max(self.bound, self.problem.bound(_multipliers(products, lengths)))
            gap = relative_gap(start.last, self.bound)
            self._next_check = max(n_sweeps + 1, int(NEXT_CHECK * n_sweeps))
        yield Turn(self.V, None, Ending.SETTLED if gap <= self.tol else None, f"{gap:.1e}")

    def recover(self, start: Start[Array]) -> None:
        """The rows that a sweep has changed so far."""
        self._judge(start)
        start.answer = self.V

    def _judge(self, start: Start[Array]) -> tuple[Array, Array]:
        products, lengths = _diagonals(self.problem.S, self.V)
        start.judge(self.problem.value(products, lengths))
        return products, lengths


def _diagonals(S: Array, V: Array) -> tuple[Array, Array]:
    """Diagonals of S W and W for ``W = VV'``."""
    return np.einsum("ij,ij->i", S @ V, V), np.einsum("ij,ij->i", V, V)


def _multipliers(products: Array, lengths: Array) -> Array:
    """The multipliers g with ``(S V)_i = g_i v_i``, an equation that holds where no row can be improved."""
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0.0)
