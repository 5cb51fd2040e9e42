"""The matrix of inner products of the samples, as float64 columns on demand: what solvers of the dual need of it.

``_gram_blocks.py`` is the counterpart for solvers that touch a few samples at a time.
"""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.kernel import Kernel
from clusterkit.core.spaces import FeatureSpace, KernelSpace
from clusterkit.core.transform import block_plan

__all__ = ["FeatureMatrix", "KernelMatrix"]


@final
@attrs.frozen(eq=False)
class KernelMatrix:
    """The kernel matrix of a space; float32 points are converted, because gradients add up thousands of columns.

    Parameters
    ----------
    space : KernelSpace
        With float64 points.
    diag : ndarray of shape (n,)
    """

    space: KernelSpace
    diag: Array

    @classmethod
    def of(cls, space: KernelSpace) -> KernelMatrix:
        """The matrix of a space; only its diagonal is computed here."""
        points = np.ascontiguousarray(space.points, dtype=np.float64)
        if points.dtype != space.dtype:
            space = KernelSpace(points, space.kernel)
        return cls(space, space.diag())

    @property
    def kernel(self) -> Kernel:
        """Kernel function of the space."""
        return self.space.kernel

    def whole(self) -> Array:
        """The matrix, which stays in memory with the space for other solvers."""
        return self.space.gram()

    def column(self, i: int) -> Array:
        """One column, O(n d)."""
        return self.kernel(self.space.points, self.space.points[i : i + 1])[:, 0]

    def product(self, beta: Array) -> Array:
        """K β from the columns of the support, in blocks of rows."""
        support = np.flatnonzero(beta)
        centres, product = self.space.points[support], np.empty(len(beta))
        for rows in block_plan(len(beta), len(support), np.float64):
            product[rows] = self.kernel(self.space.points[rows], centres) @ beta[support]
        return product


@final
@attrs.frozen(eq=False)
class FeatureMatrix:
    """Inner products of features after subtracting their mean, which changes no sphere but saves digits.

    Everything is computed from the blocks of the space, so dense and streamed spaces give the same bits.

    Parameters
    ----------
    space : FeatureSpace
    mean : ndarray of shape (L,)
        Mean of the features, float64.
    diag : ndarray of shape (n,)
        Squared lengths of the centred features.
    """

    space: FeatureSpace
    mean: Array
    diag: Array

    @classmethod
    def of(cls, space: FeatureSpace) -> FeatureMatrix:
        """The matrix of a space: two passes."""
        mean = space.mean()
        return cls(space, mean, space.squared_distances_to(mean))

    def whole(self) -> Array:
        """The matrix, (n, n), from all pairs of blocks."""
        K = np.empty((self.space.n, self.space.n))
        for rows, H in self.space.blocks():
            H = H - self.mean
            for columns, other in self.space.blocks():
                if columns.start > rows.start:
                    break
                K[rows, columns] = H @ (other - self.mean).T
                K[columns, rows] = K[rows, columns].T
        np.fill_diagonal(K, self.diag)
        return K

    def column(self, i: int) -> Array:
        """One column: a pass over the features."""
        h, column = self.space.rows(np.array([i]))[0] - self.mean, np.empty(self.space.n)
        for rows, H in self.space.blocks():
            column[rows] = (H - self.mean) @ h
        return column

    def combination(self, beta: Array) -> Array:
        """``Σ β_i (h_i - mean)``, (L,)."""
        total = np.zeros(self.space.width)
        for rows, H in self.space.blocks():
            total += beta[rows] @ (H - self.mean)
        return total

    def product(self, beta: Array) -> Array:
        """K β by way of `combination`: two passes."""
        centre, product = self.combination(beta), np.empty(len(beta))
        for rows, H in self.space.blocks():
            product[rows] = (H - self.mean) @ centre
        return product
