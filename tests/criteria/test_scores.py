"""The scores of clusterings against plain references, on any data and labels."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog

from clusterkit.criteria.confidence import (
    canonical,
    cluster_agreement,
    distinct,
    family_agreement,
    rand_matrix,
    subsample_stability,
    subsamples,
)
from clusterkit.criteria.one_cluster import OneCluster, are_counts, dip_of, indicated_levels
from clusterkit.criteria.rules import candidate_numbers, known_number, mass_ratio_number, unknown_number
from clusterkit.criteria.terrain import Separation, Terrain, border_contrast, inner_contrast, mass_drop
from clusterkit.metrics import adjusted_rand
from clusterkit.numerics.spanning_trees.tree import least_side


def prim(X: np.ndarray, n_neighbors: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges, weights and core distances of the tree of mutual reachability, by looking at all pairs."""
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    core = np.sort(D, axis=1)[:, min(n_neighbors, len(X)) - 1]
    W = np.maximum(D, np.maximum(core[:, None], core))
    inside, edges = [0], []
    while len(inside) < len(X):
        outside = np.setdiff1d(np.arange(len(X)), inside)
        block = W[np.ix_(inside, outside)]
        i, j = np.unravel_index(np.argmin(block), block.shape)
        edges.append((block[i, j], inside[i], outside[j]))
        inside.append(int(outside[j]))
    edges.sort(key=lambda edge: edge[0])
    return np.array([edge[1:] for edge in edges]), np.array([edge[0] for edge in edges]), core


def components(n: int, edges) -> list[set[int]]:
    """Connected parts of n rows."""
    parts = [{i} for i in range(n)]
    for i, j in edges:
        one, other = (next(part for part in parts if row in part) for row in (i, j))
        if one is not other:
            parts.remove(other)
            one |= other
    return parts


def plain_masses(edges, weights, core, least) -> list[float]:
    """Masses in the order of the edges, each from the parts that the shorter edges make."""
    values = []
    for e, (i, j) in enumerate(edges):
        parts = components(len(core), edges[:e])
        sides = [next(part for part in parts if row in part) for row in (i, j)]
        births = [min(core[row] for row in side) for side in sides]
        small = min(map(len, sides))
        values.append(math.log(weights[e] / max(births)) * math.sqrt(small) if small >= least else 0.0)
    return values


@st.composite
def data_and_labels(draw, most: int = 40):
    """Distinct rows in 1 to 3 dimensions with labels of 2 to 4 clusters, each of which occurs."""
    n, d = draw(st.integers(8, most)), draw(st.integers(1, 3))
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    k = draw(st.integers(2, 4))
    labels = rng.integers(k, size=n)
    labels[:k] = np.arange(k)
    X = rng.standard_normal((n, d)) + draw(st.sampled_from([0.0, 5.0])) * labels[:, None]
    return X, canonical(labels)


@given(data_and_labels())
@settings(max_examples=40, deadline=None)
def test_terrain_is_the_tree_of_the_fifth_neighbour(case):
    X, _ = case
    _, weights, core = prim(X, 6)
    terrain = Terrain.of(X)
    np.testing.assert_allclose(terrain.weights, weights)
    np.testing.assert_allclose(terrain.core, core)
    # of several trees of equal weight, which mutual reachability often has, the one that was taken
    edges = np.stack([terrain.low, terrain.high], axis=1)
    expected = sorted(plain_masses(edges, weights, core, least_side(len(X))), reverse=True)
    np.testing.assert_allclose(terrain.masses, expected, atol=1e-9)


@given(data_and_labels())
@settings(max_examples=60, deadline=None)
def test_separation_equals_the_formulas(case):
    X, labels = case
    terrain = Terrain.of(X)
    edges, weights, core = np.stack([terrain.low, terrain.high], 1), terrain.weights, terrain.core
    split = Separation.of(terrain, labels)
    n, k = len(X), labels.max() + 1
    validity, outer, inner = 0.0, [], []
    for c in range(k):
        share = np.mean(labels == c)
        leaving = [w for (i, j), w in zip(edges, weights, strict=True) if (labels[i] == c) != (labels[j] == c)]
        inside = [e for e, (i, j) in enumerate(edges) if labels[i] == c == labels[j]]
        gap = min(leaving)
        if inside:
            spread = np.quantile(weights[inside], 0.97)
            validity += share * (gap - spread) / max(gap, spread)
        else:
            validity -= share
        outer.append(math.log(gap / core[labels == c].min()) * math.sqrt((labels == c).sum()))
        kept_edges = plain_masses(edges[inside], weights[inside], core, 5) if inside else []
        inner.append(max(kept_edges, default=0.0))
    shares = np.bincount(labels) / n
    assert split.validity == pytest.approx(validity)
    assert split.entropy == pytest.approx(-sum(p * math.log(p) for p in shares))
    np.testing.assert_allclose(split.outer_mass, outer)
    np.testing.assert_allclose(split.inner_mass, inner, atol=1e-9)
    mean = np.prod([1.0 + value for value in outer]) ** (1.0 / k)
    assert split.contrast == pytest.approx(math.log((1.0 + mean) / (2.0 + shares @ inner)))


@given(data_and_labels())
@settings(max_examples=40, deadline=None)
def test_contrasts_follow_their_definitions(case):
    X, labels = case
    terrain = Terrain.of(X, 2)
    k = int(labels.max()) + 1
    edges = list(zip(terrain.low.tolist(), terrain.high.tolist(), np.log(terrain.weights).tolist(), strict=True))
    borders, inside, masses = [], [], []
    for c in range(k):
        own_edges = [edge for edge in edges if labels[edge[0]] == labels[edge[1]] == c]
        gap = min(w for a, b, w in edges if (labels[a] == c) != (labels[b] == c))
        borders.append(max(0.0, gap - np.mean([w for *_, w in own_edges])) if own_edges else 0.0)
        longest = heaviest = 0.0
        for place, (a, b, w) in enumerate(own_edges):
            sides = [_component(own_edges[:place], end) for end in (a, b)]
            if min(len(rows) for rows, _ in sides) >= 5:
                longer = w - max(np.mean(lengths) for _, lengths in sides)
                longest = max(longest, longer)
                heaviest = max(heaviest, longer * math.sqrt(min(len(rows) for rows, _ in sides)))
        inside.append(longest)
        masses.append(heaviest)
    sizes = np.bincount(labels)
    shares = sizes / len(labels)
    borders_of_all = math.exp(shares @ np.log1p(np.array(borders) * np.sqrt(sizes)))
    expected = max(0.0, math.log((1.0 + borders_of_all) / (2.0 + shares @ masses)))
    assert border_contrast(terrain, labels) == pytest.approx(expected, abs=1e-9)
    assert inner_contrast(terrain, labels) == pytest.approx(shares @ inside, abs=1e-9)


def _component(edges, start):
    """Rows that edges connect with a row, and the lengths of the edges among them."""
    rows = {start}
    while more := {b for a, b, _ in edges if a in rows} | {a for a, b, _ in edges if b in rows}:
        if more <= rows:
            break
        rows |= more
    return rows, [w for a, b, w in edges if a in rows]


def test_a_cluster_agrees_with_the_best_of_each_other_family():
    one, other, third = (np.array(labels) for labels in ([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 2]))
    values = cluster_agreement([one, other, third], np.array([0, 1, 2, 2]), ["a", "b", "c", "a"])
    np.testing.assert_allclose(values[0], [(2 / 3 + 3 / 4) / 2, (3 / 4 + 1 / 3) / 2])
    np.testing.assert_allclose(values[3], [(1 / 2 + 1) / 2, (1 / 4 + 1) / 2, (1 / 4 + 1) / 2])
    assert [value.tolist() for value in cluster_agreement([one], np.array([0]), ["a"])] == [[0.0, 0.0]]


def test_the_order_of_the_rows_changes_no_mass():
    rng = np.random.default_rng(7)
    X = np.concatenate([rng.standard_normal((150, 2)), rng.standard_normal((60, 2)) * 0.3 + 3.0])
    labels = np.repeat([0, 1], [150, 60])
    terrain = Terrain.of(X)
    assert (np.diff(terrain.weights) == 0).sum() > 20  # core distances are the weights of several edges
    for _ in range(3):
        order = rng.permutation(len(X))
        again = Terrain.of(X[order])
        np.testing.assert_allclose(again.masses, terrain.masses, rtol=1e-12)
        one, other = Separation.of(terrain, labels), Separation.of(again, labels[order])
        np.testing.assert_allclose(other.inner_mass, one.inner_mass, rtol=1e-12)


def test_mass_drop_reads_the_sorted_masses():
    terrain = Terrain.of(np.random.default_rng(0).standard_normal((60, 2)))
    s = terrain.masses
    assert mass_drop(terrain, 3) == pytest.approx(math.log((s[1] + 2) / (s[2] + 2)))
    assert mass_drop(terrain, 500) == 0.0


@given(st.lists(hnp.arrays(np.int64, 20, elements=st.integers(0, 3)), min_size=2, max_size=5))
@settings(deadline=None)
def test_agreement_of_labelings(labelings):
    labelings = [canonical(labels) for labels in labelings]
    matrix = rand_matrix(labelings)
    for i, one in enumerate(labelings):
        for j, other in enumerate(labelings):
            assert matrix[i, j] == pytest.approx(adjusted_rand(one, other))
    first = distinct(labelings)
    for i, one in enumerate(labelings):
        assert first[i] == next(j for j, other in enumerate(labelings) if np.array_equal(one, other))
    families = ["a", "b", "a", "c", "d"][: len(labelings)]
    for i, value in enumerate(family_agreement(matrix, families)):
        others = {family: [] for family in families if family != families[i]}
        for j, family in enumerate(families):
            if family in others:
                others[family].append(matrix[i, j])
        best = sorted((max(values) for values in others.values()), reverse=True)[:3]
        assert value == pytest.approx(np.mean(best) if best else 0.0)


def test_candidates_of_one_family_do_not_confirm_each_other():
    assert family_agreement(np.ones((3, 3)), ["tree", "tree", "tree"]).tolist() == [0.0, 0.0, 0.0]


def test_subsamples_are_disjoint():
    one, other = subsamples(1300, np.random.default_rng(0))
    assert len(one) == len(other) == 500
    assert len(np.intersect1d(one, other)) == 0
    assert [len(part) for part in subsamples(9, np.random.default_rng(0))] == [4, 4]


def test_a_method_that_fails_on_a_part_is_not_stable():
    labels = np.array([0, 0, 1, 1])
    parts = [np.array([0, 2]), np.array([1, 3])]
    assert subsample_stability(labels, parts, lambda part: np.array([5, 2])) == 1.0
    assert subsample_stability(labels, parts, lambda part: np.array([5, 2]) if part else None) == 0.5


def test_noise_follows_the_tree():
    X = np.array([[0.0], [1.0], [2.1], [10.0], [11.0], [12.1], [8.0], [3.3]])
    terrain = Terrain.of_tree(X, *prim(X, 1))
    adopted = terrain.adopted(np.array([0, 0, 0, 1, 1, 1, -1, -1]))
    assert adopted.tolist() == [0, 0, 0, 1, 1, 1, 1, 0]


@given(hnp.arrays(np.float64, st.integers(4, 9), elements=st.integers(0, 12).map(float)))
@settings(max_examples=60, deadline=None)
def test_dip_is_the_distance_to_the_nearest_unimodal_law(values):
    assert dip_of(values) == pytest.approx(plain_dip(np.sort(values)), abs=1e-7)


def plain_dip(x: np.ndarray) -> float:
    """By a linear program for every place of the mode."""
    n = len(x)
    points, counts = np.unique(x, return_counts=True)
    if len(points) == 1:
        return 0.5 / n
    upper = np.cumsum(counts) / n
    lower = upper - counts / n
    best = np.inf
    m = len(points)
    for mode in range(m):
        # values of the law just before and at each point; they differ at the mode only
        rows, bounds = [], []
        variables = m + 2  # values at the points, value after the jump at the mode, and the distance

        def after(i, mode=mode):
            return m if i == mode else i

        for i in range(m):
            for index, target in ((i, lower[i]), (after(i), upper[i])):
                for sign in (1.0, -1.0):
                    row = np.zeros(variables)
                    row[index], row[-1] = sign, -1.0
                    rows.append(row)
                    bounds.append(sign * target)
        slopes = []
        for i in range(m - 1):
            row = np.zeros(variables)
            step = points[i + 1] - points[i]
            row[i + 1], row[after(i)] = 1.0 / step, -1.0 / step
            slopes.append(row)
        for i in range(m - 1):
            rows.append(-slopes[i])
            bounds.append(0.0)
        for i in range(m - 2):
            rows.append(
                slopes[i] - slopes[i + 1]
                if i + 1 < mode
                else slopes[i + 1] - slopes[i]
                if i + 1 > mode
                else 0 * slopes[i]
            )
            bounds.append(0.0)
        jump = np.zeros(variables)
        jump[mode], jump[m] = 1.0, -1.0
        rows.append(jump)
        bounds.append(0.0)
        cost = np.zeros(variables)
        cost[-1] = 1.0
        solved = linprog(cost, np.array(rows), bounds, bounds=[(0, 1)] * (m + 1) + [(0, None)])
        best = min(best, solved.fun)
    return max(best, 0.5 / n)


def blobs(k: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(k), 40)
    return rng.standard_normal((len(labels), 2)) + 12.0 * np.stack([labels % 3, labels // 3], axis=1), labels


def test_numbers_to_try_hold_the_right_one():
    X, _ = blobs(6)
    terrain = Terrain.of(X)
    assert mass_ratio_number(terrain) == 6
    assert {2, 5, 6, 7, 15} <= set(candidate_numbers(terrain))
    assert max(candidate_numbers(terrain)) <= math.sqrt(len(X))


def test_both_rules_prefer_the_clusters_that_are_there():
    X, labels = blobs(3)
    terrain = Terrain.of(X)
    shuffled = np.random.default_rng(1).permutation(labels)
    merged, divided = (
        np.minimum(labels, 1),
        np.where((labels == 2) & (X[:, 0] > np.median(X[labels == 2, 0])), 3, labels),
    )
    assert known_number(terrain, [canonical(shuffled), labels], ["a", "b"]).best == 1
    candidates = [canonical(c) for c in (merged, labels, divided, shuffled)]
    ranking = unknown_number(terrain, candidates, ["a", "b", "c", "d"], [0.9, 1.0, 0.8, 0.0])
    assert ranking.best == 1
    assert 0.0 < ranking.margin <= 3.0


def test_with_many_families_a_fragment_that_no_other_has_loses():
    X, labels = blobs(4)
    terrain = Terrain.of(X)
    fragment = labels.copy()
    fragment[np.flatnonzero(labels == 1)[:8]] = 4
    merged = np.minimum(labels, 2)
    families = ["a", "b", "c", "d", "e", "f", "a"]
    candidates = [labels, labels, labels, labels, merged, merged, fragment]
    ranking = unknown_number(terrain, [canonical(c) for c in candidates], families, [1.0] * 7)
    assert ranking.best == 0
    assert {"contrast", "inside", "confirmed", "least_confirmed"} <= set(ranking.terms)
    assert ranking.total[6] < ranking.total[0] - 1.0
    assert ranking.terms["agreement"][6] > 0.9  # by rows it is nearly the same answer
    assert ranking.terms["least_confirmed"][6] < 0.5


def test_equal_candidates_count_once():
    X, labels = blobs(2)
    terrain = Terrain.of(X)
    renamed = 1 - labels
    ranking = known_number(terrain, [labels, renamed], ["a", "b"])
    assert ranking.best == 0
    assert ranking.ties.tolist() == []


def test_a_tie_names_the_other_partition():
    from clusterkit.criteria.rules import Ranking

    similarity = np.array([[1.0, 0.4, 1.0], [0.4, 1.0, 0.4], [1.0, 0.4, 1.0]])
    ranking = Ranking({"score": np.array([2.0, 2.0, 2.0])}, {"score": 1.0}, similarity)
    assert ranking.best == 0
    assert ranking.ties.tolist() == [1]
    assert ranking.margin == 0.0


def skew(rng):
    return rng.lognormal(size=(300, 1))


def flanks(rng):
    return rng.uniform(size=(300, 1))


def counts(rng):
    return rng.poisson(1.0, (300, 2)).astype(float)


def independent_categories(rng):
    codes = rng.integers(0, 3, (300, 4))
    return np.hstack([(codes[:, [j]] == np.arange(3)).astype(float) for j in range(4)])


def ring(rng):
    angles = rng.uniform(0, 2 * np.pi, 300)
    return np.column_stack([np.cos(angles), np.sin(angles)]) + 0.05 * rng.normal(size=(300, 2))


@pytest.mark.parametrize("law", [skew, flanks, counts, independent_categories, ring])
def test_laws_of_one_piece_are_not_called_several(law):
    rng = np.random.default_rng(0)
    one = OneCluster.of(law(rng), rng)
    assert not one.several
    assert one.piece == ("curved" if law is ring else "")
    assert one.facts().get("one_piece", "") == one.piece


def test_rows_with_a_flag_are_no_curve():
    rng = np.random.default_rng(0)
    one = OneCluster.of(np.column_stack([ring(rng), 0.01 * rng.integers(0, 2, 300)]), rng)
    assert (one.several, one.facts()["one_piece"]) == (False, "joined")


def test_counts_and_categories_with_clusters_are_called_several():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    whole = rng.poisson(np.array([1.0, 12.0, 30.0])[y][:, None], (300, 1)).astype(float)
    codes = np.where(rng.random((300, 5)) < 0.8, (y[:, None] + np.arange(5)) % 3, rng.integers(0, 3, (300, 5)))
    one_hot = np.hstack([(codes[:, [j]] == np.arange(3)).astype(float) for j in range(5)])
    far = np.concatenate([rng.normal(size=280), 15 + rng.normal(size=20)])[:, None]
    for rows in (whole, one_hot, far):
        assert OneCluster.of(rows, rng).several


def test_neighbouring_indicators_are_one_category():
    codes = np.random.default_rng(0).integers(0, 3, (60, 2))
    X = np.column_stack([codes[:, :1] == np.arange(3), codes[:, 1:] == np.arange(3), codes[:, 0] == 1]).astype(float)
    levels = indicated_levels(2.5 * X)
    assert levels.shape == (60, 3)
    np.testing.assert_array_equal(levels[:, :2], codes)
    assert indicated_levels(np.column_stack([X, np.arange(60.0)])) is None
    assert are_counts(X)
    assert not are_counts(np.repeat([[0.0], [3.0], [10.0]], 20, axis=0))
