"""Weighted draws by exponential keys: the same rows in any blocks, as often as their weights say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.families.means._kmeans_parallel import NearestOf, _Draw
from clusterkit.families.means._loops_jit import smallest_keys
from clusterkit.numerics.selection import uniforms
from clusterkit.samples.array_libraries import to_host
from clusterkit.samples.survey import uniforms_of
from clusterkit.testing.compare import put

MASK = 2**64 - 1


def plain_keys(weights, first, seed):
    """All keys, by whole numbers of any size."""
    keys = np.full(len(weights), np.inf)
    for i in np.flatnonzero(weights > 0.0):
        state = (seed + (first + int(i) + 1) * 0x9E3779B97F4A7C15) & MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
        state ^= state >> 31
        keys[i] = -np.log(((state >> 11) + 1) * 2.0**-53) / weights[i]
    return keys


@given(n=st.integers(0, 60), size=st.integers(1, 20), first=st.integers(0, 2**40), seed=st.integers(0, MASK))
def test_keys_are_the_smallest_of_all(n, size, first, seed):
    rng = np.random.default_rng(n)
    weights = rng.exponential(size=n) * (rng.random(n) < 0.8)
    keys, index = smallest_keys(weights, first, seed, size)
    plain = plain_keys(weights, first, seed)
    expected = np.sort(np.argsort(plain)[: min(size, int((weights > 0.0).sum()))])
    assert index.tolist() == expected.tolist()
    np.testing.assert_allclose(keys, plain[expected], rtol=1e-13)


@given(cut=st.integers(0, 500), seed=st.integers(0, MASK))
def test_blocks_change_nothing(cut, seed):
    weights = np.random.default_rng(cut).exponential(size=500)
    keys, index = smallest_keys(weights, 7, seed, 6)
    parts = [smallest_keys(weights[:cut], 7, seed, 6), smallest_keys(weights[cut:], 7 + cut, seed, 6)]
    joined = np.concatenate([parts[0][0], parts[1][0]])
    rows = np.concatenate([parts[0][1], parts[1][1] + cut])
    best = np.sort(np.argsort(joined)[:6])
    assert rows[best].tolist() == index.tolist()
    assert joined[best].tolist() == keys.tolist()


def test_rows_are_drawn_as_often_as_their_weights_say():
    weights = np.array([1.0, 0.0, 2.0, 5.0])
    seeds = np.random.default_rng(0).integers(2**64, size=20_000, dtype=np.uint64)
    drawn = np.array([smallest_keys(weights, 10, int(seed), 1)[1][0] for seed in seeds])
    shares = np.bincount(drawn, minlength=4) / len(drawn)
    assert np.abs(shares - weights / 8).max() < 4 * 0.5 / np.sqrt(len(drawn))


@given(first=st.integers(0, 2**40), seed=st.integers(0, MASK))
def test_uniform_numbers_on_a_device_are_those_of_the_host_bit_for_bit(first, seed):
    pytest.importorskip("array_api_strict", reason="array-api-strict simulates the devices")
    rows = slice(first, first + 9)
    there = uniforms_of(seed, rows, put(np.zeros(9)))
    np.testing.assert_array_equal(to_host(there), uniforms(seed, rows))


@given(n=st.integers(1, 60), size=st.integers(1, 20), seed=st.integers(0, MASK))
def test_rows_drawn_on_a_device_are_those_of_the_host(n, size, seed):
    pytest.importorskip("array_api_strict", reason="array-api-strict simulates the devices")
    X = np.random.default_rng(n).integers(0, 4, size=(n, 2)).astype(np.float64)
    draw, rows = _Draw(NearestOf(X[0], X[:1], 0.0), seed, size), slice(5, 5 + n)
    here, there = draw(rows, X), draw(rows, put(X))
    np.testing.assert_allclose(there.keys, here.keys, rtol=1e-13)
    np.testing.assert_array_equal(there.rows, here.rows)
