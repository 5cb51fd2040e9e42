"""The repair of equal clustering: shift the columns of a score matrix so that argmax gives clusters of equal size (±1).

Rows that tie after the shift are moved one by one. The shift is found by the transportation problem
(`clusterkit.numerics.transport.solve`).
"""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Array

__all__ = ["even_out"]


def even_out(rows: Array) -> tuple[Array, Array, int, int]:
    """Add offsets to the columns such that each column has the largest score of ``n // k`` rows or one more.

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
        Number of rows whose largest score is in another column than before.
    tied : int
        Number of rows that no offsets assign: equal rows on both sides of a border. The score of the column they belong
        to is raised just above their largest.

    Notes
    -----
    No labels with such sizes have a larger sum of scores, up to rounding. For time and memory see `solve_transport`.
    """
    from clusterkit.numerics.transport.solve import solve_transport

    n, k = rows.shape
    before = np.argmax(rows, axis=1)
    solution = solve_transport(-rows, before, np.full(k, n // k), np.full(k, -(-n // k)))
    assert solution is not None, "finite scores can always be divided evenly"
    labels, offsets = solution.labels, -solution.prices
    # one sum for the labels here and for predictions, so that both round alike
    rows = rows + offsets
    unsettled = np.flatnonzero(np.argmax(rows, axis=1) != labels)
    rows[unsettled, labels[unsettled]] = np.nextafter(rows[unsettled].max(axis=1), np.inf)
    return rows, offsets, int(np.count_nonzero(labels != before)), len(unsettled)
