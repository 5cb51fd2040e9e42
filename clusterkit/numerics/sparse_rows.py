"""Samples with so many attributes, most of them 0, that they are never stored as a dense matrix.

`column_extremes` has the smallest and the largest value of each column, dense or sparse, fast for few columns too.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, TypeAlias, final, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clusterkit._typing import AnyArray, Array, ArrayLike, Indices, Mask

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array


class SparseMatrix(Protocol):
    """A sparse matrix or array of scipy."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, d)."""

    def toarray(self) -> AnyArray:
        """A dense copy."""


Rows: TypeAlias = "Array | SparseRows"
"""Samples as the stages get them, shape (n, d)."""


@final
class SparseRows:
    """Rows of a compressed sparse matrix, with the part of the array interface that methods based on distances need.

    Parameters
    ----------
    csr : sparse array or matrix of shape (n, d) in CSR format
        float32 or float64; it must not be changed afterwards.

    Notes
    -----
    ``rows[i]`` with a slice or an index array is `SparseRows`; ``rows @ B`` and ``rows.T @ T`` are dense. Other array
    operations are missing on purpose: an operation that would need a dense copy fails instead of using all memory.
    """

    __slots__ = ("_squares", "csr")
    # None: numpy must not treat an instance as a scalar in ``array @ rows``, a product that this class does not have
    __array_ufunc__ = None

    def __init__(self, csr: csr_array, squares: NDArray[np.float64] | None = None) -> None:
        self.csr = csr
        self._squares = squares

    @classmethod
    def of(cls, X: ArrayLike | SparseMatrix) -> SparseRows:
        """Sparse rows from a copy of a dense or sparse matrix, sorted and without stored zeros."""
        import scipy.sparse

        csr = scipy.sparse.csr_array(X, copy=True)
        csr.sum_duplicates()
        csr.eliminate_zeros()
        csr.sort_indices()
        return cls(csr)

    @classmethod
    def joined(cls, parts: list[SparseRows]) -> SparseRows:
        """The rows of several matrices, one below the other."""
        import scipy.sparse

        return cls(scipy.sparse.vstack([part.csr for part in parts], format="csr"))

    def __getstate__(self) -> csr_array:
        return self.csr

    def __setstate__(self, csr: csr_array) -> None:
        self.csr, self._squares = csr, None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and attributes, (n, d)."""
        return self.csr.shape

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """Type of the values: float32 or float64."""
        return self.csr.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of a value."""
        return int(self.csr.dtype.itemsize)

    def __len__(self) -> int:
        return int(self.csr.shape[0])

    def __getitem__(self, index: slice | Indices | Mask) -> SparseRows:
        squares = None if self._squares is None else self._squares[index]
        if isinstance(index, (int, np.integer)):
            raise TypeError("sparse rows are taken by slices and index arrays only")
        return SparseRows(self.csr[index], squares)

    def __matmul__(self, B: Array) -> Array:
        return np.asarray(self.csr @ B)

    @property
    def T(self) -> csc_array:
        """The transposed matrix, (d, n)."""
        return self.csr.T

    def astype(self, dtype: DTypeLike, copy: bool = True) -> SparseRows:
        """The rows with values of another type."""
        same = np.dtype(dtype) == self.dtype
        return self if same and not copy else SparseRows(self.csr.astype(dtype))

    def copy(self) -> SparseRows:
        """This object itself: rows are never changed, so no copy is needed."""
        return self

    def toarray(self) -> Array:
        """The dense matrix, (n, d)."""
        return np.asarray(self.csr.toarray())

    def squares(self) -> NDArray[np.float64]:
        """Squared lengths of the rows, (n,)."""
        if self._squares is None:
            values = self.csr.data.astype(np.float64)
            self._squares = _row_sums(values * values, self.csr.indptr)
        return self._squares

    def min(self) -> float:
        """Smallest entry, including the zeros that are not stored."""
        return float(self.csr.min())

    def mean(self, axis: int) -> NDArray[np.float64]:
        """Mean row, (d,)."""
        assert axis == 0
        return np.asarray(self.csr.sum(axis=0, dtype=np.float64)).reshape(-1) / len(self)

    def variance(self) -> float:
        """Variance of all n d entries."""
        size = self.shape[0] * self.shape[1]
        mean = float(self.csr.data.sum(dtype=np.float64)) / size
        inner = float(np.square(self.csr.data.astype(np.float64) - mean).sum())
        return (inner + (size - self.csr.nnz) * mean * mean) / size

    def extremes(self) -> tuple[Array, Array]:
        """Smallest and largest value of every attribute, two arrays (d,)."""
        low, high = (getattr(self.csr, name)(axis=0) for name in ("min", "max"))
        return tuple(
            np.asarray(part.todense() if hasattr(part, "todense") else part).reshape(-1) for part in (low, high)
        )  # type: ignore[return-value]

    def products(self, other: SparseRows | Array) -> Array:
        """Inner products with all rows of another matrix (m, d), shape (n, m), dense."""
        if isinstance(other, SparseRows):
            return np.asarray((self.csr @ other.csr.T).toarray())
        return np.asarray(self.csr @ other.T)

    def keys(self) -> list[bytes]:
        """A key for every row: two rows are equal if and only if their keys are equal."""
        ends, values = self.csr.indptr, self.csr.data.astype(np.float64) + 0.0
        places = self.csr.indices.astype(np.int64)
        return [places[a:b].tobytes() + values[a:b].tobytes() for a, b in pairwise(ends)]

    def distinct(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """First row of each set of equal rows, and the set of each row, as `distinct_rows` returns them."""
        number: dict[bytes, int] = {}
        inverse = np.array([number.setdefault(key, len(number)) for key in self.keys()], dtype=np.intp)
        first = np.full(len(number), len(self), dtype=np.intp)
        np.minimum.at(first, inverse, np.arange(len(self)))
        return first, inverse


@overload
def as_rows(points: SparseRows, dtype: DTypeLike) -> SparseRows: ...
@overload
def as_rows(points: Array, dtype: DTypeLike) -> Array: ...
@overload
def as_rows(points: Rows, dtype: DTypeLike) -> Rows: ...


def as_rows(points: Rows, dtype: DTypeLike) -> Rows:
    """Points as a contiguous array, or as sparse rows, of a given type."""
    if isinstance(points, SparseRows):
        return points.astype(dtype, copy=False)
    return np.ascontiguousarray(points, dtype=dtype)


def from_mean(points: Rows, centre: Array | None = None) -> Array:
    """Squared distances of the rows to a dense point, (n,); the default point is their mean."""
    centre = points.mean(axis=0) if centre is None else centre
    if isinstance(points, SparseRows):
        return np.maximum(points.squares() - 2.0 * (points @ centre) + centre @ centre, 0.0)
    offsets = points - centre
    return np.einsum("ij,ij->i", offsets, offsets)


def _row_sums(values: NDArray[np.float64], ends: Indices) -> NDArray[np.float64]:
    sums = np.zeros(len(ends) - 1)
    filled = np.flatnonzero(np.diff(ends))
    if len(filled):
        sums[filled] = np.add.reduceat(values, ends[filled])
    return sums


NUMBERS = 512
"""Numbers of several rows that are compared as one long row: numpy spends more on short rows than on their numbers."""


def column_extremes(X: Array) -> tuple[Array, Array]:
    """The smallest and the largest value of each column of X (n, d), (d,) each; nan where a column has one.

    Examples
    --------
    >>> [values.tolist() for values in column_extremes(np.array([[3.0, 1.0], [2.0, 5.0]]))]
    [[2.0, 1.0], [3.0, 5.0]]
    """
    n, d = X.shape
    rows = NUMBERS // max(1, d)
    if rows < 2 or n < 2 * rows or not X.flags.c_contiguous:
        return X.min(axis=0), X.max(axis=0)
    whole = n // rows * rows
    long, rest = X[:whole].reshape(-1, rows * d), X[whole:]

    def folded(extreme: Callable[..., Array]) -> Array:
        few = extreme(long, axis=0).reshape(rows, d)
        return extreme(np.concatenate([few, rest]), axis=0)

    return folded(np.min), folded(np.max)
