"""Laws of balancers: the sizes are as promised, and no sample moves without need."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import assume, reject
from hypothesis import strategies as st

from clusterkit._typing import Labels, Sizes
from clusterkit.core.coding import Coding
from clusterkit.core.errors import Infeasible
from clusterkit.core.label_turns import balanced_by
from clusterkit.core.stages import BalanceDecision, Balancer, CostTable, Task
from clusterkit.testing.law import Law, law
from clusterkit.testing.strategies import scores

__all__ = ["LAWS"]

LAWS: list[Law] = []
"""The laws of every balancer, in the order in which they stand below; filled by the decorator `law`."""


def _balanced(stage: Balancer, table: CostTable) -> tuple[Labels, BalanceDecision, tuple[Sizes, Sizes]]:
    """The labels of the balancer, its decision and its bounds; what has no possible sizes is left to another law."""
    try:
        bounds = stage.bounds(table.n, table.k)
    except Infeasible:
        reject()
    decision = balanced_by(stage, table, Task(table.n, table.k, bounds))
    return decision.labels_of(table), decision, bounds


@st.composite
def _tables(
    draw: st.DrawFn, stage: Balancer, *, max_rows: int = 25, codings: frozenset[Coding] = frozenset(Coding)
) -> CostTable:
    """Costs of random scores, in a coding that the balancer accepts."""
    coding = draw(st.sampled_from(sorted(stage.codings & codings, key=lambda c: c.value)))
    k = 2 if coding is Coding.SIGNED else draw(st.integers(2, 4))
    n = draw(st.integers(k, max_rows))
    rows = draw(scores(n, k if coding is Coding.ONEHOT else 1))
    if coding is Coding.SIGNED:
        return CostTable(np.concatenate([rows, -rows], axis=1))
    if coding is Coding.ONEHOT:
        return CostTable(-rows)
    assume(np.abs(rows).max() < 1e4)  # squared float32 scores of 1e8 leave no digits for differences
    return CostTable((rows.astype(np.float64) - np.arange(k)) ** 2)


def _two_class(stage: Balancer) -> st.SearchStrategy[CostTable]:
    return _tables(stage, max_rows=10, codings=frozenset({Coding.SIGNED}))


def _takes_two(stage: Balancer) -> bool:
    return Coding.SIGNED in stage.codings


def _within(labels: Labels, bounds: tuple[Sizes, Sizes]) -> bool:
    sizes = np.bincount(labels, minlength=len(bounds[0]))
    return bool((sizes >= bounds[0]).all() and (sizes <= bounds[1]).all())


@law(LAWS, n=st.integers(1, 60), k=st.integers(1, 6))
def bounds_are_possible_or_refused(stage: Balancer, n: int, k: int) -> None:
    """Sizes within the bounds can add up to n, or `Infeasible` is raised; `resolved` names real parameters."""
    assume(k <= n)
    try:
        low, high = stage.bounds(n, k)
    except Infeasible as refusal:
        message = str(refusal)
        low = None
    if low is None:
        assert stage.name in message, f"the refusal does not name the balancer: {message}"
        return
    assert np.shape(low) == np.shape(high) == (k,)
    assert (np.asarray(low) <= high).all()
    assert np.sum(low) <= n <= np.sum(high), f"sizes in {low}..{high} never add up to {n}"
    assert set(stage.resolved(n, k)) <= set(stage.parameters())


@law(LAWS, table=_tables)
def sizes_are_within_bounds(stage: Balancer, table: CostTable) -> None:
    """The labels are feasible, and the labels and costs of the caller are not changed."""
    before, costs = table.labels.copy(), table.costs.copy()
    labels, _, bounds = _balanced(stage, table)
    assert labels.shape == before.shape
    assert labels.dtype.kind in "iu"
    assert _within(labels, bounds), f"sizes {np.bincount(labels)} outside {bounds}"
    np.testing.assert_array_equal(table.labels, before, err_msg="the labels of the caller were changed")
    np.testing.assert_array_equal(table.costs, costs, err_msg="the costs of the caller were changed")


@law(LAWS, table=_tables)
def balancing_twice_is_balancing_once(stage: Balancer, table: CostTable) -> None:
    """Feasible labels stay as they are."""
    once, _, _ = _balanced(stage, table)
    twice, _, _ = _balanced(stage, CostTable(table.costs, once))
    np.testing.assert_array_equal(twice, once)


@law(LAWS, table=_two_class, applies=_takes_two)
def moves_nothing_without_need(stage: Balancer, table: CostTable) -> None:
    """For two clusters, where the bounds are sufficient, the labels are the cheapest within them."""
    labels, decision, bounds = _balanced(stage, table)
    if _within(table.labels, bounds):
        np.testing.assert_array_equal(labels, table.labels)
        assert decision.exact


@law(LAWS, table=_two_class, applies=_takes_two)
def two_classes_cost_no_more_than_they_must(stage: Balancer, table: CostTable) -> None:
    """For two clusters no labelling within the bounds is cheaper (all of them are tried)."""
    labels, _, bounds = _balanced(stage, table)
    n = table.n
    costs, rows = table.costs.astype(np.float64), np.arange(n)
    feasible = (other for other in map(np.array, itertools.product((0, 1), repeat=n)) if _within(other, bounds))
    least = min(float(costs[rows, other].sum()) for other in feasible)
    cost = float(costs[rows, labels].sum())
    assert cost <= least + 1e-9 * (1.0 + float(np.abs(costs).sum())), f"cost {cost}, but {least} is possible"


@law(LAWS, table=_tables)
def exact_means_that_costs_decide(stage: Balancer, table: CostTable) -> None:
    """Where `exact`, the cheapest labels after adding the offsets are the balanced ones."""
    labels, decision, _ = _balanced(stage, table)
    if decision.offsets is not None:
        assert np.shape(decision.offsets) == (table.k,)
    if decision.exact:
        shifted = table.costs if decision.offsets is None else table.costs + decision.offsets
        np.testing.assert_array_equal(np.argmin(shifted, axis=1), labels)
