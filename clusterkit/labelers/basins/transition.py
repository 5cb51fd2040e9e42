"""Transition labeling: basins are joined over the passes between them, down to a cut or a number of clusters."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Rng
from clusterkit.core.errors import InvalidData
from clusterkit.core.outcomes import KernelDomain, Outcome
from clusterkit.core.params import choice, integer, real
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeler, Labeling, Task
from clusterkit.labelers._outliers_and_prediction import DistinctRows
from clusterkit.labelers.basins._labeling import basin_labeling

__all__ = ["Transition"]


@final
@attrs.frozen
class Transition(Labeler):
    """Clusters are the basins of a Gaussian kernel sum, joined over their passes if these are high enough.

    Choose it for bent clusters, where the straight lines of `equilibrium` leave the contour, or to get a given
    number of clusters from a domain. Two maxima are joined if a transition point between them, a saddle of the
    sum with one direction up, is at least as high as the cut. With `n_clusters` the highest passes join until
    that many clusters are left, whatever the cut.

    Parameters
    ----------
    cut : float or None, default None
        Least value of a pass that joins; None: the level of the domain. Ignored where `n_clusters` is given.
    m : int, default 20
        Points sampled on the line between two maxima; from the lowest starts the search for a transition point.
    neighbors : int, default 10
        Lines go from each maximum to so many nearest ones and along a shortest spanning tree; and from each sample to
        so many nearest ones, where these are in other basins.
    outliers : {"basin", "noise", "nearest"}, default "basin"
        Samples outside the domain, whatever the cut: the label of their basin, -1, or that of the nearest sample that
        is no outlier.
    tol : float, default 1e-7
    merge : float, default 1e-3
    max_iter : int, default 10000
        Ends of ascents, as in `equilibrium`.
    min_cluster_size : int, default 1
        Components with fewer samples are outliers; with "basin" they are -1.

    Raises
    ------
    IncompatibleStages
        For other kernels than the Gaussian, and for negative weights.
    InvalidData
        If no cut gives the number of clusters asked for; it names the largest possible one.

    Notes
    -----
    A transition point is searched by Newton steps up along all eigenvectors of the Hessian of log g but one, and
    followed both ways along that one by the ascent itself. It starts from the lowest point of the line between two
    maxima (the paper), and of that between two near samples of their basins (ours: it finds passes of bent clusters).
    Such a line is a way between the maxima as well and joins them if its lowest point is high enough, so a search that
    fails separates nobody. New samples ascend as in
    `equilibrium`. The `facts` of `predict` hold the number of equilibria, the height of each join of the whole
    tree (`heights`) and the cut in force.

    The ascent costs as in `equilibrium`; then the nearest neighbours of n samples, and some M neighbors searches of
    O(s d² + d³) a step for M maxima.

    References
    ----------
    Lee, Lee (2006), Dynamic characterization of cluster structures for robust and inductive support vector
    clustering, IEEE Trans. PAMI 28: transition points, and the number of clusters by the cut.
    """

    name: ClassVar[str] = "transition"
    consumes: ClassVar[type[Outcome]] = KernelDomain
    finds_k: ClassVar[bool] = True
    takes_k: ClassVar[bool] = True

    cut: float | None = real(None, above=0.0, optional=True)
    m: int = integer(20, at_least=1)
    neighbors: int = integer(10, at_least=1)
    outliers: str = choice("basin", ("basin", "noise", "nearest"))
    tol: float = real(1e-7, above=0.0)
    merge: float = real(1e-3, above=0.0)
    max_iter: int = integer(10_000, at_least=1)
    min_cluster_size: int = integer(1, at_least=1)

    def label(self, outcome: KernelDomain, space: Space, task: Task, rng: Rng) -> Labeling:
        """Basins of the samples, components over the passes."""
        from clusterkit.level_sets.equilibria import Ascent, find_basins, warn_unfinished
        from clusterkit.level_sets.saddles import components_above, highest_passes

        ascent = Ascent.of(outcome, self.name, tol=self.tol, merge=self.merge, max_iter=self.max_iter)
        distinct = DistinctRows.of(space.points)
        rows = ascent.scaled(distinct.rows)
        basins = find_basins(ascent, rows, self.name)
        warn_unfinished(basins, self)
        basins, passes = highest_passes(ascent, basins, rows, basins.of_start, self.m, self.neighbors, self.name)
        counted = np.ones(len(distinct.rows), dtype=bool)
        if self.outliers != "basin":
            counted = outcome.value(distinct.rows) >= outcome.level
        size = np.bincount(basins.of_start, distinct.counts * counted, minlength=len(basins.points))
        cut = outcome.level if self.cut is None else self.cut
        component, cut, heights, most = components_above(
            passes, len(basins.points), cut, task.n_clusters, size, self.min_cluster_size
        )
        if component is None:
            raise InvalidData(
                f"labeler 'transition': no cut through this domain gives n_clusters={task.n_clusters}; "
                f"the {len(basins.points)} maxima of its kernel sum make at most {most} clusters. "
                "A larger gamma makes more maxima"
            )
        facts = {
            "starts": len(distinct.rows),
            "steps": basins.steps,
            "caught": basins.caught,
            "unfinished": basins.unfinished,
            "equilibria": len(basins.points),
            "passes": len(passes.values),
            "heights": tuple(heights),
            "cut": cut,
        }
        return basin_labeling(
            ascent,
            basins,
            basins.of_start,
            component,
            distinct,
            outcome,
            space,
            outliers=self.outliers,
            min_cluster_size=self.min_cluster_size,
            facts=facts,
        )
