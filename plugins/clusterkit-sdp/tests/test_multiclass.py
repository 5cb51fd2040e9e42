"""Laws of the multi-class relaxation: the published program's optimum, below every labelling, right on easy data."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("cvxpy", reason="the solvers of clusterkit-sdp need cvxpy")

from clusterkit_sdp import _cvx
from clusterkit_sdp._multiclass import MulticlassProgram, certified_bound, factor, labelling_objective
from clusterkit_sdp.mmc_multi_sdp import MmcMultiSdp
from clusterkit_sdp.mmc_sdp import MmcSdp

from clusterkit import ClusterkitWarning, Pipeline, recipe
from clusterkit.contracts import Task
from clusterkit.errors import InvalidData
from clusterkit.families.shared.rbf import Rbf
from clusterkit.metrics import clustering_accuracy
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit.testing.pytest_plugin import share_of_examples
from clusterkit_campaign.oracles import max_margin as oracle

RNG = np.random.default_rng(0)
"""Passed where a generator is required."""
few = share_of_examples(0.2)


def kernel_matrix(n, seed=0, fraction=0.3):
    """Gaussian kernel of random rows; its width is a fraction of the largest distance."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    squares = ((X[:, None] - X[None]) ** 2).sum(-1)
    return np.exp(-squares / (2.0 * fraction**2 * squares.max()))


def solved(K, C, low, high, solver="CLARABEL", tol=1e-8):
    program = MulticlassProgram.of(factor(K), C, low, high)
    _cvx.solve(program.problem, "mmc_multi_sdp", (solver,), tol, None)
    return program.solution()


def corners(n, k, seed=0):
    """Blobs on a circle."""
    y = np.arange(n) % k
    angle = 2.0 * np.pi * y / k
    return 3.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1) + np.random.default_rng(seed).normal(
        0.0, 0.4, (n, 2)
    ), y


@few
@given(
    seed=st.integers(0, 1000), C=st.sampled_from([0.3, 1.0, 10.0]), n_and_sizes=st.sampled_from([(6, 2, 2), (5, 1, 3)])
)
def test_the_optimum_is_below_every_labelling(seed, C, n_and_sizes):
    n, *sizes = n_and_sizes
    K = kernel_matrix(n, seed)
    solution = solved(K, C, *sizes)
    objectives = [oracle.multi_class_machine(K, labels, C) for labels in oracle.sized_labellings(n, 3, *sizes)]
    assert solution.lower <= solution.value + 1e-6 * C
    assert solution.value <= min(objectives) + 1e-5 * C
    assert solution.value - solution.lower <= 1e-4 * C


@pytest.mark.deep
def test_the_optimum_is_below_every_labelling_of_eight_samples():
    K = kernel_matrix(8, 7)
    objectives = [oracle.multi_class_machine(K, labels, 1.0) for labels in oracle.sized_labellings(8, 3, 2, 3)]
    assert len(objectives) == 280
    assert solved(K, 1.0, 2, 3).value <= min(objectives) + 1e-5


@pytest.mark.parametrize("C", [0.5, 3.0])
def test_the_optimum_is_that_of_the_published_matrix_inequality(C):
    K = kernel_matrix(4, 3)
    assert solved(K, C, 1, 3).value == pytest.approx(oracle.multi_class_relaxation(K, C, 1, 3), rel=1e-4)


@few
@given(seed=st.integers(0, 1000), C=st.sampled_from([0.3, 1.0, 10.0]))
def test_the_objective_is_that_of_the_published_dual(seed, C):
    """Of a labelling three ways, and of the relaxed M."""
    K = kernel_matrix(6, seed)
    labels = np.random.default_rng(seed).permutation([0, 0, 0, 1, 1, 2])
    one = oracle.multi_class_machine(K, labels, C)
    assert labelling_objective(factor(K), labels, C) == pytest.approx(one, rel=1e-5)
    assert oracle.multi_class_margin(K, 1.0 * (labels[:, None] == labels), C) == pytest.approx(one, rel=1e-5)
    solution = solved(K, C, 1, 3)
    assert oracle.multi_class_margin(K, solution.M, C) == pytest.approx(solution.value, rel=1e-4)


@few
@given(seed=st.integers(0, 1000), sizes=st.sampled_from([(2, 2), (1, 3), (0, 4)]))
def test_any_multipliers_bound_every_labelling(seed, sizes):
    rng = np.random.default_rng(seed)
    K, C = kernel_matrix(4, seed), 2.0
    multipliers = (rng.normal(size=(4, 4)), rng.normal(size=(4, 4)), rng.normal(size=4), rng.normal(size=4))
    bound = certified_bound(factor(K), C, sizes, *multipliers)
    for labels in oracle.sized_labellings(4, 2, *sizes):
        assert bound <= oracle.multi_class_machine(K, labels, C) + 1e-6


def test_two_clusters_are_the_two_class_program_at_half_the_scale():
    """With W = (w, -w)/2 the machine is ``|w|²/4 + C Σ ξ``: half of ``|w'|²/2 + 2C Σ ξ`` of a kernel that is doubled.

    The relaxations differ, so the objectives of a labelling are compared.
    """
    from clusterkit_sdp._margin import inverse_margin

    K, labels = kernel_matrix(8, 5), np.arange(8) % 2
    two = inverse_margin(2.0 * K, 2.0 * labels - 1.0, 0.7)
    assert labelling_objective(factor(K), labels, 0.7) == pytest.approx(0.5 * two, rel=1e-4)


def test_both_conic_solvers_agree():
    K = kernel_matrix(12)
    one, other = (solved(K, 2.0, 3, 5, solver, 1e-6) for solver in ("SCS", "CLARABEL"))
    assert one.value == pytest.approx(other.value, rel=1e-3)
    assert one.lower == pytest.approx(other.lower, rel=1e-2)


@pytest.mark.parametrize("k", [3, 4])
def test_blobs_are_found_with_a_bound(k):
    X, y = corners(24, k)
    model = recipe("mmc-multi", n_clusters=k, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) == 1.0
    facts = model.outcome_.status.facts
    assert facts["bound"] <= facts["rounded"]
    K = Gaussian(model.resolved_["featuremap"]["gamma"])
    one = oracle.multi_class_machine(KernelSpace(X, K).gram(), model.labels_, 1.0)
    assert facts["rounded"] == pytest.approx(one, rel=1e-4)
    assert model.converged_


def test_the_sizes_come_from_the_balancer():
    X, _ = corners(12, 3)
    for balancer, sizes in [("auto", (4.0, 4.0)), ({"name": "band", "slack": 3}, (2.0, 6.0))]:
        model = Pipeline(Rbf(), MmcMultiSdp(), "argmax", balancer, n_clusters=3, random_state=0).fit(X)
        assert model.resolved_["solver"]["sizes"] == sizes


def test_a_kernel_without_unit_diagonal_is_centred():
    X, y = corners(12, 3)
    prepared = [
        solver.prepare(KernelSpace(rows, Linear()), Task(12, k, (np.full(k, 12 // k),) * 2), RNG)
        for solver, k in ((MmcMultiSdp(), 3), (MmcSdp(), 2))
        for rows in (X, X + 5.0)
    ]
    assert all(each.resolved["centred"] for each in prepared)
    np.testing.assert_allclose(prepared[0].L @ prepared[0].L.T, prepared[1].L @ prepared[1].L.T, atol=1e-8)
    np.testing.assert_allclose(prepared[0].L @ prepared[0].L.T, prepared[2].K, atol=1e-8)
    assert clustering_accuracy(y, prepared[0].solve(None, None, RNG).rows.argmax(axis=1)) == 1.0


def test_equal_samples_are_solved():
    """W = 0, and the slack of a sample is 1 less its smallest entry of M: all others are 1/5, as rows sum to 2."""
    space = KernelSpace(np.ones((6, 2)), Linear())
    outcome = MmcMultiSdp().prepare(space, Task(6, 3, (np.full(3, 2),) * 2), RNG).solve(None, None, RNG)
    assert outcome.status.facts["bound"] == pytest.approx(6 * 0.8, rel=1e-3)


def test_too_many_samples_are_refused_with_the_price():
    X, _ = corners(12, 3)
    with pytest.raises(InvalidData, match=r"takes at most max_size = 9 samples, got 12.* s and .*Recipe 'cpm3c'"):
        Pipeline("rbf", MmcMultiSdp(max_size=9), "argmax", n_clusters=3).fit(X)


def test_an_inaccurate_end_warns_and_keeps_the_bound():
    space = KernelSpace(corners(18, 3)[0], Gaussian(0.1))
    prepared = MmcMultiSdp(max_iter=25).prepare(space, Task(18, 3, (np.full(3, 6),) * 2), RNG)
    with pytest.warns(ClusterkitWarning, match=r"'mmc_multi_sdp': SCS ended with status .* after 25 iterations.*bound"):
        facts = prepared.solve(None, None, RNG).status.facts
    assert facts["bound"] <= facts["rounded"]


def test_the_user_hears_nothing_of_the_steps_of_the_machine_that_judges_labels():
    X = np.array([[15.8], [1000000.0], [0.17], [16.3]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recipe("mmc-multi", n_clusters=3, solver__max_iter=5000, random_state=313).fit(X)
