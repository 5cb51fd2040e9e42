"""Laws of the balancer `ordinal`: intervals of the sorted scores at least cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.contracts import CostTable, Task
from clusterkit.families.shared.band import Band, Ordinal
from clusterkit.families.shared.codecs import Interval, Threshold
from clusterkit.fitting.label_iterations import balanced_by
from clusterkit_campaign.oracles import balance as oracle

seeds = st.integers(0, 2**32 - 1)


@st.composite
def single_output(draw, most=12):
    """Scores of one output with the costs of a rule, and a slack in rows."""
    n, k = draw(st.integers(1, most)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(seeds))
    f = k * (rng.normal(size=(n, 1)) + rng.normal())
    f = np.round(f * 2) / 2 if draw(st.booleans()) else f
    costs = Interval(rule=draw(st.sampled_from(["nearest", "signed", "midpoint", "paper"]))).costs(f, k)
    return f[:, 0], costs, draw(st.integers(0, n + 2))


@given(problem=single_output())
def test_equals_brute_force_over_thresholds(problem):
    f, costs, slack = problem
    n, k = costs.shape
    ordinal = Ordinal(slack=slack)
    low, high = (int(bound[0]) for bound in ordinal.bounds(n, k))
    labels = balanced_by(ordinal, CostTable(costs), Task(n, k)).labels
    sizes = np.bincount(labels, minlength=k)
    assert sizes.min() >= low
    assert sizes.max() <= high
    np.testing.assert_allclose(
        costs[np.arange(n), labels].sum(), oracle.intervals(f, costs, low, high), rtol=1e-9, atol=1e-9
    )


@given(n=st.integers(1, 200), k=st.integers(1, 6), slack=st.integers(0, 250))
def test_window_holds_the_mean_and_lies_in_the_band(n, k, slack):
    low, high = Ordinal(slack=slack).bounds(n, k)
    used = slack if n % k == 0 else max(slack, 1)
    assert np.all(high - low <= used)
    assert np.all((low >= 0) & (low <= n / k) & (n / k <= high))
    assert Ordinal(slack=slack).resolved(n, k) == ({"slack": used} if used > slack else {})


@given(problem=single_output(most=40))
def test_no_worse_than_the_pairwise_repair_of_the_same_window(problem):
    _, costs, slack = problem
    n, k = costs.shape
    start = np.argmin(costs, axis=1)
    low, high = Ordinal(slack=slack).bounds(n, k)
    repaired = balanced_by(Band(slack=slack), CostTable(costs, start), Task(n, k)).labels
    sizes = np.bincount(repaired, minlength=k)
    labels = balanced_by(Ordinal(slack=slack), CostTable(costs, start), Task(n, k)).labels
    if np.all((sizes >= low) & (sizes <= high)):
        rows = np.arange(n)
        assert costs[rows, labels].sum() <= costs[rows, repaired].sum() + 1e-9


@given(problem=single_output(most=40), data=st.data())
def test_idempotent_and_leaves_feasible_labels_alone(problem, data):
    _, costs, slack = problem
    n, k = costs.shape
    ordinal, start = Ordinal(slack=slack), np.argmin(costs, axis=1)
    first = balanced_by(ordinal, CostTable(costs, start), Task(n, k))
    again = balanced_by(ordinal, CostTable(costs, first.labels), Task(n, k))
    assert again.exact
    np.testing.assert_array_equal(again.labels, first.labels)
    shuffled = np.random.default_rng(data.draw(seeds)).permutation(first.labels)  # feasible, but not intervals
    np.testing.assert_array_equal(balanced_by(ordinal, CostTable(costs, shuffled), Task(n, k)).labels, shuffled)


@given(n=st.integers(1, 60), seed=seeds, slack=st.integers(0, 61))
def test_two_clusters_equal_the_band(n, seed, slack):
    f = np.random.default_rng(seed).normal(size=(n, 1)) + 0.5
    costs = Threshold().costs(f, 2)
    start = np.argmin(costs, axis=1)
    labels = balanced_by(Ordinal(slack=slack), CostTable(costs, start), Task(n, 2)).labels
    np.testing.assert_array_equal(labels, balanced_by(Band(slack=slack), CostTable(costs, start), Task(n, 2)).labels)


@given(problem=single_output(most=40))
def test_labels_never_fall_as_the_score_rises(problem):
    f, costs, slack = problem
    n, k = costs.shape
    labels = balanced_by(Ordinal(slack=slack), CostTable(costs), Task(n, k)).labels
    assert np.all(np.diff(labels[np.argsort(f, kind="stable")]) >= 0)


def test_jumps_over_no_cluster_between():
    f = np.array([1.0] * 2 + [2.0] * 4 + [3.0] * 6)[:, None]
    costs = Interval().costs(f, 3)
    labels = balanced_by(Ordinal(slack=0), CostTable(costs), Task(12, 3)).labels
    np.testing.assert_array_equal(labels, np.repeat([0, 1, 2], 4))


def test_large_data():
    n, k = 20_000, 4
    f = np.random.default_rng(0).normal(size=(n, 1))
    costs = Interval().costs(f, k)
    labels = balanced_by(Ordinal(slack=200), CostTable(costs), Task(n, k)).labels
    assert np.ptp(np.bincount(labels)) <= 200


@pytest.mark.parametrize("slack", [0, 5, 0.03])
def test_one_cluster(slack):
    costs = Interval().costs(np.zeros((6, 1)), 1)
    assignment = balanced_by(Ordinal(slack=slack), CostTable(costs, np.zeros(6, dtype=int)), Task(6, 1))
    assert assignment.exact
    assert not assignment.labels.any()
