"""The lines drawn are lines inside, they join what the complete graph joins, and the grey ones leave the domain."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import make_blobs, make_moons

from clusterkit import Pipeline, plots, recipe
from clusterkit.errors import InvalidParameter
from clusterkit.plots import _connectivity
from clusterkit.plots._connectivity import graph_of


def stays_inside(domain, a, b, n_segment_points=20) -> bool:
    steps = (np.arange(1, n_segment_points + 1) / (n_segment_points + 1))[:, None]
    return bool(np.all(domain.value((1 - steps) * a + steps * b) >= domain.level))


def check(graph, domain, points, labels):
    """The definition, line by line; `labels` are those of the complete graph, -1 outside."""
    for i, j in graph.edges:
        assert stays_inside(domain, points[i], points[j])
        assert labels[i] == labels[j] >= 0
    for i, j in graph.rejected:
        assert not stays_inside(domain, points[i], points[j])
        assert labels[i] != labels[j]
        assert min(labels[i], labels[j]) >= 0
    _, first = np.unique(points, axis=0, return_index=True)
    joined = coo_array((np.ones(len(graph.edges)), graph.edges.T), shape=(len(points),) * 2)
    part = connected_components(joined, directed=False)[1]
    inside = [i for i in first if labels[i] >= 0]
    k = len(set(labels[inside].tolist()))
    assert graph.n_components == k
    assert len(set(zip(part[inside].tolist(), labels[inside].tolist(), strict=True))) == k
    assert len(graph.edges) == len(inside) - k
    assert graph.inside == np.sum(labels >= 0)


@pytest.mark.filterwarnings("ignore:with gamma.*numerically the identity")
@pytest.mark.parametrize(("gamma", "nu"), [(1.0, None), (12.0, 0.25), (60.0, None), (300.0, 0.3), (1e4, 1.0)])
@pytest.mark.parametrize("seed", range(3))
def test_lines_are_those_of_the_complete_graph(gamma, nu, seed, compose):
    X, _ = make_moons(70, noise=0.1, random_state=seed)
    X = np.concatenate([X, X[:10]])
    model = compose(gamma, nu).fit(X)
    graph = graph_of(model.outcome_, X, 20)
    check(graph, model.outcome_, X, model.labels_)


def test_lines_of_a_domain_without_a_kernel_sum(moons):
    model = Pipeline({"name": "elm", "n_hidden": 60}, {"name": "svdd", "nu": 0.1}, "complete_graph", random_state=0)
    model.fit(moons)
    check(graph_of(model.outcome_, moons, 20), model.outcome_, moons, model.labels_)


def test_far_pieces_of_a_component_are_joined(monkeypatch, compose):
    """With one neighbour a sample near segments leave many parts."""
    monkeypatch.setattr(_connectivity, "NEIGHBOURS", 1)
    X, _ = make_moons(100, noise=0.05, random_state=0)
    model = compose(12.0, 0.1).fit(X)
    check(graph_of(model.outcome_, X, 20), model.outcome_, X, model.labels_)


def test_few_grey_lines_between_two_components(svc, moons):
    graph = graph_of(svc.outcome_, moons, 20)
    pairs = np.sort(svc.labels_[graph.rejected], axis=1)
    assert np.unique(pairs, axis=0, return_counts=True)[1].max() <= 3
    lengths = np.linalg.norm(np.diff(moons[graph.rejected], axis=1)[:, 0], axis=1)
    assert np.all(np.diff(lengths) >= 0)


def test_picture(svc, moons, named):
    ax = plots.connectivity(svc, moons, ax=Figure().subplots())
    graph = graph_of(svc.outcome_, moons, 20)
    drawn = named(ax, "line inside").get_segments()
    assert sorted(map(np.ndarray.tolist, drawn)) == sorted(moons[graph.edges].tolist())
    assert len(named(ax, "leaves the domain").get_segments()) == len(graph.rejected)
    assert named(ax, "inside, between clusters") is None
    assert f"{graph.inside} samples inside in {graph.n_components} components" in ax.get_title(loc="left")


def test_most_lines(svc, moons, named):
    ax = plots.connectivity(svc, moons, max_edges=7)
    drawn = named(ax, "line inside").get_segments()
    edges = graph_of(svc.outcome_, moons, 20).edges
    lengths = np.linalg.norm(np.diff(moons[edges], axis=1)[:, 0], axis=1)
    assert len(drawn) == 7
    assert np.all(np.diff(lengths) <= 0)
    assert np.allclose(drawn, moons[edges[:7]])
    assert f"line inside: 7 of {len(edges)}" in [text.get_text() for text in ax.get_legend().get_texts()]
    with pytest.raises(InvalidParameter, match="max_edges must be an integer >= 1, got 0"):
        plots.connectivity(svc, moons, max_edges=0)


def test_lines_between_clusters_of_another_labeler(named, compose):
    X, _ = make_moons(200, noise=0.07, random_state=0)
    model = compose(12.0, 0.08, "equilibrium").fit(X)
    components = graph_of(model.outcome_, X, 20).n_components
    assert model.labels_.max() + 1 > components  # it separates what lines join
    ax = plots.connectivity(model, X)
    between = named(ax, "inside, between clusters").get_segments()
    assert len(between) >= model.labels_.max() + 1 - components


@pytest.mark.parametrize("name", ["svc", "psvc", "fsvc", "sgd-lmsvc"])
def test_recipes_in_many_coordinates(name, named):
    X, _ = make_blobs([30, 30], n_features=30, cluster_std=0.5, random_state=0)
    changes = {"tuner": None} if name == "svc" else {}
    model = recipe(name, random_state=0, featuremap__gamma=0.02, **changes).fit(X.astype(np.float32))
    ax = plots.connectivity(model, X.astype(np.float32))
    assert "principal component" in ax.get_xlabel()
    assert named(ax, "line inside") is not None


def test_one_coordinate(compose, named):
    x = np.concatenate([np.linspace(0, 1, 20), np.linspace(5, 6, 20)])[:, None]
    model = compose(4.0).fit(x)
    ax = plots.connectivity(model, x)
    for segment in named(ax, "leaves the domain").get_segments():
        assert segment[:, 1].min() < model.outcome_.level
    for segment in named(ax, "line inside").get_segments():
        assert segment[:, 1].min() >= model.outcome_.level


@pytest.mark.filterwarnings("ignore:with gamma.*numerically the identity")
def test_noise_only(compose, named):
    X = np.random.default_rng(0).normal(size=(20, 2))
    ax = plots.connectivity(compose(1e4, 1.0).fit(X), X)
    assert "0 samples inside in 0 components" in ax.get_title(loc="left")
    assert named(ax, "line inside") is None
