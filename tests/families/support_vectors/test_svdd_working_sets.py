"""The Gaussian path of svdd: LIBSVM's optimum for every width, working sets, equal samples, threads, precision."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.contracts import Task
from clusterkit.errors import ClusterkitWarning
from clusterkit.families.support_vectors._working_sets import SetSizes, minimise_gaussian
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import EXPLICIT_SUMS, Gaussian
from clusterkit.samples.limits import listening
from clusterkit_campaign.oracles.one_class import dual_value, gap, gram, libsvm, quadratic_program

SMALL = SetSizes(max_direct=12, min_candidates=8, candidate_divisor=16, max_free=64, sample_divisor=3)
POOL = 2**20


def minimum(X, gamma, C, tol=1e-8, **options):
    bounds = np.full(len(X), min(C, 1.0))
    return minimise_gaussian(X, Gaussian(gamma), bounds, tol, 10**7, POOL, **options)


def solve(X, gamma, **parameters):
    rng = np.random.default_rng(0)
    prepared = Svdd(**parameters).prepare(KernelSpace(X, Gaussian(gamma)), Task(len(X), None), rng)
    return prepared.minimise(), prepared.solve(None, None, rng)


@st.composite
def samples(draw, max_n=200):
    """Rows that may be on a line, on a grid, or repeated."""
    n, d = draw(st.integers(1, max_n)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["normal", "line", "grid", "repeated", "clusters"]))
    X = rng.normal(size=(n, d))
    if kind == "line":
        X = np.linspace(0.0, 1.0, n)[:, None] * rng.normal(size=d)
    elif kind == "grid":
        X = np.round(X)
    elif kind == "repeated":
        X = X[rng.integers(max(1, n // 3), size=n)]
    elif kind == "clusters":
        X += 8.0 * rng.integers(3, size=(n, 1))
    return X


GAMMAS = st.floats(-6.0, 6.0).map(lambda e: 10.0**e)


@given(samples(), GAMMAS, st.floats(0.0, 1.0, exclude_min=True, exclude_max=True))
def test_the_objective_is_that_of_libsvm(X, gamma, t):
    n = len(X)
    C = (1.0 + t * (n - 1)) / n
    K = gram(X, gamma)
    # the gap bounds what is missing to the minimum: a tolerance relative to it
    rough, _ = solve(X, gamma, C=C, tol=1e-5)
    solution, outcome = solve(X, gamma, C=C, tol=3e-7 * float(rough.beta @ K @ rough.beta))
    ours = float(solution.beta @ K @ solution.beta)
    assert outcome.status.converged
    assert outcome.status.history[0] == pytest.approx(ours, rel=1e-9)
    # LIBSVM takes no nu = 1 and no C = 1: for these there is a closed form, or the invariants below
    if n * C <= 1.0 or C >= 1.0:
        return
    assert ours == pytest.approx(libsvm(X, gamma, C, K), rel=1e-6)


@given(samples(), GAMMAS)
def test_only_one_feasible_point(X, gamma):
    n = len(X)
    solution, outcome = solve(X, gamma, C=1.0 / n)
    assert solution.beta == pytest.approx(np.full(n, 1.0 / n), rel=1e-9)
    assert outcome.status.facts["degenerate"] == (n > 1)
    assert outcome.status.history[0] == pytest.approx(gram(X, gamma).mean(), rel=1e-9)


@given(st.floats(0.01, 10.0), GAMMAS, st.floats(0.5, 3.0))
def test_two_points_share_the_weight(distance, gamma, C):
    solution, outcome = solve(np.array([[0.0], [distance]]), gamma, C=C, tol=1e-9)
    k = np.exp(-gamma * distance**2)
    # for a kernel value near 1 any weights are within the tolerance
    assert outcome.status.history[0] == pytest.approx((1.0 + k) / 2.0, abs=1e-9)
    if k < 0.99:
        assert solution.beta == pytest.approx([0.5, 0.5], abs=1e-6)
        if C > 0.51:
            assert outcome.status.facts["radius2"] == pytest.approx((1.0 - k) / 2.0, abs=1e-6)


@given(st.integers(1, 60), st.floats(1.0, 5.0))
def test_without_overlap_all_weights_are_equal(n, C):
    solution, outcome = solve(np.arange(float(n))[:, None], 1e6, C=C)
    assert solution.beta == pytest.approx(np.full(n, 1.0 / n), abs=1e-6)
    assert outcome.status.facts["radius2"] == pytest.approx(1.0 - 1.0 / n, abs=1e-6)


@given(samples(max_n=50), GAMMAS, st.floats(0.0, 1.0))
def test_a_general_solver_has_no_lower_objective(X, gamma, t):
    C = (1.0 + t * (len(X) - 1)) / len(X)
    solution, _ = solve(X, gamma, C=C, tol=1e-9)
    K = gram(X, gamma)
    # the gap bounds how far above the minimum it can be; the general solver may stop early, so one side only
    assert dual_value(K, solution.beta) <= quadratic_program(K, np.full(len(X), min(C, 1.0))) + 2e-8


@given(samples(max_n=120), GAMMAS, st.floats(0.0, 1.0), st.integers(2, 8))
def test_working_sets_reach_the_optimum_of_all_points(X, gamma, t, min_candidates):
    X = np.unique(X, axis=0)
    n = len(X)
    C = (1.0 + t**3 * (n - 1)) / n
    whole = minimum(X, gamma, C)
    sizes = SetSizes(max_direct=12, min_candidates=min_candidates, candidate_divisor=16, max_free=40, sample_divisor=3)
    parts = minimum(X, gamma, C, sizes=sizes)
    K, bounds = gram(X, gamma), np.full(n, min(C, 1.0))
    for solution in (whole, parts):
        assert solution.status.converged
        assert abs(solution.beta.sum() - 1.0) <= 1e-12 * n
        assert np.all((solution.beta >= 0) & (solution.beta <= bounds))
        assert gap(K, solution.beta, bounds) <= 1e-8 + 1e-12 * n
        assert solution.gradient == pytest.approx(2.0 * K @ solution.beta - 1.0, abs=1e-12)
    assert parts.beta @ K @ parts.beta == pytest.approx(whole.beta @ K @ whole.beta, abs=1e-8)
    if n > 60 and not (1.0 <= n * C <= 1.0 + 1e-9):
        assert whole.rounds == 1


def test_the_levels_are_really_used():
    X = np.random.default_rng(0).normal(size=(400, 2))
    solution = minimum(X, 2.0, 0.02, sizes=SMALL)
    assert solution.rounds > 3
    assert solution.status.converged


@given(samples(max_n=60), GAMMAS, st.integers(2, 4), st.floats(0.0, 1.0))
def test_repeated_samples_share_the_weight_of_one_sample(X, gamma, copies, t):
    X = np.unique(X, axis=0)
    n = len(X)
    C = (1.0 + t * (n - 1)) / n
    single, outcome = solve(X, gamma, C=C, tol=1e-9)
    many, several = solve(np.repeat(X, copies, axis=0), gamma, C=C / copies, tol=1e-9)
    together = many.beta.reshape(n, copies).sum(axis=1)
    K = gram(X, gamma)
    assert together @ K @ together == pytest.approx(single.beta @ K @ single.beta, abs=1e-8)
    assert np.ptp(many.beta.reshape(n, copies), axis=1) == pytest.approx(np.zeros(n), abs=1e-15)
    assert np.all(many.beta <= C / copies)
    # the path is the same but for rounding; where K is near singular that is enough for another point of the optimum
    assert several.value(X) == pytest.approx(outcome.value(X), abs=1e-4)
    if np.abs(together - single.beta).max() > 1e-12:
        return
    assert len(several.centres) == len(outcome.centres)
    assert several.value(X) == pytest.approx(outcome.value(X), abs=1e-12)
    if C < 1:
        assert several.support_counts.n_bounded == copies * outcome.support_counts.n_bounded
        assert several.level == pytest.approx(outcome.level, abs=1e-10)


def test_weights_of_repeated_samples_share_in_proportion():
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 2)), 2, axis=0)
    weights = np.tile([1.0, 3.0], 10)
    solution, _ = solve(X, 1.0, C=0.04, weights=weights)
    assert solution.beta[1::2] == pytest.approx(3.0 * solution.beta[::2], rel=1e-12)
    assert np.all(solution.beta <= 0.04 * weights)


@pytest.mark.deep
def test_many_attributes():
    X = np.random.default_rng(0).normal(size=(150, EXPLICIT_SUMS + 88))
    gamma, C = 1.0 / X.shape[1], 0.02
    whole, parts = minimum(X, gamma, C), minimum(X, gamma, C, sizes=SMALL)
    K = gram(X, gamma)
    assert whole.status.converged
    assert parts.status.converged
    assert gap(K, parts.beta, np.full(150, C)) <= 1e-8 + 1e-10
    assert parts.beta == pytest.approx(whole.beta, abs=1e-7)


def test_labels_do_not_depend_on_the_number_of_threads():
    code = (
        "import hashlib, numpy as np;"
        "from clusterkit.families.support_vectors._working_sets import minimise_gaussian as m;"
        "from clusterkit.samples.kernels import Gaussian; X = np.random.default_rng(0).normal(size=(6000, 3));"
        "f = m(X, Gaussian(1.0), np.full(6000, 1 / 300), 1e-6, 10**7, 2**24); assert f.status.converged;"
        "print(hashlib.sha256(f.beta.tobytes() + f.gradient.tobytes()).hexdigest())"
    )
    results = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
        ).stdout
        for threads in ("1", "2")
    }
    assert len(results) == 1


@pytest.mark.parametrize("at", [1, 2, 5])
def test_an_interrupt_keeps_a_feasible_point(at):
    X = np.random.default_rng(0).normal(size=(400, 2))
    reports = []

    def stop(report):
        reports.append(report)
        if len(reports) == at:
            raise KeyboardInterrupt

    with listening(stop):
        solution = minimum(X, 2.0, 0.02, sizes=SMALL)
    assert solution.status.interrupted
    assert not solution.status.converged
    assert solution.beta.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all((solution.beta >= 0) & (solution.beta <= 0.02))
    assert solution.gradient == pytest.approx(2.0 * gram(X, 2.0) @ solution.beta - 1.0, abs=1e-12)


@pytest.mark.parametrize("n", [60, 4000])
def test_max_iter_counts_all_pairs(n):
    X = np.random.default_rng(0).normal(size=(n, 2))
    with pytest.warns(ClusterkitWarning, match=r"svdd' stopped after 7 iterations: max_iter = 7 reached, gap \d"):
        _, outcome = solve(X, 2.0, nu=0.05, max_iter=7)
    assert outcome.status.n_iter == 7
    assert outcome.weights.sum() == pytest.approx(1.0)


def test_a_large_set_is_solved_without_its_matrix(monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "1M")
    X = np.random.default_rng(0).normal(size=(20_000, 2))
    solution, outcome = solve(X, 1.0, nu=0.01)
    assert outcome.status.converged
    counts, C = outcome.support_counts, 1 / 200
    assert counts.n_bounded <= 200 <= counts.n_support
    G = 2.0 * outcome.value(X) - 1.0
    assert G[solution.beta > 0].max() - G[solution.beta < C].min() <= 1e-6 + 1e-10
