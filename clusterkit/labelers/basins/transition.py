"""Transition labeling: basins are joined over the saddle points between them, by a cut or a number of clusters."""

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
from clusterkit.labelers._outliers_and_prediction import MOST_POINTS
from clusterkit.labelers.basins._labeling import basin_labeling
from clusterkit.level_sets.distinct import DistinctRows

__all__ = ["Transition"]


@final
@attrs.frozen
class Transition(Labeler[KernelDomain]):
    """Clusters are the basins of a Gaussian kernel sum, joined over saddle points that are high enough.

    Choose it for bent clusters, for which the segments of `equilibrium` leave the contour, or to get a given number of
    clusters from a domain. Two maxima are joined if the sum at a transition point between them, a saddle point with
    one direction of ascent, is at least as large as the cut. With `n_clusters` basins are joined over the highest
    transition points until that many clusters remain, whatever the cut. The search for transition points is in
    level_sets/saddles.py (`saddle_near`), the joining in `components_above` there.

    Parameters
    ----------
    cut : float or None, default None
        Smallest value of the sum at a transition point that joins two basins; None means the level of the domain.
        Ignored if `n_clusters` is set.
    n_segment_points : int, default 20
        Points sampled on the segment between two maxima: the m of the papers. Where the sum may be lower between two of
        them, points are added. The search for a transition point starts from the lowest of all.
    n_neighbors : int, default 10
        Number of nearest other maxima to which segments go from each maximum, in addition to those of a shortest
        spanning tree; and number of nearest other samples considered for each sample, if these are in other basins.
    outliers : {"basin", "noise", "nearest"}, default "basin"
        Labels of samples outside the domain, whatever the cut: the label of their basin, -1, or the label of the
        nearest sample that is no outlier.
    tol : float, default 1e-7
        A step of at most this length ends an ascent; in units of ``1 / sqrt(2 gamma)``.
    merge : float, default 1e-3
        Ends of ascents at most this far apart are one equilibrium; in units of ``1 / sqrt(2 gamma)``.
    max_iter : int, default 10000
        Largest number of steps of an ascent.
    min_cluster_size : int, default 1
        The samples of components with fewer samples are outliers; with "basin" their label is -1.

    Raises
    ------
    IncompatibleStages
        For other kernels than the Gaussian, and for negative weights.
    InvalidData
        If no cut gives `n_clusters` clusters; the message names the largest possible number.

    Notes
    -----
    A transition point is searched by Newton steps that ascend along all eigenvectors of the Hessian of log g but the
    one of the largest eigenvalue; along that one, ascents to both sides find the two maxima it connects. The search
    starts from the lowest point of the segment between two maxima (as in the paper), and of the segment between two
    near samples of their basins (not in the paper: it finds the saddle points of bent clusters). Such a segment is a
    path between the maxima as well and joins them if its lowest point is high enough, so a failed search separates no
    maxima. New samples ascend as in `equilibrium`. The `facts` of `predict` hold the statistics of `equilibrium`, the
    number of paths ("passes"), the value at each join of the whole tree ("heights") and the cut that was used ("cut").

    The ascent costs as in `equilibrium`. In addition: the nearest neighbours of n samples, and about M `n_neighbors`
    searches with O(s d² + d³) for a step, for M maxima and s support vectors.

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
    n_segment_points: int = integer(20, at_least=1, at_most=MOST_POINTS)
    n_neighbors: int = integer(10, at_least=1)
    outliers: str = choice("basin", ("basin", "noise", "nearest"))
    tol: float = real(1e-7, above=0.0)
    merge: float = real(1e-3, above=0.0)
    max_iter: int = integer(10_000, at_least=1)
    min_cluster_size: int = integer(1, at_least=1)

    def label(self, outcome: KernelDomain, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the components of the basins, joined over transition points."""
        from clusterkit.level_sets.equilibria import Ascent, find_basins, warn_unfinished
        from clusterkit.level_sets.saddles import components_above, highest_passes

        ascent = Ascent.of(outcome, self.name, tol=self.tol, merge=self.merge, max_iter=self.max_iter)
        distinct = DistinctRows.of(space.points)
        rows = ascent.scaled(distinct.rows)
        basins = find_basins(ascent, rows, self.name)
        warn_unfinished(basins, self.name, self.max_iter)
        basins, passes = highest_passes(
            ascent, basins, rows, basins.of_start, self.n_segment_points, self.n_neighbors, self.name
        )
        is_counted = np.ones(len(distinct.rows), dtype=bool)
        if self.outliers != "basin":
            is_counted = outcome.value(distinct.rows) >= outcome.level
        sizes = np.bincount(basins.of_start, distinct.counts * is_counted, minlength=len(basins.points))
        cut = outcome.level if self.cut is None else self.cut
        component, cut, heights, most = components_above(
            passes, len(basins.points), cut, task.n_clusters, sizes, self.min_cluster_size
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
