"""Hartigan's dip test of whether values on a line come from a distribution with one mode."""

from __future__ import annotations

import math

import numpy as np

from clusterkit._typing import Array

__all__ = ["SIZES", "TAILS", "dip_of", "dip_p_value"]

TAILS = (0.5, 0.2, 0.1, 0.05, 0.025, 0.01, 0.005, 0.001)
"""Upper tail probabilities of the columns of `QUANTILES`."""

SIZES = (10, 20, 50, 100, 200, 500, 1000, 2500)
"""Numbers of values of the rows of `QUANTILES`."""

QUANTILES = (
    (0.3088, 0.3763, 0.4133, 0.4418, 0.4675, 0.5070, 0.5284, 0.5733),  # 10
    (0.3280, 0.3956, 0.4354, 0.4685, 0.4987, 0.5374, 0.5644, 0.6124),  # 20
    (0.3457, 0.4161, 0.4591, 0.4972, 0.5287, 0.5704, 0.5953, 0.6648),  # 50
    (0.3550, 0.4273, 0.4724, 0.5112, 0.5460, 0.5911, 0.6223, 0.6956),  # 100
    (0.3609, 0.4359, 0.4796, 0.5200, 0.5594, 0.6035, 0.6328, 0.7065),  # 200
    (0.3680, 0.4433, 0.4896, 0.5289, 0.5678, 0.6135, 0.6496, 0.7349),  # 500
    (0.3710, 0.4470, 0.4946, 0.5346, 0.5722, 0.6179, 0.6505, 0.7109),  # 1000
    (0.3741, 0.4507, 0.4969, 0.5384, 0.5770, 0.6260, 0.6563, 0.7266),  # 2500
)
"""Quantiles of √n times the dip of n uniform numbers, the unimodal law that is rejected most often: 20,000 draws a
row, by tests/benchmarks/dip_quantiles.py. Beyond the largest n it hardly changes."""


def dip_of(values: Array) -> float:
    """The dip of values, (n,), in any order."""
    from clusterkit.criteria._dip_jit import dip

    return float(dip(np.sort(np.asarray(values, dtype=np.float64))))


def dip_p_value(values: Array) -> float:
    """Probability of at least this dip under the uniform law, in [.0005, 1], interpolated between simulated quantiles.

    The logarithm of the probability is interpolated, linearly in √n dip and in ln n.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> one = rng.standard_normal(200)
    >>> dip_p_value(one) > 0.5, dip_p_value(np.concatenate([one, one + 6])) < 0.01
    (True, True)
    """
    n = len(values)
    if n < 4:
        return 1.0
    statistic = math.sqrt(n) * dip_of(values)
    place = float(np.interp(math.log(n), np.log(SIZES), np.arange(len(SIZES))))
    row = min(int(place), len(SIZES) - 2)
    share = place - row
    table = np.asarray(QUANTILES)
    quantiles = (1.0 - share) * table[row] + share * table[row + 1]
    # nothing is below 0, and a step beyond the last quantile is worth as much as the step before it
    grid = np.concatenate([[0.0], quantiles, [2.0 * quantiles[-1] - quantiles[-2]]])
    logs = np.log(np.concatenate([[1.0], TAILS, [TAILS[-1] / 2.0]]))
    return float(math.exp(np.interp(statistic, grid, logs)))
