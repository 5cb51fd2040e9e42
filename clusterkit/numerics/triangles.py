"""Triangles of square matrices as arrays of one dimension: what has to be sent of a symmetric or triangular matrix."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Array

__all__ = ["packed_lower", "packed_upper", "symmetric_of", "upper_of"]


def packed_lower(M: Array) -> Array:
    """The lower triangle of a matrix (m, m), row after row, (m (m + 1) / 2,).

    Examples
    --------
    >>> packed_lower(np.array([[1.0, 2.0], [2.0, 3.0]])).tolist()
    [1.0, 2.0, 3.0]
    """
    return np.concatenate([M[:0, 0], *(M[i, : i + 1] for i in range(len(M)))])


def symmetric_of(packed: Array, m: int) -> Array:
    """The symmetric matrix (m, m) with a lower triangle from `packed_lower`.

    Examples
    --------
    >>> symmetric_of(np.array([1.0, 2.0, 3.0]), 2).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    M = np.empty((m, m), dtype=packed.dtype)
    end = 0
    for i in range(m):
        row = packed[end : end + i + 1]
        M[i, : i + 1] = row
        M[: i + 1, i] = row
        end += i + 1
    return M


def packed_upper(R: Array) -> Array:
    """The entries on and above the diagonal of a matrix (r, m), r <= m, row after row.

    Examples
    --------
    >>> packed_upper(np.array([[1.0, 2.0, 3.0], [0.0, 4.0, 5.0]])).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0]
    """
    return np.concatenate([R[:0, 0], *(R[i, i:] for i in range(len(R)))])


def upper_of(packed: Array, r: int, m: int) -> Array:
    """The matrix (r, m) with these entries on and above the diagonal, and zeros below.

    Examples
    --------
    >>> upper_of(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 2, 3).tolist()
    [[1.0, 2.0, 3.0], [0.0, 4.0, 5.0]]
    """
    R = np.zeros((r, m), dtype=packed.dtype)
    end = 0
    for i in range(r):
        R[i, i:] = packed[end : end + m - i]
        end += m - i
    return R
