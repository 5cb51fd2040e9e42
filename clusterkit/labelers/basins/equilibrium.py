"""Equilibrium labeling: every sample ascends the kernel sum of its domain, and what it reaches decides its cluster."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core.outcomes import KernelDomain, Outcome
from clusterkit.core.params import choice, flag, integer, real
from clusterkit.core.spaces import KernelSpace, Space
from clusterkit.core.stages import Labeler, Labeling, Task
from clusterkit.labelers._outliers_and_prediction import DistinctRows
from clusterkit.labelers.basins._labeling import BASIN_OUTLIERS, basin_labeling

__all__ = ["Equilibrium"]


@final
@attrs.frozen
class Equilibrium(Labeler):
    """Clusters are the basins of the maxima of a Gaussian kernel sum, joined where a straight line inside connects two.

    Choose it for many samples and few supports, or where samples outside the contour must get a label too. Every
    start moves by mean-shift steps, which never descend, to an equilibrium. Equilibria inside the domain are
    joined by the complete graph over lines of `m` points; one outside the domain is a cluster of its own. It differs
    from `complete_graph` where a path inside bends: neither is finer than the other.

    Parameters
    ----------
    start : {"all", "strip", "cover"}, default "all"
        Which samples ascend; others take the basin of one that does. "strip": those near the contour, with
        ``|g(x) - level| <= strip * level``, others that of the nearest one; all if there are none. "cover": one
        sample of each cell of a grid, for all in the cell.
    m : int, default 20
        Points tested on a line between equilibria.
    outliers : {"basin", "noise", "nearest", "singleton"}, default "basin"
        Samples outside the domain: the label of their basin, -1, that of the nearest sample that is no outlier
        (cluster 0 if there is none), or a cluster each (equal samples share it).
    strip : float, default 0.1
        Half width of the strip, relative to the level. For a level of 1 it is the ``|f| <= ε`` of the paper.
    radius : float, default 1.0
        No sample is farther from the one that ascends for it, in units of ``1 / sqrt(2 gamma)``. Towards 0 "cover"
        becomes "all".
    tol : float, default 1e-7
        A step of at most this length ends an ascent, same units.
    merge : float, default 1e-3
        Ends no farther apart are one equilibrium, directly or through others; same units. Keep it >= 1000 `tol`:
        the ascent converges linearly, so its last step is shorter than what is left of the way.
    max_iter : int, default 10000
        Most steps of an ascent; a warning tells how many starts needed more.
    check_stability : bool, default False
        Whether to leave saddle points, which only starts exactly on the border of two basins reach: a push along
        the most convex direction, both ways, and the higher end counts.
    min_cluster_size : int, default 1
        Components with fewer samples are outliers; with "basin" they are -1.

    Raises
    ------
    IncompatibleStages
        For other kernels than the Gaussian, and for negative weights.

    Notes
    -----
    A new sample ascends itself, whatever `start` is, and gets the label of the equilibrium it reaches, or of the
    nearest known one if nobody was there before. Outliers are -1, or the nearest sample's label for "nearest".
    `predict` keeps the distinct training samples to give them their labels back. Its `facts` count starts, steps,
    starts that ended in certified balls, equilibria, and say if the strip was empty.

    O(p I s d) time for p starts, s supports and I steps a start, plus the complete graph of the equilibria; memory
    O(n d). Most ascents end early, in a ball that is certified to have one limit; that changes no result.

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
    m: int = integer(20, at_least=1)
    outliers: str = choice("basin", BASIN_OUTLIERS)
    strip: float = real(0.1, above=0.0)
    radius: float = real(1.0, above=0.0)
    tol: float = real(1e-7, above=0.0)
    merge: float = real(1e-3, above=0.0)
    max_iter: int = integer(10_000, at_least=1)
    check_stability: bool = flag(False)
    min_cluster_size: int = integer(1, at_least=1)

    def label(self, outcome: KernelDomain, space: Space, task: Task, rng: Rng) -> Labeling:
        """Basins of the starts, components of their equilibria."""
        from clusterkit.level_sets.equilibria import Ascent, find_basins, leave_saddles, warn_unfinished

        ascent = Ascent.of(outcome, self.name, tol=self.tol, merge=self.merge, max_iter=self.max_iter)
        distinct = DistinctRows.of(space.points)
        starts, source, strip_empty = self._starts(distinct.rows, outcome, ascent)
        basins = find_basins(ascent, ascent.scaled(distinct.rows[starts]), self.name)
        if self.check_stability:
            basins = leave_saddles(ascent, basins)
        warn_unfinished(basins, self)
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
            joined_by_lines(ascent.unscaled(basins.points), outcome, self.m, rng),
            distinct,
            outcome,
            space,
            outliers=self.outliers,
            min_cluster_size=self.min_cluster_size,
            facts=facts,
        )

    def _starts(self, rows: Array, domain: KernelDomain, ascent: object) -> tuple[Array, Array, bool]:
        """Rows that ascend, for each row which of them stands for it, and whether a strip was asked for but empty."""
        from clusterkit.level_sets.equilibria import Ascent, cover

        every = np.arange(len(rows))
        if self.start == "cover":
            assert isinstance(ascent, Ascent)
            starts, source = np.unique(cover(ascent.scaled(rows), self.radius * np.sqrt(0.5)), return_inverse=True)
            return starts, source.reshape(-1), False
        if self.start == "strip":
            from clusterkit.level_sets.segment_test import nearest_rows

            near = np.abs(domain.value(rows) - domain.level) <= self.strip * abs(domain.level)
            starts = np.flatnonzero(near)
            if len(starts):
                source = np.empty(len(rows), dtype=np.intp)
                source[starts] = np.arange(len(starts))
                source[~near] = nearest_rows(rows[~near], rows[starts])
                return starts, source, False
        return every, every, self.start == "strip"


def joined_by_lines(points: Array, domain: KernelDomain, m: int, rng: Rng) -> Array:
    """Component of each equilibrium (M, d): that of the complete graph inside the domain, its own outside."""
    from clusterkit.labelers.graphs.complete_graph import CompleteGraph

    space = KernelSpace(points, domain.kernel)
    component = CompleteGraph(m=m).label(domain, space, Task(len(points), None), rng).labels.copy()
    alone = component < 0
    component[alone] = component.max() + 1 + np.arange(int(alone.sum()))
    return component
