"""Laws of stages on a device and by passes over rows: they give what they give on the host and in memory.

The device is one that array-api-strict simulates; without that package its laws concern no stage. They concern a stage
as soon as its row maps, parts and functions carry the mark ``array_api`` (`clusterkit.fitting.device_paths`). The laws
of passes are for maps, starts and balancers that work by passes over rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, final

import attrs
import numpy as np
from hypothesis import assume, reject
from hypothesis import strategies as st

from clusterkit._typing import Array, Rng
from clusterkit.contracts import (
    Balancer,
    Codec,
    Costs,
    CostTable,
    FeatureMap,
    FittedMap,
    Partitioner,
    Task,
    labels_by_blocks,
)
from clusterkit.errors import Infeasible
from clusterkit.fitting.device_paths import has_device_path
from clusterkit.fitting.label_iterations import balanced_by
from clusterkit.samples import FeatureSpace, identity_space
from clusterkit.samples.array_libraries import has_array_api, to_host
from clusterkit.samples.device_engine import DeviceEngine
from clusterkit.samples.engines import Engine, LocalEngine
from clusterkit.samples.rows import SlicedRows
from clusterkit.samples.rows_space import RowsSpace
from clusterkit.samples.sums import Addable, total
from clusterkit.samples.transform import IdentityMap, RowMap, device_plan
from clusterkit.testing.compare import (
    DEVICE,
    close,
    installed,
    put,
    same_bits,
    same_features_there,
    small_blocks,
    small_groups,
)
from clusterkit.testing.law import Law, law
from clusterkit.testing.laws.solver import FEATURES
from clusterkit.testing.strategies import VIEWS, Case, cases

MAP_LAWS: list[Law] = []
"""Laws of feature maps that read the samples by passes."""

START_LAWS: list[Law] = []
"""Laws of partitioners that read samples by passes."""

BALANCER_LAWS: list[Law] = []
"""Laws of balancers that read costs by passes."""

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


def _rows(X: Array, engine: Engine | None = None, mapping: RowMap | None = None) -> RowsSpace:
    """Samples that are read by passes of an engine, as features of a map."""
    return RowsSpace.of(SlicedRows(X), engine or LocalEngine(), mapping or IdentityMap(X.shape[1]))


def _features(case: Case, view: str) -> FeatureSpace:
    """Explicit features of the samples."""
    space = VIEWS[view].space_of(case.X, Task(case.n, case.k), case.rng("space"))
    assert isinstance(space, FeatureSpace)
    return space


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
        rows = _rows(X)
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
    space = _features(case, view)
    here = identity_space(X) if stage.sees == "input" else space
    mapping = IdentityMap(X.shape[1]) if stage.sees == "input" else space.mapping
    with _many_groups():
        there = _rows(X, mapping=mapping)
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


ARRAY_MAP_LAWS: list[Law] = []
"""Laws of feature maps whose row maps carry the mark."""

ARRAY_CODEC_LAWS: list[Law] = []
"""Laws of codecs that carry the mark."""

ARRAY_START_LAWS: list[Law] = []
"""Laws of partitioners with `starts`, whose passes and labels may carry the mark."""


def _maps(stage: FeatureMap) -> bool:
    return installed() and stage.reads == "passes" and has_device_path(stage)


def _decodes(stage: Codec) -> bool:
    return installed() and has_device_path(stage)


def _starts(stage: Partitioner) -> bool:
    return installed() and stage.reads == "passes"


@law(ARRAY_MAP_LAWS, applies=_maps, case=cases(["blobs"]))
def passes_on_a_device_fit_the_same_map(stage: FeatureMap, case: Case) -> None:
    """`fit` to rows that an engine moves to a device gives the map of the host up to rounding, and maps rows there."""
    assume(case.n > case.X.shape[1] + 1)  # directions of variance 0 are arbitrary
    X, task, maps = case.X, Task(case.n, case.k), []
    with small_groups(5):
        for engine in (LocalEngine(), DeviceEngine(DEVICE)):
            rows = _rows(X, engine)
            maps.append(fitted_map(stage, rows, task, case.rng("map")).mapping)
    here, there = (mapping(X) for mapping in maps)
    close(there, here, "features of maps fitted on the host and on a device", digits=3, scale=1.0)
    mapping = maps[0]
    assert has_array_api(mapping)
    for rows_there, expected in ((put(X), here), (put(X[:0]), here[:0])):
        same_features_there(mapping(rows_there), expected)


@law(ARRAY_CODEC_LAWS, applies=_decodes, k=st.integers(2, 5), n=st.integers(0, 30), levels=st.integers(1, 9),
     dtype=st.sampled_from(["float32", "float64"]), seed=st.integers(0, 2**16))  # fmt: skip
def scores_are_decoded_where_they_lie(stage: Codec, k: int, n: int, levels: int, dtype: str, seed: int) -> None:
    """Costs and labels of scores on a device are those of numpy bit for bit, ties included."""
    k = min(k, stage.max_clusters or k)
    columns = stage.codebook(k).shape[1]
    scores = np.random.default_rng(seed).integers(-levels, levels + 1, (n, columns)).astype(dtype) / 2
    same_bits(to_host(stage.costs(put(scores), k)), stage.costs(scores, k), "costs")
    np.testing.assert_array_equal(to_host(stage.decode(put(scores), k)), stage.decode(scores, k), "labels")


@law(ARRAY_START_LAWS, applies=_starts, case=cases(["blobs"], dtypes=["float64"]), view=st.sampled_from(FEATURES))
def passes_on_a_device_start_alike(stage: Partitioner, case: Case, view: str) -> None:
    """Rows that an engine moves to a device get the labels of the host."""
    X, task, labels = case.X, Task(case.n, case.k), []
    space = _features(case, view)
    mapping = IdentityMap(X.shape[1]) if stage.sees == "input" else space.mapping
    with small_groups(7), small_blocks():
        for engine in (LocalEngine(), DeviceEngine(DEVICE)):
            rows = _rows(X, engine, mapping)
            start = stage.start(rows, task, case.rng("init"))
            labels.append(labels_by_blocks(start, rows))
            if isinstance(engine, DeviceEngine) and callable(start) and has_array_api(start):
                H = rows.rows()
                plan = device_plan(case.n, H.shape[1], H.dtype)
                parts = [to_host(start(each, put(H[each]))) for each in plan]
                np.testing.assert_array_equal(np.concatenate(parts), labels[0], "labels of blocks on a device")
    np.testing.assert_array_equal(labels[1], labels[0], "labels of passes on the host and on a device")
