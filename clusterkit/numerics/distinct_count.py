"""How many rows are distinct, counted only as far as it matters, and which rows are equal."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["n_distinct", "sets_of_equal_rows"]

PRIME, SHIFT = np.uint64(1099511628211), np.uint64(29)
"""Of the hash of the bits of a row, which is that of `distinct_rows_jit` without the compiler."""


def n_distinct(X: Array | SparseRows, enough: int) -> int:
    """The number of distinct rows of X (n, d), or a smaller number of them that is at least `enough`.

    Examples
    --------
    >>> n_distinct(np.array([[1.0], [2.0], [1.0]]), 3)
    2
    """
    if isinstance(X, SparseRows):
        return len(X.distinct()[0])
    size, count = 0, 0
    while count < enough and size < len(X):
        size = max(2 * enough, 8 * size)
        count = len(np.unique(X[:size], axis=0))
    return count


def sets_of_equal_rows(X: Array | SparseRows) -> Indices | None:
    """The number of the set of equal rows of each row of X (n, d), as (n,); None if no two rows are equal.

    Examples
    --------
    >>> sets_of_equal_rows(np.array([[2.0], [1.0], [2.0]])).tolist()
    [1, 0, 1]
    >>> sets_of_equal_rows(np.array([[2.0], [1.0]])) is None
    True
    """
    inverse: Indices
    if isinstance(X, SparseRows):
        inverse = X.distinct()[1]
    else:
        codes = np.zeros(len(X), dtype=np.uint64)
        for column in X.T:
            codes = (codes ^ (column.astype(np.float64) + 0.0).view(np.uint64)) * PRIME  # 0.0 and -0.0 are equal
            codes ^= codes >> SHIFT
        _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        inverse = inverse.reshape(-1)
        repeated = np.flatnonzero(first[inverse] != np.arange(len(X)))
        if (X[repeated] != X[first[inverse[repeated]]]).any():  # of different rows with one hash
            inverse = np.unique(X, axis=0, return_inverse=True)[1].reshape(-1)
    return None if int(inverse.max(initial=-1)) + 1 == X.shape[0] else inverse
