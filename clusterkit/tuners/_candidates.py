"""Fits of an ``edsvc`` search: solve and label pairs (gamma, C), each independent of all others."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias, final

import attrs
import numpy as np

from clusterkit._typing import Labels, Rng
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.outcomes import Domain, KernelDomain, Outcome
from clusterkit.core.progress import Report, tell
from clusterkit.core.spaces import KernelSpace, Space
from clusterkit.core.stages import Labeler, Prepared, Resumable, Solver, Task

__all__ = ["CandidateFit", "CandidateGroup", "CandidateRuns"]

CandidateGroup: TypeAlias = tuple[float | None, Sequence[float]]
"""A bandwidth, or None for the bandwidth of the space, and the bounds to try with it."""


@final
@attrs.frozen(eq=False)
class CandidateFit:
    """A fitted candidate.

    Parameters
    ----------
    gamma, C : float
    labels : ndarray of shape (n,)
        -1 is noise.
    n_bounded : int
        Rows whose weight is at the bound; -1 where the solver does not report them.
    """

    gamma: float
    C: float
    labels: Labels
    n_bounded: int

    @property
    def n_clusters(self) -> int:
        """Number of clusters; noise is not one."""
        return int(self.labels.max(initial=-1)) + 1


@final
@attrs.frozen(eq=False)
class CandidateRuns:
    """The stages bound to the rows, ready to fit candidates.

    Parameters
    ----------
    space : Space
        The space of the rows; its bandwidth is replaced where a candidate has one of its own.
    solver : Solver
        Without the bound that is searched, or as it is to be used.
    labeler : Labeler
    workers : int
        Number of threads.
    warm_start : bool
        Whether bounds below 1 start from the solution at bound 1, and those above its largest weight reuse it.
    seed : int
        Seed of the random stream of every candidate. Each candidate starts a fresh stream, so its result does not
        depend on the order.
    labels_of : callable or None
        Function that labels all domains of these rows; None: the labeler, one domain at a time.
    """

    space: Space
    solver: Solver
    labeler: Labeler
    workers: int
    warm_start: bool
    seed: int
    labels_of: Callable[[Any], Labels] | None

    @classmethod
    def of(
        cls, space: Space, solver: Solver, labeler: Labeler, workers: int, warm_start: bool, seed: int
    ) -> CandidateRuns:
        """Bind the stages to the rows, with whatever can be computed once for all candidates."""
        labels_of_domains = getattr(labeler, "labels_of_domains", None)
        labels_of = None if labels_of_domains is None else labels_of_domains(space)
        return cls(space, solver, labeler, workers, warm_start, seed, labels_of)

    def over(self, groups: Sequence[CandidateGroup], stage: str) -> Iterator[list[CandidateFit]]:
        """Fit the candidates of each group, in the order of the groups; `stage` names the progress reports.

        The bounds of a group share the solution at bound 1. A bound of nan leaves the solver as it is.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClusterkitWarning)  # a failing candidate shows in its score
            if self.workers == 1 or len(groups) == 1:
                for done, (gamma, bounds) in enumerate(groups):
                    yield self._fit_group(gamma, bounds)
                    tell(Report(stage, done + 1, len(groups)))
                return
            with ThreadPoolExecutor(self.workers) as pool:
                jobs = [pool.submit(self._fit_group, gamma, bounds) for gamma, bounds in groups]
                try:
                    for done, job in enumerate(jobs):
                        yield job.result()
                        tell(Report(stage, done + 1, len(groups)))
                finally:
                    for job in jobs:
                        job.cancel()

    def _fit_group(self, gamma: float | None, bounds: Sequence[float]) -> list[CandidateFit]:
        space = self.space
        if gamma is not None:
            assert isinstance(space, KernelSpace)
            space = space.rescaled(gamma)
        width = getattr(getattr(space, "kernel", None), "gamma", math.nan)
        shared = len(bounds) > 1 or (self.warm_start and bounds[0] != 1.0)
        free = FreeSolution.of(self, space) if shared else None
        fits: list[CandidateFit] = []
        free_labels: tuple[Labels, int] | None = None
        for C in bounds:
            if free is not None and free.solves(C):
                if free_labels is None:
                    free_labels = self._labels(free.outcome, space), _n_bounded(free.outcome)
                labels, n_bounded = free_labels
            else:
                outcome = self._solve(space, C, free)
                labels, n_bounded = self._labels(outcome, space), _n_bounded(outcome)
            fits.append(CandidateFit(float(width), C, labels, n_bounded))
        return fits

    def _solve(self, space: Space, C: float, free: FreeSolution | None) -> Outcome:
        solver = self.solver if math.isnan(C) else self.solver.with_parameters(C=C)
        if free is not None:
            return _uninterrupted(free.prepared.resolve(solver, free.outcome))
        return _uninterrupted(self.prepared(solver, space).solve(None, None, self.rng()))

    def prepared(self, solver: Solver, space: Space) -> Prepared:
        """The solver bound to a space."""
        return solver.prepare(space, Task(space.n, None), self.rng())

    def rng(self) -> Rng:
        """A fresh random stream of a candidate."""
        return np.random.default_rng(self.seed)

    def _labels(self, outcome: Outcome, space: Space) -> Labels:
        if self.labels_of is not None:
            return self.labels_of(outcome)
        return self.labeler.label(outcome, space, Task(space.n, None), self.rng()).labels


@final
@attrs.frozen(eq=False)
class FreeSolution:
    """The solution at bound 1, where no weight is bounded, from which smaller bounds of the same bandwidth start.

    Parameters
    ----------
    prepared : Resumable
        The solver bound to the space.
    outcome : Outcome
        The solution at bound 1.
    largest_weight : float
        Bounds from this weight on change nothing; inf where that does not hold for the solver.
    """

    prepared: Resumable
    outcome: Outcome
    largest_weight: float

    @classmethod
    def of(cls, runs: CandidateRuns, space: Space) -> FreeSolution | None:
        """Solve at bound 1; None without warm starts, or for a solver that has no bound or cannot resume."""
        if not runs.warm_start or "C" not in runs.solver.parameters():
            return None
        solver = runs.solver.with_parameters(C=1.0)
        prepared = runs.prepared(solver, space)
        if not isinstance(prepared, Resumable):
            return None
        outcome = _uninterrupted(prepared.solve(None, None, runs.rng()))
        # The dual of svdd with equal weights is convex with one solution, inside all bounds above its largest weight:
        # such a bound changes nothing. For other problems this need not hold.
        plain = solver.name == "svdd" and solver.parameters().get("weights") is None
        largest = float(outcome.weights.max()) if plain and isinstance(outcome, KernelDomain) else math.inf
        return cls(prepared, outcome, largest)

    def solves(self, C: float) -> bool:
        """Whether this is also the solution at bound C."""
        return C == 1.0 or self.largest_weight <= C


def _n_bounded(outcome: Outcome) -> int:
    counts = outcome.support_counts if isinstance(outcome, Domain) else None
    return -1 if counts is None or counts.n_bounded is None else counts.n_bounded


def _uninterrupted(outcome: Outcome) -> Outcome:
    """The outcome; raises KeyboardInterrupt if Ctrl-C ended the solver early."""
    if outcome.status is not None and outcome.status.interrupted:
        raise KeyboardInterrupt
    return outcome
