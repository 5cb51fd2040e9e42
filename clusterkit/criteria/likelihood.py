"""The integrated completed likelihood of a labelling, with one Gaussian a cluster."""

from __future__ import annotations

import math

import numpy as np

from clusterkit._typing import Array, Labels

__all__ = ["completed_likelihood", "spread_dimension"]

FLOOR = 1e-6
"""Share of the mean variance of the attributes that is added to every variance, as mixtures do by custom: without it a
cluster of few or repeated rows has an infinite likelihood."""

HELD = 0.99
"""Share of the variance that `spread_dimension` accounts for; .98 to .995 choose alike on the sets of rules.py."""


def spread_dimension(X: Array, most: int) -> int:
    """How many principal components it takes for 99 % of the variance, at most `most`; 0 for equal rows.

    The number of attributes in which the rows are spread out: a thin sheet in many attributes has two.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    most : int
        Where counting stops.

    Notes
    -----
    O(n d min(n, d)) time.
    """
    from scipy.linalg import eigvalsh

    centred = X - X.mean(axis=0)
    products = centred.T @ centred if X.shape[1] <= len(X) else centred @ centred.T
    size = len(products)
    largest = eigvalsh(products, subset_by_index=(max(0, size - most), size - 1))[::-1]
    total = float(np.trace(products))
    return int(np.searchsorted(np.cumsum(largest)[: most - 1], HELD * total) + 1) if total > 0 else 0


def completed_likelihood(X: Array, labels: Labels) -> float:
    """Logarithm of the completed likelihood of labels by Gaussians, less the BIC penalty, divided by n.

    An attribute of two values has probabilities and no density: a cluster of equal values would have an infinite one,
    and every labelling by such an attribute the largest. It counts with its probabilities in the cluster, independent
    of the other attributes (Hunt, Jorgensen 1999, Mixture model clustering using the MULTIMIX program, Australian and
    New Zealand Journal of Statistics 41(2)). The others have these Gaussians:

    ``(1/n) (sum_i ln(p_c N(x_i; m_c, S_c)) - (k - 1 + k d + k d (d + 1) / 2) ln(n) / 2)`` with share, mean and
    covariance of the cluster c of each row (Biernacki, Celeux, Govaert 2000, Assessing a mixture model for clustering
    with the integrated completed likelihood, IEEE Transactions on Pattern Analysis and Machine Intelligence 22(7)).

    Parameters
    ----------
    X : ndarray of shape (n, d)
    labels : ndarray of shape (n,)
        0..k-1, each of which occurs.

    Returns
    -------
    float
        Larger is better; comparable between labellings of the same rows only.

    Notes
    -----
    O(n d² + k d³) time. The covariances are those of the rows plus 1e-6 of the mean variance of the attributes.
    """
    from scipy.special import xlogy

    low, high = X.min(axis=0), X.max(axis=0)
    two = (low < high) & np.array([bool(np.isin(X[:, j], (low[j], high[j])).all()) for j in range(X.shape[1])])
    flags, X = X[:, two] == high[two], X[:, ~two]
    n, d = X.shape
    sizes = np.bincount(labels)
    k = len(sizes)
    floor = FLOOR * float(X.var(axis=0).mean()) if d else 1.0
    floor = floor if floor > 0 else 1.0
    counts = np.array([flags[labels == c].sum(axis=0) for c in range(k)])
    shares = counts / sizes[:, None]
    total = float((xlogy(counts, shares) + xlogy(sizes[:, None] - counts, 1.0 - shares)).sum())
    order = np.argsort(labels, kind="stable")
    for rows, size in zip(np.split(X[order], np.cumsum(sizes)[:-1]), sizes, strict=True):
        centred = rows - rows.mean(axis=0)
        values = np.maximum(np.linalg.eigvalsh(centred.T @ centred / size), 0.0)
        total += size * math.log(size / n)
        # the trace of (S + floor I)^-1 S belongs to the quadratic form
        total -= 0.5 * size * float(np.log(2.0 * math.pi * (values + floor)).sum() + (values / (values + floor)).sum())
    penalty = 0.5 * (k - 1 + k * d + k * d * (d + 1) / 2 + k * flags.shape[1]) * math.log(n)
    return (total - penalty) / n
