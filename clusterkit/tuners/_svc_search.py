"""The search of the tuner ``svc_auto``: which runs are made, in which order, and which partition is chosen."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.deadline import deadline
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.progress import Report, tell
from clusterkit.core.work import metered
from clusterkit.tuners._open_parameters import FEW_POINTS, Piles, warn_of_nothing
from clusterkit.tuners._plateau_score import GridPartition, ReachabilityTree, ScoredPartition, best, lasts
from clusterkit.tuners._svc_runs import SvcRuns, WidthRuns, widths_of

__all__ = ["ALL_TRIED", "DEFAULT_FRACTION", "FRACTIONS", "SvcAutoChoice", "SvcAutoSearch"]

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
"""So many shattered runs in a row end an outlier fraction: narrower kernels only break the clusters further."""
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
"""A best partition that is no better than chance is replaced in any case if it lasts over at most so many bandwidths:
those of 36 single clouds all lasted over one."""
CHANCE_LOSS = 0.2
"""If it lasts longer, it stays where the separation of the partition at the local bandwidth is worse by more."""

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
        Only partitions of so many clusters qualify, where there are any.
    max_work : int or None
        Most kernel evaluations of all runs.
    end : float or None
        Time of ``time.monotonic`` after which no run is made.
    """

    runs: SvcRuns
    open_nu: bool
    n_clusters: int | None
    max_work: int | None
    end: float | None
    n_runs: int = 0
    work: int = 0
    ended: str = ALL_TRIED

    def choice(self) -> SvcAutoChoice:
        """Make the runs, and choose among their partitions; rows in piles need no run."""
        piles = Piles.of(self.runs.D)
        if piles is not None and piles.few(self.runs.least):
            clusters = len(piles.large(self.runs.least))
            if self.n_clusters in (None, clusters):
                return self._of_piles(piles, {"rule": FEW_POINTS, "runs": 0, "clusters": clusters}, False)
        start, widths = widths_of(self.runs.D)
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
                rule = "no partition qualified: the points with most rows"
                return self._of_piles(piles, {"rule": rule, **facts}, interrupted)
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
        """Most clusters of a partition that qualifies."""
        m = len(self.runs.D)
        return max(math.sqrt(m), m / (2.0 * self.runs.least))

    def _qualify(self, piles: Piles) -> bool:
        """Whether the points that have enough rows to be clusters are a partition that qualifies."""
        large = piles.large(self.runs.least)
        return 2 <= len(large) <= self._most and large.sum() >= LEAST_COVERAGE * len(self.runs.D)

    def _of_piles(self, piles: Piles, facts: Mapping[str, Any], interrupted: bool) -> SvcAutoChoice:
        """The bandwidth that parts the points, without outliers: each is on the contour, however few its rows are."""
        m = len(self.runs.D)
        nu = 1.0 / m if self.open_nu else None
        return SvcAutoChoice(piles.gamma, nu, self.runs.least, facts, interrupted, len(piles.sizes) / m)

    def _warn_unqualified(self) -> None:
        m, largest = len(self.runs.D), float(self.runs.D.max())
        if not 0.0 < largest < float(np.finfo(self.runs.space.points.dtype).max):
            return  # of equal rows the fit warns, and refuses those whose distances overflow
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
        """The qualified partitions; sets the number of runs, their work and what ended the search."""
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
        # from the smallest fraction on: its solution may be that of the others too, and is their start otherwise
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
                tell(Report("svc_auto", done, total))
                yield partition if qualified else None

    def _run(self, at_width: WidthRuns, column: int) -> GridPartition | None:
        """One run; None if a limit ended it, which ends the search."""
        remaining = None if self.max_work is None else self.max_work - self.work
        seconds = None if self.end is None else self.end - time.monotonic()
        with deadline(seconds) as limit, metered(remaining) as meter:
            partition = at_width.partition(self._fractions[column], column)
        if meter.passed:
            # of the work of the run given up nothing is used
            self.ended = "max_work"
            return None
        self.work += meter.spent
        if limit.passed:
            self.ended = "max_seconds"
            return None
        return partition


def _warn_ended(ended: str, runs: int) -> None:
    advice = {
        "max_work": "; raise tuner__max_work for the search of all widths",
        "max_seconds": "; the choice depends on the speed of the machine: raise max_seconds or set it to None",
    }
    warnings.warn(
        f"tuner 'svc_auto' was ended by {ended} after {runs} runs, and the best of them is used{advice.get(ended, '')}",
        ClusterkitWarning,
        stacklevel=5,
    )
