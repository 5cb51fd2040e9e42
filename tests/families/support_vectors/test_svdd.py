"""Laws of the smallest sphere, checked against a general solver, LIBSVM and the plain loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.domains import point_tables
from oracles.svdd_runs import TOL, solve

from clusterkit.contracts import Task
from clusterkit.errors import InvalidData
from clusterkit.families.support_vectors.lmsvc import Lmsvc
from clusterkit.families.support_vectors.psvdd import Psvdd
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit_campaign.oracles.one_class import dual_value, gap, gram, quadratic_program, smo

FIRST_PAIRS = 12
"""Steps in which both loops take the same pairs. A free step leaves both of its rows with the same gradient, so that
rounding may choose between them later on."""


@st.composite
def problems(draw, max_n=25):
    """Points (duplicates likely), a width and a legal C."""
    X = draw(point_tables(max_n))
    n = len(X)
    gamma = draw(st.sampled_from([1e-6, 0.03, 0.5, 4.0, 50.0, 1e6]))
    C = draw(st.one_of(st.floats(0.0, 1.0).map(lambda t: (1 + t * (n - 1)) / n), st.just(2.0)))
    return X, gamma, C


def distances2(K, beta):
    return np.diag(K) - 2 * K @ beta + beta @ K @ beta


@given(problems())
def test_feasible_exactly_and_optimal_within_tol(problem):
    X, gamma, C = problem
    solution, outcome = solve(X, gamma, C=C)
    beta, n = solution.beta, len(X)
    assert abs(beta.sum() - 1.0) <= 1e-12 * n
    assert np.all(beta >= 0)
    assert np.all(beta <= min(C, 1.0))
    assert solution.status.converged
    assert gap(gram(X, gamma), beta, np.full(n, min(C, 1.0))) <= TOL + 1e-12 * n
    assert outcome.status.facts["gap"] <= TOL
    assert outcome.support_counts.n_support == np.count_nonzero(beta)
    # one centre for equal samples
    assert len(outcome.centres) == len(np.unique(X[beta > 0], axis=0))


@given(problems())
def test_optimality_conditions_of_the_radius(problem):
    X, gamma, C = problem
    solution, outcome = solve(X, gamma, C=C)
    facts, beta = outcome.status.facts, solution.beta
    R = distances2(gram(X, gamma), beta)
    eps, radius2 = TOL + 1e-12 * len(X), facts["radius2"]
    bounded = (beta >= C * (1 - 1e-9)) & (C < 1)
    free = (beta > 1e-9 * min(C, 1)) & ~bounded
    assert outcome.support_counts.n_bounded == bounded.sum()
    if free.any():
        assert np.ptp(R[free]) <= eps
        assert bounded.sum() < 1 / C + 1e-9
    assert bounded.sum() <= 1 / C * (1 + 1e-9) + 1e-9  # each is at C up to a share of 1e-9
    assert (beta > 0).sum() >= 1 / C - 1e-9
    if facts["degenerate"]:
        assert radius2 == 0.0
        return
    assert np.all(R[beta == 0] <= radius2 + eps)
    assert np.all(R[bounded] >= radius2 - eps)
    # strong duality: radius and slacks reproduce the dual value
    primal = radius2 + min(C, 1.0) * np.maximum(0.0, R - radius2).sum()
    assert primal == pytest.approx(1 - beta @ gram(X, gamma) @ beta, abs=2 * eps * (1 + len(X) * min(C, 1.0)))


@given(problems())
def test_no_free_support_vector_lies_outside_its_contour(problem):
    X, gamma, C = problem
    solution, outcome = solve(X, gamma, C=C)
    free = (solution.beta > 1e-9) & ((solution.beta < C * (1 - 1e-9)) | (C >= 1))
    if not outcome.status.facts["degenerate"]:
        assert np.all(outcome.value(X[free]) >= outcome.level)
    if C >= 1:
        assert np.all(outcome.value(X) >= outcome.level)


@given(problems(max_n=12))
def test_value_of_a_general_solver(problem):
    X, gamma, C = problem
    K, bounds = gram(X, gamma), np.full(len(X), min(C, 1.0))
    solution, _ = solve(X, gamma, C=C)
    assert dual_value(K, solution.beta) == pytest.approx(quadratic_program(K, bounds), abs=2e-7)


@pytest.mark.parametrize("C", [0.03, 0.2, 1.0])
@pytest.mark.parametrize("gamma", [0.1, 2.0, 30.0])
def test_the_compiled_loop_is_the_plain_loop(C, gamma):
    from clusterkit.families.support_vectors._steps_jit import filled_in_order
    from clusterkit.families.support_vectors._working_sets import SET_SIZES, WorkingSetSearch

    X, bounds = np.random.default_rng(9).normal(size=(60, 3)), np.full(60, C)
    start = filled_in_order(np.argsort(np.square(X - X.mean(axis=0)).sum(axis=1)), bounds)
    beta, n_iter = smo(gram(X, gamma), bounds, start, TOL, max_iter=FIRST_PAIRS)
    for pool in (2**20, 8 * 60 * 2):
        search = WorkingSetSearch(X, bounds, Gaussian(gamma), TOL, FIRST_PAIRS, pool, SET_SIZES)
        assert search.improved(X, bounds, start.copy(), TOL, is_root=True).beta == pytest.approx(beta, abs=1e-10)
        assert search.n_moved == n_iter


@given(problems(), st.floats(1.0, 3.0))
def test_monotone_in_C(problem, factor):
    X, gamma, C = problem
    _, small = solve(X, gamma, C=C)
    _, large = solve(X, gamma, C=C * factor)
    assert large.status.history[0] <= small.status.history[0] + 2 * TOL
    if not small.status.facts["degenerate"] and _radius_is_unique(X, gamma, C):
        assert large.status.facts["radius2"] >= small.status.facts["radius2"] - 1e-6


def _radius_is_unique(X, gamma, C):
    solution, _ = solve(X, gamma, C=C)
    return bool(((solution.beta > 1e-6) & (solution.beta < min(C, 1.0) - 1e-6)).any())


@given(problems(max_n=12))
def test_duplicating_every_point_changes_nothing(problem):
    X, gamma, C = problem
    C = min(C, 1.0)
    _, outcome = solve(X, gamma, C=C)
    _, double = solve(np.repeat(X, 2, axis=0), gamma, C=C / 2)
    assert double.value(X) == pytest.approx(outcome.value(X), abs=2 * np.sqrt(TOL))
    if _radius_is_unique(X, gamma, C) and C < 1:
        assert double.level == pytest.approx(outcome.level, abs=2 * np.sqrt(TOL))


@given(problems())
def test_a_bound_above_every_beta_is_no_bound(problem):
    X, gamma, _ = problem
    solution, free = solve(X, gamma, C=1.0)
    _, bounded = solve(X, gamma, C=min(1.0, float(solution.beta.max()) + 1e-9))
    assert bounded.status.history[0] == pytest.approx(free.status.history[0], abs=2 * TOL)
    assert bounded.value(X) == pytest.approx(free.value(X), abs=2 * np.sqrt(TOL))


@pytest.mark.parametrize("C", [0.02, 0.05, 0.3])
@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
def test_libsvm_agrees(C, gamma):
    from sklearn.svm import OneClassSVM

    X = np.random.default_rng(3).normal(size=(100, 3))
    solution, outcome = solve(X, gamma, C=C, tol=1e-10)
    svm = OneClassSVM(gamma=gamma, nu=1 / (len(X) * C), tol=1e-10).fit(X)
    beta = np.zeros(len(X))
    beta[svm.support_] = svm.dual_coef_[0] / svm.dual_coef_.sum()
    K = gram(X, gamma)
    assert solution.beta @ K @ solution.beta == pytest.approx(beta @ K @ beta, abs=1e-9)
    assert outcome.level == pytest.approx(-svm.intercept_[0] / svm.dual_coef_.sum(), abs=1e-8)


def test_the_memory_cap_is_kept(monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "20K")
    X = np.random.default_rng(0).normal(size=(100, 2))
    space = KernelSpace(X, Gaussian(1.0))
    prepared = Svdd().prepare(space, Task(100, None), np.random.default_rng(0))
    assert prepared.minimise().status.converged
    assert "K" not in space._memo


@pytest.mark.parametrize("solver", [Svdd(), Psvdd(), Lmsvc()])
def test_other_kernels_are_refused(solver):
    with pytest.raises(InvalidData, match=f"solver '{solver.name}' needs a Gaussian kernel"):
        solver.prepare(KernelSpace(np.eye(3), Linear()), Task(3, None), np.random.default_rng(0))


def test_start_is_feasible_for_any_bounds():
    from clusterkit.families.support_vectors._steps_jit import filled_in_order

    bounds = np.array([0.5, 0.3, 0.4, 0.2])
    assert filled_in_order(np.array([2, 0, 1, 3]), bounds) == pytest.approx([0.5, 0.1, 0.4, 0.0])
    assert filled_in_order(np.arange(3), np.full(3, 1 / 3)) == pytest.approx([1 / 3] * 3)


class TestDegenerate:
    def test_one_sample(self):
        _, outcome = solve(np.array([[1.0, 2.0]]), 1.0)
        assert outcome.status.facts["radius2"] == 0.0
        assert outcome.support_counts.n_bounded == 0
        assert outcome.level == pytest.approx(1.0)
        assert outcome.value(np.array([[1.0, 2.0]]))[0] >= outcome.level

    @pytest.mark.parametrize("n", [2, 7, 49])
    def test_only_one_feasible_point_makes_all_outliers(self, n):
        X = np.random.default_rng(n).normal(size=(n, 2))
        solution, outcome = solve(X, 1.0, C=1.0 / n)
        assert solution.beta == pytest.approx(np.full(n, 1.0 / n))
        assert outcome.status.facts["degenerate"]
        assert outcome.support_counts.n_bounded == n
        assert not np.any(outcome.value(X) >= outcome.level)

    @pytest.mark.parametrize("C", [1 / 9, 0.2, 1.0, 5.0])
    def test_equal_points_are_inside(self, C):
        X = np.full((9, 6), 0.1)
        _, outcome = solve(X, 3.0, C=C)
        assert outcome.status.facts["radius2"] == pytest.approx(0.0, abs=1e-12)
        assert np.all(outcome.value(X) >= outcome.level)

    def test_no_overlap_of_kernels_gives_equal_weights(self):
        solution, outcome = solve(np.arange(20.0)[:, None], 1e6)
        assert solution.beta == pytest.approx(np.full(20, 0.05), abs=1e-6)
        assert outcome.status.facts["radius2"] == pytest.approx(0.95, abs=1e-6)

    def test_a_kernel_of_ones_is_accepted_at_once(self):
        X = np.random.default_rng(0).normal(size=(20, 2))
        solution, outcome = solve(X, 1e-14)
        assert solution.status.n_iter == 0
        assert np.all(outcome.value(X) >= outcome.level)
