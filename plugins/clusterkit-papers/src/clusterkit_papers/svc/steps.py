"""How many stochastic gradient steps fast support vector clustering needs for a given precision: section 2.3."""

from __future__ import annotations

import math
from bisect import bisect_left

__all__ = ["steps_for"]

MOST = 2**62
"""Largest number of steps that is looked for."""


def steps_for(precision: float, failure: float, C: float, radius: float = 1.0) -> int:
    """T₀ of the paper: the fewest steps after which a random iterate is precise with the probability 1 - δ.

    By theorem 2 the smallest T with ``2 R² C² (1 + log T) / (δ T) <= ε``. A bound, from Markov's inequality: runs are
    far more precise than that.

    Parameters
    ----------
    precision : float
        ε: how far the objective J may be above its least value.
    failure : float
        δ, the probability that it is farther, between 0 and 1.
    C : float
        Weight of the violations of the margin.
    radius : float, default 1
        R, the largest norm of a sample in feature space: 1 for the Gaussian kernel.

    Raises
    ------
    ValueError
        If a parameter is out of range, or no T up to 2⁶² is enough.

    Examples
    --------
    The bound asks for far more steps than the stop at ``2 C / θ`` takes, which are 1,600 for θ = .01:

    >>> steps_for(1.0, 0.05, C=8)
    28851
    """
    for name, value in (("precision", precision), ("C", C), ("radius", radius)):
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be a positive number, got {value!r}")
    if not 0 < failure < 1:
        raise ValueError(f"failure must be a probability between 0 and 1, got {failure!r}")
    # (1 + log T) / T falls from 1 on
    steps = 1 + bisect_left(
        range(1, MOST), True, key=lambda T: 2 * (radius * C) ** 2 * (1 + math.log(T)) <= precision * failure * T
    )
    if steps >= MOST:
        raise ValueError(f"more than {MOST:,} steps would be needed for precision {precision!r}")
    return steps
