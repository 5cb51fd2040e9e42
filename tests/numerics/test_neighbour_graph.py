"""Graphs of nearest neighbours: neighbours, weights, components and eigenvectors against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.numerics import eigenvectors as module
from clusterkit.numerics import neighbour_graph
from clusterkit.numerics.eigenvectors import fixed_basis, leading_eigenvectors
from clusterkit.numerics.neighbour_graph import (
    components,
    join_nearest,
    large_components,
    local_scales,
    neighbour_search,
    self_tuned_weights,
)


def all_pairs(queries, points):
    gaps = queries[:, None, :] - points[None, :, :]
    return np.einsum("ijk,ijk->ij", gaps, gaps)


def graph(X, n_neighbors=10, scale_neighbor=7):
    squared, index = neighbour_search(X)(X, n_neighbors + 1)
    scales = local_scales(squared[:, 1:], scale_neighbor)
    return self_tuned_weights(squared[:, 1:], index[:, 1:], scales), scales


@st.composite
def points(draw):
    """Rows in few or many attributes; on a lattice distances are tied."""
    u, d = draw(st.integers(2, 60)), draw(st.sampled_from([1, 2, 3, 20, 21, 40]))
    X = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).normal(size=(u, d))
    return np.round(X) if draw(st.booleans()) else X


@given(X=points(), k=st.integers(1, 30))
def test_neighbours_are_those_of_brute_force_with_ties_by_number(X, k):
    k = min(k, len(X))
    squared, index = neighbour_search(X)(X, k)
    D = all_pairs(X, X)
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(index, order)
    np.testing.assert_array_equal(squared, np.take_along_axis(D, order, axis=1))


@pytest.mark.parametrize("d", [3, 30])
def test_neighbours_of_new_rows_do_not_depend_on_the_other_queries(d):
    rng = np.random.default_rng(0)
    X, Y = np.round(rng.normal(size=(300, d))), np.round(rng.normal(size=(50, d)))
    search = neighbour_search(X)
    together = search(Y, 8)
    for i in range(len(Y)):
        alone = search(Y[i : i + 1], 8)
        np.testing.assert_array_equal(alone[1][0], together[1][i])
        np.testing.assert_array_equal(alone[0][0], together[0][i])


def test_blocks_change_nothing(monkeypatch):
    X = np.random.default_rng(1).normal(size=(200, 30))
    whole = neighbour_search(X)(X, 9)
    monkeypatch.setattr(neighbour_graph, "BLOCK", 2000)
    for one, other in zip(whole, neighbour_search(X)(X, 9), strict=True):
        np.testing.assert_array_equal(one, other)


@given(X=points(), k=st.integers(1, 12))
def test_weights_are_the_formula(X, k):
    X = np.unique(X, axis=0)
    if len(X) < 3:
        return
    k, s = min(k, len(X) - 1), min(7, len(X) - 1)
    W, scales = (lambda squared, index: (
        self_tuned_weights(squared[:, 1 : k + 1], index[:, 1 : k + 1], local_scales(squared[:, 1:], s)).toarray(),
        local_scales(squared[:, 1:], s),
    ))(*neighbour_search(X)(X, max(k, s) + 1))  # fmt: skip
    D = all_pairs(X, X)
    order = np.argsort(D + np.where(np.eye(len(X)), -1.0, 0.0), axis=1, kind="stable")[:, 1:]
    np.testing.assert_allclose(scales, np.sqrt(np.take_along_axis(D, order[:, s - 1 : s], axis=1)[:, 0]))
    directed = np.zeros_like(D)
    np.put_along_axis(directed, order[:, :k], 1.0, axis=1)
    expected = np.exp(-D / np.outer(scales, scales)) * (directed + directed.T) / 2.0
    np.testing.assert_array_equal(W, W.T)
    np.testing.assert_allclose(W, expected, rtol=1e-9, atol=1e-14 * expected.max())


def test_a_scale_of_zero_becomes_the_smallest_positive_one():
    squared = np.array([[0.0, 0.0], [0.0, 4.0], [0.0, 9.0]])
    np.testing.assert_array_equal(local_scales(squared, 2), [2.0, 2.0, 3.0])
    np.testing.assert_array_equal(local_scales(np.zeros((3, 1)), 1), 1.0)


def blobs(sizes, centres, spread=0.1, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([spread * rng.normal(size=(m, 2)) + c for m, c in zip(sizes, centres, strict=True)])


def test_small_components_are_outliers_unless_there_are_only_such():
    component = np.array([0] * 20 + [1] * 5 + [2] * 11)
    np.testing.assert_array_equal(large_components(component, 10, None), [*range(20), *range(25, 36)])
    np.testing.assert_array_equal(large_components(component, 30, 2), np.arange(36))
    component = np.array([0] * 200 + [1] * 12 + [2] * 200)
    np.testing.assert_array_equal(large_components(component, 10, 2), [*range(200), *range(212, 412)])
    np.testing.assert_array_equal(large_components(component, 10, 4), np.arange(412))


def test_near_and_small_components_are_joined_first():
    X = blobs([60, 60, 60, 12], [(0, 0), (10, 0), (13, 0), (0, 30)])
    W, scales = graph(X)
    component = components(W)
    assert component.max() == 3
    three = join_nearest(X, scales, component, 3)
    assert three[60] != three[120], "large components before the small one"
    assert three[-1] in (three[0], three[60], three[120])
    two = join_nearest(X, scales, component, 2)
    assert two[60] == two[120] != two[0], "of components of one size the nearest are joined"
    np.testing.assert_array_equal(join_nearest(X, scales, component, 4), component)


@pytest.mark.parametrize("method", ["_dense", "_iterated", "_inverted"])
def test_all_methods_give_the_dense_eigenvectors(method, monkeypatch):
    X = np.random.default_rng(3).normal(size=(250, 2))
    W, _ = graph(X)
    assert components(W).max() == 0
    roots = np.sqrt(W.sum(axis=1))
    known = (roots / np.linalg.norm(roots))[:, None]
    others = {
        name: lambda *arguments, **options: None for name in ("_dense", "_iterated", "_inverted") if name != method
    }
    monkeypatch.setattr(module, "DENSE", 1000 if method == "_dense" else 10)
    for name, nothing in others.items():
        monkeypatch.setattr(module, name, nothing)
    basis = leading_eigenvectors(W, roots, known, 4, 2, np.random.default_rng(0))
    A = W.toarray() / np.outer(roots, roots)
    values, vectors = np.linalg.eigh(A)
    np.testing.assert_allclose(basis.values, values[::-1][:5], atol=1e-10)
    assert basis.accurate
    drawn = np.random.default_rng(0).standard_normal((250, 5))
    expected = fixed_basis(values[::-1][1:5], vectors[:, ::-1][:, 1:5], drawn[:, 1:])
    np.testing.assert_allclose(basis.vectors[:, 1:], expected, atol=1e-6)


@given(seed=st.integers(0, 2**16), equal=st.integers(1, 4))
def test_the_basis_does_not_depend_on_signs_and_rotations(seed, equal):
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.normal(size=(30, 5)))[0]
    values = np.array([1.0] * equal + [0.5 - 0.1 * j for j in range(5 - equal)])
    drawn = rng.normal(size=(30, 5))
    turned = U * np.where(rng.random(5) < 0.5, -1.0, 1.0)
    turned[:, :equal] = turned[:, :equal] @ np.linalg.qr(rng.normal(size=(equal, equal)))[0]
    one, other = fixed_basis(values, U, drawn), fixed_basis(values, turned, drawn)
    np.testing.assert_allclose(one, other, atol=1e-9)
    np.testing.assert_allclose(one.T @ one, np.eye(5), atol=1e-12)


def test_no_convergence_is_an_error(monkeypatch):
    X = np.random.default_rng(3).normal(size=(100, 2))
    W, _ = graph(X)
    monkeypatch.setattr(module, "DENSE", 10)
    for name in ("_iterated", "_inverted"):
        monkeypatch.setattr(module, name, lambda *arguments, **options: None)
    with pytest.raises(ArithmeticError, match="no iteration"):
        leading_eigenvectors(W, np.sqrt(W.sum(axis=1)), np.zeros((100, 0)), 2, 2, np.random.default_rng(0))
