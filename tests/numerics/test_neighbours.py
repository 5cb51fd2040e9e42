"""Pairs of rows, each once, and orders of values and sets, the same on every number of cores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.numerics import structures_jit, threads
from clusterkit.numerics.neighbour_graph import unique_pairs
from clusterkit.numerics.structures_jit import ascending, number_sets


@given(n=st.integers(1, 12), e=st.integers(0, 60), seed=st.integers(0, 99))
def test_unique_pairs_are_the_sorted_set_of_pairs(n, e, seed):
    pairs = np.random.default_rng(seed).integers(n, size=(e, 2))
    unordered = [tuple(sorted(pair)) for pair in pairs.tolist()]
    unique, first = unique_pairs(pairs, n)
    assert [tuple(pair) for pair in unique.tolist()] == sorted(set(unordered))
    assert first.tolist() == [unordered.index(pair) for pair in sorted(set(unordered))]


@pytest.fixture(params=[1, 2, 3])
def cores(request, monkeypatch):
    """So many threads, each with many short ranges."""
    monkeypatch.setattr(threads, "available", lambda: request.param)
    monkeypatch.setattr(threads, "SMALLEST", 0)
    monkeypatch.setattr(threads, "CHUNK", 1000)


@pytest.mark.usefixtures("cores")
def test_threads_find_the_pairs_that_sorted_keys_are(monkeypatch):
    monkeypatch.setattr(threads, "LEAST_ROWS", 50)
    rng = np.random.default_rng(0)
    pairs = rng.integers(1000, size=(8000, 2))
    pairs[::3, 0] = 0  # one row is in a third of all pairs
    keys, first = np.unique(pairs.min(axis=1) * 1000 + pairs.max(axis=1), return_index=True)
    unique, position = unique_pairs(pairs, 1000)
    np.testing.assert_array_equal(unique, np.stack([keys // 1000, keys % 1000], axis=1))
    np.testing.assert_array_equal(position, first)


@pytest.mark.usefixtures("cores")
@pytest.mark.parametrize("e", [0, 64, 65, 300, 4001])
def test_threads_put_values_in_the_stable_order(monkeypatch, e):
    monkeypatch.setattr(threads, "LEAST_ROWS", 50)
    monkeypatch.setattr(structures_jit, "PIECE", 64)
    rng = np.random.default_rng(e)
    for values in (
        rng.integers(40, size=e).astype(float),
        rng.normal(size=e),
        np.append(np.inf, np.arange(e, 0.0, -1)),
    ):
        np.testing.assert_array_equal(ascending(values), np.argsort(values, kind="stable"))


@given(n=st.integers(1, 30), seed=st.integers(0, 99))
def test_sets_have_numbers_in_the_order_of_their_roots(n, seed):
    rng = np.random.default_rng(seed)
    roots, values = np.arange(n), rng.integers(3, size=n).astype(float)
    heads = rng.random(n) < 0.3
    heads[rng.integers(n)] = True
    roots[~heads] = rng.choice(np.flatnonzero(heads), (~heads).sum())
    number, sizes, largest = number_sets(roots, values)
    _, plain, counts = np.unique(roots, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(number, plain)
    np.testing.assert_array_equal(sizes, counts)
    assert largest.tolist() == [
        max(np.flatnonzero(plain == c), key=lambda i: (values[i], i)) for c in range(len(counts))
    ]
