"""Labels for rows outside all clusters: the compiled loop equals a plain one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.errors import InvalidData
from clusterkit.families.support_vectors.level_sets.neighbours import nearest_rows
from clusterkit.numerics.nearest_jit import fill


@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_each_takes_the_label_of_the_nearest_row_with_one(m, seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(5, size=(m, 2)).astype(float)  # with ties
    D = np.linalg.norm(points[:, None] - points, axis=2)
    labels = rng.integers(-1, 3, size=m)
    expected, labelled = labels.copy(), np.flatnonzero(labels >= 0)
    if len(labelled):
        for i in np.flatnonzero(labels < 0):
            expected[i] = labels[labelled[np.argmin(D[i, labelled])]]
    np.testing.assert_array_equal(fill(labels, D), expected)


def test_rows_whose_squared_distances_overflow_are_refused():
    with pytest.raises(InvalidData, match="overflow"):
        nearest_rows(np.full((1, 2), 1e200), np.eye(2))
