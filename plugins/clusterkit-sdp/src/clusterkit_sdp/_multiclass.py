"""The semidefinite relaxation of multi-class maximum margin clustering, and a lower bound that always holds.

With D the indicators of a labelling, (n, k), and K = LL' the kernel matrix, the machine of Crammer and Singer without
bias has the objective

    omega(DD') = min over W:  |W|² / 2 + C Σ_i max_j (1 - D_ij + (LW)_ij - (LWD')_ii).

Xu and Schuurmans write its dual in M = DD' alone, by the multipliers Λ = ΩD with Ω >= 0 and Ωe = e:

    omega(M) = max over Ω:  C (n - <Ω, M>) - C² <K, (I - Ω) M (I - Ω)'> / 2,

which is convex in M, and minimise it over M ⪰ 0, M_ii = 1, M >= 0, low <= M e <= high. Their matrix inequality has the
order n² + 1, since it holds M⊗K. Here the inner maximum is dualised with Z in place of WD' and T in place of WW', which
gives the same optimum by an inequality of order n + rank K. omega is linear in M for every Ω, so each Ω gives a lower
bound: C n minus the largest <S, M> with S = C Ω + C² (I - Ω)'K(I - Ω) / 2, which weak duality bounds from above.
"""

from __future__ import annotations

import warnings
from typing import Any

import attrs
import numpy as np

from clusterkit_sdp._cvx import Solution
from clusterkit_sdp._moments import symmetric

__all__ = ["MulticlassProgram", "certified_bound", "factor", "labelling_objective"]

RANK = 1e-10
"""Eigenvalues of the kernel matrix below this share of the largest are rounding, and left out of its factor."""


@attrs.frozen(eq=False)
class MulticlassProgram:
    """The relaxation as a cvxpy problem.

    Parameters
    ----------
    L : ndarray of shape (n, r)
        Factor of the kernel matrix.
    C : float
    low, high : float
        Bounds of the cluster sizes, the row sums of M.
    problem : cvxpy.Problem
    """

    L: np.ndarray
    C: float
    low: float
    high: float
    problem: Any
    _parts: dict[str, Any]

    @classmethod
    def of(cls, L: np.ndarray, C: float, low: float, high: float) -> MulticlassProgram:
        """The problem for L: a cone of order n + r, and 3 n² / 2 inequalities."""
        import cvxpy as cp

        n, r = L.shape
        moments = cp.Variable((n + r, n + r), PSD=True)
        M, Z, T = moments[:n, :n], moments[n:, :n], moments[n:, n:]
        best = cp.Variable((n, 1))  # max_j ((LZ)_ij - M_ij)
        scores = L @ Z
        rivals = M + best @ np.ones((1, n)) - scores >= 0
        positive, unit, sizes = M >= 0, cp.diag(M) == 1, cp.sum(M, axis=1)
        balance = [sizes == low] if high <= low else [sizes <= high, sizes >= low]
        objective = cp.trace(T) / 2 + C * (n + cp.sum(best) - cp.trace(scores))
        problem = cp.Problem(cp.Minimize(objective), [rivals, positive, unit, *balance])
        return cls(L, C, low, high, problem, {"moments": moments, "duals": (rivals, positive, unit, *balance)})

    def solution(self) -> Solution:
        """The values that the conic solver stored in the problem, with the bound and the residuals. O(n³)."""
        n = len(self.L)
        moments = symmetric(self._parts["moments"].value)
        M = moments[:n, :n]
        sizes = M.sum(axis=1)
        outside = max(float((sizes - self.high).max()), float((self.low - sizes).max()), -float(M.min()))
        residual = max(float(np.abs(np.diag(M) - 1.0).max()), outside, 0.0)
        rivals, positive, unit, *balance = self._parts["duals"]
        tilt = balance[0].dual_value
        if len(balance) == 2:
            tilt = tilt - balance[1].dual_value
        bounds = (self.low, self.high)
        lower = certified_bound(
            self.L, self.C, bounds, rivals.dual_value, positive.dual_value, unit.dual_value, np.asarray(tilt)
        )
        smallest = float(np.linalg.eigvalsh(moments)[0])
        return Solution(M, float(self.problem.value), lower, smallest, {"residual": residual})


def factor(K: np.ndarray) -> np.ndarray:
    """L (n, r) with ``LL' = K`` up to rounding and at least a column; negative eigenvalues are left out."""
    values, vectors = np.linalg.eigh(symmetric(K))
    used = values > RANK * max(float(values[-1]), 0.0)
    used[-1] = True
    return np.asarray(vectors[:, used] * np.sqrt(np.maximum(values[used], 0.0)))


def certified_bound(
    L: np.ndarray,
    C: float,
    bounds: tuple[float, float],
    omega: np.ndarray,
    positive: np.ndarray,
    y: np.ndarray,
    tilt: np.ndarray,
) -> float:
    """A lower bound of the relaxation from any multipliers; tight at their optimal values.

    Ω comes from `omega` (n, n) and N >= 0, the multipliers of M >= 0, from `positive` (n, n), both made feasible; y
    and t, the tilt, (n,) belong to the diagonal and to the row sums. For a feasible M and
    P = Diag(y) + (t e' + e t') / 2 - N - S,
    ``<S, M> = Σ y + t'M e - <N, M> - <P, M> <= Σ y + high Σ max(t, 0) - low Σ max(-t, 0) + n max(0, -s)`` with s the
    smallest eigenvalue of P, because the trace of M is n. O(n³).
    """
    n = len(L)
    shares = np.maximum(omega, 0.0)
    totals = shares.sum(axis=1, keepdims=True)
    shares = np.where(totals > 0, shares / np.where(totals > 0, totals, 1.0), np.eye(n))
    spread = (np.eye(n) - shares).T @ L
    S = C * symmetric(shares) + 0.5 * C**2 * spread @ spread.T
    P = np.diag(y) + 0.5 * (tilt[:, None] + tilt[None, :]) - symmetric(np.maximum(positive, 0.0)) - S
    low, high = bounds
    price = high * float(np.maximum(tilt, 0.0).sum()) - low * float(np.maximum(-tilt, 0.0).sum())
    return C * n - float(y.sum()) - price + n * min(0.0, float(np.linalg.eigvalsh(P)[0]))


def labelling_objective(L: np.ndarray, labels: np.ndarray, C: float) -> float:
    """omega(DD') of a labelling: the machine of Crammer and Singer by liblinear; never below the exact value.

    The value holds for whatever machine liblinear stops at, so that its warning of the number of steps tells nothing.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    classes, which = np.unique(labels, return_inverse=True)
    if len(classes) == 1:
        return 0.0
    machine = LinearSVC(
        multi_class="crammer_singer", C=C, fit_intercept=False, tol=1e-7, max_iter=100_000, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(L, which)
    W = machine.coef_
    if len(classes) == 2:  # what is stored is the difference of the two
        W = np.vstack([-0.5 * W, 0.5 * W])
    scores = L @ W.T  # (n, k)
    of_label = scores[np.arange(len(L)), which]
    margins = scores + 1.0
    margins[np.arange(len(L)), which] -= 1.0
    return 0.5 * float((W**2).sum()) + C * float((margins.max(axis=1) - of_label).sum())
