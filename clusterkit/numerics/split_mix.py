"""The generator SplitMix64, which can be entered anywhere: the number of a row follows from a seed and its place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array

__all__ = ["FIRST_FACTOR", "SECOND_FACTOR", "STEP", "mixed", "uniforms"]

STEP = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio, by which the states of the generator are apart."""

FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
"""Factors of `mixed`."""


def mixed(states: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """States with every bit spread over all 64, in an array of their own.

    Steele, Lea, Flood (2014), Fast splittable pseudorandom number generators, OOPSLA, with the constants of Stafford's
    variant 13.
    """
    states = (states ^ (states >> np.uint64(30))) * FIRST_FACTOR
    states = (states ^ (states >> np.uint64(27))) * SECOND_FACTOR
    return states ^ (states >> np.uint64(31))


def uniforms(seed: int, rows: slice) -> Array:
    """Numbers in [0, 1) on a grid of 2^-53, one for each row of a block: the same in whatever blocks rows are seen.

    Examples
    --------
    >>> bool((uniforms(7, slice(3, 9))[2:] == uniforms(7, slice(5, 9))).all())
    True
    """
    places = np.arange(rows.start + 1, rows.stop + 1, dtype=np.uint64)
    states = mixed(np.uint64(seed) + places * STEP)
    return (states >> np.uint64(11)) * 2.0**-53
