"""The loop of all iterative fits: iterations of one or several starts until each has ended, and the best result.

Every iterative fit is run by `iterate`: labels that lead to labels in memory (EMMC, k-means) or by passes over rows
outside memory, and the iterations of solvers with a state of their own (fuzzy c-means, factorisations). What differs is
in an object `Iterations`, which makes an iteration; when a start ends, what it returns and what is said of it is
decided here only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

import attrs
import numpy as np

from clusterkit.contracts.outcomes import Ending, Status
from clusterkit.samples.limits import Report, notify, side_by_side

A = TypeVar("A")

EQUAL = 1e-12
"""Relative difference up to which objectives of renumbered copies of one partition differ: the first copy is
returned."""

TIED, TIED_SINGLE = 1e-10, 1e-5
"""Relative differences up to which objectives of float64 and of float32 samples count as equal: far above the rounding
of their sums, far below the differences of distinct clusterings."""

SENTENCES: Mapping[Ending, str] = {
    Ending.CONVERGED: "converged: labels no longer change",
    Ending.SETTLED: "{detail}",
    Ending.CYCLED: "did not converge: labels alternate between states; returned {which}",
    Ending.STALLED: "{detail}",
    Ending.INTERRUPTED: "interrupted",
    Ending.OUT_OF_ITERATIONS: "max_iter = {most} reached{detail}",
}
"""Sentences about the end of a start, unless `Iterations.sentences` has others. `detail` is that of the last iteration,
`n` the number of iterations, `most` the largest number allowed, and `which` names the labels that are returned."""


@attrs.frozen(eq=False)
class Iteration(Generic[A]):
    """Result of one iteration of one start.

    Parameters
    ----------
    answer : A
        Answer of the start if it ends with this iteration.
    state : object
        State that the next iteration begins with.
    ending : Ending or None
        How the start ends with this iteration; None to go on.
    detail : str
        Text about the iteration, for the sentence that says how the start ended, with it or at the most iterations.
    keys : (hashable, hashable) or None
        Hashes of the labels before and after, equal for equal labels; None where labels cannot come back.
    """

    answer: A
    state: object
    ending: Ending | None = None
    detail: str = ""
    keys: tuple[Hashable, Hashable] | None = None

    @classmethod
    def of_labels(
        cls, answer: A, state: object, repeats: bool, keys: tuple[Hashable, Hashable] | None, status: Status | None
    ) -> Iteration[A]:
        """An iteration whose labels may equal those before it, or be regarded as final by the solver.

        Parameters
        ----------
        repeats : bool
        status : Status or None
            Status from the solver.
        """
        if repeats:
            return cls(answer, state, Ending.CONVERGED)
        if status is not None and status.settled:
            return cls(answer, state, Ending.SETTLED, status.reason, keys)
        return cls(answer, state, keys=keys)


@attrs.frozen(eq=False)
class Leap:
    """Some iterations at once, without what a fit returns: bounds or single passes make them faster.

    Parameters
    ----------
    state : object
        State that the next iteration begins with.
    history : list of float
        Objective before each of the iterations.
    settled : str or None
        Why the next iteration, made in full, is the last one.
    final : float or None
        Objective of labels that the next iteration would not change.
    interrupted : bool
        Whether Ctrl-C came; the next iteration, made in full, is then the last one.
    """

    state: object
    history: list[float]
    settled: str | None = None
    final: float | None = None
    interrupted: bool = False


@attrs.frozen(eq=False)
class Ended(Generic[A]):
    """End of one start.

    Parameters
    ----------
    answer : A or None
        Result; None for a start that ended no lower than one before it, of which only the objective is needed.
    n_iter : int
    ending : Ending
    reason : str
    objective : float
        Objective of the answer, or of the labels before it if only one iteration was allowed; nan if the solver has
        none.
    history : tuple of float
        Objective before each iteration.
    index : int
        Number of the start, from 0.
    """

    answer: A | None
    n_iter: int
    ending: Ending
    reason: str
    objective: float
    history: tuple[float, ...]
    index: int = 0

    @property
    def converged(self) -> bool:
        """Whether the answer is final."""
        return self.ending.converged


@attrs.define(eq=False)
class Start(Generic[A]):
    """A start under way: what comes next, the last answer, and the best one so far.

    Parameters
    ----------
    index : int
    state : object
        State that the next iteration begins with.
    keeps_best : bool
        Whether the objective of an iteration is that of the answer before it, so that the best answer can be returned;
        else it is that of the answer of the iteration, which is better than those before, and its range is checked
        elsewhere.
    n_iter : int
        Iterations so far; a solver that counts something else, such as steps, sets it in every iteration.
    """

    index: int
    state: object
    keeps_best: bool = True
    answer: A | None = None
    history: list[float] = attrs.field(factory=list)
    n_iter: int = 0
    detail: str = ""
    done: Ended[A] | None = None
    comparable: bool = False
    _best: A | None = None
    _lowest: float = math.inf
    _seen: set[Hashable] = attrs.field(factory=set)

    def judge(self, objective: float | None) -> None:
        """Take in the objective of an iteration; None for a solver that has none.

        `Iterations.advance` calls it once an iteration, but not where there was nothing to be made, or where it counts
        itself.
        """
        self.n_iter += 1
        self.comparable = self.keeps_best and objective is not None
        self.history.append(math.nan if objective is None else objective)
        # without an objective the comparison is always false: the last answer is returned
        lower = self._lowest if self._best is None else self._lowest - EQUAL * abs(self._lowest)
        if self.keeps_best and self.answer is not None and self.history[-1] < lower:
            self._best, self._lowest = self.answer, self.history[-1]

    def take(self, iteration: Iteration[A]) -> Ending | None:
        """Take in the rest of an iteration; how the start ends with it, and None if it goes on."""
        self.answer, self.state, self.detail = iteration.answer, iteration.state, iteration.detail
        if iteration.keys is not None:
            self._seen.add(iteration.keys[0])
            if iteration.keys[1] in self._seen:
                return Ending.CYCLED
        return iteration.ending

    def leap(self, leap: Leap) -> None:
        """Take in iterations that were made at once: what was read before belongs to a higher objective."""
        if leap.history:
            self.state = leap.state
            self.history += leap.history
            self.n_iter += len(leap.history)
            self.answer, self._best, self._lowest = None, None, math.inf

    @property
    def last(self) -> float:
        """Objective of the last iteration; nan without one."""
        return self.history[-1] if self.history else math.nan

    def end_higher(self, objective: float) -> None:
        """End at labels that the next iteration would not change, and drop them: another start ended lower."""
        history = (*self.history, objective)
        self.comparable = True
        ending = Ending.CONVERGED
        self.done = Ended(None, self.n_iter + 1, ending, SENTENCES[ending], objective, history, self.index)

    def end(self, ending: Ending, reason: str) -> None:
        """End here: with the last answer if it is final, else with the best one. Without any the start stays open."""
        if ending.converged and self.comparable:
            ending, reason = in_range(ending, reason, self.last)
        use_last = ending.converged or self._best is None
        answer = self.answer if use_last else self._best
        if answer is not None:
            objective = self.last if use_last else self._lowest
            self.done = Ended(answer, self.n_iter, ending, reason, objective, tuple(self.history), self.index)


class Iterations(Generic[A]):
    """The iterations of some starts, all computed in one place; `iterate` runs them."""

    name: str = "loop"
    """Name in reports of progress."""
    sentences: ClassVar[Mapping[Ending, str]] = {}
    """Sentences about an end that replace those of `SENTENCES`."""
    leaps: bool = False
    """Whether `leap` may do something, for a single start."""

    def advance(self, active: list[Start[A]]) -> Iterator[Iteration[A]]:
        """An iteration of every active start, in their order; each is asked for when the one before it was taken in.

        Where an iteration changes nothing, its answer is the one before, and it is not judged.
        """
        raise NotImplementedError

    def go_on(self, positions: list[int]) -> None:
        """Keep the active starts at these positions only."""

    def leap(self, start: Start[A], most: int) -> Leap:
        """Up to `most` iterations at once."""
        raise NotImplementedError

    def objective(self, answer: A, start: Start[A]) -> float | None:
        """Objective of an answer that the solver regards as final; None where it is that of the last iteration."""
        return None

    def recover(self, start: Start[A]) -> None:
        """After Ctrl-C: give the start what is stored of an iteration that was not taken in."""


def iterate(
    iterations: Iterations[A], starts: Sequence[Start[A]], max_iter: int, unwanted_from: float = math.inf
) -> bool:
    """Run starts to their ends, in step with each other.

    A start ends after the first iteration that gives back the labels it began with (`Ending.CONVERGED`); else whose
    labels were there before (`CYCLED`), even if the solver regards them as final in the same iteration; else which the
    solver regards as final (`SETTLED`) or cannot get beyond (`STALLED`). This rule is the same wherever the samples
    lie.

    Parameters
    ----------
    iterations : Iterations
    starts : sequence of Start
    max_iter : int
        Most iterations of each start.
    unwanted_from : float
        Objective from which on a single start is left without an answer, where its last iteration can be saved so.

    Returns
    -------
    bool
        Whether Ctrl-C ended the loop; starts that have nothing to return are then still open.
    """
    active = [start for start in starts if start.done is None]
    leaps = iterations.leaps and len(active) == 1
    try:
        while active and (made := active[0].n_iter) < max_iter:
            leap = Leap(None, [])
            if leaps:
                # the last two iterations are made in full: they give the answer and its objective
                leap = iterations.leap(active[0], max_iter - made - 2)
                active[0].leap(leap)
                leaps = bool(leap.history)
                if leap.final is not None and not leap.interrupted and _unwanted(leap.final, unwanted_from):
                    active[0].end_higher(leap.final)
                    notify(Report(iterations.name, len(active[0].history) + 1, max_iter, leap.final, 0))
                    return False
            for start, iteration in zip(active, iterations.advance(active), strict=True):
                if leap.settled is not None and iteration.ending is None:
                    iteration = attrs.evolve(iteration, ending=Ending.SETTLED, detail=leap.settled)
                if (ending := start.take(iteration)) is not None:
                    _end(iterations, start, ending, max_iter)
            going = [position for position, start in enumerate(active) if start.done is None]
            lowest = min(start.last for start in active)
            if active[0].n_iter > made:
                notify(
                    Report(
                        iterations.name, active[0].n_iter, max_iter, None if math.isnan(lowest) else lowest, len(going)
                    )
                )
            if leap.interrupted:
                raise KeyboardInterrupt
            iterations.go_on(going)
            active = [active[position] for position in going]
    except KeyboardInterrupt:
        for start in active:
            # for a solver's own loop only its status says that Ctrl-C came, even in the report of the last iteration
            if start.done is None or not start.keeps_best:
                iterations.recover(start)
                _end(iterations, start, Ending.INTERRUPTED, max_iter)
        return True
    for start in active:
        _end(iterations, start, Ending.OUT_OF_ITERATIONS, max_iter)
    return False


def _unwanted(objective: float, limit: float) -> bool:
    """Whether an objective is not lower than that of another start, or only by rounding."""
    return objective >= limit - 0.5 * TIED * abs(limit)


def _end(iterations: Iterations[A], start: Start[A], ending: Ending, max_iter: int) -> None:
    """End a start: write the sentence about its end, and give a settled answer its objective."""
    which = "the last one" if math.isnan(start.last) else "the one with the lowest objective"
    sentence = iterations.sentences.get(ending, SENTENCES[ending])
    start.end(ending, sentence.format(n=start.n_iter, most=max_iter, detail=start.detail, which=which))
    if ending is Ending.SETTLED and start.done is not None and start.done.answer is not None and start.comparable:
        objective = iterations.objective(start.done.answer, start)
        if objective is not None:
            start.done = attrs.evolve(start.done, objective=objective)


def in_range(ending: Ending, reason: str, objective: float) -> tuple[Ending, str]:
    """The end of a start and its reason; a start whose objective is no finite number has stalled."""
    if math.isfinite(objective):
        return ending, reason
    return Ending.STALLED, f"{reason}; but the objective is {objective}, out of the range of numbers"


def solve(iterations: Iterations[A], start: Start[A], max_iter: int) -> tuple[A, Status]:
    """All iterations of a solver with a state of its own.

    Raises
    ------
    KeyboardInterrupt
        If it is pressed before there is any answer.
    """
    iterate(iterations, [start], max_iter)
    end = start.done
    if end is None:
        raise KeyboardInterrupt
    assert end.answer is not None
    return end.answer, Status(end.n_iter, end.ending, end.reason, end.history)


def run_starts(
    chunks: Iterable[Callable[[float], tuple[Sequence[Start[A]] | Ended[A], bool]]],
    n_starts: int,
    report_each: bool,
    *,
    at_once: int = 1,
    best_only: bool = False,
) -> tuple[list[Ended[A]], bool]:
    """The starts of a fit, one chunk after the other or side by side, until Ctrl-C.

    Parameters
    ----------
    chunks : iterable of callable
        Each takes the lowest objective so far, runs some starts, and returns them and whether Ctrl-C was pressed.
    n_starts : int
    report_each : bool
        Whether the end of each start is reported.
    at_once : int, default 1
        Most chunks that run side by side. They take infinity as the lowest objective, so that none depends on another.
    best_only : bool, default False
        Whether answers are dropped, with the memory they take, once another start has ended lower.

    Raises
    ------
    KeyboardInterrupt
        If it is pressed before any start has something to return.
    """
    ends: list[Ended[A]] = []
    interrupted = False
    comparable: list[float] = []

    def take(starts: Sequence[Start[A]] | Ended[A]) -> None:
        if isinstance(starts, Ended):
            ends.append(starts)
        else:
            ends.extend(start.done for start in starts if start.done is not None)
            comparable.extend(start.done.objective for start in starts if start.done is not None and start.comparable)
        least = min(comparable, default=math.inf)
        if best_only and math.isfinite(least):
            higher = least + TIED_SINGLE * abs(least)
            ends[:] = [attrs.evolve(end, answer=None) if end.objective > higher else end for end in ends]

    if at_once > 1:
        done: dict[int, Sequence[Start[A]] | Ended[A]] = {}

        def made(job: tuple[int, Callable[[float], tuple[Sequence[Start[A]] | Ended[A], bool]]]) -> int:
            done[job[0]], ended = job[1](math.inf)
            if ended:
                raise KeyboardInterrupt  # the others end at their next report, with what they have
            return job[0]

        try:
            for number in side_by_side(made, enumerate(chunks), at_once):
                take(done.pop(number))
        except KeyboardInterrupt:
            interrupted = True
            for number in sorted(done):
                take(done[number])
            if not ends:
                raise
        return ends, interrupted
    for chunk in chunks:
        try:
            starts, interrupted = chunk(min(comparable, default=math.inf))
        except KeyboardInterrupt:
            if not ends:
                raise
            return ends, True
        take(starts)
        if interrupted:
            if not ends:
                raise KeyboardInterrupt
            return ends, True
        if report_each and n_starts > 1:
            notify(Report("starts", len(ends), n_starts, ends[-1].objective, n_starts - len(ends)))
    return ends, interrupted


def first_least(values: Sequence[float], dtype: np.dtype) -> int:
    """Index of the least value; of values that are equal but for rounding the first, nan the last.

    Two starts may find the same clusters under other names, whose objectives differ by rounding alone: which is lower
    would depend on the number of threads, or on the library that adds them up.

    Parameters
    ----------
    values : sequence of float
        Objectives.
    dtype : numpy dtype
        Type of the samples that the values were computed from.
    """
    known = [math.inf if math.isnan(value) else value for value in values]
    least = min(known)
    if math.isinf(least):
        return known.index(least)
    tied = TIED_SINGLE if dtype == np.float32 else TIED
    return next(i for i, value in enumerate(known) if value <= least + tied * abs(least))
