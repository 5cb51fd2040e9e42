"""The tuner ``edsvc``: bandwidth and bound by agreement with an ensemble of k-means partitions.

`EdSvcSearch` has the candidates, their scores, and the winner. A fit solves and labels one pair (gamma, C),
independently of all others (`CandidateRuns`). `Agreement` compares hundreds of labellings of the same samples with an
ensemble.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels, Mask, Rng
from clusterkit.contracts import FeatureMap, Labeler, Solver, Stage, Task, Tuned, Tuner, params
from clusterkit.contracts.labelings import cluster_limit
from clusterkit.contracts.outcomes import KernelDomain, Outcome
from clusterkit.errors import ClusterkitWarning, InvalidParameter
from clusterkit.families.support_vectors.tuning import (
    FEW_POINTS,
    SMALLEST_PILE,
    Piles,
    is_open,
    search_space,
    warn_of_nothing,
)
from clusterkit.fitting.ensembles import kmeans_ensemble
from clusterkit.numerics.distances import bandwidth_range, squared_distances, without_equal_rows
from clusterkit.numerics.selection import sample_rows
from clusterkit.samples import KernelSpace, Space, memory
from clusterkit.samples.limits import Report, notify


@final
@attrs.frozen
class EdSvc(Tuner):
    """Keeps the partition that agrees best with an ensemble of k-means partitions: ensemble-driven clustering.

    For support vector clustering. The tuner decides `gamma` of the kernel and `C` of the solver, each only if it was
    left open. With the defaults it is the published search: 100 bandwidths at C = 1, then 100 bounds from 1 down to
    ``1 / (0.9 n)`` at the best bandwidth. Normalised mutual information also rewards shattered partitions; the grid
    search (``search="plane"``) with its limit of √n clusters does not.

    The search is `EdSvcSearch.run`, the score `Agreement.score`.

    Parameters
    ----------
    n_members : int or None, default None
        Partitions in the ensemble (the paper's M): k-means from one random start, in the coordinates before the kernel.
        None: 10, or with "plane" the least multiple of the possible numbers of clusters from 60 on.
    member_clusters : {"cbrt", "sqrt"}, default "cbrt"
        The numbers of clusters of the members range from 2 to the cube root or the square root of n. They are drawn at
        random, or with "plane" every number occurs equally often.
    search : {"coordinate", "plane"}, default "coordinate"
        "coordinate": bandwidths first, then bounds. "plane": a grid of all pairs of 24 bandwidths and 12 bounds, then
        8 more bandwidths around the best one.
    clusters : {"auto", "any", "sqrt"}, default "auto"
        Numbers of clusters that may win: any, or 2 to √n. "auto": any with "coordinate", √n with "plane".
    n_gamma : int or None, default None
        Number of bandwidths; None: 100, or 24 with "plane".
    n_bounds : int or None, default None
        Number of bounds of the coordinate search; None: 100. With "plane" the bounds are fixed.
    max_outlier_fraction : float, default 0.9
        The smallest bound is ``1 / (max_outlier_fraction n)``: at most this fraction of the rows lies outside the
        contour. Above 0.9 the grid also tries 0.95, 0.97, 0.98 and 0.99: with many attributes only such small cores
        may be separated.
    max_rows : int, default 2000
        Larger data are searched on a random sample of this many rows.

    Raises
    ------
    InvalidParameter
        If neither `gamma` nor `C` is open.
    NeedsMemory
        If the distances of the rows do not fit under the memory cap.

    Notes
    -----
    Bandwidths are geometric from 1 / (largest squared distance) to ``4 ln 2`` / (lower decile of the squared distances
    to the nearest neighbour), beyond which most samples are alone. The bandwidths of the grid go from 1/8 of the last
    bandwidth with one cluster at C = 1 to the first with more than 0.6 n clusters, both found on a scan of 16; its
    outlier fractions p, with ``C = 1 / (p n)``, are 0, .02, .05, .1, .2, ..., .9. Then four bandwidths follow in each
    gap next to the best one, with all fractions: with many outliers one step of the grid may lead from a handful of
    clusters past √n. Ties within 1e-12 go to the smallest `gamma`, then the largest `C`. If no candidate qualifies, the
    widest kernel without outliers is used, and a warning says so.

    The score estimates the expected agreement with a member of a random number of clusters. Numbers that are spread
    evenly estimate the same with less scatter, because the agreement differs more between numbers than between members
    of one number.

    Where `gamma` is open, rows at few points are not searched: each point is a cluster, as in `svc_auto`.

    Rows outside the contour are scored as the labeler labels them; its option "nearest" makes partitions comparable
    with the members. ``resolved_["tuner"]`` has the score, the number of clusters, the score of the partition in which
    every row is alone.

    Bounds above the largest weight of the solution at bound 1 reuse it. Distances are
    computed once for all candidates; equal partitions are scored once. O(n²) memory; about n² s operations a candidate
    for s support vectors.

    The ranges of the numbers of clusters and of the bandwidths are chosen here: the publication says only how many
    there are.

    References
    ----------
    Strehl, Ghosh (2002), Cluster ensembles, JMLR 3, eq. (5): the mean normalised mutual information.
    Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2: the first bandwidth.
    """

    name: ClassVar[str] = "edsvc"
    trial: ClassVar[Mapping[str, object]] = {"n_members": 3, "n_gamma": 5, "n_bounds": 4}

    n_members: int | None = params.integer(None, at_least=1, at_most=params.MOST_REPEATS, optional=True)
    member_clusters: str = params.choice("cbrt", ("cbrt", "sqrt"))
    search: str = params.choice("coordinate", ("coordinate", "plane"))
    clusters: str = params.choice("auto", ("auto", "any", "sqrt"))
    n_gamma: int | None = params.integer(None, at_least=1, at_most=params.MOST_REPEATS, optional=True)
    n_bounds: int | None = params.integer(None, at_least=1, at_most=params.MOST_REPEATS, optional=True)
    max_outlier_fraction: float = params.real(0.9, above=0.0, at_most=1.0)
    max_rows: int = params.integer(2000, at_least=2)

    def tune(self, stages: Mapping[str, Stage], X: Array, rng: Rng) -> Tuned:
        """The stages with the bandwidth and the bound filled in where they were open."""
        begin = time.monotonic()
        open_gamma = is_open(stages["featuremap"], "gamma", "sigma", "sigma_fraction")
        open_C = is_open(stages["solver"], "C", "nu")
        if not (open_gamma or open_C):
            raise InvalidParameter(
                "tuner 'edsvc' decides gamma of the feature map and C of the solver; here both are set or absent. "
                "Leave one at None, or use tuner=None."
            )
        rows = sample_rows(len(X), self.max_rows, rng)
        space = search_space(cast(FeatureMap, stages["featuremap"]), X, rows, open_gamma, rng)
        choice = EdSvcSearch(self, stages, space, open_gamma, open_C, rng).run()
        C = choice.C * (len(rows) / len(X)) if choice.C < 1.0 else choice.C  # the same fraction of outliers
        tuned = dict(stages)
        if open_gamma:
            tuned["featuremap"] = stages["featuremap"].with_parameters(gamma=choice.gamma)
        if open_C:
            tuned["solver"] = stages["solver"].with_parameters(C=C)
        facts = {**choice.facts, "rows": len(rows), "seconds": round(time.monotonic() - begin, 3)}
        return Tuned(tuned, facts, choice.interrupted)


FRACTIONS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99)
"""Outlier fractions of the grid, up to `max_outlier_fraction`; 0 is a bound of 1. Denser at both ends: a few outliers
already separate touching clusters, and near 1 a small step of the fraction halves the core."""

GRID_WIDTHS = 24
"""Bandwidths of the grid by default: steps small enough to hit most plateaus on the sets of docs/recipes/edsvc.md."""

LINE = 100
"""Bandwidths, and bounds, of the coordinate search by default: the published numbers."""

SCAN = 16
"""Bandwidths of the scan that finds the ends of the grid."""

BETWEEN = 4
"""Additional bandwidths in each of the two gaps next to the best bandwidth of the grid."""

MEMBERS = 10
"""Members of the ensemble by default: the published number."""

GRID_MEMBERS = 60
"""Smallest number of members of the grid search by default. With ten, their random numbers of clusters alone may decide
between good partitions."""

SHATTERED = 0.6
"""Clusters a row beyond which the grid tries no narrower kernel: most rows are alone there."""


@final
@attrs.frozen(eq=False)
class EdSvcChoice:
    """The result of a search.

    Parameters
    ----------
    gamma, C : float
        Values of the winner; nan where the parameter was not open.
    facts : mapping
        How the values were found, for `resolved_`.
    interrupted : bool
        Whether Ctrl-C ended the search early.
    """

    gamma: float
    C: float
    facts: Mapping[str, Any]
    interrupted: bool = False


@final
@attrs.define(eq=False)
class EdSvcSearch:
    """A search on some rows.

    Parameters
    ----------
    tuner : EdSvc
    stages : mapping
        Slot to stage.
    space : Space
        The space of the rows.
    open_gamma, open_C : bool
        Which parameters are open.
    rng : Generator
    """

    tuner: EdSvc
    stages: Mapping[str, Stage]
    space: Space
    open_gamma: bool
    open_C: bool
    rng: Rng

    def run(self) -> EdSvcChoice:
        """Fit and score all candidates and choose the best; after Ctrl-C the best so far."""
        n = self.space.n
        ends = (math.nan, math.nan)
        if self.open_gamma:
            D = self._distances()
            piles, limits = Piles.of(D), self._cluster_limits(n)
            if piles is not None and piles.few(SMALLEST_PILE) and limits[0] <= len(piles.sizes) <= limits[1]:
                facts = {"rule": FEW_POINTS, "candidates": 0, "clusters": len(piles.sizes)}
                return EdSvcChoice(piles.gamma, 1.0, facts)
            ends = self._bandwidth_ends(D)
        if n < 2 or (self.open_gamma and not ends[0] < math.inf):
            if n > 1 and 0.0 < float(D.max()) < math.inf:  # the fit itself warns of equal rows and of overflow
                warn_of_nothing("edsvc", "the rows are too close for a bandwidth", "multiply the data by a constant", 2)
            return EdSvcChoice(1.0, 1.0, {"rule": "rows without a scale: one cluster", "candidates": 0})
        grid = self.tuner.search == "plane"
        members = _members(self.space, self.tuner.n_members, self.tuner.member_clusters, grid, self.rng)
        agreement = Agreement(members)
        solver, labeler = cast(Solver, self.stages["solver"]), cast(Labeler, self.stages["labeler"])
        seed = int(self.rng.integers(2**63))
        # the limit of work is for the fit: a candidate that it cut short would not be judged like the others
        if "max_work" in labeler.parameters():
            labeler = labeler.with_parameters(max_work=None)
        runs = CandidateRuns(self.space, solver, labeler, self.open_C, seed)
        scored = ScoredCandidates(agreement, self._cluster_limits(n))
        first = 1.0 if self.open_C else math.nan
        interrupted = False
        try:
            if grid:
                self._search_grid(runs, scored, ends, first)
            else:
                self._search_coordinates(runs, scored, ends, first)
        except KeyboardInterrupt:
            interrupted = True
            if not scored.candidates:
                raise
        choice = scored.choice(ends[0], first)
        facts = {
            **choice.facts,
            "ended": "interrupted" if interrupted else "all candidates tried",
            "members": tuple(int(member.max()) + 1 for member in members),
        }
        return attrs.evolve(choice, facts=facts, interrupted=interrupted)

    def _search_grid(
        self, runs: CandidateRuns, scored: ScoredCandidates, ends: tuple[float, float], first: float
    ) -> None:
        """All pairs of bandwidths and bounds, then more bandwidths near the best."""
        groups = self._grid(runs, ends, first)
        scored.add(0, runs.over(groups, self.tuner.name))
        scored.add(0, runs.over(_beside_best(scored, groups), self.tuner.name))

    def _search_coordinates(
        self, runs: CandidateRuns, scored: ScoredCandidates, ends: tuple[float, float], first: float
    ) -> None:
        """Bandwidths at the first bound, then bounds at the best bandwidth."""
        gamma: float | None = None
        if self.open_gamma:
            widths = np.geomspace(*ends, self.tuner.n_gamma or LINE)
            groups: list[CandidateGroup] = [(float(width), [first]) for width in widths]
            scored.add(0, runs.over(groups, self.tuner.name))
            gamma = scored.candidates[scored.best(unqualified_too=True)].gamma
        if self.open_C:
            bounds = _bounds(self.space.n, self.tuner.max_outlier_fraction, self.tuner.n_bounds or LINE)
            scored.add(1, runs.over([(gamma, bounds.tolist())], self.tuner.name))

    def _cluster_limits(self, n: int) -> tuple[int, float]:
        """Fewest and most clusters that may win."""
        limit = self.tuner.clusters
        if limit == "auto":
            limit = "any" if self.tuner.search == "coordinate" else "sqrt"
        return (0, math.inf) if limit == "any" else (2, max(2.0, math.sqrt(n)))

    def _distances(self) -> Array:
        """Squared distances of the rows, (n, n)."""
        n = self.space.n
        memory.require(3 * 8 * n * n, f"the {n} x {n} distances of tuner 'edsvc'", "Lower its max_rows, or set gamma.")
        points = self.space.points.astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):  # the fit refuses such values with a reason
            D = squared_distances(points, points)
        np.fill_diagonal(D, 0.0)
        return D

    def _bandwidth_ends(self, D: Array) -> tuple[float, float]:
        """Bandwidths of the widest and the narrowest kernel; infinite where the rows have no scale."""
        largest = float(D.max())
        if not 0.0 < largest < math.inf:
            return math.inf, math.inf
        nearest = without_equal_rows(D, largest).min(axis=1)
        distinct = np.unique(self.space.points.astype(np.float64, copy=False), axis=0, return_index=True)[1]
        low, high = bandwidth_range(largest, nearest[distinct])
        return low, high if high > low else 100.0 * low

    def _grid(self, runs: CandidateRuns, ends: tuple[float, float], first: float) -> list[CandidateGroup]:
        """Bandwidths between one cluster and shattered partitions, each with all bounds."""
        n = self.space.n
        bounds: Sequence[float] = [first]
        if self.open_C:
            fractions = [p for p in FRACTIONS if p <= self.tuner.max_outlier_fraction]
            bounds = sorted({min(1.0, 1.0 / (p * n)) if p > 0.0 else 1.0 for p in fractions}, reverse=True)
        if not self.open_gamma:
            return [(None, bounds)]
        scan = np.geomspace(ends[0], 2.0 * ends[1], SCAN)
        groups: list[CandidateGroup] = [(float(gamma), (first,)) for gamma in scan]
        counts = np.array([fits[0].n_clusters for fits in runs.over(groups, self.tuner.name)])
        whole, broken = np.flatnonzero(counts <= 1), np.flatnonzero(counts > SHATTERED * n)
        low = max(0.3 * ends[0], float(scan[whole[-1]] if len(whole) else ends[0]) / 8.0)
        high = float(scan[broken[0]] if len(broken) else scan[-1])
        widths = np.geomspace(low, max(high, 2.0 * low), self.tuner.n_gamma or GRID_WIDTHS)
        return [(float(gamma), bounds) for gamma in widths]


@final
@attrs.define(eq=False)
class ScoredCandidates:
    """The candidates fitted so far, with their scores.

    Parameters
    ----------
    agreement : Agreement
        The score.
    limits : pair of float
        Fewest and most clusters that may win.
    candidates : list of CandidateFit
        Without their labels, except the largest one: hundreds of labellings need not stay in memory.
    scores : list of float
    steps : list of int
        The step of the search that each candidate belongs to: 1 for bounds at the best bandwidth, else 0.
    """

    agreement: Agreement
    limits: tuple[float, float]
    candidates: list[CandidateFit] = attrs.field(factory=list)
    scores: list[float] = attrs.field(factory=list)
    steps: list[int] = attrs.field(factory=list)

    def add(self, step: int, groups: Iterable[list[CandidateFit]]) -> None:
        """Score the candidates of some groups as they are fitted."""
        for fits in groups:
            for candidate in fits:
                self.scores.append(self.agreement.score(candidate.labels))
                self.candidates.append(attrs.evolve(candidate, labels=candidate.labels.max(keepdims=True)))
                self.steps.append(step)

    @property
    def qualified(self) -> Mask:
        """Which candidates have an allowed number of clusters, (t,)."""
        k = np.array([candidate.n_clusters for candidate in self.candidates])
        return (k >= self.limits[0]) & (k <= self.limits[1])

    def best(self, unqualified_too: bool = False) -> int:
        """Index of the best qualified candidate of the last step.

        If none qualifies, it is -1, or with `unqualified_too` the best of all candidates of the last step.
        """
        last = np.array(self.steps) == self.steps[-1]
        qualified = self.qualified & last
        if not qualified.any():
            if not unqualified_too:
                return -1
            qualified = last
        scores = np.where(qualified, self.scores, -math.inf)
        tied = np.flatnonzero(scores >= scores.max() - TIE)
        return int(min(tied, key=lambda i: (self.candidates[i].gamma, -self.candidates[i].C)))

    def choice(self, widest: float, first: float) -> EdSvcChoice:
        """The values of the winner, or the bandwidth `widest` and the bound `first` if no candidate qualifies."""
        chosen = self.best()
        facts: dict[str, Any]
        if chosen >= 0:
            winner = self.candidates[chosen]
            gamma, C = winner.gamma, winner.C
            facts = {"rule": "largest mean nmi"}
            facts.update(score=round(self.scores[chosen], 12), clusters=winner.n_clusters)
        else:
            gamma, C = widest, first
            facts = {"rule": "no candidate has an allowed number of clusters: the widest kernel without outliers"}
            reason = f"no candidate has between {self.limits[0]} and {self.limits[1]:.0f} clusters"
            warn_of_nothing("edsvc", reason, "set featuremap__gamma, or tuner__clusters='any'", 3)
        facts["singletons"] = round(self.agreement.singletons(), 12)
        facts.update(candidates=len(self.candidates), partitions=len(self.agreement) - 1)
        return EdSvcChoice(gamma, C, facts)


def _members(space: Space, n_members: int | None, member_clusters: str, balanced: bool, rng: Rng) -> Labels:
    """The ensemble, (M, n); the numbers of clusters are drawn or, if `balanced`, occur equally often up to one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusterkitWarning)  # equal samples, empty clusters
        if not balanced:
            return kmeans_ensemble(space.points, n_members or MEMBERS, member_clusters, rng)
        ks = rng.permutation(np.arange(2, cluster_limit(space.n, member_clusters) + 1))
        member_ks = np.resize(ks, n_members or -(-GRID_MEMBERS // len(ks)) * len(ks))
        parts: list[Labels] = []
        for k, number in zip(*np.unique(member_ks, return_counts=True), strict=True):
            parts.append(kmeans_ensemble(space.points, int(number), int(k), rng))
            if len(parts[-1]) < number:
                break  # Ctrl-C
        return np.concatenate(parts)


def _bounds(n: int, max_outlier_fraction: float, number: int) -> Array:
    """Bounds from 1 down to 1 / (max_outlier_fraction n), geometric."""
    lowest = 1.0 / (max_outlier_fraction * n)
    return np.geomspace(1.0, lowest, number) if lowest < 1.0 and number > 1 else np.ones(1)


def _beside_best(scored: ScoredCandidates, groups: Sequence[CandidateGroup]) -> list[CandidateGroup]:
    """Groups for bandwidths on both sides of the best one, up to its neighbours or one step beyond the last."""
    chosen = scored.best()
    widths = np.array([gamma for gamma, _ in groups if gamma is not None])
    if chosen < 0 or len(widths) < 2:
        return []
    steps = np.log(widths)
    steps = np.concatenate([[2 * steps[0] - steps[1]], steps, [2 * steps[-1] - steps[-2]]])
    at = 1 + int(np.argmin(np.abs(widths - scored.candidates[chosen].gamma)))
    gaps = [np.linspace(steps[i], steps[i + 1], BETWEEN + 2)[1:-1] for i in (at - 1, at)]
    return [(float(gamma), groups[0][1]) for gamma in np.exp(np.concatenate(gaps))]


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
    """

    gamma: float
    C: float
    labels: Labels

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
    open_C : bool
        Whether bounds are searched: those above the largest weight of the solution at bound 1 reuse it.
    seed : int
        Seed of the random stream of every candidate. Each candidate starts a fresh stream, so its result does not
        depend on the order.
    """

    space: Space
    solver: Solver
    labeler: Labeler
    open_C: bool
    seed: int

    def over(self, groups: Sequence[CandidateGroup], stage: str) -> Iterator[list[CandidateFit]]:
        """Fit the candidates of each group, in the order of the groups; `stage` names the progress reports.

        The bounds of a group share the solution at bound 1. A bound of nan leaves the solver as it is.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClusterkitWarning)  # a failing candidate shows in its score
            for done, (gamma, bounds) in enumerate(groups):
                yield self._fit_group(gamma, bounds)
                notify(Report(stage, done + 1, len(groups)))

    def _fit_group(self, gamma: float | None, bounds: Sequence[float]) -> list[CandidateFit]:
        space = self.space
        if gamma is not None:
            assert isinstance(space, KernelSpace)
            space = space.rescaled(gamma)
        width = getattr(getattr(space, "kernel", None), "gamma", math.nan)
        free_labels: Labels | None = None
        largest = math.inf  # bounds from this weight on change nothing
        if self._has_one_solution and (len(bounds) > 1 or bounds[0] != 1.0):
            free = self._solve(space, 1.0)
            assert isinstance(free, KernelDomain)
            free_labels, largest = self._labels(free, space), float(free.weights.max())
        fits: list[CandidateFit] = []
        for C in bounds:
            reused = free_labels is not None and (C == 1.0 or largest <= C)
            labels = free_labels if reused else self._labels(self._solve(space, C), space)
            assert labels is not None
            fits.append(CandidateFit(float(width), C, labels))
        return fits

    @property
    def _has_one_solution(self) -> bool:
        """Whether all bounds above the largest weight at bound 1 have the solution at bound 1.

        The dual of svdd with equal weights is convex with one solution; for other problems this need not hold.
        """
        return self.open_C and self.solver.name == "svdd" and self.solver.parameters().get("weights") is None

    def _solve(self, space: Space, C: float) -> Outcome:
        solver = self.solver if math.isnan(C) else self.solver.with_parameters(C=C)
        outcome = solver.prepare(space, Task(space.n, None), self.rng()).solve(None, None, self.rng())
        if outcome.status is not None and outcome.status.interrupted:
            raise KeyboardInterrupt
        return outcome

    def rng(self) -> Rng:
        """A fresh random stream of a candidate."""
        return np.random.default_rng(self.seed)

    def _labels(self, outcome: Outcome, space: Space) -> Labels:
        return self.labeler.label(outcome, space, Task(space.n, None), self.rng()).labels


TIE = 1e-12
"""Scores that differ by less are equal: the order of a sum changes them by about this much."""


@final
@attrs.define(eq=False)
class Agreement:
    """Mean agreement of a partition with M labellings of n samples; equal partitions are scored once.

    ``NMI = I / √(H H')`` with the mutual information I and the entropies H and H'. Two trivial partitions (one cluster)
    agree fully, a trivial and a nontrivial one not at all. It equals `clusterkit.metrics.anmi`, but one table of counts
    serves all members.

    O(n M) time for a partition of k clusters, and O(k Σ k_m) for its table.

    Parameters
    ----------
    members : ndarray of shape (M, n), int
    """

    members: Labels
    _codes: Labels = attrs.field(init=False)
    _owner: Indices = attrs.field(init=False)
    _entropies: Array = attrs.field(init=False)
    _logs: Array = attrs.field(init=False)
    _known: dict[bytes, float] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        numbered = [np.unique(member, return_inverse=True)[1] for member in self.members]
        sizes = [int(member.max()) + 1 for member in numbered]
        self._codes = np.stack(numbered) + np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)[:, None]
        self._owner = np.repeat(np.arange(len(sizes)), sizes)
        n = self.members.shape[1]
        counts = np.arange(n + 1, dtype=np.float64)
        counts[0] = 1.0
        self._logs = np.arange(n + 1) * np.log(counts)
        self._entropies = math.log(n) - self._sums(np.bincount(self._codes.reshape(-1), minlength=len(self._owner))) / n

    def __len__(self) -> int:
        """Number of different partitions scored."""
        return len(self._known)

    def score(self, labels: Labels) -> float:
        """Mean over the members, in [0, 1]; labels (n,) in order of first appearance, -1 is a cluster."""
        key = np.ascontiguousarray(labels, dtype=np.int32).tobytes()
        if key not in self._known:
            values = self._nmi(labels)
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

    @property
    def _trivial(self) -> Mask:
        """Which members have a single cluster, (M,)."""
        return np.bincount(self._owner, minlength=len(self.members)) == 1
