"""The graph that joins every sample to its nearest neighbours, as pairs with their squared distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._typing import Array
from clusterkit.core.transform import block_plan

__all__ = ["neighbour_pairs", "symmetric"]


def neighbour_pairs(points: Array, p: int) -> tuple[Array, Array, Array]:
    """Pairs of samples one of which is among the p nearest of the other, each pair once.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        n >= 2.
    p : int
        Neighbours of a sample, itself not counted; at most n - 1 are there.

    Returns
    -------
    i, j : ndarray of int, shape (e,)
        i < j, sorted.
    squared : ndarray of shape (e,), float64
        Squared distances, from differences: of equal samples exactly 0.

    Notes
    -----
    O(n p log n) in few dimensions, O(n² d) in many. Which of several equally near samples is a neighbour is left to
    the search.
    """
    from sklearn.neighbors import NearestNeighbors

    points = points.astype(np.float64)
    points -= points.mean(axis=0)  # large offsets would cost digits of the distances
    n = len(points)
    p = min(p, n - 1)
    found = NearestNeighbors(n_neighbors=p).fit(points).kneighbors(return_distance=False)
    pairs = np.stack([np.repeat(np.arange(n), p), found.reshape(-1)], axis=1)
    pairs.sort(axis=1)
    keys = np.unique(pairs[:, 0] * np.int64(n) + pairs[:, 1])
    i, j = keys // n, keys % n
    squared = np.empty(len(keys))
    for rows in block_plan(len(keys), points.shape[1], np.float64):
        gaps = points[i[rows]] - points[j[rows]]
        squared[rows] = np.einsum("ij,ij->i", gaps, gaps)
    return i, j, squared


def symmetric(i: Array, j: Array, weights: Array, n: int) -> Any:
    """The sparse symmetric matrix (n, n) with a weight for each pair and an empty diagonal."""
    from scipy.sparse import csr_array

    rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
    return csr_array((np.concatenate([weights, weights]), (rows, columns)), shape=(n, n))
