"""Weighted draws without replacement in one pass over blocks: the rows of smallest exponential key.

The number that a row gets follows from a seed and from its place among all rows, by the generator SplitMix64 (Steele,
Lea, Flood 2014, Fast splittable pseudorandom number generators, OOPSLA), which can be entered anywhere: the draws are
the same in whatever blocks, and by whatever threads and machines, the rows are seen.
"""

from __future__ import annotations

import math

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices

__all__ = ["smallest_keys"]

STEP = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio, by which the states of the generator are apart."""


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
        Their rows in the block, ascending.

    Notes
    -----
    O(b) expected time: a logarithm is taken only of numbers that can be among the smallest.

    References
    ----------
    Efraimidis, Spirakis (2006), Weighted random sampling with a reservoir, Information Processing Letters 97(5).
    """
    keys, index = np.empty(size), np.empty(size, dtype=np.intp)
    count = _draw(np.ascontiguousarray(weights, dtype=np.float64), np.uint64(first), np.uint64(seed), keys, index)
    order = np.argsort(index[:count])
    return keys[order], index[order]


@njit
def _draw(weights: Array, first: np.uint64, seed: np.uint64, keys: Array, index: Indices) -> int:
    """Fill the heaps `keys` and `index`, the largest key first; returns how many entries they have."""
    count, size = 0, len(keys)
    for i in range(len(weights)):
        if not weights[i] > 0.0:
            continue
        state = seed + (first + np.uint64(i + 1)) * STEP
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
        # in (0, 1], on a grid of 2^-53
        uniform = (np.float64(state >> np.uint64(11)) + 1.0) * 2.0**-53
        # -ln u is at least 1 - u
        if count == size and 1.0 - uniform > keys[0] * weights[i] * (1.0 + 1e-12):
            continue
        key = -math.log(uniform) / weights[i]
        if count < size:
            _rise(keys, index, count, key, i)
            count += 1
        elif key < keys[0]:
            _sink(keys, index, key, i)
    return count


@njit
def _rise(keys: Array, index: Indices, place: int, key: float, row: int) -> None:
    """Put an entry at the end of a heap of `place` entries."""
    while place > 0:
        above = (place - 1) // 2
        if key <= keys[above]:
            break
        keys[place], index[place] = keys[above], index[above]
        place = above
    keys[place], index[place] = key, row


@njit
def _sink(keys: Array, index: Indices, key: float, row: int) -> None:
    """Put an entry in the place of the first of a full heap."""
    place, size = 0, len(keys)
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and keys[below + 1] > keys[below]:
            below += 1
        if keys[below] <= key:
            break
        keys[place], index[place] = keys[below], index[below]
        place = below
    keys[place], index[place] = key, row
