"""The range of bandwidths: from one cluster to rows that are alone."""

import math

import numpy as np

from clusterkit.numerics.distances import bandwidth_range, without_equal_rows


def test_ends_follow_the_largest_and_the_nearest_distances():
    nearest = np.linspace(1.0, 2.0, 11)
    low, high = bandwidth_range(50.0, nearest)
    assert low == 1.0 / 50.0
    assert high == 4.0 * math.log(2.0) / np.quantile(nearest, 0.1)
    # two kernels at that distance meet at half their height
    assert math.isclose(math.exp(-high * np.quantile(nearest, 0.1) / 4.0), 0.5)


def test_equal_rows_are_no_neighbours():
    X = np.array([[0.0], [0.0], [1e-9], [3.0]])
    D = np.square(X - X.T)
    far = without_equal_rows(D, D.max())
    assert far.min(axis=1).tolist() == [9.0, 9.0, (3.0 - 1e-9) ** 2, (3.0 - 1e-9) ** 2]
    assert np.isinf(np.diag(far)).all()
    assert D[0, 1] == 0.0
