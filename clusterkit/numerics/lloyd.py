"""k-means on plain arrays: scikit-learn's, run quietly, with its centres in a canonical order."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["kmeans", "nearest"]


# Products of an iteration (n k d) below which a second thread costs more than it gives.
SMALL = 4_000_000


def kmeans(X: Any, k: int, *, n_init: int, max_iter: int, seed: int) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Labels and centres of the best of several k-means++ starts.

    Parameters
    ----------
    X : ndarray or SparseRows of shape (n, d)
        float32 or float64, at least k rows.
    k : int
        Number of clusters.
    n_init, max_iter : int
        Starts, and most Lloyd iterations of each.
    seed : int
        Seed of scikit-learn's stream.

    Returns
    -------
    labels : ndarray of shape (n,)
        Nearest centre by `nearest`, numbered by first appearance.
    centres : ndarray of shape (k, d)
        In the order of the labels; centres that no sample is nearest to come last.
    distinct : int
        Number of clusters found: fewer than k only where k-means ran out of distinct rows.

    Notes
    -----
    O(n_init · iterations · n k d) time, one copy of X. Source: Lloyd 1982; Arthur & Vassilvitskii 2007.

    Examples
    --------
    >>> labels, centres, distinct = kmeans(
    ...     np.array([[5.0], [5.2], [0.0], [0.2]]), 2, n_init=2, max_iter=9, seed=0
    ... )
    >>> labels, centres.ravel().round(6), distinct
    (array([0, 0, 1, 1]), array([5.1, 0.1]), 2)
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings():
        # It says that there are fewer distinct rows than clusters; `distinct` tells the caller.
        warnings.simplefilter("ignore", ConvergenceWarning)
        matrix = X.csr if isinstance(X, SparseRows) else X
        with threadpool_limits(1 if matrix.size * k < SMALL else None):
            fitted = KMeans(k, n_init=n_init, max_iter=max_iter, random_state=seed).fit(matrix)
    centres = fitted.cluster_centers_
    # Labels are read by `nearest`, which labels new rows too, so that both agree to the last bit.
    labels = nearest(X, centres)
    present, first = np.unique(labels, return_index=True)
    present = present[np.argsort(first)]
    centres = centres[np.concatenate([present, np.setdiff1d(np.arange(k), present)])]
    return nearest(X, centres), centres, len(present)


def nearest(X: Any, centres: NDArray[Any]) -> NDArray[Any]:
    """Index of the nearest centre for each row, the lowest on ties, shape (n,)."""
    return np.argmin(squared_distances(X, centres), axis=1)
