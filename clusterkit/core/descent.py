"""Iterations of the loop without a table of scores, made by the solver itself.

Without a balancer the loop only needs the column of the largest score of each sample, and a solver such as k-means
finds it for most samples from bounds on distances, without the scores. A solver whose turns are sums (`core.summing`)
reads the labels of a block and adds them up in the same pass, which halves the passes. The last iterations are made in
full, so that the labels that a fit returns are always read from a complete outcome.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import Protocol, final, runtime_checkable

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core.coding import Coded
from clusterkit.core.stages import Codec
from clusterkit.core.summing import BySums, Finished, RowFunction, Summing, solve_by_sums
from clusterkit.core.sums import Addable

__all__ = ["Descending", "OnePass", "descend"]

SMALLEST_DECREASE = 1e-12
"""Objectives whose relative difference is smaller are equal up to rounding."""


@runtime_checkable
class Descending(Protocol):
    """A prepared solver that can make several iterations at once, for labels that are columns of the largest scores.

    Not part of `Prepared`: few solvers can, and the loop asks ``isinstance(prepared, Descending)``. Only for monotone
    solvers: labels cannot come back while the objective falls, so nobody looks out for cycles.
    """

    def turns(self, targets: Coded) -> Generator[tuple[float, Labels], None, str | float | None]:
        """Yield the objective of the labels of one start and the next labels (n,), a fresh array each time.

        The values are those of `solve`, `objective` and argmax up to rounding. The generator ends before an iteration
        that would change no label, would not lower the objective, or is better made in full. It returns the reason if
        that iteration is the last one by a tolerance of the solver, the objective of the labels if it would change none
        of them, and None otherwise.
        """


def descend(
    prepared: Descending, targets: Coded, most: int, report: Callable[[int, float], None]
) -> tuple[Labels, list[float], bool, str | float | None]:
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
    settled : str, float or None
        Why the next iteration, made in full, is the last one; the objective of the labels if it changes none of them;
        None if it need not be the last.
    """
    labels: Labels = targets.labels[0]
    history: list[float] = []
    settled: str | float | None = None
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


@final
@attrs.frozen(eq=False)
class OnePass:
    """Iterations of a solver by sums in one pass each: the labels of a block are read and added up while it is there.

    Labels and objectives are those of full iterations, bit for bit.

    Parameters
    ----------
    prepared : BySums
    codec : Codec
        One whose labels are read row by row (`Codec.rowwise`).
    """

    prepared: BySums
    codec: Codec

    def turns(self, targets: Coded) -> Generator[tuple[float, Labels], None, str | None]:
        """As of `Descending`, for the labels of one start."""
        summing, space = self.prepared.summing, self.prepared.space
        labels, last = targets.labels[0], math.inf
        finished = solve_by_sums(summing, space, targets)
        while True:
            objective = float(finished.objective[0])
            if not objective < last * (1.0 - SMALLEST_DECREASE):
                return None
            following = np.empty(space.n, dtype=np.intp)
            total = space.reduce(_Relabelled(summing, finished.extend, self.codec, targets, following))
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
class _Relabelled:
    """The part of a block whose labels are read from the scores of the turn before, and written down."""

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
