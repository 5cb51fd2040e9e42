"""Smoothing of posteriors over a graph: one step, or the fixed point by one sparse factorisation."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.solvers.graph._neighbour_graph import symmetric

__all__ = ["Smoother"]


@final
@attrs.frozen(eq=False)
class Smoother:
    """Averages over the neighbours in a graph.

    Parameters
    ----------
    W : scipy sparse array, (n, n)
        Symmetric weights, nothing on the diagonal.
    degrees : ndarray of shape (n,)
        Row sums; 0 for samples that keep what they have.
    """

    W: Any
    degrees: Array

    @classmethod
    def of(cls, i: Array, j: Array, weights: Array, n: int) -> Smoother:
        """The graph of some pairs; weights that are no normal numbers count as 0."""
        kept = weights >= np.finfo(np.float64).tiny
        W = symmetric(i[kept], j[kept], weights[kept], n)
        return cls(W, np.asarray(W.sum(axis=1)).reshape(-1))

    def __call__(self, P: Array, gamma: float, kind: str) -> Array:
        """Smoothed rows (n, k): ``(1-γ) P + γ D^-1 W F`` with F = P for "step", F the result for "fixed_point"."""
        if kind == "step":
            return self.step(P, P, gamma)
        return self.fixed_point(P, gamma)

    def step(self, P: Array, F: Array, gamma: float) -> Array:
        """``(1-γ) P + γ D^-1 W F``; samples without neighbours keep P. O(edges k)."""
        alone = self.degrees == 0.0
        averages = (self.W @ F) / np.where(alone, 1.0, self.degrees)[:, None]
        averages[alone] = P[alone]
        return (1.0 - gamma) * P + gamma * averages

    def fixed_point(self, P: Array, gamma: float) -> Array:
        """F with ``(D - γ W) F = (1-γ) D P``: one factorisation for all columns.

        The matrix is symmetric and positive definite for γ < 1. Rounding may leave F negative or its rows off 1 by
        some 1e-16 / (1-γ), which is put right.
        """
        from scipy.sparse import diags_array
        from scipy.sparse.linalg import splu

        # the row of a sample without neighbours reads f = (1-γ) p / (1-γ)
        alone = self.degrees == 0.0
        diagonal = np.where(alone, 1.0 - gamma, self.degrees)
        # every row and column divided by the root of its degree: heat weights differ by many orders
        roots = np.sqrt(np.where(alone, 1.0, self.degrees))
        scaled = diags_array(1.0 / roots)
        system = diags_array(diagonal / roots**2) - gamma * (scaled @ self.W @ scaled)
        factor = splu(
            system.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
        F = factor.solve((1.0 - gamma) * roots[:, None] * P) / roots[:, None]
        F = np.maximum(F, 0.0)
        return np.asarray(F / F.sum(axis=1, keepdims=True))

    def roughness(self, F: Array) -> float:
        """``1/2 Σ_il W_il |f_i - f_l|²``, over the pairs, so that constant F gives exactly 0."""
        upper = self.W.tocoo()
        pairs = upper.row < upper.col
        i, j, weights = upper.row[pairs], upper.col[pairs], upper.data[pairs]
        total = 0.0
        for column in F.T:
            total += float(weights @ np.square(column[i] - column[j]))
        return total
