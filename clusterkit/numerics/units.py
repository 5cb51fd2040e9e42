"""Whether columns of numbers can be compared as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["differing_units"]

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
