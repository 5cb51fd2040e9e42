"""Labels under sizes, weights and links together: exact where said so, and bounded from below always."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, milp

from clusterkit.numerics.linked.labels import SizedProblem, cheapest_sized

random_seeds = st.integers(0, 2**32 - 1)


def problem(rng, groups, rows, k, weighted):
    """A problem with random costs, groups, pairs that are apart, and bounds of the sizes."""
    sizes = rng.integers(1, 4, groups).astype(float) * (rng.random(groups) + 0.1 if weighted else 1.0)
    weights = rng.random(rows) + 0.2 if weighted else None
    one, other = np.triu_indices(groups, 1)
    chosen = rng.random(len(one)) < 0.3
    apart = np.stack([one[chosen], other[chosen]], axis=1).astype(np.int64)
    total = sizes.sum() + (rows if weights is None else weights.sum())
    low, high = np.full(k, np.floor(total / k * 0.8)), np.full(k, np.ceil(total / k * 1.3))
    D, C = rng.normal(size=(groups, k)) * sizes[:, None], rng.normal(size=(rows, k))
    return SizedProblem(D, sizes, apart, C, weights, low, high)


def is_allowed(problem, labels):
    m = len(problem.D)
    weights = np.ones(len(problem.C)) if problem.weights is None else problem.weights
    sizes = np.bincount(labels, weights=np.concatenate([problem.group_weights, weights]), minlength=len(problem.low))
    apart = (labels[:m][problem.apart[:, 0]] != labels[:m][problem.apart[:, 1]]).all()
    return apart and (sizes >= problem.low - 1e-9).all() and (sizes <= problem.high + 1e-9).all()


def joined(solved):
    return np.concatenate([solved.of_groups, solved.of_rows])


@given(seed=random_seeds, groups=st.integers(0, 3), rows=st.integers(1, 5), k=st.integers(2, 3), weighted=st.booleans())
def test_small_problems_are_solved_as_by_enumeration(seed, groups, rows, k, weighted):
    sized = problem(np.random.default_rng(seed), groups, rows, k, weighted)
    every = (np.array(labels, dtype=np.int64) for labels in itertools.product(range(k), repeat=groups + rows))
    costs = [sized.cost(labels[:groups], labels[groups:]) for labels in every if is_allowed(sized, labels)]
    solved, bounded = cheapest_sized(sized), cheapest_sized(sized, exact_cells=0)
    if not costs:
        assert solved is None
        assert bounded is None
        return
    assert solved is not None
    assert is_allowed(sized, joined(solved))
    assert solved.cost == pytest.approx(min(costs))
    assert solved.lower == pytest.approx(min(costs), abs=1e-6)
    if bounded is not None:
        assert is_allowed(sized, joined(bounded))
        assert bounded.lower <= min(costs) + 1e-9 <= bounded.cost + 2e-9


def by_milp(sized):
    """The least cost, by a program written down anew."""
    weights = np.ones(len(sized.C)) if sized.weights is None else sized.weights
    costs = np.concatenate([sized.D, sized.C * weights[:, None]])
    items, k = costs.shape
    of_items = np.concatenate([sized.group_weights, weights])
    rows, low, high = [], [], []
    for i in range(items):
        row = np.zeros((items, k))
        row[i] = 1
        rows, low, high = [*rows, row.ravel()], [*low, 1], [*high, 1]
    for j in range(k):
        row = np.zeros((items, k))
        row[:, j] = of_items
        rows, low, high = [*rows, row.ravel()], [*low, sized.low[j]], [*high, sized.high[j]]
        for a, b in sized.apart:
            row = np.zeros((items, k))
            row[[a, b], j] = 1
            rows, low, high = [*rows, row.ravel()], [*low, 0], [*high, 1]
    rule = LinearConstraint(np.array(rows), low, high)
    answer = milp(costs.ravel(), integrality=np.ones(costs.size), bounds=(0, 1), constraints=rule)
    return answer.fun if answer.x is not None else None


@settings(max_examples=5, deadline=None)
@given(seed=random_seeds, weighted=st.booleans())
def test_the_bound_is_below_the_optimum_and_the_labels_are_near_it(seed, weighted):
    sized = problem(np.random.default_rng(seed), 8, 40, 3, weighted)
    least, solved = by_milp(sized), cheapest_sized(sized, exact_cells=0)
    assume(least is not None)
    if solved is None:
        return  # no labels found within the budget, which the balancer says
    assert is_allowed(sized, joined(solved))
    assert solved.lower <= least + 1e-3  # the other program stops at a relative gap of 1e-4
    assert least <= solved.cost + 1e-3
    assert solved.cost <= least + 0.15 * abs(least) + 1.0


def test_without_links_and_weights_the_labels_are_those_of_the_transportation_problem():
    rng = np.random.default_rng(0)
    C = rng.normal(size=(300, 4)) + np.array([0, 0.5, 1.0, 1.5])
    no_groups = np.empty((0, 4)), np.empty(0), np.empty((0, 2), dtype=np.int64)
    solved = cheapest_sized(SizedProblem(*no_groups, C, None, np.full(4, 70), np.full(4, 80)))
    assert solved.cost == pytest.approx(solved.lower)
    assert np.bincount(solved.of_rows).tolist() == [80, 80, 70, 70]
