"""The tuner ``svc_auto``: bandwidth, outlier fraction and least cluster size by the plateau of a partition."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.core import memory, params
from clusterkit.core.deadline import deadline
from clusterkit.core.errors import ClusterkitWarning, InvalidParameter
from clusterkit.core.kernel import Gaussian
from clusterkit.core.progress import Report, tell
from clusterkit.core.spaces import KernelSpace
from clusterkit.core.stages import FeatureMap, Labeler, Solver, Stage, Task, Tuned, Tuner
from clusterkit.numerics.bandwidths import bandwidth_range, without_equal_rows
from clusterkit.numerics.distances import squared_distances
from clusterkit.tuners._open_parameters import is_open, sample_rows, search_space, with_parameters
from clusterkit.tuners._plateau_score import GridPartition, ReachabilityTree, ScoredPartition, best, lasts

__all__ = ["SvcAuto"]

FRACTIONS = (0.2, 0.5, 0.3, 0.05)
"""Outlier fractions tried, the most useful first: the time limit may end the search before the last."""
DEFAULT_FRACTION = 0.2
"""Outlier fraction where the bandwidth is set and nothing is searched: the first one tried."""
STEP = math.sqrt(2.0)
"""Ratio of consecutive bandwidths: half an octave."""
MOST_WIDTHS = 60
"""At most so many bandwidths, the narrowest ones: 30 octaves, more than data without extreme outliers need."""
LEAST_COVERAGE = 0.4
"""A partition qualifies if its clusters hold at least this fraction of the rows. It lies below 1 minus the largest
outlier fraction, because at that boundary chance would decide whether a run counts."""
SMALLEST_CLUSTER = 5
"""Smallest cluster that is not dissolved, for up to 100 rows; above that √m / 2."""
FEWEST_ROWS = 8
"""With fewer rows there is nothing to search: the widest kernel is used."""
GRACE = 2.0
"""Seconds that a run may continue after the time limit."""
LOCAL = 0.2
"""The local bandwidth is this over the median squared distance to the third neighbour."""
HALF = 0.5
"""Outlier fraction used with the local bandwidth."""
FEW_COORDINATES = 3
"""The local bandwidth is used in at most this many coordinates; in more, distances to neighbours say too little."""
LOCAL_SAME, LOCAL_LASTS = 0.75, 5
"""A finer partition at the local bandwidth wins only if it stays similar (adjusted Rand index >= 0.75) over at least
five consecutive bandwidths, which are two octaves."""

ALL_TRIED = "all widths tried"
"""Value of the fact "ended" where nothing cut the search short; of an outlier fraction the bandwidths up to the one
where the partitions shatter."""

INSTEAD: Mapping[str, tuple[str, ...]] = {"gamma": ("sigma", "sigma_fraction"), "nu": ("C",), "min_cluster_size": ()}
"""Parameters that the tuner decides, each with the parameters that decide it already if they are set."""


@final
@attrs.frozen
class SvcAuto(Tuner):
    """Runs the stages over many bandwidths and keeps the partition that lasts, is separated and has even clusters.

    For support vector clustering and any other method that reads clusters from a domain in a Gaussian kernel space. The
    tuner decides `gamma` of the kernel, `nu` of the solver and `min_cluster_size` of the labeler, each only if it was
    left at None. At most 240 runs, mostly 70 to 120, on at most `max_rows` rows; memory O(max_rows²).

    The score is in ``_plateau_score.py`` (`best`), the loop over the runs in `SvcAutoSearch.run`.

    Parameters
    ----------
    max_rows : int, default 2000
        Larger data are searched on a random sample of this many rows, drawn by the tuner's stream. `gamma` and `nu` are
        used as they are; `min_cluster_size` is scaled to the same fraction of all rows.
    max_seconds : float, default 30
        No run starts later than this, and a run that is still going 2 s later is abandoned at its next report. The best
        partition so far is then used, and the facts say so; only in this case a result depends on the speed of the
        machine.

    Raises
    ------
    InvalidParameter
        If none of the three parameters is open.

    Notes
    -----
    Bandwidths are ``gamma = γ0 2^(j/2)``, ``γ0 = 0.2 /`` median squared distance to the third neighbour, from
    1 / (largest squared distance) to 4 ln 2 / (lower decile of the squared distances to the nearest neighbour), beyond
    which most rows are alone; at most the 60 narrowest. Outlier fractions `nu` are 0.05, 0.2, 0.3 and 0.5. Each run
    gives components; those smaller than ``max(5, √m / 2)`` of m rows are dissolved, and all other rows go to the
    nearest cluster. Partitions qualify if they have at least two clusters, at most ``max(√m, m / (2 least))``, and
    covered 0.4 of the rows before the outliers were assigned. Among them the score ``ln L + 2 V + ln H`` decides, see
    `clusterkit.tuners._plateau_score.best`. If none qualifies, the widest kernel is used, mostly with one cluster;
    likewise for fewer than 8 rows.

    In up to three coordinates there is a fallback, ``gamma = γ0`` and ``nu = 0.5``, which replaces the winner in two
    cases. Either the best partition has L <= 5 and V < 0, no better than those of a single cloud. Or the partition at
    γ0 has more clusters than the best one and stays similar over five bandwidths (adjusted Rand index of 0.75): such
    partitions tend to be the classes, and the best one groups of classes.

    If `gamma` (or `sigma`) is set, nothing is run: `nu` is 0.2. If `nu` or `C` is set, only bandwidths are searched.
    With a chain of maps the search works in the coordinates before the kernel.

    References
    ----------
    Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2, section 4: bandwidths over which the
    number of clusters does not change.
    Moulavi, Jaskowiak, Campello, Zimek, Sander (2014), Density-based clustering validation, SDM: the separation.
    """

    name: ClassVar[str] = "svc_auto"

    max_rows: int = params.integer(2000, at_least=2)
    max_seconds: float = params.real(30.0, above=0.0)

    def tune(self, stages: Mapping[str, Stage], X: Array, rng: Rng) -> Tuned:
        """The stages with bandwidth, outlier fraction and least size filled in where they were open."""
        begin = time.monotonic()
        open_names = {
            slot: tuple(name for name, others in INSTEAD.items() if is_open(stage, name, *others))
            for slot, stage in stages.items()
        }
        if not any(open_names.values()):
            raise InvalidParameter(
                "tuner 'svc_auto' decides gamma of the feature map, nu of the solver and min_cluster_size of the "
                "labeler; here all of them are set or absent. Leave one at None, or use tuner=None."
            )
        rows = sample_rows(len(X), self.max_rows, rng)
        if "gamma" in open_names["featuremap"]:
            search = SvcAutoSearch.of(stages, "nu" in open_names["solver"], X, rows, rng)
            choice = search.run(begin + self.max_seconds)
        else:
            facts = {"rule": "gamma is set: fixed outlier fraction", "runs": 0}
            choice = SvcAutoChoice(math.nan, DEFAULT_FRACTION, _least_size(len(rows)), facts)
        least = max(1, round(choice.min_cluster_size * len(X) / len(rows)))
        values = {"gamma": choice.gamma, "nu": choice.nu, "min_cluster_size": least}
        tuned = {
            slot: with_parameters(stage, {name: values[name] for name in open_names[slot]})
            for slot, stage in stages.items()
        }
        facts = {**choice.facts, "rows": len(rows), "seconds": round(time.monotonic() - begin, 3)}
        return Tuned(tuned, facts, choice.interrupted)


def _least_size(m: int) -> int:
    """Smallest cluster among m rows: √m / 2 but at least 5, and at most a fifth of the rows where these are few."""
    return min(max(SMALLEST_CLUSTER, round(math.sqrt(m) / 2.0)), max(2, m // 5))


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
    """

    gamma: float
    nu: float | None
    min_cluster_size: int
    facts: Mapping[str, object]
    interrupted: bool = False


@final
@attrs.frozen(eq=False)
class SvcAutoSearch:
    """Runs over bandwidths and outlier fractions on some rows.

    Parameters
    ----------
    space : KernelSpace
        The space of the rows; its bandwidth is replaced in every run.
    solver : Solver
    labeler : Labeler
    open_nu : bool
        Whether the outlier fraction is searched.
    least : int
        Smaller components are dissolved.
    D : ndarray of shape (m, m)
        Squared distances of the rows.
    rng : Generator
    """

    space: KernelSpace
    solver: Solver
    labeler: Labeler
    open_nu: bool
    least: int
    D: Array
    rng: Rng

    @classmethod
    def of(cls, stages: Mapping[str, Stage], open_nu: bool, X: Array, rows: Indices, rng: Rng) -> SvcAutoSearch:
        """The search on some rows of X (n, d)."""
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
        least, least_in_all = _least_size(m), cast("int | None", labeler.parameters().get("min_cluster_size"))
        if least_in_all is not None:
            least = max(least, round(least_in_all * m / len(X)))
        if "outliers" in labeler.parameters():
            labeler = labeler.with_parameters(outliers="noise")
        if "min_cluster_size" in labeler.parameters():
            labeler = labeler.with_parameters(min_cluster_size=1)
        return cls(space, cast(Solver, stages["solver"]), labeler, open_nu, least, D, rng)

    def run(self, end: float) -> SvcAutoChoice:
        """Make the runs until `end`, a time of ``time.monotonic``, and choose among their partitions."""
        start, widths = _widths(self.D)
        partitions, runs, ended = self._partitions(widths, end)
        if ended != ALL_TRIED:
            _warn_ended(ended, runs)
        facts: dict[str, Any] = {"runs": runs, "ended": ended, "candidates": len(partitions)}
        interrupted = ended == "interrupted"
        scored = best(partitions, ReachabilityTree.of(self.D)) if partitions else None
        if scored is None:
            facts = {"rule": "no partition qualified: the widest kernel", **facts}
            return SvcAutoChoice(float(widths[0]), min(FRACTIONS), 1, facts, interrupted)
        winner = scored.partition
        facts.update(
            score=round(scored.score, 6),
            widths=scored.lasts,
            separation=round(scored.separation, 6),
            clusters=winner.k,
            coverage=round(winner.coverage, 6),
        )
        local = self._local_choice(scored, partitions, start, widths, facts)
        if local is not None:
            return attrs.evolve(local, interrupted=interrupted)
        facts = {"rule": "most lasting, separated and even partition", **facts}
        nu = self._fractions[winner.column]
        return SvcAutoChoice(float(widths[winner.row]), nu, self.least, facts, interrupted)

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
        facts: Mapping[str, Any],
    ) -> SvcAutoChoice | None:
        """The local bandwidth `start` with half of the rows outside, where it is preferred to the best partition."""
        if self.space.points.shape[1] > FEW_COORDINATES or not self.open_nu:
            return None
        zero, half = int(np.argmin(np.abs(widths - start))), FRACTIONS.index(HALF)
        local = [partition for partition in partitions if (partition.row, partition.column) == (zero, half)]
        if scored.chance:
            rule = "nothing better than chance: the local width, half of the rows outside"
            return SvcAutoChoice(start, HALF, self.least, {"rule": rule, **facts})
        if local and local[0].k > scored.partition.k and lasts(local[0], partitions, LOCAL_SAME) >= LOCAL_LASTS:
            rule = "a finer partition lasts: the local width, half of the rows outside"
            finer = {"clusters": local[0].k, "coverage": round(local[0].coverage, 6)}
            return SvcAutoChoice(start, HALF, self.least, {"rule": rule, **facts, **finer})
        return None

    def _partitions(self, widths: Array, end: float) -> tuple[list[GridPartition], int, str]:
        """The qualified partitions, the number of runs, and what ended the search."""
        partitions: list[GridPartition] = []
        runs, ended = 0, ALL_TRIED
        if len(widths) < 2 or len(self.D) < FEWEST_ROWS:
            return partitions, runs, ended
        try:
            for partition in self._runs(widths, end):
                runs += 1
                if partition is not None:
                    partitions.append(partition)
                if time.monotonic() > end:
                    ended = "max_seconds"
                    break
        except RunTookTooLong:
            ended = "max_seconds"
        except KeyboardInterrupt:
            ended = "interrupted"
            if not partitions:
                raise
        return partitions, runs, ended

    def _runs(self, widths: Array, end: float) -> Iterator[GridPartition | None]:
        """The partition of each run, or None where it does not qualify; the order is fixed."""
        m, done, total = len(self.D), 0, len(widths) * len(self._fractions)
        most = max(math.sqrt(m), m / (2.0 * self.least))
        for column, fraction in enumerate(self._fractions):
            shattered = 0
            for row, gamma in enumerate(widths):
                # a run on 2,000 rows of many attributes can take minutes
                with deadline(end + GRACE - time.monotonic()) as limit:
                    partition = self._partition(float(gamma), fraction, row, column)
                if limit.passed:
                    raise RunTookTooLong
                done += 1
                tell(Report(SvcAuto.name, done, total))
                many = partition.k > most
                yield partition if partition.k >= 2 and not many and partition.coverage >= LEAST_COVERAGE else None
                # Narrower kernels only break the clusters further: two such runs in a row end this fraction.
                few = partition.coverage < 0.5 * (1.0 - (fraction or 0.0))
                shattered = shattered + 1 if many or few else 0
                if shattered == 2:
                    break
            done = (column + 1) * len(widths)

    def _partition(self, gamma: float, fraction: float | None, row: int, column: int) -> GridPartition:
        """One run of the stages: components, small ones dissolved, all other rows to the nearest cluster."""
        from clusterkit.tuners._nearest_label_jit import fill

        m = len(self.D)
        task = Task(m, None)
        solver = self.solver if fraction is None else self.solver.with_parameters(nu=max(fraction, 1.0 / m))
        space = attrs.evolve(self.space, kernel=Gaussian(gamma), memo={})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClusterkitWarning)  # a failing run shows in its partition
            outcome = solver.prepare(space, task, self.rng).solve(None, None, self.rng)
            labeling = self.labeler.label(outcome, space, task, self.rng)
        if labeling.interrupted or (outcome.status is not None and outcome.status.interrupted):
            raise KeyboardInterrupt  # the run returned its intermediate result; the search has to end all the same
        labels = labeling.labels
        sizes = np.bincount(labels[labels >= 0], minlength=1)
        number = np.full(len(sizes) + 1, -1, dtype=np.int64)  # the last entry is noise
        large = np.flatnonzero(sizes >= self.least)
        number[large] = np.arange(len(large))
        labels = number[labels]
        coverage = float(np.mean(labels >= 0))
        if len(large) < 2:
            return GridPartition(row, column, np.zeros(m, dtype=np.int64), 1, coverage)
        return GridPartition(row, column, fill(labels, self.D), len(large), coverage)


def _warn_ended(ended: str, runs: int) -> None:
    advice = "; raise max_seconds for a choice that the speed of the machine does not decide"
    warnings.warn(
        f"tuner 'svc_auto' was ended by {ended} after {runs} runs, and the best of them is used"
        f"{advice if ended == 'max_seconds' else ''}",
        ClusterkitWarning,
        stacklevel=5,
    )


class RunTookTooLong(Exception):
    """Ends the search after a run that went on long after the time limit and was abandoned."""


def _widths(D: Array) -> tuple[float, Array]:
    """The local bandwidth and the bandwidths to try, ascending; a single one where the rows have no scale."""
    largest = float(D.max())
    if not 0.0 < largest < math.inf:
        return 1.0, np.array([1.0])
    others = without_equal_rows(D, largest)
    ranks = [min(rank, len(D) - 1) for rank in (0, 2)]
    near = np.sort(np.partition(others, ranks, axis=1)[:, : ranks[1] + 1], axis=1)
    nearest, third = near[:, 0], near[:, -1]
    third = np.where(np.isfinite(third), third, nearest)
    start = LOCAL / float(np.median(third))
    low, high = bandwidth_range(largest, nearest)
    first = math.ceil(math.log(low / start, STEP))
    last = max(first, math.floor(math.log(max(high, start) / start, STEP)))
    widths: Array = start * STEP ** np.arange(max(first, last - MOST_WIDTHS + 1), last + 1)
    return start, widths
