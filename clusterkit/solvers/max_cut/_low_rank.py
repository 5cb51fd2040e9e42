"""The semidefinite program of maximum cuts with its bounds, and low-rank coordinate descent for it.

The step of the descent is in ``_low_rank_jit.py`` (sweep).
"""

from __future__ import annotations

import attrs
import numpy as np
from scipy.linalg import eigh

from clusterkit._typing import Array, Rng
from clusterkit.core.progress import Report, tell
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
    value, bound : float
        Primal and dual value; the optimum lies between.
    n_iter : int
    converged, interrupted : bool
    reason : str
    history : tuple of float
        Primal value after each iteration.
    """

    leading: Array
    shares: Array
    lengths: Array
    value: float
    bound: float
    n_iter: int
    converged: bool
    interrupted: bool
    reason: str
    history: tuple[float, ...]

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
    S, n = problem.S, problem.n
    # smoothed by S⁻¹: a random start is too large in the directions that S weighs most
    V = problem.inverse @ rng.standard_normal((n, rank))
    V /= np.linalg.norm(V, axis=1)[:, None]
    work_space = np.empty(rank)
    history: list[float] = []
    best_bound, interrupted, next_check = 0.0, False, FIRST_CHECK
    try:
        for n_sweeps in range(1, max_iter + 1):
            sweep(S, V, work_space, problem.price, RELAXATION)
            products, lengths = _diagonals(S, V)
            history.append(problem.value(products, lengths))
            tell(Report("gmmc", n_sweeps, max_iter, history[-1]))
            if n_sweeps >= next_check or n_sweeps == max_iter:
                best_bound = max(best_bound, problem.bound(_multipliers(products, lengths)))
                if relative_gap(history[-1], best_bound) <= tol:
                    break
                next_check = max(n_sweeps + 1, int(NEXT_CHECK * n_sweeps))
    except KeyboardInterrupt:
        interrupted = True
        products, lengths = _diagonals(S, V)
        history.append(problem.value(products, lengths))
    value = history[-1]
    gap = relative_gap(value, best_bound)
    converged = gap <= tol and not interrupted
    if interrupted:
        reason = f"interrupted after {len(history)} sweeps: the matrix so far is returned"
    elif converged:
        reason = f"tolerance reached: relative gap {gap:.1e}"
    else:
        reason = f"max_iter = {max_iter} sweeps reached with relative gap {gap:.1e}"
    weights, vectors = np.linalg.eigh(V.T @ V)
    weights = np.maximum(weights[::-1], 0.0)
    shares = weights / max(float(weights.sum()), np.finfo(np.float64).tiny)
    leading = np.asarray(V @ vectors[:, -1])
    return MaxCutSolution(
        leading, shares, lengths, value, best_bound, len(history), converged, interrupted, reason, tuple(history)
    )


def _diagonals(S: Array, V: Array) -> tuple[Array, Array]:
    """Diagonals of S W and W for ``W = VV'``."""
    return np.einsum("ij,ij->i", S @ V, V), np.einsum("ij,ij->i", V, V)


def _multipliers(products: Array, lengths: Array) -> Array:
    """The multipliers g with ``(S V)_i = g_i v_i``, an equation that holds where no row can be improved."""
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0.0)
