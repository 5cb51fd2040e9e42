"""Metrics of two labellings from their contingency table.

Two accuracies (one to one) and purity (many to one) name the clusters after classes; the Rand index, plain and adjusted
for chance, counts pairs of samples; `nmi` and `anmi` are normalised mutual information.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal, get_args

import attrs
import numpy as np
from numpy.typing import ArrayLike

from clusterkit._typing import Array
from clusterkit.metrics.table import Contingency, Counts, Noise, check_labels, contingency


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
    """Purity with the shares taken in the classes instead of the clusters, to compare with a paper that prints it so.

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
    O(n log n) time. Source: Pham, Dang, Le, Le, Fast support vector clustering, Vietnam J. Comput. Sci. 2017, section
    4.2.1, formula without a number: ``p_ij = N_ij / N_j``, "the empirical distribution over class labels for cluster
    i", ``p_i = max_j p_ij`` and ``Purity = Σ_i (N_i / N) p_i``. The words describe `purity`, the formula this one.
    No labelling has less than k/n.

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
    # The solver needs every row matched and no weight of 0. So each row gets an additional column of cost `top`, which
    # means "this class stays alone"; a real cell costs less by its gain.
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


_INT64_SAFE = 2**31
"""Below this many samples no sum of squared counts overflows int64: it is at most n² < 2**62."""


def rand_index(labels_true: ArrayLike, labels_pred: ArrayLike, *, noise: Noise = "cluster") -> float:
    """Share of pairs of samples that both labellings treat alike (not adjusted for chance).

    A pair agrees if it is together in both labellings or apart in both. With ``S = Σ T²`` over the
    contingency table, ``A`` and ``B`` the sums of squared class and cluster sizes,
    ``RI = 1 + (2S - A - B) / (n (n - 1))``. One sample has no pairs: the value is then 1.

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
        In [0, 1]; 1 only for identical partitions; nan if no sample is left. Symmetric. For two classes and two
        clusters with ``g = Acc n`` it is ``(g(g-1) + (n-g)(n-g-1)) / (n(n-1))``, about ``Acc² + (1-Acc)²``.

    Raises
    ------
    ValueError
        If a vector is empty or not 1-D, holds a missing value, the lengths differ, or `noise` is none of the three.

    Notes
    -----
    O(n log n) time, no list of pairs; the pair counts are exact integers for every n.
    Source: Rand, Objective criteria for the evaluation of clustering methods, 1971.

    Examples
    --------
    >>> rand_index([0, 0, 1, 1], [0, 0, 1, 2])
    0.8333333333333334
    """
    table = contingency(labels_true, labels_pred, noise=noise)
    return math.nan if table.is_empty else rand_from_pairs(count_pairs(table))


def adjusted_rand(labels_true: ArrayLike, labels_pred: ArrayLike, *, noise: Noise = "cluster") -> float:
    """Rand index, rescaled so that 0 is what chance gives and 1 is identity.

    With ``t``, ``a``, ``b`` the pairs together in both, in the classes, in the clusters, and ``m`` all
    pairs: ``ARI = (t - ab/m) / ((a + b)/2 - ab/m)``. Where that is 0/0 (both labellings put all samples
    together, or both put all apart) the value is 1.

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
        In [-1/2, 1]; 1 only for identical partitions. Symmetric. nan if no sample is left.

    Raises
    ------
    ValueError
        If a vector is empty or not 1-D, holds a missing value, the lengths differ, or `noise` is none of the three.

    Notes
    -----
    O(n log n) time; exact integers up to the one division at the end.
    Source: Hubert and Arabie, Comparing partitions, 1985.

    Examples
    --------
    >>> adjusted_rand([0, 0, 1, 1], [0, 0, 1, 2])
    0.5714285714285714
    """
    table = contingency(labels_true, labels_pred, noise=noise)
    return math.nan if table.is_empty else adjusted_from_pairs(count_pairs(table))


@attrs.frozen
class PairCounts:
    """Numbers of pairs of samples, as Python integers (which never overflow).

    Attributes
    ----------
    both : int
        Pairs together in both labellings.
    classes, clusters : int
        Pairs together in the classes, in the clusters.
    total : int
        All pairs, n (n - 1) / 2.
    """

    both: int
    classes: int
    clusters: int
    total: int


def count_pairs(table: Contingency) -> PairCounts:
    """Pair counts of a contingency table.

    Parameters
    ----------
    table : Contingency
        The table.

    Returns
    -------
    PairCounts
        Exact counts.
    """
    return _pair_counts(table.counts, table.class_sizes, table.cluster_sizes, table.n_samples)


def table_pairs(table: Counts) -> PairCounts:
    """Pair counts of a dense contingency table, for callers that have numbered labels at hand.

    Parameters
    ----------
    table : ndarray of shape (k, J), int64
        Number of samples of class i in cluster j.

    Returns
    -------
    PairCounts
        Exact counts; O(k J).

    Examples
    --------
    >>> adjusted_from_pairs(table_pairs(np.array([[2, 0, 0], [0, 1, 1]])))
    0.5714285714285714
    """
    return _pair_counts(table.ravel(), table.sum(axis=1), table.sum(axis=0), int(table.sum()))


def _pair_counts(cells: Counts, class_sizes: Counts, cluster_sizes: Counts, n: int) -> PairCounts:
    return PairCounts(
        both=_pairs_within(cells, n),
        classes=_pairs_within(class_sizes, n),
        clusters=_pairs_within(cluster_sizes, n),
        total=n * (n - 1) // 2,
    )


def rand_from_pairs(pairs: PairCounts) -> float:
    """Rand index of pair counts.

    Parameters
    ----------
    pairs : PairCounts
        The counts.

    Returns
    -------
    float
        In [0, 1]; 1 if there are no pairs.
    """
    if pairs.total == 0:
        return 1.0
    return (pairs.total + 2 * pairs.both - pairs.classes - pairs.clusters) / pairs.total


def adjusted_from_pairs(pairs: PairCounts) -> float:
    """Adjusted Rand index of pair counts.

    Parameters
    ----------
    pairs : PairCounts
        The counts.

    Returns
    -------
    float
        In [-1/2, 1].
    """
    expected = pairs.classes * pairs.clusters  # times 1/total, kept out so that all stays integer
    spread = (pairs.classes + pairs.clusters) * pairs.total - 2 * expected
    return 2 * (pairs.both * pairs.total - expected) / spread if spread else 1.0


def _pairs_within(sizes: Counts, n: int) -> int:
    squares = int(np.dot(sizes, sizes)) if n < _INT64_SAFE else sum(size**2 for size in sizes.tolist())
    return (squares - n) // 2


Average = Literal["arithmetic", "geometric", "min", "max"]
"""Mean of the two entropies that mutual information is divided by."""


def nmi(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, average: Average = "arithmetic", noise: Noise = "cluster"
) -> float:
    """Mutual information of two labellings, divided by an average of their entropies.

    ``NMI = I(S; C) / mean(H(S), H(C))`` with ``I = Σ (T/n) log(n T / (a b))`` over the cells of the
    contingency table, ``a`` and ``b`` its row and column sums, and ``0 log 0 = 0``. The base of the
    logarithm cancels.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Class of each sample: ints, strings or bools. Every value is a class, -1 too.
    labels_pred : array-like of shape (n,)
        Cluster of each sample, of the same types.
    average : {"arithmetic", "geometric", "min", "max"}, default "arithmetic"
        Mean of the two entropies to divide by. A published value is comparable only under its own mean.
    noise : {"cluster", "singletons", "exclude"}, default "cluster"
        Samples with the predicted label -1 count as one cluster, as a cluster each, or are dropped from both vectors.

    Returns
    -------
    float
        In [0, 1] and symmetric. 1 for identical partitions; one class against one cluster is 1 too.
        0 if only one of the two entropies is 0. nan if no sample is left.

    Raises
    ------
    ValueError
        If a vector is empty or not 1-D, holds a missing value, the lengths differ, or `average` or `noise` is
        none of the words above.

    Notes
    -----
    O(n log n) time. Source: Strehl and Ghosh, Cluster ensembles, 2002 (geometric mean); the arithmetic
    mean as in He, Jin, Du, Zhuang and Shi, Clustering in extreme learning machine feature space,
    Neurocomputing 2013, eq. (11).

    Examples
    --------
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.8
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2], average="min"), 6)
    1.0
    """
    _check_average(average)
    table = contingency(labels_true, labels_pred, noise=noise)
    if table.is_empty:
        return math.nan
    if table.is_bijection:
        return 1.0  # exactly: the quotient below would be off by a rounding error
    if 1 in table.shape:
        return 0.0
    n = table.n_samples
    classes, clusters = table.class_sizes, table.cluster_sizes
    # Logarithms are added, not counts multiplied: n T and a b overflow int64 for large n.
    logs = np.log(table.counts) + math.log(n) - (np.log(classes)[table.rows] + np.log(clusters)[table.columns])
    shared = math.fsum(table.counts / n * logs)
    return min(1.0, max(0.0, shared / _mean(_entropy(classes, n), _entropy(clusters, n), average)))


def anmi(
    labels: ArrayLike,
    ensemble: Iterable[ArrayLike],
    *,
    average: Average = "geometric",
    noise: Noise = "cluster",
) -> float:
    """Average normalised mutual information of one labelling with each labelling of an ensemble.

    ``ANMI = (1/M) Σ_m NMI(member m, labels)``: how well a clustering represents all members. No classes are needed.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Cluster of each sample: ints, strings or bools.
    ensemble : iterable of M array-likes of shape (n,)
        The other clusterings, for example an array of shape (M, n).
    average : {"geometric", "arithmetic", "min", "max"}, default "geometric"
        As in `nmi`.
    noise : {"cluster", "singletons", "exclude"}, default "cluster"
        Samples with the label -1 in `labels` count as one cluster, as a cluster each, or are dropped there and in every
        member. In the members -1 is a cluster like any other.

    Returns
    -------
    float
        In [0, 1]. nan if no sample is left.

    Raises
    ------
    ValueError
        If the ensemble has no member, a labelling is empty or not 1-D, holds a missing value, the lengths differ,
        or `average` or `noise` is none of the words above.

    Notes
    -----
    O(M n log n) time; the sum is correctly rounded, so the order of the members does not matter.
    Source: Strehl and Ghosh, Cluster ensembles, 2002, eq. (5).

    Examples
    --------
    >>> round(anmi([0, 0, 1, 1], [[1, 1, 0, 0], [0, 1, 0, 1]]), 6)
    0.5
    """
    _check_average(average)
    chosen = check_labels(labels, "labels")
    values = []
    for position, member in enumerate(ensemble):
        other = check_labels(member, f"ensemble[{position}]")
        if other.size != chosen.size:
            raise ValueError(f"ensemble[{position}] has {other.size} labels but labels has {chosen.size}")
        values.append(nmi(other, chosen, average=average, noise=noise))
    if not values:
        raise ValueError("ensemble has no member; at least one labelling is needed")
    return math.fsum(values) / len(values)


def _check_average(average: str) -> None:
    if average not in get_args(Average):
        raise ValueError(f"average={average!r} is not one of {', '.join(get_args(Average))}")


def _entropy(sizes: Counts, n: int) -> float:
    return math.fsum(sizes / n * (math.log(n) - np.log(sizes)))


def _mean(a: float, b: float, average: Average) -> float:
    match average:
        case "arithmetic":
            return (a + b) / 2
        case "geometric":
            return math.sqrt(a * b)
        case "min":
            return min(a, b)
        case "max":
            return max(a, b)
