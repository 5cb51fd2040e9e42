"""The labeler that joins samples by segments inside a domain.

Samples x_i, x_j with ``g(x) >= level`` are joined if ``g(x_i + k / (m + 1) (x_j - x_i)) >= level`` for k = 1..m, where
m is the parameter `n_segment_points`; clusters are the connected components. Ben-Hur, Horn, Siegelmann, Vapnik (2001),
Support vector clustering, JMLR 2. The segment test and the search for components are in
`clusterkit.families.support_vectors.level_sets.segment_test`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Labels, Rng
from clusterkit.contracts import Labeler, Labeling, Task
from clusterkit.contracts.outcomes import Domain, Outcome
from clusterkit.contracts.params import MOST_WORK, choice, integer
from clusterkit.errors import ClusterkitWarning
from clusterkit.families.support_vectors._outliers import MOST_POINTS, OUTLIERS, domain_labeling
from clusterkit.families.support_vectors.level_sets.neighbours import DistinctRows
from clusterkit.samples import Space
from clusterkit.samples.limits import metered


@final
@attrs.frozen
class CompleteGraph(Labeler[Domain]):
    """Clusters are the components of the graph whose edges are straight lines inside the domain.

    The reference labelling of support vector clustering. Two samples inside the domain are joined by an edge if
    `n_segment_points` points between them are inside too. For Gaussian kernels the components are found exactly
    without comparing all pairs: segments to near neighbours and between the innermost samples of components are
    tested first, then bounds on the kernel sum over whole sets of segments prove that no other segment joins two
    components. With s support vectors and m points on a segment that takes n s kernel values, and for the proof about
    n s more if clusters are well separated; at worst, with clusters about to merge, O(n² m s). For other domains all
    pairs of different components are tested: O(n² m) values of the domain. Memory O(n d + s d). The mathematics is in
    level_sets/_segments_jit.py (`first_outside`) and level_sets/_components.py (`Components.complete`).

    Parameters
    ----------
    n_segment_points : int, default 20
        Points tested on a segment, at fractions ``k / (n_segment_points + 1)``: the m of the papers. The ends are
        tested once for each sample.
    outliers : {"noise", "nearest", "singleton"}, default "noise"
        Labels of samples outside the domain: -1, the label of the nearest sample in a cluster (0 if there is no
        cluster), or a cluster for each of them (equal samples share it).
    min_cluster_size : int or None, default None
        The samples of components with fewer samples are outliers. None lets a tuner choose it; without a tuner there
        is no minimum.
    max_work : int or None, default None
        Most kernel evaluations of the search for components and of the proof that it is complete. Components that are
        not joined by then stay separate, with a warning and a line in `resolved_`; the same ones on any machine. About
        3e8 of them take a second. None sets no limit.

    Notes
    -----
    A new sample inside the domain gets the label of the nearest training sample that it has an edge to. A new sample
    without an edge, or outside the domain, is an outlier: -1, or the nearest sample's label for "nearest". With
    "singleton" new outliers are -1 as well, so `predict` does not return the labels of training outliers. Ctrl-C ends
    the search: components that are not joined by then stay separate, and the fit is marked as interrupted.

    References
    ----------
    Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2, section 2.2.
    """

    name: ClassVar[str] = "complete_graph"
    synonyms: ClassVar[tuple[str, ...]] = ("cg", "complete")
    consumes: ClassVar[type[Outcome]] = Domain
    finds_k: ClassVar[bool] = True
    tunable: ClassVar[frozenset[str]] = frozenset({"min_cluster_size"})

    n_segment_points: int = integer(20, at_least=1, at_most=MOST_POINTS)
    outliers: str = choice("noise", OUTLIERS)
    min_cluster_size: int | None = integer(None, at_least=1, optional=True)
    max_work: int | None = integer(None, at_least=1, at_most=MOST_WORK, optional=True)

    saved_before: ClassVar[frozenset[str]] = frozenset({"max_seconds"})  # with it labels depended on the machine

    def label(self, outcome: Domain, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the components of the samples inside the domain; outliers as `outliers` says."""
        from clusterkit.families.support_vectors.level_sets.segment_test import segment_test

        distinct = DistinctRows.of(space.points)
        test = segment_test(outcome, self.n_segment_points)
        inside = test.inside(distinct.rows)
        if space.n == 1:
            inside[:] = True
        components, interrupted = np.full(len(inside), -1, dtype=np.intp), False
        facts: Mapping[str, Any] = {}
        if inside.any():
            search = test.search(distinct.rows[inside], self.name)
            try:
                with metered(self.max_work) as meter:
                    search.complete()
            except KeyboardInterrupt:
                interrupted = True
            if meter.passed:
                facts = {"ended": "max_work", "components": len(np.unique(search.members()))}
                warnings.warn(
                    f"labeler '{self.name}': the search for components was ended after max_work={self.max_work:g}. Its "
                    f"{facts['components']} components are used; some of them may belong together. Raise max_work or "
                    "set it to None",
                    ClusterkitWarning,
                    stacklevel=2,
                )
            components[inside] = search.members()
        labeling = domain_labeling(
            components,
            distinct,
            outcome,
            space,
            n_segment_points=self.n_segment_points,
            outliers=self.outliers,
            min_cluster_size=self.min_cluster_size,
            interrupted=interrupted,
        )
        return attrs.evolve(labeling, facts=facts)

    def candidate_labels(self, space: Space, smallest: int) -> Callable[[Domain], Labels]:
        """A function that labels many domains of the points of `space` by likely edges only, without their proof.

        For tuners, which dissolve components of fewer than `smallest` samples. The components are those of the
        complete graph or parts of them; see `level_sets/many_widths.py`. Rows outside the domain are -1.
        """
        from clusterkit.families.support_vectors.level_sets.many_widths import CandidateLabels

        rng, task = np.random.default_rng(0), Task(space.n, None)
        labeler = attrs.evolve(self, max_work=None, outliers="noise", min_cluster_size=None)

        def label_one(domain: Domain) -> Labels:
            return labeler.label(domain, space, task, rng).labels

        return CandidateLabels.of(space.points, label_one, n_segment_points=self.n_segment_points, smallest=smallest)
