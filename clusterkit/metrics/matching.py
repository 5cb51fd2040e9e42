"""Metrics that name the clusters after classes: two accuracies (one to one) and purity (many to one)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from clusterkit._typing import Array
from clusterkit.metrics.labels import Noise
from clusterkit.metrics.table import Contingency, Counts, contingency


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike, *, noise: Noise = "cluster") -> float:
    """Share of samples labelled right under the best one-to-one naming of clusters.

    ``Acc = max over one-to-one maps of (1/n) Σ_j T[map(j), j]``, where ``T[i, j]`` counts the samples
    of class i in cluster j. With more clusters than classes (or fewer) the surplus ones match
    nothing, as if the table were padded with zeros.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Class of each sample: ints, strings or bools. Every value is a class, -1 too.
    labels_pred : array-like of shape (n,)
        Cluster of each sample, of the same types.
    noise : {"cluster", "singletons", "exclude"}, default "cluster"
        Samples with the predicted label -1 count as one cluster, as a cluster each, or are dropped from both vectors.

    Returns
    -------
    float
        In [1/max(k, J), 1] for k classes and J clusters; 1 only for identical partitions. nan if no sample is left.

    Raises
    ------
    ValueError
        If a vector is empty or not 1-D, holds a missing value, the lengths differ, or `noise` is none of the three.

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
    table = contingency(labels_true, labels_pred, noise=noise)
    if table.is_empty:
        return math.nan
    if table.is_bijection:
        return 1.0
    return _matched(table) / table.n_samples


def adjusted_asymmetric_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike, *, noise: Noise = "cluster") -> float:
    """Mean share of a class that is labelled right under the best one-to-one naming, 0 for one cluster of all.

    ``AAA = (max over one-to-one maps of (1/k) Σ_i T[i, map(i)] / a_i - 1/k) / (1 - 1/k)``, where ``T[i, j]`` counts the
    samples of class i in cluster j, a_i are the sizes of the k classes. Every class counts alike, whatever its
    size. With fewer clusters than classes the surplus classes match nothing.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Class of each sample: ints, strings or bools. Every value is a class, -1 too.
    labels_pred : array-like of shape (n,)
        Cluster of each sample, of the same types.
    noise : {"cluster", "singletons", "exclude"}, default "cluster"
        Samples with the predicted label -1 count as one cluster, as a cluster each, or are dropped from both vectors.

    Returns
    -------
    float
        In [0, 1]; 1 only for identical partitions, and 0 for any other if there is one class only. Not symmetric. nan
        if no sample is left.

    Raises
    ------
    ValueError
        If a vector is empty or not 1-D, holds a missing value, the lengths differ, or `noise` is none of the three.

    Notes
    -----
    Exact. O(n log n) for the table and O(min(k, J)² max(k, J)) for the assignment of J clusters.
    Source: Gagolewski, Normalised clustering accuracy: an asymmetric external cluster validity measure, Journal of
    Classification 2024, which later calls it the normalised clustering accuracy.

    Examples
    --------
    >>> adjusted_asymmetric_accuracy([0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 1])
    0.5
    >>> adjusted_asymmetric_accuracy([0, 0, 1, 1], [0, 0, 0, 0])
    0.0
    """
    table = contingency(labels_true, labels_pred, noise=noise)
    k = table.classes.size
    if table.is_empty:
        return math.nan
    if table.is_bijection:
        return 1.0
    if k == 1:
        return 0.0
    share = _matched(table, table.counts / table.class_sizes[table.rows]) / k
    return max(0.0, (share - 1 / k) / (1 - 1 / k))


def purity(labels_true: ArrayLike, labels_pred: ArrayLike, *, noise: Noise = "cluster") -> float:
    """Share of samples that belong to the largest class of their cluster.

    ``Purity = (1/n) Σ_j max_i T[i, j]``, where ``T[i, j]`` counts the samples of class i in cluster j.
    Not symmetric, and 1 for clusters of one sample each.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Class of each sample: ints, strings or bools. Every value is a class, -1 too.
    labels_pred : array-like of shape (n,)
        Cluster of each sample, of the same types.
    noise : {"cluster", "singletons", "exclude"}, default "cluster"
        Samples with the predicted label -1 count as one cluster, as a cluster each, or are dropped from both vectors.

    Returns
    -------
    float
        In [1/k, 1] for k classes; never below the accuracy. nan if no sample is left.

    Raises
    ------
    ValueError
        If a vector is empty or not 1-D, holds a missing value, the lengths differ, or `noise` is none of the three.

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
    table = contingency(labels_true, labels_pred, noise=noise)
    if table.is_empty:
        return math.nan
    largest = np.zeros(table.clusters.size, dtype=np.int64)
    np.maximum.at(largest, table.columns, table.counts)
    return int(largest.sum()) / table.n_samples


def purity_by_class(labels_true: ArrayLike, labels_pred: ArrayLike, *, noise: Noise = "cluster") -> float:
    """Purity with the shares taken in the classes instead of the clusters: a misprint, for comparison only.

    ``Σ_j (b_j / n) max_i T[i, j] / a_i``, where ``T[i, j]`` counts the samples of class i in cluster j, and a and b
    are the sizes of classes and clusters. One cluster of all samples has the value 1, clusters of one sample each
    have k/n: it rewards what `purity` does not, and the other way round. Use `purity` to judge a clustering.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Class of each sample: ints, strings or bools. Every value is a class, -1 too.
    labels_pred : array-like of shape (n,)
        Cluster of each sample, of the same types.
    noise : {"cluster", "singletons", "exclude"}, default "cluster"
        Samples with the predicted label -1 count as one cluster, as a cluster each, or are dropped from both vectors.

    Returns
    -------
    float
        In (0, 1]. nan if no sample is left.

    Raises
    ------
    ValueError
        If a vector is empty or not 1-D, holds a missing value, the lengths differ, or `noise` is none of the three.

    Notes
    -----
    O(n log n) time. Source: the formula as printed in Pham, Dang, Le, Le, Fast support vector clustering,
    Vietnam J. Comput. Sci. 2017, whose own words ("for cluster i") describe `purity`.

    Examples
    --------
    >>> purity_by_class([0, 0, 1, 1], [0, 0, 0, 0])
    1.0
    >>> purity_by_class([0, 0, 1, 1], [0, 1, 2, 3])
    0.5
    """
    table = contingency(labels_true, labels_pred, noise=noise)
    if table.is_empty:
        return math.nan
    largest = np.zeros(table.clusters.size)
    np.maximum.at(largest, table.columns, table.counts / table.class_sizes[table.rows])
    return min(1.0, math.fsum(table.cluster_sizes * largest) / table.n_samples)


def _matched(table: Contingency, weights: Array | Counts | None = None) -> float:
    """Largest sum of the weights of cells, no two in a row or column; by default their numbers of samples."""
    values = table.counts if weights is None else weights
    # imported here: scipy.optimize costs more time than importing all of clusterkit.metrics
    if table.fits_in_memory:
        from scipy.optimize import linear_sum_assignment

        dense = np.zeros(table.shape, dtype=values.dtype)
        dense[table.rows, table.columns] = values
        return float(dense[linear_sum_assignment(dense, maximize=True)].sum())
    return _matched_sparse(table, values)


def _matched_sparse(table: Contingency, values: Array | Counts) -> float:
    """Same as `_matched`, on the non-zero cells alone."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n_rows, n_columns = table.shape
    # The solver wants every row matched and no weight of 0. So each row gets a column of its own that
    # costs `top`, "this class stays alone"; a real cell costs less by what it gains.
    top = float(values.max()) + 1
    alone = np.arange(n_rows)
    costs = coo_array(
        (
            np.concatenate([top - values, np.full(n_rows, top)]).astype(np.float64),
            (np.concatenate([table.rows, alone]), np.concatenate([table.columns, n_columns + alone])),
        ),
        shape=(n_rows, n_columns + n_rows),
    ).tocsr()
    rows, columns = min_weight_full_bipartite_matching(costs)
    return float(n_rows * top - costs[rows, columns].sum())
