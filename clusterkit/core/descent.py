"""Iterations of the loop without a table of scores, made by the solver itself.

Without a balancer the loop only needs the column of the largest score of each sample, and a solver such as k-means
finds it for most samples from bounds on distances, without the scores. The last iterations are made in full, so that
the labels that a fit returns are always read from a complete outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
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

    def turns(self, targets: Coded) -> Generator[tuple[float, Labels], None, str | None]:
        """Yield the objective of the labels of one start and the next labels (n,), a fresh array each time.

        The values are those of `solve`, `objective` and argmax up to rounding. The generator ends before an iteration
        that would change no label, would not lower the objective, or is better made in full. It returns the reason if
        that iteration is the last one by a tolerance of the solver, else None.
        """


def descend(
    prepared: Descending, targets: Coded, most: int, report: Callable[[int, float], None]
) -> tuple[Labels, list[float], bool, str | None]:
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
    settled : str or None
        Why the next iteration, made in full, is the last one; None if it need not be.
    """
    labels: Labels = targets.labels[0]
    history: list[float] = []
    settled: str | None = None
    try:
        if most > 0:
            turns = prepared.turns(targets)
            while True:
                # one iteration more than are taken: only the generator knows whether the next one would be the last
                try:
                    objective, following = next(turns)
                except StopIteration as end:
                    settled = end.value
                    break
                if len(history) == most:
                    break
                labels = following
                history.append(objective)
                report(len(history), objective)
    except KeyboardInterrupt:
        return labels, history, True, None
    return labels, history, False, settled
