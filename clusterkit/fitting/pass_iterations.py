"""Iterations over labels of rows outside memory, for solvers by sums: `PassIterations`.

`clusterkit.contracts.iteration.iterate` runs them. An iteration is one pass, and a balancer takes some more: each block
is read and mapped, its labels are read from the small function that the iteration before left, and what the solver adds
up for these labels is added. A balancer reads the costs of all rows in several passes (`CostsOfRows`). The first of
them maps the rows; where its scores are stored, the others read them, with the same bits in the same blocks.

Labels of two iterations are compared by a digest (`Digest`), so that nothing of the size of n is stored. A lost block
can always be computed anew from its rows and the function of the iteration.
"""

from __future__ import annotations

import hashlib
import tempfile
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Protocol, Self, TypeVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Labels, Rng
from clusterkit.contracts import BalanceDecision, Balancer, BlockLabels, Codec, Costs, CostTable, GivenLabels, Task
from clusterkit.contracts.iteration import Ended, Iteration, Iterations, Start, iterate
from clusterkit.contracts.outcomes import Status
from clusterkit.contracts.pass_solver import (
    Adder,
    Finished,
    Iterating,
    RowFunction,
    Summing,
    adder_of,
    solve_by_iterations,
)
from clusterkit.errors import ClusterkitWarning
from clusterkit.fitting.device_paths import few_rows
from clusterkit.fitting.label_iterations import balanced_by
from clusterkit.samples import memory
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    block_for,
    class_counts,
    has_array_api,
    is_device_array,
    move_to,
    to_host,
)
from clusterkit.samples.coding import Coded
from clusterkit.samples.device_engine import DeviceEngine
from clusterkit.samples.engines import LocalEngine
from clusterkit.samples.rows import RowsFile, missing_room
from clusterkit.samples.rows_space import RowsSpace
from clusterkit.samples.sums import Addable, Sums
from clusterkit.samples.transform import Transform

Part = TypeVar("Part", bound=Addable)


def room_for_scores(n: int, d: int, dtype: np.dtype) -> RowsFile | None:
    """A file for scores in the folder of `tempfile.gettempdir` (``TMPDIR``); None where the disk has no room for it.

    Warns
    -----
    ClusterkitWarning
        If there is no room.
    """
    folder, n_bytes = tempfile.gettempdir(), n * d * dtype.itemsize
    if (free := missing_room(n_bytes, folder)) is not None:
        warnings.warn(
            f"the scores of {n:,} rows take {memory.human(n_bytes)} in {folder}, where only {free} are free: the "
            "balancer maps the rows anew in each of its passes, which takes longer. Choose more room by TMPDIR",
            ClusterkitWarning,
            stacklevel=2,
        )
        return None
    return RowsFile(n, d, dtype, f"the scores of {n:,} rows", folder)


@final
@attrs.define(eq=False)
class IterationCosts:
    """Costs of the iterations of a start, with a file for scores.

    One file holds the scores of one iteration after the other, until the context ends. Scores are kept where this
    process computes the blocks on the host. The file has the type of the rows, by which blocks are planned: a wider
    score takes several of its columns.

    Parameters
    ----------
    space : RowsSpace
    """

    space: RowsSpace
    _file: RowsFile | None = attrs.field(init=False, default=None)
    _dtype: np.dtype = attrs.field(init=False, default=np.dtype(np.float64))
    _begun: bool = attrs.field(init=False, default=False)

    def __enter__(self) -> IterationCosts:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()

    def balanced(self, balancer: Balancer, block_labeler: BlockLabeler, task: Task) -> BlockLabeler:
        """The labels of an iteration after the balancer."""
        costs: Costs = self.by(block_labeler)
        if isinstance(self.space.engine, DeviceEngine) and few_rows(self.space.n):
            costs = CostTable(costs.table())  # balanced as in an in-memory fit, with its result
        decision = balanced_by(balancer, costs, task)
        if isinstance(decision.labels, np.ndarray):
            decision = attrs.evolve(decision, labels=GivenLabels(decision.labels))
        return attrs.evolve(block_labeler, decision=decision)

    def by(self, block_labeler: BlockLabeler) -> CostsOfRows:
        """The costs of all rows by the function of an iteration; earlier costs must not be read afterwards."""
        if not self._begun and isinstance(self.space.engine, LocalEngine):
            first = slice(0, 1)
            scores = block_labeler.scores(first, self.space.source.read(first))
            self._dtype = scores.dtype
            columns, odd = divmod(scores[0].nbytes, self.space.source.dtype.itemsize)
            if not odd:
                self._file = room_for_scores(self.space.n, columns, self.space.source.dtype)
        self._begun = True
        return CostsOfRows(self.space, block_labeler, self._file, self._dtype)


@final
@attrs.define(eq=False)
class CostsOfRows(Costs):
    """The costs of all rows by the function of an iteration.

    Parameters
    ----------
    space : RowsSpace
    block_labeler : BlockLabeler
        Function from rows to scores.
    file : RowsFile or None
        File to which the first pass writes the bytes of the scores.
    dtype : numpy dtype
        Type of the scores in the file.
    """

    space: RowsSpace
    block_labeler: BlockLabeler
    file: RowsFile | None
    dtype: np.dtype
    _written: bool = attrs.field(init=False, default=False)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.space.n

    @property
    def k(self) -> int:
        """Number of clusters."""
        return self.block_labeler.k

    def reduce(self, part: Callable[[slice, Array], Part]) -> Part:
        """One pass of the engine."""
        engine, width, file = self.space.engine, self.space.width, self.file if self._written else None
        whole: Part
        if file is not None:
            read = _OfScores(self.block_labeler.codec, self.block_labeler.k, self.dtype, part)
            whole = engine.reduce(read, file, width)  # type: ignore[assignment] # its type is that of `part`
        else:
            mapped = _ContributionOfRows(self.block_labeler, part, self.file)
            whole = engine.reduce(mapped, self.space.source, width)  # type: ignore[assignment] # as above
            self._written = True
        return whole


@final
@attrs.frozen(eq=False)
class _ContributionOfRows(BlockFunction):
    """Contribution of raw rows, from that of their costs; the scores may be written to a file on the way."""

    block_labeler: BlockLabeler
    part: Callable[[slice, Array], Addable]
    file: RowsFile | None

    @property
    def array_api(self) -> bool:
        """Whether the labeller has the mark; a part without it gets the costs on the host."""
        return self.block_labeler.array_api

    def __call__(self, rows: slice, X: Array) -> Addable:
        scores = self.block_labeler.scores(rows, X)
        if self.file is not None:
            self.file.write(rows, np.ascontiguousarray(scores).view(self.file.dtype))
        costs = self.block_labeler.codec.costs(scores, self.block_labeler.k)
        return self.part(rows, block_for(self.part, costs))


@final
@attrs.frozen(eq=False)
class _OfScores:
    """Contribution of stored scores, from that of their costs."""

    codec: Codec
    k: int
    dtype: np.dtype
    part: Callable[[slice, Array], Addable]

    def __call__(self, rows: slice, stored: Array) -> Addable:
        return self.part(rows, self.codec.costs(stored.view(self.dtype), self.k))


KEYS = ((0x1E3779B97F4A7C15, 0x3F58476D1CE4E5B9), (0x14D049BB133111EB, 0x2545F4914F6CDD1D))
"""Offset and factor of the two families of pseudo-random row numbers: odd constants of splitmix64 and xorshift64*,
without their highest bit, so that they are whole numbers with a sign."""


class Digest(Protocol):
    """Digest (hash) of the labels of a block, or of neighbouring blocks."""

    def __add__(self, following: Self, /) -> Self:
        """The digest of both blocks together."""

    def __hash__(self) -> int:
        """Equal digests have equal hashes."""

    def to_host(self) -> Digest:
        """A copy on the host, as bytes that can be compared."""


def digest_of(rows: slice, labels: Labels) -> Digest:
    """The digest of the labels of a block; computed on their device."""
    if is_device_array(labels):
        return MixedDigest(_mixed(rows, labels))
    return _Hashed(hashlib.blake2b(np.ascontiguousarray(labels).data, digest_size=16).digest())


@final
@attrs.frozen
class _Hashed:
    """A cryptographic digest of the bytes of a block, or of the digests of both parts of a sum."""

    content: bytes

    def __add__(self, following: _Hashed) -> _Hashed:
        return _Hashed(hashlib.blake2b(self.content + following.content, digest_size=16).digest())

    def to_host(self) -> _Hashed:
        """The digest itself."""
        return self


@final
@attrs.frozen(eq=False)
class MixedDigest:
    """Two sums of labels times pseudo-random numbers of their rows, modulo 2^64.

    Two different labellings have equal sums with a probability of about 2^-128. The device computes the sums, and the
    labels need not be copied.
    """

    sums: Counts

    def __add__(self, following: MixedDigest) -> MixedDigest:
        return MixedDigest(self.sums + following.sums)

    def to_host(self) -> _Hashed:
        """The bytes of the sums."""
        return _Hashed(np.ascontiguousarray(to_host(self.sums)).tobytes())


def _mixed(rows: slice, labels: Any) -> Any:
    """The sums of a block, (2,), int64."""
    xp = array_namespace(labels)
    numbers = xp.arange(rows.start, rows.start + labels.shape[0], dtype=xp.int64, device=labels.device)
    # without an offset a label of 0 would add nothing, whatever its row
    values = xp.astype(labels, xp.int64, copy=False) + 1
    sums = []
    for offset, factor in KEYS:
        mixed = (numbers + 1) * offset
        for shift in (30, 27, 31):
            mixed = (mixed ^ ((mixed >> shift) & (2 ** (64 - shift) - 1))) * factor
        sums.append(xp.sum((mixed | 1) * values, dtype=xp.int64))
    return xp.stack(sums)


@final
@attrs.frozen(eq=False)
class BlockLabeler(BlockFunction):
    """Function from the rows of a block to labels: by the start, or by the scores of an iteration.

    Parameters
    ----------
    transform : Transform
        Map from raw rows to features.
    codec : Codec
        A codec that reads labels row by row.
    k : int
    start : callable or None
        Function that gives the labels of a start.
    start_transform : Transform or None
        Map from raw rows to the input of the start, where that is not the features.
    extend : RowFunction or None
        Function from features to scores; used where there is no start.
    decision : BalanceDecision
        The balancer's decision about the costs; its labels are a function of blocks, or None.
    """

    transform: Transform
    codec: Codec
    k: int
    start: BlockLabels | None = None
    start_transform: Transform | None = None
    extend: RowFunction | None = None
    decision: BalanceDecision = attrs.field(factory=BalanceDecision)

    @property
    def array_api(self) -> bool:
        """Whether features and scores have the mark; starts and balances without it get copies on the host."""
        return (
            has_array_api(self.transform)
            and has_array_api(self.codec)
            and (self.extend is None or has_array_api(self.extend))
        )

    @property
    def table_columns(self) -> int:
        """Number k of columns of scores, of costs and of the targets of the labels."""
        return max(self.k, super().table_columns)

    def __call__(self, rows: slice, X: Array) -> Labels:
        """Labels of raw rows."""
        return self.on(rows, X, self.transform(X))[0]

    def on(self, rows: slice, X: Array, H: Array) -> tuple[Labels, Array | None]:
        """Labels of rows with known features, and the scores they were read from."""
        if self.start is not None:
            return self._started(rows, X, H), None
        assert self.extend is not None
        scores = self.extend.on(H)
        label = self.decision.labels
        if not callable(label):
            return self.codec.decode(scores, self.k), scores
        costs = self.codec.costs(scores, self.k)
        labels = label(rows, block_for(label, costs))
        return move_to(labels, H) if is_device_array(H) else labels, scores

    def _started(self, rows: slice, X: Array, H: Array) -> Labels:
        """The labels of the start, on the device of the features."""
        assert self.start is not None
        if not is_device_array(H):
            seen = H if self.start_transform is None else self.start_transform(X)
            return self.start(rows, seen).astype(np.intp, copy=False)
        transform = self.start_transform
        there = has_array_api(self.start) and (transform is None or has_array_api(transform))
        seen = H if transform is None else X
        seen = seen if there else to_host(seen)
        seen = seen if transform is None else transform(seen)
        labels = self.start(rows, seen)
        xp = array_namespace(H)
        return xp.astype(labels, xp.int64, copy=False) if is_device_array(labels) else move_to(labels, H, np.int64)

    @property
    def argmax_of(self) -> RowFunction | None:
        """The function whose largest score is the label; None where something else decides."""
        if self.start is not None or self.decision.labels is not None:
            return None
        return self.extend if self.codec.largest else None

    def scores(self, rows: slice, X: Array) -> Array:
        """Scores of raw rows, (b, q)."""
        assert self.extend is not None
        return self.extend.on(self.transform(X))


@final
@attrs.frozen(eq=False)
class _LabelledSums:
    """Totals of an iteration: the sums of the solver, the sizes of the clusters, and a digest of the labels."""

    sums: Addable
    sizes: Counts
    digest: Digest

    def __add__(self, following: _LabelledSums) -> _LabelledSums:
        digest = self.digest + following.digest
        return _LabelledSums(self.sums + following.sums, self.sizes + following.sizes, digest)

    def to_host(self) -> _LabelledSums:
        """A copy on the host, in one transfer for each type of numbers."""
        if isinstance(self.sums, Sums) and isinstance(self.digest, MixedDigest):
            arrays: Any = Sums.of(*self.sums.arrays, self.sizes, self.digest.sums).to_host().arrays
            return _LabelledSums(Sums(arrays[:-2]), arrays[-2], MixedDigest(arrays[-1]).to_host())
        return _LabelledSums(to_host(self.sums), to_host(self.sizes), self.digest.to_host())


@final
@attrs.frozen(eq=False)
class _LabelAndAdd(BlockFunction):
    """One iteration on a block of raw rows: labels the rows; gives the solver's sums, cluster sizes and a digest."""

    block_labeler: BlockLabeler
    adder: Adder
    weights: Array | None = None
    # the same array for all blocks, so that a device keeps one copy of it
    codebook: Array = attrs.field(init=False)

    @codebook.default
    def _codebook(self) -> Array:
        return self.block_labeler.codec.codebook(self.block_labeler.k)

    def __call__(self, rows: slice, X: Array) -> _LabelledSums:
        H = self.block_labeler.transform(X)
        at_once = self._at_once(H) if is_device_array(H) else None
        if at_once is not None:
            labels, sizes, sums = at_once
            return _LabelledSums(sums, sizes, digest_of(rows, labels))
        labels, scores = self.block_labeler.on(rows, X, H)
        k = self.block_labeler.k
        weights = None if self.weights is None else self.weights[rows]
        coded = Coded(labels[None, :], self.block_labeler.codec.coding, k, self.codebook, weights)
        return _LabelledSums(self.adder.part(H, coded, scores), class_counts(labels, k), digest_of(rows, labels))

    def _at_once(self, H: Array) -> tuple[Labels, Counts, Addable] | None:
        """Labels, sizes and sums of a block without a table of scores for others, if the solver can do that."""
        labelled_part = getattr(self.adder, "labelled_part", None)
        if labelled_part is None or self.weights is not None:
            return None
        function = self.block_labeler.argmax_of
        return None if function is None else labelled_part(H, function)


@final
@attrs.frozen(eq=False)
class RowLabeling:
    """Labels of rows outside memory after an iteration.

    Parameters
    ----------
    block_labeler : BlockLabeler
        Function that gives the labels of a block from its rows.
    sizes : ndarray of shape (k,) or None
        Sizes of the clusters, where they were counted.
    status : Status or None
        Status of the iteration that the labels were read from.
    """

    block_labeler: BlockLabeler
    sizes: Counts | None
    status: Status | None


@final
@attrs.frozen(eq=False)
class _State:
    """State before an iteration: labels, their sums once known, and the function that scored them."""

    block_labeler: BlockLabeler
    sums: _LabelledSums | None = None
    previous: RowFunction | None = None


@attrs.define(eq=False)
class PassIterations(Iterations[RowLabeling]):
    """Iterations from labels to labels: each is one pass, and there is one more for the first labels.

    Parameters
    ----------
    space : RowsSpace
    summing : Summing
    balancer : Balancer or None
        Stage that changes the labels; its decisions take further passes over the costs.
    task : Task
    costs : IterationCosts
    """

    space: RowsSpace
    summing: Summing
    balancer: Balancer | None
    task: Task
    costs: IterationCosts

    def advance(self, active: list[Start[RowLabeling]]) -> Iterator[Iteration[RowLabeling]]:
        """Finish the iteration from the sums of the labels; read the next labels and add them up in one pass."""
        [start] = active
        at = cast("_State", start.state)
        before = at.sums or _passed(self.space, self._label_and_add(at.block_labeler))
        finished = self._finished(at.block_labeler, before, at.previous)
        start.judge(float(finished.objective[0]))
        block_labeler = attrs.evolve(
            at.block_labeler, start=None, start_transform=None, extend=finished.extend, decision=BalanceDecision()
        )
        if self.balancer is not None:
            block_labeler = self.costs.balanced(self.balancer, block_labeler, self.task)
        after = _passed(self.space, self._label_and_add(block_labeler))
        status = finished.status
        yield Iteration.of_labels(
            RowLabeling(block_labeler, after.sizes, status),
            _State(block_labeler, after, finished.extend),
            after.digest == before.digest,
            (before.digest, after.digest),
            status,
        )

    def objective(self, answer: RowLabeling, start: Start[RowLabeling]) -> float | None:
        """Objective of the labels returned."""
        at = cast("_State", start.state)
        assert at.sums is not None
        return float(self._finished(at.block_labeler, at.sums, at.previous).objective[0])

    def _label_and_add(self, block_labeler: BlockLabeler) -> _LabelAndAdd:
        return _LabelAndAdd(block_labeler, adder_of(self.summing), self.task.sample_weight)

    def _finished(self, block_labeler: BlockLabeler, sums: _LabelledSums, previous: RowFunction | None) -> Finished:
        """The end of an iteration; makes further passes over the same labels if the solver needs them."""
        step = self.summing.finish(sums.sums, previous)
        while not isinstance(step, Finished):
            iteration = attrs.evolve(self._label_and_add(block_labeler), adder=adder_of(step))
            step = step.finish(_passed(self.space, iteration).sums, previous)
        return step


def iterate_labels(
    space: RowsSpace,
    summing: Summing,
    begin: BlockLabeler,
    max_iter: int,
    balancer: Balancer | None,
    task: Task,
    index: int,
) -> tuple[list[Start[RowLabeling]], bool]:
    """Iterations from the labels of a start until they repeat; labels and history are those of the loop in memory."""
    start: Start[RowLabeling] = Start(index, _State(begin))
    with IterationCosts(space) as costs:
        interrupted = iterate(PassIterations(space, summing, balancer, task, costs), [start], max_iter)
    return [start], interrupted


def iterate_without_labels(
    space: RowsSpace,
    iterations: Iterating,
    codec: Codec,
    balancer: Balancer | None,
    task: Task,
    rng: Rng,
    index: int,
) -> tuple[Ended[RowLabeling], bool]:
    """The iterations of a solver that learns from no labels, and the labels read from the last of them.

    Parameters
    ----------
    space : RowsSpace
    iterations : Iterating
    codec : Codec
        A codec that reads labels row by row.
    balancer : Balancer or None
        Stage that changes the labels; its decision takes further passes over the costs.
    task : Task
    rng : Generator
        Random stream of the start.
    """
    function, status = solve_by_iterations(iterations, space, rng, task.sample_weight)
    block_labeler = BlockLabeler(space.reading, codec, task.k, extend=function)
    if balancer is not None:
        with IterationCosts(space) as costs:
            block_labeler = costs.balanced(balancer, block_labeler, task)
    labeling = RowLabeling(block_labeler, None, status)
    end = Ended(labeling, status.n_iter, status.ending, status.reason, status.history[-1], status.history, index)
    return end, status.interrupted


def _passed(space: RowsSpace, iteration: Callable[[slice, Array], _LabelledSums]) -> _LabelledSums:
    """One pass over the raw rows, in the blocks of the features."""
    return space.engine.reduce(iteration, space.source, space.width)
