"""Squared Euclidean distances between the rows of two matrices, and what follows for kernels and units.

`bandwidth_range` is the range of useful bandwidths ``gamma`` of a Gaussian kernel ``exp(-gamma |x - y|²)``;
`differing_units` says whether columns of numbers can be compared as they are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array
from clusterkit.numerics.sparse_rows import Rows, SparseRows

EXPLICIT_DIMENSIONS = 4
"""Number of attributes up to which the differences are formed explicitly; above, a matrix product is faster."""


def squared_distances(A: Rows, B: Rows) -> Array:
    """Squared distances between all rows of `A` and all rows of `B`.

    Parameters
    ----------
    A : ndarray or SparseRows of shape (m, d)
    B : ndarray or SparseRows of shape (n, d)

    Returns
    -------
    ndarray of shape (m, n)
        Never negative, float64 whatever the type of the rows. For d <= 4 the differences are formed explicitly, so
        equal rows have the distance 0 exactly. For larger d the expanded form ``|a|² + |b|² - 2 a·b`` is used after the
        mean of `B` is subtracted from both, which costs one matrix product and has an error of about
        ``eps (|a|² + |b|²)``. Sparse rows are not centred.

    Notes
    -----
    O(m n d) time, O(m n) memory.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[25.,  0.]])
    """
    if isinstance(A, SparseRows) or isinstance(B, SparseRows):
        return _sparse(A, B)
    if A.shape[1] <= EXPLICIT_DIMENSIONS:
        D = np.zeros((len(A), len(B)))
        for column in range(A.shape[1]):
            difference = np.subtract.outer(A[:, column], B[:, column], dtype=np.float64)
            D += np.multiply(difference, difference, out=difference)
        return D
    centre = B.mean(axis=0, dtype=np.float64)
    P, Q = A - centre, B - centre
    D = P @ (-2.0 * Q).T
    D += np.einsum("ij,ij->i", P, P)[:, None]
    D += np.einsum("ij,ij->i", Q, Q)[None, :]
    return np.maximum(D, 0.0, out=D)


def _sparse(A: Rows, B: Rows) -> Array:
    if not isinstance(A, SparseRows):
        return np.ascontiguousarray(_sparse(B, A).T)
    B = B.astype(np.float64, copy=False)
    squares = B.squares() if isinstance(B, SparseRows) else np.einsum("ij,ij->i", B, B)
    D = A.astype(np.float64, copy=False).products(B)
    D *= -2.0
    D += A.squares()[:, None]
    D += squares[None, :]
    return np.maximum(D, 0.0, out=D)


ROUNDING = 1e-13
"""Squared distances up to this share of the largest count as 0: about 500 units in the last place of float64, more
than the product ``|x|² - 2 x·y + |y|²`` leaves between equal rows."""

CROWDED = 0.1
"""Quantile of the nearest-neighbour distances that sets the narrowest kernel: a tenth of the rows still overlap there,
so a few very close pairs do not decide."""

NARROWEST = 1e297
"""Largest bandwidth of a search, a thousandth of the largest value of a parameter, so that steps beyond it are allowed.
Rows so close that theirs would be larger have no scale."""

PARTED = 16.0 * math.log(2.0)
"""Bandwidth, times the squared distance of two points, at which halfway between them a kernel is 1/16 of its height: a
sum of kernels then is far lower there than at either point, however its weights are."""


def bandwidth_range(largest: float, nearest: NDArray[np.floating]) -> tuple[float, float]:
    """Bandwidths of the widest and of the narrowest useful Gaussian kernel.

    Parameters
    ----------
    largest : float
        Largest squared distance between two rows, > 0.
    nearest : ndarray of shape (m,)
        Squared distance of each row to its nearest other row; rows equal to it do not count.

    Returns
    -------
    low : float
        ``1 / largest``: every kernel covers all rows, so that they form one cluster.
    high : float
        ``4 ln 2 / q`` with q the first decile of `nearest`: two kernels at that distance no longer meet at half their
        height, so that most rows are alone. With few or evenly spaced rows it may be below `low`. Both are inf where
        one of them would be larger than `NARROWEST`.

    Examples
    --------
    >>> low, high = bandwidth_range(16.0, np.array([1.0, 1.0, 4.0]))
    >>> round(low, 4), round(high, 4)
    (0.0625, 2.7726)
    """
    low, high = _over(1.0, largest), _over(4.0 * math.log(2.0), float(np.quantile(nearest, CROWDED)))
    return (low, high) if math.isfinite(low + high) else (math.inf, math.inf)


def _over(number: float, square: float) -> float:
    """A bandwidth, from a squared distance; inf where that is too small."""
    return number / square if square * NARROWEST > number else math.inf


def without_equal_rows(D: NDArray[np.floating], largest: float) -> NDArray[np.floating]:
    """Squared distances D (m, m) with inf on the diagonal and between equal rows, whose distance is no scale.

    Rows count as equal up to `ROUNDING` times the largest squared distance. O(m²) time and memory.

    Examples
    --------
    >>> without_equal_rows(np.array([[0.0, 1e-14, 4.0], [1e-14, 0.0, 4.0], [4.0, 4.0, 0.0]]), 4.0).min(axis=1)
    array([4., 4., 4.])
    """
    return np.where(ROUNDING * largest >= D, math.inf, D)


def repeats(D: NDArray[np.floating], largest: float) -> NDArray[np.intp]:
    """How many rows lie at each distinct point, by the squared distances D (m, m) of the rows. O(m²).

    Rows count as equal as in `without_equal_rows`.

    Examples
    --------
    >>> repeats(np.array([[0.0, 0.0, 4.0], [0.0, 0.0, 4.0], [4.0, 4.0, 0.0]]), 4.0)
    array([2, 1])
    """
    counts = np.bincount(np.argmax(ROUNDING * largest >= D, axis=1))  # each row counts at the first that equals it
    return counts[counts > 0]


def parting_bandwidth(D: NDArray[np.floating], largest: float) -> float:
    """Gamma at which the Gaussian kernel between any two distinct rows is negligible, from their squared distances D.

    D has shape (m, m). The result is inf where it would be larger than `NARROWEST`.
    """
    return _over(PARTED, float(without_equal_rows(D, largest).min()))


LARGEST_RATIO = 10.0
"""Largest ratio of two standard deviations of columns that count as comparable: beyond it the narrower column makes
less than one per cent of a squared distance."""


def differing_units(
    low: NDArray[np.floating[Any]], high: NDArray[np.floating[Any]], spread: NDArray[np.floating[Any]]
) -> tuple[int, int] | None:
    """The columns with the largest and the least spread, if these differ by more than a factor of ten.

    Constant columns do not count. Nor do columns of which at least half share one range, to the last digit: pixels,
    marks on one scale or truth values are in one unit, and the spread of a border pixel says that it matters little.

    Parameters
    ----------
    low, high, spread : ndarray of shape (d,)
        Least and greatest value and standard deviation of each column.

    Returns
    -------
    (widest, narrowest) : pair of int, or None

    Examples
    --------
    >>> differing_units(np.array([18.0, 900.0]), np.array([90.0, 250_000.0]), np.array([15.0, 30_000.0]))
    (1, 0)
    """
    varied = np.flatnonzero(high > low)
    if len(varied) < 2:
        return None
    counts = np.unique(np.column_stack([low[varied], high[varied]]), axis=0, return_counts=True)[1]
    if len(varied) > 2 and counts.max() >= len(varied) / 2:
        return None
    wide, thin = int(varied[spread[varied].argmax()]), int(varied[spread[varied].argmin()])
    if not np.isfinite(spread[wide]) or spread[wide] <= LARGEST_RATIO * spread[thin]:
        return None
    return wide, thin
