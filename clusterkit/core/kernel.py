"""Kernel functions between points."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.errors import NotExportable
from clusterkit.core.kernel_products import over_exponents
from clusterkit.core.namespaces import array_namespace, as_type, move_to, to_device_of
from clusterkit.core.row_graph import Node, Operand, dense
from clusterkit.core.transform import block_plan
from clusterkit.core.work import spend
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["Gaussian", "Kernel", "Linear"]

EXPLICIT_SUMS = 512
"""Attributes up to which kernel sums use explicit differences; above, a matrix product is faster."""


class Kernel(ABC):
    """A positive semidefinite function of two points.

    A kernel that takes rows of any library of the array API, and leaves its values where they lie, says so by the
    attribute ``array_api = True`` (`clusterkit.core.namespaces`).
    """

    @abstractmethod
    def __call__(self, A: Array, B: Array) -> Array:
        """Kernel values between the rows of A (m, d) and B (n, d), shape (m, n)."""

    @abstractmethod
    def diag(self, A: Array) -> Array:
        """Kernel of every row with itself, shape (m,)."""

    @abstractmethod
    def weighted_sum(self, Y: Array, centres: Array, weights: Array) -> Array:
        """``Σ_s weights_s k(y, centres_s)`` for the rows of Y (m, d), shape (m,), float64; no m x s matrix is kept."""

    def onnx(self, rows: Node, points: Array) -> Node:
        """Kernel values between rows (m, d) and constant points (n, d), shape (m, n), for a model in ONNX."""
        raise NotExportable(f"kernel {type(self).__name__} has no ONNX form: it has no method onnx")

    def onnx_diag(self, rows: Node) -> Operand:
        """Kernel of every row with itself, (m, 1) or one number for all."""
        raise NotExportable(f"kernel {type(self).__name__} has no ONNX form: it has no method onnx_diag")


@final
@attrs.frozen
class Gaussian(Kernel):
    """``exp(-gamma |x - y|²)``; ``gamma = 1 / (2 sigma²)`` is in units of an inverse squared distance."""

    array_api: ClassVar[bool] = True

    gamma: float = attrs.field()

    @gamma.validator
    def _is_finite(self, attribute: attrs.Attribute[float], value: float) -> None:
        if not 0.0 <= value < math.inf:
            raise ValueError(f"Gaussian: gamma must be a finite number >= 0, got {value!r}")

    def __call__(self, A: Array, B: Array) -> Array:
        """Kernel values, all in (0, 1] up to underflow; by matrix products where A is of another library than numpy."""
        if (xp := array_namespace(A)) is not np:
            return xp.astype(over_exponents(A, B, self.gamma, xp.exp), A.dtype)
        D = squared_distances(A, B)
        # beyond float32, whose products with squared distances may be ordinary numbers all the same
        if float(self.gamma) > float(np.finfo(D.dtype).max):
            return np.exp(D.astype(np.float64) * -self.gamma).astype(D.dtype)
        D *= -self.gamma
        return np.exp(D, out=D)

    def diag(self, A: Array) -> Array:
        """Ones."""
        if (xp := array_namespace(A)) is not np:
            return xp.ones(A.shape[0], dtype=A.dtype, device=A.device)
        return np.ones(len(A), dtype=A.dtype)

    def onnx(self, rows: Node, points: Array) -> Node:
        """``exp(-gamma |x - y|²)``."""
        return (rows.squared_distances(points) * -float(self.gamma)).exp()

    def onnx_diag(self, rows: Node) -> Operand:
        """1."""
        return 1.0

    def weighted_sum(self, Y: Array, centres: Array, weights: Array) -> Array:
        """In compiled loops; a row's value does not depend on the other rows up to `EXPLICIT_SUMS` attributes.

        Rows of another library than numpy: by matrix products, in float64 where they lie.
        """
        spend(Y.shape[0] * len(centres))
        if (xp := array_namespace(Y)) is not np:
            there = to_device_of(weights, Y, np.float64)
            return over_exponents(Y, centres, self.gamma, lambda exponents: xp.matmul(xp.exp(exponents), there))
        if Y.shape[1] > EXPLICIT_SUMS or isinstance(Y, SparseRows) or isinstance(centres, SparseRows):
            return _in_blocks(self, Y, centres, weights)
        from clusterkit.numerics.gaussian_jit import gaussian_sums

        return gaussian_sums(Y, centres, weights, self.gamma)


@final
@attrs.frozen
class Linear(Kernel):
    """The inner product ``x · y``."""

    array_api: ClassVar[bool] = True

    def __call__(self, A: Array, B: Array) -> Array:
        """Inner products."""
        if (xp := array_namespace(A)) is not np:
            return xp.matmul(A, to_device_of(B, A).T)
        return A @ B.T

    def diag(self, A: Array) -> Array:
        """Squared lengths."""
        if (xp := array_namespace(A)) is not np:
            return xp.sum(xp.square(A), axis=1)
        return np.einsum("ij,ij->i", A, A)

    def onnx(self, rows: Node, points: Array) -> Node:
        """Inner products."""
        return rows @ dense(points).T

    def onnx_diag(self, rows: Node) -> Operand:
        """Squared lengths."""
        return rows.square().sum()

    def weighted_sum(self, Y: Array, centres: Array, weights: Array) -> Array:
        """The product with the combined centre."""
        if (xp := array_namespace(Y)) is not np:
            return xp.matmul(as_type(Y, np.float64), move_to(weights @ centres, Y, np.float64))
        return np.asarray(Y.astype(np.float64, copy=False) @ (weights @ centres))


def _in_blocks(kernel: Kernel, Y: Array, centres: Array, weights: Array) -> Array:
    values = np.empty(len(Y))
    for rows in block_plan(len(Y), len(centres), np.float64):
        values[rows] = kernel(Y[rows], centres) @ weights
    return values
