"""The labeler that follows a Gaussian kernel sum uphill.

Every sample x ascends ``g(x) = Σ_s w_s exp(-gamma |x - c_s|²)`` by mean-shift steps to an equilibrium, a point that the
step leaves unchanged; samples that reach the same one form its basin. `Equilibrium` joins two basins whose equilibria a
segment inside the domain connects. Lee, Lee (2005), IEEE Trans. PAMI 27.

`basin_labeling` makes labels of basins and components: outliers, small clusters, and the ascent of new samples. The
ascent is in `level_sets/equilibria.py`, its step in `level_sets/_ascent_jit.py` (`step`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.contracts import Labeler, Labeling, Task
from clusterkit.contracts.labelings import NOISE, by_appearance
from clusterkit.contracts.outcomes import KernelDomain, Outcome
from clusterkit.contracts.params import choice, integer, real
from clusterkit.families.support_vectors._outliers import MOST_POINTS, OUTLIERS, outliers_resolved, warn_of_equal_rows
from clusterkit.families.support_vectors.level_sets.equilibria import Ascent, Basins
from clusterkit.families.support_vectors.level_sets.neighbours import DistinctRows, nearest_label, nearest_rows
from clusterkit.numerics.selection import are_few
from clusterkit.numerics.shapes import array
from clusterkit.samples import KernelSpace, Space
from clusterkit.samples.array_libraries import BlockFunction, to_host
from clusterkit.samples.kernels import left_with
from clusterkit.samples.transform import Transform

BASIN_OUTLIERS = ("basin", *OUTLIERS)
"""The treatments of samples outside the domain: those of all labelers, and "basin", like any other sample."""


def basin_labeling(
    ascent: Ascent,
    basins: Basins,
    of_row: Indices,
    component: Labels,
    distinct: DistinctRows,
    domain: KernelDomain,
    space: Space,
    *,
    outliers: str,
    min_cluster_size: int,
    facts: Mapping[str, Any],
) -> Labeling:
    """Labels of the samples, and the function that labels new samples, which ascend to an equilibrium themselves.

    Parameters
    ----------
    ascent : Ascent
    basins : Basins
    of_row : ndarray of shape (u,)
        The equilibrium of each distinct row.
    component : ndarray of shape (M,)
        The component of each equilibrium, any numbers >= 0.
    distinct : DistinctRows
        The distinct points of `space`.
    domain : KernelDomain
    space : Space
    outliers : {"basin", "noise", "nearest", "singleton"}
    min_cluster_size : int
        The samples of components with fewer samples, outliers not counted, are outliers; with "basin" their label
        is -1.
    facts : mapping
        Statistics of the search, stored in the predictor.
    """
    clusters = component[of_row]
    count = int(component.max()) + 1
    if len(distinct.inverse) > 1:  # a single sample is a cluster, inside the domain or not
        if outliers != "basin":
            clusters[~(domain.value(distinct.rows) >= domain.level)] = NOISE
        inside = clusters >= 0
        sizes = np.bincount(clusters[inside], weights=distinct.counts[inside], minlength=count)
        clusters[inside] = np.where(sizes[clusters[inside]] >= min_cluster_size, clusters[inside], NOISE)
    labels = by_appearance(outliers_resolved(clusters, distinct, outliers, count))
    if outliers == "basin" and are_few(len(distinct.rows), len(distinct.inverse)):
        outside = np.flatnonzero(~(domain.value(distinct.rows) >= domain.level))
        warn_of_equal_rows(labels, outside, distinct, outliers)
    in_cluster = np.flatnonzero(clusters >= 0)
    component_labels = np.full(count, NOISE, dtype=np.intp)
    component_labels[clusters[in_cluster]] = labels[in_cluster]
    equilibrium_labels = component_labels[component]
    # some equilibria have no samples: a new sample there gets the label of the nearest equilibrium that has some
    visited = np.zeros(len(component), dtype=bool)
    visited[of_row] = True
    points = basins.points
    equilibrium_labels[~visited] = equilibrium_labels[visited][nearest_rows(points[~visited], points[visited])]
    predict = BasinPredictor(
        space.coordinates,
        domain,
        ascent,
        basins,
        equilibrium_labels,
        distinct.rows,
        labels,
        in_cluster,
        outliers,
        dict(facts),
    )
    return Labeling(labels[distinct.inverse], predict)


@final
@attrs.frozen(eq=False)
class BasinPredictor(BlockFunction):
    """Labels new samples; a frozen callable, so that a fit can be pickled.

    A row equal to a training sample gets the label of that sample. Any other row ascends and gets the label of the
    equilibrium that it reaches, or of the nearest known equilibrium if that one is new.

    Parameters
    ----------
    coordinates : Transform
        Maps raw rows to the coordinates of `rows`.
    domain : KernelDomain
    ascent : Ascent
    basins : Basins
    equilibrium_labels : ndarray of shape (M,)
        Label of each equilibrium, -1 if its component is too small or has no samples but outliers.
    rows : ndarray of shape (u, d)
        Distinct training samples.
    labels : ndarray of shape (u,)
        Labels of `rows`.
    in_cluster : ndarray of int
        Indices of the rows that are no outliers.
    outliers : {"basin", "noise", "nearest", "singleton"}
        New outliers are -1 with "singleton".
    facts : mapping
        Statistics of the search: numbers of starts, steps, equilibria and more.
    """

    coordinates: Transform
    domain: KernelDomain
    ascent: Ascent
    basins: Basins
    equilibrium_labels: Labels = attrs.field(validator=array("M", least=NOISE, most="M"))
    rows: Array = attrs.field(validator=array("u d"))
    labels: Labels = attrs.field(validator=array("u", least=NOISE, most="u"))
    in_cluster: Indices = attrs.field(validator=array("c", below="u"))
    outliers: str
    facts: Mapping[str, Any]

    def check_saved(self) -> None:
        """Raise ValueError unless domain, ascent and equilibria are of these rows."""
        (M, d), domain = self.basins.points.shape, self.domain.centres
        if len(self.equilibrium_labels) != M or {d, len(self.ascent.origin), domain.shape[1]} != {self.rows.shape[1]}:
            raise ValueError("BasinPredictor: labels, domain or ascent are not those of the equilibria")

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows, (p,); O(p I s d) for I steps of the ascent from a row."""
        from clusterkit.numerics.structures_jit import find_rows

        mapped = self.coordinates(Y)
        points = np.ascontiguousarray(to_host(mapped), dtype=np.float64)
        same = find_rows(self.rows, points) if len(points) else np.empty(0, dtype=np.intp)
        labels = self.labels[same]
        new = np.flatnonzero(same < 0)
        if not len(new):
            return left_with(mapped, labels)
        climbing = points[new]
        new_labels = self.equilibrium_labels[self.equilibrium(climbing)]
        if self.outliers != "basin":
            new_labels[~(self.domain.value(climbing) >= self.domain.level)] = NOISE
        if self.outliers == "nearest":
            outside = np.flatnonzero(new_labels < 0)
            cluster_labels = self.labels[self.in_cluster]
            new_labels[outside] = nearest_label(climbing[outside], self.rows[self.in_cluster], cluster_labels)
        labels[new] = new_labels
        return left_with(mapped, labels)

    def equilibrium(self, points: Array) -> Indices:
        """Number of the equilibrium that each point (p, d) ascends to, or of the nearest known one."""
        balls = self.basins.balls
        ends, _, end_balls = self.ascent.climb(self.ascent.scaled(points), balls)
        numbers = np.empty(len(end_balls), dtype=np.intp)
        in_ball = end_balls >= 0
        numbers[in_ball] = balls.limits[end_balls[in_ball]]
        numbers[~in_ball] = nearest_rows(ends[~in_ball], self.basins.points)
        return numbers


@final
@attrs.frozen
class Equilibrium(Labeler[KernelDomain]):
    """Clusters are the basins of the maxima of a Gaussian kernel sum, joined where a straight line inside connects two.

    Choose it for many samples and few support vectors, or if samples outside the contour must get a label too. Every
    start moves by mean-shift steps, which never descend, to an equilibrium. Equilibria inside the domain are joined by
    the complete graph over segments with `n_segment_points` points; an equilibrium outside the domain is a cluster of
    its own. The labels differ from those of `complete_graph` for bent clusters: neither partition is finer than the
    other. The step and the proof that it never descends are in level_sets/_ascent_jit.py (`step`).

    Parameters
    ----------
    start : {"all", "strip", "cover"}, default "all"
        Samples that ascend; every other sample takes the basin of one of them. "strip": samples near the contour,
        with ``|g(x) - level| <= strip * level``, the others by their nearest one; all samples if there are none. A
        pile of equal samples away from the contour is then part of another cluster.
        "cover": one sample of each cell of a grid, for all samples in the cell.
    n_segment_points : int, default 20
        Points tested on a segment between two equilibria: the m of the papers.
    outliers : {"basin", "noise", "nearest", "singleton"}, default "basin"
        Labels of samples outside the domain: the label of their basin, -1, the label of the nearest sample that is no
        outlier (0 if there is none), or a cluster for each of them (equal samples share it).
    strip : float, default 0.1
        Half width of the strip, relative to the level. For a level of 1 it is the ``|f| <= ε`` of the paper.
    radius : float, default 1.0
        Largest distance of a sample to the sample that ascends for it, in units of ``1 / sqrt(2 gamma)``. As it goes
        to 0 "cover" becomes "all".
    tol : float, default 1e-7
        A step of at most this length ends an ascent; in units of ``1 / sqrt(2 gamma)``.
    merge : float, default 1e-3
        Ends of ascents at most this far apart, directly or through other ends, are one equilibrium; in units of
        ``1 / sqrt(2 gamma)``. Keep it >= 1000 `tol`: the ascent converges linearly, so the distance that remains is
        longer than its last step.
    max_iter : int, default 10000
        Largest number of steps of an ascent; a warning reports how many starts reached it.
    min_cluster_size : int, default 1
        The samples of components with fewer samples are outliers; with "basin" their label is -1.

    Raises
    ------
    IncompatibleStages
        For other kernels than the Gaussian, and for negative weights.

    Notes
    -----
    A new sample ascends itself, whatever `start` is, and gets the label of the equilibrium it reaches, or of the
    nearest known equilibrium if that one is new. New outliers are -1, or get the nearest sample's label for "nearest".
    `predict` stores the distinct training samples and returns their labels for equal rows. Its `facts` count starts
    ("starts"), steps ("steps"), starts that ended in certified balls ("caught") or needed more steps than allowed
    ("unfinished") and equilibria ("equilibria"); "strip_empty" is True if no sample was in the strip.

    O(p I s d) time for p starts, s support vectors and I steps from a start, plus the complete graph of the
    equilibria; memory O(n d). Most ascents end early, in a ball all of whose points are certified to have the same
    limit; that changes no result.

    References
    ----------
    Lee, Lee (2005), An improved cluster labeling method for support vector clustering, IEEE Trans. PAMI 27.
    Pham, Dang, Le, Le (2017), Fast support vector clustering, Vietnam Journal of Computer Science 4: the strip.
    Jung, Lee, Lee (2010), Fast support-based clustering method for large-scale problems, Pattern Recognition 43.
    Fukunaga, Hostetler (1975), The estimation of the gradient of a density function, IEEE Trans. Inf. Theory 21.
    """

    name: ClassVar[str] = "equilibrium"
    synonyms: ClassVar[tuple[str, ...]] = ("equilibrium_points", "equilibria", "sep")
    consumes: ClassVar[type[Outcome]] = KernelDomain
    finds_k: ClassVar[bool] = True

    start: str = choice("all", ("all", "strip", "cover"))
    n_segment_points: int = integer(20, at_least=1, at_most=MOST_POINTS)
    outliers: str = choice("basin", BASIN_OUTLIERS)
    strip: float = real(0.1, above=0.0)
    radius: float = real(1.0, above=0.0)
    tol: float = real(1e-7, above=0.0)
    merge: float = real(1e-3, above=0.0)
    max_iter: int = integer(10_000, at_least=1)
    min_cluster_size: int = integer(1, at_least=1)

    saved_before: ClassVar[frozenset[str]] = frozenset({"check_stability"})  # it left saddle points during the fit

    def label(self, outcome: KernelDomain, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the components of the equilibria that the samples ascend to."""
        from clusterkit.families.support_vectors.level_sets.equilibria import (
            Ascent,
            find_basins,
            warn_unfinished,
        )

        ascent = Ascent.of(outcome, self.name, tol=self.tol, merge=self.merge, max_iter=self.max_iter)
        distinct = DistinctRows.of(space.points)
        starts, source, strip_empty = self._starts(distinct.rows, outcome, ascent)
        basins = find_basins(ascent, ascent.scaled(distinct.rows[starts]), self.name)
        warn_unfinished(basins, self.name, self.max_iter)
        facts = {
            "starts": len(starts),
            "steps": basins.steps,
            "caught": basins.caught,
            "unfinished": basins.unfinished,
            "equilibria": len(basins.points),
            "strip_empty": strip_empty,
        }
        return basin_labeling(
            ascent,
            basins,
            basins.of_start[source],
            joined_by_segments(ascent.unscaled(basins.points), outcome, self.n_segment_points, rng),
            distinct,
            outcome,
            space,
            outliers=self.outliers,
            min_cluster_size=self.min_cluster_size,
            facts=facts,
        )

    def _starts(self, rows: Array, domain: KernelDomain, ascent: Ascent) -> tuple[Indices, Indices, bool]:
        """Rows that ascend, for each row the position of its representative there, and whether a strip is empty."""
        from clusterkit.families.support_vectors.level_sets.equilibria import cover

        every_row = np.arange(len(rows))
        if self.start == "cover":
            starts, source = np.unique(cover(ascent.scaled(rows), self.radius * np.sqrt(0.5)), return_inverse=True)
            return starts, source.reshape(-1), False
        if self.start == "strip":
            from clusterkit.families.support_vectors.level_sets.neighbours import nearest_rows

            near = np.abs(domain.value(rows) - domain.level) <= self.strip * abs(domain.level)
            starts = np.flatnonzero(near)
            if len(starts):
                source = np.empty(len(rows), dtype=np.intp)
                source[starts] = np.arange(len(starts))
                source[~near] = nearest_rows(rows[~near], rows[starts])
                return starts, source, False
        return every_row, every_row, self.start == "strip"


def joined_by_segments(points: Array, domain: KernelDomain, n_segment_points: int, rng: Rng) -> Labels:
    """Component of each equilibrium (M, d): of the complete graph if inside the domain, else one of its own."""
    from clusterkit.families.support_vectors.complete_graph import CompleteGraph

    space = KernelSpace(points, domain.kernel)
    labeler = CompleteGraph(n_segment_points=n_segment_points)
    component = labeler.label(domain, space, Task(len(points), None), rng).labels.copy()
    alone = component < 0
    component[alone] = component.max() + 1 + np.arange(int(alone.sum()))
    return component
