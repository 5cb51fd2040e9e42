"""Pairs of neighbouring rows, each pair once."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Indices

__all__ = ["unique_pairs"]


def unique_pairs(pairs: Indices, n: int) -> tuple[Indices, Indices]:
    """Unordered pairs of row numbers, each once.

    Parameters
    ----------
    pairs : ndarray of int, shape (e, 2)
        Row numbers below n, in any order and repeated.
    n : int

    Returns
    -------
    pairs : ndarray of int64, shape (u, 2)
        The lower number of a pair first; sorted by the first number, then by the second.
    first : ndarray of int, shape (u,)
        Position of the first occurrence of each pair among those passed.

    Notes
    -----
    O(e log e): a pair (i, j) is compared by the single key ``i n + j``, which is faster than sorting rows.

    Examples
    --------
    >>> pairs, first = unique_pairs(np.array([[2, 0], [1, 1], [0, 2]]), 3)
    >>> pairs.tolist(), first.tolist()
    ([[0, 2], [1, 1]], [0, 1])
    """
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    keys, first = np.unique(low * np.int64(n) + high, return_index=True)
    return np.stack([keys // n, keys % n], axis=1), first
