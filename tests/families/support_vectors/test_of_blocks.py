"""Ascents, nearest rows and segments of points of another library: the answers of the compiled loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.devices import DEVICES, strict
from oracles.domains import ascent_of, labeled
from sklearn.datasets import make_blobs

from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.families.support_vectors.level_sets.equilibria import Balls, find_basins
from clusterkit.families.support_vectors.level_sets.neighbours import nearest_rows
from clusterkit.families.support_vectors.level_sets.segment_test import SegmentsOfBlocks, segment_test
from clusterkit.samples import kernels
from clusterkit.samples.kernels import Gaussian


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def blobs(d=3, seed=0, n=300):
    """A kernel sum over some samples of five blobs, and all samples."""
    X, _ = make_blobs(n, d, centers=5, random_state=seed)
    rng = np.random.default_rng(seed)
    return KernelDomain(X[:60], rng.random(60) + 0.1, Gaussian(0.2), level=0.3), X


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("d", [1, 2, 7])
def test_points_ascend_to_the_same_limits(d, device):
    domain, X = blobs(d)
    ascent = ascent_of(domain)
    none = Balls.none(d)
    ends, end_balls = ascent.limits(strict(X, device), none)
    expected, expected_balls = ascent.limits(X, none)
    np.testing.assert_array_equal(end_balls, expected_balls)
    np.testing.assert_allclose(ends, expected, atol=10 * ascent.tol)


@given(labeled(), st.integers(1, 60))
def test_ascents_end_in_the_same_balls_whatever_the_chunks(case, chunk):
    domain, X = case
    ascent = ascent_of(domain)
    balls = find_basins(ascent, ascent.scaled(X), "equilibrium").balls
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "CHUNK", chunk)
        ends, end_balls = ascent.limits(strict(X), balls)
    expected, expected_balls = ascent.limits(X, balls)
    in_ball = expected_balls >= 0
    np.testing.assert_array_equal(end_balls >= 0, in_ball)
    np.testing.assert_array_equal(balls.limits[end_balls[in_ball]], balls.limits[expected_balls[in_ball]])
    np.testing.assert_allclose(ends[~in_ball], expected[~in_ball], atol=10 * ascent.tol)


def test_an_ascent_that_may_take_no_step_stays_unfinished_where_it_is():
    from clusterkit.families.support_vectors.level_sets._ascent_jit import UNFINISHED

    domain, X = blobs()
    ascent = ascent_of(domain)
    for most in (0, 2):
        brief = type(ascent)(ascent.origin, ascent.root, ascent.columns, ascent.weights, ascent.tol, ascent.merge, most)
        ends, end_balls = brief.limits(strict(X), Balls.none(3))
        expected, expected_balls = brief.limits(X, Balls.none(3))
        np.testing.assert_array_equal(end_balls, expected_balls)
        assert (end_balls == UNFINISHED).any()
        np.testing.assert_allclose(ends, expected, atol=1e-9)


@pytest.mark.parametrize("d", [1, 3, 15])
def test_the_nearest_row_is_the_same_and_the_first_of_several(d, rng):
    points = np.concatenate([rng.integers(-3, 4, size=(60, d)).astype(float), rng.normal(size=(40, d))])
    Y = np.concatenate([rng.integers(-3, 4, size=(80, d)) / 2.0, 5.0 * rng.normal(size=(80, d))])
    for offset in (0.0, 1e6):
        expected = nearest_rows(Y + offset, points + offset)
        np.testing.assert_array_equal(nearest_rows(strict(Y + offset), points + offset), expected)
    np.testing.assert_array_equal(nearest_rows(strict(Y), points[:1]), np.zeros(len(Y)))
    assert nearest_rows(strict(Y[:0]), points).shape == (0,)


def test_segments_are_inside_where_those_of_the_compiled_loops_are():
    domain, X = blobs()
    test, there = segment_test(domain, 20), SegmentsOfBlocks(domain, 20)
    inside = test.inside(X)
    np.testing.assert_array_equal(there.inside(strict(X)), inside)
    A = X[inside]
    B = A[::-1]
    connected = test.connected(A, B)
    np.testing.assert_array_equal(there.connected(strict(A), B), connected)
    assert connected.any()
    assert not connected.all()
    assert there.connected(strict(A[:0]), B[:0]).shape == (0,)
