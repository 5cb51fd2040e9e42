"""Laws of maps, starts and balancers that work by passes over rows: what they give in memory, they give everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, final

import attrs
import numpy as np
from hypothesis import assume, reject
from hypothesis import strategies as st

from clusterkit._typing import Array, Indices
from clusterkit.core.cost_passes import BalancesByPasses
from clusterkit.core.errors import Infeasible
from clusterkit.core.local_engine import LocalEngine
from clusterkit.core.rows import SlicedRows
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.spaces.rows_space import RowsSpace
from clusterkit.core.stages import (
    Balancer,
    FeatureMap,
    MapsByPasses,
    Partitioner,
    StartsByBlocks,
    Task,
    labels_by_blocks,
)
from clusterkit.core.sums import Addable, total
from clusterkit.core.transform import IdentityMap
from clusterkit.testing.compare import same_bits, small_blocks, small_groups
from clusterkit.testing.law import Law, law
from clusterkit.testing.strategies import VIEWS, Case, cases

__all__ = ["BALANCER_LAWS", "MAP_LAWS", "START_LAWS"]

MAP_LAWS: list[Law] = []
"""Laws of feature maps with `row_map`."""

START_LAWS: list[Law] = []
"""Laws of partitioners with `starts`."""

BALANCER_LAWS: list[Law] = []
"""Laws of balancers with `decide`."""

FEATURES = ("raw", "scaled", "random", "streamed")
"""Views of the samples as explicit features."""

Part = TypeVar("Part", bound=Addable)


@contextmanager
def _many_groups() -> Iterator[None]:
    """Every row a group: whatever the case, the fit in memory is one of many rows."""
    with small_groups(1), small_blocks():
        yield


def _by_passes(stage: FeatureMap) -> bool:
    return isinstance(stage, MapsByPasses)


def _by_blocks(stage: Partitioner) -> bool:
    return isinstance(stage, StartsByBlocks) and stage.why_not_by_blocks() is None


def _decides(stage: Balancer) -> bool:
    return isinstance(stage, BalancesByPasses)


@law(MAP_LAWS, applies=_by_passes, case=cases())
def rows_are_mapped_as_in_memory(stage: FeatureMap, case: Case) -> None:
    """`row_map` of rows outside memory gives the map that `fit` gives, bit for bit, above one group of rows."""
    assert isinstance(stage, MapsByPasses)
    X, task = case.X, Task(case.n, case.k)
    with _many_groups():
        space = stage.fit(X, task, case.rng("map"))
        rows = RowsSpace.of(SlicedRows(X), LocalEngine(), IdentityMap(X.shape[1]))
        fitted = stage.row_map(rows, task, case.rng("map"))
    assert isinstance(space, FeatureSpace)
    same_bits(fitted.mapping(X), space.mapping(X), "features of rows and of samples in memory")
    left = {name: value for name, value in space.resolved.items() if name != "storage"}
    assert dict(fitted.resolved) == left, f"resolved says {dict(fitted.resolved)} for rows, {left} in memory"


@law(START_LAWS, applies=_by_blocks, case=cases(), view=st.sampled_from(FEATURES))
def rows_start_as_in_memory(stage: Partitioner, case: Case, view: str) -> None:
    """`starts` of rows outside memory gives the labels of `partition`, above one group of rows."""
    assert isinstance(stage, StartsByBlocks)
    X, task = case.X, Task(case.n, case.k)
    space = VIEWS[view].fit(X, task, case.rng("space"))
    assert isinstance(space, FeatureSpace)
    here = X if stage.sees == "input" else space
    mapping = IdentityMap(X.shape[1]) if stage.sees == "input" else space.mapping
    with _many_groups():
        there = RowsSpace.of(SlicedRows(X), LocalEngine(), mapping)
        labels = labels_by_blocks(stage.starts(there, task, case.rng("init")), there)
        same_bits(labels, stage.partition(here, task, case.rng("init")), "labels of rows and of samples in memory")
    assert labels.min() >= 0
    assert labels.max() < case.k


@final
@attrs.frozen(eq=False)
class _Passes:
    """Costs in memory, read by passes over blocks of three rows."""

    costs: Array

    def reduce(self, part: Callable[[slice, Array], Part]) -> Part:
        """One pass."""
        starts = range(0, len(self.costs), 3)
        blocks = [slice(start, min(len(self.costs), start + 3)) for start in starts]
        return total((rows, part(rows, self.costs[rows])) for rows in blocks)

    def gather(self, index: Indices) -> Array:
        """Costs of some rows."""
        return self.costs[index]


@law(BALANCER_LAWS, applies=_decides, n=st.integers(2, 40), k=st.integers(2, 4), levels=st.integers(1, 6),
     seed=st.integers(0, 2**16))  # fmt: skip
def deciding_costs_what_assigning_costs(stage: Balancer, n: int, k: int, levels: int, seed: int) -> None:
    """The labels of `decide` have allowed sizes, cost no more than those of `assign`, and follow row by row."""
    assert isinstance(stage, BalancesByPasses)
    assume(n >= k)
    assume(stage.why_not_by_passes(k) is None)
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, levels + 1, size=(n, k)) + rng.integers(0, 3, size=k) / 2.0  # few values, so many ties
    try:
        low, high = stage.bounds(n, k)
        assignment = stage.assign(costs, np.argmin(costs, axis=1), Task(n, k))
    except Infeasible:
        reject()
    decision = stage.decide(_Passes(costs), Task(n, k, (low, high)))
    labels = np.argmin(costs, axis=1)
    if decision.label is not None:
        labels = np.concatenate([decision.label(slice(i, i + 1), costs[i : i + 1]) for i in range(n)])
    sizes, samples = np.bincount(labels, minlength=k), np.arange(n)
    assert (sizes >= low).all(), f"sizes {sizes}, at least {low}"
    assert (sizes <= high).all(), f"sizes {sizes}, at most {high}"
    spent, least = costs[samples, labels].sum(), costs[samples, assignment.labels].sum()
    assert spent <= least + 1e-6 * max(1.0, abs(least)), f"the labels cost {spent}, those of assign {least}"
    if decision.exact:
        offsets = 0.0 if decision.offsets is None else decision.offsets
        same_bits(np.argmin(costs + offsets, axis=1), labels, "predicted labels")
