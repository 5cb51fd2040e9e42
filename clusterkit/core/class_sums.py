"""The products of a block of features with the targets of its labels: ``H_b' T_b``."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Array, Counts
from clusterkit.core.coding import Coded
from clusterkit.core.namespaces import array_namespace, host_dtype
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["GROUPED_COLUMNS", "class_totals", "products_of_rows", "target_sums"]

GROUPED_COLUMNS = 48
"""Number of target columns from which sorting the rows by label is faster than multiplying by mostly zeros."""

SPLIT_ROWS = 4096
"""Rows of a product of float32 numbers on a device; the products are added in float64. A product of all rows of a block
would lose digits there, and the processor's blocks have no more rows either."""


def target_sums(H: Array, coded: Coded) -> Array:
    """Features times weighted targets of the same rows, (L, R q); the targets are made for this block only.

    Parameters
    ----------
    H : array or SparseRows of shape (b, L)
        Of numpy, or of another library of the array API.
    coded : Coded
        Labels (R, b) of these rows.
    """
    xp = array_namespace(H)
    if xp is not np:
        return products_of_rows(H, coded.device_targets(H))
    if coded.k >= GROUPED_COLUMNS and not isinstance(H, SparseRows):
        return _grouped(H, coded)
    return H.T @ coded.block(slice(None), H.dtype)


def class_totals(H: Array, coded: Coded) -> tuple[Array, Counts]:
    """`target_sums` of one start, and the sizes of its classes, (k,), or the sums of their weights."""
    if array_namespace(H) is np:
        return target_sums(H, coded), coded.sizes()[0]
    return target_sums(H, coded), coded.device_sizes(H)


def products_of_rows(H: Array, T: Array) -> Array:
    """``H'T``, (L, q), float64, for dense H (b, L) and T (b, q) of another library than numpy and of one type.

    Always in the same order: no sum depends on which of its terms was ready first.
    """
    xp = array_namespace(H)
    if host_dtype(H) == np.float64:
        product: Array = xp.matmul(H.T, T)
        return product
    b, L = H.shape
    whole = b // SPLIT_ROWS * SPLIT_ROWS
    total: Array = xp.zeros((L, T.shape[1]), dtype=xp.float64, device=H.device)
    if whole:
        cut = (whole // SPLIT_ROWS, SPLIT_ROWS)
        rows, targets = xp.reshape(H[:whole, :], (*cut, L)), xp.reshape(T[:whole, :], (*cut, T.shape[1]))
        products = xp.matmul(xp.permute_dims(rows, (0, 2, 1)), targets)  # (b / 4096, L, q)
        total = xp.sum(products, axis=0, dtype=xp.float64)
    if whole < b:
        total = total + xp.astype(xp.matmul(H[whole:, :].T, T[whole:, :]), xp.float64)
    return total


def _grouped(H: Array, coded: Coded) -> Array:
    """H_b'T_b by class sums: the rows are sorted by label and added, instead of k products per row."""
    parts = []
    for labels in coded.labels:
        order = np.argsort(labels, kind="stable")
        present, first = np.unique(labels[order], return_index=True)
        class_sums = np.zeros((coded.k, H.shape[1]))
        rows = H[order] if coded.weights is None else H[order] * coded.weights[order, None]
        class_sums[present] = np.add.reduceat(rows, first, axis=0, dtype=np.float64)
        parts.append(class_sums.T @ coded.codebook)
    return np.concatenate(parts, axis=1)
