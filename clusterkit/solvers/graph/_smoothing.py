"""Smoothing of posteriors over a graph: a single step, or the fixed point by one sparse factorisation."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.solvers.graph._neighbour_graph import symmetric

__all__ = ["Smoother"]


@final
@attrs.frozen(eq=False)
class Smoother:
    """Averages posteriors over the neighbours in a graph.

    Parameters
    ----------
    W : scipy sparse array, (n, n)
        Symmetric weights with an empty diagonal.
    degrees : ndarray of shape (n,)
        Row sums; samples of degree 0 keep their posteriors.
    pairs : tuple of ndarray
        Rows, columns and weights above the diagonal.
    """

    W: Any
    degrees: Array
    pairs: tuple[Indices, Indices, Array]

    @classmethod
    def of(cls, i: Indices, j: Indices, weights: Array, n: int) -> Smoother:
        """The graph of some pairs; weights below the smallest normal number count as 0."""
        normal = weights >= np.finfo(np.float64).tiny
        W = symmetric(i[normal], j[normal], weights[normal], n)
        entries = W.tocoo()
        above = entries.row < entries.col
        pairs = entries.row[above], entries.col[above], entries.data[above]
        return cls(W, np.asarray(W.sum(axis=1)).reshape(-1), pairs)

    def __call__(self, P: Array, gamma: float, kind: str) -> Array:
        """Smoothed rows ``(1-γ) P + γ D^-1 W F``, (n, k): F = P for "step", F is the result for "fixed_point"."""
        if kind == "step":
            return self.step(P, P, gamma)
        return self.fixed_point(P, gamma)

    def step(self, P: Array, F: Array, gamma: float) -> Array:
        """``(1-γ) P + γ D^-1 W F``; samples without neighbours keep their row of P. O(edges k)."""
        isolated = self.degrees == 0.0
        averages = (self.W @ F) / np.where(isolated, 1.0, self.degrees)[:, None]
        averages[isolated] = P[isolated]
        return (1.0 - gamma) * P + gamma * averages

    def fixed_point(self, P: Array, gamma: float) -> Array:
        """The solution F of ``(D - γ W) F = (1-γ) D P``, by one factorisation for all columns.

        The matrix is symmetric and positive definite for γ < 1. Entries of F may be negative by rounding, and row sums
        may differ from 1 by about 1e-16 / (1-γ); both are corrected.
        """
        from scipy.sparse import diags_array
        from scipy.sparse.linalg import splu

        # the equation of a sample without neighbours is f = (1-γ) p / (1-γ)
        isolated = self.degrees == 0.0
        diagonal = np.where(isolated, 1.0 - gamma, self.degrees)
        # all rows and columns are divided by the roots of their degrees: heat weights differ by orders of magnitude
        roots = np.sqrt(np.where(isolated, 1.0, self.degrees))
        scaled = diags_array(1.0 / roots)
        system = diags_array(diagonal / roots**2) - gamma * (scaled @ self.W @ scaled)
        factor = splu(
            system.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
        F = factor.solve((1.0 - gamma) * roots[:, None] * P) / roots[:, None]
        F = np.maximum(F, 0.0)
        return np.asarray(F / F.sum(axis=1, keepdims=True))

    def roughness(self, F: Array) -> float:
        """``1/2 Σ_il W_il |f_i - f_l|²``, summed over pairs, so that a constant F gives exactly 0."""
        i, j, weights = self.pairs
        total = 0.0
        for column in F.T:
            total += float(weights @ np.square(column[i] - column[j]))
        return total
