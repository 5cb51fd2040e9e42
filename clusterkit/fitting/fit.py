"""Runs a composition on samples, in memory or elsewhere: map, prepare, start, loop.

Warns if fewer clusters than were asked for have samples, and if there are fewer distinct samples than clusters.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Labels, Rng, Sizes
from clusterkit.contracts import (
    BlockLabels,
    Codec,
    Decoder,
    FeatureMap,
    GivenLabels,
    Partitioner,
    Predict,
    Prepared,
    Task,
    labels_by_blocks,
)
from clusterkit.contracts.checks import NamingStage, check_instance, check_space, named
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.featuremap import maps_of
from clusterkit.contracts.iteration import Ended, Start, first_least, run_starts
from clusterkit.contracts.outcomes import Domain, Ending, MixtureScores, Scores
from clusterkit.contracts.pass_solver import Iterating, PassSolver, Summing, solve_by_sums
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import ClusterkitWarning, IncompatibleStages, InvalidData, InvalidParameter, counted
from clusterkit.fitting.device_paths import check_rows, few_rows
from clusterkit.fitting.label_iterations import BalancedLabeling, alternate, solve_once
from clusterkit.fitting.links import of_seeds
from clusterkit.fitting.numbering import RenumberedBlocks, numbering, renumbered, sizes_of
from clusterkit.fitting.pass_iterations import BlockLabeler, RowLabeling, iterate_labels, iterate_without_labels
from clusterkit.fitting.samples import ArrayOrSamples, ArraySamples, EngineSamples, Samples, as_samples
from clusterkit.fitting.starting import along_principal_axis, numbered_along_axis
from clusterkit.numerics.selection import sets_of_equal_rows
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import FeatureSpace, Space, identity_space, memory
from clusterkit.samples.coding import Coded, Coding
from clusterkit.samples.device_engine import ArrayRows, DeviceEngine
from clusterkit.samples.devices import on_host
from clusterkit.samples.engines import LocalEngine
from clusterkit.samples.kernel_space import warn_of_degenerate_kernel
from clusterkit.samples.rows import SlicedRows
from clusterkit.samples.rows_space import RowsSpace
from clusterkit.samples.transform import IdentityMap, scaling_of

__all__ = [
    "AllZero",
    "BoundComposition",
    "all_noise",
    "bind",
    "check_magnitude",
    "check_new",
    "check_range",
    "first_least",
    "fit",
    "missing_clusters",
    "n_with_samples",
    "one_cluster",
    "parted",
    "reason_of",
    "result_of",
    "run",
]


def n_with_samples(labels: Labels) -> int:
    """Number of clusters that have samples; noise (-1) is none."""
    return int(np.count_nonzero(np.bincount(labels + 1)[1:]))


def all_noise(n: int, facts: Mapping[str, object]) -> str:
    """A sentence about samples that are all noise, with the "reason" among the facts of the labeler, if it gives one.

    Examples
    --------
    >>> all_noise(10, {"reason": "there is no gap"})
    'all 10 rows are noise, label -1: there is no gap'
    """
    reason = facts.get("reason", "the method finds no cluster in them")
    return f"{'all ' if n > 1 else ''}{n} row{'s are' if n > 1 else ' is'} noise, label -1: {reason}"


def missing_clusters(used: int, k: int, n: int, distinct: Callable[[], int], words: str | None = None) -> str | None:
    """A sentence about clusters that have no samples, or have some only because equal ones were split; else None.

    Parameters
    ----------
    used : int
        The number of clusters that have samples.
    k : int
        The number of clusters asked for.
    n : int
        The number of samples.
    distinct : callable
        Function that counts the distinct samples, at least up to k.
    words : str, optional
        The solver's own sentence about empty clusters, used in place of the sentences here.

    Examples
    --------
    >>> missing_clusters(3, 3, 100, lambda: 3) is None
    True
    >>> missing_clusters(75, 300, 300, lambda: 300)
    '75 of the 300 clusters that were asked for have rows'
    >>> missing_clusters(3, 5, 60, lambda: 3)
    '3 of the 5 clusters that were asked for have rows, because only 3 rows are distinct'
    >>> missing_clusters(2, 5, 60, lambda: 4)
    '2 of the 5 clusters that were asked for have rows, and only 4 rows are distinct'
    >>> missing_clusters(5, 5, 60, lambda: 3)
    '5 clusters were asked for, and only 3 rows are distinct: some equal rows are in different clusters'
    """
    if used >= k:
        if (values := distinct()) >= k:
            return None
        rows = "row is" if values == 1 else "rows are"
        return (
            f"{k} clusters were asked for, and only {values} {rows} distinct: some equal rows are in different clusters"
        )
    if words is not None or used == 0:  # all samples may be noise
        return words
    values = distinct()
    if values == 1:  # a fit warns of equal samples before it begins
        return None
    if values < k:
        have, why = "has" if used == 1 else "have", "because" if used == values else "and"
        return f"{used} of the {k} clusters that were asked for {have} rows, {why} only {values} rows are distinct"
    if used == 1:
        return (
            f"all {n} samples are in one cluster of the {k} asked for, for example because they differ too little for "
            "the distances that the method computes"
        )
    return f"{used} of the {k} clusters that were asked for have rows"


def parted(X: Array, labels: Labels) -> Mapping[str, object]:
    """Number of points at which equal rows of X have different labels, as "points_parted" for `resolved_`, if any.

    Only a balancer, or a solver of equal sizes, splits equal rows: otherwise the label depends on the row alone.

    Examples
    --------
    >>> parted(np.array([[1.0], [1.0], [2.0]]), np.array([0, 1, 1]))
    {'points_parted': 1}
    """
    inverse = sets_of_equal_rows(X)
    if inverse is None:
        return {}
    first = np.zeros(int(inverse.max()) + 1, dtype=labels.dtype)
    first[inverse] = labels  # the last of several labels for one point stays
    points = len(np.unique(inverse[labels != first[inverse]]))
    return {"points_parted": points} if points else {}


A = TypeVar("A")


@attrs.frozen(eq=False)
class BoundComposition:
    """A composition bound to samples: the space is fitted and the solver prepared."""

    composition: Composition
    samples: Samples = attrs.field(converter=as_samples)
    space: Space
    prepared: Prepared
    task: Task
    seeds: Seeds
    # shared by all starts: what the first of them needs is computed once
    _memo: dict[str, Space] = attrs.field(factory=dict, repr=False, kw_only=True)

    @property
    def objective_factor(self) -> float:
        """Factor of the objective, see `Prepared.objective_factor`."""
        return self.prepared.objective_factor

    def seen_by(self, init: Partitioner) -> Space:
        """The samples in memory for the init stage: the space, or for "input" the rows as the map scales them."""
        if init.sees == "space":
            if "space" not in self._memo:
                self._memo["space"] = self._in_memory("auto")
            return self._memo["space"]
        if "scaled" not in self._memo:
            self._memo["scaled"] = identity_space(self._in_memory("streamed").scaled_points())
        return self._memo["scaled"]

    def _in_memory(self, storage: str) -> Space:
        """The space in memory; that of a device is computed on the host for starts, which work there on few rows."""
        if not isinstance(self.space, RowsSpace):
            return self.space
        return self.space.on_host(
            f"the {self.space.n:,} rows of the start of a fit on a device",
            "Fit fewer rows, or compute on the host: clusterkit.config(device='cpu').",
            storage,
        )

    def objective(self, labels: Labels) -> float:
        """Objective of a labelling (n,) of the host after one solve."""
        codec = self.composition.labeler
        if not isinstance(codec, Codec):
            raise TypeError(f"labeler '{codec.name}' codes no labels")
        coded = codec.encode(labels, self.task.k, self.task.sample_weight)
        if isinstance(self.space, RowsSpace):
            assert isinstance(self.prepared, PassSolver)
            if not isinstance(self.prepared.iterations, Summing):
                raise TypeError(f"solver '{self.composition.solver.name}' judges no labels")
            return float(solve_by_sums(self.prepared.iterations, self.space, coded).objective[0])
        values = self.prepared.objective(coded, self.prepared.solve(coded, None, self.seeds.stream("solver")))
        if values is None:
            raise TypeError(f"solver '{self.composition.solver.name}' has no objective")
        return float(values[0])


@attrs.frozen
class AllZero:
    """Predicts cluster 0 for all rows."""

    def __call__(self, Y: Array) -> Labels:
        """Zeros."""
        return np.zeros(len(Y), dtype=np.intp)


def bind(c: Composition, X: ArrayOrSamples, seeds: Seeds) -> BoundComposition:
    """Fit the feature map to all rows, and prepare the solver on the rows of the composition.

    Raises
    ------
    IncompatibleStages
        If the samples are not in memory, and a stage needs all of them at once; before any work.
    InvalidData
        If there are fewer samples than clusters; if a value of samples outside memory is no finite number.
    """
    samples = as_samples(X)
    n = samples.n if c.rows is None else len(c.rows)
    if isinstance(samples, EngineSamples):
        if c.links is not None:
            raise IncompatibleStages(f"links and seeds need all rows in memory. {samples.engine.by_sample}")
        check_rows(c, samples.engine, samples.n)
    if (n == 0 and isinstance(samples, EngineSamples)) or (c.n_clusters is not None and c.n_clusters > n):
        raise InvalidData(
            f"n_samples={n} should be >= n_clusters={c.n_clusters or 1}: no cluster may be without a sample"
        )
    bounds = _bounds(c, n)
    if isinstance(samples, EngineSamples):
        space: Space = _space_by_passes(c, samples, seeds)
    else:
        space = _space_in_memory(c, samples.whole("", ""), n, seeds)
        samples = samples if c.rows is None else ArraySamples(samples.gather(c.rows))
    task = Task(n, c.n_clusters, bounds, c.weights_of_fitted(), c.links_of_fitted())
    with NamingStage(c.solver):
        prepared = c.solver.prepare(space, task, seeds.stream("solver", "prepare"))
    check_instance(c.solver, "prepare", prepared, PassSolver if isinstance(space, RowsSpace) else Prepared)
    return BoundComposition(c, samples, space, prepared, task, seeds)


def _space_in_memory(c: Composition, X: Array, n: int, seeds: Seeds) -> Space:
    """The space of n samples, by a map that is fitted to all rows of X."""
    equal = n > 1 and ArraySamples(X).all_equal()
    if equal and c.n_clusters != 1:
        warn_of_equal_samples(n)
    check_magnitude(X, c.featuremap)
    if c.path is not None and c.path.square:
        # maps may look at all pairs of samples, which takes long where the matrix has no room in the end
        memory.require(
            n * n * X.dtype.itemsize,
            f"the {n} x {n} kernel matrix of solver '{c.solver.name}'",
            "Use fewer rows, or featuremap 'elm' with solver 'ridge', whose cost is linear in the number of rows.",
        )
    of_all = Task(len(X), c.n_clusters)
    if c.rows is None:
        of_all = Task(n, c.n_clusters, _bounds(c, n), c.weights_of_fitted())
    with NamingStage(c.featuremap):
        space = c.featuremap.space_of(X, of_all, seeds.stream("featuremap"))
    check_space(c.featuremap, space, c.featuremap.gives, X)
    if c.rows is not None:
        space, X = space.take(c.rows), X[c.rows]
    _check_sparse(c, X, space)
    # with as many clusters as samples all are alone anyway; a width that a tuner chose is not the user's
    if not equal and (c.n_clusters is None or 1 < c.n_clusters < n) and "featuremap" not in c.tuned:
        warn_of_degenerate_kernel(space)
    return space


def _space_by_passes(c: Composition, samples: EngineSamples, seeds: Seeds) -> RowsSpace:
    """The space of the fitted maps; the first pass checks the values."""
    ends = samples.column_extremes()
    check_range(ends.low, ends.high, samples.dtype)
    if samples.n > 1 and c.n_clusters != 1 and (ends.low == ends.high).all():
        warn_of_equal_samples(samples.n)
    task, rng = Task(samples.n, c.n_clusters), seeds.stream("featuremap")
    if c.featuremap.small and samples.on_device:
        return _space_of_host(c.featuremap, samples, task, rng)
    with NamingStage(c.featuremap):
        space = c.featuremap.space_of(attrs.evolve(samples.identity, known=ends), task, rng)
    check_space(c.featuremap, space, c.featuremap.gives, None)
    assert isinstance(space, RowsSpace)
    return space


def _space_of_host(featuremap: FeatureMap, samples: EngineSamples, task: Task, rng: Rng) -> RowsSpace:
    """The features of all rows by a map that needs them at once, made on the host and sent to the place of the rows."""
    X = samples.whole(
        f"the {samples.n:,} rows of featuremap '{featuremap.name}', which is made on the host",
        "Fit fewer rows, and label the others by predict.",
    )
    with NamingStage(featuremap), on_host():
        made = featuremap.space_of(X, task, rng)
    check_space(featuremap, made, featuremap.gives, X)
    assert isinstance(made, FeatureSpace)
    H, rows = np.ascontiguousarray(made.rows()), samples.rows
    source = ArrayRows(rows.device.put(H), rows.device) if isinstance(rows, ArrayRows) else SlicedRows(H)
    features = RowsSpace.of(source, samples.engine, IdentityMap(H.shape[1]))
    return attrs.evolve(features, host_space=made, resolved={**made.resolved, "made_on": "host"})


def warn_of_equal_samples(n: int) -> None:
    """Warn that all samples are the same."""
    message = f"all {n} samples are equal: no labelling is better than another"
    warnings.warn(message, ClusterkitWarning, stacklevel=3)


def _bounds(c: Composition, n: int) -> tuple[Sizes, Sizes] | None:
    """Cluster sizes passed to the solver; a solver that enforces sizes itself always finds some.

    None with sample weights, of which sizes are sums: the balancer says whether there is room.
    """
    if c.n_clusters is None or c.sample_weight is not None:
        return None
    balancer = c.balancer or c.limits
    if balancer is not None:
        return balancer.bounds(n, c.n_clusters)
    return (np.zeros(c.n_clusters), np.full(c.n_clusters, n)) if c.solver.own_balance else None


def run(bound: BoundComposition) -> FitResult:
    """Run all starts, and return the best result."""
    c, task, space, prepared = bound.composition, bound.task, bound.space, bound.prepared
    ends, interrupted = _ends(bound)
    best = ends[first_least([end.objective for end in ends], space.dtype)]
    answer = best.answer
    assert answer is not None
    if isinstance(answer, RowLabeling):
        labeling, sizes = _of_rows(c, answer, space)
    else:
        answer, sizes = _of_clusters(c, answer, task)
        labeling = _of_samples(bound, answer)
    missing = partial(_missing_clusters, bound, int(np.count_nonzero(sizes)), labeling)
    solver_facts = prepared.resolved
    if isinstance(bound.samples, ArraySamples) and isinstance(answer, BalancedLabeling) and not answer.exact:
        points = parted(bound.samples.X, labeling.labels)
        if (c.balancer or c.limits) is None:
            solver_facts = {**solver_facts, **points}
        else:
            labeling = attrs.evolve(labeling, facts={**labeling.facts, **points})
    return result_of(c, task, space, solver_facts, (ends, interrupted), best, labeling, missing)


def _ends(bound: BoundComposition) -> tuple[list[Ended[Any]], bool]:
    """End of every start, and whether Ctrl-C ended one of them."""
    c, task, seeds, prepared = bound.composition, bound.task, bound.seeds, bound.prepared
    varies = c.n_clusters != 1 and (c.solver.targets == "never" or (c.init is not None and c.init.varies))
    starts = c.n_init if varies else 1
    if isinstance(bound.space, RowsSpace) and isinstance(c.labeler, Codec) and isinstance(prepared, PassSolver):
        return _ends_by_passes(bound, bound.space, prepared.iterations, c.labeler, starts)
    if c.solver.targets != "every_iteration":
        rngs = seeds.of_starts("solver", starts)
        targets = partial(_first_targets, bound)
        return solve_once(prepared, c.labeler, c.balancer, bound.space, task, rngs, targets, c.solver)
    assert isinstance(c.labeler, Codec)
    return alternate(
        prepared,
        c.labeler,
        c.balancer,
        bound.space,
        task,
        partial(starting_labels, bound),
        starts=starts,
        max_iter=c.max_iter,
        together=c.solver.columns,
        rng=seeds.stream("solver"),
        solver=c.solver,
        best_only=True,
    )


def _ends_by_passes(
    bound: BoundComposition, space: RowsSpace, iterations: Summing | Iterating, codec: Codec, starts: int
) -> tuple[list[Ended[RowLabeling]], bool]:
    """Run all starts by passes over rows outside memory, with a codec that reads labels row by row."""
    c, task, seeds = bound.composition, bound.task, bound.seeds

    def made(index: int, lowest: float) -> tuple[Ended[RowLabeling] | list[Start[RowLabeling]], bool]:
        if isinstance(iterations, Iterating):
            rng = seeds.stream("solver", index) if index else seeds.stream("solver")
            with NamingStage(c.solver):
                return iterate_without_labels(space, iterations, codec, c.balancer, task, rng, index)
        return iterate_labels(
            space, iterations, _start(bound, space, codec, index), c.max_iter, c.balancer, task, index
        )

    return run_starts((partial(made, index) for index in range(starts)), starts, report_each=True)


def _start(bound: BoundComposition, space: RowsSpace, codec: Codec, index: int) -> BlockLabeler:
    """The first labels of a start, as a function of the rows."""
    init, task, seeds = bound.composition.init, bound.task, bound.seeds
    assert init is not None
    transform = None
    if isinstance(space.engine, DeviceEngine) and few_rows(space.n):
        with on_host():  # a start may be a recipe
            seen = bound.seen_by(init)
            labels: Labels | BlockLabels = first_labels(bound.composition, seen, task, seeds, index)
    else:
        rng = seeds.stream("init", index) if index else seeds.stream("init")
        seen = space
        if init.sees == "input":
            scaling = scaling_of(space.mapping) or IdentityMap(space.points.shape[1])
            seen = RowsSpace.of(space.source, space.engine, scaling, space.before)
            transform = seen.transform
        with NamingStage(init):
            labels = init.start(seen, task, rng)
    blocks = labels if callable(labels) else GivenLabels(checked_labels(init, labels, task))
    begin = BlockLabeler(space.reading, codec, task.k, blocks, transform)
    return begin if codec.coding is not Coding.ORDINAL else numbered_along_axis(space, begin, task)


def _of_samples(bound: BoundComposition, labeling: BalancedLabeling) -> BalancedLabeling:
    """The labels of a start whose scores are on the host, moved to the device of the samples."""
    if not isinstance(bound.samples, EngineSamples):
        return attrs.evolve(labeling, exact=_predicts(bound, labeling, labeling.labels))
    labels = bound.samples.placed(labeling.labels.astype(np.intp, copy=False))
    return attrs.evolve(labeling, labels=labels, outcome=None)


def _columns_are_clusters(c: Composition) -> bool:
    """Whether each column of the scores belongs to one cluster."""
    labeler = c.labeler
    return labeler.coding is Coding.ONEHOT if isinstance(labeler, Codec) else labeler.consumes is MixtureScores


def _of_clusters(c: Composition, labeling: BalancedLabeling, task: Task) -> tuple[BalancedLabeling, Counts]:
    """The labelling with the clusters that have samples, and the sizes of all clusters that it had columns for."""
    labels, columns, outcome = labeling.labels, _columns_are_clusters(c), labeling.outcome
    known = outcome.q if columns and isinstance(outcome, Scores) else getattr(labeling.predict, "k", 0)
    sizes = np.bincount(labels + 1, minlength=known + 1)[1:]
    numbers = numbering(sizes, task.links, labels, fixed=isinstance(c.labeler, Codec) and not columns)
    if numbers is not None:
        labels = np.where(labels >= 0, numbers[labels], labels)
        labeling = attrs.evolve(renumbered(labeling, numbers, columns), labels=labels)
    return labeling, sizes


def _of_rows(c: Composition, rows: RowLabeling, space: Space) -> tuple[BalancedLabeling, Counts]:
    """The labels of all rows in the form that a fit in memory gives them, and the sizes of all clusters."""
    assert isinstance(space, RowsSpace)
    block_labeler, engine = rows.block_labeler, space.engine
    decision = block_labeler.decision
    exact = block_labeler.start is None and decision.exact and c.featuremap.exact_on_training
    labels, sizes = engine.labels(block_labeler, space.source, space.width), rows.sizes
    if sizes is None:
        sizes = sizes_of(labels, block_labeler, block_labeler.k, engine, space.source, space.width)
    labeling = BalancedLabeling(labels, None, _decoder(block_labeler), exact, facts=decision.facts, status=rows.status)
    numbers = numbering(sizes) if _columns_are_clusters(c) else None
    if numbers is not None:
        again = engine.labels(RenumberedBlocks(block_labeler, numbers), space.source, space.width)
        labeling = attrs.evolve(renumbered(labeling, numbers, columns=True), labels=again)
    return attrs.evolve(labeling, memberships=_memberships(labeling.predict, space)), sizes


def _memberships(decoder: Predict | None, space: RowsSpace) -> Array | None:
    """Degrees of membership (n, k), for methods that have them, if a device computes rows that are few or lie there."""
    engine, extend = space.engine, getattr(decoder, "extend", None)
    if not isinstance(engine, DeviceEngine) or not hasattr(extend, "nearness"):
        return None
    few = few_rows(space.n) and isinstance(engine.base, LocalEngine)
    if not (few or isinstance(space.source, ArrayRows)):
        return None
    # a table in the place of labels
    return EngineSamples(space.source, engine).table(cast("Predict", extend), space.width)


def _decoder(block_labeler: BlockLabeler) -> Decoder | None:
    """Function that labels new rows; None if not even one iteration was made."""
    if block_labeler.extend is None:
        return None
    return Decoder(block_labeler.codec, block_labeler.extend, None, block_labeler.k, block_labeler.decision.offsets)


def result_of(
    c: Composition,
    task: Task,
    space: Space,
    solver_facts: Mapping[str, object],
    run: tuple[Sequence[Ended[A]], bool],
    best: Ended[A],
    labeling: BalancedLabeling,
    missing_clusters: Callable[[], str | None],
) -> FitResult:
    """The result of a fit, in memory or elsewhere: only here the best start becomes a result.

    Parameters
    ----------
    c : Composition
    task : Task
    space : Space
    solver_facts : mapping
        Parameters that the solver decided.
    run : (sequence of Ended, bool)
        How all starts ended, and whether Ctrl-C ended the fit.
    best : Ended
    labeling : BalancedLabeling
        Labelling of the best start.
    missing_clusters : callable
        Returns the sentence about clusters without samples, or None if there are no such clusters.
    """
    ends, interrupted = run
    labels = labeling.labels
    if isinstance(labels, np.ndarray):
        labels = labels.astype(np.intp, copy=False)
        labels.flags.writeable = False
    status = labeling.status
    if status is not None and status.warning is not None:
        warnings.warn(status.warning, ClusterkitWarning, stacklevel=5)
    balancer = c.balancer or c.limits
    # with weights fractions are of these, not of rows
    in_rows = {} if balancer is None or task.sample_weight is not None else balancer.resolved(task.n, task.k)
    known = {} if task.links is None else task.links.report(labels)
    if noise := known.get("seeded_noise"):
        warnings.warn(
            f"{counted(cast('int', noise), 'row')} with a seed {'is' if noise == 1 else 'are'} noise, which the method "
            "leaves out of all clusters; of some methods labeler__outliers='nearest' gives every row a cluster",
            ClusterkitWarning,
            stacklevel=5,
        )
    facts: dict[str, Mapping[str, Any]] = {
        "featuremap": dict(space.resolved),
        "solver": dict(solver_facts),
        "labeler": dict(labeling.labeler_facts),
        "balancer": {} if balancer is None else {**in_rows, **labeling.facts},
        "links": known,
    }
    return FitResult(
        labels,
        best.n_iter,
        Ending.INTERRUPTED if interrupted else best.ending,
        reason_of(best.reason, best.index, c, len(ends), interrupted),
        best.objective,
        best.history,
        space.without_samples(),
        labeling.outcome,
        labeling.predict,
        labeling.exact,
        {slot: values for slot, values in facts.items() if values},
        tuple(end.objective for end in ends),
        labeling.memberships,
        labeling.outlier_scores,
        labeling.probabilities,
        labeling.layers,
        missing_clusters(),
    )


def _missing_clusters(bound: BoundComposition, used: int, labeling: BalancedLabeling) -> str | None:
    """The sentence about clusters without samples, of which `used` have some: the solver's own, where it has one."""
    samples, task, status = bound.samples, bound.task, labeling.status
    if used == 0:
        return all_noise(task.n, labeling.labeler_facts)
    if task.n_clusters is None or task.n_clusters == 1 or task.n == 1 or samples.n_distinct(2) == 1:
        return None
    words = None if status is None else status.empty_clusters
    return missing_clusters(used, task.n_clusters, task.n, partial(samples.n_distinct, task.n_clusters), words)


def _predicts(bound: BoundComposition, labeling: BalancedLabeling, labels: Labels) -> bool:
    """Whether predicting the training rows gives the labels; tested if products may round differently."""
    maps = maps_of(bound.composition.featuremap)
    if labeling.outcome is not None and not labeling.outcome.reads_features:
        maps = maps[:-1]
    if labeling.predict is None or not labeling.exact or not all(part.exact_on_training for part in maps):
        return False
    return bound.space.same_products or bool(np.array_equal(bound.samples.labels(labeling.predict, 0), labels))


def fit(c: Composition, X: ArrayOrSamples, seeds: Seeds) -> FitResult:
    """Fit a composition; raises the errors of `bind`."""
    return run(bind(c, X, seeds))


def one_cluster(n: int, reason: str, resolved: Mapping[str, Mapping[str, object]]) -> FitResult:
    """The result without a fit, all n samples in one cluster."""
    labels = np.zeros(n, dtype=np.intp)
    return FitResult(labels, 0, Ending.CONVERGED, reason, math.nan, (), None, None, AllZero(), True, resolved)


def check_magnitude(X: Array, featuremap: FeatureMap | None = None) -> None:
    """Refuse values whose squared distances overflow; warn where all of them underflow.

    Of a map that takes a matrix for pairs of samples, distances are compared as they are, and kernel values multiplied.
    """
    low, high = ArraySamples(X).extremes()
    if featuremap is None or not featuremap.takes_pairs:
        check_range(low, high, X.dtype)
    else:
        _refuse_overflow(low, high, X.dtype, featuremap.takes_pairs)


def check_new(X: Array, featuremap: FeatureMap | None = None) -> None:
    """Refuse new rows (m, d) whose squared distances overflow, as `check_magnitude` does where rows are fitted."""
    _refuse_overflow(*ArraySamples(X).extremes(), X.dtype, "" if featuremap is None else featuremap.takes_pairs)


def check_range(low: Array, high: Array, dtype: np.dtype) -> None:
    """Refuse or warn like `check_magnitude`, from the known extremes of the columns, (d,) each."""
    _refuse_overflow(low, high, dtype)
    spread = float((high.astype(np.float64) - low.astype(np.float64)).max())
    if 0 < spread < math.sqrt(float(np.finfo(dtype).tiny)):
        warnings.warn(
            f"the attributes of X spread over {spread:.3g} at most, squared distances that small are 0 in {dtype}; "
            "multiply the data by a constant or use featuremap 'minmax' first",
            ClusterkitWarning,
            stacklevel=4,
        )


NUMBERS_MADE = {
    "": "squared distances of values",
    "distances": "sums of distances",
    "kernel": "products of kernel values",
}
"""What a method computes of its samples, by what these hold for pairs: the first thing to overflow."""


def _refuse_overflow(low: Array, high: Array, dtype: np.dtype, pairs: str = "") -> None:
    low, high = low.astype(np.float64), high.astype(np.float64)
    largest = float(np.maximum(np.abs(high), np.abs(low)).max())
    most = float(np.finfo(dtype).max) / (16.0 * len(low))
    most = most if pairs == "distances" else math.sqrt(most)
    if largest > most:
        instead = "" if pairs else ", or leave out the columns concerned"
        raise InvalidData(
            f"X has values up to {largest:.3g}, and {NUMBERS_MADE[pairs]} above {most:.1g} overflow {dtype}; "
            f"divide the data by a constant{instead}"
        )


def _check_sparse(c: Composition, X: Array, space: Space) -> None:
    """Refuse stages that need coordinates where only sparse ones are kept."""
    unfit = []
    if space.sparse and (c.path is None or not c.path.sparse):
        unfit.append(f"solver '{c.solver.name}'")
    # a domain of features is a function of the points, which are sparse before a map that makes them dense
    if issubclass(c.labeler.consumes, Domain) and isinstance(space.points, SparseRows):
        unfit.append(f"labeler '{c.labeler.name}'")
    if isinstance(space.points, SparseRows) and c.init is not None and c.init.sees == "input" and not c.init.sparse:
        unfit.append(f"init '{c.init.name}'")
    if unfit:
        raise InvalidData(
            f"{' and '.join(unfit)} cannot work on {X.shape[0]} x {X.shape[1]} sparse samples. Make the attributes "
            "fewer first, by featuremap 'pca' in front of another one, or pass a dense array if it fits into memory."
        )


def _first_targets(bound: BoundComposition, start: int) -> Coded | None:
    """Targets of a solver that makes one iteration: None, or the labels of one start."""
    c = bound.composition
    if c.solver.targets == "never":
        return None
    assert isinstance(c.labeler, Codec)
    return c.labeler.encode(starting_labels(bound, start), bound.task.k, bound.task.sample_weight)


def starting_labels(bound: BoundComposition, start: int) -> Labels:
    """Labels of one start, (n,), from the init stage."""
    c = bound.composition
    assert c.init is not None
    labels = first_labels(c, bound.seen_by(c.init), bound.task, bound.seeds, start)
    if bound.task.links is not None:
        labels = of_seeds(bound.task.links, labels, bound.seen_by(c.init), bound.task.k)
    if isinstance(c.labeler, Codec) and c.labeler.coding is Coding.ORDINAL:
        labels = along_principal_axis(bound.space, labels, bound.task.k, bound.task.sample_weight)
    return labels


def reason_of(reason: str, index: int, c: Composition, starts: int, interrupted: bool) -> str:
    """Why a fit of several starts stopped, from the reason and the number of the best start."""
    if interrupted:
        which = f"the best labels of {starts} of {c.n_init} starts" if c.n_init > 1 else "the best labels so far"
        return f"interrupted: {which} are kept"
    return reason if c.n_init == 1 or c.n_clusters == 1 else f"{reason} (best of {starts} starts: number {index})"


def first_labels(c: Composition, samples: Space, task: Task, seeds: Seeds, start: int) -> Labels:
    """Labels of one start, (n,).

    Parameters
    ----------
    c : Composition
    samples : Space
        Space that the init stage sees: of the rows as the feature map scales them, or of the solver.
    task : Task
    seeds : Seeds
    start : int
    """
    init = c.init
    assert isinstance(init, Partitioner)
    rng = seeds.stream("init", start) if start else seeds.stream("init")
    with NamingStage(init):
        labels = labels_by_blocks(init.start(samples, task, rng), samples)
    return checked_labels(init, labels, task)


def checked_labels(init: Partitioner, labels: Labels, task: Task) -> Labels:
    """The labels of an init stage, (n,), refused if they are none."""
    k = task.k
    if labels.shape != (task.n,) or labels.dtype.kind not in "iu":
        raise InvalidParameter(
            f"init '{init.name}' must give {task.n} integer labels, got shape {labels.shape} of {labels.dtype} "
            f"({named(init)})"
        )
    if labels.min() < 0 or labels.max() >= k:
        wrong = labels.min() if labels.min() < 0 else labels.max()
        raise InvalidParameter(f"init '{init.name}' gave the label {wrong}, outside 0..{k - 1} ({named(init)})")
    return labels.astype(np.intp, copy=False)
