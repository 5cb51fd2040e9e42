"""The semidefinite program of generalised maximum margin clustering, with bounds on both sides of its optimum.

The margins f of all samples have ``|w|² = f0'(K + δI)⁻¹f0`` with f0 = f + λe free of the bias λ. Eliminating λ leaves
``f'Sf`` with ``S = (K + δI)⁻¹ - kk'/(e'k) + C_e ee'``, k the row sums of the inverse, to be minimised over f_i² >= 1.
The Lagrange dual is

    maximise Σ g   subject to   S - diag(g) ⪰ 0,  0 <= g <= C_delta

and its own dual is min <S, W> + C_delta Σ (1 - W_ii)+ over W ⪰ 0: W is the moment matrix that stands for f f'. As
C_e grows without bound both live on the complement of e: Q'(S - diag(g))Q ⪰ 0 and W = QZQ'.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from clusterkit_sdp._moments import complement, symmetric

__all__ = ["Generalised", "Program", "certified", "penalty"]


@attrs.frozen(eq=False)
class Generalised:
    """The optimum as a solver left it, and feasible points near it.

    Parameters
    ----------
    W : ndarray of shape (n, n)
        Moment matrix, made feasible.
    value : float
        ``<S, W>`` (and the price of slack): an upper bound of the optimum, up to rounding.
    lower : float
        Σ g of g made feasible: a lower bound of the optimum and of ``f'Sf`` for every f with |f_i| >= 1, up to
        rounding.
    solver_value : float
        What the solver says.
    smallest_eigenvalue : float
        Of ``S - diag(g)`` at the solver's own g.
    """

    W: np.ndarray
    value: float
    lower: float
    solver_value: float
    smallest_eigenvalue: float


def penalty(K: np.ndarray, delta: float, C_e: float) -> np.ndarray:
    """S, (n, n); for infinite C_e without that term, since e is then projected out. O(n³)."""
    from scipy.linalg import cho_factor, cho_solve

    n = len(K)
    inverse = symmetric(cho_solve(cho_factor(K + delta * np.eye(n), lower=True), np.eye(n)))
    k = inverse.sum(axis=1)
    S = inverse - np.outer(k, k) / k.sum()
    return S if np.isinf(C_e) else S + C_e


@attrs.frozen(eq=False)
class Program:
    """The dual as a cvxpy problem.

    Parameters
    ----------
    S : ndarray of shape (n, n)
    basis : ndarray of shape (n, r)
        Where the matrix inequality holds: the identity, or the complement of e.
    C_delta : float or None
        Price of slack; None for the hard margin.
    problem : cvxpy.Problem
    """

    S: np.ndarray
    basis: np.ndarray
    C_delta: float | None
    problem: Any
    _g: Any
    _lmi: Any

    @classmethod
    def of(cls, S: np.ndarray, projected: bool, C_delta: float | None) -> Program:
        """Build it: n unknowns, one cone of order n or n - 1."""
        import cvxpy as cp

        n = len(S)
        g = cp.Variable(n, nonneg=True)
        if projected:
            basis = complement(n)
            lmi = symmetric(basis.T @ S @ basis) - basis.T @ cp.diag(g) @ basis >> 0
        else:
            basis = np.eye(n)
            lmi = S - cp.diag(g) >> 0
        box = [] if C_delta is None else [g <= C_delta]
        return cls(S, basis, C_delta, cp.Problem(cp.Maximize(cp.sum(g)), [lmi, *box]), g, lmi)

    def found(self) -> Generalised:
        """What the solver left in the problem, made feasible on both sides. O(n³)."""
        Q = self.basis
        g = np.maximum(self._g.value, 0.0)
        values, vectors = np.linalg.eigh(symmetric(self._lmi.dual_value))
        root = Q @ (vectors * np.sqrt(np.maximum(values, 0.0)))
        W = root @ root.T
        diagonal = np.diag(W)
        if self.C_delta is None:
            W = W / max(min(1.0, float(diagonal.min())), 1e-12)
            value = float(np.sum(self.S * W))
        else:
            value = float(np.sum(self.S * W) + self.C_delta * np.maximum(0.0, 1.0 - diagonal).sum())
        smallest = float(np.linalg.eigvalsh(Q.T @ (self.S - np.diag(g)) @ Q)[0])
        return Generalised(W, value, certified(self.S, Q, g, self.C_delta), float(self.problem.value), smallest)


def certified(S: np.ndarray, basis: np.ndarray, g: np.ndarray, C_delta: float | None = None) -> float:
    """The lower bound Σ θg with the largest feasible θ, for any g >= 0 (n,); tight at the optimal one. O(n³)."""
    from scipy.linalg import eigh

    if not g.any():
        return 0.0
    inside = symmetric(basis.T @ S @ basis)
    weight = symmetric((basis.T * g) @ basis)
    theta = 1.0 / float(eigh(weight, inside, eigvals_only=True)[-1])
    if C_delta is not None:
        theta = min(theta, C_delta / float(g.max()))
    return theta * float(g.sum())
