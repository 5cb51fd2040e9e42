"""Laws of the large margin hyperplane by random steps, checked against plain steps and the optimum of the dual."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.domains import WIDTHS, point_tables

from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import ClusterkitWarning
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.support_vectors import lmsvc
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.lmsvc import Lmsvc
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.fitting.fit import fit
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.limits import listening
from clusterkit_campaign.oracles import one_class as plain
from clusterkit_campaign.oracles.one_class import gram

ITERATES = st.sampled_from(["last", "average", "random"])


class Drawn:
    """A stream that was drawn before."""

    def __init__(self, indices):
        self.rest = np.asarray(indices)

    def integers(self, n, size):
        assert len(self.rest) >= size, "more steps than were drawn"
        part, self.rest = self.rest[:size], self.rest[size:]
        return part


def solve(X, gamma, seed=0, **parameters):
    """Domain of the Gaussian kernel; `seed` may be a stream."""
    rng = np.random.default_rng(seed) if isinstance(seed, int) else seed
    prepared = Lmsvc(**parameters).prepare(KernelSpace(X, Gaussian(gamma)), Task(len(X), None), rng)
    return prepared.solve(None, None, rng)


def coefficients(outcome, X):
    """α of all samples, equal ones taken together at the first."""
    alpha = np.zeros(len(X))
    for centre, weight in zip(outcome.centres, outcome.weights, strict=True):
        alpha[np.flatnonzero((centre == X).all(axis=1))[0]] += weight
    return alpha


@st.composite
def problems(draw, max_n=14, least=1.0):
    """Points (duplicates likely), a width, and C."""
    return draw(point_tables(max_n)), draw(WIDTHS), draw(st.floats(least, 40.0))


@given(problems(), st.integers(0, 1000), st.integers(1, 60))
def test_the_plain_steps(problem, seed, t_min):
    X, gamma, C = problem
    step_tol = 0.05
    most = max(t_min, math.ceil(2 * C / step_tol) + 1)
    drawn = np.random.default_rng(seed).integers(len(X), size=most)
    K = gram(X, gamma)
    last, mean, t, margin = plain.lmsvc_steps(K, C, drawn, step_tol, t_min)
    assume(margin > 1e-6)
    for iterate, expected in (("last", last), ("average", mean if t > 1 else last)):
        outcome = solve(X, gamma, Drawn(drawn), C=C, step_tol=step_tol, t_min=t_min, iterate=iterate)
        assert outcome.status.n_iter == t
        assert outcome.value(X) == pytest.approx(K @ expected, rel=1e-9, abs=1e-12)
        assert outcome.status.history[0] == pytest.approx(plain.lmsvc_primal(K, expected, C), rel=1e-9)


@given(problems(), st.integers(0, 1000))
def test_invariants_of_the_last_iterate(problem, seed):
    X, gamma, C = problem
    outcome = solve(X, gamma, seed, C=C)
    facts, K = outcome.status.facts, gram(X, gamma)
    alpha, t = coefficients(outcome, X), facts["t"]
    counts = alpha * t / C
    assert np.all(outcome.weights > 0)
    assert counts == pytest.approx(np.round(counts), abs=1e-9 * t)
    assert round(counts.sum()) <= t
    assert alpha.sum() <= C * (1 + 1e-12)
    assert facts["norm2"] == pytest.approx(alpha @ K @ alpha, rel=1e-9)
    assert facts["norm2"] <= C * C * (1 + 1e-12)
    assert t <= max(1, math.ceil(2 * C / 0.01)) + 1
    assert outcome.status.converged
    assert outcome.level == 1.0
    assert facts["n_inside"] == np.count_nonzero(outcome.value(X) >= 1.0)
    assert facts["domain_empty"] == (facts["n_inside"] == 0)


@given(problems(least=0.01), st.integers(0, 1000), ITERATES)
def test_the_gap_is_a_bound(problem, seed, iterate):
    X, gamma, C = problem
    C, K = min(C, 0.99), gram(X, gamma)
    with pytest.warns(ClusterkitWarning, match="< 1 leaves every sample outside the domain"):
        outcome = solve(X, gamma, seed, C=C, iterate=iterate)
    # below 1 the optimum is known: all at the bound
    best = plain.lmsvc_primal(K, np.full(len(X), C / len(X)), C)
    value, gap = outcome.status.history[0], outcome.status.facts["gap"]
    assert best * (1 - 1e-12) <= value
    assert value - best <= gap * value + 1e-12 * C


@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("C", [2.0, 8.0, 32.0])
def test_the_objective_is_within_the_reported_gap_of_the_optimum(gamma, C):
    X = np.random.default_rng(3).normal(size=(60, 2))
    K = gram(X, gamma)
    alpha = plain.lmsvc_optimum(K, C)
    best = plain.lmsvc_primal(K, alpha, C)
    assert plain.lmsvc_dual(K, alpha) == pytest.approx(best, rel=1e-9)
    short = solve(X, gamma, C=C)
    assert best <= short.status.history[0]
    assert short.status.history[0] - best <= short.status.facts["gap"] * short.status.history[0]


@pytest.mark.parametrize(("gamma", "C"), [(0.3, 4.0), (2.0, 8.0), (2.0, 30.0)])
def test_its_optimum_is_a_sphere(gamma, C):
    X = np.random.default_rng(4).normal(size=(50, 2))
    n = len(X)
    alpha = plain.lmsvc_optimum(gram(X, gamma), C)
    total = alpha.sum()
    space = KernelSpace(X, Gaussian(gamma))
    prepared = Svdd(C=C / (n * total), tol=1e-10).prepare(space, Task(n, None), np.random.default_rng(0))
    assert prepared.minimise().beta == pytest.approx(alpha / total, abs=1e-6)
    sphere = prepared.solve(None, None, np.random.default_rng(0))
    assert sphere.level == pytest.approx(1 / total, abs=1e-6)


@given(problems(), st.integers(0, 1000), st.integers(2, 60), st.integers(0, 59))
def test_the_random_iterate_is_one_of_the_plain_steps(problem, seed, T, r):
    X, gamma, C = problem
    r, drawn, K = r % T, np.random.default_rng(seed).integers(len(X), size=T), gram(X, gamma)
    expected, _, _, margin = plain.lmsvc_steps(K, C, drawn[: max(r, 1)], t_min=T)
    assume(margin > 1e-6)
    outcome = solve(X, gamma, Drawn([*drawn, r]), C=C, t_min=T, t_max=T, iterate="random")
    assert outcome.status.n_iter == T
    assert outcome.value(X) == pytest.approx(K @ expected, rel=1e-9, abs=1e-12)
    assert outcome.status.history[0] == pytest.approx(plain.lmsvc_primal(K, expected, C), rel=1e-9)
    assert outcome.status.facts["norm2"] == pytest.approx(expected @ K @ expected, rel=1e-9)


@given(problems(max_n=10, least=0.01), st.integers(0, 1000))
def test_below_one_every_draw_counts(problem, seed):
    X, gamma, C = problem
    C = min(C, 0.99)
    with pytest.warns(ClusterkitWarning, match=r"lmsvc': C = 0\.\d+ < 1 leaves every sample outside"):
        outcome = solve(X, gamma, seed, C=C)
    facts = outcome.status.facts
    assert outcome.weights.sum() == pytest.approx(C)
    assert facts["domain_empty"]
    assert facts["n_inside"] == 0
    assert outcome.status.reason.endswith("; the domain is empty: C < 1")


@given(problems(max_n=10, least=0.01), st.integers(0, 1000), st.floats(0.0, 0.9, allow_subnormal=False), ITERATES)
def test_the_quantile_level_is_never_empty(problem, seed, outlier_fraction, iterate):
    X, gamma, C = problem
    outcome = solve(X, gamma, seed, C=C, level="quantile", outlier_fraction=outlier_fraction, iterate=iterate)
    values = outcome.value(X)
    outside = np.count_nonzero(values < outcome.level)
    assert outside <= math.floor(outlier_fraction * len(X))
    assert outcome.status.facts["n_inside"] == len(X) - outside > 0
    assert not outcome.status.facts["domain_empty"]
    assert outcome.level == pytest.approx(np.sort(values)[math.floor(outlier_fraction * len(X))])


def test_neither_the_stretches_nor_the_stop_change_the_draws(monkeypatch):
    X = np.random.default_rng(0).normal(size=(200, 2))
    parameters = {"C": 8.0, "t_min": 3000, "t_max": 3000}
    whole = solve(X, 2.0, **parameters)
    assert whole.status.n_iter == 3000
    monkeypatch.setattr(lmsvc, "LONG_BYTES", 0)
    in_stretches = solve(X, 2.0, **parameters)
    monkeypatch.setattr(lmsvc, "CHUNK_STEPS", 7)
    small = solve(X, 2.0, **parameters)
    for other in (in_stretches, small):
        assert np.array_equal(other.centres, whole.centres)
        assert np.array_equal(other.weights, whole.weights)
        assert other.status.facts["norm2"] == pytest.approx(whole.status.facts["norm2"], rel=1e-12)
    mean = solve(X, 2.0, iterate="average", **parameters)
    monkeypatch.undo()
    assert mean.weights == pytest.approx(solve(X, 2.0, iterate="average", **parameters).weights, rel=1e-12)


def test_float32_points_are_summed_in_float64():
    X = np.random.default_rng(0).normal(size=(80, 3)).astype(np.float32)
    single, double = solve(X, 0.7), solve(X.astype(float), 0.7)
    assert single.centres.dtype == float
    assert np.array_equal(single.value(X.astype(float)), double.value(X.astype(float)))


def test_the_number_of_steps_does_not_follow_the_number_of_samples():
    steps = []
    for n in (50, 500, 5000):
        X = np.random.default_rng(n).normal(size=(n, 2))
        steps.append(np.mean([solve(X, 1.0, seed, C=2.0).status.n_iter for seed in range(8)]))
    assert max(steps) <= 401
    assert max(steps) / min(steps) < 2


class TestDegenerate:
    def test_one_sample(self):
        X = np.array([[1.0, 2.0]])
        outcome = solve(X, 1.0)
        assert outcome.value(X)[0] == pytest.approx(1.0, abs=0.05)
        run = fit(Composition(Rbf(gamma=1.0), Lmsvc(), CompleteGraph()), X, Seeds(0))
        assert run.labels.tolist() == [0]

    def test_equal_samples(self):
        X = np.full((30, 2), 0.1)
        outcome = solve(X, 3.0)
        assert outcome.value(X) == pytest.approx(np.ones(30), abs=0.1)
        assert outcome.status.facts["gap"] < 0.1
        with pytest.warns(ClusterkitWarning, match="all 30 samples are equal"):
            run = fit(Composition(Rbf(gamma=1.0), Lmsvc(level="quantile"), CompleteGraph()), X, Seeds(0))
        assert run.labels.tolist() == [0] * 30

    def test_no_overlap_of_kernels(self):
        X = np.arange(30.0)[:, None]
        outcome = solve(X, 1e6, C=8.0)
        assert np.isfinite(outcome.value(X)).all()
        assert outcome.status.facts["domain_empty"]  # C/n = 0.27 at most each
        assert outcome.status.reason.endswith("; the domain is empty: no sample is inside")

    def test_a_kernel_of_ones(self):
        X = np.random.default_rng(0).normal(size=(20, 2))
        assert solve(X, 1e-14).value(X) == pytest.approx(np.ones(20), abs=0.1)

    def test_a_first_step_below_the_tolerance(self):
        X = np.random.default_rng(0).normal(size=(20, 2))
        with pytest.warns(ClusterkitWarning, match=r"C = 0\.005 < 1"):
            outcomes = [solve(X, 1.0, C=0.005, iterate=iterate) for iterate in ("last", "average")]
        for outcome in outcomes:
            assert outcome.status.n_iter == 1
            assert len(outcome.centres) == 1
            assert outcome.weights == pytest.approx([0.005])


class TestEnding:
    X = np.random.default_rng(5).normal(size=(60, 2))

    def test_t_max_is_the_stop_reason(self):
        outcome = solve(self.X, 2.0, t_max=30)
        assert outcome.status.n_iter == 30
        assert not outcome.status.converged
        assert outcome.status.reason.startswith("t_max = 30 steps done")

    @pytest.mark.parametrize("whole", [True, False])
    def test_interrupt_keeps_the_steps_done(self, whole, monkeypatch):
        if not whole:
            monkeypatch.setattr(lmsvc, "LONG_BYTES", 0)

        def stop(report):
            assert report.stage == "lmsvc"
            if report.iteration > 1000:
                raise KeyboardInterrupt

        with listening(stop):
            outcome = solve(self.X, 2.0, C=300.0, step_tol=1e-12, t_max=10**6)
        assert outcome.status.interrupted
        assert not outcome.status.converged
        assert outcome.status.reason.startswith(f"interrupted after {outcome.status.n_iter} steps")
        assert 1000 < outcome.status.n_iter < 10**6
        assert outcome.status.facts["norm2"] == pytest.approx(outcome.weights @ outcome.value(outcome.centres))


@pytest.mark.parametrize("iterate", ["last", "average", "random"])
def test_the_samples_of_all_steps_are_only_held_for_a_random_iterate(iterate, monkeypatch):
    held = []
    advance = lmsvc.SgdIterate.advance

    def counted(self, drawn, may_end):
        short = advance(self, drawn, may_end)
        held.append(sum(map(len, self.drawn)))
        return short

    monkeypatch.setattr(lmsvc.SgdIterate, "advance", counted)
    space = Rbf(gamma=1.0).space_of(np.linspace(0.0, 1.0, 12)[:, None], Task(12, None), np.random.default_rng(0))
    solver = Lmsvc(t_min=500, t_max=500, iterate=iterate)
    (prepare,) = [path.prepare for cls, path in solver.paths.items() if cls is KernelSpace]
    prepare(solver, space, Task(12, None), np.random.default_rng(0)).solve(None, None, np.random.default_rng(0))
    assert max(held) == (500 if iterate == "random" else 0)
