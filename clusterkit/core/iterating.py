"""Turns of a solver that learns from no labels, as sums over the rows: fuzzy c-means, matrix factorisation.

Such a solver has a state of its own instead of labels, which is a small function of a row: centres, a basis. A turn
adds up what the rows give under this function, and makes the next one. As for `clusterkit.core.summing`, nothing of the
size of n passes from turn to turn, so that the same parts run in memory and where an engine reads the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast, final, runtime_checkable

import attrs

from clusterkit._typing import Array, Rng
from clusterkit.core.errors import InvalidParameter
from clusterkit.core.iteration import Start, Turn, Turns, solve
from clusterkit.core.namespaces import BlockFunction
from clusterkit.core.outcomes import Ending, Status
from clusterkit.core.rows import Rows
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.summing import RowFunction
from clusterkit.core.sums import Addable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from typing_extensions import TypeVar

    PartT = TypeVar("PartT", bound=Addable, default=Any)
else:
    from typing import TypeVar

    PartT = TypeVar("PartT")
    """What a solver adds up."""

__all__ = ["Iterating", "PartOfTurn", "Step", "Stored", "Storing", "solve_by_turns"]


@final
@attrs.frozen(eq=False)
class Step:
    """What a turn leaves behind.

    Parameters
    ----------
    following : RowFunction
        The function of the next turn.
    objective : float
        Of the function that was added up.
    settled : str or None
        Why that function is the answer; None to go on.
    change : str
        How far the turn was from that, in words, for the case that there is no further one.
    """

    following: RowFunction
    objective: float
    settled: str | None = None
    change: str = ""


@runtime_checkable
class Iterating(Protocol[PartT]):
    """The turns of a solver that learns from no labels: frozen, small and picklable, as `Summing`."""

    @property
    def name(self) -> str:
        """For reports of progress."""

    @property
    def k(self) -> int:
        """Columns of the scores."""

    @property
    def max_iter(self) -> int:
        """Most turns."""

    @property
    def resolved(self) -> Mapping[str, object]:
        """Parameters that were decided on the way, for `resolved_`."""

    def begin(self, space: FeatureSpace, rng: Rng) -> RowFunction:
        """The first function; the samples are read by ``space.reduce`` and by single rows."""

    def part(self, H: Array, function: RowFunction, before: RowFunction | None, weights: Array | None) -> PartT:
        """What a block adds under a function, and under the one before it, if it is needed; nothing without rows.

        Parameters
        ----------
        H : array of shape (b, L)
        function, before : RowFunction
            `before` is None in the first turn.
        weights : ndarray of shape (b,) or None
            How much each row counts.
        """

    def finish(self, total: PartT, function: RowFunction) -> Step:
        """The end of a turn from the sum of all parts."""


@final
@attrs.frozen(eq=False)
class Stored:
    """What the turns of `Storing` leave behind.

    Parameters
    ----------
    scores : Rows
        Scores of the samples, where they are stored, in one scale.
    rows : Rows
        The same as the solver has them, which `scale` would bring to one scale.
    extend : RowFunction
        Scores of new rows.
    scale : ndarray of shape (q,)
        Factors that bring the columns of `extend` to one scale.
    """

    scores: Rows
    rows: Rows
    extend: RowFunction
    scale: Array


@runtime_checkable
class Storing(Protocol):
    """Turns that are `Iterating` and keep numbers of every row, where a turn needs those of the turn before.

    What is stored is whole after every turn: a fit that was interrupted, or killed where it is stored in a file, goes
    on from the last complete one.
    """

    def part_of(self, rows: slice, H: Array, function: RowFunction) -> Addable:
        """What a block adds, in the place of `part`; its numbers are read, and those of this turn are written.

        The same block may be computed again, or twice at once: what was stored by the turn before stays until the turn
        is finished.
        """

    def last(self, function: RowFunction) -> tuple[tuple[float, ...], Step] | None:
        """The objectives of all turns that led to a function and the end of the last one; None if there was none."""

    def latest(self, function: RowFunction) -> RowFunction:
        """The function of the last turn that is stored, of the fit that led to `function`."""

    def stored(self, function: RowFunction) -> Stored:
        """The scores of all samples, and of new ones, by the last turn."""

    def release(self) -> None:
        """Let other fits use the files, which `begin` has kept for this one; when the labels have been read."""


@final
@attrs.frozen(eq=False)
class PartOfTurn(BlockFunction):
    """The part of a block of features in a turn, as an engine sends it."""

    turns: Iterating
    function: RowFunction
    before: RowFunction | None
    weights: Array | None = None

    def __call__(self, rows: slice, H: Array) -> Addable:
        """What the block adds."""
        if isinstance(self.turns, Storing):
            return self.turns.part_of(rows, H, self.function)
        weights = None if self.weights is None else self.weights[rows]
        return self.turns.part(H, self.function, self.before, weights)


@attrs.frozen(eq=False)
class StateTurns(Turns[RowFunction]):
    """Turns of a solver with a state of its own, on a space in memory or on one whose rows an engine reads.

    Parameters
    ----------
    turns : Iterating
    space : FeatureSpace
    weights : ndarray of shape (n,) or None
        How much each sample counts.
    """

    turns: Iterating
    space: FeatureSpace
    weights: Array | None = None

    sentences: ClassVar[Mapping[Ending, str]] = {
        Ending.INTERRUPTED: "interrupted after {n} iterations: those so far are kept"
    }

    @property
    def name(self) -> str:  # type: ignore[override] # a property for a class attribute
        """That of the solver."""
        return self.turns.name

    def begin(self, rng: Rng) -> Start[RowFunction]:
        """A start, which may have been interrupted before."""
        function = self.turns.begin(self.space, rng)
        start: Start[RowFunction] = Start(0, (function, None), keeps_best=False)
        self._go_on(start, function)
        made, most = start.n_iter, self.turns.max_iter
        if made > most:
            raise InvalidParameter(
                f"the checkpoint of '{self.name}' holds {made} iterations, more than max_iter = {most}, and only the "
                f"last one is stored. Set max_iter to {made} or more, or give another folder"
            )
        return start

    def advance(self, active: list[Start[RowFunction]]) -> Iterator[Turn[RowFunction]]:
        """One pass."""
        [start] = active
        function, before = cast("tuple[RowFunction, RowFunction | None]", start.state)
        step = self.turns.finish(self.space.reduce(PartOfTurn(self.turns, function, before, self.weights)), function)
        start.judge(step.objective)
        # what is stored belongs to the function that was made of it
        answer = step.following if isinstance(self.turns, Storing) else function
        ending = None if step.settled is None else Ending.SETTLED
        yield Turn(answer, (step.following, function), ending, step.settled or step.change)

    def recover(self, start: Start[RowFunction]) -> None:
        """What is stored is the last turn that was complete."""
        if isinstance(self.turns, Storing):
            self._go_on(start, self.turns.latest(cast("tuple[RowFunction, RowFunction | None]", start.state)[0]))

    def _go_on(self, start: Start[RowFunction], function: RowFunction) -> None:
        """Take up what is stored of a fit that led to a function."""
        if isinstance(self.turns, Storing) and (earlier := self.turns.last(function)) is not None:
            history, step = earlier
            start.history, start.answer, start.detail = [*history], function, step.change
            start.n_iter = len(history)
            if step.settled is not None:
                start.end(Ending.SETTLED, step.settled)


def solve_by_turns(
    turns: Iterating, space: FeatureSpace, rng: Rng, weights: Array | None = None
) -> tuple[RowFunction, Status]:
    """All turns from a random start.

    Returns
    -------
    (function, status)
        The function of the last turn that was complete; after Ctrl-C too, unless none was.

    Raises
    ------
    InvalidParameter
        If more turns than `max_iter` are stored.
    """
    run = StateTurns(turns, space, weights)
    return solve(run, run.begin(rng), turns.max_iter)
