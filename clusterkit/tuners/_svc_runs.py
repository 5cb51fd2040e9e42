"""The runs of the tuner ``svc_auto``: solve and label at a bandwidth and an outlier fraction, on the rows searched."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.core import memory
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.kernel import Gaussian
from clusterkit.core.outcomes import KernelDomain, Outcome
from clusterkit.core.registry import registry
from clusterkit.core.spaces import KernelSpace
from clusterkit.core.stages import FeatureMap, Labeler, Resumable, Solver, Stage, Task
from clusterkit.numerics.bandwidths import bandwidth_range, without_equal_rows
from clusterkit.numerics.distances import squared_distances
from clusterkit.tuners._open_parameters import search_space
from clusterkit.tuners._plateau_score import GridPartition

__all__ = ["SvcRuns", "WidthRuns", "least_size", "widths_of"]

STEP = math.sqrt(2.0)
"""Ratio of consecutive bandwidths: half an octave."""
MOST_WIDTHS = 60
"""At most so many bandwidths, the narrowest ones: 30 octaves, more than data without extreme outliers need."""
SMALLEST_CLUSTER = 5
"""Smallest cluster that is not dissolved, for up to 100 rows; above that √m / 2."""
LOCAL = 0.2
"""The local bandwidth is this over the median squared distance to the third neighbour."""
AT_BOUND = 1e-9
"""Relative distance from its bound up to which a weight counts as bounded."""
UNLIMITED: Mapping[str, Any] = {"max_work": None, "max_seconds": None}
"""Limits of a labeler that the runs lift: the budget of the search holds for all runs together."""


def least_size(m: int) -> int:
    """Smallest cluster among m rows: √m / 2 but at least 5, and at most a fifth of the rows where these are few."""
    return min(max(SMALLEST_CLUSTER, round(math.sqrt(m) / 2.0)), max(2, m // 5))


@final
@attrs.frozen(eq=False)
class SvcRuns:
    """What the runs have in common.

    Parameters
    ----------
    space : KernelSpace
        The space of the rows; its bandwidth is replaced in every run.
    solver : Solver
    labeler : Labeler
    least : int
        Smaller components are dissolved.
    D : ndarray of shape (m, m)
        Squared distances of the rows.
    rng : Generator
    labels_of : callable or None
        Labels of a domain by candidate edges; None: those of the labeler.
    """

    space: KernelSpace
    solver: Solver
    labeler: Labeler
    least: int
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
        if labeler.takes_k:  # the search looks for components that last, whatever number is asked for in the end
            labeler = registry.get("labeler", "complete_graph")()
        least, least_in_all = least_size(m), cast("int | None", labeler.parameters().get("min_cluster_size"))
        if least_in_all is not None:
            least = max(least, round(least_in_all * m / len(X)))
        wanted = {"outliers": "noise", "min_cluster_size": 1, **UNLIMITED}
        labeler = labeler.with_parameters(**{name: wanted[name] for name in wanted if name in labeler.parameters()})
        by_candidates = getattr(labeler, "candidate_labels", None)
        labels_of = None
        if m > exact_rows and by_candidates is not None and np.isfinite(D).all():
            labels_of = by_candidates(space, least)
        return cls(space, cast(Solver, stages["solver"]), labeler, least, D, rng, labels_of)

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
        from clusterkit.tuners._nearest_label_jit import fill

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
    previous : Outcome or None
        The solution of the last fraction, from which the next one starts.
    free : tuple of (float, GridPartition) or None
        Largest weight of a solution of which no weight is at its bound, and its partition: every bound from that weight
        on has the same solution.
    """

    runs: SvcRuns
    row: int
    space: KernelSpace
    prepared: Any = None
    previous: Outcome | None = None
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
            outcome = self._solve(solver)
            if outcome.status is not None and outcome.status.interrupted:
                raise KeyboardInterrupt
            partition = runs.partition(runs.labels(outcome, self.space), self.row, column)
        if isinstance(outcome, KernelDomain):
            partition = attrs.evolve(partition, support=min(1.0, len(outcome.centres) / m))
        largest = _largest_free_weight(solver, outcome, bound)
        if largest is not None:
            self.free = largest, partition
        return partition

    def _solve(self, solver: Solver) -> Outcome:
        if isinstance(self.prepared, Resumable) and self.previous is not None:
            self.previous = self.prepared.resolve(solver, self.previous)
        else:
            self.prepared = solver.prepare(self.space, Task(len(self.runs.D), None), self.runs.rng)
            self.previous = self.prepared.solve(None, None, self.runs.rng)
        return self.previous


def _largest_free_weight(solver: Solver, outcome: Outcome, bound: float) -> float | None:
    """The largest weight where no weight is bounded and the problem is convex with one solution, else None.

    The dual of svdd with equal weights is such a problem: its solution inside the bounds is that of every wider bound.
    Weights of equal rows are added up, which makes them larger and the answer None more often.
    """
    plain = solver.name == "svdd" and solver.parameters().get("weights") is None
    if not plain or not isinstance(outcome, KernelDomain):
        return None
    largest = float(outcome.weights.max())
    return largest if largest < bound * (1.0 - AT_BOUND) else None


def widths_of(D: Array) -> tuple[float, Array]:
    """The local bandwidth and the bandwidths to try, ascending; a single one where the rows have no scale."""
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
