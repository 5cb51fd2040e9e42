"""Equilibrium labeling: samples that ascend the kernel sum of a domain to the same equilibrium are a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.core.outcomes import KernelDomain, Outcome
from clusterkit.core.params import choice, flag, integer, real
from clusterkit.core.spaces import KernelSpace, Space
from clusterkit.core.stages import Labeler, Labeling, Task
from clusterkit.labelers._outliers_and_prediction import MOST_POINTS
from clusterkit.labelers.basins._labeling import BASIN_OUTLIERS, basin_labeling
from clusterkit.level_sets.distinct import DistinctRows

if TYPE_CHECKING:
    from clusterkit.level_sets.equilibria import Ascent

__all__ = ["Equilibrium"]


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
        with ``|g(x) - level| <= strip * level``, the others by their nearest one; all samples if there are none.
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
    check_stability : bool, default False
        Whether to leave saddle points, which only starts exactly on the border of two basins reach. The ascent goes on
        from both sides of the saddle along its most convex direction, and the higher of the two ends replaces it.
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
    check_stability: bool = flag(False)
    min_cluster_size: int = integer(1, at_least=1)

    def label(self, outcome: KernelDomain, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the components of the equilibria that the samples ascend to."""
        from clusterkit.level_sets.equilibria import Ascent, find_basins, leave_saddles, warn_unfinished

        ascent = Ascent.of(outcome, self.name, tol=self.tol, merge=self.merge, max_iter=self.max_iter)
        distinct = DistinctRows.of(space.points)
        starts, source, strip_empty = self._starts(distinct.rows, outcome, ascent)
        basins = find_basins(ascent, ascent.scaled(distinct.rows[starts]), self.name)
        if self.check_stability:
            basins = leave_saddles(ascent, basins)
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
        from clusterkit.level_sets.equilibria import cover

        every_row = np.arange(len(rows))
        if self.start == "cover":
            starts, source = np.unique(cover(ascent.scaled(rows), self.radius * np.sqrt(0.5)), return_inverse=True)
            return starts, source.reshape(-1), False
        if self.start == "strip":
            from clusterkit.level_sets.neighbours import nearest_rows

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
    from clusterkit.labelers.graphs.complete_graph import CompleteGraph

    space = KernelSpace(points, domain.kernel)
    labeler = CompleteGraph(n_segment_points=n_segment_points)
    component = labeler.label(domain, space, Task(len(points), None), rng).labels.copy()
    alone = component < 0
    component[alone] = component.max() + 1 + np.arange(int(alone.sum()))
    return component
