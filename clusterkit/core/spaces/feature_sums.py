"""What a block of features adds to the mean and to the Gram matrix of all rows, wherever the block lies."""

from __future__ import annotations

from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.class_sums import products_of_rows
from clusterkit.core.namespaces import (
    BlockFunction,
    array_namespace,
    is_device_array,
    move_to,
    row_chunks,
    row_squares,
    to_device_of,
)
from clusterkit.core.sums import Sums, SymmetricSum

__all__ = ["Differences", "Gram", "squared_distances_to"]


@final
@attrs.frozen(eq=False)
class Differences(BlockFunction):
    """Part of a mean: the sum of the differences from one row, so that equal rows have an exact mean."""

    array_api: ClassVar[bool] = True

    first: Array
    weights: Array | None = None

    @property
    def multiplies(self) -> bool:
        """Whether it has products of matrices."""
        return self.weights is not None

    def __call__(self, rows: slice, H: Array) -> Sums:
        """The differences of a block, added up, (L,)."""
        if is_device_array(H):
            return self._on_device(rows, H)
        differences = H - self.first
        return Sums.of(differences.sum(axis=0) if self.weights is None else self.weights[rows] @ differences)

    def _on_device(self, rows: slice, H: Any) -> Sums:
        xp = array_namespace(H)
        differences = H - to_device_of(self.first, H)  # the first row has the type of H
        if self.weights is None:
            return Sums.of(xp.sum(differences, axis=0, dtype=xp.float64))
        weights = move_to(self.weights[rows], H)
        return Sums.of(products_of_rows(differences, weights[:, None])[:, 0])


@final
@attrs.frozen(eq=False)
class Gram(BlockFunction):
    """Part of the Gram matrix, in float64."""

    array_api: ClassVar[bool] = True

    weights: Array | None = None

    def __call__(self, rows: slice, H: Array) -> SymmetricSum:
        """The products of a block, (L, L)."""
        if is_device_array(H):
            return self._on_device(rows, H)
        block = H.astype(np.float64, copy=False)
        return SymmetricSum.of(block.T @ (block if self.weights is None else block * self.weights[rows, None]))

    def _on_device(self, rows: slice, H: Any) -> SymmetricSum:
        xp = array_namespace(H)
        total = xp.zeros((H.shape[1], H.shape[1]), dtype=xp.float64, device=H.device)
        weights = None if self.weights is None else move_to(self.weights[rows], H, np.float64)
        for part, chunk in row_chunks(H):
            block = xp.astype(chunk, xp.float64, copy=False)
            total += xp.matmul(block.T, block if weights is None else block * weights[part, None])
        return SymmetricSum.of(total)


def squared_distances_to(H: Array, point: Array) -> Array:
    """Squared distances of the rows of H (m, L) to one point (L,), from differences, (m,), where the rows lie."""
    if is_device_array(H):
        return row_squares(H - to_device_of(point, H))
    difference = H - point
    return np.asarray(np.einsum("ij,ij->i", difference, difference))
