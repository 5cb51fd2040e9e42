"""The products of a block of features with the targets of its labels: ``H_b' T_b``."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Array
from clusterkit.core.coding import Coded
from clusterkit.core.namespaces import array_namespace
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["GROUPED_COLUMNS", "target_sums"]

GROUPED_COLUMNS = 48
"""Number of target columns from which sorting the rows by label is faster than multiplying by mostly zeros."""


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
        targets = coded.block(slice(None))  # made by the host; the product is made where H is
        product: Array = xp.matmul(H.T, xp.asarray(targets, dtype=H.dtype, device=H.device))
        return product
    if coded.k >= GROUPED_COLUMNS and not isinstance(H, SparseRows):
        return _grouped(H, coded)
    return H.T @ coded.block(slice(None), H.dtype)


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
