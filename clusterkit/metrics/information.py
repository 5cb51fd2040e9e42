"""Normalised mutual information of two labellings."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from clusterkit.metrics.labels import Noise, check_labels
from clusterkit.metrics.table import Counts, contingency

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
    average : {"arithmetic", "geometric", "min", "max"}
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
