"""The large margin hyperplane in whole fits: other spaces, known clusters, the recipe."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from clusterkit import recipe
from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.outcomes import FunctionDomain, KernelDomain
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import ClusterkitWarning
from clusterkit.families.shared.elm import Elm
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.shared.scaling import Identity
from clusterkit.families.support_vectors.basins import Equilibrium
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.lmsvc import Lmsvc
from clusterkit.fitting.fit import fit
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Linear


class TestOtherSpaces:
    def domain(self, featuremap, X, **parameters):
        return fit(Composition(featuremap, Lmsvc(**parameters), CompleteGraph()), X, Seeds(0)).outcome

    @given(st.integers(2, 20), st.integers(1, 4), st.integers(0, 1000), st.floats(-3, 3))
    def test_linear_kernel_and_features_agree(self, n, d, seed, decimals):
        X = np.random.default_rng(seed).normal(size=(n, d)) * 10.0**decimals
        rng = np.random.default_rng(seed)
        kernel = Lmsvc().prepare(KernelSpace(X, Linear()), Task(n, None), rng)
        features = Lmsvc().prepare(Identity().space_of(X, Task(len(X), None), rng), Task(n, None), rng)
        one, other = (p.solve(None, None, np.random.default_rng(seed)) for p in (kernel, features))
        assert isinstance(one, KernelDomain)
        assert isinstance(other, FunctionDomain)
        assume(one.status.n_iter == other.status.n_iter)
        assert one.value(X) == pytest.approx(other.value(X), abs=1e-9)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("level", ["one", "quantile"])
    def test_dense_and_streamed_are_equal_to_the_bit(self, dtype, level):
        X = np.random.default_rng(0).normal(size=(300, 3)).astype(dtype)
        dense, streamed = (self.domain(Elm(n_hidden=40, storage=s), X, level=level) for s in ("dense", "streamed"))
        assert dense.level == streamed.level
        assert np.array_equal(dense.function.w, streamed.function.w)
        again = pickle.loads(pickle.dumps(dense))
        assert np.array_equal(again.value(X), dense.value(X))

    @pytest.mark.parametrize("level", ["one", "quantile"])
    @pytest.mark.parametrize("scale", [1e-5, 1.0, 1e6])
    def test_the_units_of_features_do_not_matter(self, scale, level):
        X = np.random.default_rng(1).normal(size=(50, 3)) + 3
        one, other = (self.domain(Identity(), X * s, level=level) for s in (1.0, scale))
        assert one.status.n_iter == other.status.n_iter
        assert other.value(X * scale) - other.level == pytest.approx(one.value(X) - one.level, abs=1e-9)
        assert other.status.facts["n_inside"] == one.status.facts["n_inside"] > 0

    def test_features_of_zeros(self):
        with pytest.warns(ClusterkitWarning, match="all 9 samples are equal"):
            outcome = self.domain(Identity(), np.zeros((9, 2)))
        assert outcome.status.facts["domain_empty"]
        assert np.isfinite(outcome.value(np.ones((2, 2)))).all()


def test_a_fit_reports_and_pickles():
    X = np.random.default_rng(0).normal(size=(50, 2))
    c = Composition(Rbf(gamma=1.0), Lmsvc(), CompleteGraph(), n_init=4)
    run = fit(c, X, Seeds(0))
    assert run.objective == min(run.objectives)
    assert len(set(run.objectives)) == 4
    assert set(run.outcome.status.facts) == {"t", "norm2", "gap", "n_inside", "domain_empty"}
    again = pickle.loads(pickle.dumps(run.outcome))
    assert np.array_equal(again.value(X), run.outcome.value(X))


def four_gaussians(seed):
    rng = np.random.default_rng(seed)
    corners = np.array([[0.0, 0.0], [0.0, 6.0], [6.0, 0.0], [6.0, 6.0]])
    y = np.repeat(np.arange(4), 100)
    return corners[y] + 0.6 * rng.normal(size=(400, 2)), y


def equilibrium():
    return Equilibrium(start="all", outliers="basin")


@pytest.mark.parametrize("C", [2.0, 8.0])
@pytest.mark.parametrize("t_min", [1, 4000])
def test_four_gaussians(C, t_min):
    X, y = four_gaussians(2)
    for seed in range(8):
        run = fit(Composition(Rbf(gamma=2.0), Lmsvc(C=C, t_min=t_min), equilibrium()), X, Seeds(seed))
        assert adjusted_rand_score(y, run.labels) == 1.0, seed


def test_four_gaussians_lose_strays_at_worst():
    scores = []
    for seed in range(4):
        X, y = four_gaussians(seed)
        run = fit(Composition(Rbf(gamma=2.0), Lmsvc(C=2.0), equilibrium()), X, Seeds(seed))
        scores.append(adjusted_rand_score(y, run.labels))
    assert min(scores) > 0.98, scores


def test_two_moons_with_the_quantile_level():
    X, y = make_moons(400, noise=0.05, random_state=0)
    solver = Lmsvc(C=32.0, t_min=4000, level="quantile", outlier_fraction=0.02)
    scores = [
        adjusted_rand_score(y, fit(Composition(Rbf(gamma=32.0), solver, equilibrium()), X, Seeds(seed)).labels)
        for seed in range(6)
    ]
    assert sum(score == 1.0 for score in scores) >= 5, scores


def test_below_one_it_is_mean_shift():
    X, _ = four_gaussians(0)
    with pytest.warns(ClusterkitWarning, match=r"C = 0\.5 < 1"):
        run = fit(Composition(Rbf(gamma=2.0), Lmsvc(C=0.5), equilibrium()), X, Seeds(0))
    assert run.outcome.status.facts["domain_empty"]
    assert len(np.unique(run.labels)) == len(np.unique(run.labels[run.labels >= 0])) > 1


def test_the_recipe():
    X, y = four_gaussians(2)
    model = recipe("sgd-lmsvc", featuremap__gamma=2.0, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert np.array_equal(model.predict(X), model.labels_)
    assert model.stop_reason_.startswith("step of 0.0")
