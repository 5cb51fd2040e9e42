"""Laws of the smallest sphere, checked against a general solver, LIBSVM and the plain loop."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracles.svdd import dual_value, gap, quadratic_program, smo

from clusterkit.core.compat import Composition
from clusterkit.core.errors import ClusterkitWarning, InvalidParameter
from clusterkit.core.kernel import Gaussian, Linear
from clusterkit.core.outcomes import FunctionDomain, KernelDomain
from clusterkit.core.progress import listening
from clusterkit.core.run import fit
from clusterkit.core.seeds import Seeds
from clusterkit.core.spaces import KernelSpace, build_space
from clusterkit.core.stages import Task
from clusterkit.core.transform import Keep
from clusterkit.featuremaps.elm import Elm
from clusterkit.featuremaps.identity import Identity
from clusterkit.featuremaps.rbf import Rbf
from clusterkit.labelers.graphs.complete_graph import CompleteGraph
from clusterkit.solvers.one_class._gram_columns import KernelMatrix
from clusterkit.solvers.one_class.svdd import Svdd

TOL = 1e-8


@st.composite
def problems(draw, max_n=25):
    """Points (duplicates likely), a width and a legal C."""
    n, d = draw(st.integers(1, max_n)), draw(st.integers(1, 6))
    X = draw(hnp.arrays(float, (n, d), elements=st.floats(-3, 3, width=16)))
    gamma = draw(st.sampled_from([1e-6, 0.03, 0.5, 4.0, 50.0, 1e6]))
    C = draw(st.one_of(st.floats(0.0, 1.0).map(lambda t: (1 + t * (n - 1)) / n), st.just(2.0)))
    return X, gamma, C


def prepare(X, gamma, **parameters):
    space = KernelSpace(X, Gaussian(gamma))
    return Svdd(**{"tol": TOL, **parameters}).prepare(space, Task(len(X), None), np.random.default_rng(0))


def solve(X, gamma, **parameters):
    prepared = prepare(X, gamma, **parameters)
    return prepared.minimise(), prepared.solve(None, None, np.random.default_rng(0))


def gram(X, gamma):
    return np.exp(-gamma * np.square(X[:, None] - X[None]).sum(axis=2))


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
    assert solution.converged
    assert gap(gram(X, gamma), beta, np.full(n, min(C, 1.0))) <= TOL + 1e-12 * n
    assert outcome.status.facts["gap"] <= TOL
    assert outcome.status.facts["n_sv"] == np.count_nonzero(beta)
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
    assert facts["n_bsv"] == bounded.sum()
    if free.any():
        assert np.ptp(R[free]) <= eps
        assert bounded.sum() < 1 / C + 1e-9
    assert bounded.sum() <= 1 / C + 1e-9
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
    # the first pairs only: later on rounding may choose between nearly equal ones
    from clusterkit.solvers.one_class._problem import MatrixDual
    from clusterkit.solvers.one_class._working_sets import minimise_gaussian

    X, bounds = np.random.default_rng(8).normal(size=(60, 3)), np.full(60, C)
    dual = MatrixDual(KernelMatrix.of(KernelSpace(X, Gaussian(gamma))), X)
    start = dual.start(bounds)
    beta, n_iter = smo(gram(X, gamma), bounds, start, TOL, max_iter=25)
    for solution in (
        dual.minimise(bounds, TOL, 25, 2**20),
        minimise_gaussian(X, Gaussian(gamma), bounds, TOL, 25, 2**20, start=start),
        minimise_gaussian(X, Gaussian(gamma), bounds, TOL, 25, 8 * 60 * 2, start=start),
    ):
        assert solution.n_iter == n_iter
        assert solution.beta == pytest.approx(beta, abs=1e-10)


@given(problems(), st.integers(0, 2**32 - 1))
def test_permutation_changes_nothing(problem, seed):
    X, gamma, C = problem
    order = np.random.default_rng(seed).permutation(len(X))
    _, outcome = solve(X, gamma, C=C)
    _, other = solve(X[order], gamma, C=C)
    # |centre - centre'|² is at most the gap, so values differ by its root at most
    assert other.value(X) == pytest.approx(outcome.value(X), abs=2 * np.sqrt(TOL))
    assert other.status.history[0] == pytest.approx(outcome.status.history[0], abs=2 * TOL)


@given(problems(), st.floats(0.01, 100), st.floats(-5, 5), st.floats(0, 6))
def test_translation_rotation_and_scale(problem, scale, shift, angle):
    X, gamma, C = problem
    moved = X.copy()
    if X.shape[1] > 1:
        rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        moved[:, :2] = moved[:, :2] @ rotation
    moved = scale * (moved + shift)
    assume(gamma <= 50)  # beyond, rounding of the coordinates moves the exponent
    _, outcome = solve(X, gamma, C=C)
    _, other = solve(moved, gamma / scale**2, C=C)
    assert other.value(moved) == pytest.approx(outcome.value(X), abs=1e-3)
    assert other.status.history[0] == pytest.approx(outcome.status.history[0], abs=1e-6)


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


def test_columns_that_make_room_for_each_other_give_the_same_solution():
    from clusterkit.solvers.one_class._smo_any_kernel_jit import minimise

    X = np.random.default_rng(0).normal(size=(60, 5))
    matrix, prepared = KernelMatrix.of(KernelSpace(X, Gaussian(0.5))), prepare(X, 0.5, C=0.1)
    whole = prepared.minimise()
    for slots in (2, 3, 17):
        few = minimise(matrix, prepared.bounds, prepared.bounds / 6.0, TOL, 10**6, 8 * len(X) * slots)
        assert few.converged
        assert few.beta == pytest.approx(whole.beta, abs=1e-4)
        assert few.beta @ few.gradient == pytest.approx(whole.beta @ whole.gradient, abs=TOL)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear()])
def test_the_memory_cap_is_kept(monkeypatch, kernel):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "20K")
    X = np.random.default_rng(0).normal(size=(100, 2))
    space = KernelSpace(X, kernel)
    prepared = Svdd().prepare(space, Task(100, None), np.random.default_rng(0))
    assert prepared.minimise().converged
    assert "K" not in space._memo


def test_start_is_feasible_for_any_bounds():
    from clusterkit.solvers.one_class._smo_any_kernel_jit import filled_in_order

    bounds = np.array([0.5, 0.3, 0.4, 0.2])
    assert filled_in_order(np.array([2, 0, 1, 3]), bounds) == pytest.approx([0.5, 0.1, 0.4, 0.0])
    assert filled_in_order(np.arange(3), np.full(3, 1 / 3)) == pytest.approx([1 / 3] * 3)


class TestDegenerate:
    def test_one_sample(self):
        _, outcome = solve(np.array([[1.0, 2.0]]), 1.0)
        assert outcome.status.facts["radius2"] == 0.0
        assert outcome.status.facts["n_bsv"] == 0
        assert outcome.level == pytest.approx(1.0)
        assert outcome.value(np.array([[1.0, 2.0]]))[0] >= outcome.level

    @pytest.mark.parametrize("n", [2, 7, 49])
    def test_only_one_feasible_point_makes_all_outliers(self, n):
        X = np.random.default_rng(n).normal(size=(n, 2))
        solution, outcome = solve(X, 1.0, C=1.0 / n)
        assert solution.beta == pytest.approx(np.full(n, 1.0 / n))
        assert outcome.status.facts["degenerate"]
        assert outcome.status.facts["n_bsv"] == n
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
        assert solution.n_iter == 0
        assert np.all(outcome.value(X) >= outcome.level)


class TestFeatures:
    def sphere(self, featuremap, X, **parameters):
        c = Composition(featuremap, Svdd(**parameters), CompleteGraph())
        return fit(c, X, Seeds(0))

    def test_smallest_ball_of_known_points(self):
        X = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 1.0], [2.0, -1.5]]) + 100.0
        outcome = self.sphere(Identity(), X).outcome
        assert isinstance(outcome, FunctionDomain)
        assert outcome.status.facts["radius2"] == pytest.approx(4.0, abs=1e-5)
        assert outcome.function.centre == pytest.approx([102.0, 100.0], abs=1e-4)

    @given(st.integers(2, 20), st.integers(1, 4), st.sampled_from([0.2, 0.5, 1.0]), st.integers(0, 1000))
    def test_linear_kernel_and_features_agree(self, n, d, nu, seed):
        X = np.random.default_rng(seed).normal(size=(n, d))
        task, rng = Task(n, None), np.random.default_rng(0)
        solver = Svdd(nu=nu, tol=1e-9)
        kernel = solver.prepare(KernelSpace(X, Linear()), task, rng).solve(None, None, rng)
        features = solver.prepare(build_space(X, Keep(d)), task, rng).solve(None, None, rng)
        assert isinstance(kernel, FunctionDomain)
        assert kernel.status.facts["n_sv"] > 0
        assert kernel.value(X) - kernel.level == pytest.approx(features.value(X) - features.level, abs=1e-3)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_dense_and_streamed_are_equal_to_the_bit(self, dtype):
        X = np.random.default_rng(0).normal(size=(300, 3)).astype(dtype)
        dense, streamed = (self.sphere(Elm(n_hidden=40, storage=s), X, nu=0.1) for s in ("dense", "streamed"))
        assert dense.outcome.level == streamed.outcome.level
        assert np.array_equal(dense.outcome.function.centre, streamed.outcome.function.centre)
        assert np.array_equal(dense.labels, streamed.labels)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("scale", [1e-5, 1.0, 1e6])
    def test_far_from_the_origin_no_sample_is_outside_without_slack(self, dtype, scale):
        X = ((np.random.default_rng(1).normal(size=(50, 3)) + 30) * scale).astype(dtype)
        outcome = self.sphere(Identity(), X).outcome
        assert np.all(outcome.value(X) >= outcome.level)
        assert outcome.status.converged

    def test_equal_rows(self):
        X = np.full((7, 3), 0.1)
        with pytest.warns(ClusterkitWarning, match="all 7 samples are equal"):
            run = self.sphere(Identity(), X)
        assert run.labels.tolist() == [0] * 7


class TestParameters:
    X = np.random.default_rng(5).normal(size=(40, 2))

    def test_too_small_C_names_the_least_legal_one(self):
        with pytest.raises(InvalidParameter, match=r"solver 'svdd': C must be >= 1/n = 0\.025 .*40.*got 0\.01"):
            prepare(self.X, 1.0, C=0.01)

    def test_too_small_C_with_weights(self):
        with pytest.raises(InvalidParameter, match=r"C must be >= 1/sum\(weights\) = 0\.0125 .*got 0\.01"):
            prepare(self.X, 1.0, C=0.01, weights=[2.0] * 40)

    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"C": 0.0}, r"svdd': C must be > 0 or None, got 0\.0"),
            ({"C": np.inf}, r"svdd': C must be a finite number > 0"),
            ({"nu": 0.0}, r"svdd': nu must be > 0 and <= 1 or None"),
            ({"nu": 1.5}, r"svdd': nu must be > 0 and <= 1 or None"),
            ({"tol": 0.0}, r"svdd': tol must be > 0"),
            ({"max_iter": 0}, r"svdd': max_iter must be an integer >= 1 or None"),
            ({"weights": [1.0, 0.0]}, r"svdd': weights must be one finite factor > 0"),
            ({"weights": 3.0}, r"svdd': weights must be one finite factor > 0"),
            ({"cache_mb": 0}, r"svdd': cache_mb must be an integer >= 1"),
            ({"precision": "half"}, r"svdd': precision must be one of 'float64', 'float32'"),
        ],
    )
    def test_messages(self, parameters, words):
        with pytest.raises(InvalidParameter, match=words):
            Svdd(**parameters)

    def test_wrong_number_of_weights(self):
        with pytest.raises(InvalidParameter, match="one value for each of the 40 samples, got 3"):
            prepare(self.X, 1.0, weights=[1, 1, 1])

    def test_nu_wins_over_C_and_is_reported(self):
        prepared = prepare(self.X, 1.0, nu=0.1, C=0.5)
        assert prepared.resolved == {"C": pytest.approx(0.25)}
        assert prepare(self.X, 1.0).resolved == {"C": 1.0}
        assert prepare(self.X, 1.0, C=0.5).resolved == {}
        assert np.all(prepare(self.X, 1.0, nu=1.0).bounds == pytest.approx(1 / 40))

    def test_weights_bound_each_sample(self):
        weights = np.linspace(0.5, 2.0, 40)
        solution, _ = solve(self.X, 1.0, C=0.06, weights=weights)
        assert np.all(solution.beta <= 0.06 * weights)
        K, bounds = gram(self.X, 1.0), 0.06 * weights
        assert gap(K, solution.beta, bounds) <= TOL + 1e-10
        assert hash(Svdd(weights=weights)) == hash(Svdd(weights=list(weights)))
        assert Svdd(weights=weights) == Svdd(weights=tuple(weights))

    def test_float32_points_are_summed_in_float64(self):
        _, double = solve(self.X.astype(np.float32).astype(float), 2.0)
        _, single = solve(self.X.astype(np.float32), 2.0)
        assert single.centres.dtype == float
        assert single.level == double.level


class TestEnding:
    X = np.random.default_rng(5).normal(size=(60, 2))

    def test_max_iter_warns_with_the_gap_and_keeps_a_feasible_point(self):
        prepared = prepare(self.X, 20.0, max_iter=3)
        with pytest.warns(ClusterkitWarning, match=r"svdd.*max_iter = 3 reached, gap 0\.\d+ above"):
            outcome = prepared.solve(None, None, np.random.default_rng(0))
        assert not outcome.status.converged
        assert outcome.status.n_iter == 3
        assert outcome.weights.sum() == pytest.approx(1.0)

    def test_interrupt_keeps_a_feasible_point(self):
        def stop(report):
            if report.stage == "smo":
                raise KeyboardInterrupt

        prepared = prepare(self.X, 20.0, max_iter=5)
        with listening(stop):
            outcome = prepared.solve(None, None, np.random.default_rng(0))
        assert not outcome.status.converged
        assert outcome.status.reason.startswith("interrupted, gap")
        assert outcome.weights.sum() == pytest.approx(1.0)
        assert outcome.level > 0

    def test_a_tolerance_below_rounding_ends(self):
        prepared = prepare(self.X, 1.0, tol=1e-300, max_iter=20_000)
        with pytest.warns(ClusterkitWarning, match="above tolerance"):
            outcome = prepared.solve(None, None, np.random.default_rng(0))
        assert outcome.status.facts["gap"] < 1e-10

    def test_objective_is_the_squared_length_of_the_centre(self):
        prepared = prepare(self.X, 2.0)
        outcome = prepared.solve(None, None, np.random.default_rng(0))
        beta = prepared.minimise().beta
        assert prepared.objective(None, outcome) == pytest.approx([beta @ gram(self.X, 2.0) @ beta])


def test_a_fit_reports_and_pickles():
    X = np.random.default_rng(0).normal(size=(50, 2))
    run = fit(Composition(Rbf(gamma=1.0), Svdd(nu=0.2), CompleteGraph()), X, Seeds(0))
    assert isinstance(run.outcome, KernelDomain)
    assert run.resolved["solver"] == {"C": pytest.approx(1 / (50 * 0.2))}
    assert set(run.outcome.status.facts) == {"C", "gap", "radius2", "n_sv", "n_bsv", "degenerate", "rounds"}
    assert run.objective == run.history[0]
    again = pickle.loads(pickle.dumps(run.outcome))
    assert np.array_equal(again.value(X), run.outcome.value(X))


def test_listing_the_stages_costs_no_compiler():
    code = (
        "import sys, clusterkit.solvers.one_class.svdd as s, clusterkit.labelers.graphs.complete_graph as c;"
        "s.Svdd(); c.CompleteGraph(); sys.exit(', '.join({'numba', 'scipy', 'sklearn'} & set(sys.modules)) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
