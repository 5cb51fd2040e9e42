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
    No labels of such sizes have a larger sum of scores, up to rounding. Time and memory are those of `transport`.
    """
    from clusterkit.numerics.transport.solve import transport

    n, k = rows.shape
    before = np.argmax(rows, axis=1)
    found = transport(-rows, before, np.full(k, n // k), np.full(k, -(-n // k)))
    assert found is not None, "finite scores can always be divided evenly"
    labels, offsets = found.labels, -found.prices
    # scores are read and predicted as one sum, so that both round alike
    rows = rows + offsets
    unsettled = np.flatnonzero(np.argmax(rows, axis=1) != labels)
    rows[unsettled, labels[unsettled]] = np.nextafter(rows[unsettled].max(axis=1), np.inf)
    return rows, offsets, int(np.count_nonzero(labels != before)), len(unsettled)
