"""The nearest of few centres by compiled loops, against tables of distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.numerics import nearest_jit, threads
from clusterkit.numerics.nearest_jit import approach, compare, examine, gains, reachable, transfer


def table(H, centres):
    """Squared distances by definition, (n, k)."""
    return ((H[:, None].astype(np.float64) - centres) ** 2).sum(axis=2)


@st.composite
def rows_and_centres(draw):
    """Some rows, centres that are no rows, and labels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, k = draw(st.integers(1, 300)), draw(st.integers(1, 9)), draw(st.integers(1, 7))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    return rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(k, d)).astype(dtype), rng.integers(k, size=n), rng


@given(case=rows_and_centres())
def test_rows_are_examined_as_by_a_table(case):
    H, centres, labels, rng = case
    index, gap = np.flatnonzero(rng.random(len(H)) < 0.5), np.full(len(H), -7.0)
    nearest, current, best = examine(H, 0, index, centres, labels, 0.0, gap)
    distances = table(H, centres)[index]
    tolerance = 1e-9 if H.dtype == np.float64 else 1e-4
    np.testing.assert_allclose(distances[np.arange(len(index)), nearest], distances.min(axis=1), atol=tolerance)
    np.testing.assert_allclose(current, distances[np.arange(len(index)), labels[index]], atol=tolerance)
    np.testing.assert_allclose(best, distances.min(axis=1), atol=tolerance)
    if len(centres) > 1:
        ordered = np.sqrt(np.sort(distances, axis=1))
        np.testing.assert_allclose(gap[index], ordered[:, 1] - ordered[:, 0], atol=np.sqrt(tolerance))
    assert (np.delete(gap, index) == -7.0).all()


@given(case=rows_and_centres(), cut=st.integers(0, 300), first=st.integers(0, 7))
def test_no_bit_depends_on_the_parts_of_a_pass(case, cut, first):
    H, centres, _, _ = case
    cut, first = min(cut, len(H)), min(first, len(centres))
    distances, nearest = np.full((2, len(H)), np.inf, dtype=H.dtype), np.zeros((2, len(H)), dtype=np.intp)
    approach(H, centres, 0, distances[0], nearest[0])
    for rows in (slice(0, cut), slice(cut, None)):
        approach(H[rows], centres[:first], 0, distances[1, rows], nearest[1, rows])
        approach(H[rows], centres[first:], first, distances[1, rows], nearest[1, rows])
    assert np.array_equal(*distances)
    assert np.array_equal(*nearest)
    tolerance = 1e-9 if H.dtype == np.float64 else 1e-4
    np.testing.assert_allclose(distances[0], table(H, centres).min(axis=1), atol=tolerance)


def test_no_bit_depends_on_the_number_of_threads(monkeypatch):
    rng = np.random.default_rng(0)
    H, centres = rng.normal(size=(20_000, 7)), rng.normal(size=(9, 7))
    labels, index = rng.integers(9, size=len(H)), np.arange(len(H))
    several = []
    for cores in (1, 3):
        monkeypatch.setattr(threads, "available", lambda cores=cores: cores)
        gap = np.zeros(len(H))
        several.append((*examine(H, 0, index, centres, labels, 0.0, gap), gap))
    for one, other in zip(*several, strict=True):
        assert np.array_equal(one, other)


@given(case=rows_and_centres())
def test_rows_beyond_reach_gain_nothing(case):
    H, candidates, _, rng = case
    seeds = rng.normal(size=(3, H.shape[1])).astype(H.dtype)
    to_seeds = table(H, seeds)
    labels, best = np.argmin(to_seeds, axis=1), to_seeds.min(axis=1)
    reach = 0.25 * (1 - 1e-4) * table(seeds, candidates).min(axis=1)
    spare = np.empty(len(H), dtype=np.intp)
    index = spare[: reachable(best, labels, reach, spare)]
    distances = np.empty((len(candidates), len(index)))
    compare(H, 0, index, candidates, distances)
    lowered = np.maximum(best[:, None] - table(H, candidates), 0.0)
    np.testing.assert_allclose(gains(distances, index, best), lowered.sum(axis=0), atol=1e-3)
    assert (np.delete(lowered, index, axis=0) <= 1e-12).all()


def test_movers_change_the_class_sums():
    H, labels = np.array([[1.0, 0.0], [2.0, 5.0], [4.0, 4.0]]), np.array([0, 1, 1])
    change = np.zeros((3, 2))
    assert transfer(H, 0, np.array([0, 2]), np.array([0, 2]), labels, change) == 1
    assert labels.tolist() == [0, 1, 2]
    assert change.tolist() == [[0.0, 0.0], [-4.0, -4.0], [4.0, 4.0]]


@pytest.mark.parametrize("size", [1, nearest_jit.BATCH - 1, nearest_jit.BATCH, nearest_jit.BATCH + 1])
def test_duplicates_have_distance_zero_and_ties_the_lowest_number(size):
    H, centres = np.full((size, 3), 0.1), np.full((2, 3), 0.1)
    nearest, current, best = examine(H, 0, np.arange(size), centres, np.ones(size, dtype=np.intp), 1e-9, np.zeros(size))
    assert not nearest.any()
    assert not current.any()
    assert not best.any()
