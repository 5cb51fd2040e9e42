"""The nearest of few centres by compiled loops, against tables of distances."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.numerics import nearest_jit, threads
from clusterkit.numerics.nearest_jit import approach, compare, gains, reachable, settle, transfer


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


def settled(H, centres, labels, gap, borders, *, shrinkage=None, rounding_error=0.0, safe=0.0):
    """What `settle` finds in ranges with these borders: movers, their numbers and gains, ties, distances, gaps."""
    n, gap, distances = len(H), gap.copy(), np.full(len(H), np.nan)
    (movers, nearest, ties), gains = (np.empty(n, dtype=np.intp) for _ in range(3)), np.empty(n)
    shrinkage = np.zeros(len(centres)) if shrinkage is None else shrinkage
    parts = []
    for start, stop in pairwise(borders):
        n_movers, n_ties = settle(
            H, 0, start, stop, centres.astype(float), shrinkage, labels, np.full(n, rounding_error), np.full(n, safe),
            gap, distances, movers, nearest, gains, ties,
        )  # fmt: skip
        some = slice(start, start + n_movers)
        parts.append((movers[some].copy(), nearest[some], gains[some], ties[start : start + n_ties].copy()))
    return (*(np.concatenate(part) for part in zip(*parts, strict=True)), distances, gap)


@given(case=rows_and_centres(), cut=st.integers(0, 300))
def test_rows_in_doubt_are_settled_as_by_a_table(case, cut):
    H, centres, labels, rng = case
    before, shrinkage = rng.normal(size=len(H)), rng.random(len(centres))
    doubtful = before - shrinkage[labels] <= 0.25
    borders = [0, min(cut, len(H)), len(H)]
    movers, nearest, gains, ties, distances, gap = settled(
        H, centres, labels, before, borders, shrinkage=shrinkage, safe=0.25
    )
    squares = table(H, centres)
    tolerance = 1e-9 if H.dtype == np.float64 else 1e-4
    expected = np.flatnonzero(doubtful & (np.argmin(squares, axis=1) != labels))
    assert np.array_equal(movers, expected)
    assert np.array_equal(nearest, np.argmin(squares, axis=1)[expected])
    np.testing.assert_allclose(
        gains, squares[expected, labels[expected]] - squares.min(axis=1)[expected], atol=tolerance
    )
    np.testing.assert_allclose(distances[doubtful], squares[np.arange(len(H)), labels][doubtful], atol=tolerance)
    assert np.isnan(distances[~doubtful]).all()
    assert np.array_equal(gap[~doubtful], (before - shrinkage[labels])[~doubtful])
    if len(centres) > 1:
        ordered = np.sqrt(np.sort(squares, axis=1))[doubtful]
        np.testing.assert_allclose(gap[doubtful], ordered[:, 1] - ordered[:, 0], atol=np.sqrt(tolerance))
        assert np.array_equal(ties, np.flatnonzero(doubtful & (gap <= 0.0)))


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
    several = []
    for cores in (1, 3):
        monkeypatch.setattr(threads, "available", lambda cores=cores: cores)
        distances, nearest = np.full(len(H), np.inf), np.zeros(len(H), dtype=np.intp)
        approach(H, centres, 0, distances, nearest)
        several.append((distances, nearest))
    for one, other in zip(*several, strict=True):
        assert np.array_equal(one, other)


@given(case=rows_and_centres(), borders=st.lists(st.integers(0, 300), max_size=4))
def test_no_bit_depends_on_the_ranges_that_are_settled(case, borders):
    H, centres, labels, rng = case
    gap = rng.normal(size=len(H))
    whole = settled(H, centres, labels, gap, [0, len(H)])
    parts = settled(H, centres, labels, gap, sorted({0, len(H), *(min(border, len(H)) for border in borders)}))
    for one, other in zip(whole, parts, strict=True):
        assert np.array_equal(one, other, equal_nan=True)


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
    H = np.array([[1.0, 0.0], [2.0, 5.0], [4.0, 4.0]])
    change = np.zeros((3, 2))
    transfer(H, np.array([0, 2]), np.array([0, 1]), np.array([1, 2]), change)
    assert change.tolist() == [[-1.0, 0.0], [-3.0, -4.0], [4.0, 4.0]]


@pytest.mark.parametrize("size", [1, nearest_jit.BATCH - 1, nearest_jit.BATCH, nearest_jit.BATCH + 1])
def test_duplicates_have_distance_zero_and_ties_the_lowest_number(size):
    H, centres = np.full((size, 3), 0.1), np.full((2, 3), 0.1)
    labels, gap = np.ones(size, dtype=np.intp), np.full(size, -np.inf)
    movers, nearest, gains, ties, distances, _ = settled(H, centres, labels, gap, [0, size], rounding_error=1e-9)
    assert movers.tolist() == ties.tolist() == list(range(size))
    assert not nearest.any()
    assert not gains.any()
    assert not distances.any()
