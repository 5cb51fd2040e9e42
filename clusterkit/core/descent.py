"""Iterations of the loop without a table of scores, made by the solver itself.

Without a balancer the loop only needs the column of the largest score of each sample, and a solver such as k-means
finds it for most samples from bounds on distances, without the scores. The last iterations are made in full, so that
the labels that a fit returns are always read from a complete outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

from clusterkit._typing import Labels
from clusterkit.core.coding import Coded

__all__ = ["Descending", "descend"]


@runtime_checkable
class Descending(Protocol):
    """A prepared solver that can make several iterations at once, for labels that are columns of the largest scores.

    Not part of `Prepared`: few solvers can, and the loop asks ``isinstance(prepared, Descending)``. Only for monotone
    solvers: labels cannot come back while the objective falls, so nobody looks out for cycles.
    """

    def turns(self, targets: Coded) -> Iterator[tuple[float, Labels]]:
        """Yield the objective of the labels of one start and the next labels (n,), a fresh array each time.

        The values are those of `solve`, `objective` and argmax up to rounding. The iterator ends before an iteration
        that would change no label, would not lower the objective, or is better made in full.
        """


def descend(
    prepared: Descending, targets: Coded, most: int, report: Callable[[int, float], None]
) -> tuple[Labels, list[float], bool]:
    """Make up to `most` such iterations.

    Parameters
    ----------
    prepared : Descending
    targets : Coded
        Labels of one start.
    most : int
    report : callable
        Called after each iteration with the number of iterations so far and the objective of the labels before it.

    Returns
    -------
    labels : ndarray of shape (n,)
    history : list of float
        Objective of the labels before each iteration.
    interrupted : bool
        Whether Ctrl-C ended the loop early; the labels reached by then are returned.
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
