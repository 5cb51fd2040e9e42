"""How the iterations of a start over rows outside memory ended, or would end now."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, final

import attrs

from clusterkit._typing import Counts
from clusterkit.core.outcomes import Status

if TYPE_CHECKING:
    from clusterkit.core.rows_loop import Decide

__all__ = ["End", "EndsSoFar"]


@final
@attrs.frozen(eq=False)
class End:
    """How the iterations of a start ended.

    Parameters
    ----------
    decide : Decide
        How the labels returned follow from the rows.
    sizes : ndarray of shape (k,) or None
        Their numbers, where they were counted.
    n_iter : int
    converged : bool
    reason : str
    objective : float
        As of a `StartResult`.
    history : tuple of float
        Objective of the labels before each iteration.
    status : Status or None
        Of the turn that the labels were read from.
    interrupted : bool
        Whether Ctrl-C ended it.
    """

    decide: Decide
    sizes: Counts | None
    n_iter: int
    converged: bool
    reason: str
    objective: float
    history: tuple[float, ...]
    status: Status | None
    interrupted: bool = False


@attrs.define(eq=False)
class EndsSoFar:
    """What is known while a start is under way: small, whatever the number of rows."""

    end: End | None = None
    best: End | None = None
    history: list[float] = attrs.field(factory=list)

    def ended(self, converged: bool, reason: str, interrupted: bool = False) -> End:
        """The labels read last if they are final, else those of the lowest objective that is known."""
        last = self.history[-1] if self.history else math.nan
        if converged and not math.isfinite(last):
            converged, reason = False, f"{reason}; but the objective is {last}, out of the range of numbers"
        answer = self.end if converged or self.best is None else self.best
        assert answer is not None
        return attrs.evolve(
            answer,
            n_iter=len(self.history),
            converged=converged,
            reason=reason,
            objective=last if converged or self.best is None else self.best.objective,
            history=tuple(self.history),
            interrupted=interrupted,
        )
