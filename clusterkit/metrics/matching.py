"""Metrics that name the clusters after classes: accuracy (one to one) and purity (many to one)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from clusterkit.metrics.table import Contingency, contingency


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of samples labelled right under the best one-to-one naming of clusters.

    ``Acc = max over one-to-one maps of (1/n) Σ_j T[map(j), j]``, where ``T[i, j]`` counts the samples
    of class i in cluster j. With more clusters than classes (or fewer) the ones left over match
    nothing, as if the table were padded with zeros.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Class of each sample: ints, strings or bools. -1 (noise in some methods) is a label like any
        other: noise samples are a cluster of their own.
    labels_pred : array-like of shape (n,)
        Cluster of each sample, likewise.

    Returns
    -------
    float
        In [1/max(k, J), 1] for k classes and J clusters; 1 only for identical partitions.

    Raises
    ------
    ValueError
        If a vector is empty or not 1-D, holds a missing value, or the lengths differ.

    Notes
    -----
    Exact. O(n log n) for the table and O(min(k, J)² max(k, J)) for the assignment.
    Source: Kuhn, The Hungarian method for the assignment problem, 1955; as a clustering metric Zhang,
    Xia, Liu and Zhang, Extreme maximum margin clustering, IEICE Trans. 2013, eq. (15).

    Examples
    --------
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    table = contingency(labels_true, labels_pred)
    if table.is_bijection:
        return 1.0
    return _matched(table) / table.n_samples


def purity(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of samples that belong to the largest class of their cluster.

    ``Purity = (1/n) Σ_j max_i T[i, j]``, where ``T[i, j]`` counts the samples of class i in cluster j.
    Not symmetric, and 1 for clusters of one sample each.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Class of each sample: ints, strings or bools. -1 (noise in some methods) is a label like any other.
    labels_pred : array-like of shape (n,)
        Cluster of each sample, likewise.

    Returns
    -------
    float
        In [1/k, 1] for k classes; never below the accuracy.

    Raises
    ------
    ValueError
        If a vector is empty or not 1-D, holds a missing value, or the lengths differ.

    Notes
    -----
    O(n log n) time. Source: Zhao and Karypis, Criterion functions for document clustering, 2001.

    Examples
    --------
    >>> purity([0, 0, 1, 1], [0, 1, 2, 2])
    1.0
    >>> purity([0, 1, 2, 2], [0, 0, 1, 1])
    0.75
    """
    table = contingency(labels_true, labels_pred)
    largest = np.zeros(table.clusters.size, dtype=np.int64)
    np.maximum.at(largest, table.columns, table.counts)
    return int(largest.sum()) / table.n_samples


def _matched(table: Contingency) -> int:
    """Samples in the cells of the heaviest one-to-one choice of cells."""
    # Imported here: scipy.optimize costs more time than importing all of clusterkit.metrics.
    if table.fits_in_memory:
        from scipy.optimize import linear_sum_assignment

        dense = table.to_array()
        return int(dense[linear_sum_assignment(dense, maximize=True)].sum())
    return _matched_sparse(table)


def _matched_sparse(table: Contingency) -> int:
    """Same as `_matched`, on the non-zero cells alone."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n_rows, n_columns = table.shape
    # The solver wants every row matched and no weight of 0. So each row gets a column of its own that
    # costs `top`, "this class stays alone"; a real cell costs less by the samples it gains.
    top = int(table.counts.max()) + 1
    alone = np.arange(n_rows)
    costs = coo_array(
        (
            np.concatenate([top - table.counts, np.full(n_rows, top)]).astype(np.float64),
            (np.concatenate([table.rows, alone]), np.concatenate([table.columns, n_columns + alone])),
        ),
        shape=(n_rows, n_columns + n_rows),
    ).tocsr()
    rows, columns = min_weight_full_bipartite_matching(costs)
    return int(n_rows * top - costs[rows, columns].sum())
