"""Fits a composition to rows outside memory: map, prepare, start, loop, all by passes of an engine."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from functools import partial
from typing import cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core import memory, sums
from clusterkit.core.chain import Chain
from clusterkit.core.coding import Coding
from clusterkit.core.compat import Composition, Problem
from clusterkit.core.contracts import During
from clusterkit.core.device_engine import ArrayRows, DeviceEngine
from clusterkit.core.device_paths import device_problems, with_device_path
from clusterkit.core.engines import Engine
from clusterkit.core.errors import ClusterkitWarning, IncompatibleStages, InvalidData
from clusterkit.core.first_labels import GivenLabels, HostStarts, checked
from clusterkit.core.host_labeling import labelled_on_host
from clusterkit.core.host_mapping import made_on_host
from clusterkit.core.iterating import Iterating, Storing
from clusterkit.core.iteration import Ended, Start, first_least, run_starts
from clusterkit.core.label_turns import BalancedLabeling
from clusterkit.core.local_engine import LocalEngine
from clusterkit.core.namespaces import follows, table_columns
from clusterkit.core.rows import Rows, place_of
from clusterkit.core.rows_loop import Decide, RowLabeling, iterate_labels, iterate_without_labels
from clusterkit.core.rows_numbering import numbered_along_axis
from clusterkit.core.run import AllZero, FitResult, check_range, result_of
from clusterkit.core.seeds import Seeds
from clusterkit.core.shortage import shortage
from clusterkit.core.spaces.rows_space import RowsSpace
from clusterkit.core.stages import Codec, Decoder, FeatureMap, MapsByPasses, Partitioner, Predict, Task
from clusterkit.core.summing import Summing, solve_by_sums
from clusterkit.core.survey import OfFiniteRows, extremes
from clusterkit.core.transform import Keep, RowMap, scaling_of

__all__ = [
    "BoundRows",
    "bind_rows",
    "check_rows",
    "fit_rows",
    "in_memory",
    "predict_rows",
    "row_problems",
    "run_rows",
]

IN_MEMORY_SHARE = 4
"""Rows of at most one group that take no more than this part of the memory cap are read and fitted in memory."""


def in_memory(rows: Rows) -> bool:
    """Whether rows are so few that they are read at once; any composition can then be fitted."""
    return rows.n <= sums.GROUP and rows.n * rows.d * rows.dtype.itemsize <= memory.cap() // IN_MEMORY_SHARE


def row_problems(c: Composition, in_process: bool = False) -> Iterator[Problem]:
    """Why a composition cannot be fitted to rows that are read block by block.

    With `in_process` their blocks are computed by a device of this process: numbers of every row may then stay between
    the passes, and what looks at such numbers alone may work on the host.
    """
    reason: str | None
    maps = c.featuremap.maps if isinstance(c.featuremap, Chain) else (c.featuremap,)
    for part in maps:
        if not isinstance(part, MapsByPasses) and not (in_process and c.featuremap.made_on_host):
            yield Problem("featuremap", f"'{part.name}' needs all rows at once")
    if c.path is None or c.path.by_passes(in_process) is None:
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


def check_rows(c: Composition, engine: Engine, n: int) -> None:
    """Refuse, before any work, what cannot be fitted to n rows outside memory; the message names the sampled way."""
    base = engine.base if isinstance(engine, DeviceEngine) else engine
    if c.sample_weight is not None and not isinstance(base, LocalEngine):
        raise IncompatibleStages(
            "sample_weight is an array in the memory of this process: it goes with rows that are read here, by "
            "clusterkit.open, and not with collections of other machines"
        )
    on_device = isinstance(engine, DeviceEngine)
    in_process = isinstance(engine, DeviceEngine) and engine.in_process
    if on_device and HostStarts.serve(n):
        c = attrs.evolve(c, init=None, balancer=None)  # both then work on the host, as in memory
    broken = list(row_problems(c, in_process))
    if on_device and c.featuremap.made_on_host and not HostStarts.serve(n):
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


def fit_rows(c: Composition, rows: Rows, engine: Engine, seeds: Seeds) -> FitResult:
    """Fit a composition to rows that an engine reads.

    Raises
    ------
    IncompatibleStages
        If a stage needs all rows at once; before any work.
    InvalidData
        If a value is no finite number (column and row are named), or there are fewer rows than clusters.
    """
    if c.n_clusters == 1 and rows.n > 0:
        check_rows(c, engine, rows.n)
        zeros = AllZero()
        labels = engine.labels(OfFiniteRows(_Predicted(zeros), rows.names, "the fit"), rows, rows.d)
        return FitResult(labels, 0, True, "one cluster: nothing to find", math.nan, (), None, None, zeros, True)
    return run_rows(bind_rows(c, rows, engine, seeds))


@final
@attrs.frozen(eq=False)
class BoundRows:
    """A composition bound to rows that an engine reads, as a `BoundComposition` to rows in memory."""

    composition: Composition
    space: RowsSpace
    turns: Summing | Iterating
    task: Task
    seeds: Seeds

    @property
    def objective_factor(self) -> float:
        """As of `Prepared`."""
        factor: float = getattr(self.turns, "objective_factor", 1.0)
        return factor

    def objective(self, labels: Labels) -> float:
        """Objective of labels (n,) of the host, after one solve."""
        codec, turns = self.composition.labeler, self.turns
        if not isinstance(codec, Codec) or not isinstance(turns, Summing):
            raise TypeError(f"solver '{self.composition.solver.name}' judges no labels")
        coded = codec.encode(labels, self.task.k, self.task.sample_weight)
        return float(solve_by_sums(turns, self.space, coded).objective[0])


def bind_rows(c: Composition, rows: Rows, engine: Engine, seeds: Seeds) -> BoundRows:
    """Fit the feature map to rows that an engine reads, and prepare the solver's turns; errors as of `fit_rows`."""
    check_rows(c, engine, rows.n)
    if rows.n == 0 or (c.n_clusters is not None and c.n_clusters > rows.n):
        raise InvalidData(
            f"n_samples={rows.n} should be >= n_clusters={c.n_clusters or 1}: no cluster may be without a sample"
        )
    space = _mapped(c, rows, engine, seeds)
    bounds = None if c.balancer is None or c.n_clusters is None else c.balancer.bounds(rows.n, c.n_clusters)
    task = Task(rows.n, c.n_clusters, bounds, c.sample_weight)
    assert c.path is not None
    make_turns = c.path.by_passes(isinstance(engine, DeviceEngine))
    assert make_turns is not None
    with During(c.solver):
        return BoundRows(c, space, make_turns(c.solver, space, task), task, seeds)


def run_rows(bound: BoundRows) -> FitResult:
    """Start, loop, and keep the best."""
    c, space, turns, task, seeds = bound.composition, bound.space, bound.turns, bound.task, bound.seeds
    try:
        if not isinstance(c.labeler, Codec):
            assert isinstance(turns, Iterating)
            assert isinstance(space.engine, DeviceEngine)
            return labelled_on_host(c, space, turns, space.engine, task, seeds)
        ends, interrupted = _ends(c, space, turns, task, seeds)
        best = ends[first_least([end.objective for end in ends], space.dtype)]
        rows = best.answer
        assert rows is not None
        labeling = _read(c, rows, space)
    finally:
        if isinstance(turns, Storing):
            turns.release()
    missing = partial(_shortage, rows, labeling.labels, task)
    return result_of(c, task, space, turns.resolved, (ends, interrupted), best, labeling, missing)


def _read(c: Composition, rows: RowLabeling, space: RowsSpace) -> BalancedLabeling:
    """The labels of all rows, as of a fit in memory."""
    decide = rows.decide
    exact = decide.start is None and decide.decision.exact and decide.stored is None and c.featuremap.exact_on_training
    labels = space.engine.labels(decide, space.source, space.width)
    return BalancedLabeling(
        labels,
        None,
        _predictor(decide),
        exact,
        facts=decide.decision.facts,
        memberships=_memberships(decide, space),
        status=rows.status,
    )


def predict_rows(predict: Predict, rows: Rows, engine: Engine, width: int) -> Labels:
    """Labels of rows by a predictor of raw rows, (n,), in the blocks of `width` features.

    Raises
    ------
    InvalidData
        If a value is no finite number; where labels are lazy, when they are computed.
    """
    return engine.labels(OfFiniteRows(_Predicted(predict), rows.names), rows, width)


@final
@attrs.frozen(eq=False)
class _Predicted:
    """The labels of a block by a predictor of raw rows."""

    predict: Predict

    @property
    def array_api(self) -> bool:
        """As of the predictor."""
        return follows(self.predict)

    @property
    def table_columns(self) -> int:
        """As of the predictor."""
        return table_columns(self.predict)

    def __call__(self, rows: slice, X: Array) -> Labels:
        return self.predict(X)


def _mapped(c: Composition, rows: Rows, engine: Engine, seeds: Seeds) -> RowsSpace:
    """The space of the fitted maps; the first pass checks the values."""
    raw = RowsSpace.of(rows, engine, Keep(rows.d))
    ends = extremes(raw)
    ends.check(rows.names, place_of(rows))
    check_range(ends.low, ends.high, rows.dtype)
    if rows.n > 1 and (ends.low == ends.high).all():
        warnings.warn(
            f"all {rows.n} samples are equal: no labelling is better than another", ClusterkitWarning, stacklevel=5
        )
    task, rng = Task(rows.n, c.n_clusters), seeds.stream("featuremap")
    if c.featuremap.made_on_host and isinstance(engine, DeviceEngine):
        return made_on_host(c.featuremap, rows, engine, task, rng)
    maps: tuple[FeatureMap, ...] = c.featuremap.maps if isinstance(c.featuremap, Chain) else (c.featuremap,)
    samples = attrs.evolve(raw, known=ends)
    before: tuple[RowMap, ...] = ()
    resolved: dict[str, object] = {}
    for part in maps:
        assert isinstance(part, MapsByPasses)
        with During(part):
            fitted = part.row_map(samples, task, rng)
        resolved.update(fitted.resolved)
        samples = RowsSpace.of(rows, engine, fitted.mapping, before)
        before = (*before, fitted.mapping)
    return attrs.evolve(samples, resolved=resolved)


def _ends(
    c: Composition, space: RowsSpace, turns: Summing | Iterating, task: Task, seeds: Seeds
) -> tuple[list[Ended[RowLabeling]], bool]:
    """How every start ended; fewer than asked for after Ctrl-C."""
    varies = isinstance(turns, Iterating) or (c.init is not None and c.init.varies)
    starts = c.n_init if varies else 1
    on_device = isinstance(space.engine, DeviceEngine) and HostStarts.serve(space.n)
    on_host = HostStarts(c, space, task, seeds) if on_device else None

    def made(index: int, lowest: float) -> tuple[Ended[RowLabeling] | list[Start[RowLabeling]], bool]:
        if isinstance(turns, Iterating):
            assert isinstance(c.labeler, Codec)
            rng = seeds.stream("solver", index) if index else seeds.stream("solver")
            with During(c.solver):
                return iterate_without_labels(space, turns, c.labeler, c.balancer, task, rng, index)
        begin = _start(c, space, task, seeds, index) if on_host is None else _given(on_host, index)
        return iterate_labels(space, turns, begin, c.max_iter, c.balancer, task, index)

    return run_starts((partial(made, index) for index in range(starts)), starts, told=True)


def _start(c: Composition, space: RowsSpace, task: Task, seeds: Seeds, index: int) -> Decide:
    """The first labels of a start, as a function of the rows."""
    init, codec = c.init, c.labeler
    assert isinstance(init, Partitioner)
    assert isinstance(codec, Codec)
    rng = seeds.stream("init", index) if index else seeds.stream("init")
    seen, transform = space, None
    if init.sees == "input":
        scaling = scaling_of(space.mapping) or Keep(space.points.shape[1])
        seen = RowsSpace.of(space.source, space.engine, scaling, space.before)
        transform = seen.transform
    with During(init):
        labels = init.start(seen, task, rng)
    blocks = labels if callable(labels) else GivenLabels(checked(init, labels, task))
    begin = Decide(space.reading, codec, task.k, blocks, transform)
    return begin if codec.coding is not Coding.ORDINAL else numbered_along_axis(space, begin, task)


def _given(on_host: HostStarts, index: int) -> Decide:
    """The first labels of a start that was made in memory."""
    space, task, codec = on_host.space, on_host.task, on_host.composition.labeler
    assert isinstance(codec, Codec)
    begin = Decide(space.reading, codec, task.k, on_host.labels(index))
    return begin if codec.coding is not Coding.ORDINAL else numbered_along_axis(space, begin, task)


def _memberships(decide: Decide, space: RowsSpace) -> Array | None:
    """Degrees of membership (n, k), for methods that have them, of rows on a device that are few or lie there."""
    engine, extend = space.engine, decide.extend
    if not isinstance(engine, DeviceEngine) or not hasattr(extend, "nearness"):
        return None
    few = HostStarts.serve(space.n) and isinstance(engine.base, LocalEngine)
    if not (few or isinstance(space.source, ArrayRows)):
        return None
    degrees = cast("Predict", extend)  # a table in the place of labels
    return cast("Array", engine.values(_Predicted(degrees), space.source, space.width))


def _predictor(decide: Decide) -> Decoder | None:
    """Labels of new rows; None if not even one turn was made."""
    if decide.extend is None:
        return None
    scale = None if decide.stored is None else decide.stored.scale
    return Decoder(decide.codec, decide.extend, scale, decide.k, decide.decision.offsets)


def _shortage(labeling: RowLabeling, labels: Labels, task: Task) -> str | None:
    """What is said of clusters without samples, where their sizes are known."""
    sizes, status = labeling.sizes, labeling.status
    if sizes is None and isinstance(labels, np.ndarray):
        sizes = np.bincount(labels, minlength=task.k)
    if sizes is None:
        return None
    words = None if status is None else status.empty_clusters
    return shortage(int((sizes > 0).sum()), task.k, task.n, words=words)
