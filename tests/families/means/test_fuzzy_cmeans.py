"""Laws of fuzzy c-means, against plain loops."""

import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clusterkit import recipe
from clusterkit.contracts import Task
from clusterkit.families.means.fuzzy_cmeans import FuzzyCMeans, memberships
from clusterkit.samples import build_space
from clusterkit.samples.limits import listening
from clusterkit.samples.transform import IdentityMap
from clusterkit_campaign.oracles import means as oracle

FUZZIFIERS = st.sampled_from([1.2, 1.5, 2.0, 2.5, 4.0])


def dense(X, storage="dense"):
    return build_space(X, IdentityMap(X.shape[1]), storage=storage)


def prepare(space, k, **parameters):
    return FuzzyCMeans(**parameters).prepare(space, Task(space.n, k), np.random.default_rng(9))


def solve(space, k, seed=0, **parameters):
    prepared = prepare(space, k, **parameters)
    outcome = prepared.solve(None, None, np.random.default_rng(seed))
    return outcome, prepared.objective(None, outcome)


def centres_of(outcome):
    """Centres as points, (k, d)."""
    nearness = outcome.extend.nearness
    return nearness.centres.T + nearness.origin


def blobs(n=120, k=3, spread=0.3, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    return rng.normal(size=(n, 2)) * spread + 4.0 * np.stack([np.cos(truth * 2.0), np.sin(truth * 2.0)], axis=1), truth


@st.composite
def problem(draw):
    """Rows, a scale, an offset, and a number of clusters."""
    n, d = draw(st.integers(3, 40)), draw(st.integers(1, 6))
    k = draw(st.integers(2, min(n - 1, 5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d)) * draw(st.sampled_from([1e-3, 1.0, 1e4])) + draw(st.sampled_from([0.0, 50.0]))
    return X, k


@given(case=problem(), phi=FUZZIFIERS, seed=st.integers(0, 99))
def test_equals_the_textbook(case, phi, seed):
    X, k = case
    space, iterations = dense(X), 5
    prepared = prepare(space, k, fuzzifier=phi, tol=0.0, max_iter=iterations)
    start = prepared._start(np.random.default_rng(seed)).T + X.mean(axis=0)
    assume(oracle.fuzzy_distances(X, start).min() > 1e-6 * X.var())  # on a centre rounding decides what is 0
    outcome = prepared.solve(None, None, np.random.default_rng(seed))
    U, V, history = oracle.fuzzy_iterate(X, start, phi, iterations)
    assume(oracle.fuzzy_distances(X, V).min() > 1e-6 * X.var())
    np.testing.assert_allclose(outcome.rows, U, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(centres_of(outcome), V, atol=1e-6 * X.std())
    np.testing.assert_allclose(outcome.status.history, history, rtol=1e-6)


@given(case=problem(), phi=FUZZIFIERS, seed=st.integers(0, 99))
def test_invariants(case, phi, seed):
    X, k = case
    outcome, _ = solve(dense(X), k, seed, fuzzifier=phi, max_iter=60)
    U = outcome.rows
    assert U.shape == (len(X), k)
    np.testing.assert_allclose(U.sum(axis=1), 1.0, rtol=1e-14)
    assert U.min() >= 0
    history = np.array(outcome.status.history)
    size = np.square(X).sum(axis=1).max()
    assert np.all(np.diff(history) <= 1e-12 * len(X) * size)
    assert outcome.status.n_iter == len(history)
    np.testing.assert_array_equal(outcome.extend(X), U)
    expected = oracle.fuzzy_objective(X, U, centres_of(outcome), phi)
    np.testing.assert_allclose(history[-1], expected, rtol=1e-6, atol=1e-12 * len(X) * size)


@given(case=problem(), seed=st.integers(0, 99))
def test_a_fixed_point_is_one(case, seed):
    X, k = case
    outcome, _ = solve(dense(X), k, seed, tol=1e-9, max_iter=3000)
    assume(outcome.status.converged)
    V = oracle.centres(X, outcome.rows, 2.0)
    np.testing.assert_allclose(centres_of(outcome), V, atol=1e-5 * X.std())


@given(
    D=st.lists(st.lists(st.sampled_from([0.0, 1e-3, 0.7, 2.0, 300.0]), min_size=3, max_size=3), min_size=1, max_size=5),
    phi=FUZZIFIERS,
)
def test_memberships_equal_the_formula(D, phi):
    D = np.array(D)
    np.testing.assert_allclose(memberships(D, phi), oracle.memberships(D, phi), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("phi", [1 + 1e-12, 1.0001, 2.0, 50.0, 1e9, 1e300])
def test_memberships_stay_finite_for_every_fuzzifier(phi):
    D = np.array([[1e-300, 1.0, 1e300], [5e-324, 5e-324, 1.0], [1.0, 1.0, 1.0], [0.0, 1e-300, 0.0]])
    U = memberships(D, phi)
    np.testing.assert_allclose(U.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(U[3], [0.5, 0.0, 0.5])
    if phi < 1.1:
        np.testing.assert_array_equal(U[0], [1.0, 0.0, 0.0])
    if phi > 1e6:
        np.testing.assert_allclose(U[:3], 1 / 3, rtol=1e-2)


def test_towards_one_it_is_kmeans():
    X, truth = blobs(spread=0.8)
    plain = recipe("kmeans", n_clusters=3, random_state=0).fit(X)
    fuzzy = recipe("fuzzy-cmeans", n_clusters=3, random_state=0, solver__fuzzifier=1.01).fit(X)
    assert len(set(zip(plain.labels_, fuzzy.labels_, strict=True))) == 3
    assert fuzzy.outcome_.rows.max(axis=1).min() > 0.99
    assert fuzzy.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    # hard memberships are allowed, so the fuzzy minimum lies below; the further the fuzzier
    values = [
        recipe("fuzzy-cmeans", n_clusters=3, random_state=0, solver__fuzzifier=phi).fit(X).objective_
        for phi in (1.01, 1.5, 2.0, 3.0)
    ]
    assert values == sorted(values, reverse=True)
    assert len(set(zip(truth, fuzzy.labels_, strict=True))) == 3


@pytest.mark.parametrize("phi", [20.0, 1e4])
def test_a_large_fuzzifier_ends_without_nonsense(phi):
    X, _ = blobs()
    outcome, value = solve(dense(X), 3, fuzzifier=phi, max_iter=50)
    assert np.isfinite(outcome.rows).all()
    assert np.isfinite(centres_of(outcome)).all()
    assert np.isfinite(value).all()


def test_overlap_shows_in_the_memberships():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(100, 2)) * 0.2 + [4, 0], rng.normal(size=(100, 2)) * 0.2 - [4, 0], [[0, 0]]])
    model = recipe("fuzzy-cmeans", n_clusters=2, random_state=0).fit(X)
    U = model.outcome_.rows
    assert abs(U[-1, 0] - 0.5) < 0.02
    assert U[:-1].max(axis=1).min() > 0.95
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.exact_on_training_
    assert model.converged_
    np.testing.assert_array_equal(model.labels_, np.argmax(U, axis=1))
    assert model.history_[-1] == model.objective_


@pytest.mark.parametrize("offset", [1e6, -1e6])
def test_large_offset_does_not_blur(offset):
    X, _ = blobs()
    plain, value = solve(dense(X), 3, max_iter=20, tol=0.0)
    moved, same = solve(dense(X + offset), 3, max_iter=20, tol=0.0)
    np.testing.assert_allclose(moved.rows, plain.rows, atol=1e-6)
    np.testing.assert_allclose(same, value, rtol=1e-8)


def test_columns_of_the_extension():
    X, _ = blobs(40)
    outcome, _ = solve(dense(X), 4)
    some = outcome.rows[:, 1:3] / outcome.rows[:, 1:3].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(outcome.extend.columns(slice(1, 3))(X), some, atol=1e-9)
    assert outcome.extend(X[:0]).shape == (0, 4)
    again = pickle.loads(pickle.dumps(outcome.extend))
    np.testing.assert_array_equal(again(X), outcome.extend(X))


def test_stops_by_tolerance_or_says_why_not():
    X, _ = blobs()
    done, _ = solve(dense(X), 3)
    assert done.status.converged
    assert "tolerance reached" in done.status.reason
    assert done.status.n_iter == len(done.status.history) < 300
    cut, _ = solve(dense(X), 3, max_iter=2, tol=0.0)
    assert not cut.status.converged
    assert "max_iter = 2 reached" in cut.status.reason
    once, _ = solve(dense(X), 3, max_iter=1, tol=1.0)  # nothing to compare the first memberships with
    assert not once.status.converged


@pytest.mark.parametrize("iteration", [1, 4])
def test_interrupt_keeps_the_memberships_so_far(iteration):
    X, _ = blobs(spread=1.5)

    def stop(report):
        assert report.stage == "fuzzy_cmeans"
        if report.iteration == iteration:
            raise KeyboardInterrupt

    with listening(stop):
        outcome, value = solve(dense(X), 3, tol=0.0)
    same, expected = solve(dense(X), 3, max_iter=iteration, tol=0.0)
    assert outcome.status.interrupted
    assert f"interrupted after {iteration} iterations" in outcome.status.reason
    assert np.array_equal(outcome.rows, same.rows)
    assert np.array_equal(outcome.extend(X), outcome.rows)
    assert value == expected


def test_cmeans_is_one_run_from_uniform_seeds():
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = recipe("cmeans", n_clusters=6, random_state=3).fit(X)
    same = recipe("kmeans", n_clusters=6, random_state=3, n_init=1, init__weighting="uniform").fit(X)
    np.testing.assert_array_equal(model.labels_, same.labels_)
    assert np.all(np.diff(model.history_) <= 1e-12)
    objectives = {recipe("cmeans", n_clusters=6, random_state=seed).fit(X).objective_ for seed in range(8)}
    assert len(objectives) > 2  # starts differ, which an ensemble wants
