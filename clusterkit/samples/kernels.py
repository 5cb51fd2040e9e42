"""Kernel functions between points, and sums of Gaussian kernels by matrix products on the device of the rows.

The products are for rows of another library of the array API. Rows of numpy are served by compiled loops
(`clusterkit.numerics.gaussian_jit`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from math import sqrt
from types import ModuleType
from typing import ClassVar, final

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array, Indices, Labels
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.shapes import array
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples.array_libraries import array_namespace, as_type, is_device_array, move_to, to_device_of
from clusterkit.samples.limits import spend
from clusterkit.samples.transform import block_plan

__all__ = [
    "Centres",
    "Gaussian",
    "Kernel",
    "Linear",
    "MatrixKernel",
    "left_with",
    "over_exponents",
    "pair_chunks",
    "rows_at",
]


CHUNK = 2**24
"""Pairs of a row and a centre per chunk: 128 MiB of values in float64, and at most four such arrays exist at a time.
Fewer would leave a device idle between short products."""

PRODUCT_REACH = 1024.0
"""Largest squared distance of a centre from the mean of the centres, in units of ``1 / gamma``, up to which squared
distances come from matrix products. Their error is a few ``eps`` times this number, so that kernel values are right to
1e-12; above it the differences are formed explicitly, attribute by attribute."""

FAR = 1e150
"""Scaled coordinates are clipped to this: the kernel is 0 there, and squares stay below the largest number."""


def pair_chunks(n: int, d: int, count: int) -> Iterator[slice]:
    """Slices of n rows of d coordinates that are compared with `count` points each, at most `CHUNK` numbers in a slice.

    Examples
    --------
    >>> [(rows.start, rows.stop) for rows in pair_chunks(5, 2, CHUNK // 3)]
    [(0, 3), (3, 5)]
    """
    size = max(1, CHUNK // max(1, d, count))
    for start in range(0, n, size):
        yield slice(start, min(n, start + size))


@final
@attrs.frozen(eq=False)
class Centres:
    """Centres on the device of the rows they are compared with, in scaled coordinates ``root (x - origin)``.

    Parameters
    ----------
    xp : module
        Namespace of the rows.
    origin : array of shape (d,)
    root : float
    points : array of shape (s, d)
        Scaled rows, float64, on their device.
    by_products : bool
        Whether they are near enough to each other for squared distances by matrix products.
    factor : array of shape (d + 2, s)
        Matrix that turns rows ``(y, |y|², 1)`` into ``-|y - c|²``.
    """

    xp: ModuleType
    origin: Array
    root: float
    points: Array
    by_products: bool
    factor: Array

    @classmethod
    def to_device_of(cls, Y: Array, centres: Array, gamma: float = 1.0, *, reach: float = PRODUCT_REACH) -> Centres:
        """Centres (s, d) of numpy on the device of rows Y; `reach` is the limit for matrix products."""
        if Y.shape[1] != centres.shape[1]:
            raise ValueError(f"points of {Y.shape[1]} coordinates and of {centres.shape[1]}")
        centres = np.asarray(centres, dtype=np.float64)
        origin, root = centres.mean(axis=0), sqrt(gamma)
        scaled = np.clip((centres - origin) * root, -FAR, FAR)
        squares = np.square(scaled).sum(axis=1)
        factor = np.concatenate([2.0 * scaled.T, np.full((1, len(scaled)), -1.0), -squares[None]])
        by_products = bool(squares.max(initial=0.0) <= reach)
        xp = array_namespace(Y)
        return cls(
            xp,
            move_to(origin, Y, np.float64),
            root,
            move_to(scaled, Y, np.float64),
            by_products,
            move_to(factor, Y, np.float64),
        )

    def scaled(self, Y: Array) -> Array:
        """Rows (b, d) in the coordinates of the centres, float64."""
        scaled: Array = self.xp.clip((as_type(Y, np.float64) - self.origin) * self.root, -FAR, FAR)
        return scaled

    def exponents(self, scaled: Array) -> Array:
        """``-|y - c|²`` of scaled rows and all centres, (b, s)."""
        xp = self.xp
        if self.by_products:
            squares = xp.sum(xp.square(scaled), axis=1, keepdims=True)
            rows = xp.concat([scaled, squares, xp.ones_like(squares)], axis=1)
            product: Array = xp.matmul(rows, self.factor)
            return product
        total = -xp.square(scaled[:, :1] - self.points[:, 0])
        for column in range(1, scaled.shape[1]):
            total = total - xp.square(scaled[:, column : column + 1] - self.points[:, column])
        explicit: Array = total
        return explicit


def over_exponents(Y: Array, centres: Array, gamma: float, of: Callable[[Array], Array]) -> Array:
    """``of(-gamma |y - c|²)`` for all rows y of Y in their order, computed for (b, s) distances at a time."""
    there = Centres.to_device_of(Y, centres, gamma)
    parts = [
        of(there.exponents(there.scaled(Y[rows, :]))) for rows in pair_chunks(Y.shape[0], Y.shape[1], len(centres))
    ]
    joined: Array = there.xp.concat(parts, axis=0) if parts else of(there.exponents(there.scaled(Y)))
    return joined


def rows_at(points: Array, index: Indices) -> Array:
    """Some rows of an array of any library, (m, d)."""
    if not is_device_array(points):
        return points[index]
    rows: Array = array_namespace(points).take(points, move_to(index, points), axis=0)
    return rows


def left_with(points: Array, labels: Labels) -> Labels:
    """Labels of numpy, (b,), as an array of the library of the points, on their device."""
    there: Labels = move_to(labels, points) if is_device_array(points) else labels
    return there


EXPLICIT_SUMS = 512
"""Attributes up to which kernel sums use explicit differences; above, a matrix product is faster."""


class Kernel(ABC):
    """A positive semidefinite function of two points.

    A kernel that takes rows of any library of the array API, and leaves its values on their device, says so by the
    attribute ``array_api = True`` (`clusterkit.samples.array_libraries`).
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

    def value_type(self, points: Array) -> np.dtype:
        """Type of the values between points: float64, because small distances are differences of large values."""
        return np.dtype(np.float64)


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
        D *= -self.gamma
        return np.exp(D, out=D)

    def diag(self, A: Array) -> Array:
        """Ones."""
        if (xp := array_namespace(A)) is not np:
            return xp.ones(A.shape[0], dtype=A.dtype, device=A.device)
        return np.ones(len(A))

    def weighted_sum(self, Y: Array, centres: Array, weights: Array) -> Array:
        """Weighted sums of the kernel values of each row with all centres, by compiled loops.

        Up to `EXPLICIT_SUMS` attributes the value of a row does not depend on the other rows. Rows of another library
        than numpy: by matrix products, in float64 on their device.
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
        return A.astype(np.float64, copy=False) @ B.astype(np.float64, copy=False).T

    def diag(self, A: Array) -> Array:
        """Squared lengths."""
        if (xp := array_namespace(A)) is not np:
            return xp.sum(xp.square(A), axis=1)
        return np.einsum("ij,ij->i", A, A, dtype=np.float64)

    def weighted_sum(self, Y: Array, centres: Array, weights: Array) -> Array:
        """The product with the combined centre."""
        if (xp := array_namespace(Y)) is not np:
            return xp.matmul(as_type(Y, np.float64), move_to(weights @ centres, Y, np.float64))
        return np.asarray(Y.astype(np.float64, copy=False) @ (weights @ centres))


@final
@attrs.frozen(eq=False)
class MatrixKernel(Kernel):
    """Values that were computed beforehand: a sample is its row of the kernel matrix.

    A row of values stands for its sample wherever a kernel takes points. Equal rows of a symmetric matrix have equal
    columns, so that the first row with the same values says which column belongs to a sample.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric.
    """

    matrix: Array = attrs.field(validator=array("n n"))

    def __call__(self, A: Array, B: Array) -> Array:
        """Kernel values between rows of values with all samples, A (m, n), and rows of the matrix, B (b, n): (m, b)."""
        if B is self.matrix:
            return A
        columns = self._columns(B)
        if (columns < 0).any():
            raise ValueError("values of a precomputed kernel are known between new rows and the samples only")
        return A[:, columns]

    def diag(self, A: Array) -> Array:
        """Values of samples with themselves, (m,); NaN for rows that are no rows of the matrix, where it is unknown."""
        if A is self.matrix:
            return np.diag(A).copy()
        columns = self._columns(A)
        return np.where(columns >= 0, np.diag(self.matrix)[columns], np.nan).astype(A.dtype)

    def value_type(self, points: Array) -> np.dtype:
        """That of the matrix."""
        return points.dtype

    def weighted_sum(self, Y: Array, centres: Array, weights: Array) -> Array:
        """Weighted sums of columns."""
        return _in_blocks(self, Y, centres, weights)

    def _columns(self, B: Array) -> Indices:
        """For each row of B (b, n) the first equal row of the matrix, or -1; O((n + b) n)."""
        rows, codes = self.matrix.astype(np.float64, copy=False), _codes(self.matrix)
        order = np.argsort(codes, kind="stable")
        places = np.minimum(np.searchsorted(codes, _codes(B), sorter=order), len(order) - 1)
        columns = order[places]
        equal = (rows[columns] == B).all(axis=1)
        return np.where(equal, columns, -1)


def _codes(rows: Array) -> NDArray[np.uint64]:
    """A number for each row, (m,), equal for equal rows: sums of integers are exact in any order."""
    bits = (rows.astype(np.float64) + 0.0).view(np.uint64)  # -0.0 becomes 0.0
    factors = np.random.default_rng(0).integers(2**64, size=bits.shape[1], dtype=np.uint64) | np.uint64(1)
    return np.einsum("ij,j->i", bits, factors)


def _in_blocks(kernel: Kernel, Y: Array, centres: Array, weights: Array) -> Array:
    values = np.empty(len(Y))
    for rows in block_plan(len(Y), len(centres), np.float64):
        values[rows] = kernel(Y[rows], centres) @ weights
    return values
