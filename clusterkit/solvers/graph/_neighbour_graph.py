"""The graph that joins each sample to its nearest neighbours, as pairs of samples with their squared distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.core.transform import block_plan
from clusterkit.numerics.neighbours import unique_pairs

__all__ = ["neighbour_pairs", "symmetric"]


def neighbour_pairs(points: Array, p: int) -> tuple[Indices, Indices, Array]:
    """Pairs of samples of which one is among the p nearest neighbours of the other, each pair once.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        n >= 2.
    p : int
        Neighbours of a sample, not counting the sample itself; values above n - 1 act as n - 1.

    Returns
    -------
    i, j : ndarray of int, shape (e,)
        i < j, sorted.
    squared : ndarray of shape (e,), float64
        Squared distances, computed from differences: exactly 0 for equal samples.

    Notes
    -----
    O(n p log n) in few dimensions, O(n² d) in many. Which of several equally near samples counts as a neighbour depends
    on the search of scikit-learn.
    """
    from sklearn.neighbors import NearestNeighbors

    points = points.astype(np.float64)
    points -= points.mean(axis=0)  # large offsets would cost digits of the distances
    n = len(points)
    p = min(p, n - 1)
    neighbours = NearestNeighbors(n_neighbors=p).fit(points).kneighbors(return_distance=False)
    pairs, _ = unique_pairs(np.stack([np.repeat(np.arange(n), p), neighbours.reshape(-1)], axis=1), n)
    i, j = pairs.T
    squared = np.empty(len(pairs))
    for rows in block_plan(len(pairs), points.shape[1], np.float64):
        gaps = points[i[rows]] - points[j[rows]]
        squared[rows] = np.einsum("ij,ij->i", gaps, gaps)
    return i, j, squared


def symmetric(i: Indices, j: Indices, weights: Array, n: int) -> Any:
    """Sparse symmetric matrix (n, n) with one weight per pair and an empty diagonal."""
    from scipy.sparse import csr_array

    rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
    return csr_array((np.concatenate([weights, weights]), (rows, columns)), shape=(n, n))
