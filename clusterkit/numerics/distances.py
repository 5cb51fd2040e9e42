"""Squared Euclidean distances between the rows of two matrices."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Array, Rows
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["EXPLICIT_DIMENSIONS", "squared_distances"]

EXPLICIT_DIMENSIONS = 4
"""Up to so many attributes the differences are formed explicitly; above, a matrix product is faster."""


def squared_distances(A: Rows, B: Rows) -> Array:
    """Squared distances between all rows of `A` and all rows of `B`.

    Parameters
    ----------
    A : ndarray or SparseRows of shape (m, d)
    B : ndarray or SparseRows of shape (n, d)

    Returns
    -------
    ndarray of shape (m, n)
        Never negative. For d <= 4 the differences are formed explicitly, so equal rows have the distance 0 exactly.
        For larger d the expanded form ``|a|² + |b|² - 2 a·b`` is used after the mean of `B` is subtracted from both,
        which costs one matrix product and has an error of about ``eps (|a|² + |b|²)``. Sparse rows are not centred.

    Notes
    -----
    O(m n d) time, O(m n) memory.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[25.,  0.]])
    """
    if isinstance(A, SparseRows) or isinstance(B, SparseRows):
        return _sparse(A, B)
    if A.shape[1] <= EXPLICIT_DIMENSIONS:
        D = np.zeros((len(A), len(B)), dtype=np.result_type(A, B))
        for column in range(A.shape[1]):
            difference = np.subtract.outer(A[:, column], B[:, column])
            D += np.multiply(difference, difference, out=difference)
        return D
    centre = B.mean(axis=0)
    P, Q = A - centre, B - centre
    D = P @ (-2.0 * Q).T
    D += np.einsum("ij,ij->i", P, P)[:, None]
    D += np.einsum("ij,ij->i", Q, Q)[None, :]
    return np.maximum(D, 0.0, out=D)


def _sparse(A: Rows, B: Rows) -> Array:
    if not isinstance(A, SparseRows):
        return np.ascontiguousarray(_sparse(B, A).T)
    squares = B.squares() if isinstance(B, SparseRows) else np.einsum("ij,ij->i", B, B, dtype=np.float64)
    D = A.products(B).astype(np.float64, copy=False)
    D *= -2.0
    D += A.squares()[:, None]
    D += squares[None, :]
    return np.maximum(D, 0.0, out=D).astype(np.result_type(A.dtype, B.dtype), copy=False)
