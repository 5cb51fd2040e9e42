"""Extremes of columns, narrow and wide, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from clusterkit.numerics.extremes import NARROW, extremes


@pytest.mark.parametrize("d", [1, 2, NARROW, NARROW + 1])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_extremes_are_those_of_numpy_in_its_type(d, kind):
    X = np.random.default_rng(d).normal(size=(50, d)).astype(kind)
    low, high = extremes(X)
    np.testing.assert_array_equal(low, X.min(axis=0))
    np.testing.assert_array_equal(high, X.max(axis=0))
    assert low.dtype == high.dtype == kind
