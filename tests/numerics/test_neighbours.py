"""Pairs of rows, each once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.numerics.neighbour_graph import unique_pairs


@given(n=st.integers(1, 12), e=st.integers(0, 60), seed=st.integers(0, 99))
def test_unique_pairs_are_the_sorted_set_of_pairs(n, e, seed):
    pairs = np.random.default_rng(seed).integers(n, size=(e, 2))
    unordered = [tuple(sorted(pair)) for pair in pairs.tolist()]
    unique, first = unique_pairs(pairs, n)
    assert [tuple(pair) for pair in unique.tolist()] == sorted(set(unordered))
    assert first.tolist() == [unordered.index(pair) for pair in sorted(set(unordered))]
