"""Laws of maps, starts and balancers that work by passes over rows: what they give in memory, they give everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, final

import attrs
import numpy as np
from hypothesis import assume, reject
from hypothesis import strategies as st

from clusterkit._typing import Array, Rng
from clusterkit.core.errors import Infeasible
from clusterkit.core.label_turns import balanced_by
from clusterkit.core.local_engine import LocalEngine
from clusterkit.core.rows import SlicedRows
from clusterkit.core.spaces import FeatureSpace, identity_space
from clusterkit.core.spaces.rows_space import RowsSpace
from clusterkit.core.stages import (
    Balancer,
    Costs,
    CostTable,
    FeatureMap,
    FittedMap,
    Partitioner,
    Task,
    labels_by_blocks,
)
from clusterkit.core.sums import Addable, total
from clusterkit.core.transform import IdentityMap
from clusterkit.testing.compare import same_bits, small_blocks, small_groups
from clusterkit.testing.law import Law, law
from clusterkit.testing.strategies import VIEWS, Case, cases

__all__ = ["BALANCER_LAWS", "MAP_LAWS", "START_LAWS", "fitted_map"]

MAP_LAWS: list[Law] = []
"""Laws of feature maps that read the samples by passes."""

START_LAWS: list[Law] = []
"""Laws of partitioners that read samples by passes."""

BALANCER_LAWS: list[Law] = []
"""Laws of balancers that read costs by passes."""

FEATURES = ("raw", "scaled", "random", "streamed")
"""Views of the samples as explicit features."""

Part = TypeVar("Part", bound=Addable)


@contextmanager
def _many_groups() -> Iterator[None]:
    """Every row a group: whatever the case, the fit in memory is one of many rows."""
    with small_groups(1), small_blocks():
        yield


def _by_passes(stage: FeatureMap) -> bool:
    return stage.reads == "passes"


def _by_blocks(stage: Partitioner) -> bool:
    return stage.reads == "passes"


def _balances_by_passes(stage: Balancer) -> bool:
    return any(stage.reads(k) == "passes" for k in range(2, 5))


def fitted_map(stage: FeatureMap, samples: FeatureSpace, task: Task, rng: Rng) -> FittedMap:
    """The map that a stage with ``reads = "passes"`` makes of samples."""
    fitted = stage.fit(samples, task, rng)
    assert isinstance(fitted, FittedMap), f"fit must return a FittedMap, got {type(fitted).__name__}"
    return fitted


@law(MAP_LAWS, applies=_by_passes, case=cases())
def rows_are_mapped_as_in_memory(stage: FeatureMap, case: Case) -> None:
    """`fit` to rows outside memory gives the map of the samples in memory, bit for bit, above one group of rows."""
    X, task = case.X, Task(case.n, case.k)
    with _many_groups():
        space = stage.space_of(X, task, case.rng("map"))
        rows = RowsSpace.of(SlicedRows(X), LocalEngine(), IdentityMap(X.shape[1]))
        there = stage.space_of(rows, task, case.rng("map"))
    assert isinstance(space, FeatureSpace)
    assert isinstance(there, FeatureSpace)
    same_bits(there.transform(X), space.transform(X), "features of rows and of samples in memory")
    left = {name: value for name, value in space.resolved.items() if name != "storage"}
    assert dict(there.resolved) == left, f"resolved says {dict(there.resolved)} for rows, {left} in memory"


@law(START_LAWS, applies=_by_blocks, case=cases(), view=st.sampled_from(FEATURES))
def rows_start_as_in_memory(stage: Partitioner, case: Case, view: str) -> None:
    """Rows outside memory get the labels that they get in memory, above one group of rows."""
    X, task = case.X, Task(case.n, case.k)
    space = VIEWS[view].space_of(X, task, case.rng("space"))
    assert isinstance(space, FeatureSpace)
    here = identity_space(X) if stage.sees == "input" else space
    mapping = IdentityMap(X.shape[1]) if stage.sees == "input" else space.mapping
    with _many_groups():
        there = RowsSpace.of(SlicedRows(X), LocalEngine(), mapping)
        labels = labels_by_blocks(stage.start(there, task, case.rng("init")), there)
        in_memory = labels_by_blocks(stage.start(here, task, case.rng("init")), here)
        same_bits(labels, in_memory, "labels of rows and of samples in memory")
    assert labels.min() >= 0
    assert labels.max() < case.k


@final
@attrs.frozen(eq=False)
class _Passes(Costs):
    """Costs read by passes over blocks of three rows."""

    costs: Array

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.costs)

    @property
    def k(self) -> int:
        """Number of clusters."""
        return int(self.costs.shape[1])

    def reduce(self, part: Callable[[slice, Array], Part]) -> Part:
        """One pass."""
        starts = range(0, len(self.costs), 3)
        blocks = [slice(start, min(len(self.costs), start + 3)) for start in starts]
        return total((rows, part(rows, self.costs[rows])) for rows in blocks)


@law(BALANCER_LAWS, applies=_balances_by_passes, n=st.integers(2, 40), k=st.integers(2, 4), levels=st.integers(1, 6),
     seed=st.integers(0, 2**16))  # fmt: skip
def balancing_by_passes_costs_what_it_costs_in_memory(stage: Balancer, n: int, k: int, levels: int, seed: int) -> None:
    """The labels by passes have allowed sizes, cost no more than those of costs in memory, and follow row by row."""
    assume(n >= k)
    assume(stage.reads(k) == "passes")
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, levels + 1, size=(n, k)) + rng.integers(0, 3, size=k) / 2.0  # few values, so many ties
    try:
        low, high = stage.bounds(n, k)
        in_memory = balanced_by(stage, CostTable(costs), Task(n, k)).labels_of(CostTable(costs))
    except Infeasible:
        reject()
    decision = balanced_by(stage, _Passes(costs), Task(n, k, (low, high)))
    labels = decision.labels_of(CostTable(costs))
    if callable(decision.labels):
        labels = np.concatenate([decision.labels(slice(i, i + 1), costs[i : i + 1]) for i in range(n)])
    sizes, samples = np.bincount(labels, minlength=k), np.arange(n)
    assert (sizes >= low).all(), f"sizes {sizes}, at least {low}"
    assert (sizes <= high).all(), f"sizes {sizes}, at most {high}"
    spent, least = costs[samples, labels].sum(), costs[samples, in_memory].sum()
    assert spent <= least + 1e-6 * max(1.0, abs(least)), f"the labels cost {spent}, those of costs in memory {least}"
    if decision.exact:
        offsets = 0.0 if decision.offsets is None else decision.offsets
        same_bits(np.argmin(costs + offsets, axis=1), labels, "predicted labels")
