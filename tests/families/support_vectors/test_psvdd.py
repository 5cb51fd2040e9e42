"""Laws of the sphere with bounds by position: it is svdd with weights, and what the weights are."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.domains import WIDTHS, point_tables

from clusterkit import recipe
from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import ClusterkitWarning, InvalidParameter
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.psvdd import WEIGHTS, Psvdd
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.fitting.fit import fit
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian
from clusterkit_campaign.oracles.one_class import gap, gram, quadratic_program

RNG = np.random.default_rng(0)


def position(K):
    """Squared distances from the mean in feature space, as defined."""
    return np.diag(K) - 2 * K.mean(axis=1) + K.mean()


def solve(solver, X, gamma):
    prepared = solver.prepare(KernelSpace(X, Gaussian(gamma)), Task(len(X), None), RNG)
    return prepared.solve(None, None, RNG)


@st.composite
def problems(draw, max_n=14, distinct=False):
    """Points (duplicates likely) and a width."""
    return draw(point_tables(max_n, 2, distinct)), draw(WIDTHS)


@given(problems(max_n=10, distinct=True), st.sampled_from(sorted(WEIGHTS)))
def test_a_general_solver_agrees(problem, weights):
    X, gamma = problem
    K = gram(X, gamma)
    prepared = Psvdd(weights=weights).prepare(KernelSpace(X, Gaussian(gamma)), Task(len(X), None), RNG)
    outcome, bounds = prepared.solve(None, None, RNG), np.array(prepared.sphere.bounds)
    beta = np.zeros(len(X))
    for centre, weight in zip(outcome.centres, outcome.weights, strict=True):
        beta[np.flatnonzero((centre == X).all(axis=1))[0]] = weight
    assert beta.sum() == pytest.approx(1.0)
    assert np.all(beta <= bounds)
    # the general solver counts the linear term, which is 1 for this kernel
    assert outcome.status.history[0] - 1.0 == pytest.approx(quadratic_program(K, bounds), abs=5e-6)
    assert gap(K, beta, bounds) <= 1e-6 + 1e-12


@given(problems(), st.sampled_from(sorted(WEIGHTS)))
def test_bounds_fall_with_the_distance_and_are_feasible(problem, weights):
    X, gamma = problem
    n, squares = len(X), position(gram(X, gamma))
    bounds = np.array(Psvdd(weights=weights).bounds(squares))
    assert bounds.sum() >= 1.0 - 1e-12
    assert np.all((bounds > 0) & (bounds <= 1))
    order = np.argsort(squares, kind="stable")
    assert np.all(np.diff(bounds[order]) <= 1e-12)
    if weights == "linear" and not np.all(bounds == 1):
        delta = np.sqrt(np.maximum(squares, 0))
        assert bounds == pytest.approx(1 - delta / delta.max() * (1 - 1 / n))
        assert bounds.min() == pytest.approx(1 / n)


@pytest.mark.filterwarnings("ignore:with gamma.*numerically")
@given(problems(), st.sampled_from(sorted(WEIGHTS)))
def test_duplicates_share_a_side(problem, weights):
    X, gamma = problem
    c = Composition(Rbf(gamma=gamma), Psvdd(weights=weights), CompleteGraph())
    assume(np.ptp(X, axis=0).any())
    run = fit(c, np.repeat(X, 2, axis=0), Seeds(0))
    assert np.array_equal(run.labels[::2], run.labels[1::2])


def test_equal_distances_bound_no_sample():
    # the corners of a regular simplex, and points too far apart to be seen by the kernel
    for X, gamma in ((np.eye(5), 1.0), (np.arange(20.0)[:, None], 1e6)):
        squares = position(gram(X, gamma))
        assert Psvdd().bounds(squares) == (1.0,) * len(X)
        outcome = solve(Psvdd(), X, gamma)
        assert outcome.weights == pytest.approx(np.full(len(X), 1 / len(X)), abs=1e-6)
        assert outcome.support_counts.n_bounded == 0


def test_rounding_bounds_no_sample():
    X = np.random.default_rng(0).normal(size=(50, 2))
    prepared = Psvdd().prepare(KernelSpace(X, Gaussian(1e-17)), Task(50, None), RNG)
    assert np.all(prepared.sphere.bounds == 1.0)


@pytest.mark.parametrize("n", [1, 7])
def test_equal_samples(n):
    X = np.full((n, 3), 0.1)
    for weights in WEIGHTS:
        outcome = solve(Psvdd(weights=weights), X, 2.0)
        assert np.all(outcome.value(X) >= outcome.level)


def test_strays_are_outliers_without_any_parameter():
    rng = np.random.default_rng(0)
    X = np.concatenate([0.3 * rng.normal(size=(60, 2)), [[5.0, 5.0], [-6.0, 4.0]]])
    outcome = solve(Psvdd(), X, 0.05)
    outside = np.flatnonzero(outcome.value(X) < outcome.level)
    assert outside.tolist() == [60, 61]
    free = solve(Svdd(), X, 0.05)
    assert np.all(free.value(X) >= free.level)


def test_the_mean_needs_no_matrix(monkeypatch):
    X = np.random.default_rng(0).normal(size=(600, 2))
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "1M")
    space = KernelSpace(X, Gaussian(0.5))
    prepared = Psvdd().prepare(space, Task(600, None), RNG)
    assert "K" not in space._memo
    assert prepared.sphere.bounds == pytest.approx(Psvdd().bounds(position(gram(X, 0.5))), abs=1e-12)


def test_float32_points():
    X = np.random.default_rng(2).normal(size=(40, 3)).astype(np.float32)
    one, other = solve(Psvdd(), X, 0.3), solve(Psvdd(), X.astype(float), 0.3)
    assert np.array_equal(one.weights, other.weights)


class TestParameters:
    X = np.random.default_rng(5).normal(size=(40, 2))

    @pytest.mark.parametrize("weights", ["quadratic", 3.0, None])
    def test_weights_that_are_none(self, weights):
        with pytest.raises(InvalidParameter, match="psvdd': weights must be one of 'linear', 'exponential', 'inverse'"):
            Psvdd(weights=weights)

    def test_max_iter_warns(self):
        with pytest.warns(ClusterkitWarning, match="max_iter = 1"):
            outcome = solve(Psvdd(max_iter=1), self.X, 3.0)
        assert isinstance(outcome, KernelDomain)
        assert not outcome.status.converged


def test_the_recipe():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(80, 2)) * 0.4, rng.normal(size=(80, 2)) * 0.4 + 3, [[12.0, 0.0], [-9.0, 9.0]]])
    labels = recipe("psvc", featuremap__gamma=0.5).fit(X).labels_
    assert labels.max() == 1
    assert labels[-2:].tolist() == [-1, -1]
    assert np.count_nonzero(labels < 0) <= 5
    assert set(labels[:80]) <= {0, -1}
    assert set(labels[80:160]) <= {1, -1}
