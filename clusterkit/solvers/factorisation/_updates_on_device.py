"""The updates of the rows of a factor on a block of another library than numpy, by whole columns.

They are those of `_updates_jit`, row by row: there the rows of a lane, here all rows of a block take a step together,
and a row that has converged stays where it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._typing import Array
from clusterkit.core.namespaces import array_namespace, beside

__all__ = ["descended", "multiplied"]

NEGLIGIBLE_COLUMN = 1e-32
"""Squared length of a column, relative to the sum over all columns, below which coordinate descent skips it; the value
of the compiled loops."""


def descended(A: Any, N: Any, G: Array, max_passes: int, stop_ratio: float) -> Any:
    """Rows a moved towards the minimum of ``a G a' / 2 - a N'`` over a >= 0 by coordinate descent, (b, q), float64.

    Parameters
    ----------
    A, N : array of shape (b, q), float64
        The rows to begin with, and their products with the basis.
    G : ndarray of shape (q, q), float64
    max_passes : int
        Most passes over the coordinates.
    stop_ratio : float
        A row ends after a pass that moved it by less than this times its first pass.
    """
    xp = array_namespace(A)
    there = beside(G, A, np.float64)
    rows = [A[:, column] for column in range(A.shape[1])]
    residual = N - xp.matmul(A, there)
    slope = xp.stack([residual[:, column] for column in range(A.shape[1])])  # (q, b): a step takes whole columns
    zero = xp.zeros((), dtype=xp.float64, device=A.device)
    active = xp.ones(A.shape[0], dtype=xp.float64, device=A.device)
    allowed = active
    movable = np.flatnonzero(np.diag(G) > NEGLIGIBLE_COLUMN * np.trace(G)).tolist()
    for sweep in range(max_passes):
        change = xp.zeros(A.shape[0], dtype=xp.float64, device=A.device)
        for b in movable:
            step = xp.maximum(slope[b, :] * (1.0 / float(G[b, b])), -rows[b]) * active
            rows[b] = rows[b] + step
            change = change + step * step
            slope -= there[:, b][:, None] * step[None, :]
        if sweep == 0:
            allowed = stop_ratio**2 * change
        active = xp.where(change > allowed, active, zero)
        if not bool(xp.any(active > 0.0)):
            break
    return xp.stack(rows, axis=1)


def multiplied(A: Any, N: Any, G: Array, max_passes: int, delta: float) -> Any:
    """Rows after multiplicative updates ``a (N + δ) / (a G + δ)``, (b, q), float64; parameters as of `descended`."""
    xp = array_namespace(A)
    there, zero = beside(G, A, np.float64), xp.zeros((), dtype=xp.float64, device=A.device)
    for _ in range(max_passes):
        below = xp.matmul(A, there) + delta
        positive = below > 0.0
        A = xp.where(positive, A * ((N + delta) / xp.where(positive, below, zero + 1.0)), zero)
    return A
