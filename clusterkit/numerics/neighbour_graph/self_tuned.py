"""Weights of a graph of nearest neighbours with a scale for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.numerics.neighbours import unique_pairs

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["local_scales", "self_tuned_weights"]

EPS = float(np.finfo(np.float64).eps)
"""Relative rounding error of float64."""


def local_scales(squared: Array, neighbour: int) -> Array:
    """Distance of each row to its neighbour of that number, from the squared distances of its neighbours, (u, k).

    A distance of 0 (of rows so near to each other that the square of their distance underflows) becomes the smallest
    positive one, or 1 if there is none.
    """
    scales = np.sqrt(squared[:, neighbour - 1])
    positive = scales[scales > 0.0]
    return np.maximum(scales, positive.min() if len(positive) else 1.0)


def self_tuned_weights(squared: Array, index: Indices, scales: Array) -> csr_array:
    """The sparse symmetric matrix ``w_ij = exp(-|x_i - x_j|² / (s_i s_j))`` of neighbours, (u, u).

    Two rows are joined if either is a neighbour of the other, with half of the weight if the other is not one of it in
    turn. Weights below eps / u relative to the root of the product of both degrees are left out: all of them together
    change no eigenvalue by more than eps.

    Parameters
    ----------
    squared : ndarray of shape (u, k)
        Squared distances of the rows to their neighbours.
    index : ndarray of int, shape (u, k)
        The neighbours. The row itself is not joined to itself.
    scales : ndarray of shape (u,)
    """
    from scipy.sparse import csr_array

    u, k = index.shape
    pairs = np.stack([np.repeat(np.arange(u), k), index.reshape(-1)], axis=1)
    edges, first = unique_pairs(pairs, u)
    lengths = squared.reshape(-1)[first]
    keys = pairs.min(axis=1) * np.int64(u) + pairs.max(axis=1)
    sides = np.bincount(np.searchsorted(edges[:, 0] * np.int64(u) + edges[:, 1], keys), minlength=len(edges))
    proper = edges[:, 0] != edges[:, 1]
    (i, j), lengths, sides = edges[proper].T, lengths[proper], sides[proper]
    weights = 0.5 * np.minimum(sides, 2) * np.exp(-lengths / (scales[i] * scales[j]))
    degrees = np.bincount(i, weights, u) + np.bincount(j, weights, u)
    joining = weights > EPS / u * np.sqrt(degrees[i] * degrees[j])
    i, j, weights = i[joining], j[joining], weights[joining]
    rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
    return csr_array((np.concatenate([weights, weights]), (rows, columns)), shape=(u, u))
