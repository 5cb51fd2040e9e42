"""Iterations over labels in memory: solve for the current labels, read new labels, balance them.

EMMC, k-means and IterSVR are fixed points of these iterations; a solver that learns from no labels makes a single one.
R starts run together as more columns if the solver can solve them so. The loop is
`clusterkit.contracts.iteration.iterate`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import partial
from typing import cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.contracts import (
    BalanceDecision,
    Balancer,
    Codec,
    Costs,
    CostTable,
    Decoder,
    Labeler,
    Predict,
    Prepared,
    Solver,
    Task,
)
from clusterkit.contracts.checks import (
    NamingStage,
    check_instance,
    check_labeling,
    check_labels,
    check_objective,
    check_outcome,
)
from clusterkit.contracts.iteration import Ended, Iteration, Iterations, Leap, Start, in_range, iterate, run_starts
from clusterkit.contracts.labelings import NOISE, ClusterLayer
from clusterkit.contracts.outcomes import Domain, Ending, Outcome, Scores, Status
from clusterkit.contracts.pass_solver import Finished, PassSolver, RowFunction, Summing, solve_by_sums
from clusterkit.fitting.links import joined_and_cut
from clusterkit.numerics.threads import limited_threads
from clusterkit.samples import FeatureSpace, Space, memory
from clusterkit.samples.coding import Coded
from clusterkit.samples.limits import Report, notify
from clusterkit.samples.sums import Addable

CHUNK_BYTES = 256 * 1024**2
"""Bytes for the scores of the starts solved together; the chunk depends on sizes alone, not on free memory."""

CONCURRENT_WORK = 4_000_000
"""Products of an iteration, n k L, from which on starts run side by side: below, threads cost what they save."""
PRICED_TABLES = 5
"""Tables of scores that a start holds at once where a balancer changes its labels."""
ROW_STATE = 12
"""Numbers of each row that a start holds beside: labels, bounds and distances."""

PRICED_BYTES = 2**22
"""Bytes of a table of scores above which no table of costs is made unless a balancer reads it: below, the table is
cheap, and its shape is checked in every fit."""


SMALLEST_DECREASE = 1e-12
"""Objectives whose relative difference is smaller are equal up to rounding."""


@attrs.frozen(eq=False)
class BalancedLabeling:
    """Labels after the balancer, with what they were read from.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    outcome : Outcome or None
        None where the rows are not in memory.
    predict : callable or None
    exact : bool
        Whether predicting the training rows gives the labels.
    interrupted : bool
        Whether Ctrl-C ended the labelling early.
    facts : mapping
        The balancer's report about the labels.
    memberships : ndarray of shape (n, k) or None
        Memberships from the labeler: a balancer changes labels, not memberships.
    outlier_scores : ndarray of shape (n,) or None
        Outlier scores from the labeler.
    probabilities : ndarray of shape (n,) or None
        Probabilities from the labeler.
    layers : tuple of ClusterLayer
        Layers from the labeler.
    labeler_facts : mapping
        The labeler's report.
    status : Status or None
        Status of the iteration that the labels were read from.
    """

    labels: Labels
    outcome: Outcome | None
    predict: Predict | None
    exact: bool
    interrupted: bool = False
    facts: Mapping[str, object] = attrs.field(factory=dict)
    memberships: Array | None = None
    outlier_scores: Array | None = None
    probabilities: Array | None = None
    layers: tuple[ClusterLayer, ...] = ()
    labeler_facts: Mapping[str, object] = attrs.field(factory=dict)
    status: Status | None = None


def label_and_balance(
    outcome: Outcome, labeler: Labeler, balancer: Balancer | None, space: Space, task: Task, rng: Rng
) -> BalancedLabeling:
    """Read the labels of an outcome, and balance them."""
    with NamingStage(labeler):
        large = isinstance(outcome, Scores) and outcome.rows.nbytes >= PRICED_BYTES
        if large and balancer is None and isinstance(labeler, Codec) and isinstance(outcome, Scores):
            labeling = labeler.label_unpriced(outcome, task)
        else:
            labeling = labeler.label(outcome, space, task, rng)
    if task.links is not None and isinstance(outcome, Domain) and not labeler.linked:
        labeling = joined_and_cut(labeling, task.links, space)
    high = task.n if task.n_clusters is None else task.n_clusters
    check_labeling(labeler, labeling, task.n, 0 if isinstance(labeler, Codec) else NOISE, high)
    balanced = BalancedLabeling(
        labeling.labels,
        outcome,
        labeling.predict,
        labeling.exact,
        labeling.interrupted,
        memberships=labeling.memberships,
        outlier_scores=labeling.outlier_scores,
        probabilities=labeling.probabilities,
        layers=labeling.layers,
        labeler_facts=labeling.facts,
        status=outcome.status,
    )
    if balancer is None or labeling.costs is None:
        return balanced
    costs, predict = CostTable(labeling.costs, labeling.labels), labeling.predict
    if isinstance(predict, Decoder) and labeling.exact and predict.codec.largest and isinstance(space, FeatureSpace):
        logarithms = getattr(predict.extend, "logarithms", None)
        if logarithms is not None:  # probabilities of 0 and 1 would not say which rows are nearest to another cluster
            predict = attrs.evolve(predict, extend=logarithms)
            table = predict.codec.costs(logarithms.on(space.rows()), task.k)
            costs = CostTable(table, np.argmin(table, axis=1))
    decision = balanced_by(balancer, costs, task)
    if decision.offsets is not None and isinstance(predict, Decoder):
        predict = attrs.evolve(predict, offsets=decision.offsets)
    return attrs.evolve(
        balanced,
        labels=decision.labels_of(costs),
        predict=predict,
        exact=labeling.exact and decision.exact,
        facts=decision.facts,
    )


def balanced_by(balancer: Balancer, costs: Costs, task: Task) -> BalanceDecision:
    """The checked decision of a balancer about costs; if the costs are in memory, its labels are an array."""
    with NamingStage(balancer):
        decision = balancer.balance(costs, task)
    check_instance(balancer, "balance", decision, BalanceDecision)
    if costs.in_memory:
        decision = attrs.evolve(decision, labels=decision.labels_of(costs))
    if decision.labels is not None and not callable(decision.labels):
        check_labels(balancer, decision.labels, costs.n, 0, costs.k)
    return decision


def solve_once(
    prepared: Prepared,
    labeler: Labeler,
    balancer: Balancer | None,
    space: Space,
    task: Task,
    rngs: list[Rng],
    targets: Callable[[int], Coded | None] = lambda start: None,
    solver: Solver | None = None,
) -> tuple[list[Ended[BalancedLabeling]], bool]:
    """Run a solver that needs a single iteration once for each random stream.

    Parameters
    ----------
    rngs : list of Generator
        Random stream of each start.
    targets : callable
        Index of a start to the coded labels that the solver learns from; None for a solver that learns from none.
    solver : Solver, optional
        Solver that made `prepared`, for errors.

    Returns
    -------
    ends : list of Ended
        One for each start that ended.
    interrupted : bool
        Whether Ctrl-C ended the loop.
    """

    def made(index: int, lowest: float) -> tuple[Ended[BalancedLabeling], bool]:
        coded = targets(index)
        outcome = _solved(prepared, solver, coded, None, space, task, rngs[index])
        balanced = label_and_balance(outcome, labeler, balancer, space, task, rngs[index])
        values = _objective(prepared, solver, coded, outcome, 1)
        status = outcome.status or Status(1, Ending.CONVERGED, "solved in one iteration")
        objective, ending, reason = status.last_objective, status.ending, status.reason
        if values is not None:
            objective = float(values[0])
            ending, reason = in_range(ending, reason, objective)
        objective = math.nan if objective is None else objective
        end = Ended(balanced, status.n_iter, ending, reason, objective, status.history, index)
        return end, balanced.interrupted or status.interrupted

    return run_starts((partial(made, index) for index in range(len(rngs))), len(rngs), report_each=True)


def alternate(
    prepared: Prepared,
    codec: Codec,
    balancer: Balancer | None,
    space: Space,
    task: Task,
    draw: Callable[[int], Labels],
    *,
    starts: int,
    max_iter: int,
    together: bool,
    rng: Rng,
    solver: Solver | None = None,
    best_only: bool = False,
) -> tuple[list[Ended[BalancedLabeling]], bool]:
    """Run the loop from R labellings.

    Parameters
    ----------
    draw : callable
        Gives the first labels (n,) of a start from its index; called when the start begins.
    starts : int
        R.
    max_iter : int
        Most iterations of each start.
    together : bool
        Whether the solver solves several starts together, as more columns.
    solver : Solver, optional
        Solver that made `prepared`, for errors.
    best_only : bool
        Whether a start that ends no lower than one before it may be left without its labels, which saves its last
        iteration.

    Returns
    -------
    ends : list of Ended
        One for each start; after Ctrl-C one for each start that has labels to return.
    interrupted : bool
        Whether Ctrl-C ended the loop early.
    """
    width = codec.codebook(task.k).shape[1]
    chunk = max(1, CHUNK_BYTES // (8 * task.n * width)) if together else 1

    def made(first: int, lowest: float) -> tuple[list[Start[BalancedLabeling]], bool]:
        begun: list[Start[BalancedLabeling]]
        begun = [Start(index, draw(index)) for index in range(first, min(starts, first + chunk))]
        iterations = LabelIterations(prepared, codec, balancer, space, task, rng, solver, max_iter)
        return begun, iterate(iterations, begun, max_iter, lowest if best_only else math.inf)

    firsts = range(0, starts, chunk)
    work = task.n * task.k * (space.width if isinstance(space, FeatureSpace) else 0)
    if not (prepared.concurrent and starts > 1 and work >= CONCURRENT_WORK):
        return run_starts((partial(made, first) for first in firsts), starts, report_each=False, best_only=best_only)
    tables = PRICED_TABLES if balancer is not None else 1
    at_once = max(1, memory.cap() // (8 * task.n * (tables * width + ROW_STATE)))
    with limited_threads(0):  # the bits of products do not depend on the number of starts at once
        return run_starts(
            (partial(made, first) for first in firsts), starts, report_each=False, at_once=at_once, best_only=best_only
        )


@attrs.define(eq=False)
class LabelIterations(Iterations[BalancedLabeling]):
    """Iterations from labels to labels, of starts that are solved together.

    Parameters
    ----------
    prepared, codec, balancer, space, task, rng, solver
        See `alternate`.
    max_iter : int
    """

    prepared: Prepared
    codec: Codec
    balancer: Balancer | None
    space: Space
    task: Task
    rng: Rng
    solver: Solver | None
    max_iter: int
    _outcome: Outcome | None = attrs.field(default=None, init=False)

    @property
    def leaps(self) -> bool:  # type: ignore[override] # a property for a class attribute
        """Whether the solver can make iterations without a table of scores."""
        return self.balancer is None

    def advance(self, active: list[Start[BalancedLabeling]]) -> Iterator[Iteration[BalancedLabeling]]:
        """Solve for the labels of all starts, and read those of each."""
        coded = self._coded(np.stack([cast("Labels", start.state) for start in active]))
        outcome = _solved(self.prepared, self.solver, coded, self._outcome, self.space, self.task, self.rng)
        objective = _objective(self.prepared, self.solver, coded, outcome, len(active))
        self._outcome = outcome
        for position, start in enumerate(active):
            part = outcome.start(position) if isinstance(outcome, Scores) else outcome
            balanced = label_and_balance(part, self.codec, self.balancer, self.space, self.task, self.rng)
            start.judge(None if objective is None else float(objective[position]))
            before = cast("Labels", start.state)
            repeats = np.array_equal(balanced.labels, before)
            keys = None if repeats else (_digest(before), _digest(balanced.labels))
            yield Iteration.of_labels(balanced, balanced.labels, repeats, keys, part.status)

    def go_on(self, positions: list[int]) -> None:
        """Keep the outcome of the starts at these positions, from which the next iteration begins."""
        if isinstance(self._outcome, Scores) and positions:
            self._outcome = self._outcome.take(positions)

    def leap(self, start: Start[BalancedLabeling], most: int) -> Leap:
        """Iterations without a table of scores."""
        before, coded = len(start.history), self._coded(cast("Labels", start.state))
        iterations = self.prepared.leap(coded) if self.codec.largest else None
        if iterations is None and self.codec.rowwise and isinstance(solver := self.prepared, PassSolver):
            iterations = (
                _one_pass(solver, solver.iterations, self.codec, coded)
                if isinstance(solver.iterations, Summing)
                else None
            )
        if iterations is None:
            return Leap(start.state, [])

        labels, history, interrupted = coded.labels[0], list[float](), False
        end: str | float | None = None
        try:
            while most > 0:
                # ask for one iteration more than is taken: only the generator knows whether the next would be the last
                try:
                    objective, following = next(iterations)
                except StopIteration as stopped:
                    end = stopped.value
                    break
                if len(history) == most:
                    break
                labels = following
                history.append(objective)
                notify(Report(self.name, before + len(history), self.max_iter, objective, 1))
        except KeyboardInterrupt:
            interrupted, end = True, None
        if history:
            self._outcome = None
        settled, final = (end, None) if isinstance(end, str) else (None, end)
        return Leap(labels, history, settled, final, interrupted)

    def objective(self, answer: BalancedLabeling, start: Start[BalancedLabeling]) -> float | None:
        """Objective of the labels returned, computed anew as for labels that repeat."""
        coded = self._coded(answer.labels[None])
        values = self.prepared.objective(coded, self.prepared.solve(coded, None, self.rng))
        return None if values is None else float(values[0])

    def _coded(self, labels: Labels) -> Coded:
        return self.codec.encode(labels, self.task.k, self.task.sample_weight)


def _one_pass(
    solver: PassSolver, summing: Summing, codec: Codec, targets: Coded
) -> Generator[tuple[float, Labels], None, str | None]:
    """Iterations in one pass each: the labels of a block are read and added up while the block is in memory.

    Labels and objectives are those of full iterations, bit for bit.
    """
    space = solver.space
    labels, last = targets.labels[0], math.inf
    finished = solve_by_sums(summing, space, targets)
    while True:
        objective = float(finished.objective[0])
        if not objective < last * (1.0 - SMALLEST_DECREASE):
            return None
        following = np.empty(space.n, dtype=np.intp)
        total = space.reduce(_LabelAndAddInMemory(summing, finished.extend, codec, targets, following))
        if np.array_equal(following, labels):
            return None
        yield objective, following
        step = summing.finish(total, finished.extend)
        coded = attrs.evolve(targets, labels=following[None])
        finished = step if isinstance(step, Finished) else solve_by_sums(step, space, coded, finished.extend)
        if finished.status is not None:  # the solver has something to say: the next iteration is made in full
            return None
        labels, last = following, objective


@final
@attrs.frozen(eq=False)
class _LabelAndAddInMemory:
    """Contribution of a block: reads its labels from the scores of the iteration before, stores them, and adds up."""

    summing: Summing
    extend: RowFunction
    codec: Codec
    targets: Coded
    labels: Labels

    def __call__(self, rows: slice, H: Array) -> Addable:
        scores = self.extend.on(H)
        labels = self.labels[rows]
        labels[:] = self.codec.decode(scores, self.targets.k)
        return self.summing.part(H, attrs.evolve(self.targets.of(rows), labels=labels[None]), scores)


def _solved(
    prepared: Prepared,
    solver: Solver | None,
    coded: Coded | None,
    previous: Outcome | None,
    space: Space,
    task: Task,
    rng: Rng,
) -> Outcome:
    """The outcome of one iteration, checked."""
    with NamingStage(solver):
        outcome = prepared.solve(coded, previous, rng)
    path = None if solver is None else solver.path(type(space))
    check_outcome(solver, outcome, Outcome if path is None else path.gives, task.n, coded)
    return outcome


def _objective(
    prepared: Prepared, solver: Solver | None, coded: Coded | None, outcome: Outcome, starts: int
) -> Array | None:
    """The objective of each start, checked; None if the solver has none."""
    with NamingStage(solver):
        values = prepared.objective(coded, outcome)
    check_objective(solver, values, starts)
    return values


def _digest(labels: Labels) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(labels).data, digest_size=16).digest()
