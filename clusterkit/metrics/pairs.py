"""Metrics that count pairs of samples: the Rand index, plain and adjusted for chance."""

from __future__ import annotations

import math

import attrs
import numpy as np
from numpy.typing import ArrayLike

from clusterkit.metrics.labels import Noise
from clusterkit.metrics.table import Contingency, Counts, contingency

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
