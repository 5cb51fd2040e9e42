"""The Nyström extension of a spectral embedding: features of new rows from those of their nearest vertices."""

from __future__ import annotations

from typing import cast, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.row_graph import Node
from clusterkit.core.transform import block_plan
from clusterkit.numerics.neighbour_graph.nearest import Search, neighbour_search

__all__ = ["NystromMap", "unit_rows"]

LEAST_EIGENVALUE = 0.1
"""Smallest divisor in the extension: eigenvectors of smaller eigenvalues alternate between neighbours, so that an
average over neighbours says little about them, and dividing by nearly 0 would only enlarge the noise."""


@final
@attrs.frozen(eq=False)
class NystromMap:
    """Row map ``f_l(y) = (1 / λ_l) Σ_j w(y, x_j) f_l(x_j) / Σ_j w(y, x_j)`` over the nearest vertices x_j of y.

    The weights are those of the graph, ``exp(-|y - x_j|² / (s(y) s_j))``, computed relative to the largest of them, so
    that a row far from all vertices gets the features of the nearest ones.

    Parameters
    ----------
    origin : ndarray of shape (d,)
        Subtracted from the rows.
    size : float
        The rows are then divided by it.
    vertices : ndarray of shape (v, d)
        Distinct, with origin and size taken off.
    scales : ndarray of shape (v,)
        The local scales s_j.
    features : ndarray of shape (v, r)
        ``f(x_j)``, the rows of ``(D + τ)^(-1/2) U``, scaled.
    eigenvalues : ndarray of shape (r,)
    n_neighbors : int
        Number of nearest vertices, at most v.
    scale_neighbor : int
        s(y) is the distance to the vertex of this rank.
    regularization : float
        τ, added to the degree of a new row.
    unit : bool
        Whether features are divided by their length.
    """

    origin: Array
    size: float
    vertices: Array
    scales: Array
    features: Array
    eigenvalues: Array
    n_neighbors: int
    scale_neighbor: int
    regularization: float
    unit: bool
    # the search tree, made on first use and not pickled
    _memo: dict[str, Search] = attrs.field(factory=dict, init=False, repr=False)

    @property
    def width(self) -> int:
        """Number of features, r."""
        return int(self.features.shape[1])

    def __call__(self, Y: Array) -> Array:
        """Features of raw rows, (m, d) to (m, r), in the type of Y."""
        H = np.empty((len(Y), self.width), dtype=Y.dtype)
        for rows in block_plan(len(Y), self.n_neighbors * max(self.width, Y.shape[1]), np.float64):
            H[rows] = self._extend((Y[rows].astype(np.float64) - self.origin) / self.size)
        return H

    def _extend(self, points: Array) -> Array:
        if "search" not in self._memo:
            self._memo["search"] = neighbour_search(self.vertices)
        count = max(self.n_neighbors, self.scale_neighbor)
        squared, index = self._memo["search"](points, count)
        scale = np.maximum(np.sqrt(squared[:, self.scale_neighbor - 1]), self.scales.min())
        squared, index = squared[:, : self.n_neighbors], index[:, : self.n_neighbors]
        exponents = squared / (scale[:, None] * self.scales[index])
        least = exponents.min(axis=1, keepdims=True)
        weights = np.exp(least - exponents)
        sums = weights.sum(axis=1)
        means = np.einsum("ij,ijl->il", weights, self.features[index]) / sums[:, None]
        H = means / np.maximum(self.eigenvalues, LEAST_EIGENVALUE)
        if self.unit:
            return unit_rows(H)
        degrees = sums * np.exp(-least[:, 0])
        share = degrees / (degrees + self.regularization) if self.regularization > 0.0 else np.ones(len(H))
        return cast("Array", H * share[:, None])

    def onnx(self, rows: Node) -> Node:
        """Features of raw rows."""
        points = (rows - self.origin) / self.size
        squared, index = points.nearest(self.vertices, max(self.n_neighbors, self.scale_neighbor))
        scale = squared.columns([self.scale_neighbor - 1]).sqrt().maximum(float(self.scales.min()))
        squared, index = (node.columns(range(self.n_neighbors)) for node in (squared, index))
        exponents = squared / (scale * index.entries(self.scales))
        least = exponents.least()
        weights = (least - exponents).exp()
        sums = weights.sum()
        means = (weights.expanded(2) * index.entries(self.features)).sum(axis=1).squeezed(1) / sums
        H = means / np.maximum(self.eigenvalues, LEAST_EIGENVALUE)
        if self.unit:
            lengths = H.square().sum().sqrt()
            return H / (lengths > 0.0).where(lengths, 1.0)
        if self.regularization <= 0.0:
            return H
        degrees = sums * (-least).exp()
        return H * (degrees / (degrees + self.regularization))

    def __reduce__(self) -> tuple[object, ...]:
        return NystromMap, (
            self.origin, self.size, self.vertices, self.scales, self.features, self.eigenvalues, self.n_neighbors,
            self.scale_neighbor, self.regularization, self.unit,
        )  # fmt: skip


def unit_rows(rows: Array) -> Array:
    """Rows scaled to length 1; zero rows stay zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0.0)
