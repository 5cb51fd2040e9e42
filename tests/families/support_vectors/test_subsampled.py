"""Laws of a solver on a part of the samples: what is drawn, what comes out, and which solvers it takes."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from clusterkit import Pipeline, recipe
from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition, problems
from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import InvalidParameter
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.support_vectors.basins import Equilibrium
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.lmsvc import Lmsvc
from clusterkit.families.support_vectors.psvdd import Psvdd
from clusterkit.families.support_vectors.subsampled import Subsampled
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.fitting.fit import fit
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian

X = np.random.default_rng(0).normal(size=(80, 2))


def solve(solver, X, gamma=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return solver.prepare(KernelSpace(X, Gaussian(gamma)), Task(len(X), None), rng).solve(None, None, rng)


def rows_in(part, whole):
    return {tuple(row) for row in part} <= {tuple(row) for row in whole}


@given(st.integers(1, 60), st.floats(0.001, 1.0), st.integers(0, 1000))
def test_the_part_has_its_size_and_no_sample_twice(n, fraction, seed):
    stage = Subsampled(fraction=fraction)
    index = stage.drawn(n, np.random.default_rng(seed))
    assert len(index) == min(n, max(2, round(fraction * n)))
    assert np.all(np.diff(index) > 0)
    assert index.min() >= 0
    assert index.max() < n
    assert np.array_equal(index, stage.drawn(n, np.random.default_rng(seed)))


def test_every_sample_is_drawn_about_as_often():
    stage = Subsampled(fraction=0.25)
    rng = np.random.default_rng(0)
    counts = np.bincount(np.concatenate([stage.drawn(40, rng) for _ in range(2000)]), minlength=40)
    # binomial with mean 500 and standard deviation 19
    assert counts.min() > 400
    assert counts.max() < 600


@pytest.mark.parametrize("inner", [Svdd(nu=0.2), Psvdd(), Lmsvc(C=20.0)])
def test_all_of_them_is_the_solver_alone(inner):
    whole, alone = solve(Subsampled(inner, fraction=1.0), X), solve(inner, X)
    assert np.array_equal(whole.centres, alone.centres)
    assert np.array_equal(whole.weights, alone.weights)
    assert whole.level == alone.level
    assert whole.status.facts == {**alone.status.facts, "n_drawn": 80}


@pytest.mark.parametrize("inner", [Svdd(nu=0.2), Psvdd(), Lmsvc(C=20.0)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_domain_is_that_of_the_part(inner, dtype):
    data = X.astype(dtype)
    outcome = solve(Subsampled(inner, fraction=0.3), data, seed=4)
    index = Subsampled(inner, fraction=0.3).drawn(80, np.random.default_rng(4))
    assert len(index) == 24
    assert outcome.status.facts["n_drawn"] == 24
    assert rows_in(outcome.centres, data[index].astype(float))
    if not isinstance(inner, Lmsvc):  # which draws on
        alone = solve(inner, data[index])
        assert np.array_equal(outcome.value(data), alone.value(data))


def test_a_fit_labels_all_samples_and_reports():
    points, y = make_moons(600, noise=0.05, random_state=0)
    solver = Subsampled("svdd", fraction=0.5)
    run = fit(Composition(Rbf(gamma=20.0), solver, CompleteGraph(outliers="nearest")), points, Seeds(0))
    assert adjusted_rand_score(y, run.labels) == 1.0
    assert run.resolved["solver"] == {"solver__C": 1.0}
    assert isinstance(run.outcome, KernelDomain)
    assert run.objective == run.history[-1]  # of the part that was drawn
    other = fit(Composition(Rbf(gamma=20.0), solver, CompleteGraph()), points, Seeds(1))
    assert not np.array_equal(run.outcome.centres, other.outcome.centres)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_samples(n):
    outcome = solve(Subsampled(fraction=0.01), X[:n])
    assert outcome.status.facts["n_drawn"] == min(n, 2)


class TestParameters:
    def test_a_solver_in_any_form(self):
        expected = Subsampled(Svdd(nu=0.1), fraction=0.2)
        assert Subsampled({"name": "svdd", "nu": 0.1}, fraction=0.2) == expected
        assert hash(Subsampled("svdd")) == hash(Subsampled())
        assert Subsampled() == Subsampled(Svdd())
        assert pickle.loads(pickle.dumps(expected)) == expected

    def test_its_parameters_are_reached_by_name(self):
        model = Pipeline("rbf", "subsampled", "complete_graph", random_state=0)
        model.set_params(solver__solver__nu=0.2, solver__fraction=0.3, featuremap__gamma=2.0).fit(X)
        assert model.outcome_.status.facts["n_drawn"] == 24
        assert model.outcome_.support_counts.bound == pytest.approx(1 / (24 * 0.2))

    def test_paths_are_those_of_the_solver(self):
        assert set(Subsampled().paths) == {KernelSpace}
        assert Subsampled("lmsvc").paths[KernelSpace].gives is KernelDomain
        assert not problems(Composition(Rbf(), Subsampled("lmsvc"), CompleteGraph()))
        assert problems(Composition(Rbf(), Subsampled(), CompleteGraph(), n_init=2))

    @pytest.mark.parametrize("solver", ["ridge", "nmf", "centroids", 3, None, Svdd, {"C": 1.0}, {"name": "ridge"}])
    def test_solvers_that_do_not_suit(self, solver):
        with pytest.raises(InvalidParameter, match=r"gives a domain \(lmsvc, psvdd, svdd.*\).*got"):
            Subsampled(solver)

    def test_errors_are_those_of_the_solver(self):
        with pytest.raises(InvalidParameter, match=r"svdd': C must be >= 1/n = 0\.025 for these 40 samples, got 0\.02"):
            solve(Subsampled(Svdd(C=0.02)), X)


@pytest.mark.parametrize("seed", range(3))
def test_all_samples_and_no_balls_is_plain_equilibrium_labeling(seed):
    points, _ = make_moons(120, noise=0.08, random_state=seed)
    fast = recipe("fsvc", featuremap__gamma=8.0, solver__fraction=1.0, labeler__radius=1e-9, random_state=0)
    plain = Composition(Rbf(gamma=8.0), Svdd(), Equilibrium(start="all", outliers="basin"))
    run = fit(plain, points, Seeds(0))
    assert run.labels.max() > 0
    assert np.array_equal(fast.fit(points).labels_, run.labels)


def test_the_recipe():
    points, y = make_moons(2000, noise=0.05, random_state=0)
    model = recipe("fsvc", featuremap__gamma=32.0, random_state=0).fit(points)
    assert adjusted_rand_score(y, model.labels_) > 0.99
    assert model.outcome_.status.facts["n_drawn"] == 1000
