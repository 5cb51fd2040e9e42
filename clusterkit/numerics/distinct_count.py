"""How many rows are distinct, counted only as far as it matters."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Array
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["n_distinct"]

LOOKED_AT_FIRST = 1024
"""Rows that mostly have as many distinct ones among them as it takes."""


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
        size = max(LOOKED_AT_FIRST, 8 * size)
        count = len(np.unique(X[:size], axis=0))
    return count
