"""Turns over labels of rows outside memory, for solvers by sums: `PassTurns`, run by `core.iteration.iterate`.

A turn is one pass, and a balancer takes some more: each block is read and mapped, its labels are read from the small
function that the turn before left, and what the solver adds up for these labels is added. Labels of two turns are
compared by a digest, so that nothing of the size of n is kept. A lost block can always be computed anew from its rows
and the function of the turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Labels, Rng
from clusterkit.core.coding import Coded
from clusterkit.core.costs_of_rows import TurnCosts
from clusterkit.core.iterating import Iterating, Stored, Storing, solve_by_turns
from clusterkit.core.iteration import Ended, Start, Turn, Turns, iterate
from clusterkit.core.label_digests import Digest, MixedDigest, digest_of
from clusterkit.core.namespaces import (
    BlockFunction,
    array_namespace,
    block_for,
    class_counts,
    has_array_api,
    is_device_array,
    move_to,
    to_host,
)
from clusterkit.core.outcomes import Status
from clusterkit.core.spaces.rows_space import RowsSpace
from clusterkit.core.stages import BalanceDecision, Balancer, BlockLabels, Codec, Task
from clusterkit.core.summing import Adder, Finished, RowFunction, Summing, adder_of
from clusterkit.core.sums import Addable, Sums
from clusterkit.core.transform import Transform

__all__ = ["Decide", "PassTurns", "RowLabeling", "iterate_labels", "iterate_without_labels"]

Part = TypeVar("Part", bound=Addable)


@final
@attrs.frozen(eq=False)
class Decide(BlockFunction):
    """How the labels of a block follow from its rows: from the start, or from the scores of a turn.

    Parameters
    ----------
    transform : Transform
        Raw rows to features.
    codec : Codec
        One whose labels are read row by row.
    k : int
    start : callable or None
        The labels of a start.
    start_transform : Transform or None
        Raw rows to what the start sees, where that is not the features.
    extend : RowFunction or None
        Features to scores; used where there is no start.
    decision : BalanceDecision
        What a balancer decided about the costs; its labels are a function of blocks, or None.
    stored : Stored or None
        Where the scores of the samples are stored; they are then read and not computed.
    """

    transform: Transform
    codec: Codec
    k: int
    start: BlockLabels | None = None
    start_transform: Transform | None = None
    extend: RowFunction | None = None
    decision: BalanceDecision = attrs.field(factory=BalanceDecision)
    stored: Stored | None = None

    @property
    def array_api(self) -> bool:
        """That of features and scores: starts and balances without the mark get copies on the host."""
        return (
            has_array_api(self.transform)
            and has_array_api(self.codec)
            and (self.extend is None or has_array_api(self.extend))
        )

    @property
    def table_columns(self) -> int:
        """Scores and costs have k columns, and so have the targets of the labels."""
        return max(self.k, super().table_columns)

    def __call__(self, rows: slice, X: Array) -> Labels:
        """Labels of raw rows."""
        return self.on(rows, X, self.transform(X))[0]

    def on(self, rows: slice, X: Array, H: Array) -> tuple[Labels, Array | None]:
        """Labels of rows whose features are there, and the scores they were read from."""
        if self.start is not None:
            return self._started(rows, X, H), None
        assert self.extend is not None
        scores = self.extend.on(H) if self.stored is None else self._stored_scores(rows, H)
        label = self.decision.labels
        if not callable(label):
            return self.codec.decode(scores, self.k), scores
        costs = self.codec.costs(scores, self.k)
        labels = label(rows, block_for(label, costs))
        return move_to(labels, H) if is_device_array(H) else labels, scores

    def _started(self, rows: slice, X: Array, H: Array) -> Labels:
        """The labels of the start, where the features lie."""
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

    def scores(self, rows: slice, X: Array) -> Array:
        """Scores of raw rows, (b, q)."""
        assert self.extend is not None
        return self.extend.on(self.transform(X)) if self.stored is None else self._stored_scores(rows, X)

    def _stored_scores(self, rows: slice, block: Array) -> Array:
        """The stored scores of a block, where it lies."""
        assert self.stored is not None
        scores = self.stored.scores.read(rows)
        return (
            move_to(scores, block, scores.dtype) if is_device_array(block) and not is_device_array(scores) else scores
        )


@final
@attrs.frozen(eq=False)
class _TurnSums:
    """What a turn adds up: the sums of the solver, the sizes of the clusters, and a digest of the labels."""

    sums: Addable
    sizes: Counts
    digest: Digest

    def __add__(self, following: _TurnSums) -> _TurnSums:
        digest = self.digest + following.digest
        return _TurnSums(self.sums + following.sums, self.sizes + following.sizes, digest)

    def to_host(self) -> _TurnSums:
        """The same on the host, in as few copies as there are types of numbers."""
        if isinstance(self.sums, Sums) and isinstance(self.digest, MixedDigest):
            arrays: Any = Sums.of(*self.sums.arrays, self.sizes, self.digest.sums).to_host().arrays
            return _TurnSums(Sums(arrays[:-2]), arrays[-2], MixedDigest(arrays[-1]).to_host())
        return _TurnSums(to_host(self.sums), to_host(self.sizes), self.digest.to_host())


@final
@attrs.frozen(eq=False)
class _Turn(BlockFunction):
    """The part of a block of raw rows in a turn."""

    decide: Decide
    adder: Adder
    weights: Array | None = None
    # one array for all blocks, of which a device keeps its copy
    codebook: Array = attrs.field(init=False)

    @codebook.default
    def _codebook(self) -> Array:
        return self.decide.codec.codebook(self.decide.k)

    def __call__(self, rows: slice, X: Array) -> _TurnSums:
        H = self.decide.transform(X)
        labels, scores = self.decide.on(rows, X, H)
        k = self.decide.k
        weights = None if self.weights is None else self.weights[rows]
        coded = Coded(labels[None, :], self.decide.codec.coding, k, self.codebook, weights)
        return _TurnSums(self.adder.part(H, coded, scores), class_counts(labels, k), digest_of(rows, labels))


@final
@attrs.frozen(eq=False)
class RowLabeling:
    """The labels of rows outside memory that a turn gave.

    Parameters
    ----------
    decide : Decide
        How they follow from the rows.
    sizes : ndarray of shape (k,) or None
        Their numbers, where they were counted.
    status : Status or None
        Of the turn that they were read from.
    """

    decide: Decide
    sizes: Counts | None
    status: Status | None


@final
@attrs.frozen(eq=False)
class _State:
    """What a turn by passes begins with: labels, what they add up to once that is known, and what they were read by."""

    decide: Decide
    sums: _TurnSums | None = None
    previous: RowFunction | None = None


@attrs.define(eq=False)
class PassTurns(Turns[RowLabeling]):
    """Turns from labels to labels: each is one pass, and there is one more for the first labels.

    Parameters
    ----------
    space : RowsSpace
    summing : Summing
    balancer : Balancer or None
        Its decisions take further passes over the costs.
    task : Task
    costs : TurnCosts
    """

    space: RowsSpace
    summing: Summing
    balancer: Balancer | None
    task: Task
    costs: TurnCosts

    def advance(self, active: list[Start[RowLabeling]]) -> Iterator[Turn[RowLabeling]]:
        """Solve for what the labels add up to, and read and add up the next ones in one pass."""
        [start] = active
        at: _State = start.state
        before = at.sums or _passed(self.space, self._turn(at.decide))
        finished = self._finished(at.decide, before, at.previous)
        start.judge(float(finished.objective[0]))
        decide = attrs.evolve(
            at.decide, start=None, start_transform=None, extend=finished.extend, decision=BalanceDecision()
        )
        if self.balancer is not None:
            decide = self.costs.balanced(self.balancer, decide, self.task)
        after = _passed(self.space, self._turn(decide))
        status = finished.status
        yield Turn.of_labels(
            RowLabeling(decide, after.sizes, status),
            _State(decide, after, finished.extend),
            after.digest == before.digest,
            (before.digest, after.digest),
            status,
        )

    def objective(self, answer: RowLabeling, start: Start[RowLabeling]) -> float | None:
        """That of the labels returned."""
        at: _State = start.state
        assert at.sums is not None
        return float(self._finished(at.decide, at.sums, at.previous).objective[0])

    def _turn(self, decide: Decide) -> _Turn:
        return _Turn(decide, adder_of(self.summing), self.task.sample_weight)

    def _finished(self, decide: Decide, sums: _TurnSums, previous: RowFunction | None) -> Finished:
        """The end of a turn; further passes over the same labels where the solver asks for them."""
        step = self.summing.finish(sums.sums, previous)
        while not isinstance(step, Finished):
            turn = attrs.evolve(self._turn(decide), adder=adder_of(step))
            step = step.finish(_passed(self.space, turn).sums, previous)
        return step


def iterate_labels(
    space: RowsSpace,
    summing: Summing,
    begin: Decide,
    max_iter: int,
    balancer: Balancer | None,
    task: Task,
    index: int,
) -> tuple[list[Start[RowLabeling]], bool]:
    """Turns from the labels of a start until they repeat; labels and history are those of the loop in memory."""
    start: Start[RowLabeling] = Start(index, _State(begin))
    with TurnCosts(space) as costs:
        interrupted = iterate(PassTurns(space, summing, balancer, task, costs), [start], max_iter)
    return [start], interrupted


def iterate_without_labels(
    space: RowsSpace,
    turns: Iterating,
    codec: Codec,
    balancer: Balancer | None,
    task: Task,
    rng: Rng,
    index: int,
) -> tuple[Ended[RowLabeling], bool]:
    """The turns of a solver that learns from no labels, and the labels read from the last of them.

    Parameters
    ----------
    space : RowsSpace
    turns : Iterating
    codec : Codec
        One whose labels are read row by row.
    balancer : Balancer or None
        Its decision takes further passes over the costs.
    task : Task
    rng : Generator
        Of the start.
    """
    function, status = solve_by_turns(turns, space, rng, task.sample_weight)
    stored = turns.stored(function) if isinstance(turns, Storing) else None
    extend = function if stored is None else stored.extend
    decide = Decide(space.reading, codec, task.k, extend=extend, stored=stored)
    if balancer is not None:
        with TurnCosts(space) as costs:
            decide = costs.balanced(balancer, decide, task)
    labeling = RowLabeling(decide, None, status)
    end = Ended(labeling, status.n_iter, status.ending, status.reason, status.history[-1], status.history, index)
    return end, status.interrupted


def _passed(space: RowsSpace, turn: Callable[[slice, Array], _TurnSums]) -> _TurnSums:
    """One pass over the raw rows, in the blocks of the features."""
    return space.engine.reduce(turn, space.source, space.width)
