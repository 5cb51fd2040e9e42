"""Laws of the ascent to the maxima of a kernel sum and of its certified balls, checked against plain ascents."""

import attrs
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.domains import ascent_of, labeled, point_tables
from sklearn.datasets import make_blobs

from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.families.support_vectors.level_sets.equilibria import Balls, cover, find_basins, single_link
from clusterkit.samples.kernels import Gaussian
from clusterkit_campaign.oracles import domains as plain
from clusterkit_campaign.oracles.domains import canonical


def around(point, radius, count, seed):
    """Points of the ball, half of them near its surface."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(count, len(point)))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    lengths = np.where(np.arange(count) % 2, 1.0 - 1e-9, rng.random(count))
    return point + radius * lengths[:, None] * directions


@given(labeled())
def test_a_step_is_that_of_the_plain_version_and_never_descends(case):
    from clusterkit.families.support_vectors.level_sets._ascent_jit import step
    from clusterkit.numerics.gaussian_jit import CENTRES

    domain, X = case
    ascent = ascent_of(domain)
    work, mean = np.empty(CENTRES), np.empty(X.shape[1])
    for x in X:
        g = step(ascent.scaled(x), ascent.columns, ascent.weights, work, mean)
        moved = ascent.unscaled(mean)
        unit = 1.0 / np.sqrt(domain.kernel.gamma)
        np.testing.assert_allclose(
            moved, plain.shift(x, domain.centres, domain.weights, domain.kernel.gamma), rtol=1e-11, atol=1e-11 * unit
        )
        before, after = domain.value(np.stack([x, moved]))
        assert g == pytest.approx(before, rel=1e-9, abs=1e-290)
        assert after >= before * (1 - 1e-12)
        along = domain.value(x + np.linspace(0, 1, 11)[:, None] * (moved - x))
        assert (along >= before * (1 - 1e-12)).all()


@given(labeled(), st.integers(0, 1000))
def test_equilibria_lie_among_the_centres(case, seed):
    domain, X = case
    ascent = ascent_of(domain)
    basins = find_basins(ascent, ascent.scaled(X), "equilibrium")
    directions = np.random.default_rng(seed).normal(size=(X.shape[1], 20))
    inner, outer = ascent.unscaled(basins.points) @ directions, domain.centres @ directions
    slack = 1e-9 * (1.0 + np.abs(outer).max())
    assert (inner >= outer.min(axis=0) - slack).all()
    assert (inner <= outer.max(axis=0) + slack).all()


@given(labeled(), st.integers(0, 1000))
def test_all_points_of_a_ball_have_its_limit(case, seed):
    domain, X = case
    ascent = ascent_of(domain)
    basins = find_basins(ascent, ascent.scaled(X), "equilibrium", first_round=2)
    none = Balls.none(X.shape[1])
    for centre, radius, limit in zip(*attrs.astuple(basins.balls, recurse=False), strict=True):
        ends, _, end_balls = ascent.climb(around(centre, radius, 6, seed), none)
        assert (end_balls == -1).all()
        assert (np.linalg.norm(ends - basins.points[limit], axis=1) <= ascent.merge).all()


def test_the_balls_catch_nearly_all_ascents():
    X, _ = make_blobs(3000, centers=4, n_features=3, random_state=0)
    domain = KernelDomain(X[:300], np.full(300, 1 / 300), Gaussian(0.5), level=1e-3)
    ascent = ascent_of(domain)
    quick = find_basins(ascent, ascent.scaled(X), "equilibrium")
    slow = find_basins(ascent, ascent.scaled(X), "equilibrium", certify=False)
    assert len(quick.points) == len(slow.points)
    np.testing.assert_array_equal(canonical(quick.of_start), canonical(slow.of_start))
    assert slow.caught == 0
    assert quick.caught > 0.97 * len(X)
    assert quick.steps < 0.4 * slow.steps


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from([0.3, 1.0, 4.0]))
def test_certified_balls_change_no_basin(seed, d, gamma):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, d)) * rng.choice([0.3, 1.0, 3.0]) + 2.0 * rng.integers(0, 2, size=(150, 1))
    domain = KernelDomain(X[:40], rng.random(40) + 0.1, Gaussian(gamma), level=0.1)
    ascent = ascent_of(domain)
    scaled = ascent.scaled(X)
    quick = find_basins(ascent, scaled, "equilibrium", first_round=4)
    slow = find_basins(ascent, scaled, "equilibrium", certify=False)
    # an end that is hardly stable is reached too slowly to be distinguished from its neighbours
    c, w = ascent.columns.T, ascent.weights
    assume(max(plain.curvature(e, c, w, 1.0) for e in slow.points) < -1e-3)
    np.testing.assert_array_equal(canonical(quick.of_start), canonical(slow.of_start))


@given(
    point_tables(25),
    st.sampled_from([1e-3, 0.25, 1.0, 10.0]),
)
def test_single_link_of_the_plain_version(points, radius):
    expected, margin = plain.single_link(points, radius)
    assume(margin > 1e-9)
    assert canonical(single_link(points, radius)).tolist() == expected.tolist()


@given(
    point_tables(20),
    st.sampled_from([1e-300, 1e-2, 0.5, 2.0, 1e3]),
)
def test_no_sample_is_far_from_its_representative(points, radius):
    points = np.unique(points, axis=0)
    chosen = cover(points, radius)
    assert (np.linalg.norm(points - points[chosen], axis=1) <= radius * (1 + 1e-12)).all()
    assert (chosen[chosen] == chosen).all()
