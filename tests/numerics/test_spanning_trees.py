"""Spanning trees against Prim's algorithm by all pairs: any data, any number of threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import trees as oracle

from clusterkit._jit import njit
from clusterkit.families.trees.hierarchy_jit import hierarchy
from clusterkit.numerics import threads
from clusterkit.numerics.spanning_trees import boruvka, tree
from clusterkit.numerics.spanning_trees.boruvka_jit import kth_near, smallest
from clusterkit.numerics.spanning_trees.reach_jit import SQUARED, core_squares, prim
from clusterkit.numerics.spanning_trees.tree import minimum_spanning_tree, nearest_by_reachability

compiled = njit(cache=False)  # what is on disk of these has no entrance from Python
near_a_guess, selected = compiled(kth_near), compiled(smallest)


@st.composite
def tables(draw, most=400):
    n, d = draw(st.integers(2, most)), draw(st.integers(1, 20))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    kind = draw(st.sampled_from(["cloud", "blobs", "lattice", "repeated", "shifted", "equal"]))
    if kind == "blobs":
        X += 20 * rng.integers(0, 3, size=(n, 1))
    elif kind == "lattice":
        X = rng.integers(0, 4, size=(n, d)).astype(float)
    elif kind == "repeated":
        X = X[rng.integers(0, max(1, n // 3), size=n)]
    elif kind == "shifted":
        X = 1e3 + 1e-3 * X
    elif kind == "equal":
        X[:] = X[0]
    return X.astype(draw(st.sampled_from(["float64", "float64", "float32"])))


@pytest.fixture(autouse=True)
def _whatever_the_size(monkeypatch):
    monkeypatch.setattr(tree, "ALL_PAIRS", 1)


@given(X=tables(), n_neighbors=st.sampled_from([1, 1, 2, 5, 50]))
def test_the_tree_is_the_one_of_all_pairs(X, n_neighbors):
    spanned = minimum_spanning_tree(X, n_neighbors)
    W, core = oracle.reach(X, n_neighbors)
    np.testing.assert_allclose(spanned.core_distances, core, rtol=1e-12, atol=0)
    np.testing.assert_allclose(spanned.weights, oracle.prim(W), rtol=1e-12, atol=0)
    low, high = spanned.edges.T
    assert (low < high).all()
    np.testing.assert_allclose(W[low, high], spanned.weights, rtol=1e-12, atol=0)
    ranks = list(zip(spanned.weights, low, high, strict=True))
    assert ranks == sorted(ranks)
    assert len(hierarchy(spanned.edges, spanned.weights).size) > 1  # the edges join all rows


@pytest.mark.parametrize("n_neighbors", [1, 3, 15, 60])
@pytest.mark.parametrize("d", [1, 2, 5, 9])
def test_of_edges_of_equal_weight_the_shorter_one_is_taken(d, n_neighbors):
    """A core distance is the weight of many pairs, and distances of a cloud do not tie: there is one such tree."""
    X = np.random.default_rng(d).normal(size=(900, d))
    edges, _ = prim(X, core_squares(X, n_neighbors), SQUARED)
    spanned = minimum_spanning_tree(X, n_neighbors)
    assert {tuple(sorted(edge)) for edge in edges.tolist()} == {tuple(edge) for edge in spanned.edges.tolist()}


@given(data=st.data())
def test_the_kth_smallest_near_a_guess_is_exact_whatever_the_guess(data):
    count = data.draw(st.integers(1, 300))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    values = rng.random(count) ** data.draw(st.sampled_from([0.1, 1, 8]))
    if data.draw(st.booleans()):
        values = np.round(values * 3)
    values[rng.random(count) < 0.1] = np.inf
    ranked = np.sort(values[np.isfinite(values)])
    if not len(ranked):
        return
    k = data.draw(st.integers(1, len(ranked)))
    guess = data.draw(
        st.sampled_from([np.inf, 0.0, 1e-300, ranked[k - 1], ranked[-1], 0.9 * ranked[k - 1], 0.5, 1e300])
    )
    room = np.append(values, np.nan)  # with the place behind the values, which is written to
    near = near_a_guess(room, room.view(np.int64), count, k, guess, np.full(count + 1, np.nan))
    assert near == ranked[k - 1]
    np.testing.assert_array_equal(room[:-1], values)
    assert selected(values.copy(), count, k) == ranked[k - 1]


@pytest.mark.parametrize("n_neighbors", [2, 15, 300, 1500])
@pytest.mark.parametrize("kind", ["cloud", "lattice", "line", "spiral of densities", "clumps"])
def test_core_distances_in_a_plane_are_exact_where_the_guessed_reach_is_wrong(kind, n_neighbors):
    rng = np.random.default_rng(n_neighbors)
    X = rng.normal(size=(1500, 2))
    if kind == "lattice":
        X = np.stack(np.divmod(np.arange(1500.0), 40), axis=1)
    elif kind == "line":  # boxes without an area
        X[:, 1] = 3.0
    elif kind == "spiral of densities":
        X = np.exp(np.linspace(-9, 9, 1500))[:, None] * X
    elif kind == "clumps":
        X = 1e-4 * X + 10.0 * rng.integers(0, 40, size=(1500, 2))
    X = rng.permutation(X)
    _, core = oracle.reach(X, n_neighbors)
    np.testing.assert_allclose(minimum_spanning_tree(X, n_neighbors).core_distances, core, rtol=1e-12, atol=0)


@given(X=tables(), n_neighbors=st.sampled_from([1, 5]), seed=st.integers(0, 100))
def test_the_order_of_rows_changes_no_length(X, n_neighbors, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    one, other = minimum_spanning_tree(X, n_neighbors), minimum_spanning_tree(X[order], n_neighbors)
    np.testing.assert_array_equal(one.weights, other.weights)
    np.testing.assert_array_equal(one.core_distances[order], other.core_distances)


@pytest.mark.parametrize("n_neighbors", [1, 6])
@pytest.mark.parametrize("d", [2, 9])
def test_the_number_of_threads_changes_nothing(monkeypatch, n_neighbors, d):
    rng = np.random.default_rng(d)
    X = np.round(rng.normal(size=(3000, d)) + 3 * rng.integers(0, 4, size=(3000, 1)), 2)
    monkeypatch.setattr(boruvka, "PARALLEL", 0)
    trees = []
    for count in (1, 2, 5):
        monkeypatch.setattr(threads, "available", lambda count=count: count)
        trees.append(minimum_spanning_tree(X, n_neighbors))
    for other in trees[1:]:
        np.testing.assert_array_equal(trees[0].edges, other.edges)
        np.testing.assert_array_equal(trees[0].weights, other.weights)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_extreme_scales_lose_nothing_in_single_precision(scale):
    X = np.random.default_rng(0).normal(size=(300, 9))
    plain, scaled = minimum_spanning_tree(X, 4), minimum_spanning_tree(scale * X, 4)
    np.testing.assert_allclose(scaled.weights, scale * plain.weights, rtol=1e-10)


@pytest.mark.parametrize("n", [1, 2])
def test_one_row_and_two(n):
    X = np.arange(n, dtype=float)[:, None]
    spanned = minimum_spanning_tree(X, 5)
    assert spanned.weights.tolist() == [1.0] * (n - 1)
    assert spanned.core_distances.tolist() == [float(n - 1)] * n


@given(X=tables(150), n_neighbors=st.sampled_from([1, 2, 6]), few=st.booleans(), seed=st.integers(0, 100))
def test_new_rows_reach_the_row_of_least_weight_and_distance(X, n_neighbors, few, seed):
    from clusterkit.numerics.spanning_trees import tree

    rng = np.random.default_rng(seed)
    Y = np.concatenate([X[:5], X[:5] + 0.1 * rng.normal(size=X[:5].shape), X[:1] + 1e6, X[:1] - 1e6]).astype(float)
    core = minimum_spanning_tree(X, n_neighbors).core_distances
    before = tree.FEW
    tree.FEW = 10**6 if few else 0
    try:
        nearest, weights = nearest_by_reachability(X, core, n_neighbors, Y)
    finally:
        tree.FEW = before
    D = np.sqrt(sum((Y[:, c, None] - X[None, :, c].astype(float)) ** 2 for c in range(X.shape[1])))
    k = min(n_neighbors - 1, len(X))
    core_new = np.sort(D, axis=1)[:, k - 1] if k else np.zeros(len(Y))
    W = np.maximum(np.maximum(D, core), core_new[:, None])
    np.testing.assert_allclose(weights, W.min(axis=1), rtol=1e-12)
    at = np.arange(len(Y))
    close = W.min(axis=1)[:, None] * (1 + 1e-12) >= W
    np.testing.assert_allclose(D[at, nearest], np.where(close, D, np.inf).min(axis=1), rtol=1e-9)
