"""The semidefinite program of generalised maximum margin clustering, with bounds on both sides of its optimum.

The margins f of all samples have ``|w|² = f0'(K + δI)⁻¹f0`` with f0 = f + λe free of the bias λ. Eliminating λ leaves
``f'Sf`` with ``S = (K + δI)⁻¹ - kk'/(e'k) + C_e ee'``, k the row sums of the inverse, to be minimised over f_i² >= 1.
The Lagrange dual is

    maximise Σ g   subject to   S - diag(g) ⪰ 0,  0 <= g <= C_δ

and the dual of that is min <S, W> + C_δ Σ (1 - W_ii)+ over W ⪰ 0: W is the moment matrix that stands for f f'. As C_e
grows without bound both are restricted to the complement of e: Q'(S - diag(g))Q ⪰ 0 and W = QZQ'. C_e is the parameter
`bias_penalty`, C_δ is `slack_penalty`.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from clusterkit.errors import InvalidParameter
from clusterkit_sdp._cvx import Solution
from clusterkit_sdp._moments import complement, symmetric

__all__ = ["GeneralisedProgram", "certified_bound", "margin_matrix"]


MOST_PENALTY = 1e12
"""Largest penalty of the bias in units of the matrix beside it, of which four digits are left then."""


def margin_matrix(K: np.ndarray, delta: float, bias_penalty: float) -> np.ndarray:
    """S, (n, n); for an infinite `bias_penalty` without that term, because e is then projected out. O(n³)."""
    from scipy.linalg import cho_factor, cho_solve

    n = len(K)
    try:
        factor = cho_factor(K + delta * np.eye(n), lower=True)
    except np.linalg.LinAlgError:
        raise InvalidParameter(
            f"solver 'gmmc_sdp': delta={delta:g} is below the rounding errors of the kernel matrix, which is singular "
            f"with it; at least {np.finfo(np.float64).eps * n * float(np.abs(K).max()):.1g} is needed here"
        ) from None
    inverse = symmetric(cho_solve(factor, np.eye(n)))
    k = inverse.sum(axis=1)
    S = inverse - np.outer(k, k) / k.sum()
    if np.isinf(bias_penalty):
        return S
    most = MOST_PENALTY * float(np.abs(S).max())
    if bias_penalty > most:
        raise InvalidParameter(
            f"solver 'gmmc_sdp': bias_penalty={bias_penalty:g} would leave no digits of the kernel's part beside it; "
            f"at most {most:.3g} here, or inf, which balances the signs"
        )
    return S + bias_penalty


@attrs.frozen(eq=False)
class GeneralisedProgram:
    """The dual as a cvxpy problem.

    Parameters
    ----------
    S : ndarray of shape (n, n)
    basis : ndarray of shape (n, r)
        Basis of the space on which the matrix inequality holds: the identity, or the complement of e.
    slack_penalty : float or None
        Price of slack; None for the hard margin.
    problem : cvxpy.Problem
    """

    S: np.ndarray
    basis: np.ndarray
    slack_penalty: float | None
    problem: Any
    _g: Any
    _lmi: Any

    @classmethod
    def of(cls, S: np.ndarray, projected: bool, slack_penalty: float | None) -> GeneralisedProgram:
        """The problem for S: n unknowns, one cone of order n, or n - 1 if e is projected out."""
        import cvxpy as cp

        n = len(S)
        g = cp.Variable(n, nonneg=True)
        if projected:
            basis = complement(n)
            lmi = symmetric(basis.T @ S @ basis) - basis.T @ cp.diag(g) @ basis >> 0
        else:
            basis = np.eye(n)
            lmi = S - cp.diag(g) >> 0
        box = [] if slack_penalty is None else [g <= slack_penalty]
        return cls(S, basis, slack_penalty, cp.Problem(cp.Maximize(cp.sum(g)), [lmi, *box]), g, lmi)

    def solution(self) -> Solution:
        """The values that the conic solver stored in the problem, made feasible on both sides. O(n³).

        ``<S, W>`` plus the price of slack is an upper bound of the optimum, up to rounding.
        """
        Q = self.basis
        g = np.maximum(self._g.value, 0.0)
        values, vectors = np.linalg.eigh(symmetric(self._lmi.dual_value))
        root = Q @ (vectors * np.sqrt(np.maximum(values, 0.0)))
        W = root @ root.T
        diagonal = np.diag(W)
        if self.slack_penalty is None:
            W = W / max(min(1.0, float(diagonal.min())), 1e-12)
            value = float(np.sum(self.S * W))
        else:
            value = float(np.sum(self.S * W) + self.slack_penalty * np.maximum(0.0, 1.0 - diagonal).sum())
        smallest = float(np.linalg.eigvalsh(Q.T @ (self.S - np.diag(g)) @ Q)[0])
        lower = certified_bound(self.S, Q, g, self.slack_penalty)
        return Solution(W, value, lower, smallest, {"solver_value": float(self.problem.value)})


def certified_bound(S: np.ndarray, basis: np.ndarray, g: np.ndarray, slack_penalty: float | None = None) -> float:
    """The lower bound Σ θg with the largest feasible θ, for any g >= 0 (n,); tight at the optimal g. O(n³)."""
    from scipy.linalg import eigh

    if not g.any():
        return 0.0
    inside = symmetric(basis.T @ S @ basis)
    weight = symmetric((basis.T * g) @ basis)
    try:
        theta = 1.0 / float(eigh(weight, inside, eigvals_only=True)[-1])
    except np.linalg.LinAlgError:  # singular in rounding: no multiple of g but 0 is surely feasible
        return 0.0
    if slack_penalty is not None:
        theta = min(theta, slack_penalty / float(g.max()))
    return theta * float(g.sum())
