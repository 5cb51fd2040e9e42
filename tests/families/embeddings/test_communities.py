"""Communities of shared neighbours against plain versions; one answer for any number of threads and any order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from clusterkit.families.embeddings.communities_jit import adjusted_rand, cut, merge_all, move_all, sums_between
from clusterkit.families.embeddings.layers import best_layer, fill, layer_of, layers_of
from clusterkit.families.embeddings.layout import layouts, matrix_of, neighbour_graph
from clusterkit.families.embeddings.layout_jit import nearest_in_layout, spread
from clusterkit.families.embeddings.paris import merge_tree
from clusterkit.numerics import neighbour_search as search
from clusterkit_campaign.oracles import communities as oracle

seeds = st.integers(0, 2**31 - 1)


def rows_of(seed, n=120, d=12):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3 * np.eye(5, d)[rng.integers(5, size=n)]
    return X.astype(np.float32)


def groups(k=4, n=400, d=20, apart=6.0, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return (rng.normal(size=(n, d)) + apart * np.eye(k, d)[y]).astype(np.float32), y


@given(seed=seeds, k=st.integers(1, 15), n=st.integers(20, 150))
def test_exact_neighbours_are_those_of_all_distances(seed, k, n):
    X = rows_of(seed, n)
    k = min(k, n - 1)
    order, _ = search.canonical_order(X)
    neighbours = search.nearest_rows(X, order, k, np.random.default_rng(0))
    _, squared = oracle.nearest(X[order], k)
    assert neighbours.method == "exact"
    np.testing.assert_allclose(neighbours.squared, squared, rtol=1e-3, atol=1e-4)
    gaps = X[order][:, None].astype(float) - X[order][neighbours.index]
    np.testing.assert_allclose((gaps**2).sum(axis=2), squared, rtol=1e-3, atol=1e-4)


def test_blocks_of_pairs_meet_each_other_once_and_none_twice_in_a_round():
    for count in range(1, 9):
        rounds = search._rounds(count)
        pairs = list(itertools.chain.from_iterable(rounds))
        assert sorted(pairs) == [(i, j) for i in range(count) for j in range(i, count)]
        for pairs in rounds:
            rows = [row for pair in pairs for row in set(pair)]
            assert len(rows) == len(set(rows))


@pytest.mark.parametrize("cells", [False, True])
def test_a_sketch_finds_the_neighbours_and_says_how_many(cells, monkeypatch):
    monkeypatch.setattr(search, "EXACT_WORK", 0)
    monkeypatch.setattr(search, "BLOCK", 256)
    monkeypatch.setattr(search, "CELLS_FROM", 0 if cells else 10**9)
    monkeypatch.setattr(search, "CELL_ROWS", 100)
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(900, 6)) @ rng.normal(size=(6, 80)) + 0.1 * rng.normal(size=(900, 80))).astype(np.float32)
    order, _ = search.canonical_order(X)
    neighbours = search.nearest_rows(X, order, 10, np.random.default_rng(0))
    assert neighbours.method == ("cells" if cells else "sketch")
    index, squared = oracle.nearest(X[order], 10)
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(index, neighbours.index, strict=True)])
    assert recall >= 0.95
    assert abs(recall - neighbours.recall) <= 0.02
    assert (neighbours.squared >= squared.astype(np.float32) * 0.999).all()


def test_lists_that_a_sketch_leaves_short_are_filled_by_the_exact_rows(monkeypatch):
    X = rows_of(0, 60)
    order, _ = search.canonical_order(X)
    expected = search.nearest_rows(X, order, 5, np.random.default_rng(0), "exact")
    # rows of even numbers find nothing, the others all rows but themselves
    lists = np.where(np.arange(60)[:, None] % 2, np.arange(60), -1).astype(np.int32)
    np.fill_diagonal(lists, -1)
    monkeypatch.setattr(search, "_of_all_pairs", lambda *sketch: (lists, None))
    neighbours = search.nearest_rows(X, order, 5, np.random.default_rng(0), "sketch")
    even = np.arange(0, 60, 2)
    np.testing.assert_array_equal(neighbours.index[even], expected.index[even])
    assert neighbours.index.min() >= 0


@pytest.mark.parametrize("noise", [True, False])
def test_a_sketch_counts_what_its_axes_leave_out_where_that_finds_more(noise, monkeypatch):
    # noise is at right angles in two rows; documents that are near share what is left out
    rng = np.random.default_rng(0)
    y = rng.integers(12, size=600)
    X = 2 * rng.normal(size=(12, 40))[y] @ rng.normal(size=(40, 400)) / 20
    if noise:
        X += rng.normal(size=X.shape) * rng.uniform(0.5, 1.5, size=(600, 1)) / 5
    else:
        part = rng.integers(150, size=600)
        X += 0.2 * rng.normal(size=(150, 400))[part] * rng.uniform(0.5, 1.5, size=(150, 1))[part]
        X += rng.normal(size=X.shape) / 50
    X = X.astype(np.float32)
    monkeypatch.setattr(search, "EXACT_WORK", 0)
    monkeypatch.setattr(search, "BLOCK", 256)
    order, _ = search.canonical_order(X)
    neighbours = search.nearest_rows(X, order, 5, np.random.default_rng(0))
    index, _ = oracle.nearest(X[order], 5)
    recall = np.mean([len(set(a) & set(b)) / 5 for a, b in zip(index, neighbours.index, strict=True)])
    assert recall >= 0.95
    assert abs(recall - neighbours.recall) <= 0.02


@given(seed=seeds)
def test_the_order_of_the_rows_is_forgotten(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(60, 3)).astype(np.float32)
    first, place = search.canonical_order(X)
    np.testing.assert_array_equal(X[first][place], X)
    assert len(first) == len(np.unique(X, axis=0))
    again, moved = search.canonical_order(X[(p := rng.permutation(60))])
    np.testing.assert_array_equal(X[p][again], X[first])
    np.testing.assert_array_equal(moved, place[p])


@given(seed=seeds, k=st.integers(2, 8))
def test_weights_count_shared_neighbours(seed, k):
    graph = neighbour_graph(rows_of(seed, 60) * 1e25, k, np.random.default_rng(0))  # float32 holds no square of these
    np.testing.assert_allclose(matrix_of(graph).toarray(), oracle.shared_weights(graph.index), rtol=1e-6)


def merged(B):
    """Merges of a dense matrix of weights that are multiples of 2^-20, as those of a merge tree are."""
    W = csr_array(B)
    return merge_all(W.indptr, W.indices, W.data.copy(), B.sum(axis=1))


def rounded(B):
    return np.rint(B * 2**20) / 2**20


@given(seed=seeds, m=st.integers(2, 14))
def test_merges_are_those_of_the_naive_rule_and_ever_less_similar(seed, m):
    rng = np.random.default_rng(seed)
    B = rng.uniform(size=(m, m)) * (rng.uniform(size=(m, m)) < 0.7)
    B = rounded(B + B.T + np.diag(rng.uniform(1, 3, size=m)))
    pairs, similar = merged(B)
    named = [frozenset([i]) for i in range(m)]
    steps = {}
    for (a, b), value in zip(pairs, similar * B.sum(), strict=True):
        steps[frozenset([named[a], named[b]])] = value
        named.append(named[a] | named[b])
        below = [steps[c] for c in steps if frozenset().union(*c) in (named[a], named[b])]
        assert all(value <= other for other in below), "a merge is more similar than one inside it"
    positive = [(frozenset(pair), value) for pair, value in oracle.merges(B) if value > 1e-12]
    for pair, value in positive:  # unconnected communities merge in any order
        assert steps[pair] == pytest.approx(value)


def test_of_equal_similarities_rounding_makes_none_exceed_one_inside_it():
    pairs, similar = merged(rounded(np.kron(np.eye(3), np.full((4, 4), 2 / 3)) + 0.02 + 0.1 * np.eye(12)))
    inside = np.concatenate([np.full(12, np.inf), similar])
    assert (similar <= inside[pairs].min(axis=1)).all()


@given(seed=seeds, m=st.integers(1, 16), least=st.integers(1, 12))
def test_a_cut_walks_down_the_tree(seed, m, least):
    rng = np.random.default_rng(seed)
    B = rng.uniform(size=(m, m))
    pairs, similar = merged(rounded(B + B.T))
    order = np.argsort(-similar, kind="stable")
    names = np.arange(2 * m - 1)
    names[m + order] = m + np.arange(m - 1)
    pairs, similar = names[pairs[order]], similar[order]
    sizes = rng.integers(1, 9, size=m).astype(float)
    for count in range(m + 1):
        labels = np.empty(m, dtype=np.int64)
        splits = cut(pairs, similar, sizes, least, count, labels)
        expected, of_oracle = oracle.cut(pairs.tolist(), similar, sizes, least, count)
        assert splits.tolist() == of_oracle
        assert len({*zip(labels, expected, strict=True)}) == len({*labels}) == len({*expected})


@given(seed=seeds, m=st.integers(1, 9))
def test_the_weights_between_communities_are_sums(seed, m):
    W = rounded(matrix_of(neighbour_graph(rows_of(seed, 50), 5, np.random.default_rng(0))).toarray())
    labels = np.r_[np.arange(m), np.random.default_rng(seed).integers(m, size=50 - m)]
    edges = csr_array(W)
    B = sums_between(edges.indptr, edges.indices, edges.data, labels, m)
    member = np.eye(m)[labels]
    assert (csr_array((B[2], B[1], B[0]), shape=(m, m)).toarray() == member.T @ W @ member).all()
    assert all((np.diff(B[1][B[0][c] : B[0][c + 1]]) > 0).all() for c in range(m))


@given(seed=seeds, gamma=st.sampled_from([0.5, 1.0, 3.0]))
def test_moves_raise_the_modularity_and_keep_the_degrees_of_communities(seed, gamma):
    graph = neighbour_graph(rows_of(seed, 50), 5, np.random.default_rng(0))
    W = matrix_of(graph).astype(np.float64)
    labels, degrees = np.arange(graph.n), np.asarray(W.sum(axis=1)).reshape(-1)
    totals, order = degrees.copy(), np.random.default_rng(seed).permutation(graph.n)
    move = W.indptr, W.indices, W.data, degrees
    moves = move_all(*move, labels, totals, gamma, order)
    assert moves > 0
    np.testing.assert_allclose(totals, np.bincount(labels, degrees, graph.n), atol=1e-9)
    dense = W.toarray()
    assert oracle.modularity(dense, labels, gamma) > oracle.modularity(dense, np.arange(graph.n), gamma)
    before = oracle.modularity(dense, labels, gamma)
    move_all(*move, labels, totals, gamma, order)
    assert oracle.modularity(dense, labels, gamma) >= before - 1e-12


@given(seed=seeds, m=st.integers(1, 4))
def test_the_agreement_is_the_adjusted_rand_index(seed, m):
    labelings = np.random.default_rng(seed).integers(0, 4, size=(m, 30))
    table = adjusted_rand(labelings)
    for a, b in itertools.product(range(m), repeat=2):
        assert table[a, b] == pytest.approx(oracle.adjusted_rand(labelings[a], labelings[b]))


@given(seed=seeds)
def test_rows_that_fell_out_take_the_label_of_most_weight(seed):
    graph = neighbour_graph(rows_of(seed, 60), 4, np.random.default_rng(0))
    rng = np.random.default_rng(seed)
    labels = np.where(rng.uniform(size=60) < 0.4, -1, rng.integers(0, 3, size=60))
    labels[:3] = [0, 1, 2]
    expected = oracle.filled(matrix_of(graph).toarray(), labels)
    expected[expected < 0] = np.argmax(np.bincount(labels[labels >= 0]))
    np.testing.assert_array_equal(fill(graph, labels), expected)


def test_neighbours_in_a_layout_are_sought_around_the_graph():
    X, _ = groups()
    graph = neighbour_graph(X, 10, np.random.default_rng(0))
    Y = np.random.default_rng(1).normal(size=(graph.n, 8)).astype(np.float32)
    similar = np.full((graph.n, 10), -np.inf, dtype=np.float32)
    nearest = np.full((graph.n, 10), -1, dtype=np.int32)
    nearest_in_layout(Y, graph.index, similar, nearest, 0, graph.n)
    for i in range(0, graph.n, 37):
        around = np.unique([*graph.index[i], *graph.index[graph.index[i]].ravel()])
        around = around[around != i]
        squared = ((Y[around] - Y[i]) ** 2).sum(axis=1)
        np.testing.assert_array_equal(np.sort(nearest[i]), np.sort(around[np.argsort(squared)[:10]]))


def test_edges_attract_and_random_rows_repel():
    def spread_of(pairs, negatives):
        Y = np.random.default_rng(0).normal(size=(6, 8)).astype(np.float32)
        before = Y.copy()
        heads, tails = np.array(pairs, dtype=np.int32).T.copy()
        spread(Y, heads, tails, np.ones(len(heads), dtype=np.float32), 20, negatives, 1)
        return before, Y

    before, after = spread_of([(0, 1), (1, 0)], 0)
    assert np.linalg.norm(after[0] - after[1]) < 0.1 * np.linalg.norm(before[0] - before[1])
    np.testing.assert_array_equal(after[2:], before[2:])
    _, repelled = spread_of([(0, 1), (1, 0)], 3)
    assert np.linalg.norm(repelled[2:] - repelled[0], axis=1).min() > np.linalg.norm(after[2:] - after[0], axis=1).min()


def fitted(X, count=2, seed=0):
    graph = neighbour_graph(X, 10, np.random.default_rng(seed))
    placed = layouts(graph, 30, 3, list(range(seed, seed + count)), np.random.default_rng(seed))
    return graph, [merge_tree(graph, Y, np.random.default_rng(i)) for i, Y in enumerate(placed)]


@pytest.mark.parametrize("k", [2, 5, 8])
def test_unconnected_parts_are_the_clusters(k):
    X, y = groups(k, 60 * k, 30, apart=40.0)
    graph, trees = fitted(X)
    chosen = best_layer(layers_of(trees))
    assert chosen.n_clusters == k
    assert oracle.adjusted_rand(y, fill(graph, chosen.labels)[graph.place]) == 1.0
    assert layer_of(trees, k).n_clusters == k


@pytest.mark.parametrize("method", ["exact", "sketch", "cells"])
def test_the_same_bits_for_any_number_of_threads(method, monkeypatch):
    monkeypatch.setattr(search, "BLOCK", 128)
    monkeypatch.setattr(search, "EXACT_WORK", 10**12 if method == "exact" else 0)
    monkeypatch.setattr(search, "CELLS_FROM", 0 if method == "cells" else 10**9)
    monkeypatch.setattr(search, "CELL_ROWS", 60)
    X, _ = groups(n=700, d=80)
    answers = []
    for threads in (1, 3):
        monkeypatch.setattr("clusterkit.numerics.threads.available", lambda threads=threads: threads)
        graph, trees = fitted(X, 3)
        assert graph.method == method
        answers.append((graph.index, graph.weights, *(tree.similarity for tree in trees)))
    for one, other in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, other)


def test_layers_need_clusters_of_ten_rows():
    X, _ = groups(2, 12, 5)
    _, trees = fitted(X)
    assert layers_of(trees) == []
    assert layer_of(trees, 2).n_clusters == 2


@given(seed=seeds, k=st.integers(1, 6))
def test_the_nearest_of_new_rows_are_exact_and_equal_rows_come_first(seed, k):
    X = rows_of(seed, 80)
    Y = np.concatenate([X[::7], X[::9] + 1])
    squared, index = search.nearest_of(X, Y, k)
    D = ((Y[:, None].astype(float) - X[None]) ** 2).sum(axis=2)
    expected = np.argsort(D, axis=1, kind="stable")[:, :k]
    np.testing.assert_allclose(squared, np.take_along_axis(D, expected, axis=1), rtol=1e-5)
    np.testing.assert_array_equal(index[: len(X[::7]), 0], np.arange(0, 80, 7))
    assert (squared[: len(X[::7]), 0] == 0).all()
