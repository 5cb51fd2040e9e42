"""Laws of balancers: the sizes are as promised, and no sample moves without need."""

from __future__ import annotations

import itertools

import attrs
import numpy as np
from hypothesis import assume, reject
from hypothesis import strategies as st

from clusterkit._typing import Array, Labels, Sizes
from clusterkit.core.coding import Coding
from clusterkit.core.errors import Infeasible
from clusterkit.core.stages import Assignment, Balancer, Task
from clusterkit.testing.law import Law, law
from clusterkit.testing.strategies import scores

__all__ = ["LAWS"]

LAWS: list[Law] = []
"""The laws of every balancer, in the order in which they stand below; filled by the decorator `law`."""


@attrs.frozen(eq=False)
class _Table:
    """A table of costs such as a codec computes, with the cheapest labels."""

    costs: Array

    @property
    def labels(self) -> Labels:
        return np.argmin(self.costs, axis=1)

    def balanced(self, stage: Balancer, labels: Labels | None = None) -> tuple[Assignment, tuple[Sizes, Sizes]]:
        """The assignment of the balancer and its bounds; examples with impossible sizes are left to another law."""
        n, k = self.costs.shape
        try:
            bounds = stage.bounds(n, k)
        except Infeasible:
            reject()
        assignment = stage.assign(self.costs, self.labels if labels is None else labels, Task(n, k, bounds))
        return assignment, bounds


@st.composite
def _tables(
    draw: st.DrawFn, stage: Balancer, *, max_rows: int = 25, codings: frozenset[Coding] = frozenset(Coding)
) -> _Table:
    """Costs of random scores, in a coding that the balancer accepts."""
    coding = draw(st.sampled_from(sorted(stage.codings & codings, key=lambda c: c.value)))
    k = 2 if coding is Coding.SIGNED else draw(st.integers(2, 4))
    n = draw(st.integers(k, max_rows))
    rows = draw(scores(n, k if coding is Coding.ONEHOT else 1))
    if coding is Coding.SIGNED:
        return _Table(np.concatenate([rows, -rows], axis=1))
    if coding is Coding.ONEHOT:
        return _Table(-rows)
    assume(np.abs(rows).max() < 1e4)  # squared float32 scores of 1e8 leave no digits for differences
    return _Table((rows.astype(np.float64) - np.arange(k)) ** 2)


def _two_class(stage: Balancer) -> st.SearchStrategy[_Table]:
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
def sizes_are_within_bounds(stage: Balancer, table: _Table) -> None:
    """The labels are feasible, and the labels and costs of the caller are not changed."""
    labels, costs = table.labels, table.costs.copy()
    argument = labels.copy()
    assignment, bounds = table.balanced(stage, argument)
    assert assignment.labels.shape == labels.shape
    assert assignment.labels.dtype.kind in "iu"
    assert _within(assignment.labels, bounds), f"sizes {np.bincount(assignment.labels)} outside {bounds}"
    np.testing.assert_array_equal(argument, labels, err_msg="the labels of the caller were changed")
    np.testing.assert_array_equal(table.costs, costs, err_msg="the costs of the caller were changed")


@law(LAWS, table=_tables)
def balancing_twice_is_balancing_once(stage: Balancer, table: _Table) -> None:
    """Feasible labels stay as they are."""
    once, _ = table.balanced(stage)
    twice, _ = table.balanced(stage, once.labels)
    np.testing.assert_array_equal(twice.labels, once.labels)


@law(LAWS, table=_two_class, applies=_takes_two)
def moves_nothing_without_need(stage: Balancer, table: _Table) -> None:
    """For two clusters, where the bounds are sufficient, the labels are the cheapest within them."""
    assignment, bounds = table.balanced(stage)
    if _within(table.labels, bounds):
        np.testing.assert_array_equal(assignment.labels, table.labels)
        assert assignment.exact


@law(LAWS, table=_two_class, applies=_takes_two)
def two_classes_cost_no_more_than_they_must(stage: Balancer, table: _Table) -> None:
    """For two clusters no labelling within the bounds is cheaper (all of them are tried)."""
    assignment, bounds = table.balanced(stage)
    n = len(table.costs)
    costs, rows = table.costs.astype(np.float64), np.arange(n)
    feasible = (labels for labels in map(np.array, itertools.product((0, 1), repeat=n)) if _within(labels, bounds))
    least = min(float(costs[rows, labels].sum()) for labels in feasible)
    cost = float(costs[rows, assignment.labels].sum())
    assert cost <= least + 1e-9 * (1.0 + float(np.abs(costs).sum())), f"cost {cost}, but {least} is possible"


@law(LAWS, table=_tables)
def exact_means_that_costs_decide(stage: Balancer, table: _Table) -> None:
    """Where `exact`, the cheapest labels after adding the offsets are the balanced ones."""
    assignment, _ = table.balanced(stage)
    if assignment.offsets is not None:
        assert np.shape(assignment.offsets) == (table.costs.shape[1],)
    if assignment.exact:
        shifted = table.costs if assignment.offsets is None else table.costs + assignment.offsets
        np.testing.assert_array_equal(np.argmin(shifted, axis=1), assignment.labels)
