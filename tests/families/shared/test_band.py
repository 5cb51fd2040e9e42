"""Laws of the balancer `band`: the optimum for two clusters, the published repair for more."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.contracts import CostTable, Task
from clusterkit.errors import InvalidParameter
from clusterkit.families.shared.band import Band
from clusterkit.families.shared.codecs import Argmax, Interval, Threshold
from clusterkit.fitting.label_iterations import balanced_by
from clusterkit_campaign.oracles import balance as oracle

seeds = st.integers(0, 2**32 - 1)


def scores(n, q, seed, coarse):
    """Off-centre scores, on a coarse grid if ties are wanted."""
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, q)) + 0.8 * rng.normal(size=q)
    return np.round(F * 2) / 2 if coarse else F


def gap(labels, k):
    sizes = np.bincount(labels, minlength=k)
    return sizes.max() - sizes.min()


def least(slack, n, k):
    return slack if n % k == 0 else max(slack, 1)


@st.composite
def costs_and_labels(draw):
    """Any cost table, any labels (not only the cheapest), any slack in rows."""
    n, k = draw(st.integers(1, 40)), draw(st.integers(2, 6))
    costs = -scores(n, k, draw(seeds), draw(st.booleans()))
    labels = np.random.default_rng(draw(seeds)).integers(draw(st.integers(1, k)), size=n)
    return costs, labels, draw(st.integers(0, n + 2))


@given(n=st.integers(1, 10), seed=seeds, coarse=st.booleans(), slack=st.integers(0, 11))
def test_two_clusters_reach_the_brute_force_optimum(n, seed, coarse, slack):
    f = scores(n, 1, seed, coarse)
    costs = Threshold().costs(f, 2)
    labels = balanced_by(Band(slack=slack), CostTable(costs), Task(n, 2)).labels
    used = least(slack, n, 2)
    squared = np.concatenate([(f + 1) ** 2, (f - 1) ** 2], axis=1)
    assert gap(labels, 2) <= used
    np.testing.assert_allclose(squared[np.arange(n), labels].sum(), oracle.optimum(squared, used), rtol=1e-12)


@given(n=st.integers(1, 7), k=st.integers(3, 4), seed=seeds, slack=st.integers(0, 8))
def test_more_clusters_never_beat_the_optimum_and_reach_it_where_nothing_moves(n, k, seed, slack):
    costs = -scores(n, k, seed, False)
    assignment = balanced_by(Band(slack=slack), CostTable(costs), Task(n, k))
    total, best = costs[np.arange(n), assignment.labels].sum(), oracle.optimum(costs, least(slack, n, k))
    assert total >= best - 1e-12
    if assignment.exact:
        np.testing.assert_allclose(total, best)


@given(n=st.integers(1, 60), seed=seeds, coarse=st.booleans(), slack=st.integers(0, 61))
def test_two_clusters_are_the_literal_flips(n, seed, coarse, slack):
    f = scores(n, 1, seed, coarse)
    costs = Threshold().costs(f, 2)
    start = np.argmin(costs, axis=1)
    labels = balanced_by(Band(slack=slack), CostTable(costs, start), Task(n, 2)).labels
    used = least(slack, n, 2)
    np.testing.assert_array_equal(labels, oracle.two_class(f[:, 0], used))
    # a rank clipped to the band: no more flips than needed
    assert labels.sum() == np.clip(start.sum(), math.ceil((n - used) / 2), (n + used) // 2)
    confident = balanced_by(Band(slack=slack, priority="confidence"), CostTable(costs, start), Task(n, 2)).labels
    np.testing.assert_array_equal(confident, labels)


@given(n=st.integers(1, 50), k=st.integers(2, 6), seed=seeds, coarse=st.booleans(), slack=st.integers(0, 20))
def test_multi_output_is_the_literal_repair(n, k, seed, coarse, slack):
    F = scores(n, k, seed, coarse)
    costs = Argmax().costs(F, k)
    start = np.argmin(costs, axis=1)
    for priority, key in (("regret", oracle.regret(F)), ("confidence", oracle.confidence(F))):
        labels = balanced_by(Band(slack=slack, priority=priority), CostTable(costs, start), Task(n, k)).labels
        np.testing.assert_array_equal(labels, oracle.pairwise(start, k, slack, key)[0])


@given(
    n=st.integers(1, 50),
    k=st.integers(2, 6),
    seed=seeds,
    slack=st.integers(0, 20),
    rule=st.sampled_from(["nearest", "signed", "midpoint", "paper"]),
)
def test_single_output_is_the_literal_repair(n, k, seed, slack, rule):
    f = scores(n, 1, seed, False) * k
    costs = Interval(rule=rule).costs(f, k)
    start = np.argmin(costs, axis=1)
    labels = balanced_by(Band(slack=slack), CostTable(costs, start), Task(n, k)).labels
    literal = oracle.pairwise(start, k, slack, oracle.single_output(f[:, 0]))[0]
    np.testing.assert_array_equal(np.bincount(labels, minlength=k), np.bincount(literal, minlength=k))
    rows = np.arange(n)
    np.testing.assert_allclose(costs[rows, labels].sum(), costs[rows, literal].sum(), rtol=1e-9)


@given(n=st.integers(1, 9), k=st.integers(2, 4), slack=st.integers(0, 10))
def test_bounds_are_necessary_and_for_two_clusters_sufficient(n, k, slack):
    used = least(slack, n, k)
    low, high = Band(slack=slack).bounds(n, k)
    assert low.shape == high.shape == (k,)
    sizes = oracle.sizes_of(oracle.labellings(n, k), k)
    allowed = sizes.max(axis=1) - sizes.min(axis=1) <= used
    inside = np.all((sizes >= low) & (sizes <= high), axis=1)
    assert np.all(inside[allowed])
    if k == 2:
        np.testing.assert_array_equal(inside, allowed)


@given(n=st.integers(1, 3000), percent=st.integers(0, 100))
def test_a_fraction_is_exact_in_decimals(n, percent):
    exact = max(Fraction(percent, 100) * n, n % 2)
    most = (n + exact) // 2
    assert Band(slack=percent / 100).bounds(n, 2)[1][0] == most
    costs = np.zeros((n, 2))
    labels = balanced_by(Band(slack=percent / 100), CostTable(costs, np.ones(n, dtype=int)), Task(n, 2)).labels
    assert labels.sum() == most


@given(problem=costs_and_labels(), data=st.data())
def test_a_constant_of_a_row_does_not_matter(problem, data):
    costs, labels, slack = problem
    n, k = costs.shape
    costs = np.round(costs * 4)  # so that adding is exact
    shift = np.random.default_rng(data.draw(seeds)).integers(-9, 9, size=(n, 1))
    plain = balanced_by(Band(slack=slack), CostTable(costs, labels), Task(n, k)).labels
    np.testing.assert_array_equal(
        balanced_by(Band(slack=slack), CostTable(costs + shift, labels), Task(n, k)).labels, plain
    )


def test_integers_count_rows_and_floats_are_fractions():
    labels, costs = np.zeros(400, dtype=int), np.zeros((400, 2))

    def ones(slack):
        return balanced_by(Band(slack=slack), CostTable(costs, labels), Task(400, 2)).labels.sum()

    assert ones(0.03) == ones(12) == ones(np.int64(12)) == ones(13) == 194
    assert ones(1) == ones(0.0025) == ones(0) == 200
    assert ones(2) == 199
    assert ones(1.0) == ones(400) == 0


def test_rounding_of_the_fraction_moves_nobody():
    assert 0.58 * 100 < 58  # the trap
    labels = np.repeat([1, 0], [79, 21])
    assignment = balanced_by(Band(slack=0.58), CostTable(np.zeros((100, 2)), labels), Task(100, 2))
    assert assignment.exact
    np.testing.assert_array_equal(assignment.labels, labels)


@pytest.mark.parametrize(("slack", "n", "k", "facts"), [
    (0, 11, 2, {"slack": 1}),
    (0.0, 11, 2, {"slack": 1}),
    (0.03, 11, 2, {"slack": 1}),
    (0, 10, 2, {}),
    (0, 10, 3, {"slack": 1}),
    (0, 9, 3, {}),
    (1, 11, 2, {}),
    (0.03, 400, 2, {}),
])  # fmt: skip
def test_promotion_is_reported(slack, n, k, facts):
    assert Band(slack=slack).resolved(n, k) == facts
    labels = balanced_by(Band(slack=slack), CostTable(np.zeros((n, k)), np.zeros(n, dtype=int)), Task(n, k)).labels
    assert gap(labels, k) <= max(facts.get("slack", 0), slack if isinstance(slack, int) else slack * n)


def test_ties_go_by_index():
    labels = balanced_by(Band(slack=0), CostTable(np.zeros((7, 2)), np.zeros(7, dtype=int)), Task(7, 2)).labels
    np.testing.assert_array_equal(labels, [1, 1, 1, 0, 0, 0, 0])
    labels = balanced_by(Band(slack=0), CostTable(np.zeros((9, 3)), np.zeros(9, dtype=int)), Task(9, 3)).labels
    np.testing.assert_array_equal(labels, [2, 2, 2, 1, 1, 1, 0, 0, 0])


def test_confidence_moves_the_least_confident_wherever_they_go():
    F = np.array([[3.0, 2.9], [1.0, -5.0], [2.0, 0.0], [4.0, 3.0]])
    start = np.zeros(4, dtype=int)
    by = {
        p: balanced_by(Band(slack=2, priority=p), CostTable(-F, start), Task(4, 2)).labels
        for p in ("regret", "confidence")
    }
    np.testing.assert_array_equal(by["regret"], [1, 0, 0, 0])
    np.testing.assert_array_equal(by["confidence"], [0, 1, 0, 0])


@pytest.mark.parametrize("k", [2, 10])
def test_large_data(k):
    n = 100_000
    costs = np.random.default_rng(0).normal(size=(n, k))
    labels = balanced_by(Band(slack=0), CostTable(costs, np.zeros(n, dtype=int)), Task(n, k)).labels
    assert np.all(np.bincount(labels) == n // k)


@pytest.mark.parametrize("slack", [-1, -0.1, float("nan"), float("inf"), "wide", True, None])
def test_impossible_slack(slack):
    with pytest.raises(InvalidParameter, match=r"balancer 'band': slack must be a fraction of n \(float >= 0\) or a"):
        Band(slack=slack)
