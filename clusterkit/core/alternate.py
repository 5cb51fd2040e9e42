"""The one loop: solve for the current labels, read new labels, balance them, until they repeat.

EMMC, k-means and IterSVR are fixed points of the loop; a solver that learns from no labels is at its fixed point after
one iteration. R starts run together as more columns if the solver can solve them so.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core.coding import Coded
from clusterkit.core.contracts import During, check_assignment, check_labeling, check_objective, check_outcome
from clusterkit.core.descent import Descending, OnePass, descend
from clusterkit.core.labelings import NOISE
from clusterkit.core.outcomes import Outcome, Scores, Status
from clusterkit.core.progress import Report, tell
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Balancer, Codec, Decoder, Labeler, Prepared, Solver, Task
from clusterkit.core.starts import TIED, BalancedLabeling, Start, StartResult
from clusterkit.core.summing import BySums

__all__ = ["alternate", "one_turn", "read"]

CHUNK_BYTES = 256 * 1024**2
"""Bytes for the scores of the starts solved together; the chunk depends on sizes alone, not on free memory."""

PRICED_BYTES = 2**22
"""Bytes of a table of scores from which on no table of costs is made where no balancer reads it: below it the table is
cheap, and its shape is checked in every fit."""


def read(
    outcome: Outcome, labeler: Labeler, balancer: Balancer | None, space: Space, task: Task, rng: Rng
) -> BalancedLabeling:
    """Labels of an outcome, balanced."""
    with During(labeler):
        large = isinstance(outcome, Scores) and outcome.rows.nbytes >= PRICED_BYTES
        if large and balancer is None and isinstance(labeler, Codec) and isinstance(outcome, Scores):
            labeling = labeler.label_unpriced(outcome, task)
        else:
            labeling = labeler.label(outcome, space, task, rng)
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
        labeler_facts=labeling.facts,
    )
    if balancer is None or labeling.costs is None:
        return balanced
    with During(balancer):
        assignment = balancer.assign(labeling.costs, labeling.labels, task)
    check_assignment(balancer, assignment, task.n, high)
    predict = labeling.predict
    if assignment.offsets is not None and isinstance(predict, Decoder):
        predict = attrs.evolve(predict, offsets=assignment.offsets)
    return attrs.evolve(
        balanced,
        labels=assignment.labels,
        predict=predict,
        exact=labeling.exact and assignment.exact,
        facts=assignment.facts,
    )


def one_turn(
    prepared: Prepared,
    labeler: Labeler,
    balancer: Balancer | None,
    space: Space,
    task: Task,
    rngs: list[Rng],
    targets: Callable[[int], Coded | None] = lambda start: None,
    solver: Solver | None = None,
) -> tuple[list[StartResult], bool]:
    """Run a solver that needs a single iteration once for each random stream.

    Parameters
    ----------
    rngs : list of Generator
        One a start.
    targets : callable
        Index of a start to the coded labels that the solver learns from; None for a solver that learns from none.
    solver : Solver, optional
        What `prepared` was made by, for errors.

    Returns
    -------
    ends : list of StartResult
        One for each start that ended.
    interrupted : bool
        Whether Ctrl-C ended the loop.
    """
    ends: list[StartResult] = []
    for index, rng in enumerate(rngs):
        try:
            coded = targets(index)
            outcome = _solved(prepared, solver, coded, None, space, task, rng)
            balanced = read(outcome, labeler, balancer, space, task, rng)
        except KeyboardInterrupt:
            if not ends:
                raise
            return ends, True
        values = _objective(prepared, solver, coded, outcome, 1)
        status = outcome.status
        objective = _reported(status) if values is None else float(values[0])
        lost = values is not None and not math.isfinite(objective)
        reason = "solved in one turn" if status is None else status.reason
        ends.append(
            StartResult(
                balanced,
                1 if status is None else status.n_iter,
                not lost and (status is None or status.converged),
                f"{reason}; but the objective is {objective}, out of the range of numbers" if lost else reason,
                objective,
                () if status is None else status.history,
                index,
            )
        )
        if balanced.interrupted or (status is not None and status.interrupted):
            return ends, True
        if len(rngs) > 1:
            tell(Report("starts", index + 1, len(rngs), ends[-1].objective, len(rngs) - index - 1))
    return ends, False


def _reported(status: Status | None) -> float:
    """The objective of a solver that has none to compare starts by: the one it reports, or the last of its history."""
    if status is None:
        return math.nan
    if status.objective is not None:
        return status.objective
    return status.history[-1] if status.history else math.nan


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
) -> tuple[list[StartResult], bool]:
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
        What `prepared` was made by, for errors.
    best_only : bool
        Whether a start that ends no lower than one before it may be left without its labels, which saves its last turn.

    Returns
    -------
    ends : list of StartResult
        One for each start; after Ctrl-C one for each start that has labels to return.
    interrupted : bool
        Whether Ctrl-C ended the loop early.
    """
    width = codec.codebook(task.k).shape[1]
    chunk = max(1, CHUNK_BYTES // (8 * task.n * width)) if together else 1
    begun: list[Start] = []
    interrupted = False
    try:
        for first in range(0, starts, chunk):
            active = [Start(index, draw(index)) for index in range(first, min(starts, first + chunk))]
            begun += active
            ends = [start.done.objective for start in begun if start.done is not None and start.comparable]
            lowest = min(ends, default=math.inf) if best_only else math.inf
            _run(active, prepared, codec, balancer, space, task, max_iter, rng, solver, lowest)
    except KeyboardInterrupt:
        interrupted = True
        for start in begun:
            if start.done is None:
                start.finish(False, "interrupted")
        if not any(start.done for start in begun):
            raise
    return [start.done for start in begun if start.done is not None], interrupted


def _run(
    active: list[Start],
    prepared: Prepared,
    codec: Codec,
    balancer: Balancer | None,
    space: Space,
    task: Task,
    max_iter: int,
    rng: Rng,
    solver: Solver | None,
    lowest: float,
) -> None:
    """Run some starts to their ends; a single one that cannot end below `lowest` is left without labels."""
    previous: Outcome | None = None
    quick = _quick(prepared, codec) if balancer is None and len(active) == 1 else None
    turn = 0
    while turn < max_iter:
        interrupted, settled = False, None
        if quick is not None:
            made, interrupted, final = _descend(active[0], quick, codec, task, max_iter)
            if isinstance(final, float) and final >= lowest - 0.5 * TIED * abs(lowest) and not interrupted:
                active[0].finish_higher(final)
                tell(Report("loop", made + 1, max_iter, final, 0))
                return
            settled = final if isinstance(final, str) else None
            quick, turn = quick if made else None, turn + made
            previous = None if made else previous
        turn += 1
        coded = codec.encode(np.stack([start.labels for start in active]), task.k, task.sample_weight)
        outcome = _solved(prepared, solver, coded, previous, space, task, rng)
        objective = _objective(prepared, solver, coded, outcome, len(active))
        for position, start in enumerate(active):
            value = math.nan if objective is None else float(objective[position])
            start.comparable = objective is not None
            part = outcome.start(position) if isinstance(outcome, Scores) else outcome
            _advance(start, value, read(part, codec, balancer, space, task, rng))
            why = settled or _settled(part)
            if why and start.done is None:
                start.finish(True, why)
                if objective is not None and start.done is not None and start.done.labeling is not None:
                    # that of the labels returned, as where they repeat
                    coded = codec.encode(start.done.labeling.labels[None], task.k, task.sample_weight)
                    value = prepared.objective(coded, prepared.solve(coded, None, rng))
                    start.done = attrs.evolve(start.done, objective=float(value[0]))
        best = _lowest(objective)
        going = [position for position, start in enumerate(active) if start.done is None]
        tell(Report("loop", turn, max_iter, best, len(going)))
        if interrupted:
            # Ctrl-C came in `_descend`; its labels have been read in full by this turn, so `alternate` can end here
            raise KeyboardInterrupt
        if not going:
            return
        previous = outcome.take(going) if isinstance(outcome, Scores) else outcome
        active = [active[position] for position in going]
    for start in active:
        start.finish(False, f"max_iter = {max_iter} reached")


def _quick(prepared: Prepared, codec: Codec) -> Descending | None:
    """What makes iterations of one start without a table of scores, for a codec; None if nothing does."""
    if codec.largest and isinstance(prepared, Descending):
        return prepared
    return OnePass(prepared, codec) if codec.rowwise and isinstance(prepared, BySums) else None


def _solved(
    prepared: Prepared,
    solver: Solver | None,
    coded: Coded | None,
    previous: Outcome | None,
    space: Space,
    task: Task,
    rng: Rng,
) -> Outcome:
    """The outcome of one turn, checked."""
    with During(solver):
        outcome = prepared.solve(coded, previous, rng)
    path = None if solver is None else solver.path(type(space))
    check_outcome(solver, outcome, Outcome if path is None else path.gives, task.n, coded)
    return outcome


def _objective(
    prepared: Prepared, solver: Solver | None, coded: Coded | None, outcome: Outcome, starts: int
) -> Array | None:
    """The objective of each start, checked; None if the solver has none."""
    with During(solver):
        values = prepared.objective(coded, outcome)
    check_objective(solver, values, starts)
    return values


def _settled(outcome: Outcome) -> str | None:
    """Why the solver regards the labels as final, or None."""
    status = outcome.status
    return status.reason if status is not None and status.settled else None


def _descend(
    start: Start, prepared: Descending, codec: Codec, task: Task, max_iter: int
) -> tuple[int, bool, str | float | None]:
    """Turns without scores, all but the last two allowed: those give the labels to return and their objective."""
    before = start.turns

    def report(turns: int, objective: float) -> None:
        tell(Report("loop", before + turns, max_iter, objective, 1))

    coded = codec.encode(start.labels, task.k, task.sample_weight)
    labels, history, interrupted, settled = descend(prepared, coded, max_iter - before - 2, report)
    if history:
        start.labels, start.turns = labels, before + len(history)
        start.history += history
        # what was read before belongs to labels of a higher objective
        start.labeling, start.best, start.best_objective = None, None, math.inf
    return len(history), interrupted, settled


def _advance(start: Start, objective: float, balanced: BalancedLabeling) -> None:
    """Take in the labels read in this turn; `objective` is that of the labels the turn began with."""
    start.turns += 1
    start.history.append(objective)
    # The labels a start begins with were read from nothing, so they are no candidates.
    # Without an objective the value is nan and the comparison is always false: the last labels are returned.
    # Renumbered copies of one partition have the same objective up to rounding: the first of them is kept.
    lower = start.best_objective if start.best is None else start.best_objective - 1e-12 * abs(start.best_objective)
    if start.labeling is not None and objective < lower:
        start.best, start.best_objective = start.labeling, objective
    repeated = np.array_equal(balanced.labels, start.labels)
    start.labeling = balanced
    if repeated:
        start.finish(True, "converged: labels no longer change")
        return
    start.seen.add(_digest(start.labels))
    if _digest(balanced.labels) in start.seen:
        which = "the last one" if math.isnan(objective) else "the one with the lowest objective"
        start.finish(False, f"did not converge: labels alternate between states; returned {which}")
        return
    start.labels = balanced.labels


def _digest(labels: Labels) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(labels).data, digest_size=16).digest()


def _lowest(objective: Array | None) -> float | None:
    return None if objective is None else float(np.min(objective))
