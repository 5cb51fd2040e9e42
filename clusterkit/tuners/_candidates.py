"""Runs of the stages over widths and bounds, each independent of all others, and what they gave."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.outcomes import KernelDomain, Outcome
from clusterkit.core.progress import Report, tell
from clusterkit.core.spaces import KernelSpace, Space
from clusterkit.core.stages import Labeler, Prepared, Resumable, Solver, Task

__all__ = ["Candidate", "Curves", "Runs"]


@attrs.frozen(eq=False)
class Candidate:
    """A run: its parameters, labels (n,) and number of samples at the bound (-1 where the solver does not tell)."""

    gamma: float
    C: float
    labels: Labels
    n_bounded: int

    @property
    def n_clusters(self) -> int:
        """Clusters; noise is none."""
        return int(self.labels.max(initial=-1)) + 1


@final
@attrs.frozen(eq=False)
class Curves:
    """All candidates of a search with their scores, in the order of the search; arrays of shape (t,).

    Parameters
    ----------
    step : ndarray of int
        0 for a width at the first bound, 1 for a bound at the chosen width, 2 for a point of the plane.
    gamma, C : ndarray
        `C` is nan where a given `nu` or `C` was used for all. For a sample of the rows it is that of the sample.
    score : ndarray
    n_clusters : ndarray of int
    n_bounded : ndarray of int
        Samples at the bound; -1 where the solver does not tell.
    qualified : ndarray of bool
        Whether the number of clusters was allowed to win.
    chosen : int
        The winner; -1 if none qualified.
    singletons : float
        The score of every sample alone.
    measure : str
    """

    step: Array
    gamma: Array
    C: Array
    score: Array
    n_clusters: Array
    n_bounded: Array
    qualified: Array
    chosen: int
    singletons: float
    measure: str

    def __repr__(self) -> str:
        return f"<{len(self.gamma)} candidates, see clusterkit.plots.edsvc_curves>"

    def __len__(self) -> int:
        """Number of candidates."""
        return len(self.gamma)

    def tolist(self) -> list[dict[str, Any]]:
        """A dictionary for each candidate, of plain numbers."""
        names = ("step", "gamma", "C", "score", "n_clusters", "n_bounded", "qualified")
        columns = [getattr(self, name).tolist() for name in names]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


@final
@attrs.frozen(eq=False)
class Runs:
    """What is needed to run candidates.

    Parameters
    ----------
    space : Space
        Of the samples; its width does not matter where another one is asked for.
    solver : Solver
        Without the bound that is searched, or as it is to be used.
    labeler : Labeler
    workers : int
        Threads.
    warm : bool
        Whether bounds start from the solution without one, and those above its largest weight are not solved.
    seed : int
        A candidate has a stream of its own, so that none depends on the order.
    labels_of : callable or None
        What labels all domains of these samples; None: the labeler, one domain at a time.
    """

    space: Space
    solver: Solver
    labeler: Labeler
    workers: int
    warm: bool
    seed: int
    labels_of: Callable[[Any], Labels] | None

    @classmethod
    def of(cls, space: Space, solver: Solver, labeler: Labeler, workers: int, warm: bool, seed: int) -> Runs:
        """Bound to the samples, with whatever can be computed once for all candidates."""
        labels_of_domains = getattr(labeler, "labels_of_domains", None)
        labels_of = None if labels_of_domains is None else labels_of_domains(space)
        return cls(space, solver, labeler, workers, warm, seed, labels_of)

    def over(self, cells: Sequence[tuple[float | None, Sequence[float]]], stage: str) -> Iterator[list[Candidate]]:
        """The candidates of each cell, a width (None: that of the space) with some bounds, in the order of the cells.

        The bounds of a cell share the first solution. A bound of nan leaves the solver as it is.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClusterkitWarning)  # a run that fails is judged by what it gives
            if self.workers == 1 or len(cells) == 1:
                for done, (gamma, bounds) in enumerate(cells):
                    yield self._cell(gamma, bounds)
                    tell(Report(stage, done + 1, len(cells)))
                return
            with ThreadPoolExecutor(self.workers) as pool:
                jobs = [pool.submit(self._cell, gamma, bounds) for gamma, bounds in cells]
                try:
                    for done, job in enumerate(jobs):
                        yield job.result()
                        tell(Report(stage, done + 1, len(cells)))
                finally:
                    for job in jobs:
                        job.cancel()

    def _cell(self, gamma: float | None, bounds: Sequence[float]) -> list[Candidate]:
        space = self.space
        if gamma is not None:
            assert isinstance(space, KernelSpace)
            space = space.rescaled(gamma)
        width = getattr(getattr(space, "kernel", None), "gamma", math.nan)
        first = _First.of(self, space) if len(bounds) > 1 or (self.warm and bounds[0] != 1.0) else None
        found: list[Candidate] = []
        reused: tuple[Labels, int] | None = None
        for C in bounds:
            if first is not None and first.same(C):
                if reused is None:
                    reused = self._labels(first.outcome, space), _bounded(first.outcome)
                labels, n_bounded = reused
            else:
                outcome = self._solve(space, C, first)
                labels, n_bounded = self._labels(outcome, space), _bounded(outcome)
            found.append(Candidate(float(width), C, labels, n_bounded))
        return found

    def _solve(self, space: Space, C: float, first: _First | None) -> Outcome:
        solver = self.solver if math.isnan(C) else self.solver.with_parameters(C=C)
        if first is not None and first.resumes:
            assert isinstance(first.prepared, Resumable)
            return _ended(first.prepared.resolve(solver, first.outcome))
        return _ended(self.prepared(solver, space).solve(None, None, self.rng()))

    def prepared(self, solver: Solver, space: Space) -> Prepared:
        """A solver bound to a space."""
        return solver.prepare(space, Task(space.n, None), self.rng())

    def rng(self) -> np.random.Generator:
        """The stream of a candidate."""
        return np.random.default_rng(self.seed)

    def _labels(self, outcome: Outcome, space: Space) -> Labels:
        if self.labels_of is not None:
            return self.labels_of(outcome)
        return self.labeler.label(outcome, space, Task(space.n, None), self.rng()).labels


@final
@attrs.frozen(eq=False)
class _First:
    """The solution at bound 1, where the others of a width start, and what follows from it for them."""

    prepared: Prepared
    outcome: Outcome
    resumes: bool
    most: float

    @classmethod
    def of(cls, runs: Runs, space: Space) -> _First | None:
        if not runs.warm or "C" not in runs.solver.parameters():
            return None
        solver = runs.solver.with_parameters(C=1.0)
        prepared = runs.prepared(solver, space)
        if not isinstance(prepared, Resumable):
            return None
        outcome = _ended(prepared.solve(None, None, runs.rng()))
        # only in this problem a bound that no weight reaches changes nothing: the minimum lies inside, and is one
        plain = solver.name == "svdd" and solver.parameters().get("weights") is None
        most = float(outcome.weights.max()) if plain and isinstance(outcome, KernelDomain) else math.inf
        return cls(prepared, outcome, True, most)

    def same(self, C: float) -> bool:
        """Whether the solution at this bound is the one at hand."""
        return C == 1.0 or self.most <= C


def _bounded(outcome: Outcome) -> int:
    return -1 if outcome.status is None else int(outcome.status.facts.get("n_bsv", -1))


def _ended(outcome: Outcome) -> Outcome:
    """The outcome, unless Ctrl-C ended it before it was one."""
    if outcome.status is not None and outcome.status.interrupted:
        raise KeyboardInterrupt
    return outcome
