"""The complete graph of a domain: two samples share a cluster if a chain of straight lines inside joins them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Labels, Rng
from clusterkit.core.outcomes import Domain, Outcome
from clusterkit.core.params import choice, integer, real
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeler, Labeling, Task
from clusterkit.labelers._outliers_and_prediction import OUTLIERS

__all__ = ["CompleteGraph"]


@final
@attrs.frozen
class CompleteGraph(Labeler):
    """Clusters are the components of the graph whose edges are straight lines inside the domain.

    The reference labeling of support vector clustering. Every pair of samples inside is an edge if `m` points between
    them are inside too. For Gaussian kernels the components are found without comparing all pairs, and exactly:
    lines to near neighbours and between the innermost samples of components first, then bounds on the domain over
    whole sets of lines prove that no other line joins two components. That takes n s kernel values, and in the proof
    about n s more where clusters are well apart; at worst, with clusters about to merge, O(n² m s). Other domains test
    all pairs of different components: O(n² m) values of the domain. Memory O(n d + s d) for s support vectors.

    Parameters
    ----------
    m : int, default 20
        Points tested on a line, at fractions ``k / (m + 1)``; the ends are tested once a sample.
    outliers : {"noise", "nearest", "singleton"}, default "noise"
        Samples outside the domain: label -1, the label of the nearest sample in a cluster (one cluster 0 if there
        is none), or a cluster each (equal samples share it).
    min_cluster_size : int or None, default None
        Components with fewer samples are outliers. None leaves it to a tuner; without one, no component is too small.

    max_seconds : float or None, default None
        Longest search. What is not joined by then stays apart and a warning says so: the only case in which a result
        depends on the speed of the machine. None: as long as it takes.

    Notes
    -----
    A new sample inside the domain gets the label of the nearest training sample it has an edge to. One without an
    edge, or outside, is an outlier: -1, or the nearest sample's label for "nearest". With "singleton" new outliers
    are -1 as well, so training outliers do not get their label back. Ctrl-C ends the search: what is not joined by
    then stays apart, and the fit says that it was interrupted.

    References
    ----------
    Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2, section 2.2.
    """

    name: ClassVar[str] = "complete_graph"
    consumes: ClassVar[type[Outcome]] = Domain
    finds_k: ClassVar[bool] = True
    sparse: ClassVar[bool] = True
    tunable: ClassVar[frozenset[str]] = frozenset({"min_cluster_size"})

    m: int = integer(20, at_least=1)
    outliers: str = choice("noise", OUTLIERS)
    min_cluster_size: int | None = integer(None, at_least=1, optional=True)
    max_seconds: float | None = real(None, above=0.0, optional=True)

    def label(self, outcome: Domain, space: Space, task: Task, rng: Rng) -> Labeling:
        """Components of the samples inside, outliers by the policy."""
        from clusterkit.labelers.graphs._labeling import graph_labeling

        return graph_labeling(
            outcome,
            space,
            lambda search, points: search.complete(),
            stage=self.name,
            m=self.m,
            outliers=self.outliers,
            min_cluster_size=self.min_cluster_size,
            max_seconds=self.max_seconds,
        )

    def bound(self, space: Space) -> Callable[[Domain], Labels]:
        """What gives the labels of many domains of the same points, without limit of time.

        For searches over widths and bounds: what depends on the points alone is computed once. Up to 4,000 points
        whose distances fit under the memory cap; else the labels of `label`, one domain at a time.
        """
        from clusterkit.level_sets.many_widths import SamePoints

        rng, task, labeler = np.random.default_rng(0), Task(space.n, None), attrs.evolve(self, max_seconds=None)
        return SamePoints.of(
            space.points,
            lambda domain: labeler.label(domain, space, task, rng).labels,
            m=self.m,
            outliers=self.outliers,
            min_cluster_size=self.min_cluster_size,
        )
