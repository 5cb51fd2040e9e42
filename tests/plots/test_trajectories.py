"""Trajectories lead uphill from samples to the equilibria of labeler 'equilibrium'."""

from __future__ import annotations

import copy
import itertools

import attrs
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs

from clusterkit import Pipeline, plots, recipe
from clusterkit.errors import IncompatibleStages, InvalidParameter
from clusterkit.plots import _domains
from clusterkit.plots._domains import paths_of
from clusterkit.samples.kernels import Linear


def test_trajectories_equal_the_plain_ascent(svc, moons):
    from clusterkit_campaign.oracles.domains import shift

    domain = svc.outcome_
    ascents = paths_of(domain, moons, np.arange(0, len(moons), 5))
    for start, path in zip(moons[::5], ascents.paths, strict=True):
        assert np.allclose(path[0], start)
        assert np.all(np.diff(domain.value(path)) >= -1e-12)
        for a, b in itertools.pairwise(path):
            assert np.allclose(shift(a, domain.centres, domain.weights, domain.kernel.gamma), b, atol=1e-9)
        assert np.linalg.norm(ascents.equilibria - path[-1], axis=1).min() < 1e-3
    assert np.array_equal(ascents.inside, domain.value(ascents.equilibria) >= domain.level)


def test_equilibria_are_those_of_the_labeler(svc, moons):
    model = Pipeline(**svc.get_params(deep=False)).set_params(labeler="equilibrium").fit(moons)
    ascents = paths_of(model.outcome_, moons, np.array([0]))
    assert len(ascents.equilibria) == model.predictor_.facts["equilibria"]


def test_of_many_samples_some_and_the_starts_climb(monkeypatch, compose):
    monkeypatch.setattr(_domains, "CLIMBERS", 3)
    X, _ = make_blobs([20] * 6, cluster_std=0.1, random_state=1)
    model = compose(5.0).fit(X)
    assert len(paths_of(model.outcome_, X, np.array([0])).equilibria) <= 4
    ascents = paths_of(model.outcome_, X, np.arange(len(X)))
    assert len(ascents.equilibria) == 6
    for path in ascents.paths:
        assert np.linalg.norm(ascents.equilibria - path[-1], axis=1).min() < 1e-3


def test_picture(svc, moons, named):
    ax = plots.trajectories(svc, moons, ax=Figure().subplots(), starts=12)
    assert len(named(ax, "trajectory").get_segments()) == len(named(ax, "start").get_offsets()) == 12
    ascents = paths_of(svc.outcome_, moons, np.array([0]))
    assert np.allclose(named(ax, "equilibrium inside").get_offsets(), ascents.equilibria[ascents.inside])
    assert np.allclose(named(ax, "equilibrium outside").get_offsets(), ascents.equilibria[~ascents.inside])
    assert "12 of 123 trajectories drawn" in ax.get_title(loc="left")


def test_starts(svc, moons, named):
    ax = plots.trajectories(svc, moons, starts=[5, 0])
    assert np.allclose(named(ax, "start").get_offsets(), moons[[5, 0]])
    every = plots.trajectories(svc, moons, starts=10_000)
    assert len(np.unique(named(every, "start").get_offsets(), axis=0)) == len(moons)
    again = plots.trajectories(svc, moons, starts=5)
    assert np.array_equal(named(again, "start").get_offsets(), np.asarray(named(every, "start").get_offsets())[:5])
    for wrong in (0, -3, True, 2.5, [], [200], [-1], "all", [[1]], None):
        with pytest.raises(InvalidParameter, match="starts must be a number >= 1 or rows between 0 and 122"):
            plots.trajectories(svc, moons, starts=wrong)


@pytest.mark.parametrize("name", ["svc", "psvc", "fsvc", "sgd-lmsvc"])
@pytest.mark.parametrize("d", [1, 2, 30])
def test_recipes(name, d, named):
    X, _ = make_blobs([30, 30], n_features=d, cluster_std=0.5, random_state=0)
    X = X.astype(np.float32)
    changes = {"tuner": None} if name == "svc" else {}
    model = recipe(name, random_state=0, featuremap__gamma=2.0 / d, **changes).fit(X)
    ax = plots.trajectories(model, X)
    ax.figure.draw_without_rendering()
    assert len(named(ax, "trajectory").get_segments()) == 40


@pytest.mark.parametrize("X", [np.ones((6, 2)), np.array([[1.0, 2.0]])])
@pytest.mark.filterwarnings("ignore::clusterkit.ClusterkitWarning")
def test_degenerate_data(X, compose, named):
    ax = plots.trajectories(compose(1.0).fit(X), X)
    assert "1 equilibrium; 1 of " in ax.get_title(loc="left")


def test_other_domains_are_refused(moons):
    model = Pipeline({"name": "elm", "n_hidden": 60}, {"name": "svdd", "nu": 0.1}, "complete_graph", random_state=0)
    with pytest.raises(IncompatibleStages, match=r"through a function only; clusterkit\.plots\.contours draws any"):
        plots.trajectories(model.fit(moons), moons)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel": Linear()}, "has a Linear kernel"),
        ({"weights": np.array([1.0, -1.0]), "centres": np.zeros((2, 2))}, "has negative weights"),
    ],
)
def test_other_sums_are_refused(change, message, svc, moons):
    other = copy.copy(svc)
    other.outcome_ = attrs.evolve(svc.outcome_, **change)
    with pytest.raises(IncompatibleStages, match=message):
        plots.trajectories(other, moons)
