"""The large margin hyperplane in whole fits: known clusters, the recipe."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from clusterkit import recipe
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import ClusterkitWarning
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.support_vectors.basins import Equilibrium
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.lmsvc import Lmsvc
from clusterkit.fitting.fit import fit


def test_a_fit_reports():
    X = np.random.default_rng(0).normal(size=(50, 2))
    c = Composition(Rbf(gamma=1.0), Lmsvc(), CompleteGraph(), n_init=4)
    run = fit(c, X, Seeds(0))
    assert run.objective == min(run.objectives)
    assert len(set(run.objectives)) == 4
    assert set(run.outcome.status.facts) == {"t", "norm2", "gap", "n_inside", "domain_empty"}


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
