"""Turns of a solver that learns from no labels, as sums over the rows: fuzzy c-means, matrix factorisation.

Such a solver has a state of its own instead of labels, which is a small function of a row: centres, a basis. A turn
adds up what the rows give under this function, and makes the next one. As for `clusterkit.core.summing`, nothing of the
size of n passes from turn to turn, so that the same parts run in memory and where an engine reads the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, final, runtime_checkable

import attrs

from clusterkit._typing import Array, Rng
from clusterkit.core.namespaces import follows
from clusterkit.core.outcomes import Status
from clusterkit.core.progress import Report, tell
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.summing import RowFunction
from clusterkit.core.sums import Addable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import TypeVar

    PartT = TypeVar("PartT", bound=Addable, default=Any)
else:
    from typing import TypeVar

    PartT = TypeVar("PartT")
    """What a solver adds up."""

__all__ = ["Iterating", "PartOfTurn", "Step", "solve_by_turns"]


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
class PartOfTurn:
    """The part of a block of features in a turn, as an engine sends it."""

    turns: Iterating
    function: RowFunction
    before: RowFunction | None
    weights: Array | None = None

    @property
    def array_api(self) -> bool:
        """Whether sums and functions are computed where the features lie."""
        return follows(self.turns) and follows(self.function) and (self.before is None or follows(self.before))

    def __call__(self, rows: slice, H: Array) -> Addable:
        """What the block adds."""
        weights = None if self.weights is None else self.weights[rows]
        return self.turns.part(H, self.function, self.before, weights)


def solve_by_turns(
    turns: Iterating, space: FeatureSpace, rng: Rng, weights: Array | None = None
) -> tuple[RowFunction, Status]:
    """All turns from a random start, on a space in memory or on one whose rows an engine reads.

    Parameters
    ----------
    turns : Iterating
    space : FeatureSpace
    rng : Generator
        Of the start.
    weights : ndarray of shape (n,) or None
        How much each sample counts.

    Returns
    -------
    (function, status)
        The function of the last turn that was complete; after Ctrl-C too, unless none was.
    """
    function, before, answer = turns.begin(space, rng), None, None
    history: list[float] = []
    try:
        for turn in range(1, turns.max_iter + 1):
            step = turns.finish(space.reduce(PartOfTurn(turns, function, before, weights)), function)
            history.append(step.objective)
            answer = function
            tell(Report(turns.name, turn, turns.max_iter, step.objective))
            if step.settled is not None:
                return function, Status(turn, True, step.settled, tuple(history))
            before, function = function, step.following
    except KeyboardInterrupt:
        if answer is None:
            raise
        reason = f"interrupted after {len(history)} iterations: those so far are kept"
        return answer, Status(len(history), False, reason, tuple(history), interrupted=True)
    assert answer is not None
    reason = f"max_iter = {turns.max_iter} reached{step.change}"
    return answer, Status(len(history), False, reason, tuple(history))
