"""The semidefinite relaxation of maximum margin clustering, and a lower bound that holds whatever the solver returns.

With K the kernel matrix, e the ones and b = 0, a labelling y has the squared inverse margin ``omega(y y')`` with

    omega(M) = max {2 λ'e - λ'(K∘M)λ : 0 <= λ <= C}.

The relaxation minimises omega over M ⪰ 0, M_ii = 1, |M e| <= l. By the dual of the inner maximum (multipliers
μ, ν >= 0) and a Schur complement this is a semidefinite program. omega is convex in M, so there is a saddle point,
and every λ of the box gives a lower bound: 2 λ'e minus the largest <K∘λλ', M>, which weak duality bounds from above.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from clusterkit.samples import KernelSpace
from clusterkit_sdp._cvx import Solution
from clusterkit_sdp._moments import complement, symmetric

__all__ = ["MarginProgram", "certified_bound", "inverse_margin", "without_bias"]


@attrs.frozen(eq=False)
class MarginProgram:
    """The relaxation as a cvxpy problem.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    C : float
        Bound of λ.
    balance_slack : float
        l: bound of ``|N+ - N-|``. From n on it has no effect and is left out; at 0 the rows of M sum to 0.
    problem : cvxpy.Problem
    """

    K: np.ndarray
    C: float
    balance_slack: float
    problem: Any
    _parts: dict[str, Any]

    @classmethod
    def of(cls, K: np.ndarray, C: float, balance_slack: float) -> MarginProgram:
        """The problem for K: n (n + 1) / 2 unknowns, cones of order n and n + 1."""
        import cvxpy as cp

        n = len(K)
        ones = np.ones(n)
        mu, nu, d = cp.Variable(n, nonneg=True), cp.Variable(n, nonneg=True), cp.Variable()
        M = cp.Variable((n, n), PSD=True)
        side = cp.reshape(ones + mu - nu, (n, 1), order="F")
        corner = cp.reshape(d - 2 * C * cp.sum(nu), (1, 1), order="F")
        lmi = cp.bmat([[cp.multiply(K, M), side], [side.T, corner]]) >> 0
        unit = cp.diag(M) == 1
        balance: list[Any] = []
        if balance_slack <= 0:
            balance = [M @ ones == 0]
        elif balance_slack < n:
            balance = [M @ ones <= balance_slack, M @ ones >= -balance_slack]
        problem = cp.Problem(cp.Minimize(d), [lmi, unit, *balance])
        return cls(K, C, balance_slack, problem, {"M": M, "d": d, "mu": mu, "nu": nu, "duals": (lmi, unit, *balance)})

    def solution(self) -> Solution:
        """The values that the conic solver stored in the problem, with the bound and the residuals. O(n³)."""
        n = len(self.K)
        M = symmetric(self._parts["M"].value)
        d, mu, nu = float(self._parts["d"].value), self._parts["mu"].value, self._parts["nu"].value
        side = (1.0 + mu - nu)[:, None]
        corner = d - 2.0 * self.C * nu.sum()
        matrix = np.block([[self.K * M, side], [side.T, np.array([[corner]])]])
        smallest = min(np.linalg.eigvalsh(matrix)[0], np.linalg.eigvalsh(M)[0])
        excess = max(0.0, float(np.abs(M.sum(axis=1)).max()) - self.balance_slack)
        residual = max(float(np.abs(np.diag(M) - 1.0).max()), excess)
        lmi, unit, *balance = self._parts["duals"]
        Z = lmi.dual_value
        lam = np.clip(-symmetric(Z)[:n, n] / max(float(Z[n, n]), 1e-12), 0.0, self.C)
        tilt = None if not balance else balance[0].dual_value
        if len(balance) == 2:
            tilt = tilt - balance[1].dual_value
        lower = certified_bound(self.K, self.C, self.balance_slack, lam, unit.dual_value, tilt)
        return Solution(M, d, lower, float(smallest), {"residual": residual})


def certified_bound(
    K: np.ndarray, C: float, balance_slack: float, lam: np.ndarray, y: np.ndarray, tilt: np.ndarray | None = None
) -> float:
    """A lower bound of the relaxation from any λ in the box, y (n,) and tilt (n,); tight at their optimal values.

    y and tilt are multipliers of the diagonal and of the balance. For a feasible M and
    S = Diag(y) + (t e' + e t') / 2 - K∘λλ' with t the tilt,
    ``<K∘λλ', M> = Σ y + t'M e - <S, M> <= Σ y + l Σ |t| + n max(0, -s)`` with s the smallest eigenvalue of S on
    what M can reach: trace M = n, and M e = 0 where l = 0. O(n³).
    """
    n = len(K)
    S = np.diag(y) - K * np.outer(lam, lam)
    price = 0.0
    if tilt is not None:
        S = S + 0.5 * (tilt[:, None] + tilt[None, :])
        price = balance_slack * float(np.abs(tilt).sum())
    if balance_slack <= 0:
        Q = complement(n)
        S = Q.T @ S @ Q
    smallest = float(np.linalg.eigvalsh(S)[0])
    return 2.0 * float(lam.sum()) - float(y.sum()) - price + n * min(0.0, smallest)


def inverse_margin(K: np.ndarray, signs: np.ndarray, C: float) -> float:
    """omega(y y') of labels ±1 by a projected quasi-Newton method: the objective that the relaxation bounds below."""
    from scipy.optimize import minimize

    A = K * np.outer(signs, signs)
    scale = max(float(np.diag(A).max()), 1e-12)
    start = np.full(len(K), min(C, 1.0 / (scale * len(K))))
    optimum = minimize(
        lambda lam: (lam @ A @ lam - 2.0 * lam.sum(), 2.0 * (A @ lam) - 2.0),
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, C)] * len(K),
        options={"maxiter": 5000, "ftol": 1e-13, "gtol": 1e-9},
    )
    return -float(optimum.fun)


def without_bias(space: KernelSpace) -> tuple[np.ndarray, bool]:
    """The kernel matrix for machines that have no bias, and whether it was centred: it is unless its diagonal is 1."""
    K = np.array(space.gram(), dtype=np.float64)
    if np.allclose(np.diag(K), 1.0, rtol=0.0, atol=1e-6):
        return K, False
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    return symmetric(K), True
