"""Class sums of rows that depend on no order: every number is rounded to a grid on which additions are exact.

A number is cut into a multiple of a coarse grid and the rest, which is rounded to a fine one (the pre-rounding of
Demmel, Nguyen 2013, Fast reproducible floating-point summation, IEEE Symposium on Computer Arithmetic). The grids are
chosen so that sums of n multiples have at most 53 bits: they are then exact, whoever adds and in which order, and
taking a row out gives the same bits as never having added it.
"""

from __future__ import annotations

import math

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices, Labels

__all__ = ["add_rows", "grids", "move_rows"]


def grids(largest: float, n: int) -> tuple[float, float]:
    """Numbers whose addition and subtraction round to the coarse and to the fine grid.

    Parameters
    ----------
    largest : float
        Bound of the absolute values.
    n : int
        Bound of how many are added.

    Notes
    -----
    With E = log2(largest n), rounded up, the coarse grid is 2^(E - 52), and the rests are at most half of it. The fine
    grid is 2^(2 log2(n) - 105) times `largest`: a million numbers keep 65 bits below the largest one.
    """
    bits = math.ceil(math.log2(n + 1))
    high = math.frexp(largest)[1] + bits
    return math.ldexp(1.5, high), math.ldexp(1.5, high - 53 + bits)


@njit
def add_rows(H: Array, labels: Labels, coarse: float, fine: float, high: Array, low: Array) -> None:
    """Add the rows of H (b, L) to the sums of their classes on the coarse and on the fine grid, (k, L) float64 each."""
    for i in range(len(H)):
        row, to_high, to_low = H[i], high[labels[i]], low[labels[i]]
        for c in range(len(row)):
            value = np.float64(row[c])
            multiple = (value + coarse) - coarse
            to_high[c] += multiple
            to_low[c] += ((value - multiple) + fine) - fine


@njit
def move_rows(
    H: Array, index: Indices, old: Labels, new: Labels, coarse: float, fine: float, high: Array, low: Array
) -> None:
    """Subtract the rows `index` (r,) of H from the sums of their old classes and add them to those of the new, (r,)."""
    for position in range(len(index)):
        row, before, after = H[index[position]], old[position], new[position]
        for c in range(len(row)):
            value = np.float64(row[c])
            multiple = (value + coarse) - coarse
            rest = ((value - multiple) + fine) - fine
            high[before, c] -= multiple
            high[after, c] += multiple
            low[before, c] -= rest
            low[after, c] += rest
