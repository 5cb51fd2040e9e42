"""Starts whose objectives differ by rounding alone."""

from __future__ import annotations

import math

import pytest

from clusterkit.core.run import first_least


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
    assert first_least(values) == index
