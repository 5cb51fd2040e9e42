"""Starts whose objectives differ by rounding alone."""

import math

import numpy as np
import pytest

from clusterkit.contracts.iteration import first_least


@pytest.mark.parametrize(
    ("values", "index"),
    [
        ([2.0, 1.0, 3.0], 1),
        ([1.0 + 2e-16, 1.0, 1.0], 0),
        ([1.0 + 1e-9, 1.0], 1),
        ([-1.0, -1.0 - 2e-16], 0),
        ([0.0, 0.0], 0),
        ([math.nan, 5.0], 1),
        ([math.nan, math.nan], 0),
        ([-math.inf, -1.0], 0),
        ([math.inf, 1.0], 1),
    ],
)
def test_the_first_of_equal_objectives_is_kept(values, index):
    assert first_least(values, np.dtype(np.float64)) == index


def test_rounding_is_that_of_the_samples():
    values = [1.0 + 2e-6, 1.0]
    assert first_least(values, np.dtype(np.float32)) == 0
    assert first_least(values, np.dtype(np.float64)) == 1
    assert first_least([1.0 + 1e-4, 1.0], np.dtype(np.float32)) == 1
