"""Loops of k-means and of its starts: class sums that depend on no order of the rows, and weighted draws in one pass.

Sums: a number is cut into a multiple of a coarse grid and the rest, which is rounded to a fine one (the pre-rounding of
Demmel, Nguyen 2013, Fast reproducible floating-point summation, IEEE Symposium on Computer Arithmetic). The grids are
chosen so that sums of n multiples have at most 53 bits: they are then exact, whoever adds and in which order, and
taking a row out gives the same bits as never having added it.

Draws without replacement: the rows of smallest exponential key. The number that a row gets follows from a seed and from
its place among all rows (`clusterkit.numerics.selection`): the draws are the same in whatever blocks, and by whatever
threads and machines, the rows are seen.
"""

from __future__ import annotations

import math

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices, Labels
from clusterkit.numerics.selection import FIRST_FACTOR, SECOND_FACTOR, STEP
from clusterkit.numerics.structures_jit import sift_down, sift_up


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


def smallest_keys(weights: Array, first: int, seed: int, size: int) -> tuple[Array, Indices]:
    """The `size` rows of a block with the smallest keys, exponential with their weights as rates.

    Parameters
    ----------
    weights : ndarray of shape (b,)
        float64, at least 0; rows of weight 0 are not drawn.
    first : int
        Place of the first row of the block among all rows.
    seed : int
        0 to 2^64 - 1.
    size : int

    Returns
    -------
    keys : ndarray of shape (s,)
        s is at most `size`, and less where fewer rows have a weight.
    index : ndarray of shape (s,)
        Index in the block of the row of each key, ascending.

    Notes
    -----
    O(b) expected time: a logarithm is taken only of numbers that can be among the smallest.

    References
    ----------
    Efraimidis, Spirakis (2006), Weighted random sampling with a reservoir, Information Processing Letters 97(5).
    """
    negated, index = np.empty(size), np.empty(size, dtype=np.intp)
    count = _draw(np.ascontiguousarray(weights, dtype=np.float64), np.uint64(first), np.uint64(seed), negated, index)
    order = np.argsort(index[:count])
    return -negated[order], index[order]


@njit
def _draw(weights: Array, first: np.uint64, seed: np.uint64, negated: Array, index: Indices) -> int:
    """Fill a heap of keys times -1, so that the largest key is first, and rows; returns how many entries it has."""
    count, size = 0, len(negated)
    for i in range(len(weights)):
        if not weights[i] > 0.0:
            continue
        state = seed + (first + np.uint64(i + 1)) * STEP
        state = (state ^ (state >> np.uint64(30))) * FIRST_FACTOR
        state = (state ^ (state >> np.uint64(27))) * SECOND_FACTOR
        state ^= state >> np.uint64(31)
        # in (0, 1], on a grid of 2^-53
        uniform = (np.float64(state >> np.uint64(11)) + 1.0) * 2.0**-53
        # -ln u is at least 1 - u
        if count == size and 1.0 - uniform > -negated[0] * weights[i] * (1.0 + 1e-12):
            continue
        key = -math.log(uniform) / weights[i]
        if count < size:
            negated[count], index[count] = -key, i
            sift_up(negated, index, 0, count)
            count += 1
        elif key < -negated[0]:
            negated[0], index[0] = -key, i
            sift_down(negated, index, 0, size, 0)
    return count
