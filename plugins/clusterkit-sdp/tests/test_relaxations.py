"""Laws of the relaxations: below every labelling, the same for both conic solvers, right on easy data."""

from __future__ import annotations

import os
import signal
import threading
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("cvxpy", reason="the solvers of clusterkit-sdp need cvxpy")

from clusterkit_sdp import _cvx
from clusterkit_sdp._generalised import certified_bound as generalised_bound
from clusterkit_sdp._generalised import margin_matrix
from clusterkit_sdp._margin import certified_bound as margin_bound
from clusterkit_sdp._margin import inverse_margin
from clusterkit_sdp._moments import complement, leading, oriented
from clusterkit_sdp.gmmc_sdp import GmmcSdp
from clusterkit_sdp.mmc_sdp import MmcSdp, most_imbalance

from clusterkit import ClusterkitWarning, Pipeline
from clusterkit.contracts import Task
from clusterkit.errors import InvalidData, InvalidParameter, NeedsMemory, SolverFailed
from clusterkit.families.shared.rbf import Rbf
from clusterkit.metrics import clustering_accuracy
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian, Linear, MatrixKernel
from clusterkit.testing.pytest_plugin import share_of_examples

RNG = np.random.default_rng(0)
"""Passed where a generator is required; nothing is random."""
few = share_of_examples(0.2)


def gaussian(X, fraction=0.3):
    """A kernel space whose width is a fraction of the largest distance."""
    squares = ((X[:, None] - X[None]) ** 2).sum(-1)
    return KernelSpace(X, Gaussian(1.0 / (2.0 * fraction**2 * squares.max())))


def facts_of(solver, space, limit=None):
    n = space.n
    bounds = None if limit is None else ((np.full(2, (n - limit) / 2)), np.full(2, (n + limit) / 2))
    return solver.prepare(space, Task(n, 2, bounds), RNG).solve(None, None, RNG).status.facts


def labellings(n, limit):
    """Every y of ±1 with |Σ y| <= limit."""
    signs = np.array(list(product([-1.0, 1.0], repeat=n)))
    return signs[np.abs(signs.sum(axis=1)) <= limit]


def by_active_sets(K, y, C):
    """omega(yy') by trying which λ_i lie at 0, at C or between; for a handful of samples."""
    n, best = len(K), -np.inf
    A = K * np.outer(y, y)
    for places in product((0, 1, 2), repeat=n):
        place = np.array(places)
        free, lam = place == 1, np.where(place == 2, C, 0.0)
        if free.any():
            right = 1.0 - A[np.ix_(free, ~free)] @ lam[~free]
            lam[free] = np.linalg.lstsq(A[np.ix_(free, free)], right, rcond=None)[0]
        if (lam >= -1e-12).all() and (lam <= C + 1e-12).all():
            best = max(best, 2 * lam.sum() - lam @ A @ lam)
    return best


def blobs(n, seed=0):
    y = np.arange(n) % 2
    X = np.random.default_rng(seed).normal(0.0, 0.7, (n, 2))
    X[:, 0] += np.where(y, 2.0, -2.0)
    return X, y


@pytest.mark.parametrize("C", [0.3, 5.0])
def test_the_objective_of_a_labelling_equals_the_one_by_active_sets(C):
    X, _ = blobs(5)
    K = gaussian(X).gram()
    for y in ([1, -1, 1, -1, 1], [1, 1, 1, -1, -1]):
        assert inverse_margin(K, np.array(y, float), C) == pytest.approx(
            by_active_sets(K, np.array(y, float), C), rel=1e-6
        )


@few
@given(seed=st.integers(0, 1000), n=st.integers(3, 7), C=st.sampled_from([0.2, 1.0, 10.0]), limit=st.integers(1, 4))
def test_mmc_is_below_every_balanced_labelling(seed, n, C, limit):
    space = gaussian(np.random.default_rng(seed).normal(size=(n, 2)))
    facts = facts_of(MmcSdp(C=C, tol=1e-6), space, limit)
    best = min(inverse_margin(space.gram(), y, C) for y in labellings(n, limit))
    assert facts["bound"] <= best + 1e-7 * best
    assert facts["value"] <= best + 1e-4 * best
    assert abs(facts["gap"]) <= 1e-4 * best


@few
@given(seed=st.integers(0, 1000), n=st.integers(3, 8), bias_penalty=st.sampled_from([0.1, 1.0, np.inf]))
def test_gmmc_is_below_every_labelling(seed, n, bias_penalty):
    space = gaussian(np.random.default_rng(seed).normal(size=(n, 2)))
    facts = facts_of(GmmcSdp(bias_penalty=bias_penalty, tol=1e-7), space)
    S = margin_matrix(space.gram(), 0.1, bias_penalty)
    values = [y @ S @ y for y in labellings(n, 0 if np.isinf(bias_penalty) else n)]
    assert facts["bound"] <= min([*values, np.inf]) * (1 + 1e-9)
    assert facts["bound"] <= facts["value"] * (1 + 1e-9)
    assert facts["gap"] <= 1e-4 * facts["value"]


@few
@given(seed=st.integers(0, 1000))
def test_any_dual_point_bounds_every_labelling(seed):
    """The certificates hold for any dual point."""
    rng = np.random.default_rng(seed)
    n, C = 4, 2.0
    K = gaussian(rng.normal(size=(n, 2))).gram()
    lam, y, tilt = rng.uniform(0, C, n), rng.normal(size=n), rng.normal(size=n)
    S = margin_matrix(K, 0.1, 1.0)
    lower = generalised_bound(S, np.eye(n), rng.uniform(0, 1, n))
    assert lower <= min(f @ S @ f for f in labellings(n, n) * rng.uniform(1, 3, n))
    for limit in (0, 2, n):
        bound = margin_bound(K, C, limit, lam, y, None if limit == n else tilt)
        assert bound <= min(inverse_margin(K, signs, C) for signs in labellings(n, limit)) + 1e-9


@pytest.mark.parametrize("space", [gaussian(blobs(14)[0], 0.1), gaussian(blobs(14)[0], 0.4)], ids=["narrow", "wide"])
class TestTwoConicSolversAgree:
    @pytest.mark.parametrize("limit", [0, 2, 14])
    def test_mmc(self, space, limit):
        interior, one, other = (
            facts_of(MmcSdp(solver=name, tol=1e-6), space, limit) for name in ("IPM", "SCS", "CLARABEL")
        )
        assert one["value"] == pytest.approx(other["value"], rel=1e-3)
        assert interior["value"] == pytest.approx(other["value"], rel=1e-4)
        assert 0 <= interior["gap"] <= 2e-6 * interior["value"]
        assert interior["residual"] <= 1e-9
        if limit < 14:  # else the optimum is not unique
            assert one["tightness"] == pytest.approx(other["tightness"], abs=1e-2)
            assert interior["tightness"] == pytest.approx(other["tightness"], abs=1e-2)
        assert (one["solver"], other["solver"]) == ("SCS", "CLARABEL")

    @pytest.mark.parametrize("parameters", [{}, {"bias_penalty": np.inf}, {"slack_penalty": 0.5}], ids=str)
    def test_gmmc(self, space, parameters):
        one, other = (facts_of(GmmcSdp(solver=name, **parameters), space) for name in ("SCS", "CLARABEL"))
        assert one["value"] == pytest.approx(other["value"], rel=1e-3)
        assert one["tightness"] == pytest.approx(other["tightness"], abs=1e-2)


class TestKnownAnswers:
    @pytest.mark.parametrize("solver", [MmcSdp(), GmmcSdp()], ids=lambda solver: solver.name)
    def test_blobs(self, solver):
        X, y = blobs(40)
        model = Pipeline(Rbf(sigma_fraction=0.2), solver, "threshold", n_clusters=2).fit(X)
        assert clustering_accuracy(y, model.labels_) == 1.0
        assert model.converged_
        assert model.objective_ == model.outcome_.status.facts["value"]

    @pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.deep) for seed in (1, 2))])
    def test_moons_need_a_narrow_kernel(self, seed):
        from sklearn.datasets import make_moons

        X, y = make_moons(40, noise=0.05, random_state=seed)
        model = Pipeline(Rbf(sigma_fraction=0.05), MmcSdp(), "threshold", n_clusters=2).fit(X)
        assert clustering_accuracy(y, model.labels_) == 1.0
        facts = model.outcome_.status.facts
        assert facts["bound"] <= facts["rounded"]

    def test_soft_margins_at_a_price_below_every_penalty(self):
        """Where slack_penalty is at most the smallest eigenvalue of S, W = 0 and Σ g = n slack_penalty."""
        space = gaussian(blobs(10)[0])
        price = 0.5 * np.linalg.eigvalsh(margin_matrix(space.gram(), 0.1, 1.0))[0]
        assert facts_of(GmmcSdp(slack_penalty=price), space)["bound"] == pytest.approx(10 * price, rel=1e-4)

    def test_gmmc_agrees_with_the_interior_point_method_of_the_core(self):
        core = pytest.importorskip("clusterkit.families.margins.gmmc")
        space = gaussian(blobs(16)[0])
        facts, other = facts_of(GmmcSdp(), space), facts_of(core.Gmmc(), space)
        assert facts["value"] == pytest.approx(other["value"], rel=1e-3)
        assert facts["bound"] <= other["value"] * (1 + 1e-9)


class TestMonotoneAndSymmetric:
    def test_more_imbalance_allows_a_lower_optimum(self):
        space = gaussian(blobs(12)[0])
        values = [facts_of(MmcSdp(tol=1e-6), space, limit)["value"] for limit in (0, 1, 3, 6, 12)]
        assert (np.diff(values) <= 1e-4).all()
        assert values[-1] < values[0] - 0.1

    def test_a_higher_price_gives_a_higher_optimum(self):
        space = gaussian(blobs(12)[0])
        values = [facts_of(MmcSdp(C=C, tol=1e-6), space, 2)["value"] for C in (0.05, 0.2, 1.0, 50.0)]
        assert (np.diff(values) >= -1e-4).all()
        assert values[-1] > values[0] + 0.1

    @pytest.mark.parametrize("solver", [MmcSdp(tol=1e-6), GmmcSdp(tol=1e-7)], ids=lambda solver: solver.name)
    def test_the_order_of_the_samples_does_not_matter(self, solver):
        X, _ = blobs(15, seed=3)
        order = np.random.default_rng(1).permutation(15)
        one, other = (
            solver.prepare(gaussian(rows), Task(15, 2, (np.full(2, 7), np.full(2, 8))), RNG).solve(None, None, RNG)
            for rows in (X, X[order])
        )
        a, b = one.rows[order, 0], other.rows[:, 0]
        assert min(np.abs(a - b).max(), np.abs(a + b).max()) < 1e-2
        assert one.status.facts["value"] == pytest.approx(other.status.facts["value"], rel=1e-4)

    def test_a_kernel_without_unit_diagonal_is_centred(self):
        X, y = blobs(12)
        one, other = (
            MmcSdp().prepare(KernelSpace(X + shift, Linear()), Task(12, 2, (np.full(2, 6),) * 2), RNG)
            for shift in (0.0, 5.0)
        )
        assert one.resolved["centred"]
        np.testing.assert_allclose(one.K, other.K, atol=1e-9)
        assert clustering_accuracy(y, one.solve(None, None, RNG).rows[:, 0] > 0) == 1.0

    def test_a_kernel_that_is_not_semidefinite_is_for_conic_solvers(self):
        K = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
        assert facts_of(MmcSdp(), KernelSpace(K, MatrixKernel(K)), 1)["solver"] == "SCS"
        with pytest.raises(InvalidData, match=r"solver='IPM' needs a positive semidefinite kernel.*Use 'SCS'"):
            facts_of(MmcSdp(solver="IPM"), KernelSpace(K, MatrixKernel(K)), 1)

    @pytest.mark.parametrize(("low", "high", "limit"), [((0, 0), (9, 9), 9), ((4, 4), (5, 5), 1), ((2, 0), (7, 6), 5)])
    def test_bounds_become_a_limit(self, low, high, limit):
        assert most_imbalance(Task(9, 2, (np.array(low), np.array(high)))) == limit

    @pytest.mark.filterwarnings("ignore:all .* samples are in one cluster")  # without a balancer
    def test_the_balance_comes_from_the_balancer(self):
        X, _ = blobs(10)
        for balancer, limit in [("auto", 0.0), (None, 10.0)]:
            model = Pipeline(Rbf(), MmcSdp(), "threshold", balancer, n_clusters=2).fit(X)
            assert model.resolved_["solver"]["balance_slack"] == limit


def test_the_leading_vector_of_rank_one_is_the_vector():
    w = np.array([1.0, -3.0, 2.0, -3.0])
    vector, tightness = leading(np.outer(w, w))
    np.testing.assert_allclose(vector, -w, atol=1e-12)
    assert tightness == pytest.approx(1.0)
    # the first of equal moduli decides, whatever the rounding
    assert oriented(np.array([-1.0, 1.0 + 1e-9]))[0] > 0


def test_the_complement_is_an_orthonormal_basis():
    Q = complement(7)
    np.testing.assert_allclose(Q.T @ Q, np.eye(6), atol=1e-14)
    np.testing.assert_allclose(Q.sum(axis=0), 0.0, atol=1e-14)


class TestEnds:
    @pytest.mark.parametrize("solver", [MmcSdp(max_size=9), GmmcSdp(max_size=9)], ids=lambda solver: solver.name)
    def test_too_many_samples_are_refused_with_the_price(self, solver):
        X, _ = blobs(10)
        with pytest.raises(InvalidData, match=r"takes at most max_size = 9 samples, got 10.* s and .*[Rr]ecipe 'gmmc'"):
            Pipeline("rbf", solver, "threshold", n_clusters=2).fit(X)
        model = Pipeline("rbf", solver.with_parameters(max_size=10), "threshold", n_clusters=2).fit(X)
        assert len(model.labels_) == 10

    @pytest.mark.parametrize("solver", [MmcSdp(solver="CLARABEL"), GmmcSdp(solver="CLARABEL")], ids=lambda s: s.name)
    def test_clarabel_is_refused_above_the_memory_cap(self, solver, monkeypatch):
        monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "100M")
        with pytest.raises(NeedsMemory, match=rf"solver '{solver.name}' by CLARABEL on 80 samples.*Use solver='SCS'"):
            solver.prepare(gaussian(blobs(80)[0]), Task(80, 2), RNG)

    @pytest.mark.parametrize(
        "solver",
        [
            MmcSdp(max_iter=4),
            MmcSdp(solver="SCS", max_iter=25),
            GmmcSdp(solver="SCS", max_iter=25),
            GmmcSdp(solver="CLARABEL", max_iter=4),
        ],
        ids=["mmc_sdp", "mmc_sdp-scs", "gmmc_sdp", "gmmc_sdp-clarabel"],
    )
    def test_an_inaccurate_end_warns_with_numbers(self, solver):
        X, _ = blobs(20)
        status = rf"ended with status '\w+' after {solver.max_iter} iterations.*bound"
        with pytest.warns(ClusterkitWarning, match=rf"solver '{solver.name}': (IPM|SCS|CLARABEL) {status}"):
            model = Pipeline(Rbf(sigma_fraction=0.2), solver, "threshold", n_clusters=2).fit(X)
        assert not model.converged_
        facts = model.outcome_.status.facts
        assert facts["bound"] <= facts["rounded"]

    def test_a_failure_names_what_was_tried(self, monkeypatch):
        monkeypatch.setattr(_cvx, "_run", lambda problem, stage, name, *_: ("solver_error", 7))
        with pytest.raises(SolverFailed, match="'gmmc_sdp' found no solution: CLARABEL ended with status 'solver_e"):
            facts_of(GmmcSdp(), gaussian(blobs(6)[0]))

    def test_the_other_solver_steps_in(self, monkeypatch):
        run = _cvx._run
        broken = lambda problem, stage, name, *rest: (  # noqa: E731
            ("solver_error", 7) if name == "CLARABEL" else run(problem, stage, name, *rest)
        )
        monkeypatch.setattr(_cvx, "_run", broken)
        facts = facts_of(GmmcSdp(), gaussian(blobs(6)[0]))
        assert facts["solver"] == "SCS"
        assert facts["failures"] == "CLARABEL ended with status 'solver_error' after 7 iterations"

    @pytest.mark.parametrize(
        "solver", [MmcSdp(solver="SCS", tol=1e-12), GmmcSdp(solver="CLARABEL", tol=1e-14)], ids=["SCS", "CLARABEL"]
    )
    def test_ctrl_c_ends_a_solve(self, solver):
        """Both would take many seconds."""
        space = gaussian(blobs(70)[0], 0.05)
        prepared = solver.prepare(space, Task(70, 2, (np.full(2, 35),) * 2), RNG)

        def press():
            time.sleep(1.5)
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=press)
        before = signal.getsignal(signal.SIGINT)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            prepared.solve(None, None, RNG)
        thread.join()
        assert signal.getsignal(signal.SIGINT) is before


def test_a_panic_of_clarabel_is_a_failure_of_this_solver(monkeypatch):
    """An eigenvalue that does not converge ends in a panic, which is no Exception."""

    class PanicException(BaseException):
        pass

    def panics(*arguments):
        raise PanicException("Eigval error: Eigen(1)")

    monkeypatch.setattr(_cvx, "_clarabel", panics)
    X = np.random.default_rng(0).normal(size=(8, 2))
    with pytest.raises(SolverFailed, match="CLARABEL ended with status 'solver_error'"):
        Pipeline(featuremap="rbf", solver=GmmcSdp(solver="CLARABEL"), n_clusters=2, random_state=0).fit(X)


def test_a_penalty_beyond_all_digits_is_refused():
    space = KernelSpace(np.random.default_rng(0).normal(size=(6, 2)), Linear())
    with pytest.raises(InvalidParameter, match=r"bias_penalty=9.2e\+18 would leave no digits.*or inf"):
        GmmcSdp(bias_penalty=9.2e18).prepare(space, Task(6, 2), np.random.default_rng(0))


@pytest.mark.parametrize("penalty", ["much", 1e-320, 10**400, None, True])
def test_a_penalty_that_is_no_number_is_refused(penalty):
    with pytest.raises(InvalidParameter, match="'gmmc_sdp': bias_penalty must be a number > 0"):
        GmmcSdp(bias_penalty=penalty)


def test_a_penalty_without_effect_has_a_bound_of_zero():
    S = margin_matrix(np.eye(4), 0.1, 1e-150) - 1e-9 * np.eye(4)  # as rounding leaves it: the constant vector is free
    assert generalised_bound(S, np.eye(4), np.full(4, 0.1)) == 0.0


def test_a_diagonal_below_rounding_is_refused():
    with pytest.raises(InvalidParameter, match=r"'gmmc_sdp': delta=1e-150 is below the rounding"):
        margin_matrix(np.ones((4, 4)), 1e-150, 1.0)
