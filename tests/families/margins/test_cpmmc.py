"""Laws of two-class maximum margin clustering by cutting planes, against the primal program and all subsets."""

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from clusterkit import Pipeline, recipe
from clusterkit.contracts import Task
from clusterkit.errors import ClusterkitWarning, NeedsMemory
from clusterkit.families.margins._cuts import EDGE, NONE, Cuts, FeatureCutVectors, RestrictedProgram, solve_cuts
from clusterkit.families.margins.cutting_plane import Cpmmc, balance_slack
from clusterkit.families.shared.codecs import Threshold
from clusterkit.metrics import clustering_accuracy
from clusterkit.samples import KernelSpace, build_space
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit.samples.limits import listening
from clusterkit.samples.transform import IdentityMap
from clusterkit_campaign.oracles import max_margin as oracle


def dense(X):
    return build_space(X, IdentityMap(X.shape[1]))


def solve(space, labels, slack=None, **parameters):
    """The outcome and its prepared solver."""
    n = space.n
    bounds = None if slack is None else (np.full(2, (n - slack) / 2), np.full(2, (n + slack) / 2))
    prepared = Cpmmc(**parameters).prepare(space, Task(n, 2, bounds), np.random.default_rng(0))
    return prepared.solve(Threshold().encode(labels, 2), None, np.random.default_rng(0)), prepared


@st.composite
def problem(draw, most=40):
    """Rows in two groups that overlap or not, any labels, a slack."""
    n, d = draw(st.integers(2, most)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d)) * draw(st.sampled_from([0.1, 1.0, 30.0])) + draw(st.sampled_from([0.0, 50.0]))
    X[:, 0] += draw(st.sampled_from([0.0, 3.0])) * rng.integers(2, size=n)
    return X, rng.integers(2, size=n), draw(st.sampled_from([0.0, 0.03, 0.5, 1.0])) * n


@st.composite
def program(draw):
    """Vectors, shares and means of a few cuts."""
    p, L, q = draw(st.integers(1, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    means = rng.uniform(-1.0, 1.0, size=(p, q))
    if q > 1:
        means -= means.mean(axis=1, keepdims=True)
    return rng.normal(size=(p, L, q)), rng.uniform(size=p), means, draw(st.sampled_from([0.1, 1.0, 20.0])), rng


@given(data=program(), half_width=st.sampled_from([0.0, 0.03, 1.0]))
def test_the_dual_program_equals_the_primal_one(data, half_width):
    Z, shares, means, C, _ = data
    gram = np.einsum("plq,rlq->pr", Z, Z)
    solution = solve_cuts(RestrictedProgram(gram, shares, means, C, half_width))
    value, W, _, _ = oracle.cutting_plane_program(Z, shares, means, C, half_width)
    assert solution.value == pytest.approx(value, abs=1e-5 * C)
    assert solution.value - solution.dual <= 1e-8 * C
    np.testing.assert_allclose(np.tensordot(solution.weights, Z, axes=1), W, atol=2e-3 * np.sqrt(C))
    # feasible as it stands, whatever the accuracy of the solver
    W = np.tensordot(solution.weights, Z, axes=1)
    assert (np.tensordot(Z, W, axes=2) + means @ solution.bias >= shares - solution.slack - 1e-9 * C).all()
    assert (np.ptp(solution.bias) if len(solution.bias) > 1 else 2 * abs(solution.bias[0])) <= 2 * half_width * (
        1 + 1e-12
    )
    assert solution.weights.min() >= 0
    assert solution.weights.sum() <= C * (1 + 1e-12)


@given(data=program(), half_width=st.sampled_from([0.03, 1.0]))
def test_the_dual_program_equals_the_primal_one_without_a_bias(data, half_width):
    Z, shares, means, C, rng = data
    Z = Z - Z.mean(axis=2, keepdims=True) if Z.shape[2] > 1 else Z
    centre = rng.normal(size=Z.shape[1])
    if Z.shape[2] == 1:  # the shift common to all outputs is what sums to 0; a single output has none to share
        return
    centred = Z - np.einsum("l,pq->plq", centre, means)
    products = np.einsum("plq,l->pq", centred, centre)
    gram = np.einsum("plq,rlq->pr", centred, centred)
    solution = solve_cuts(RestrictedProgram(gram, shares, means, C, half_width, (products, centre @ centre)))
    value, _, _, _ = oracle.cutting_plane_program(Z, shares, means, C, half_width, centre)
    assert solution.value == pytest.approx(value, abs=1e-5 * C)
    W = np.tensordot(solution.weights, centred, axes=1) - np.outer(centre, solution.mean_weight)
    assert (np.tensordot(Z, W, axes=2) >= shares - solution.slack - 1e-9 * C).all()
    assert np.ptp(centre @ W) <= 2 * half_width + 1e-7
    np.testing.assert_allclose(solution.bias, centre @ W, atol=1e-9 * C)


@given(f=st.lists(st.floats(-3, 3), min_size=2, max_size=8))
def test_the_most_violated_cut_is_the_worst_of_all_subsets(f):
    F = np.array(f)[:, None]
    z = (F[:, 0] > 0).astype(int)
    cuts = Cuts.of(FeatureCutVectors(dense(np.zeros((len(f), 1))), 1), z, 2)
    rival = cuts.most_violated(F)
    held = rival != NONE
    assert np.mean(held * (1 - np.abs(F[:, 0]))) >= oracle.worst_two(F[:, 0]) - EDGE
    assert (rival[held] == 1 - z[held]).all()


@given(data=problem(most=10), C=st.sampled_from([0.1, 1.0, 10.0]))
def test_at_the_end_all_subsets_hold_within_tol(data, C):
    X, labels, slack = data
    outcome, _ = solve(dense(X), labels, slack, C=C)
    facts = outcome.status.facts
    assert outcome.status.converged
    worst = oracle.worst_two(outcome.rows[:, 0])
    assert worst <= facts["xi"] + facts["tol"] + 1e-9
    assert facts["violation"] == pytest.approx(worst, abs=1e-12)


@given(data=problem(), C=st.sampled_from([0.1, 1.0, 10.0]))
def test_outputs_are_balanced_and_the_objective_falls_between_cuts(data, C):
    X, labels, slack = data
    outcome, prepared = solve(dense(X), labels, slack, C=C, cccp_tol=1e-6)
    facts, n = outcome.status.facts, len(X)
    total = abs(outcome.rows.sum())
    assert total <= slack + 1e-7 * n * (1 + np.abs(X).max())
    assert facts["balance"] == pytest.approx(total, abs=1e-9 * n)
    history, cuts = np.array(outcome.status.history), np.array(facts["cuts_of_each"])
    assert len(history) == len(cuts) == facts["programs"]
    falls = np.diff(history) <= 1e-8 * (1 + history[:-1])
    assert falls[np.diff(cuts) == 0].all(), history
    w = outcome.extend.inner.coefficients
    value = 0.5 * float((w**2).sum()) + C * np.mean(np.maximum(0, 1 - np.abs(outcome.rows)))
    [reported] = prepared.objective(None, outcome)
    assert reported == pytest.approx(value, rel=1e-6)


def test_a_program_where_the_longest_steps_stall():
    gram = np.array(
        [
            [501.99170867, 196.06488897, 114.56808136, 157.43074785],
            [196.06488897, 94.89222094, 62.77652383, 41.42500539],
            [114.56808136, 62.77652383, 43.89602262, 16.1790072],
            [157.43074785, 41.42500539, 16.1790072, 71.35154003],
        ]
    )
    means = np.array([[0.125], [-0.125], [0.375], [0.1875]])
    solution = solve_cuts(RestrictedProgram(gram, np.array([1.0, 0.625, 0.5, 0.5625]), means, 1.0, 0.5))
    assert solution.value - solution.dual <= 1e-8 * solution.value + 2e-9  # the biases may add 1e-9 to the slack
    assert solution.value == pytest.approx(1.38033162402 / 501.99170867, abs=3e-9)


@given(data=problem())
def test_the_other_numbering_changes_the_sign(data):
    X, labels, slack = data
    one, other = solve(dense(X), labels, slack)[0], solve(dense(X), 1 - labels, slack)[0]
    if (labels == labels[0]).all():  # then the start is a random split, the same for both
        return
    # the bias may be any of an interval where the margins leave room
    np.testing.assert_allclose(other.rows - other.rows.mean(), one.rows.mean() - one.rows, atol=1e-5)
    assert other.status.objective == pytest.approx(one.status.objective, rel=1e-4, abs=1e-6)


def test_translations_change_nothing():
    X, y = make_blobs(80, centers=2, n_features=3, random_state=1)
    one, far = solve(dense(X), y, 4.0)[0], solve(dense(X + 1e4), y, 4.0)[0]
    np.testing.assert_allclose(far.rows, one.rows, atol=1e-6)


def test_the_linear_kernel_gives_what_features_give():
    X, _ = make_blobs(90, centers=2, n_features=4, cluster_std=3.0, random_state=2)
    labels = np.random.default_rng(0).integers(2, size=90)
    one, _ = solve(dense(X), labels, 9.0, C=0.5)
    kernel, _ = solve(KernelSpace(X, Linear()), labels, 9.0, C=0.5)
    np.testing.assert_allclose(kernel.rows, one.rows, atol=1e-6)
    assert kernel.status.objective == pytest.approx(one.status.objective)
    assert kernel.status.n_iter == one.status.n_iter


def test_random_starts_on_overlapping_blobs_reach_k_means():
    X, y = make_blobs(500, centers=[[-2, 0], [2, 0]], cluster_std=1.05, random_state=0)
    baseline = clustering_accuracy(y, KMeans(2, n_init=10, random_state=0).fit_predict(X))
    for seed in range(2):
        model = Pipeline("identity", "cpmmc", "threshold", "auto", "random", n_clusters=2, random_state=seed).fit(X)
        assert clustering_accuracy(y, model.labels_) >= baseline - 0.01
        assert 2 <= model.outcome_.status.facts["cuts"] <= 12


def test_several_starts_keep_the_lowest_objective():
    X, _ = make_blobs(120, centers=4, n_features=3, random_state=5)
    model = Pipeline("identity", "cpmmc", "threshold", "auto", "random", n_clusters=2, n_init=5, random_state=0).fit(X)
    singles = [
        Pipeline("identity", "cpmmc", "threshold", "auto", "random", n_clusters=2, random_state=s).fit(X).objective_
        for s in range(3)
    ]
    assert model.objective_ <= min(singles) + 0.05 * abs(min(singles))
    assert model.objective_ == pytest.approx(model.outcome_.status.objective)


def test_the_recipe_separates_blobs_and_predicts():
    X, y = make_blobs(300, centers=2, random_state=1)
    model = recipe("cpmmc", n_clusters=2, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.outcome_.status.facts["balance_slack"] == 8  # 0.03 n = 9, and sizes of 300 rows differ by even numbers


def test_labels_that_are_all_the_same_are_replaced():
    X, y = make_blobs(100, centers=2, random_state=1)
    outcome, _ = solve(dense(X), np.zeros(100, dtype=int), 5.0)
    assert clustering_accuracy(y, (outcome.rows[:, 0] > 0).astype(int)) == 1.0


OVERLAPPING, _ = make_blobs(200, centers=2, n_features=5, cluster_std=4.0, random_state=0)
LABELS = np.random.default_rng(0).integers(2, size=200)


def test_too_few_cuts_cause_a_warning_with_the_violation():
    with pytest.warns(ClusterkitWarning, match=r"max_iter = 2 cuts: the worst violation is 0\.\d+.*raise max_iter"):
        outcome, _ = solve(dense(OVERLAPPING), LABELS, 6.0, C=10.0, max_iter=2)
    assert not outcome.status.converged
    assert outcome.status.n_iter == 2
    assert "violation" in outcome.status.reason


def test_an_interruption_returns_the_last_iterate():

    def stop(report):
        if report.iteration == 3:
            raise KeyboardInterrupt

    with listening(stop):
        outcome, _ = solve(dense(OVERLAPPING), LABELS, 6.0, C=10.0)
    assert outcome.status.interrupted
    assert not outcome.status.converged
    assert np.isfinite(outcome.rows).all()
    assert outcome.status.facts["cuts"] == 3


def test_a_kernel_matrix_above_the_cap_is_refused(monkeypatch):
    X, y = make_blobs(200, centers=2, random_state=0)
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "100K")
    with pytest.raises(NeedsMemory, match="kernel matrix"):
        solve(KernelSpace(X, Gaussian(1.0)), y)


def test_float32_stays_float32():
    X, y = make_blobs(60, centers=2, random_state=0)
    outcome, _ = solve(dense(X.astype(np.float32)), y, 4.0)
    exact, _ = solve(dense(X), y, 4.0)
    assert outcome.rows.dtype == np.float32
    np.testing.assert_allclose(outcome.rows, exact.rows, atol=1e-3)


def test_the_slack_of_sizes():
    n = 100
    for k, slack in ((2, 4.0), (4, 12.0), (10, 20.0)):
        reach = (k - 1) * slack / k
        task = Task(n, k, (np.full(k, n / k - reach), np.full(k, n / k + reach)))
        assert balance_slack(task) == pytest.approx(slack)
        assert balance_slack(attrs.evolve(task, bounds=(np.zeros(k), np.full(k, n)))) == n
    assert balance_slack(Task(n, 3)) == n
