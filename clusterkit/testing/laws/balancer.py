"""Laws of balancers and of partitioners.

Balancers: the sizes are as promised, and no sample moves without need. Partitioners: every sample is in one of k parts,
and data and seed alone decide which.
"""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import assume, reject
from hypothesis import strategies as st

from clusterkit._typing import Labels, Sizes
from clusterkit.contracts import BalanceDecision, Balancer, CostTable, Partitioner, Task, labels_by_blocks
from clusterkit.errors import Infeasible
from clusterkit.fitting.label_iterations import balanced_by
from clusterkit.samples import Space, identity_space
from clusterkit.samples.coding import Coding
from clusterkit.testing.compare import same_bits
from clusterkit.testing.law import Law, law
from clusterkit.testing.strategies import VIEWS, Case, cases, scores, views

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
    others = sorted(set(stage.resolved(n, k)) - set(stage.parameters()))
    assert not others, f"`resolved` has {', '.join(others)}: only parameters that it changed, under their names"


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


PARTITIONER_LAWS: list[Law] = []
"""The laws of every partitioner, in the order in which they stand below; filled by the decorator `law`."""


def _views(stage: Partitioner) -> st.SearchStrategy[str]:
    return st.just("input") if stage.sees == "input" else st.sampled_from(views(stage.spaces))


def _samples(case: Case, view: str) -> Space:
    if view == "input":
        return identity_space(case.X)
    return VIEWS[view].space_of(case.X, Task(len(case.X), case.k), case.rng("space"))


def _split(stage: Partitioner, case: Case, samples: Space, use: str = "init") -> Labels:
    return labels_by_blocks(stage.start(samples, Task(len(case.X), case.k), case.rng(use)), samples)


@law(PARTITIONER_LAWS, case=cases(), view=_views)
def labels_are_numbers_in_range(stage: Partitioner, case: Case, view: str) -> None:
    """Each sample gets one integer 0..k-1, whatever the data."""
    labels = _split(stage, case, _samples(case, view))
    assert labels.shape == (case.n,)
    assert labels.dtype.kind in "iu"
    assert labels.min() >= 0
    assert labels.max() < case.k


@law(PARTITIONER_LAWS, case=cases(["blobs", "offset"], dtypes=["float64"]), view=_views)
def no_part_is_empty(stage: Partitioner, case: Case, view: str) -> None:
    """With at least as many distinct samples as parts, no part is empty."""
    assert len(np.unique(_split(stage, case, _samples(case, view)))) == case.k


@law(PARTITIONER_LAWS, case=cases(), view=_views)
def same_seed_same_parts(stage: Partitioner, case: Case, view: str) -> None:
    """Equal data and equal streams give equal labels, and the data are not changed."""
    samples = _samples(case, view)
    before = samples.points.copy()
    one = _split(stage, case, samples)
    same_bits(one, _split(stage, case, _samples(case, view)), "two partitions")
    same_bits(samples.points, before, "the data afterwards")


@law(PARTITIONER_LAWS, case=cases(), view=_views, applies=lambda stage: not stage.varies)
def streams_do_not_matter_if_it_does_not_vary(stage: Partitioner, case: Case, view: str) -> None:
    """With ``varies = False`` another random stream gives the same labels."""
    samples = _samples(case, view)
    same_bits(_split(stage, case, samples, "another"), _split(stage, case, samples), "two streams")
