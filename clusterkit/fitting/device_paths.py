"""Where a composition can be fitted: which stages run by passes over rows outside memory, and which on a device.

There is no list of stages: a stage of a plugin whose row maps, parts and functions are marked
(`clusterkit.samples.array_libraries.has_array_api`) is found like the built-in ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import cast

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.contracts import Codec, FeatureMap, FittedMap, Labeler, Solver, Stage, Task
from clusterkit.contracts.composition import Composition, Problem
from clusterkit.contracts.featuremap import maps_of
from clusterkit.contracts.pass_solver import Iterating, PassSolver, adder_of, solve_by_sums
from clusterkit.contracts.registry import registry
from clusterkit.errors import IncompatibleStages
from clusterkit.samples import FeatureSpace, build_space, memory, sums
from clusterkit.samples.array_libraries import has_array_api
from clusterkit.samples.coding import Coded, Coding
from clusterkit.samples.device_engine import DeviceEngine
from clusterkit.samples.engines import Engine, LocalEngine
from clusterkit.samples.rows import Rows, SlicedRows
from clusterkit.samples.rows_space import RowsSpace
from clusterkit.samples.transform import IdentityMap

IN_MEMORY_SHARE = 4
"""Rows of at most one group that take at most this fraction, 1 / 4, of the memory cap are read and fitted in memory."""

ROWS, COLUMNS, CLUSTERS = 12, 3, 2
"""Size of the data on which a stage is tried: enough for every stage that has a path at all."""

SLOTS = ("featuremap", "solver", "labeler")
"""Slots whose stages run on the device; starts and balancers look at what comes back."""


def read_at_once(rows: Rows) -> bool:
    """Whether rows are so few that they are read at once; any composition can then be fitted."""
    return rows.n <= sums.GROUP and rows.n * rows.d * rows.dtype.itemsize <= memory.cap() // IN_MEMORY_SHARE


def row_problems(c: Composition, in_process: bool = False) -> Iterator[Problem]:
    """Why a composition cannot be fitted to rows that are read block by block.

    With `in_process` their blocks are computed by a device of this process: what looks at scores alone may then work on
    the host.
    """
    maps = maps_of(c.featuremap)
    for part in maps:
        if part.reads != "passes" and not (in_process and c.featuremap.small):
            yield Problem("featuremap", f"'{part.name}' needs all rows at once")
    if c.path is None or c.path.passes == "never":
        instead = f"; {c.path.instead}" if c.path is not None and c.path.instead else ""
        yield Problem("solver", f"'{c.solver.name}' has no form as sums over the rows{instead}")
    on_host = in_process and c.labeler.scores_alone and c.solver.targets == "never"
    if not on_host and not (isinstance(c.labeler, Codec) and c.labeler.rowwise):
        yield Problem("labeler", f"'{c.labeler.name}' needs the scores of all rows at once")
    if c.balancer is not None:
        reads = "all" if c.n_clusters is None else c.balancer.reads(c.n_clusters)
        if reads != "passes":
            reason = "compares all rows" if reads == "all" else reads
            yield Problem("balancer", f"'{c.balancer.name}' {reason}; balancer=None needs no balance")
    if c.init is not None:
        reads = c.init.reads
        if reads != "passes":
            reason = "needs all rows at once; 'random', 'seeds' and 'kmeans' do not" if reads == "all" else reads
            yield Problem("init", f"'{c.init.name}' {reason}")


def check_rows(c: Composition, engine: Engine, n: int | None = None) -> None:
    """Refuse, before any work, what cannot be fitted to n rows outside memory; the message names the sampled way."""
    base = engine.base if isinstance(engine, DeviceEngine) else engine
    if c.sample_weight is not None and not isinstance(base, LocalEngine):
        raise IncompatibleStages(
            "sample_weight is an array in the memory of this process: it goes with rows that are read here, by "
            "clusterkit.open, and not with collections of other machines"
        )
    on_device = isinstance(engine, DeviceEngine)
    in_process = isinstance(engine, DeviceEngine) and engine.in_process
    if on_device and n is not None and few_rows(n):
        c = attrs.evolve(c, init=None, balancer=None)  # start and balancer then work on the host
    broken = list(row_problems(c, in_process))
    if on_device and n is not None and c.featuremap.small and not few_rows(n):
        most = f"of at most {sums.GROUP:,} rows, and these are {n:,}"
        broken.append(Problem("featuremap", f"'{c.featuremap.name}' is made on the host {most}"))
    if on_device:
        slots = {problem.slot for problem in broken}
        broken += [problem for problem in device_problems(c) if problem.slot not in slots]
    reasons = "; ".join(f"{problem.slot}: {problem.reason}" for problem in broken)
    if reasons and on_device:
        raise IncompatibleStages(
            f"these stages have no path on a device. {reasons}. These have one: {with_device_path()}. "
            f"{engine.by_sample}"
        )
    if reasons:
        raise IncompatibleStages(
            f"these stages cannot be fitted to rows that are read block by block. {reasons}. {engine.by_sample}"
        )


def few_rows(n: int) -> bool:
    """Whether the rows of a device are so few that starts, balancers and maps of all rows work on the host."""
    return n <= sums.GROUP


def device_problems(c: Composition) -> Iterator[Problem]:
    """Why a composition that runs by passes cannot run on a device."""
    maps = maps_of(c.featuremap)
    stages: tuple[tuple[str, Stage], ...] = (
        *(("featuremap", part) for part in maps), ("solver", c.solver), ("labeler", c.labeler),
    )  # fmt: skip
    for slot, stage in stages:
        if not has_device_path(stage) and not (slot == "featuremap" and c.featuremap.small):
            yield Problem(slot, f"'{stage.name}' is computed by numpy only")


def with_device_path() -> str:
    """The registered stages that have a path on a device, in words."""
    by_slot = []
    for slot in SLOTS:
        named = [_named_if_it_has(stage) for stage in registry.specimens(slot).values()]
        if any(named):
            by_slot.append(f"{slot}: {', '.join(filter(None, named))}")
    return "; ".join(by_slot)


def has_device_path(stage: Stage) -> bool:
    """Whether a feature map, a solver or a labeler can be computed on a device, with its parameters."""
    try:
        return _tried(stage)
    except TypeError:  # parameters that have no hash
        return _tried.__wrapped__(stage)


@lru_cache(maxsize=256)
def _tried(stage: Stage) -> bool:
    if isinstance(stage, Codec):
        return stage.rowwise and has_array_api(stage)
    if isinstance(stage, Labeler):
        return stage.scores_alone  # such a labeler works on the host, on the rows of an embedding
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(stage, FeatureMap):
                return stage.small or _map_has_array_api(stage)
            return isinstance(stage, Solver) and _solver_has_array_api(stage)
    except Exception:  # whatever a stage says of these few rows, it has no path that is known
        return False


def _named_if_it_has(stage: Stage) -> str:
    """The name of a stage that has a path, with the word of a parameter that gives it one; empty without a path."""
    if has_device_path(stage):
        return stage.name
    for field in attrs.fields(type(stage)):
        for word in field.metadata.get("options", ()):
            if has_device_path(stage.with_parameters(**{field.name: word})):
                return f"{stage.name} ({field.name}={word!r})"
    return ""


def _samples() -> Array:
    """A few rows of numbers from 0 to 1, no two alike."""
    return np.random.default_rng(0).random((ROWS, COLUMNS))


def _map_has_array_api(stage: FeatureMap) -> bool:
    if stage.reads != "passes":
        return False
    X = _samples()
    space = cast("FeatureSpace", build_space(X, IdentityMap(COLUMNS)))
    fitted = stage.fit(space, Task(ROWS, CLUSTERS), np.random.default_rng(0))
    return isinstance(fitted, FittedMap) and has_array_api(fitted.mapping)


def _solver_has_array_api(stage: Solver) -> bool:
    path = stage.path(FeatureSpace)
    if path is None or path.passes == "never":
        return False
    space = RowsSpace.of(SlicedRows(_samples()), LocalEngine(), IdentityMap(COLUMNS))
    prepared = path.prepare(stage, space, Task(ROWS, CLUSTERS), np.random.default_rng(0))
    assert isinstance(prepared, PassSolver)
    iterations = prepared.iterations
    if isinstance(iterations, Iterating):
        return has_array_api(iterations) and has_array_api(iterations.begin(space, np.random.default_rng(0)))
    coding = Coding.ONEHOT if Coding.ONEHOT in stage.codings else Coding.SIGNED
    codebook = np.eye(CLUSTERS) if coding is Coding.ONEHOT else np.array([[-1.0], [1.0]])
    labels = np.arange(ROWS)[None] % CLUSTERS
    finished = solve_by_sums(iterations, space, Coded(labels, coding, CLUSTERS, codebook))
    return has_array_api(adder_of(iterations)) and has_array_api(finished.extend)
