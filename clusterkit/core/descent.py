"""Turns of the loop that need no table of scores: a solver makes them itself, and the loop takes over at the end.

Without a balancer the loop only wants to know which score is largest, and a solver such as k-means knows that of most
samples without their scores. The labels that a fit returns are always read from a complete outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

from clusterkit._typing import Labels
from clusterkit.core.coding import Coded

__all__ = ["Descending", "descend"]


@runtime_checkable
class Descending(Protocol):
    """A prepared solver that can make several turns at once, where labels are the columns of the largest scores.

    Not part of `Prepared`: few solvers can, and the loop asks ``isinstance(prepared, Descending)``. Only for monotone
    solvers: labels cannot come back while the objective falls, so nobody looks out for cycles.
    """

    def turns(self, targets: Coded) -> Iterator[tuple[float, Labels]]:
        """Turn by turn from the labels of one start: their objective, and new labels (n,), a fresh array each time.

        Up to rounding what `solve`, `objective` and argmax give. It ends before a turn that would change no label,
        would not lower the objective, or is better made in full.
        """


def descend(
    prepared: Descending, targets: Coded, most: int, report: Callable[[int, float], None]
) -> tuple[Labels, list[float], bool]:
    """Make up to `most` such turns.

    Parameters
    ----------
    prepared : Descending
    targets : Coded
        Labels of one start.
    most : int
    report : callable
        Called after each turn with their number so far and the objective of the labels it began with.

    Returns
    -------
    labels : ndarray of shape (n,)
    history : list of float
        Objective of the labels entering each turn made.
    interrupted : bool
        Whether Ctrl-C came in between; what was reached by then is returned.
    """
    labels: Labels = targets.labels[0]
    history: list[float] = []
    try:
        if most > 0:
            for objective, following in prepared.turns(targets):
                labels = following
                history.append(objective)
                report(len(history), objective)
                if len(history) == most:
                    break
    except KeyboardInterrupt:
        return labels, history, True
    return labels, history, False
