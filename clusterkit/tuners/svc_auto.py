"""Chooses the width of a Gaussian kernel, the share of outliers and the least size of a cluster."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core import memory, params
from clusterkit.core.chain import Chain
from clusterkit.core.errors import ClusterkitWarning, InvalidParameter
from clusterkit.core.kernel import Gaussian
from clusterkit.core.progress import Report, listening, tell
from clusterkit.core.spaces import KernelSpace
from clusterkit.core.stages import FeatureMap, Stage, Task, Tuned, Tuner
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.tuners._plateaus import Partition, Tree, best, lasts

__all__ = ["SvcAuto"]

SHARES = (0.2, 0.5, 0.3, 0.05)
"""Shares of outliers tried, the most useful first: a budget may end the search before the last."""
DEFAULT_SHARE = 0.2
STEP = math.sqrt(2.0)
MOST_WIDTHS = 60
LEAST_COVERAGE = 0.4
"""Below 1 less the largest share: at the boundary chance would decide whether a run counts."""
SMALLEST_CLUSTER = 5
FEWEST_ROWS = 8
GRACE = 2.0
"""Seconds that a run may go on after the budget has ended."""
LOCAL = 0.2
"""The local width is this over the median squared distance to the third neighbour."""
HALF, PLANE = 0.5, 3
"""Share of outliers with the local width, and the most coordinates for which it is of use."""
LOCAL_SAME, LOCAL_LASTS = 0.75, 5
"""Agreement, and widths (two octaves) it has to hold over, for a partition at the local width to win by being finer."""


@final
@attrs.frozen
class SvcAuto(Tuner):
    """Runs the stages over many widths and keeps the partition that lasts, is separated and is not lopsided.

    For support vector clustering and whatever else reads clusters from a domain in a Gaussian kernel space. It decides
    `gamma` of the kernel, `nu` of the solver and `min_cluster_size` of the labeler, each only if it was left at
    None. At most 240 runs, mostly 70 to 120, on at most `max_rows` rows; memory O(max_rows²).

    Parameters
    ----------
    max_rows : int, default 2000
        Larger data are judged by a random sample of so many rows, drawn by the tuner's stream. `gamma` and `nu` are
        used as found there; `min_cluster_size` keeps its share of the rows.
    max_seconds : float, default 30
        No run starts later than this, and one under way is given up 2 s later, at its next report. The best of the
        runs made is then used, and the facts say so; only in this case a result depends on the speed of the machine.

    Raises
    ------
    InvalidParameter
        If the stages have nothing that this tuner decides.

    Notes
    -----
    Widths are ``gamma = γ0 2^(j/2)``, ``γ0 = 0.2 /`` median squared distance to the third neighbour, from 1 / (largest
    squared distance) to 4 ln 2 / (lower decile of the squared distances to the nearest neighbour), beyond which most
    rows are alone; at most the 60 narrowest. Shares `nu` are 0.05, 0.2, 0.3 and 0.5. Each run gives components;
    those smaller than ``max(5, √m / 2)`` of m rows are dissolved, and everything outside goes to the nearest cluster.
    Partitions of at least two clusters and at most ``max(√m, m / (2 least))`` that cover 0.4 of the rows before this
    are judged by ``ln L + 2 V + ln H``, see `clusterkit.tuners._plateaus.best`. If there are none, the widest kernel
    is used, mostly with one cluster; likewise for fewer than 8 rows. In up to three coordinates ``gamma = γ0`` and
    ``nu = 0.5`` is taken instead where the best partition has L <= 5 and V < 0, no better than those of a single cloud,
    or where the one found there has more clusters and much the same are found over five widths (adjusted Rand index of
    0.75): classes rather than groups of them.

    If `gamma` (or `sigma`) was given, nothing is run: `nu` is 0.2. If `nu` or `C` was given, only widths are
    searched. With a chain of maps the rule sees the coordinates before the kernel.

    References
    ----------
    Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2, section 4: widths over which the
    number of clusters does not change.
    Moulavi, Jaskowiak, Campello, Zimek, Sander (2014), Density-based clustering validation, SDM: the separation.
    """

    name: ClassVar[str] = "svc_auto"

    max_rows: int = params.integer(2000, at_least=2)
    max_seconds: float = params.real(30.0, above=0.0)

    def tune(self, stages: Mapping[str, Stage], X: Array, rng: Rng) -> Tuned:
        """The stages with width, share of outliers and least size filled in where they were open."""
        begin = time.monotonic()
        open_ = _open(stages)
        if not any(open_.values()):
            raise InvalidParameter(
                "tuner 'svc_auto' decides gamma of the feature map, nu of the solver and min_cluster_size of the "
                "labeler; here each of them is given or absent. Leave one at None, or use tuner=None."
            )
        rows = _sample(len(X), self.max_rows, rng)
        found: dict[str, Any]
        if "gamma" in open_["featuremap"]:
            found = _Search.of(stages, open_, X, rows, rng).run(begin + self.max_seconds)
        else:
            found = {"nu": DEFAULT_SHARE, "rule": "the width was given: fixed share of outliers", "runs": 0}
        found.setdefault("min_cluster_size", _least_size(len(rows)))
        found["min_cluster_size"] = max(1, round(found["min_cluster_size"] * len(X) / len(rows)))
        tuned = {slot: _with(stage, {name: found[name] for name in open_[slot]}) for slot, stage in stages.items()}
        facts = {name: value for name, value in found.items() if name not in ("gamma", "nu", "min_cluster_size")}
        facts.update(rows=len(rows), seconds=round(time.monotonic() - begin, 3))
        return Tuned(tuned, facts)


def _open(stages: Mapping[str, Stage]) -> dict[str, tuple[str, ...]]:
    """Parameters to decide, by slot; one that an alternative to it makes superfluous is not open."""
    instead = {"gamma": ("sigma", "sigma_fraction"), "nu": ("C",), "min_cluster_size": ()}
    found = {}
    for slot, stage in stages.items():
        stage = stage.maps[-1] if isinstance(stage, Chain) else stage
        values = stage.parameters()
        found[slot] = tuple(
            name
            for name, others in instead.items()
            if name in stage.tunable and all(values.get(other) is None for other in (name, *others))
        )
    return found


def _with(stage: Stage, values: Mapping[str, Any]) -> Stage:
    """A stage with some parameters set; those of a chain belong to its last map."""
    if not values:
        return stage
    if isinstance(stage, Chain):
        last: FeatureMap = stage.maps[-1].with_parameters(**values)
        return Chain((*stage.maps[:-1], last))
    return stage.with_parameters(**values)


def _sample(n: int, most: int, rng: Rng) -> Array:
    """Indices of the rows to judge by, in their order."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def _least_size(m: int) -> int:
    """Smallest cluster among m rows: about a fifth of them where they are few."""
    return min(max(SMALLEST_CLUSTER, round(math.sqrt(m) / 2.0)), max(2, m // 5))


@final
@attrs.frozen(eq=False)
class _Search:
    """Runs over widths and shares of outliers on some rows.

    Parameters
    ----------
    space : KernelSpace
        Of the rows; its kernel does not matter.
    solver, labeler : stages
    open_nu : bool
        Whether the share of outliers is searched.
    least : int
        Smaller components are dissolved.
    D : ndarray of shape (m, m)
        Squared distances.
    rng : Generator
    """

    space: KernelSpace
    solver: Any
    labeler: Any
    open_nu: bool
    least: int
    D: Array
    rng: Rng

    @classmethod
    def of(
        cls, stages: Mapping[str, Stage], open_: Mapping[str, tuple[str, ...]], X: Array, rows: Array, rng: Rng
    ) -> _Search:
        """The search for some rows of X (n, d)."""
        featuremap: Any = _with(stages["featuremap"], {"gamma": 1.0})
        solver, labeler = stages["solver"], stages["labeler"]
        m = len(rows)
        memory.require(
            4 * 8 * m * m, f"the {m} x {m} distances of tuner 'svc_auto'", "Lower its max_rows, or give gamma."
        )
        # the first maps of a chain see all rows, as they will in the fit
        chained = isinstance(featuremap, Chain)
        space = (
            featuremap.fit(X, Task(len(X), None), rng).take(rows)
            if chained
            else featuremap.fit(X[rows], Task(len(rows), None), rng)
        )
        if space.sparse:
            # the same distances in few coordinates: many widths pay for that
            space = attrs.evolve(space, points=cast(SparseRows, space.points).isometric(), before=())
        points = space.points.astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):  # the fit refuses such values with a reason
            D = squared_distances(points, points)
        D = np.maximum(D, D.T)
        np.fill_diagonal(D, 0.0)
        least, given = _least_size(m), labeler.parameters().get("min_cluster_size")
        if given is not None:
            least = max(least, round(given * m / len(X)))
        if "outliers" in labeler.parameters():
            labeler = labeler.with_parameters(outliers="noise")
        if "min_cluster_size" in labeler.parameters():
            labeler = labeler.with_parameters(min_cluster_size=1)
        return cls(space, solver, labeler, "nu" in open_["solver"], least, D, rng)

    def run(self, deadline: float) -> dict[str, Any]:
        """The values, and how they were found."""
        start, widths = _widths(self.D)
        shares: tuple[float | None, ...] = SHARES if self.open_nu else (None,)
        partitions: list[Partition] = []
        runs, ended = 0, "all widths tried"  # of each share those up to where it shatters
        if len(widths) > 1 and len(self.D) >= FEWEST_ROWS:
            try:
                for partition in self._runs(widths, shares, deadline):
                    runs += 1
                    if partition is not None:
                        partitions.append(partition)
                    if time.monotonic() > deadline:
                        ended = "max_seconds"
                        break
            except _OutOfTime:
                ended = "max_seconds"
            except KeyboardInterrupt:
                ended = "interrupted"
                if not partitions:
                    raise
        if ended != "all widths tried":
            advice = "; raise max_seconds for a choice that the speed of the machine does not decide"
            warnings.warn(
                f"tuner 'svc_auto' was ended by {ended} after {runs} runs, and the best of them is used"
                f"{advice if ended == 'max_seconds' else ''}",
                ClusterkitWarning,
                stacklevel=4,
            )
        facts: dict[str, Any] = {"runs": runs, "ended": ended, "candidates": len(partitions)}
        choice = best(partitions, Tree.of(self.D)) if partitions else None
        if choice is None:
            rule = "no partition qualified: the widest kernel"
            return {"gamma": float(widths[0]), "nu": min(SHARES), "min_cluster_size": 1, "rule": rule, **facts}
        winner = choice.partition
        facts.update(
            score=round(choice.score, 6),
            widths=choice.lasts,
            separation=round(choice.separation, 6),
            clusters=winner.k,
            coverage=round(winner.coverage, 6),
        )
        if self.space.points.shape[1] <= PLANE and self.open_nu:
            zero, half = int(np.argmin(np.abs(widths - start))), SHARES.index(HALF)
            local = [each for each in partitions if (each.row, each.column) == (zero, half)]
            rule = ""
            if choice.chance:
                rule = "nothing better than chance: the local width, half of the rows outside"
            elif local and local[0].k > winner.k and lasts(local[0], partitions, LOCAL_SAME) >= LOCAL_LASTS:
                rule = "a finer partition lasts: the local width, half of the rows outside"
                facts.update(clusters=local[0].k, coverage=round(local[0].coverage, 6))
            if rule:
                return {"gamma": start, "nu": HALF, "min_cluster_size": self.least, "rule": rule, **facts}
        return {
            "gamma": float(widths[winner.row]),
            "nu": shares[winner.column],
            "min_cluster_size": self.least,
            "rule": "most lasting, separated and even partition",
            **facts,
        }

    def _runs(self, widths: Array, shares: tuple[float | None, ...], deadline: float) -> Iterator[Partition | None]:
        """A partition a run, or None where it does not qualify; the order is fixed."""
        m, done, total = len(self.D), 0, len(widths) * len(shares)
        most = max(math.sqrt(m), m / (2.0 * self.least))
        for column, share in enumerate(shares):
            shattered = 0
            for row, gamma in enumerate(widths):
                with listening(partial(_stop, deadline + GRACE)):
                    partition = self._partition(float(gamma), share, row, column)
                done += 1
                tell(Report(SvcAuto.name, done, total))
                many = partition.k > most
                yield partition if partition.k >= 2 and not many and partition.coverage >= LEAST_COVERAGE else None
                # Narrower kernels only break more: two such runs in a row end this share.
                few = partition.coverage < 0.5 * (1.0 - (share or 0.0))
                shattered = shattered + 1 if many or few else 0
                if shattered == 2:
                    break
            done = (column + 1) * len(widths)

    def _partition(self, gamma: float, share: float | None, row: int, column: int) -> Partition:
        """One run of the stages: components, small ones dissolved, all else to the nearest."""
        from clusterkit.tuners._pieces_jit import fill

        m = len(self.D)
        task = Task(m, None)
        solver = self.solver if share is None else self.solver.with_parameters(nu=max(share, 1.0 / m))
        space = attrs.evolve(self.space, kernel=Gaussian(gamma), memo={})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClusterkitWarning)  # a run that fails is judged by what it gives
            outcome = solver.prepare(space, task, self.rng).solve(None, None, self.rng)
            labeling = self.labeler.label(outcome, space, task, self.rng)
        if labeling.interrupted or (outcome.status is not None and outcome.status.interrupted):
            raise KeyboardInterrupt  # a run kept what it had; the search has to end all the same
        labels = labeling.labels
        sizes = np.bincount(labels[labels >= 0], minlength=1)
        number = np.full(len(sizes) + 1, -1, dtype=np.int64)  # the last entry is noise
        kept = np.flatnonzero(sizes >= self.least)
        number[kept] = np.arange(len(kept))
        labels = number[labels]
        coverage = float(np.mean(labels >= 0))
        if len(kept) < 2:
            return Partition(row, column, np.zeros(m, dtype=np.int64), 1, coverage)
        return Partition(row, column, fill(labels, self.D), len(kept), coverage)


class _OutOfTime(Exception):
    """Ends a run from inside one of its reports."""


def _stop(deadline: float, report: Report) -> None:
    """Give a run up that goes on for too long: one at 2,000 rows of many attributes can take minutes."""
    if time.monotonic() > deadline:
        raise _OutOfTime


def _widths(D: Array) -> tuple[float, Array]:
    """The local width, and those to try, ascending; one only where the rows have no scale."""
    largest = float(D.max())
    if not 0.0 < largest < math.inf:
        return 1.0, np.array([1.0])
    # equal rows, and what rounding left between them, say nothing about the scale
    off = np.where(1e-13 * largest >= D, math.inf, D)
    ranks = [min(rank, len(D) - 1) for rank in (0, 2)]
    near = np.sort(np.partition(off, ranks, axis=1)[:, : ranks[1] + 1], axis=1)
    nearest, third = near[:, 0], near[:, -1]
    third = np.where(np.isfinite(third), third, nearest)
    start = LOCAL / float(np.median(third))
    low, high = 1.0 / largest, 4.0 * math.log(2.0) / float(np.quantile(nearest, 0.1))
    first = math.ceil(math.log(low / start, STEP))
    last = max(first, math.floor(math.log(max(high, start) / start, STEP)))
    widths: Array = start * STEP ** np.arange(max(first, last - MOST_WIDTHS + 1), last + 1)
    return start, widths
