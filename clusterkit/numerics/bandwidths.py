"""The range of useful bandwidths ``gamma`` of a Gaussian kernel ``exp(-gamma |x - y|²)``, from squared distances."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["bandwidth_range", "parting_bandwidth", "repeats", "without_equal_rows"]

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
    """A bandwidth at which the kernels of no two distinct rows meet, by the squared distances D (m, m) of the rows.

    It is inf where it would be larger than `NARROWEST`.
    """
    return _over(PARTED, float(without_equal_rows(D, largest).min()))
