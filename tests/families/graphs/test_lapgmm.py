"""Laws of the smooth Gaussian mixture, against formulas and scikit-learn's plain one."""

import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone

from clusterkit import ClusterkitWarning, recipe
from clusterkit.contracts import Task
from clusterkit.errors import InvalidParameter, NeedsMemory
from clusterkit.families.graphs._neighbour_graph import neighbour_pairs
from clusterkit.families.graphs.lapgmm import LapGmm, Smoother, maximise
from clusterkit.samples import build_space
from clusterkit.samples.limits import listening
from clusterkit.samples.transform import IdentityMap
from clusterkit_campaign.oracles import graph_cuts as oracle

GAMMAS = st.sampled_from([0.1, 0.5, 0.9, 0.99])


def prepare(X, k, **parameters):
    space = build_space(X, IdentityMap(X.shape[1]))
    return LapGmm(**parameters).prepare(space, Task(len(X), k), np.random.default_rng(0))


def solve(X, k, seed=0, **parameters):
    return prepare(X, k, **parameters).solve(None, None, np.random.default_rng(seed))


def blobs(n=150, k=3, d=2, spread=0.5, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    return rng.normal(size=(n, d)) * spread * (1 + truth[:, None]) + 4.0 * rng.normal(size=(k, d))[truth], truth


def graph(X, p=3, weights=None):
    i, j, _ = neighbour_pairs(X, p)
    return Smoother.of(i, j, np.ones(len(i)) if weights is None else weights(len(i)), len(X))


def shares(n, k, seed):
    P = np.random.default_rng(seed).random((n, k)) ** 4
    return P / P.sum(axis=1, keepdims=True)


@st.composite
def points(draw, low=6, high=30):
    n, d = draw(st.integers(low, high)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d)) + 4.0 * (np.arange(n) % 3)[:, None]
    return X * draw(st.sampled_from([1e-3, 1.0, 1e4])) + draw(st.sampled_from([0.0, 50.0]))


@given(X=points(), p=st.integers(1, 6))
def test_the_graph_equals_the_definition(X, p):
    i, j, squared = neighbour_pairs(X, p)
    W = np.zeros((len(X), len(X)))
    W[i, j] = W[j, i] = 1.0
    np.testing.assert_array_equal(W, oracle.neighbour_weights(X, min(p, len(X) - 1)))
    np.testing.assert_allclose(squared, np.square(X[i] - X[j]).sum(axis=1), rtol=1e-7)


@given(X=points(), gamma=GAMMAS, seed=st.integers(0, 99))
def test_smoothing_keeps_rows_stochastic(X, gamma, seed):
    P = shares(len(X), 3, seed)
    F = graph(X)(P, gamma)
    np.testing.assert_allclose(F.sum(axis=1), 1.0, rtol=1e-12)
    assert F.min() >= 0.0
    constant = np.full((len(X), 3), 1 / 3)
    np.testing.assert_allclose(graph(X)(constant, gamma), constant, rtol=1e-12)


@given(X=points(), gamma=GAMMAS, seed=st.integers(0, 99))
def test_smoothing_equals_the_formula(X, gamma, seed):
    W = oracle.neighbour_weights(X, 3) * 0.0
    i, j, _ = neighbour_pairs(X, 3)
    drawn = np.random.default_rng(seed).random(len(i))
    W[i, j] = W[j, i] = drawn
    smoother = graph(X, 3, lambda e: drawn)
    P = shares(len(X), 3, seed)
    np.testing.assert_allclose(smoother(P, gamma), oracle.smooth(W, P, P, gamma), atol=1e-14)
    assert smoother.roughness(P) == pytest.approx(oracle.roughness(W, P), rel=1e-12)


def test_samples_without_neighbours_keep_their_posterior():
    P = shares(5, 3, 0)
    smoother = Smoother.of(np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([1.0, 0.5, 0.0]), 5)
    F = smoother(P, 0.9)
    np.testing.assert_allclose(F[3:], P[3:], rtol=1e-14)
    assert np.abs(F[:3] - P[:3]).max() > 1e-3


@given(X=points(12, 40), k=st.integers(2, 3), smoothness=st.sampled_from([0.01, 0.1, 1.0]),
       covariance=st.sampled_from(["full", "diag"]), seed=st.integers(0, 99))  # fmt: skip
def test_accepted_objectives_fall_and_are_what_they_say(X, k, smoothness, covariance, seed):
    chosen = {
        "smoothness": smoothness,
        "covariance": covariance,
        "covariance_floor": 1e-3,
    }
    prepared = prepare(X, k, **chosen)
    outcome = prepared.solve(None, None, np.random.default_rng(seed))
    history = np.array(outcome.status.history)
    assert (np.diff(history) <= 0).all()
    assert len(history) == outcome.status.n_iter + 1 or len(history) == 1
    np.testing.assert_allclose(outcome.rows.sum(axis=1), 1.0, rtol=1e-12)
    assert outcome.rows.min() >= 0.0
    assert prepared.objective(None, outcome) == history[-1]
    if covariance == "full" and len(history) > 1:
        W = prepared.smoother.W.toarray()
        likelihood, _ = oracle.log_likelihood(X, outcome.rows, 1e-3 * X.var(axis=0).mean())
        assert outcome.status.facts["log_likelihood"] == pytest.approx(likelihood, rel=1e-7, abs=1e-6)
        expected = smoothness * oracle.roughness(W, outcome.rows) - likelihood
        assert history[-1] == pytest.approx(expected, rel=1e-7, abs=1e-6)


@pytest.mark.parametrize("off", [{"gamma": 0.0}, {"smoothness": 0.0}])
@pytest.mark.parametrize("covariance", ["full", "diag"])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_without_smoothing_it_is_the_mixture_of_scikit_learn(off, covariance, offset):
    from sklearn.mixture import GaussianMixture

    X, _ = blobs(300, spread=1.0, seed=2)
    X = X + offset
    labels = np.random.default_rng(0).integers(3, size=300)
    iterations = 7
    prepared = prepare(X, 3, covariance=covariance, tol=0.0, max_iter=iterations, **off)
    ours = prepared.fit(labels)
    assert ours.status.n_iter == iterations

    floor = 1e-6 * float(X.var(axis=0).mean())
    groups = [X[labels == j] for j in range(3)]
    spreads = [np.cov(group.T, bias=True) + floor * np.eye(2) for group in groups]
    start = {
        "weights_init": [len(group) / 300 for group in groups],
        "means_init": [group.mean(axis=0) for group in groups],
        "precisions_init": [np.linalg.inv(S) if covariance == "full" else 1 / np.diag(S) for S in spreads],
    }
    theirs = GaussianMixture(3, covariance_type=covariance, reg_covar=floor, max_iter=iterations, tol=0.0, **start)
    with pytest.warns(UserWarning, match="did not converge"):
        theirs.fit(X)
    np.testing.assert_allclose(ours.rows, theirs.predict_proba(X), atol=1e-8)
    mixture = ours.extend.mixture
    np.testing.assert_allclose(mixture.means + mixture.origin, theirs.means_, rtol=1e-8)
    np.testing.assert_allclose(np.abs(mixture.factors), np.abs(theirs.precisions_cholesky_), rtol=1e-6, atol=1e-8)
    assert -ours.status.history[-1] == pytest.approx(300 * theirs.score(X), rel=1e-10)
    assert ours.exact_on_training
    np.testing.assert_array_equal(ours.extend(X), ours.rows)


@given(X=points(12, 40), k=st.integers(2, 3), pooling=st.sampled_from([0.0, 0.3, 5.0]), seed=st.integers(0, 99))
@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_pooled_covariances_equal_the_formula(covariance, X, k, pooling, seed):
    n, d = X.shape
    F, floor = shares(n, k, seed), 1e-6 * X.var(axis=0).mean()
    weights = F.sum(axis=0)
    spreads = np.array([np.cov(X.T, aweights=F[:, j], bias=True).reshape(d, d) for j in range(k)])
    mean = np.average(spreads, axis=0, weights=weights)
    mixture = maximise(X, X.mean(axis=0), F, floor, covariance, pooling, "test")
    for j in range(k):
        expected = (weights[j] * spreads[j] + pooling * mean) / (weights[j] + pooling) + floor * np.eye(d)
        factor = mixture.factors[j]
        if covariance == "diag":
            np.testing.assert_allclose(factor**-2, np.diag(expected), rtol=1e-9)
        else:
            np.testing.assert_allclose(factor.T @ expected @ factor, np.eye(d), atol=1e-6)


@pytest.mark.parametrize("covariance", ["full", "tied", "diag"])
def test_weights_are_repeated_rows(covariance):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(140, 3)) * [1, 2, 0.5]
    X[:60] += [4, 0, 2]
    counts = rng.integers(0, 4, len(X))
    X[counts == 0] *= 1e20  # they would hide the others
    mixture = recipe("mixture", n_clusters=2, featuremap="identity", solver__covariance=covariance, random_state=0)
    mixture.set_params(solver__covariance_pooling=2.0)
    weighted, repeated = mixture.fit(X, sample_weight=counts), clone(mixture).fit(np.repeat(X, counts, axis=0))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-12)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)


def test_much_pooling_is_one_covariance_for_all_components():
    X, _ = blobs(spread=1.0)
    labels = np.random.default_rng(0).integers(3, size=len(X))
    tied = prepare(X, 3, smoothness=0.0, covariance="tied", max_iter=7, tol=0.0).fit(labels)
    pooled = prepare(X, 3, smoothness=0.0, covariance_pooling=1e12, max_iter=7, tol=0.0).fit(labels)
    np.testing.assert_allclose(pooled.rows, tied.rows, atol=1e-6)


def test_pooling_ends_before_the_objective_rises():
    X, _ = blobs(90, spread=1.0)
    for seed in range(5):
        status = solve(X, 3, seed, smoothness=0.0, covariance_pooling=5.0, tol=0.0).status
        assert len(status.history) > 1
        assert (np.diff(status.history) <= 0.0).all()


def test_prediction_is_the_posterior_of_the_mixture():
    X, _ = blobs(spread=1.0)
    model = recipe("lapgmm", n_clusters=3, random_state=0).fit(X)
    assert not model.exact_on_training_
    U = model.outcome_.extend(X)
    np.testing.assert_allclose(U.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), U.argmax(axis=1))
    np.testing.assert_array_equal(model.labels_, model.outcome_.rows.argmax(axis=1))
    assert np.mean(model.predict(X) == model.labels_) > 0.9
    assert model.history_[-1] == model.objective_
    again = pickle.loads(pickle.dumps(model.outcome_.extend))
    np.testing.assert_array_equal(again(X), U)
    among = U[:, 1:3] / U[:, 1:3].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        again.columns(slice(1, 3))(X)[among.max(axis=1) < 1], among[among.max(axis=1) < 1], atol=1e-9
    )
    assert again(X[:0]).shape == (0, 3)
    plain = recipe("lapgmm", n_clusters=3, random_state=0, solver__smoothness=0.0).fit(X)
    assert plain.exact_on_training_
    np.testing.assert_array_equal(plain.predict(X), plain.labels_)


def test_posteriors_are_smoother_than_those_of_the_plain_mixture():
    X, _ = blobs(400, 2, spread=1.2, seed=4)
    plain, smooth = (solve(X, 2, smoothness=smoothness) for smoothness in (0.0, 0.1))
    smoother = graph(X, 5)
    assert smoother.roughness(smooth.rows) < smoother.roughness(plain.rows)


@given(X=points(20, 40), seed=st.integers(0, 99))
def test_order_units_and_offset_change_nothing(X, seed):
    X = (X - X.mean(axis=0)) / X.std()
    labels = np.arange(len(X)) % 2
    order = np.random.default_rng(seed).permutation(len(X))
    chosen = {"max_iter": 3, "covariance_floor": 1e-3}
    plain = prepare(X, 2, **chosen).fit(labels)
    assume(min(np.abs(np.diff(plain.status.history))[:2], default=1.0) > 1e-6)  # or accepting is up to rounding
    moved = prepare(X[order], 2, **chosen).fit(labels[order])
    np.testing.assert_allclose(moved.rows, plain.rows[order], atol=1e-6)
    scaled = prepare(X * 8.0 + 64.0, 2, **chosen).fit(labels)
    jacobian = len(X) * X.shape[1] * np.log(8.0)
    np.testing.assert_allclose(scaled.status.history[0], plain.status.history[0] + jacobian, rtol=1e-8)


def test_float32_agrees_with_float64():
    X, _ = blobs(spread=0.3)
    narrow, wide = (solve(X.astype(dtype), 3) for dtype in (np.float32, np.float64))
    assert np.mean(narrow.rows.argmax(axis=1) == wide.rows.argmax(axis=1)) > 0.99
    assert narrow.status.history[-1] == pytest.approx(wide.status.history[-1], rel=1e-3)


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_duplicates_constant_columns_and_more_columns_than_rows(covariance):
    X, _ = blobs(30)
    hard = {
        "duplicates": X[np.repeat(np.arange(5), 6)],
        "constant": np.column_stack([X, np.full(30, 7.3)]),
        "wide": np.random.default_rng(0).normal(size=(8, 30)),
    }
    for name, rows in hard.items():
        outcome = solve(rows, 3, covariance=covariance)
        assert np.isfinite(outcome.rows).all(), name
        assert np.isfinite(outcome.status.history).all(), name
        assert np.isfinite(outcome.extend(rows)).all(), name
    outcome = solve(hard["duplicates"], 3, covariance=covariance)
    groups = outcome.rows.argmax(axis=1).reshape(5, 6)
    assert (groups == groups[:, :1]).all()


def test_fewer_distinct_rows_than_components():
    X = np.repeat(np.array([[0.0, 0.0], [1.0, 1.0]]), 10, axis=0)
    outcome = solve(X, 4)
    labels = outcome.rows.argmax(axis=1)
    assert len(set(zip(labels.tolist(), np.repeat([0, 1], 10).tolist(), strict=True))) == 2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 / 3])
def test_equal_samples(dtype, value):
    X = np.full((20, 3), value, dtype=dtype)
    outcome = solve(X, 4)
    np.testing.assert_allclose(outcome.rows, 0.25)
    np.testing.assert_allclose(outcome.extend(X), 0.25)
    assert outcome.status.converged


@pytest.mark.parametrize("iteration", [1, 3])
def test_interrupt_keeps_the_last_iteration(iteration):
    X, _ = blobs(spread=1.5)
    labels = np.random.default_rng(0).integers(3, size=150)

    def stop(report):
        assert report.stage == "lapgmm"
        if report.iteration == iteration:
            raise KeyboardInterrupt

    with listening(stop):
        outcome = prepare(X, 3, tol=0.0).fit(labels)
    assert outcome.status.interrupted
    assert f"after {iteration} iterations" in outcome.status.reason
    same = prepare(X, 3, tol=0.0, max_iter=iteration).fit(labels)
    np.testing.assert_array_equal(outcome.rows, same.rows)


def test_features_respect_the_memory_cap(monkeypatch):
    space = build_space(np.random.default_rng(0).normal(size=(200, 20)), IdentityMap(20))
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "10K")
    with pytest.raises(NeedsMemory, match="200 x 20 feature matrix"):
        LapGmm(covariance="diag").prepare(space, Task(200, 2), np.random.default_rng(0))


def test_a_floor_that_is_too_small_is_named():
    X = np.random.default_rng(0).normal(size=(6, 20))
    with pytest.raises(
        InvalidParameter, match=r"solver 'lapgmm': the covariance .* is singular .*raise covariance_floor"
    ):
        solve(X, 2, covariance_floor=1e-300)


def test_neighbours_beyond_the_samples_are_reported():
    X, _ = blobs(12)
    model = recipe("lapgmm", n_clusters=2, solver__n_neighbors=50, random_state=0).fit(X)
    assert model.resolved_["solver"]["n_neighbors"] == 11


def test_components_that_win_nowhere_are_told():
    X, _ = blobs(60)
    with pytest.warns(ClusterkitWarning, match="components are nowhere the most likely"):
        model = recipe("lapgmm", n_clusters=2, random_state=0, solver__n_neighbors=60).fit(X)
    assert len(set(model.labels_)) == 1
