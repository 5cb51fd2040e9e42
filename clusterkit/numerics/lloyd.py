"""k-means on plain arrays: scikit-learn's, without its warnings, and with the centres in a fixed order.

`compiled_pays` says when compiled loops find the nearest centres faster than products of matrices do.
"""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.sparse_rows import Rows, SparseRows
from clusterkit.numerics.threads import CHUNK, ignoring, limited_threads, over_rows

SINGLE_THREAD = 4_000_000
"""With fewer products in an iteration (n k d), a second thread costs more time than it saves; above, the starts run
side by side, each in one thread."""


def kmeans(
    X: Rows, k: int, *, n_init: int, max_iter: int, seed: int, weights: Array | None = None
) -> tuple[Labels, Array, int]:
    """Labels and centres of the best of several k-means++ starts, by scikit-learn's `KMeans`.

    Parameters
    ----------
    X : ndarray or SparseRows of shape (n, d)
        At least k rows; the arithmetic is float64 whatever their type.
    k : int
        Number of clusters.
    n_init : int
        Number of starts.
    max_iter : int
        Most Lloyd iterations of a start.
    seed : int
        Seed of scikit-learn's random numbers.
    weights : ndarray of shape (n,) or None
        How much each row counts.

    Returns
    -------
    labels : ndarray of shape (n,)
        Number of the nearest centre by `nearest`, in the order of first appearance.
    centres : ndarray of shape (k, d)
        In the order of the labels; centres to which no sample is nearest come last.
    distinct : int
        Number of clusters with samples: fewer than k only if there are fewer than k distinct rows.

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

    X = X.astype(np.float64, copy=False)
    # the warning means that there are fewer distinct rows than clusters; the caller reads that from `distinct`
    with ignoring(ConvergenceWarning):
        matrix = X.csr if isinstance(X, SparseRows) else X
        if n_init > 1 and k > 1 and matrix.size * k >= SINGLE_THREAD:
            centres = _side_by_side(matrix, k, n_init, max_iter, seed, weights)
        else:
            with limited_threads(0), _threads().limit(limits=1, user_api="openmp"):
                model = KMeans(k, n_init=n_init, max_iter=max_iter, random_state=seed)
                centres = model.fit(matrix, sample_weight=weights).cluster_centers_
    # The labels come from `nearest`, which labels new rows as well, so that both agree to the last bit.
    labels = nearest(X, centres)
    present, first = np.unique(labels, return_index=True)
    present = present[np.argsort(first)]
    centres = centres[np.concatenate([present, np.setdiff1d(np.arange(k), present)])]
    return nearest(X, centres), centres, len(present)


def _side_by_side(X: Any, k: int, n_init: int, max_iter: int, seed: int, weights: Array | None) -> Array:
    """Centres of the best of several starts, which run side by side, each in one thread.

    The starts are those that scikit-learn's `KMeans` makes one after the other: the first centre of a start takes one
    random number, each of the others as many as it has candidates. A fit of several threads would add up in an order
    that differs from run to run.
    """
    from sklearn.cluster import KMeans, kmeans_plusplus
    from sklearn.exceptions import ConvergenceWarning

    drawn = np.random.RandomState(seed)
    mean = X.mean(axis=0) if isinstance(X, np.ndarray) else 0.0
    X = X - mean if isinstance(X, np.ndarray) else X
    states = []
    for _ in range(n_init):
        states.append(deepcopy(drawn))
        drawn.random_sample(1 + (k - 1) * (2 + int(np.log(k))))

    def start(number: int) -> tuple[Array, float, Labels]:
        # both are of this thread: each has a number of its own
        with ignoring(ConvergenceWarning), _threads().limit(limits=1, user_api="openmp"):
            seeds, _ = kmeans_plusplus(X, k, sample_weight=weights, random_state=states[number])
            model = KMeans(k, init=seeds, n_init=1, max_iter=max_iter).fit(X, sample_weight=weights)
        return model.cluster_centers_, float(model.inertia_), model.labels_

    starts: list[Any] = [None] * n_init

    def some(begin: int, end: int) -> None:
        for number in range(begin, end):
            starts[number] = start(number)

    with limited_threads(0):
        over_rows(some, n_init, CHUNK)  # one start a range
    best, inertia, labels = starts[0]
    for other, lower, others in starts[1:]:
        if lower < inertia and not _same_clusters(labels, others, k):
            best, inertia, labels = other, lower, others
    return np.asarray(best + mean)


def _same_clusters(labels: Labels, others: Labels, k: int) -> bool:
    """Whether two labellings differ in the numbers of the clusters only, as starts that end alike do."""
    renamed = np.full(k, -1)
    renamed[labels] = others
    return bool(np.array_equal(renamed[labels], others)) and len(np.unique(renamed[labels])) == len(np.unique(labels))


def weighted_kmeans(X: Array, weights: Array, k: int, *, n_init: int, seed: int) -> Array:
    """Centres (k, d) of few rows with weights, by the best of several k-means++ starts of scikit-learn's `KMeans`.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        float64; with fewer than k rows of positive weight some centres coincide.
    weights : ndarray of shape (m,)
        How many rows each stands for; rows of weight 0 are left out.
    k, n_init, seed : int
        Parameters of `kmeans`.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    X, weights = X[weights > 0], weights[weights > 0]
    if len(X) <= k:
        return X[np.arange(k) % len(X)]
    with ignoring(ConvergenceWarning), limited_threads(0), _threads().limit(limits=1, user_api="openmp"):
        return KMeans(k, n_init=n_init, random_state=seed).fit(X, sample_weight=weights).cluster_centers_


def quick_centres(X: Array, k: int, *, turns: int, seed: int) -> Array:
    """Centres (k, d) of many small cells, after a few iterations of scikit-learn's `KMeans` from k random rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    k, turns, seed : int
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with ignoring(ConvergenceWarning), limited_threads(0), _threads().limit(limits=1, user_api="openmp"):
        return KMeans(k, init="random", n_init=1, max_iter=turns, random_state=seed).fit(X).cluster_centers_


@cache
def _threads() -> Any:
    """Controller of the thread pools that scikit-learn uses, cached: the search for them takes 6 ms.

    (A fit of 1,000 rows takes as long.) Call it after the import of ``sklearn.cluster``, which loads the libraries.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def nearest(X: Rows, centres: Array) -> Labels:
    """Number of the centre nearest to each row, the lowest on ties, shape (n,)."""
    return np.argmin(squared_distances(X, centres), axis=1)


LEAST_WORK = 4_000_000
"""Coordinates compared in a pass, n k L, from which on compiled loops are used: below it a pass takes milliseconds, so
that loading the compiled code would cost more, and results keep the bits that products of matrices gave them. Above it
k-means of 100,000 rows of 8 attributes is 2.5 times as fast by loops."""
WIDEST = 128
"""Attributes up to which they are used: products of wider matrices keep the arithmetic units busier than loops do."""


def compiled_pays(n: int, width: int, k: int) -> bool:
    """Whether `clusterkit.numerics.nearest_jit` should compare n rows of `width` attributes with k centres.

    A function of these sizes alone, so that the same data meet the same arithmetic in memory or elsewhere.

    Examples
    --------
    >>> compiled_pays(200_000, 20, 8), compiled_pays(150, 4, 3), compiled_pays(60_000, 784, 10)
    (True, False, False)
    """
    return width <= WIDEST and n * width * k >= LEAST_WORK
