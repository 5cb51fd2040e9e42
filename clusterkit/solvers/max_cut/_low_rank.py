"""The semidefinite program of maximum cuts: its bounds, and low-rank coordinate descent."""

from __future__ import annotations

import attrs
import numpy as np
from scipy.linalg import eigh

from clusterkit._typing import Array, Rng
from clusterkit.core.progress import Report, tell
from clusterkit.solvers.max_cut._low_rank_jit import sweep

__all__ = ["MaxCut", "Solution", "default_rank", "descend"]

RELAXATION = 1.5
"""Between 1.3 and 1.8 all take about as many sweeps, a third of those without."""
FIRST_CHECK, NEXT_CHECK = 20, 1.25
"""Sweeps before the first dual bound, and by which factor before the next: a bound costs about 100 sweeps."""


@attrs.frozen(eq=False)
class MaxCut:
    """``min <S, W> + price Σ_i max(0, 1 - W_ii)`` over ``W ⪰ 0``; price inf means ``W_ii >= 1``.

    The dual is ``max Σ g_i`` over ``S - diag(g) ⪰ 0``, ``0 <= g_i <= price``.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Positive definite.
    inverse : ndarray of shape (n, n)
        Of S.
    price : float
    """

    S: Array
    inverse: Array
    price: float = np.inf

    @property
    def n(self) -> int:
        """Order of the matrices."""
        return len(self.S)

    def value(self, products: Array, lengths: Array) -> float:
        """Primal value, of ``products_i = (S W)_ii`` and ``lengths_i = W_ii``."""
        short = float(np.maximum(0.0, 1.0 - lengths).sum()) if np.isfinite(self.price) else 0.0
        return float(products.sum()) + (self.price * short if short else 0.0)

    def bound(self, g: Array) -> float:
        """Dual value of the multipliers g (n,) after they were made feasible: below every primal value.

        Cut to [0, price] and scaled by the largest factor that leaves ``S - diag(g)`` positive semidefinite: 1 over
        the largest eigenvalue of ``D S⁻¹ D`` with ``D² = diag(g)``. O(n³).
        """
        g = np.clip(g, 0.0, self.price)
        root = np.sqrt(g)
        scaled = root[:, None] * self.inverse * root
        last = self.n - 1
        largest = float(eigh(scaled, eigvals_only=True, subset_by_index=[last, last], check_finite=False)[0])
        return float(g.sum()) / max(1.0, largest)


@attrs.frozen(eq=False)
class Solution:
    """What was found.

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
    """Distance of the bounds relative to the upper one, not negative."""
    return max(0.0, value - bound) / value if value > 0.0 else 0.0


def default_rank(n: int) -> int:
    """Columns that are enough: some solution has rank r with ``r (r + 1) / 2 <= n`` (Barvinok, Pataki)."""
    return int(np.ceil(np.sqrt(2.0 * n))) + 1


def descend(problem: MaxCut, rank: int, tol: float, max_iter: int, rng: Rng) -> Solution:
    """Low-rank coordinate descent ``W = VV'`` from a random start; O(n² r) a sweep, O(n³) a dual bound."""
    S, n = problem.S, problem.n
    # smoothed by S⁻¹: what S weighs most is what a random start has too much of
    V = problem.inverse @ rng.standard_normal((n, rank))
    V /= np.linalg.norm(V, axis=1)[:, None]
    scratch = np.empty(rank)
    history: list[float] = []
    best, interrupted, check = 0.0, False, FIRST_CHECK
    try:
        for turn in range(1, max_iter + 1):
            sweep(S, V, scratch, problem.price, RELAXATION)
            products, lengths = _diagonals(S, V)
            history.append(problem.value(products, lengths))
            tell(Report("gmmc", turn, max_iter, history[-1]))
            if turn >= check or turn == max_iter:
                best = max(best, problem.bound(_multipliers(products, lengths)))
                if relative_gap(history[-1], best) <= tol:
                    break
                check = max(turn + 1, int(NEXT_CHECK * turn))
    except KeyboardInterrupt:
        interrupted = True
        products, lengths = _diagonals(S, V)
        history.append(problem.value(products, lengths))
    value = history[-1]
    gap = relative_gap(value, best)
    converged = gap <= tol and not interrupted
    if interrupted:
        reason = f"interrupted after {len(history)} sweeps: the matrix so far is kept"
    elif converged:
        reason = f"tolerance reached: relative gap {gap:.1e}"
    else:
        reason = f"max_iter = {max_iter} sweeps reached with relative gap {gap:.1e}"
    weights, vectors = np.linalg.eigh(V.T @ V)
    weights = np.maximum(weights[::-1], 0.0)
    shares = weights / max(float(weights.sum()), np.finfo(np.float64).tiny)
    leading = np.asarray(V @ vectors[:, -1])
    return Solution(leading, shares, lengths, value, best, len(history), converged, interrupted, reason, tuple(history))


def _diagonals(S: Array, V: Array) -> tuple[Array, Array]:
    """Diagonals of S W and W for ``W = VV'``."""
    return np.einsum("ij,ij->i", S @ V, V), np.einsum("ij,ij->i", V, V)


def _multipliers(products: Array, lengths: Array) -> Array:
    """g of ``(S V)_i = g_i v_i``, which holds where no row can be improved."""
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0.0)
