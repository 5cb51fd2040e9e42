"""Laws of multiclass maximum margin clustering by cutting planes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from clusterkit import ClusterkitWarning, Pipeline, recipe
from clusterkit.contracts import Task
from clusterkit.families.margins._cuts import (
    EDGE,
    NONE,
    Cuts,
    FeatureCutVectors,
    KernelCutVectors,
    rivals,
    winners,
)
from clusterkit.families.margins.cutting_plane import Cpm3c, Cpmmc
from clusterkit.families.shared.codecs import Argmax, Threshold
from clusterkit.metrics import clustering_accuracy
from clusterkit.samples import KernelSpace, build_space
from clusterkit.samples.kernels import Linear
from clusterkit.samples.transform import IdentityMap
from clusterkit_campaign.oracles import max_margin as oracle


def test_on_a_tie_the_label_stays():
    F = np.array([[1.0, 1.0 - 1e-9, 0.0], [1.0, 1.0 + 1e-9, 0.0], [1.0, 2.0, 2.0]])
    assert winners(F, np.array([1, 0, 0])).tolist() == [1, 0, 1]


def dense(X):
    return build_space(X, IdentityMap(X.shape[1]))


def task(n, k, slack):
    reach = (k - 1) * slack / k
    return Task(n, k, (np.full(k, n / k - reach), np.full(k, n / k + reach)))


def solve(space, labels, k, slack, **parameters):
    prepared = Cpm3c(**parameters).prepare(space, task(space.n, k, slack), np.random.default_rng(0))
    return prepared.solve(Argmax().encode(labels, k), None, np.random.default_rng(0)), prepared


@st.composite
def problem(draw, most=30, clusters=4):
    """Rows in k groups that overlap or not, labels that may leave clusters empty, a slack."""
    k = draw(st.integers(2, clusters))
    n, d = draw(st.integers(k, most)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d)) + draw(st.sampled_from([0.0, 20.0]))
    X += draw(st.sampled_from([0.0, 3.0])) * rng.normal(size=(k, d))[rng.integers(k, size=n)]
    return X, rng.integers(k, size=n), k, draw(st.sampled_from([0.0, 0.03, 0.5, 1.0])) * n


@given(seed=st.integers(0, 2**16), n=st.integers(2, 5), k=st.integers(3, 4))
def test_the_most_violated_cut_is_the_worst_of_all(seed, n, k):
    F = np.random.default_rng(seed).normal(size=(n, k))
    z = F.argmax(axis=1)
    cuts = Cuts.of(FeatureCutVectors(dense(np.zeros((n, 1))), k), z, k)
    rival = cuts.most_violated(F).astype(int)
    held = np.flatnonzero(rival != NONE)
    violation = np.sum(1 - (F[held, z[held]] - F[held, rival[held]])) / n
    assert violation >= oracle.worst_many(F) - EDGE


@given(data=problem(most=6, clusters=3), intercept=st.booleans(), C=st.sampled_from([0.3, 3.0]))
def test_at_the_end_all_cuts_hold_within_tol(data, intercept, C):
    X, labels, k, slack = data
    outcome, _ = solve(dense(X), labels, k, slack, intercept=intercept, C=C)
    assert outcome.status.converged
    assert oracle.worst_many(outcome.rows) <= outcome.status.facts["xi"] + outcome.status.facts["tol"] + 1e-9


@given(data=problem(), intercept=st.booleans(), C=st.sampled_from([0.3, 3.0]))
def test_outputs_are_balanced_and_the_objective_falls_between_cuts(data, intercept, C):
    X, labels, k, slack = data
    outcome, prepared = solve(dense(X), labels, k, slack, intercept=intercept, C=C, cccp_tol=1e-6)
    facts, n = outcome.status.facts, len(X)
    sums = outcome.rows.sum(axis=0)
    assert np.ptp(sums) <= slack + 1e-6 * n
    assert facts["balance"] == pytest.approx(np.ptp(sums), abs=1e-9 * n)
    history, cuts = np.array(outcome.status.history), np.array(facts["cuts_of_each"])
    falls = np.diff(history) <= 1e-8 * (1 + history[:-1])
    assert falls[np.diff(cuts) == 0].all(), history
    W = outcome.extend.inner.coefficients
    top = np.sort(outcome.rows, axis=1)
    value = 0.5 * float((W**2).sum()) + C * np.mean(np.maximum(0, 1 - (top[:, -1] - top[:, -2])))
    [reported] = prepared.objective(None, outcome)
    assert reported == pytest.approx(value, rel=1e-6)


@given(data=problem(), seed=st.integers(0, 99))
def test_the_vectors_follow_the_winners(data, seed):
    """Cuts updated by differences equal cuts built anew."""
    X, labels, k, _ = data
    rng = np.random.default_rng(seed)
    for space in (dense(X), KernelSpace(X, Linear())):
        vectors = KernelCutVectors(space, k) if isinstance(space, KernelSpace) else FeatureCutVectors(space, k)
        cuts = Cuts.of(vectors, labels, k)
        for _ in range(3):
            F = rng.normal(size=(len(X), k))
            cuts.add(np.where(rng.random(len(X)) < 0.7, rivals(F, cuts.z), NONE))
            W = rng.normal(size=(vectors.V.shape[0], k))
            partner = W if isinstance(vectors, FeatureCutVectors) else X @ X.T @ W
            cuts.update(W, partner, np.zeros(k))
        for c in range(3):
            T = np.zeros((len(X), k))
            for i in np.flatnonzero(cuts.rival[:, c] != NONE):
                T[i, cuts.z[i]] += 1
                T[i, cuts.rival[i, c]] -= 1
            vector, partner = vectors.vector(T)
            np.testing.assert_allclose(vectors.V[:, c], vector, atol=1e-9)
            np.testing.assert_allclose(vectors.partner[:, c], partner, atol=1e-7 * (1 + np.abs(partner).max()))
            np.testing.assert_allclose(cuts.means[c], T.mean(axis=0), atol=1e-12)
            assert (cuts.rival[:, c] != cuts.z).all()


@given(data=problem(clusters=2), C=st.sampled_from([0.3, 3.0]))
def test_two_clusters_are_cpmmc_with_twice_the_trade_off(data, C):
    X, labels, _, slack = data
    slack = min(slack, 0.1 * len(X))  # beyond, biases alone may do, and optima differ
    if (labels == labels[0]).all():
        return
    many, _ = solve(dense(X), labels, 2, slack, C=C)
    prepared = Cpmmc(C=2 * C).prepare(dense(X), task(len(X), 2, slack), np.random.default_rng(0))
    two = prepared.solve(Threshold().encode(labels, 2), None, np.random.default_rng(0))
    f, g = many.rows[:, 1] - many.rows[:, 0], two.rows[:, 0]
    # the bias may be any of an interval where the margins leave room
    np.testing.assert_allclose(f - f.mean(), g - g.mean(), atol=1e-5)
    np.testing.assert_allclose(many.status.objective * 2, two.status.objective, rtol=1e-5, atol=1e-5 * C)


def test_the_linear_kernel_gives_what_features_give():
    X, y = make_blobs(60, centers=3, n_features=4, cluster_std=2.0, random_state=2)
    for intercept in (True, False):
        one, _ = solve(dense(X), y, 3, 6.0, C=0.5, intercept=intercept)
        kernel, _ = solve(KernelSpace(X, Linear()), y, 3, 6.0, C=0.5, intercept=intercept)
        np.testing.assert_allclose(kernel.rows, one.rows, atol=1e-5)


def test_without_an_intercept_the_balance_has_no_effect_on_centred_data():
    X, y = make_blobs(90, centers=3, random_state=2)
    X -= X.mean(axis=0)
    outcome, _ = solve(dense(X), y, 3, 30.0, intercept=False)
    assert outcome.status.facts["balance"] <= 1e-9
    # with one, it is what keeps outputs apart
    lopsided = np.concatenate([X[y == 0], X[y == 0] + 0.01, X[y == 1], X[y == 2]])
    labels = np.concatenate([np.zeros(60, dtype=int), np.full(30, 1), np.full(30, 2)])
    outcome, _ = solve(dense(lopsided), labels, 3, 30.0)
    assert outcome.status.facts["balance"] == pytest.approx(30.0, abs=1e-6)


def test_blobs_are_found_and_labels_predicted():
    X, y = make_blobs(300, centers=4, cluster_std=0.7, random_state=3)
    model = recipe("cpm3c", n_clusters=4, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) >= 0.99
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_ten_clusters_need_few_variables_for_their_balance():
    X, y = make_blobs(400, centers=10, n_features=8, random_state=0)
    model = Pipeline(
        "zscore", {"name": "cpm3c", "C": 10.0}, "argmax", "auto", "kmeans", n_clusters=10, random_state=0
    ).fit(X)
    assert clustering_accuracy(y, model.labels_) == 1.0
    assert model.outcome_.status.facts["balance"] <= 12 + 1e-6


def test_clusters_without_a_sample_cause_a_warning():
    X, _ = make_blobs(120, centers=6, random_state=2)
    with pytest.warns(ClusterkitWarning, match="2 of 6 clusters have no sample"):
        model = recipe("cpm3c", n_clusters=6, random_state=0).fit(X)
    assert len(set(model.labels_)) == 4
