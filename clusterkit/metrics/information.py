"""Normalised mutual information of two labellings."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from clusterkit.metrics.table import Counts, contingency

#: How the two entropies are put together into the normaliser.
Average = Literal["arithmetic", "geometric", "min", "max"]


def nmi(labels_true: ArrayLike, labels_pred: ArrayLike, *, average: Average = "arithmetic") -> float:
    """Mutual information of two labellings, divided by an average of their entropies.

    ``NMI = I(S; C) / mean(H(S), H(C))`` with ``I = Σ (T/n) log(n T / (a b))`` over the cells of the
    contingency table, ``a`` and ``b`` its row and column sums, and ``0 log 0 = 0``. The base of the
    logarithm cancels.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Class of each sample: ints, strings or bools. -1 (noise in some methods) is a label like any other.
    labels_pred : array-like of shape (n,)
        Cluster of each sample, likewise.
    average : {"arithmetic", "geometric", "min", "max"}
        Mean of the two entropies to divide by. A published value is comparable only under its own mean.

    Returns
    -------
    float
        In [0, 1] and symmetric. 1 for identical partitions; one class against one cluster is 1 too.
        0 if only one of the two entropies is 0.

    Raises
    ------
    ValueError
        If a vector is empty or not 1-D, holds a missing value, the lengths differ, or `average` is none of
        the four.

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
    if average not in get_args(Average):
        raise ValueError(f"average={average!r} is not one of {', '.join(get_args(Average))}")
    table = contingency(labels_true, labels_pred)
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
