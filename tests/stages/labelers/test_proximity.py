"""The proximity graphs, and the clusters that their lines inside a domain leave."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from clusterkit import Pipeline
from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.outcomes import FunctionDomain, KernelDomain
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import InvalidData, InvalidParameter
from clusterkit.featuremaps.elm import Elm
from clusterkit.featuremaps.rbf import Rbf
from clusterkit.featuremaps.scaling import Identity
from clusterkit.fitting.fit import fit
from clusterkit.labelers._proximity_edges_jit import delaunay_edges, knn_edges, mst_edges
from clusterkit.labelers.graphs import CompleteGraph, Proximity
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.limits import listening
from clusterkit.solvers.one_class.svdd import Svdd
from clusterkit.testing import laws_of
from clusterkit.testing.contract import LAWS as CONTRACT
from clusterkit_campaign.oracles import domains as plain
from clusterkit_campaign.oracles.domains import canonical

pytestmark = pytest.mark.filterwarnings(r"ignore:\d+ of the \d+ points at which the rows lie")

GRAPHS = ("mst", "delaunay", "knn")
POLICIES = ("noise", "nearest", "singleton")


@st.composite
def clouds(draw, max_u=25, max_d=4):
    """Distinct points: general, on a grid (all distances tie), on a line or a plane, far from the origin."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    u, d = draw(st.integers(1, max_u)), draw(st.integers(1, max_d))
    pattern = draw(st.sampled_from(["normal", "grid", "line", "plane", "far", "nearly flat", "circle"]))
    X = rng.normal(size=(u, d))
    if pattern == "grid":
        X = rng.integers(0, 4, size=(u, d)).astype(float)
    elif pattern == "line":
        X = X[:, :1] * rng.normal(size=d) + 3.0
    elif pattern == "plane":
        X = rng.integers(0, 4, size=(u, 2)) @ rng.normal(size=(2, d))
    elif pattern == "far":
        X += 1e7
    elif pattern == "nearly flat":
        X[:, 1:] *= 1e-12
    elif pattern == "circle":
        angles = rng.integers(0, 40, size=u) * (2.0 * np.pi / 40.0)
        X[:, 0] = np.cos(angles)
        X[:, 1:] = np.sin(angles)[:, None]
    X = np.unique(X, axis=0)
    return X[rng.permutation(len(X))]


@st.composite
def contours(draw, max_n=22):
    """Samples, some of them equal, and a kernel sum that need not come from any solver."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, max_n)), draw(st.integers(1, 4))
    X = rng.normal(size=(n, d)) + 2.0 * rng.integers(3, size=(n, 1))
    if draw(st.booleans()):
        X = np.round(X)
    centres = np.concatenate([X[rng.integers(n, size=min(n, 5))], rng.normal(size=(2, d))])
    domain = KernelDomain(centres, rng.random(len(centres)), Gaussian(draw(st.sampled_from([0.1, 0.5, 2.0]))), level=0)
    values = domain.value(X)
    level = values.min() + draw(st.floats(-0.1, 1.0)) * (values.max() - values.min())
    return X, KernelDomain(domain.centres, domain.weights, domain.kernel, level=float(level) * (1.0 - 1e-7))


def as_function(domain):
    return FunctionDomain(domain.value, level=domain.level)


def label(labeler, domain, X):
    return labeler.label(domain, KernelSpace(X, Gaussian(1.0)), Task(len(X), None), np.random.default_rng(0))


def refines(fine, coarse):
    labelled = fine >= 0
    pairs = np.unique(np.stack([fine[labelled], coarse[labelled]], axis=1), axis=0)
    return np.array_equal(labelled, coarse >= 0) and len(np.unique(pairs[:, 0])) == len(pairs)


def as_set(edges):
    assert edges.dtype == np.int64
    assert edges.flags.c_contiguous
    pairs = set(map(tuple, edges.tolist()))
    assert len(pairs) == len(edges)
    return pairs


def in_order(points, edges):
    keys = [(plain.sorted_pairs(points[[i, j]])[0][0], i, j) for i, j in edges]
    return keys == sorted(keys) and all(i < j for i, j in edges)


@given(clouds(max_d=12), st.integers(1, 6))
def test_the_nearest_neighbours_of_all_distances(points, k):
    edges = knn_edges(points, k)
    assert as_set(edges) == plain.knn(points, k)
    assert in_order(points, edges)


@given(clouds(max_d=6))
def test_the_spanning_tree_of_all_distances(points):
    edges = mst_edges(points)
    assert in_order(points, edges)
    expected = plain.mst(points)
    lengths = np.sort([key[0] for key in plain.sorted_pairs(points)])
    apart = np.diff(lengths)
    if np.any((apart > 0) & (apart <= 1e-12 * lengths[1:])):
        # lengths that differ by rounding only: any tree of the same lengths is one
        weight = {(i, j): length for length, i, j in plain.sorted_pairs(points)}
        lengths, same = (np.sort([weight[edge] for edge in graph]) for graph in (as_set(edges), expected))
        np.testing.assert_allclose(lengths, same, rtol=1e-9)
    else:
        assert as_set(edges) == expected


def point_between(points, i, j):
    """Whether another point is on the line between two up to rounding: which edge a flat triangle has is then open."""
    along = points[j] - points[i]
    share = (points - points[i]) @ along / (along @ along)
    off = np.linalg.norm(points - points[i] - share[:, None] * along, axis=1)
    return bool(np.any((share > 0) & (share < 1) & (off < 1e-7) & (np.arange(len(points)) != j)))


@given(clouds(max_u=8, max_d=3))
def test_edges_of_the_triangulation_have_an_empty_ball(points):
    scaled = (points - points.mean(axis=0)) / (np.abs(points - points.mean(axis=0)).max() or 1.0)
    # what is flat to 1e-9 is triangulated as if it were
    axes = np.linalg.svd(scaled, full_matrices=False)
    flat = scaled @ axes[2][axes[1] > 1e-9 * axes[1][0]].T
    assume(len(np.unique(np.round(flat, 6), axis=0)) == len(points))
    for i, j in delaunay_edges(points):
        assert plain.is_delaunay_edge(flat, i, j) or point_between(flat, i, j)


@given(st.integers(0, 2**32 - 1), st.integers(3, 9), st.integers(2, 3))
def test_the_triangulation_in_general_position(seed, u, d):
    points = np.random.default_rng(seed).normal(size=(u, d))
    expected = {(i, j) for j in range(u) for i in range(j) if plain.is_delaunay_edge(points, i, j)}
    assert as_set(delaunay_edges(points)) == expected


@given(clouds(max_u=40))
def test_the_tree_is_part_of_the_triangulation(points):
    triangulation = delaunay_edges(points)
    assert as_set(mst_edges(points)) <= as_set(triangulation)
    assert in_order(points, triangulation)


def test_points_that_qhull_drops_are_kept():
    """A pair nearer than its precision: one of the two is in no simplex."""
    points = np.random.default_rng(0).normal(size=(30, 3))
    points[7] = points[3] + 1e-15
    assert set(delaunay_edges(points).ravel()) == set(range(30))
    assert as_set(mst_edges(points)) == plain.mst(points)
    assert as_set(mst_edges(points)) <= as_set(delaunay_edges(points))


def test_many_ties_and_many_rows():
    X = np.stack(np.meshgrid(np.arange(60.0), np.arange(60.0)), axis=-1).reshape(-1, 2)
    assert len(mst_edges(X)) == 3599
    # only a few points at the lower border prefer what is not one step away
    edges = knn_edges(X, 4)
    lengths = np.square(X[edges[:, 0]] - X[edges[:, 1]]).sum(axis=1)
    assert (lengths == 1.0).sum() == 2 * 60 * 59
    assert lengths.max() == 4.0 if (lengths > 2).any() else 2.0


@given(contours(), st.sampled_from(GRAPHS), st.integers(1, 5), st.sampled_from(POLICIES), st.sampled_from([1, 20]))
def test_labels_of_the_plain_version(contour, graph, k, policy, m):
    X, domain = contour
    values = domain.value(X)
    inside = values >= domain.level
    assume(len(X) > 1 and np.abs(values - domain.level).min() > 1e-10)
    points = np.array(list(dict.fromkeys(map(tuple, X[inside].tolist()))), dtype=float).reshape(-1, X.shape[1])
    expected = np.full(len(X), -1)
    if len(points):
        edges = {"knn": lambda: plain.knn(points, k), "mst": lambda: plain.mst(points)}.get(
            graph, lambda: as_set(delaunay_edges(points))
        )()
        inside_edges, margin = plain.inside_edges(domain.value, domain.level, points, edges, m)
        assume(margin > 1e-10)
        number = dict(zip(map(tuple, points.tolist()), plain.components(len(points), inside_edges), strict=True))
        expected[inside] = [number[tuple(x)] for x in X[inside].tolist()]
    expected = canonical(expected)
    labeler = Proximity(graph=graph, n_neighbors=k, n_segment_points=m)
    for region in (domain, as_function(domain)):
        labeling = label(labeler, region, X)
        assert labeling.labels.tolist() == expected.tolist()
        other = label(Proximity(graph=graph, n_neighbors=k, n_segment_points=m, outliers=policy), region, X)
        if policy == "nearest" or not (expected < 0).any():
            assert (other.labels >= 0).all()
        assert other.labels[inside].tolist() == canonical(other.labels)[inside].tolist()
        if other.exact:
            assert other.predict(X).tolist() == other.labels.tolist()


@given(contours(max_n=40), st.integers(1, 8))
def test_every_graph_refines_the_complete_one(contour, k):
    X, domain = contour
    whole = label(CompleteGraph(), domain, X).labels
    few, many = (label(Proximity(graph="knn", n_neighbors=neighbours), domain, X).labels for neighbours in (k, k + 1))
    tree, triangles = (label(Proximity(graph=graph), domain, X).labels for graph in ("mst", "delaunay"))
    assert refines(few, many)
    assert refines(many, whole)
    assert refines(tree, triangles)
    assert refines(triangles, whole)
    everything = label(Proximity(graph="knn", n_neighbors=len(X)), domain, X).labels
    assert everything.tolist() == whole.tolist()


@pytest.mark.hypothesis
@pytest.mark.parametrize("stage", [Proximity(graph="knn", n_neighbors=2), Proximity(graph="delaunay")], ids=repr)
def test_settings_keep_the_laws(stage):
    for name, check in laws_of(stage):
        if name not in {law.name for law in CONTRACT}:
            check()


@given(contours(), st.sampled_from(GRAPHS), st.integers(0, 2**32 - 1))
def test_duplicates_and_permutations(contour, graph, seed):
    X, domain = contour
    labels = label(Proximity(graph=graph), domain, X).labels
    twice = label(Proximity(graph=graph), domain, np.repeat(X, 2, axis=0)).labels
    assert len(X) == 1 or twice[::2].tolist() == twice[1::2].tolist() == labels.tolist()
    squares = [d for d, _, _ in plain.sorted_pairs(np.unique(X, axis=0))]
    assume(len(set(squares)) == len(squares))
    order = np.random.default_rng(seed).permutation(len(X))
    moved = label(Proximity(graph=graph), domain, X[order]).labels
    assert moved.tolist() == canonical(labels[order]).tolist()


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("policy", POLICIES)
def test_one_sample_and_all_outliers(graph, policy):
    domain = KernelDomain(np.array([[9.0]]), np.array([1.0]), Gaussian(1.0), level=0.5)
    labeler = Proximity(graph=graph, outliers=policy)
    alone = label(labeler, domain, np.array([[1.0]]))
    assert alone.labels.tolist() == alone.predict(np.array([[1.0]])).tolist() == [0]
    expected = {"noise": [-1, -1, -1], "nearest": [0, 0, 0], "singleton": [0, 1, 0]}[policy]
    assert label(labeler, domain, np.array([[1.0], [2.0], [1.0]])).labels.tolist() == expected


@pytest.mark.parametrize("graph", GRAPHS)
def test_two_moons(graph):
    X, y = make_moons(400, noise=0.05, random_state=0)
    run = fit(Composition(Rbf(gamma=16.0), Svdd(), Proximity(graph=graph, n_neighbors=6)), X, Seeds(0))
    assert adjusted_rand_score(y, run.labels) == 1.0
    assert run.exact
    assert np.array_equal(pickle.loads(pickle.dumps(run.predict))(X), run.labels)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("featuremap", [Identity(), Elm(n_hidden=30), Rbf(gamma=2.0)])
def test_every_space_predicts_its_labels(featuremap, dtype):
    X = np.random.default_rng(2).normal(size=(60, 5)).astype(dtype)
    for graph in ("knn", "mst"):
        run = fit(Composition(featuremap, Svdd(nu=0.2), Proximity(graph=graph, outliers="nearest")), X, Seeds(0))
        assert run.exact
        assert np.array_equal(run.predict(X), run.labels)


def test_too_many_attributes_for_a_triangulation():
    X = np.random.default_rng(0).normal(size=(20, 5))
    with pytest.raises(InvalidData, match=r"graph='delaunay' takes at most 4 attributes, these samples have 5; use"):
        Pipeline({"name": "rbf", "gamma": 1.0}, "svdd", {"name": "proximity", "graph": "delaunay"}).fit(X)
    assert Pipeline({"name": "rbf", "gamma": 0.1}, "svdd", "proximity").fit(X).labels_.max() >= 0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"graph": "gabriel"}, r"labeler 'proximity': graph must be one of 'mst', 'delaunay', 'knn', got 'gabriel'"),
        ({"n_neighbors": 0}, r"n_neighbors must be an integer >= 1, got 0"),
        ({"min_cluster_size": 0}, r"min_cluster_size must be an integer >= 1 or None, got 0"),
    ],
)
def test_messages(parameters, words):
    with pytest.raises(InvalidParameter, match=words):
        Proximity(**parameters)


@pytest.mark.parametrize("function", [False, True])
def test_an_interrupt_keeps_what_is_joined(function):
    X = np.random.default_rng(0).normal(size=(200, 2))
    domain = KernelDomain(X, np.full(200, 1 / 200), Gaussian(1.0), level=1e-3)
    region = as_function(domain) if function else domain

    def stop(report):
        assert report.stage == "proximity"
        raise KeyboardInterrupt

    with listening(stop):
        labeling = label(Proximity(), region, X)
    assert labeling.interrupted
    assert refines(labeling.labels, label(Proximity(), region, X).labels)
