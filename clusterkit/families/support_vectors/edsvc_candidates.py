"""The candidates of an ``edsvc`` search: their fits, their agreement with an ensemble, and the table of them.

A fit solves and labels one pair (gamma, C), independently of all others (`CandidateRuns`). `Agreement` compares
hundreds of labellings of the same samples with an ensemble. `EdSvcCurves` is the table for reports and plots.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels, Mask, Rng
from clusterkit.contracts import Labeler, Prepared, Resumable, Solver, Task
from clusterkit.contracts.outcomes import Domain, KernelDomain, Outcome
from clusterkit.errors import ClusterkitWarning
from clusterkit.numerics.shapes import array, scalar
from clusterkit.samples import KernelSpace, Space
from clusterkit.samples.limits import Report, notify

__all__ = [
    "BOUND_STEP",
    "COLUMNS",
    "CURVES",
    "GRID_STEP",
    "WIDTH_STEP",
    "Agreement",
    "CandidateFit",
    "CandidateGroup",
    "CandidateRuns",
    "EdSvcCurves",
]


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
    """

    space: Space
    solver: Solver
    labeler: Labeler
    workers: int
    warm_start: bool
    seed: int

    def over(self, groups: Sequence[CandidateGroup], stage: str) -> Iterator[list[CandidateFit]]:
        """Fit the candidates of each group, in the order of the groups; `stage` names the progress reports.

        The bounds of a group share the solution at bound 1. A bound of nan leaves the solver as it is.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClusterkitWarning)  # a failing candidate shows in its score
            if self.workers == 1 or len(groups) == 1:
                for done, (gamma, bounds) in enumerate(groups):
                    yield self._fit_group(gamma, bounds)
                    notify(Report(stage, done + 1, len(groups)))
                return
            with ThreadPoolExecutor(self.workers) as pool:
                jobs = [pool.submit(self._fit_group, gamma, bounds) for gamma, bounds in groups]
                try:
                    for done, job in enumerate(jobs):
                        yield job.result()
                        notify(Report(stage, done + 1, len(groups)))
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


TIE = 1e-12
"""Scores that differ by less are equal: the order of a sum changes them by about this much."""


@final
@attrs.define(eq=False)
class Agreement:
    """Mean agreement of a partition with M labellings of n samples; equal partitions are scored once.

    ``NMI = I / √(H H')`` and ``AMI = (I - E I) / (√(H H') - E I)`` with the mutual information I, the entropies H and
    H', and the expectation E over random partitions with the same cluster sizes. Two trivial partitions (one cluster)
    agree fully, a trivial and a nontrivial one not at all. NMI equals `clusterkit.metrics.anmi`, but one table of
    counts serves all members. AMI is 0 where chance alone shares all the information (all samples apart).

    O(n M) time for a partition of k clusters, and O(k Σ k_m) for its table.

    Parameters
    ----------
    members : ndarray of shape (M, n), int
    measure : {"nmi", "ami"}
    """

    members: Labels
    measure: str
    _codes: Labels = attrs.field(init=False)
    _owner: Indices = attrs.field(init=False)
    _entropies: Array = attrs.field(init=False)
    _logs: Array = attrs.field(init=False)
    _factorials: Array = attrs.field(init=False)
    _known: dict[bytes, float] = attrs.field(init=False, factory=dict)
    _chances: dict[int, Array] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        numbered = [np.unique(member, return_inverse=True)[1] for member in self.members]
        sizes = [int(member.max()) + 1 for member in numbered]
        self._codes = np.stack(numbered) + np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)[:, None]
        self._owner = np.repeat(np.arange(len(sizes)), sizes)
        n = self.members.shape[1]
        counts = np.arange(n + 1, dtype=np.float64)
        counts[0] = 1.0
        self._logs = np.arange(n + 1) * np.log(counts)
        self._factorials = np.cumsum(np.log(counts))  # log n!
        self._entropies = math.log(n) - self._sums(np.bincount(self._codes.reshape(-1), minlength=len(self._owner))) / n

    def __len__(self) -> int:
        """Number of different partitions scored."""
        return len(self._known)

    def score(self, labels: Labels) -> float:
        """Mean over the members, in [0, 1] for NMI; labels (n,) in order of first appearance, -1 is a cluster."""
        key = np.ascontiguousarray(labels, dtype=np.int32).tobytes()
        if key not in self._known:
            values = self._nmi(labels) if self.measure == "nmi" else self._ami(labels)
            # fsum rounds correctly, so the order of the members does not matter
            self._known[key] = math.fsum(values.tolist()) / len(self.members)
        return self._known[key]

    def singletons(self) -> float:
        """Score of the partition in which every sample is alone: the level that a shattered partition has by chance."""
        return self.score(np.arange(self.members.shape[1]))

    def _sums(self, table: Counts) -> Array:
        """``Σ T log T`` of each member over the columns of its clusters, (M,)."""
        terms = self._logs[table]
        summands = terms if terms.ndim == 1 else terms.sum(axis=0)
        return cast("Array", np.bincount(self._owner, summands, minlength=len(self.members)))

    def _information(self, labels: Labels) -> tuple[Array, float, Counts]:
        """Mutual information with each member (M,), entropy of the labels, and their cluster sizes."""
        n, wide = len(labels), len(self._owner)
        codes = np.unique(labels, return_inverse=True)[1]
        sizes = np.bincount(codes)
        cells = np.bincount((codes * wide + self._codes).reshape(-1), minlength=len(sizes) * wide)
        entropy = math.log(n) - float(self._logs[sizes].sum()) / n
        joint = math.log(n) - self._sums(cells.reshape(len(sizes), wide)) / n
        return np.maximum(entropy + self._entropies - joint, 0.0), entropy, sizes

    def _nmi(self, labels: Labels) -> Array:
        shared, entropy, sizes = self._information(labels)
        norm = np.sqrt(np.maximum(entropy * self._entropies, 0.0))
        values = np.minimum(shared / np.where(norm > 0.0, norm, 1.0), 1.0)
        return np.where(self._trivial, float(len(sizes) == 1), 0.0 if len(sizes) == 1 else values)

    def _ami(self, labels: Labels) -> Array:
        shared, entropy, sizes = self._information(labels)
        kinds, many = np.unique(sizes, return_counts=True)
        by_chance = np.zeros(len(self.members))
        for size, number in zip(kinds.tolist(), many.tolist(), strict=True):
            by_chance += number * self._by_chance(size)
        above = np.sqrt(np.maximum(entropy * self._entropies, 0.0)) - by_chance
        # Where chance alone shares all the information, the agreement is 0 / 0 and counts as none.
        blank = above <= 1e-12
        values = np.where(blank, 0.0, shared - by_chance) / np.where(blank, 1.0, above)
        return np.where(self._trivial, float(len(sizes) == 1), 0.0 if len(sizes) == 1 else values)

    @property
    def _trivial(self) -> Mask:
        """Which members have a single cluster, (M,)."""
        return np.bincount(self._owner, minlength=len(self.members)) == 1

    def _by_chance(self, a: int) -> Array:
        """Information that a random cluster of size a shares with each member on average, (M,).

        The overlap with a cluster of a member is hypergeometric; the formula is that of Vinh, Epps, Bailey (2010).
        """
        if a not in self._chances:
            n, lf, per_size = self.members.shape[1], self._factorials, {}
            sizes = np.bincount(self._codes.reshape(-1), minlength=len(self._owner))
            for b in np.unique(sizes).tolist():
                t = np.arange(max(1, a + b - n), min(a, b) + 1)
                logs = lf[a] + lf[b] + lf[n - a] + lf[n - b] - lf[n] - lf[t] - lf[a - t] - lf[b - t] - lf[n - a - b + t]
                per_size[b] = float((t / n * np.log(n * t / (a * b)) * np.exp(logs)).sum())
            terms = np.array([per_size[b] for b in sizes.tolist()])
            self._chances[a] = cast("Array", np.bincount(self._owner, terms, minlength=len(self.members)))
        return self._chances[a]


WIDTH_STEP, BOUND_STEP, GRID_STEP = 0, 1, 2
"""Values of `EdSvcCurves.step`: a bandwidth at the first bound, a bound at the best bandwidth, a pair of the grid."""

CURVES = "curves"
"""Key of the table in ``resolved_["tuner"]``."""

COLUMNS = ("step", "gamma", "C", "score", "n_clusters", "n_bounded", "qualified")
"""The fields of `EdSvcCurves` with one value for each candidate."""


@final
@attrs.frozen(eq=False)
class EdSvcCurves:
    """All candidates of a search with their scores, in the order of the search; arrays of shape (t,).

    Parameters
    ----------
    step : ndarray of int
        0 for a bandwidth at the first bound, 1 for a bound at the best bandwidth, 2 for a pair of the grid.
    gamma, C : ndarray
        `C` is nan where the solver has a fixed `nu` or `C`. If the search used a sample of the rows, `C` is the bound
        on that sample.
    score : ndarray
        Mean agreement with the ensemble.
    n_clusters : ndarray of int
    n_bounded : ndarray of int
        Rows whose weight is at the bound; -1 where the solver does not report them.
    qualified : ndarray of bool
        Whether the number of clusters lies within the limits of the search.
    chosen : int
        Index of the winner; -1 if no candidate qualified.
    singletons : float
        Score of the partition in which every row is a cluster of its own.
    measure : {"nmi", "ami"}
    """

    step: Labels = attrs.field(validator=array("t", least=0, most=2))
    gamma: Array = attrs.field(validator=array("t"))
    C: Array = attrs.field(validator=array("t", finite=False))
    score: Array = attrs.field(validator=array("t", finite=False))
    n_clusters: Counts = attrs.field(validator=array("t", least=0))
    n_bounded: Counts = attrs.field(validator=array("t", least=-1))
    qualified: Mask = attrs.field(validator=array("t"))
    chosen: int = attrs.field(validator=scalar(least=-1, most="t"))
    singletons: float
    measure: str

    def __repr__(self) -> str:
        return f"<{len(self.gamma)} candidates>"

    def __len__(self) -> int:
        """Number of candidates."""
        return len(self.gamma)

    def tolist(self) -> list[dict[str, object]]:
        """A dictionary of plain numbers for each candidate."""
        columns = [getattr(self, name).tolist() for name in COLUMNS]
        return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*columns, strict=True)]
