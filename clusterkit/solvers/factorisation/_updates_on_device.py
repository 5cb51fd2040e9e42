"""The updates of the rows of a factor on a block of another library than numpy, by whole columns.

They are those of `_updates_jit`, row by row: there the rows of a lane, here all rows of a block take a step together,
and a row that has converged stays where it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clusterkit._typing import Array
from clusterkit.core.class_sums import products_of_rows
from clusterkit.core.namespaces import array_namespace, as_type, host_dtype, to_device_of

if TYPE_CHECKING:
    from clusterkit.solvers.factorisation._passes import RowUpdate

__all__ = ["descended", "multiplied", "update_block"]

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
    there = to_device_of(G, A, np.float64)
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
    there, zero = to_device_of(G, A, np.float64), xp.zeros((), dtype=xp.float64, device=A.device)
    for _ in range(max_passes):
        below = xp.matmul(A, there) + delta
        positive = below > 0.0
        A = xp.where(positive, A * ((N + delta) / xp.where(positive, below, zero + 1.0)), zero)
    return A


def update_block(H: Any, W: Array, G: Array, A: Any, update: RowUpdate) -> tuple[Any, Any, Any, Any]:
    """One iteration for a block: the new rows of A, and what they add; `update_rows` of _passes.py elsewhere.

    Parameters
    ----------
    H : array of shape (b, L)
    W : ndarray of shape (L, q)
    G : ndarray of shape (q, q), float64
        ``W'W``.
    A : array of shape (b, q)
        In the type of H, where it lies.
    update : RowUpdate

    Returns
    -------
    A : array of shape (b, q)
    P : array of shape (L, q), float64
        ``H'A``.
    gram : array of shape (q, q), float64
        ``A'A``.
    moved : array of no dimension, float64
        Sum of the squared changes.
    """
    xp = array_namespace(H)
    N, before = as_type(xp.matmul(H, to_device_of(W, H)), np.float64), as_type(A, np.float64)
    if update.kind == "multiplicative":
        after = multiplied(before, N, G, update.max_passes, update.delta)
    else:
        after = descended(before, N, G, update.max_passes, update.stop_ratio)
    moved = xp.sum((after - before) ** 2)
    A = as_type(after, host_dtype(H))
    wide = as_type(A, np.float64)
    return A, products_of_rows(H, A), products_of_rows(wide, wide), moved
