"""Scores whose largest entries give cells of even sizes: offsets, and what offsets cannot tell apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["even_out"]


def even_out(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], int, int]:
    """Scores with offsets such that the columns of the largest scores are n // k or one more rows each.

    Parameters
    ----------
    rows : ndarray of shape (n, k)
        n >= k.

    Returns
    -------
    rows : ndarray of shape (n, k)
        With the offsets added.
    offsets : ndarray of shape (k,)
    moved : int
        Rows whose largest score is in another column than before.
    tied : int
        Rows that offsets do not settle: equal rows on both sides of a border. Their own score is raised to the largest.

    Notes
    -----
    The sum of the scores chosen is the largest for the sizes that come out, up to rounding. O(k³ + n) for each row in
    excess, memory of three (n, k) arrays.
    """
    from clusterkit.kernels import even_jit

    before = np.argmax(rows, axis=1)
    labels = before.copy()
    price, _ = even_jit.even(-rows, labels)
    offsets = -even_jit.prices(price)
    # scores are read and predicted as one sum, so that both round alike
    rows = rows + offsets
    unsettled = np.flatnonzero(np.argmax(rows, axis=1) != labels)
    rows[unsettled, labels[unsettled]] = np.nextafter(rows[unsettled].max(axis=1), np.inf)
    return rows, offsets, int(np.count_nonzero(labels != before)), len(unsettled)
