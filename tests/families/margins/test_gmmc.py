"""Laws of generalised maximum margin clustering, against a general solver of cone programs and all labellings."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from clusterkit import recipe
from clusterkit.contracts import Task
from clusterkit.errors import ClusterkitWarning, IncompatibleStages, NeedsMemory
from clusterkit.families.margins._programs import MaxCutProblem, interior_point
from clusterkit.families.margins.gmmc import Gmmc
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit.samples.limits import listening
from clusterkit.testing.pytest_plugin import share_of_examples
from clusterkit_campaign.oracles import max_margin as oracle


def space_of(n, seed, fraction=0.2, dtype=np.float64):
    """Two overlapping blobs under a kernel."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + 3.0 * (np.arange(n) % 2)[:, None]
    diameter = np.linalg.norm(X[:, None] - X, axis=2).max()
    return KernelSpace(X.astype(dtype), Gaussian(0.5 / (fraction * diameter) ** 2))


def solve(space, seed=0, **parameters):
    prepared = Gmmc(**parameters).prepare(space, Task(space.n, 2), np.random.default_rng(9))
    return prepared, prepared.solve(None, None, np.random.default_rng(seed))


problems = st.builds(
    space_of, st.integers(4, 22), st.integers(0, 10_000), fraction=st.sampled_from([0.05, 0.1, 0.2, 0.5])
)
weights = st.tuples(st.sampled_from([0.02, 0.1, 1.0]), st.sampled_from([0.01, 1.0, 30.0]))


@share_of_examples(1 / 4)
@given(space=problems, weight=weights, cap=st.sampled_from([None, 0.05, 1.0]))
def test_value_and_labels_of_the_cone_program(space, weight, cap):
    pytest.importorskip("cvxpy", reason="the oracle needs cvxpy with Clarabel")
    delta, bias_penalty = weight
    _, outcome = solve(space, delta=delta, bias_penalty=bias_penalty, slack_penalty=cap, tol=1e-6)
    facts = outcome.status.facts
    value, W = oracle.cone_program(oracle.reduced_matrix(space.gram(), delta, bias_penalty), space.n, cap)
    assert facts["value"] == pytest.approx(value, rel=1e-4)
    assert facts["bound"] == pytest.approx(value, rel=1e-4)
    spectrum = np.linalg.eigvalsh(W)
    if cap is None and spectrum[-2] < 0.7 * spectrum[-1]:  # or the leading vector is not well determined
        expected = oracle.leading(W, space.n)
        direction = outcome.rows[:, 0] / np.linalg.norm(outcome.rows)
        assert abs(direction @ expected) == pytest.approx(1.0, abs=2e-3)


@share_of_examples(1 / 8)
@given(space=problems, weight=weights)
def test_value_of_the_program_with_the_offset(space, weight):
    pytest.importorskip("cvxpy", reason="the oracle needs cvxpy with Clarabel")
    _, outcome = solve(space, delta=weight[0], bias_penalty=weight[1], tol=1e-6)
    value, _ = oracle.cone_program(oracle.full_matrix(space.gram(), *weight), space.n)
    assert outcome.status.facts["value"] == pytest.approx(value, rel=1e-4)


@pytest.mark.deep
def test_value_at_sixty_rows():
    pytest.importorskip("cvxpy", reason="the oracle needs cvxpy with SCS")
    space = space_of(60, 1)
    _, outcome = solve(space, tol=2e-5)
    value, W = oracle.cone_program(oracle.reduced_matrix(space.gram(), 0.1, 1.0), 60, solver="SCS")
    assert outcome.status.facts["value"] == pytest.approx(value, rel=1e-4)
    signs = np.sign(oracle.leading(W, 60))
    assert abs(np.sign(outcome.rows[:, 0]) @ signs) == 60


@given(space=problems, weight=weights)
def test_the_matrix_is_the_schur_complement(space, weight):
    prepared = Gmmc(delta=weight[0], bias_penalty=weight[1]).prepare(space, Task(space.n, 2), None)
    expected = oracle.reduced_matrix(space.gram(), *weight)
    np.testing.assert_allclose(prepared.problem.S, expected, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(prepared.problem.S @ prepared.problem.inverse, np.eye(space.n), atol=1e-8)


@pytest.mark.filterwarnings("ignore:solver 'gmmc'. max_iter")
@given(n=st.integers(2, 9), seed=st.integers(0, 10_000), cap=st.sampled_from([None, 0.05, 1.0]))
def test_the_bound_holds_for_every_labelling(n, seed, cap):
    _, outcome = solve(space_of(n, seed), slack_penalty=cap, tol=1e-2)
    facts = outcome.status.facts
    S = oracle.reduced_matrix(space_of(n, seed).gram(), 0.1, 1.0)
    best = oracle.best_labelling(S)
    assert facts["bound"] <= best * (1 + 1e-9)
    assert facts["rounded"] >= best * (1 - 1e-9)
    if facts["tightness"] > 1 - 1e-9 and cap is None:
        assert facts["rounded"] == pytest.approx(best, rel=1e-2)


@given(space=problems, max_iter=st.integers(1, 30), cap=st.sampled_from([None, 0.05, 1.0]))
def test_bounds_hold_wherever_it_stops(space, max_iter, cap):
    prepared, exact = solve(space, slack_penalty=cap, tol=1e-7)
    best = exact.status.facts
    problem = prepared.problem
    solution = interior_point(problem, 1e-12, max_iter)
    assert solution.bound <= best["value"] * (1 + 1e-9)
    assert solution.value >= best["bound"] * (1 - 1e-9)
    assert len(solution.status.history) == solution.status.n_iter <= max_iter
    if cap is None:
        assert solution.lengths.min() >= 1.0 - 1e-9
    assert solution.shares.sum() == pytest.approx(1.0)
    assert np.all(np.diff(solution.shares) <= 0.0)


@given(seed=st.integers(0, 10_000), n=st.integers(3, 15), cap=st.sampled_from([np.inf, 2.0]))
def test_any_positive_definite_matrix(seed, n, cap):
    B = np.random.default_rng(seed).normal(size=(n, n))
    S = B @ B.T + 0.1 * np.eye(n)
    solution = interior_point(MaxCutProblem(S, np.linalg.inv(S), cap), 1e-5, 200)
    assert solution.status.converged
    assert solution.bound <= solution.value * (1 + 1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blobs_are_separated(dtype):
    X, y = make_blobs(40, centers=[(0, 0), (6, 0)], random_state=3)
    model = recipe("gmmc", n_clusters=2, random_state=0).fit(X.astype(dtype))
    assert np.array_equal(model.labels_, y) or np.array_equal(model.labels_, 1 - y)
    assert model.converged_
    assert np.array_equal(model.predict(X.astype(dtype)), model.labels_)
    facts = model.outcome_.status.facts
    assert facts["gap"] <= 1e-4
    assert facts["shortest"] >= 1.0 - 1e-9


@given(space=problems)
def test_first_of_the_largest_scores_is_positive(space):
    _, outcome = solve(space)
    f = outcome.rows[:, 0]
    first = np.flatnonzero(np.abs(f) >= 0.999 * np.abs(f).max())[0]
    assert f[first] > 0


@given(space=problems, weight=weights)
def test_extension_is_the_function_of_least_norm(space, weight):
    delta, bias_penalty = weight
    _, outcome = solve(space, delta=delta, bias_penalty=bias_penalty)
    f, n = outcome.rows[:, 0], space.n
    # (K + delta I) alpha + b e = f, e'alpha = 0
    system = np.block([[space.gram() + delta * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(f, 0.0))
    new = np.random.default_rng(0).normal(size=(7, 2))
    expected = space.cross(new) @ solution[:n] + solution[n]
    np.testing.assert_allclose(outcome.extend(new)[:, 0], expected, atol=1e-7 * np.abs(f).max())
    np.testing.assert_allclose(
        outcome.extend(space.points)[:, 0], f - delta * solution[:n], atol=1e-7 * np.abs(f).max()
    )
    again = pickle.loads(pickle.dumps(outcome.extend))
    np.testing.assert_array_equal(again(new), outcome.extend(new))
    np.testing.assert_array_equal(outcome.extend.columns(slice(0, 1))(new), outcome.extend(new))


def test_equal_rows_have_score_zero():
    model = recipe("gmmc", n_clusters=2, random_state=0)
    with pytest.warns(ClusterkitWarning, match="all 9 samples are equal"):
        model.fit(np.full((9, 2), 0.3))
    assert not model.labels_.any()
    assert model.converged_
    assert not model.predict(np.ones((3, 2))).any()


def test_duplicates_stay_together():
    X = np.repeat([[0.0, 0.0], [0.3, 0.1], [4.0, 4.0], [4.2, 3.9]], 6, axis=0)
    model = recipe("gmmc", n_clusters=2, random_state=0).fit(X)
    assert np.array_equal(model.labels_[:12], np.full(12, model.labels_[0]))
    assert np.array_equal(model.labels_[12:], np.full(12, 1 - model.labels_[0]))


def test_a_singular_kernel_and_almost_no_slack():
    X, y = make_blobs(30, centers=[(-3, 0), (3, 0)], random_state=0)
    for delta in (1e-3, 0.1):
        _, outcome = solve(KernelSpace(X, Linear()), delta=delta, bias_penalty=0.1)
        labels = outcome.rows[:, 0] > 0
        assert np.array_equal(labels, y) or np.array_equal(labels, 1 - y)


def test_max_iter_warns_with_the_gap():
    with pytest.warns(ClusterkitWarning, match=r"max_iter = 3 .* relative gap \d"):
        _, outcome = solve(space_of(40, 0), max_iter=3)
    assert not outcome.status.converged
    assert outcome.status.n_iter == 3
    assert outcome.status.facts["bound"] <= 6.5


def test_interrupt_keeps_what_was_computed():
    def stop(report):
        if report.stage == "gmmc" and report.iteration == 4:
            raise KeyboardInterrupt

    with listening(stop):
        _, outcome = solve(space_of(40, 0))
    assert outcome.status.interrupted
    assert not outcome.status.converged
    assert "interrupted" in outcome.status.reason
    assert np.isfinite(outcome.rows).all()


def test_a_price_no_margin_is_worth_gives_small_rows():
    _, outcome = solve(space_of(30, 0), slack_penalty=1e-4)
    facts = outcome.status.facts
    assert facts["value"] == pytest.approx(30 * 1e-4, rel=1e-3)
    assert facts["shortest"] < 0.01


def test_more_than_two_clusters_are_refused():
    with pytest.raises(IncompatibleStages, match="at most 2 clusters"):
        recipe("gmmc", n_clusters=3).fit(np.random.default_rng(0).normal(size=(20, 2)))


def test_memory_cap_is_respected(monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "100K")
    with pytest.raises(NeedsMemory, match=r"solver 'gmmc' with 12 matrices of 80 x 80"):
        solve(space_of(80, 0))
