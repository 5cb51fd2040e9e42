"""The search of the tuner ``svc_auto``: which runs are made, in which order, and which partition is chosen.

A run (`SvcRuns`) solves and labels at a bandwidth and an outlier fraction, on the rows searched. The quality of a
partition without labels (`best`) is how many bandwidths it lasts over, its separation, and its cluster sizes.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.contracts import FeatureMap, Labeler, Solver, Stage, Task
from clusterkit.contracts.outcomes import KernelDomain, Outcome
from clusterkit.errors import ClusterkitWarning
from clusterkit.families.support_vectors.tuning import FEW_POINTS, SMALLEST_PILE, Piles, search_space, warn_of_nothing
from clusterkit.metrics.classes import adjusted_from_pairs, table_pairs
from clusterkit.numerics.distances import bandwidth_range, squared_distances, without_equal_rows
from clusterkit.samples import KernelSpace, memory
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.limits import Report, metered, notify

SAME = 0.95
"""Two partitions with at least this adjusted Rand index count as the same."""
SEPARATION = 2.0
"""Weight of the separation in the score, chosen on generated shapes."""
NEIGHBOURS = 5
"""The core distance of a row is the distance to its neighbour of this rank."""
INNER = 0.97
"""Sparseness of a cluster is this quantile of the tree edges inside it: the largest edge would follow every outlier."""
TIE = 1e-9
"""Scores that differ by less are equal: they are sums of logarithms and quantiles, with rounding far below this."""
CHANCE_LASTS, CHANCE_SEPARATION = 5, 0.0
"""A best partition at or below this duration and below this separation is no better than those of a single Gaussian
cloud: its gaps are no wider than its clusters are sparse, and it does not last."""

Grid = Mapping[tuple[int, int], "GridPartition"]
"""Partitions by row and column."""


@final
@attrs.frozen(eq=False)
class GridPartition:
    """The partition of one run, at its place in the grid of bandwidths and outlier fractions.

    Parameters
    ----------
    row, column : int
        Index of the bandwidth, index of the outlier fraction.
    labels : ndarray of shape (m,)
        0..k-1; rows of small clusters and outliers are in the nearest remaining cluster.
    k : int
    coverage : float
        Fraction of the rows that were in a remaining cluster before.
    support : float
        Fraction of the rows that have a weight in the solution.
    """

    row: int
    column: int
    labels: Labels
    k: int
    coverage: float
    support: float = 1.0

    @property
    def shares(self) -> Array:
        """Fraction of the rows in every cluster, (k,)."""
        return np.bincount(self.labels, minlength=self.k) / len(self.labels)

    @property
    def evenness(self) -> float:
        """Entropy of the shares: ln k for equal clusters, near 0 where one cluster has nearly all rows."""
        return float(-(self.shares * np.log(self.shares)).sum())


def adjusted_rand(a: GridPartition, b: GridPartition) -> float:
    """Adjusted Rand index of two partitions; 1 if both are a single cluster. O(m + k k')."""
    table = np.bincount(a.labels * b.k + b.labels, minlength=a.k * b.k).reshape(a.k, b.k)
    return adjusted_from_pairs(table_pairs(table))


@final
@attrs.frozen(eq=False)
class ReachabilityTree:
    """Minimum spanning tree of the mutual reachability distances of the rows.

    Parameters
    ----------
    ends : ndarray of shape (m - 1, 2)
    lengths : ndarray of shape (m - 1,)
    """

    ends: Indices
    lengths: Array

    @classmethod
    def of(cls, D: Array) -> ReachabilityTree:
        """The tree of squared distances D (m, m); O(m²) by Prim's algorithm."""
        from clusterkit.numerics.spanning_trees.reach_jit import PRECOMPUTED, reachability_tree

        rank = min(NEIGHBOURS, len(D) - 1)
        core = np.partition(D, rank, axis=1)[:, rank]
        ends, squares = reachability_tree(D, core, PRECOMPUTED)
        return cls(ends, np.sqrt(squares))

    def separation(self, partition: GridPartition) -> float:
        """Mean over the rows of ``(gap - sparseness) / max(gap, sparseness)`` of their cluster, in [-1, 1].

        The gap of a cluster is its shortest tree edge to another cluster, its sparseness the `INNER` quantile of the
        edges inside it. This is the index of Moulavi et al. (2014), computed from one tree of all rows.
        """
        one, other = partition.labels[self.ends[:, 0]], partition.labels[self.ends[:, 1]]
        across = one != other
        gap = np.full(partition.k, math.inf)
        np.minimum.at(gap, one[across], self.lengths[across])
        np.minimum.at(gap, other[across], self.lengths[across])
        sparse = np.zeros(partition.k)
        for cluster in range(partition.k):
            inner = self.lengths[~across & (one == cluster)]
            if len(inner):
                sparse[cluster] = np.quantile(inner, INNER)
        scale = np.maximum(gap, sparse)
        values = np.divide(gap - sparse, scale, out=np.zeros_like(gap), where=(scale > 0) & np.isfinite(scale))
        return float(partition.shares @ values)


@final
@attrs.frozen(eq=False)
class ScoredPartition:
    """The best of several partitions, with its score.

    Parameters
    ----------
    partition : GridPartition
    lasts : int
        Number of consecutive bandwidths, including its own, over which the partition stays the same.
    separation, score : float
    """

    partition: GridPartition
    lasts: int
    separation: float
    score: float

    @property
    def chance(self) -> bool:
        """Whether the partition is no better than those of a single cloud: it neither lasts nor is separated."""
        return self.lasts <= CHANCE_LASTS and self.separation < CHANCE_SEPARATION


def best(partitions: Sequence[GridPartition], tree: ReachabilityTree) -> ScoredPartition | None:
    """The partition of the highest score ``ln L + 2 V + ln H``; None if there are no partitions.

    L is the number of consecutive bandwidths over which the partition stays the same, V its separation and H its
    evenness, whose logarithm rules out a few outliers against all the rest. Among equal scores the partition nearest to
    the middle of its plateau wins, then the wider kernel.
    """
    grid = _by_place(partitions)
    ranked = []
    for partition in partitions:
        down, up = _reach(partition, grid, -1), _reach(partition, grid, 1)
        separation = tree.separation(partition)
        score = math.log(down + up + 1) + SEPARATION * separation + math.log(partition.evenness)
        scored = ScoredPartition(partition, down + up + 1, separation, score)
        ranked.append((abs(up - down), partition.row, partition.column, scored))
    if not ranked:
        return None
    top = max(entry[-1].score for entry in ranked)
    return min((entry for entry in ranked if entry[-1].score >= top - TIE), key=lambda entry: entry[:3])[-1]


def lasts(partition: GridPartition, partitions: Sequence[GridPartition], same: float) -> int:
    """Number of consecutive bandwidths whose partition agrees with `partition`, its own included.

    Two partitions agree if their adjusted Rand index is at least `same`.
    """
    grid = _by_place(partitions)
    return _reach(partition, grid, -1, same) + _reach(partition, grid, 1, same) + 1


def _by_place(partitions: Sequence[GridPartition]) -> Grid:
    return {(partition.row, partition.column): partition for partition in partitions}


def _reach(partition: GridPartition, grid: Grid, step: int, same: float = SAME) -> int:
    """Number of bandwidths to one side (`step` is 1 or -1) over which the partition stays the same."""
    steps = 0
    while True:
        following = grid.get((partition.row + (steps + 1) * step, partition.column))
        if following is None or adjusted_rand(partition, following) < same:
            return steps
        steps += 1


STEP = math.sqrt(2.0)
"""Ratio of consecutive bandwidths: half an octave."""
MOST_WIDTHS = 60
"""Largest number of bandwidths, of which the narrowest are taken: 30 octaves, more than data without extreme outliers
need."""
SMALLEST_CLUSTER = 5
"""Smallest cluster that is not dissolved, for up to 100 rows; above that √m / 2."""
LOCAL = 0.2
"""The local bandwidth is this over the median squared distance to the third neighbour."""
AT_BOUND = 1e-9
"""Relative distance from its bound up to which a weight counts as bounded."""


def least_size(m: int) -> int:
    """Smallest cluster among m rows: √m / 2 but at least 5, and at most a fifth of the rows where these are few."""
    return min(max(SMALLEST_CLUSTER, round(math.sqrt(m) / 2.0)), max(2, m // 5))


@final
@attrs.frozen(eq=False)
class SvcRuns:
    """The inputs that all runs of the search share.

    Parameters
    ----------
    space : KernelSpace
        The space of the rows; its bandwidth is replaced in every run.
    solver : Solver
    labeler : Labeler
    least : int
        Size below which components are dissolved.
    pile : int
        Number of equal rows that are a cluster, where the rows lie at few points.
    D : ndarray of shape (m, m)
        Squared distances of the rows.
    rng : Generator
    labels_of : callable or None
        Labels of a domain by candidate edges; None: labels from the labeler.
    """

    space: KernelSpace
    solver: Solver
    labeler: Labeler
    least: int
    pile: int
    D: Array
    rng: Rng
    labels_of: Callable[[Any], Labels] | None

    @classmethod
    def of(cls, stages: Mapping[str, Stage], X: Array, rows: Indices, exact_rows: int, rng: Rng) -> SvcRuns:
        """The runs on some rows of X (n, d); with more than `exact_rows` of them by candidate edges if possible."""
        m = len(rows)
        memory.require(
            4 * 8 * m * m, f"the {m} x {m} distances of tuner 'svc_auto'", "Lower its max_rows, or set gamma."
        )
        space = cast(KernelSpace, search_space(cast(FeatureMap, stages["featuremap"]), X, rows, True, rng))
        points = space.points.astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):  # the fit refuses such values with a reason
            D = squared_distances(points, points)
        D = np.maximum(D, D.T)
        np.fill_diagonal(D, 0.0)
        labeler = cast(Labeler, stages["labeler"])
        least, pile = least_size(m), SMALLEST_PILE
        least_in_all = cast("int | None", labeler.parameters().get("min_cluster_size"))
        if least_in_all is not None:
            least, pile = (max(size, round(least_in_all * m / len(X))) for size in (least, pile))
        # the budget of the search holds for all runs together
        wanted = {"outliers": "noise", "min_cluster_size": 1, "max_work": None}
        labeler = labeler.with_parameters(**{name: wanted[name] for name in wanted if name in labeler.parameters()})
        by_candidates = getattr(labeler, "candidate_labels", None)
        labels_of = None
        if m > exact_rows and by_candidates is not None and np.isfinite(D).all():
            labels_of = by_candidates(space, least)
        return cls(space, cast(Solver, stages["solver"]), labeler, least, pile, D, rng, labels_of)

    def at(self, row: int, gamma: float) -> WidthRuns:
        """The runs at a bandwidth, `row` being its number."""
        space = attrs.evolve(self.space, kernel=Gaussian(gamma), memo={})
        return WidthRuns(self, row, space)

    def labels(self, outcome: Outcome, space: KernelSpace) -> Labels:
        """Component of each row, -1 outside."""
        if self.labels_of is not None:
            return self.labels_of(outcome)
        labeling = self.labeler.label(outcome, space, Task(len(self.D), None), self.rng)
        if labeling.interrupted:
            raise KeyboardInterrupt  # the run returned its intermediate result; the search has to end all the same
        return labeling.labels

    def partition(self, labels: Labels, row: int, column: int) -> GridPartition:
        """The partition of some labels: small components dissolved, all other rows to the nearest cluster."""
        from clusterkit.numerics.nearest_jit import fill

        m = len(self.D)
        sizes = np.bincount(labels[labels >= 0], minlength=1)
        number = np.full(len(sizes) + 1, -1, dtype=np.int64)  # the last entry is noise
        large = np.flatnonzero(sizes >= self.least)
        number[large] = np.arange(len(large))
        labels = number[labels]
        coverage = float(np.mean(labels >= 0))
        if len(large) < 2:
            return GridPartition(row, column, np.zeros(m, dtype=np.int64), 1, coverage)
        return GridPartition(row, column, fill(labels, self.D), len(large), coverage)


@final
@attrs.define(eq=False)
class WidthRuns:
    """The runs at one bandwidth, from the smallest outlier fraction to the largest.

    Parameters
    ----------
    runs : SvcRuns
    row : int
        Number of the bandwidth.
    space : KernelSpace
    free : tuple of (float, GridPartition) or None
        Largest weight of a solution of which no weight is at its bound, and its partition: every bound from that weight
        on has the same solution.
    """

    runs: SvcRuns
    row: int
    space: KernelSpace
    free: tuple[float, GridPartition] | None = None

    def partition(self, fraction: float | None, column: int) -> GridPartition:
        """The partition at an outlier fraction; None leaves the solver as it is."""
        m, runs = len(self.runs.D), self.runs
        solver = runs.solver if fraction is None else runs.solver.with_parameters(nu=max(fraction, 1.0 / m))
        bound = math.nan if fraction is None else 1.0 / (m * max(fraction, 1.0 / m))
        if self.free is not None and self.free[0] <= bound:
            return attrs.evolve(self.free[1], column=column)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClusterkitWarning)  # a failing run shows in its partition
            outcome = solver.prepare(self.space, Task(m, None), runs.rng).solve(None, None, runs.rng)
            if outcome.status is not None and outcome.status.interrupted:
                raise KeyboardInterrupt
            partition = runs.partition(runs.labels(outcome, self.space), self.row, column)
        if isinstance(outcome, KernelDomain):
            partition = attrs.evolve(partition, support=min(1.0, len(outcome.centres) / m))
        largest = _largest_free_weight(solver, outcome, bound)
        if largest is not None:
            self.free = largest, partition
        return partition


def _largest_free_weight(solver: Solver, outcome: Outcome, bound: float) -> float | None:
    """Largest weight of a solution without weights at their bound, of a convex problem with one solution; else None.

    The dual of svdd with equal weights is such a problem: its solution inside the bounds is that of every wider bound.
    Weights of equal rows are added up, which makes them larger and the answer None more often.
    """
    plain = solver.name == "svdd" and solver.parameters().get("weights") is None
    if not plain or not isinstance(outcome, KernelDomain):
        return None
    largest = float(outcome.weights.max())
    return largest if largest < bound * (1.0 - AT_BOUND) else None


def gammas_of(D: Array) -> tuple[float, Array]:
    """The local gamma and the values to try, from the widest kernel on; a single one where the rows have no scale."""
    largest = float(D.max())
    if not 0.0 < largest < math.inf:
        return 1.0, np.array([1.0])
    others = without_equal_rows(D, largest)
    ranks = [min(rank, len(D) - 1) for rank in (0, 2)]
    near = np.sort(np.partition(others, ranks, axis=1)[:, : ranks[1] + 1], axis=1)
    nearest, third = near[:, 0], near[:, -1]
    third = np.where(np.isfinite(third), third, nearest)
    low, high = bandwidth_range(largest, nearest)
    if math.isinf(high):
        return 1.0, np.array([1.0])
    start = LOCAL / float(np.median(third))
    first = math.ceil(math.log(low / start, STEP))
    last = max(first, math.floor(math.log(max(high, start) / start, STEP)))
    widths: Array = start * STEP ** np.arange(max(first, last - MOST_WIDTHS + 1), last + 1)
    return start, widths


FRACTIONS = (0.2, 0.5, 0.3, 0.05)
"""Outlier fractions tried; of equal scores the one that comes first here wins."""
DEFAULT_FRACTION = 0.2
"""Outlier fraction where the bandwidth is set and nothing is searched: the first one above."""
LEAST_COVERAGE = 0.4
"""A partition qualifies if its clusters hold at least this fraction of the rows. It lies below 1 minus the largest
outlier fraction, because at that boundary chance would decide whether a run counts."""
FEWEST_ROWS = 8
"""With fewer rows there is nothing to search: the widest kernel is used."""
SHATTERED = 1
"""Shattered runs in a row that end an outlier fraction: narrower kernels only break the clusters further."""
HALF = 0.5
"""Outlier fraction used with the local bandwidth."""
FEW_COORDINATES = 3
"""The local bandwidth is used in at most this many coordinates; in more, distances to neighbours say too little."""
LOCAL_SAME, LOCAL_LASTS = 0.75, 3
"""A finer partition at the local bandwidth wins only if it stays similar (adjusted Rand index >= 0.75) over at least
three consecutive bandwidths, an octave. On data where it is right it stays so over four or more."""
LOCAL_LOSS = 0.3
"""A finer partition at the local bandwidth wins only if its separation is not worse than the best one's by more."""
HOPELESS = 2
"""Number of bandwidths up to which a best partition that is no better than chance is replaced in any case: the
partitions of 36 single clouds all lasted over one."""
CHANCE_LOSS = 0.2
"""A best partition no better than chance that lasts longer stays if the local bandwidth loses more separation."""

ALL_TRIED = "all widths tried"
"""Value of the fact "ended" where nothing cut the search short; of an outlier fraction the bandwidths up to the one
where the partitions shatter."""


@final
@attrs.frozen(eq=False)
class SvcAutoChoice:
    """The result of a search.

    Parameters
    ----------
    gamma : float
    nu : float or None
        None where the solver has a fixed `nu` or `C`.
    min_cluster_size : int
        On the rows searched.
    facts : mapping
        How the values were found, for `resolved_`.
    interrupted : bool
        Whether Ctrl-C ended the search early.
    support : float
        Fraction of the rows with a weight in the solution at these values.
    """

    gamma: float
    nu: float | None
    min_cluster_size: int
    facts: Mapping[str, Any]
    interrupted: bool = False
    support: float = DEFAULT_FRACTION


@final
@attrs.define(eq=False)
class SvcAutoSearch:
    """Runs over bandwidths and outlier fractions on some rows.

    Parameters
    ----------
    runs : SvcRuns
    open_nu : bool
        Whether the outlier fraction is searched.
    n_clusters : int or None
        If there are partitions with this number of clusters, only these qualify.
    max_work : int or None
        Most kernel evaluations of all runs.
    """

    runs: SvcRuns
    open_nu: bool
    n_clusters: int | None
    max_work: int | None
    n_runs: int = 0
    work: int = 0
    ended: str = ALL_TRIED

    def choice(self) -> SvcAutoChoice:
        """Make the runs, and choose among their partitions; rows in piles need no run."""
        piles = Piles.of(self.runs.D)
        if piles is not None and piles.few(self.runs.pile):
            clusters = len(piles.large(self.runs.pile))
            if self.n_clusters in (None, clusters):
                rule = {"rule": FEW_POINTS, "runs": 0, "clusters": clusters}
                return self._of_piles(piles, self.runs.pile, rule, False)
        start, widths = gammas_of(self.runs.D)
        partitions = self._partitions(start, widths)
        if self.ended != ALL_TRIED:
            _warn_ended(self.ended, self.n_runs)
        facts: dict[str, Any] = {
            "runs": self.n_runs, "ended": self.ended, "work": self.work, "candidates": len(partitions),
        }  # fmt: skip
        interrupted = self.ended == "interrupted"
        partitions = [p for p in partitions if p.k == self.n_clusters] or partitions
        tree = ReachabilityTree.of(self.runs.D) if partitions else None
        scored = None if tree is None else best(partitions, tree)
        if tree is None or scored is None:
            if piles is not None and self._qualify(piles):
                facts = {"rule": "no partition qualified: the points with most rows", **facts}
                return self._of_piles(piles, self.runs.least, facts, interrupted)
            facts = {"rule": "no partition qualified: the widest kernel", **facts}
            self._warn_unqualified()
            return SvcAutoChoice(float(widths[0]), min(FRACTIONS), 1, facts, interrupted)
        winner = scored.partition
        facts.update(
            score=round(scored.score, 6),
            widths=scored.lasts,
            separation=round(scored.separation, 6),
            clusters=winner.k,
            coverage=round(winner.coverage, 6),
        )
        local = self._local_choice(scored, partitions, start, widths, tree, facts)
        if local is not None:
            return attrs.evolve(local, interrupted=interrupted)
        facts = {"rule": "most lasting, separated and even partition", **facts}
        nu = self._fractions[winner.column]
        gamma = float(widths[winner.row])
        return SvcAutoChoice(gamma, nu, self.runs.least, facts, interrupted, winner.support)

    @property
    def _most(self) -> float:
        """Largest number of clusters of a partition that qualifies."""
        m = len(self.runs.D)
        return max(math.sqrt(m), m / (2.0 * self.runs.least))

    def _qualify(self, piles: Piles) -> bool:
        """Whether the points that have enough rows to be clusters are a partition that qualifies."""
        large = piles.large(self.runs.least)
        return 2 <= len(large) <= self._most and large.sum() >= LEAST_COVERAGE * len(self.runs.D)

    def _of_piles(self, piles: Piles, least: int, facts: Mapping[str, Any], interrupted: bool) -> SvcAutoChoice:
        """The bandwidth that parts the points, without outliers: each is on the contour, however few its rows are."""
        m = len(self.runs.D)
        nu = 1.0 / m if self.open_nu else None
        return SvcAutoChoice(piles.gamma, nu, least, facts, interrupted, len(piles.sizes) / m)

    def _warn_unqualified(self) -> None:
        m, largest = len(self.runs.D), float(self.runs.D.max())
        if not 0.0 < largest < float(np.finfo(self.runs.space.points.dtype).max):
            return  # the fit itself warns of equal rows and refuses rows whose distances overflow
        reason = f"{m} rows are too few to search" if m < FEWEST_ROWS else "no partition qualified"
        warn_of_nothing("svc_auto", reason, "set featuremap__gamma, or try another recipe, such as 'auto'", 4)

    @property
    def _fractions(self) -> tuple[float | None, ...]:
        """The outlier fractions to try; None leaves the solver as it is."""
        return FRACTIONS if self.open_nu else (None,)

    def _local_choice(
        self,
        scored: ScoredPartition,
        partitions: list[GridPartition],
        start: float,
        widths: Array,
        tree: ReachabilityTree,
        facts: Mapping[str, Any],
    ) -> SvcAutoChoice | None:
        """The local bandwidth `start` with half of the rows outside, where it is preferred to the best partition."""
        if self.runs.space.points.shape[1] > FEW_COORDINATES or not self.open_nu or self.n_clusters is not None:
            return None
        zero, half = int(np.argmin(np.abs(widths - start))), FRACTIONS.index(HALF)
        local = [partition for partition in partitions if (partition.row, partition.column) == (zero, half)]
        loss = scored.separation - tree.separation(local[0]) if local else 0.0
        if scored.chance and (scored.lasts <= HOPELESS or loss <= CHANCE_LOSS):
            rule = "nothing better than chance: the local width, half of the rows outside"
            support = local[0].support if local else HALF
            return SvcAutoChoice(start, HALF, self.runs.least, {"rule": rule, **facts}, support=support)
        if not local or local[0].k <= scored.partition.k or scored.chance:
            return None
        if loss <= LOCAL_LOSS and lasts(local[0], partitions, LOCAL_SAME) >= LOCAL_LASTS:
            rule = "a finer partition lasts: the local width, half of the rows outside"
            finer = {"clusters": local[0].k, "coverage": round(local[0].coverage, 6)}
            facts = {"rule": rule, **facts, **finer}
            return SvcAutoChoice(start, HALF, self.runs.least, facts, support=local[0].support)
        return None

    def _partitions(self, start: float, widths: Array) -> list[GridPartition]:
        """The qualified partitions; sets the number of runs, their work and the reason why the search ended."""
        partitions: list[GridPartition] = []
        if len(widths) < 2 or len(self.runs.D) < FEWEST_ROWS:
            return partitions
        zero = int(np.argmin(np.abs(widths - start)))
        try:
            for partition in self._made(widths, zero):
                self.n_runs += 1
                if partition is not None:
                    partitions.append(partition)
        except KeyboardInterrupt:
            self.ended = "interrupted"
            if not partitions:
                raise
        return partitions

    def _made(self, widths: Array, zero: int) -> Iterator[GridPartition | None]:
        """The partition of each run, or None where it does not qualify.

        The order is fixed: outward from the local bandwidth, all fractions of a bandwidth together, so that whatever
        ends the search leaves out the bandwidths that are farthest off.
        """
        fractions, most = self._fractions, self._most
        shattered = dict.fromkeys(range(len(fractions)), 0)
        # in ascending order: the solution of the smallest fraction may hold for the others, and is their start if not
        columns = sorted(range(len(fractions)), key=lambda column: fractions[column] or 0.0)
        done, total = 0, len(widths) * len(columns)
        for row in sorted(range(len(widths)), key=lambda row: (abs(row - zero), -row)):
            at_width = self.runs.at(row, float(widths[row]))
            for column in columns:
                done += 1
                if row > zero and shattered[column] >= SHATTERED:
                    continue
                partition = self._run(at_width, column)
                if partition is None:
                    return
                many = partition.k > most
                qualified = partition.k >= 2 and not many and partition.coverage >= LEAST_COVERAGE
                if row >= zero:
                    few = partition.coverage < 0.5 * (1.0 - (fractions[column] or 0.0))
                    shattered[column] = shattered[column] + 1 if many or few else 0
                notify(Report("svc_auto", done, total))
                yield partition if qualified else None

    def _run(self, at_width: WidthRuns, column: int) -> GridPartition | None:
        """The partition of one run; None if a limit ended the run, which ends the search."""
        remaining = None if self.max_work is None else self.max_work - self.work
        with metered(remaining) as meter:
            partition = at_width.partition(self._fractions[column], column)
        if meter.passed:
            # the work of the run that was given up is not counted
            self.ended = "max_work"
            return None
        self.work += meter.spent
        return partition


def _warn_ended(ended: str, runs: int) -> None:
    advice = "; raise tuner__max_work for the search of all widths" if ended == "max_work" else ""
    warnings.warn(
        f"tuner 'svc_auto' was ended by {ended} after {runs} runs, and the best of them is used{advice}",
        ClusterkitWarning,
        stacklevel=5,
    )
