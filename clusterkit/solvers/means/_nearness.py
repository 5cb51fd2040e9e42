"""Minus the squared distances of new samples to centres: what a turn of the means leaves behind."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core import shapes
from clusterkit.core.kernel import Kernel
from clusterkit.core.namespaces import (
    BlockFunction,
    array_namespace,
    device_copy,
    host_dtype,
    is_device_array,
    move_to,
    row_squares,
)
from clusterkit.core.row_graph import Node
from clusterkit.core.spaces import squared_distances_to
from clusterkit.core.transform import Transform, block_plan, in_blocks

__all__ = ["NearestKernelMeans", "NearestMeans", "minus_distances"]


@final
@attrs.frozen(eq=False)
class NearestMeans(BlockFunction):
    """Minus squared distances of new samples to centres with coordinates about an origin.

    Parameters
    ----------
    transform : Transform
        Raw rows to features.
    origin : ndarray of shape (L,)
    centres : ndarray of shape (L, k)
    constants : ndarray of shape (k,)
        ``|c|² + 2 origin·c``.
    rounding_error : float
        Squared distances below this value count as 0.
    """

    transform: Transform
    origin: Array = attrs.field(validator=shapes.shaped("L"))
    centres: Array = attrs.field(validator=shapes.shaped("L", "k"))
    constants: Array = attrs.field(validator=shapes.shaped("k"))
    rounding_error: float

    def __call__(self, Y: Array) -> Array:
        """Scores of raw rows, (m, d) to (m, k), in blocks."""
        if is_device_array(Y):
            return in_blocks(lambda rows: self.on(self.transform(rows)), Y, self._widest)
        scores = np.empty((len(Y), self.centres.shape[1]), dtype=self.transform.dtype)
        for rows, values in self.transform.passed(lambda _, H: self.on(H), Y):
            scores[rows] = values
        return scores

    @property
    def table_columns(self) -> int:
        """Of the distances, k."""
        return int(self.centres.shape[1])

    @property
    def means(self) -> Array:
        """The centres as features, (k, L)."""
        return (self.centres + self.origin[:, None]).T

    @property
    def _widest(self) -> int:
        return max(self.transform.width or 1, self.table_columns)

    def on(self, H: Array) -> Array:
        """Scores of a block of features, (b, L) to (b, k)."""
        if not is_device_array(H):
            lengths = squared_distances_to(H, self.origin)
            return minus_distances(H @ self.centres, self.constants, lengths, self.rounding_error)
        return self._on_device(H)

    def _on_device(self, H: Any) -> Any:
        """Scores of a block of another library.

        Differences from the origin are needed for the lengths anyway; their products with the centres cancel less than
        those of the features, so that no sum in float64 is needed. Tables of all scores are what it costs: few are
        written.
        """
        xp = array_namespace(H)
        origin, doubled, constants = device_copy(self, H, lambda: self._sent(H), "centres")
        differences = H - origin
        scores = xp.matmul(differences, doubled)
        scores -= constants
        scores -= row_squares(differences)[:, None]
        # distances of 0 occur in few blocks, and a table of where they are would cost as much as the product
        if H.shape[0] and float(xp.max(scores)) > -self.rounding_error:
            scores = xp.where(scores > -self.rounding_error, xp.zeros_like(scores), scores)
        return scores

    def _sent(self, H: Any) -> tuple[Any, Any, Any]:
        """The rounded origin, twice the centres about it, and their squared lengths, where a block lies."""
        dtype = host_dtype(H)
        origin = self.origin.astype(dtype)
        centres = (self.centres + (self.origin - origin)[:, None]).astype(dtype)
        lengths = np.einsum("ij,ij->j", centres, centres, dtype=np.float64)
        return move_to(origin, H), move_to(2.0 * centres, H), move_to(lengths, H)

    def onnx(self, rows: Node) -> Node:
        """Scores of raw rows."""
        H = rows.through(self.transform)
        lengths = (H - self.origin).square().sum()
        scores = (H @ self.centres) * 2.0 - self.constants - lengths
        return (scores > -self.rounding_error).where(0.0, scores)

    def columns(self, index: slice) -> NearestMeans:
        """The extension with some of the centres."""
        return attrs.evolve(self, centres=self.centres[:, index], constants=self.constants[index])


@final
@attrs.frozen(eq=False)
class NearestKernelMeans:
    """Minus squared distances of new samples to centres that are weighted sums of the training samples.

    Parameters
    ----------
    coordinates : Transform
        Raw rows to the coordinates of `points`.
    points : ndarray of shape (n, d)
    kernel : Kernel
    centres : ndarray of shape (n, k)
    norms : ndarray of shape (k,)
        Squared norms of the centres.
    rounding_error : float
        Squared distances below this value count as 0.
    """

    coordinates: Transform
    points: Array = attrs.field(validator=shapes.shaped("n", "d"))
    kernel: Kernel
    centres: Array = attrs.field(validator=shapes.shaped("n", "k"))
    norms: Array = attrs.field(validator=shapes.shaped("k"))
    rounding_error: float

    def __call__(self, Y: Array) -> Array:
        """Scores of raw rows, (m, d) to (m, k), in blocks."""
        points = self.coordinates(Y)
        scores = np.empty((len(points), self.centres.shape[1]), dtype=self.points.dtype)
        for rows in block_plan(len(points), len(self.points), self.points.dtype):
            products = self.kernel(points[rows], self.points) @ self.centres
            diagonal = self.kernel.diag(points[rows])
            scores[rows] = minus_distances(products, self.norms, diagonal, self.rounding_error)
        return scores

    def onnx(self, rows: Node) -> Node:
        """Scores of raw rows."""
        points = rows.through(self.coordinates)
        products = self.kernel.onnx(points, self.points) @ self.centres
        scores = products * 2.0 - self.norms - self.kernel.onnx_diag(points)
        return (scores > -self.rounding_error).where(0.0, scores)

    def columns(self, index: slice) -> NearestKernelMeans:
        """The extension with some of the centres."""
        return attrs.evolve(self, centres=self.centres[:, index], norms=self.norms[index])


def minus_distances(products: Array, constants: Array, lengths: Array, rounding_error: float) -> Array:
    """Minus squared distances ``2 h·c - constant - |h|²``, (n, b); distances below the rounding error become 0.

    The large terms are added first because they cancel. Without the threshold the rounding errors of distances that
    are 0 would separate duplicates.
    """
    scores = 2.0 * products.astype(np.float64, copy=False)
    scores -= constants
    scores -= lengths[:, None]
    np.copyto(scores, 0.0, where=scores > -rounding_error)
    return scores.astype(products.dtype, copy=False)
