"""The starts of a loop over labels: how far each is, and how it ended."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core.outcomes import Outcome
from clusterkit.core.stages import Predict

__all__ = ["BalancedLabeling", "Start", "StartResult", "first_least"]


TIED, TIED_SINGLE = 1e-10, 1e-5
"""Relative differences up to which objectives of float64 and of float32 samples count as equal: far above the rounding
of their sums, far below what tells starts apart."""


@attrs.frozen(eq=False)
class BalancedLabeling:
    """Labels after the balancer, with what they were read from.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    outcome : Outcome
    predict : callable or None
    exact : bool
        Whether predicting the training rows gives the labels.
    interrupted : bool
        Whether Ctrl-C ended the labeling early.
    facts : mapping
        What the balancer reported about the labels.
    memberships : ndarray of shape (n, k) or None
        As the labeler gave them: a balancer changes labels, not memberships.
    outlier_scores : ndarray of shape (n,) or None
        As the labeler gave them.
    probabilities : ndarray of shape (n,) or None
        As the labeler gave them.
    labeler_facts : mapping
        What the labeler reported.
    """

    labels: Labels
    outcome: Outcome
    predict: Predict | None
    exact: bool
    interrupted: bool = False
    facts: Mapping[str, object] = attrs.field(factory=dict)
    memberships: Array | None = None
    outlier_scores: Array | None = None
    probabilities: Array | None = None
    labeler_facts: Mapping[str, object] = attrs.field(factory=dict)


@attrs.frozen(eq=False)
class StartResult:
    """How one start ended.

    Parameters
    ----------
    labeling : BalancedLabeling or None
        None for a start that ended no lower than one before it, of which nothing but the objective is wanted.
    n_iter : int
    converged : bool
    reason : str
    objective : float
        Objective of the labels returned, or of the labels before them if only one iteration was allowed; nan if the
        solver has no objective.
    history : tuple of float
        Objective of the labels before each iteration.
    index : int
        Which start.
    """

    labeling: BalancedLabeling | None
    n_iter: int
    converged: bool
    reason: str
    objective: float
    history: tuple[float, ...]
    index: int = 0


@attrs.define(eq=False)
class Start:
    """A start under way."""

    index: int
    labels: Labels
    labeling: BalancedLabeling | None = None
    best: BalancedLabeling | None = None
    best_objective: float = math.inf
    history: list[float] = attrs.field(factory=list)
    seen: set[bytes] = attrs.field(factory=set)
    turns: int = 0
    done: StartResult | None = None
    comparable: bool = False

    def finish_higher(self, objective: float) -> None:
        """End at labels that the next turn would not change, which are not wanted: another start has ended lower."""
        self.comparable = True
        history = (*self.history, objective)
        self.done = StartResult(
            None, self.turns + 1, True, "converged: labels no longer change", objective, history, self.index
        )

    def finish(self, converged: bool, reason: str) -> None:
        """End here: with the fixed point, or with the best labels whose objective is known.

        A start without labels stays open.
        """
        last = self.history[-1] if self.history else math.nan
        if converged and self.comparable and not math.isfinite(last):
            converged, reason = False, f"{reason}; but the objective is {last}, out of the range of numbers"
        balanced = self.labeling if converged or self.best is None else self.best
        if balanced is None:
            return
        objective = last if converged or self.best is None else self.best_objective
        self.done = StartResult(balanced, self.turns, converged, reason, objective, tuple(self.history), self.index)


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
