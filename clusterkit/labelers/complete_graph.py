"""The complete graph of a domain: two samples share a cluster if a chain of straight lines inside joins them."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Rng
from clusterkit.core.outcomes import Domain, Outcome
from clusterkit.core.params import choice, integer
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeler, Labeling, Task
from clusterkit.labelers._domain_labels import OUTLIERS, DistinctRows, domain_labeling

__all__ = ["CompleteGraph"]


@final
@attrs.frozen
class CompleteGraph(Labeler):
    """Clusters are the components of the graph whose edges are straight lines inside the domain.

    The reference labeling of support vector clustering; choose it where n is at most some thousands. Every pair of
    samples inside is an edge if `m` points between them are inside too. Pairs already joined are skipped and a
    line is given up at its first point outside; neither changes the result. Time O(n² m s) at worst for s support
    vectors, memory O(n).

    Parameters
    ----------
    m : int, default 20
        Points tested on a line, at fractions ``k / (m + 1)``; the ends are tested once a sample.
    outliers : {"noise", "nearest", "singleton"}, default "noise"
        Samples outside the domain: label -1, the label of the nearest sample in a cluster (one cluster 0 if there
        is none), or a cluster each (equal samples share it).
    min_cluster_size : int, default 1
        Components with fewer samples are outliers.

    Notes
    -----
    A new sample inside the domain gets the label of the nearest training sample it has an edge to. One without an
    edge, or outside, is an outlier: -1, or the nearest sample's label for "nearest". With "singleton" new outliers
    are -1 as well, so training outliers do not get their label back.

    References
    ----------
    Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2, section 2.2.
    """

    name: ClassVar[str] = "complete_graph"
    consumes: ClassVar[type[Outcome]] = Domain
    finds_k: ClassVar[bool] = True

    m: int = integer(20, at_least=1)
    outliers: str = choice("noise", OUTLIERS)
    min_cluster_size: int = integer(1, at_least=1)

    def label(self, outcome: Domain, space: Space, task: Task, rng: Rng) -> Labeling:
        """Components of the samples inside, outliers by the policy."""
        from clusterkit.labelers._segments_jit import segment_test

        distinct = DistinctRows.of(space.points)
        test = segment_test(outcome, self.m)
        inside = test.inside(distinct.rows)
        if task.n == 1:
            inside[:] = True
        components = np.full(len(inside), -1, dtype=np.intp)
        components[inside] = test.components(distinct.rows[inside], self.name)
        return domain_labeling(
            components,
            distinct,
            outcome,
            space,
            m=self.m,
            outliers=self.outliers,
            min_cluster_size=self.min_cluster_size,
        )
