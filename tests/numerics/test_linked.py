"""Labels of least cost under links: equal to enumeration, optimal where said so, and bounded from below always."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clusterkit.numerics.linked.apart_jit import BUDGET_OVER, IMPOSSIBLE, NOT_PROVEN, OPTIMAL, colouring
from clusterkit.numerics.linked.labels import cheapest_labels

random_seeds = st.integers(0, 2**32 - 1)


def graph(rng, m, share):
    """Random pairs of m nodes, each once."""
    one, other = np.triu_indices(m, 1)
    chosen = rng.random(len(one)) < share
    return np.stack([one[chosen], other[chosen]], axis=1).astype(np.int64)


def is_kept(labels, apart):
    return not (labels[apart[:, 0]] == labels[apart[:, 1]]).any()


def enumerated(D, apart):
    """The least cost of all labels that keep the pairs apart; inf if there are none."""
    every = np.array(list(itertools.product(range(D.shape[1]), repeat=len(D))))
    fine = ~(every[:, apart[:, 0]] == every[:, apart[:, 1]]).any(axis=1)
    return D[np.arange(len(D)), every[fine]].sum(axis=1).min(initial=np.inf)


@given(seed=random_seeds, m=st.integers(1, 8), k=st.integers(1, 3), share=st.sampled_from([0.2, 0.5, 0.8]))
def test_the_labels_are_those_of_an_enumeration(seed, m, k, share):
    rng = np.random.default_rng(seed)
    D = rng.normal(size=(m, k)).round(1)  # ties, too
    D[rng.random(D.shape) < 0.1] = np.inf
    apart = graph(rng, m, share)
    solved, least = cheapest_labels(D, apart), enumerated(D, apart)
    assert solved.state == (OPTIMAL if np.isfinite(least) else IMPOSSIBLE)
    if np.isfinite(least):
        assert is_kept(solved.labels, apart)
        assert solved.cost == pytest.approx(least)
        assert solved.lower == pytest.approx(least)


@given(seed=random_seeds)
def test_a_budget_of_nothing_leaves_labels_and_a_bound_below_the_optimum(seed):
    rng = np.random.default_rng(seed)
    D, apart = rng.normal(size=(9, 3)), graph(rng, 9, 0.3)
    least = enumerated(D, apart)
    solved = cheapest_labels(D, apart, budget=0.0)
    assert solved.lower <= least + 1e-9
    if solved.state in (OPTIMAL, NOT_PROVEN):
        assert is_kept(solved.labels, apart)
        assert solved.cost >= least - 1e-9
    else:
        assert solved.state in (IMPOSSIBLE, BUDGET_OVER)


@given(seed=random_seeds)
def test_large_problems_keep_every_pair_apart_and_state_a_gap(seed):
    rng = np.random.default_rng(seed)
    D, apart = rng.normal(size=(400, 4)), np.unique(np.sort(rng.integers(0, 400, (420, 2)), axis=1), axis=0)
    apart = apart[apart[:, 0] < apart[:, 1]]
    solved = cheapest_labels(D, apart, budget=2e5)
    assume(solved.state in (OPTIMAL, NOT_PROVEN))
    assert is_kept(solved.labels, apart)
    assert D.min(axis=1).sum() - 1e-9 <= solved.lower <= solved.cost
    assert solved.cost == pytest.approx(D[np.arange(400), solved.labels].sum())


@given(seed=random_seeds, share=st.sampled_from([0.3, 0.6, 0.9]), k=st.integers(1, 5))
def test_colours_exist_where_an_enumeration_has_some(seed, share, k):
    rng = np.random.default_rng(seed)
    m = 6
    apart = graph(rng, m, share)
    state, colours = colouring(apart, m, k, 10**6)
    assert state == int(np.isfinite(enumerated(np.zeros((m, k)), apart)))
    if state:
        assert is_kept(colours, apart)
        assert 0 <= colours.min() <= colours.max() < k
