"""The one loop: turns of one or several starts until each has ended, and the best of what they gave.

Every iterative fit is run by `iterate`: labels that lead to labels in memory (EMMC, k-means) or by passes over rows
outside memory, and the turns of solvers with a state of their own (fuzzy c-means, factorisations). What differs is in
an object `Turns`, which makes a turn; when a start ends, what it returns and what is said of it is decided here only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import attrs
import numpy as np

from clusterkit.core.outcomes import Status
from clusterkit.core.progress import Report, tell

__all__ = ["Ended", "Leap", "Start", "Turn", "Turns", "first_least", "iterate", "run_starts", "solve"]

A = TypeVar("A")

EQUAL = 1e-12
"""Relative difference up to which objectives of renumbered copies of one partition differ: the first is kept."""

TIED, TIED_SINGLE = 1e-10, 1e-5
"""Relative differences up to which objectives of float64 and of float32 samples count as equal: far above the rounding
of their sums, far below what tells starts apart."""

UNCHANGED = "converged: labels no longer change"


@attrs.frozen(eq=False)
class Turn(Generic[A]):
    """What one turn of one start gave.

    Parameters
    ----------
    answer : A
        What the start returns if it ends here.
    state : object
        What the next turn begins with.
    repeats : bool
        Whether the turn gave back the labels that it began with.
    keys : (hashable, hashable) or None
        Of the labels before and after, equal for equal ones; None where nothing can come back.
    settled : str or None
        Why the solver regards the answer as final.
    change : str
        How far it was from that, in words, for a start that runs out of turns.
    """

    answer: A
    state: object
    repeats: bool = False
    keys: tuple[Hashable, Hashable] | None = None
    settled: str | None = None
    change: str = ""


@attrs.frozen(eq=False)
class Leap:
    """Some turns at once, without what a fit returns: bounds or single passes make them faster.

    Parameters
    ----------
    state : object
        What the next turn begins with.
    history : list of float
        Objective before each of the turns.
    settled : str or None
        Why the next turn, made in full, is the last one.
    final : float or None
        Objective of labels that the next turn would not change.
    interrupted : bool
        Whether Ctrl-C came; the next turn, made in full, is then the last one.
    """

    state: object
    history: list[float]
    settled: str | None = None
    final: float | None = None
    interrupted: bool = False


@attrs.frozen(eq=False)
class Ended(Generic[A]):
    """How one start ended.

    Parameters
    ----------
    answer : A or None
        None for a start that ended no lower than one before it, of which nothing but the objective is wanted.
    n_iter : int
    converged : bool
    reason : str
    objective : float
        Of the answer, or of what came before it if only one turn was allowed; nan if the solver has none.
    history : tuple of float
        Objective before each turn.
    index : int
        Which start.
    interrupted : bool
    """

    answer: A | None
    n_iter: int
    converged: bool
    reason: str
    objective: float
    history: tuple[float, ...]
    index: int = 0
    interrupted: bool = False

    @property
    def labeling(self) -> A | None:
        """The answer of a loop over labels."""
        return self.answer


@attrs.define(eq=False)
class Start(Generic[A]):
    """A start under way: what comes next, the last answer, and the best one so far.

    Parameters
    ----------
    index : int
    state : object
        What the next turn begins with.
    keeps_best : bool
        Whether the objective of a turn is that of the answer before it, so that the best answer can be returned; else
        it is that of the answer of the turn, which is better than those before, and its range is checked elsewhere.
    """

    index: int
    state: Any
    keeps_best: bool = True
    answer: A | None = None
    history: list[float] = attrs.field(factory=list)
    change: str = ""
    done: Ended[A] | None = None
    comparable: bool = False
    _best: A | None = None
    _lowest: float = math.inf
    _seen: set[Hashable] = attrs.field(factory=set)

    def judge(self, objective: float | None) -> None:
        """Take in the objective of a turn; None for a solver that has none. Called by `Turns.advance`, once a turn."""
        self.comparable = self.keeps_best and objective is not None
        self.history.append(math.nan if objective is None else objective)
        # without an objective the comparison is always false: the last answer is returned
        lower = self._lowest if self._best is None else self._lowest - EQUAL * abs(self._lowest)
        if self.keeps_best and self.answer is not None and self.history[-1] < lower:
            self._best, self._lowest = self.answer, self.history[-1]

    def take(self, turn: Turn[A]) -> None:
        """Take in the rest of a turn, and end where labels repeat or come back."""
        self.answer, self.state, self.change = turn.answer, turn.state, turn.change
        if turn.repeats:
            self.end(True, UNCHANGED)
        elif turn.keys is not None:
            self._seen.add(turn.keys[0])
            if turn.keys[1] in self._seen:
                which = "the last one" if math.isnan(self.history[-1]) else "the one with the lowest objective"
                self.end(False, f"did not converge: labels alternate between states; returned {which}")

    def leap(self, leap: Leap) -> None:
        """Take in turns that were made at once: what was read before belongs to a higher objective."""
        if leap.history:
            self.state = leap.state
            self.history += leap.history
            self.answer, self._best, self._lowest = None, None, math.inf

    def end_higher(self, objective: float) -> None:
        """End at labels that the next turn would not change, which are not wanted: another start has ended lower."""
        history = (*self.history, objective)
        self.comparable = True
        self.done = Ended(None, len(history), True, UNCHANGED, objective, history, self.index)

    def end(self, converged: bool, reason: str, interrupted: bool = False) -> None:
        """End here: with the last answer if it is final, else with the best one. Without any the start stays open."""
        last = self.history[-1] if self.history else math.nan
        if converged and self.comparable and not math.isfinite(last):
            converged, reason = False, f"{reason}; but the objective is {last}, out of the range of numbers"
        use_last = converged or self._best is None
        answer = self.answer if use_last else self._best
        if answer is not None:
            objective = last if use_last else self._lowest
            history = tuple(self.history)
            self.done = Ended(answer, len(history), converged, reason, objective, history, self.index, interrupted)


class Turns(Generic[A]):
    """What `iterate` runs: the turns of some starts, in one place."""

    name: str = "loop"
    """For reports of progress."""
    interrupted_reason: str = "interrupted"
    """Said after Ctrl-C; may hold the number of turns as ``{n}``."""
    leaps: bool = False
    """Whether `leap` may do something, for a single start."""

    def advance(self, active: list[Start[A]]) -> Iterator[Turn[A]]:
        """A turn of every active start, in their order; each is asked for when the one before it was taken in."""
        raise NotImplementedError

    def go_on(self, positions: list[int]) -> None:
        """Which of the active starts go on."""

    def leap(self, start: Start[A], most: int) -> Leap:
        """Up to `most` turns at once."""
        raise NotImplementedError

    def objective(self, answer: A, start: Start[A]) -> float | None:
        """Of an answer that the solver regards as final; None where it is that of the last turn."""
        return None

    def recover(self, start: Start[A]) -> None:
        """After Ctrl-C: give the start what is stored of a turn that was not taken in."""


def iterate(turns: Turns[A], starts: Sequence[Start[A]], max_iter: int, unwanted_from: float = math.inf) -> bool:
    """Run starts to their ends, in step with each other.

    Parameters
    ----------
    turns : Turns
    starts : sequence of Start
    max_iter : int
        Most turns of each start.
    unwanted_from : float
        Objective from which on a single start is left without an answer, where its last turn can be saved so.

    Returns
    -------
    bool
        Whether Ctrl-C ended the loop; starts that have nothing to return are then still open.
    """
    active = [start for start in starts if start.done is None]
    leaps = turns.leaps and len(active) == 1
    try:
        while active and (made := len(active[0].history)) < max_iter:
            leap = Leap(None, [])
            if leaps:
                # the last two turns are made in full: they give the answer and its objective
                leap = turns.leap(active[0], max_iter - made - 2)
                active[0].leap(leap)
                leaps = bool(leap.history)
                if leap.final is not None and not leap.interrupted and _unwanted(leap.final, unwanted_from):
                    active[0].end_higher(leap.final)
                    tell(Report(turns.name, len(active[0].history) + 1, max_iter, leap.final, 0))
                    return False
            for start, turn in zip(active, turns.advance(active), strict=True):
                start.take(turn)
                if start.done is None and (reason := leap.settled or turn.settled):
                    _settle(turns, start, reason)
            going = [position for position, start in enumerate(active) if start.done is None]
            lowest = min(start.history[-1] for start in active)
            tell(
                Report(turns.name, len(active[0].history), max_iter, None if math.isnan(lowest) else lowest, len(going))
            )
            if leap.interrupted:
                raise KeyboardInterrupt
            turns.go_on(going)
            active = [active[position] for position in going]
    except KeyboardInterrupt:
        for start in active:
            if start.done is None:
                turns.recover(start)
                start.end(False, turns.interrupted_reason.format(n=len(start.history)), interrupted=True)
        return True
    for start in active:
        start.end(False, f"max_iter = {max_iter} reached{start.change}")
    return False


def _unwanted(objective: float, limit: float) -> bool:
    """Whether an objective is not lower than that of another start, or only by rounding."""
    return objective >= limit - 0.5 * TIED * abs(limit)


def _settle(turns: Turns[A], start: Start[A], reason: str) -> None:
    """End at an answer that the solver regards as final, with its objective."""
    start.end(True, reason)
    if start.done is not None and start.done.answer is not None and start.comparable:
        objective = turns.objective(start.done.answer, start)
        if objective is not None:
            start.done = attrs.evolve(start.done, objective=objective)


def solve(turns: Turns[A], start: Start[A], max_iter: int) -> tuple[A, Status]:
    """All turns of a solver with a state of its own.

    Raises
    ------
    KeyboardInterrupt
        If it is pressed before there is any answer.
    """
    iterate(turns, [start], max_iter)
    end = start.done
    if end is None:
        raise KeyboardInterrupt
    assert end.answer is not None
    return end.answer, Status(end.n_iter, end.converged, end.reason, end.history, interrupted=end.interrupted)


def run_starts(
    chunks: Iterable[Callable[[float], tuple[Sequence[Start[Any]] | Ended[Any], bool]]], n_starts: int, told: bool
) -> tuple[list[Ended[Any]], bool]:
    """The starts of a fit one chunk after the other, until Ctrl-C.

    Parameters
    ----------
    chunks : iterable of callable
        Lowest objective so far to the starts that were run, and whether Ctrl-C came.
    n_starts : int
    told : bool
        Whether the end of each start is reported.

    Raises
    ------
    KeyboardInterrupt
        If it is pressed before any start has something to return.
    """
    ends: list[Ended[Any]] = []
    interrupted = False
    comparable: list[float] = []
    for chunk in chunks:
        try:
            starts, interrupted = chunk(min(comparable, default=math.inf))
        except KeyboardInterrupt:
            if not ends:
                raise
            return ends, True
        if isinstance(starts, Ended):
            ends.append(starts)
        else:
            ends += [start.done for start in starts if start.done is not None]
            comparable += [start.done.objective for start in starts if start.done is not None and start.comparable]
        if interrupted:
            if not ends:
                raise KeyboardInterrupt
            return ends, True
        if told and n_starts > 1:
            tell(Report("starts", len(ends), n_starts, ends[-1].objective, n_starts - len(ends)))
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
        Of the samples that they were computed from.
    """
    known = [math.inf if math.isnan(value) else value for value in values]
    least = min(known)
    if math.isinf(least):
        return known.index(least)
    tied = TIED_SINGLE if dtype == np.float32 else TIED
    return next(i for i, value in enumerate(known) if value <= least + tied * abs(least))
