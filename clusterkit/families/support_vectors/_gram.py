"""Inner products of the samples on demand: blocks for solvers that touch a few samples at a time, columns for the dual.

`KernelProducts` and `FeatureProducts` give blocks, scaled so that the longest sample has length 1, to solvers of a
hyperplane. `KernelMatrix` and `FeatureMatrix` give whole float64 columns to solvers of the dual.
"""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.contracts.outcomes import Domain, FunctionDomain, KernelDomain, Status, SupportCounts
from clusterkit.numerics.shapes import array
from clusterkit.samples import FeatureSpace, KernelSpace
from clusterkit.samples.kernels import Gaussian, Kernel
from clusterkit.samples.transform import RowMap, block_plan

__all__ = [
    "FeatureMatrix",
    "FeatureProducts",
    "InnerProduct",
    "KernelMatrix",
    "KernelProducts",
]


@final
@attrs.frozen(eq=False)
class KernelProducts:
    """Kernel values divided by the largest K_ii, in float64: sums run over thousands of float32 values.

    Parameters
    ----------
    space : KernelSpace
        Kernel space with float64 points.
    longest2 : float
        Largest K_ii; 1 for the Gaussian kernel, and where all K_ii are 0.
    """

    space: KernelSpace
    longest2: float

    @classmethod
    def of(cls, space: KernelSpace) -> KernelProducts:
        """Inner products of the samples of a space; only the diagonal is computed here."""
        points = np.ascontiguousarray(space.points, dtype=np.float64)
        space = KernelSpace(points, space.kernel)
        return cls(space, float(space.diag().max()) or 1.0)

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.space.n

    def block(self, index: Indices) -> Array:
        """Inner products between some samples, (u, u)."""
        points, kernel = self.space.points[index], self.space.kernel
        if isinstance(kernel, Gaussian):
            from clusterkit.numerics.gaussian_jit import gaussian_block

            return gaussian_block(points, points, kernel.gamma)
        return np.ascontiguousarray(kernel(points, points) / self.longest2)

    def sums(self, weights: Array, index: Indices | None = None) -> Array:
        """``Σ_i weights_i K_ij`` for all samples j, or for those of `index`."""
        support = np.flatnonzero(weights)
        if not len(support):
            return np.zeros(self.n if index is None else len(index))
        points = self.space.points
        targets = points if index is None else points[index]
        return self.space.kernel.weighted_sum(targets, points[support], weights[support] / self.longest2)

    def length2(self, weights: Array) -> float:
        """``Σ_ij weights_i weights_j K_ij``."""
        support = np.flatnonzero(weights)
        return float(weights[support] @ self.sums(weights, support))

    def domain(self, weights: Array, level: float, status: Status) -> Domain:
        """Where ``Σ_i weights_i K(x_i, x) >= level``."""
        support = np.flatnonzero(weights)
        centres, scaled = self.space.points[support], weights[support] / self.longest2
        counts = SupportCounts(len(support))
        return KernelDomain(centres, scaled, self.space.kernel, level=level, status=status, support_counts=counts)

    @property
    def rounding(self) -> float:
        """Largest difference of two evaluations of ``w'φ(x)`` for w of length 1; 0 if it is relative to the value."""
        return 0.0 if isinstance(self.space.kernel, Gaussian) else 64.0 * float(np.finfo(np.float64).eps)


@final
@attrs.frozen(eq=False)
class FeatureProducts:
    """Inner products of features divided by the largest length.

    Parameters
    ----------
    space : FeatureSpace
    longest : float
        Largest length, 1 where all are 0.
    """

    space: FeatureSpace
    longest: float

    @classmethod
    def of(cls, space: FeatureSpace) -> FeatureProducts:
        """Inner products of the samples of a space: one pass."""
        return cls(space, float(np.sqrt(space.squared_norms().max())) or 1.0)

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.space.n

    def block(self, index: Indices) -> Array:
        """Inner products between some samples, (u, u)."""
        H = self._rows(index)
        return np.asarray(H @ H.T)

    def sums(self, weights: Array, index: Indices | None = None) -> Array:
        """``Σ_i weights_i K_ij`` for all samples j, or for those of `index`."""
        w = self._combined(weights)
        if index is not None:
            return self._rows(index) @ w
        values = np.empty(self.n)
        for rows, H in self.space.blocks():
            values[rows] = H @ (w / self.longest)
        return values

    def length2(self, weights: Array) -> float:
        """``Σ_ij weights_i weights_j K_ij``."""
        w = self._combined(weights)
        return float(w @ w)

    def domain(self, weights: Array, level: float, status: Status) -> Domain:
        """Where ``Σ_i weights_i h(x_i)'h(x) >= level``, lengths scaled."""
        w = self._combined(weights) / self.longest
        function = InnerProduct(self.space.mapping, w, self.space.dtype)
        supports = self.space.points[np.flatnonzero(weights)]
        counts = SupportCounts(len(supports))
        return FunctionDomain(function, level=level, supports=supports, status=status, support_counts=counts)

    @property
    def rounding(self) -> float:
        """Largest difference of two evaluations of ``w'h(x)`` for w of length 1."""
        return 64.0 * float(np.finfo(self.space.dtype).eps)

    def _rows(self, index: Indices) -> Array:
        """Scaled features of some samples."""
        return self.space.rows(index).astype(np.float64) / self.longest

    def _combined(self, weights: Array) -> Array:
        """``Σ weights_i h_i``, (L,); only samples with a weight are mapped to features."""
        total, support = np.zeros(self.space.width), np.flatnonzero(weights)
        for rows in block_plan(len(support), self.space.width, self.space.dtype):
            total += weights[support[rows]] @ self._rows(support[rows])
        return total


@final
@attrs.frozen(eq=False)
class InnerProduct:
    """``h(x)'w`` for coordinates x; a frozen callable, so that a fit pickles.

    Parameters
    ----------
    mapping : RowMap
        Map from coordinates to features h.
    w : ndarray of shape (L,)
    dtype : numpy dtype
        Type of the training data, in which rows are mapped.
    """

    mapping: RowMap
    w: Array = attrs.field(validator=array("L"))
    dtype: np.dtype

    def __call__(self, Y: Array) -> Array:
        """Values of the rows of Y, (m,), in blocks."""
        values = np.empty(len(Y))
        for rows in block_plan(len(Y), len(self.w), np.float64):
            values[rows] = self.mapping(np.ascontiguousarray(Y[rows], dtype=self.dtype)) @ self.w
        return values


@final
@attrs.frozen(eq=False)
class KernelMatrix:
    """The kernel matrix of a space; float32 points are converted, because gradients add up thousands of columns.

    Parameters
    ----------
    space : KernelSpace
        Kernel space with float64 points.
    diag : ndarray of shape (n,)
    """

    space: KernelSpace
    diag: Array

    @classmethod
    def of(cls, space: KernelSpace) -> KernelMatrix:
        """The matrix of a space; only its diagonal is computed here."""
        points = np.ascontiguousarray(space.points, dtype=np.float64)
        if space.points.dtype != np.float64:
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
