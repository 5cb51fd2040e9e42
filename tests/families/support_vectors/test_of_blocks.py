"""Nearest rows of points of another library: the answers of the compiled loops."""

import numpy as np
import pytest
from oracles.devices import strict

from clusterkit.families.support_vectors.level_sets.neighbours import nearest_rows


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("d", [1, 3, 15])
def test_the_nearest_row_is_the_same_and_the_first_of_several(d, rng):
    points = np.concatenate([rng.integers(-3, 4, size=(60, d)).astype(float), rng.normal(size=(40, d))])
    Y = np.concatenate([rng.integers(-3, 4, size=(80, d)) / 2.0, 5.0 * rng.normal(size=(80, d))])
    for offset in (0.0, 1e6):
        expected = nearest_rows(Y + offset, points + offset)
        np.testing.assert_array_equal(nearest_rows(strict(Y + offset), points + offset), expected)
    np.testing.assert_array_equal(nearest_rows(strict(Y), points[:1]), np.zeros(len(Y)))
    assert nearest_rows(strict(Y[:0]), points).shape == (0,)
