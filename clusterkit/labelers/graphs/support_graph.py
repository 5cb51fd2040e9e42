"""The support vector graph of a domain: straight lines that have a support at one end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core.errors import IncompatibleStages
from clusterkit.core.kernel import Gaussian
from clusterkit.core.outcomes import Domain, KernelDomain, Outcome
from clusterkit.core.params import choice, flag, integer
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeler, Labeling, Task
from clusterkit.core.transform import block_plan
from clusterkit.labelers._outliers_and_prediction import OUTLIERS, DistinctRows, domain_labeling
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.threads import available

if TYPE_CHECKING:
    from clusterkit.level_sets.segment_test import Search, SegmentTest

__all__ = ["SupportGraph"]

NEAR = (8, 64)
"""Supports that every sample is compared with before all others: few lines join most of a cluster."""
TREE_DIMENSIONS = 10
"""Attributes up to which a tree finds the first of them."""


@final
@attrs.frozen
class SupportGraph(Labeler):
    """Clusters are the components of the graph of straight lines inside the domain that end in a support.

    Choose it for domains without a fast complete graph (explicit features, other kernels than the Gaussian) that have
    few supports: it tests at most n s lines for s supports inside instead of n² / 2. It never joins what
    `complete_graph` keeps apart, but for samples that are attached.

    Parameters
    ----------
    m : int, default 20
        Points tested on a line, at fractions ``k / (m + 1)``; the ends are tested once a sample.
    attach : bool, default True
        What becomes of a sample inside that is no support and has no line inside to any support: the cluster of the
        nearest support inside (ties: that of the first sample), or a cluster of its own. A support without a line is
        a cluster of its own either way, and so is every sample if no support is inside.
    outliers : {"noise", "nearest", "singleton"}, default "noise"
        Samples outside the domain: label -1, the label of the nearest sample in a cluster (one cluster 0 if there
        is none), or a cluster each (equal samples share it).
    min_cluster_size : int or None, default None
        Components with fewer samples are outliers. None leaves it to a tuner; without one, no component is too small.

    Raises
    ------
    IncompatibleStages
        If the domain does not know its supports: one made from a function alone.

    Notes
    -----
    Supports are the samples with a weight other than 0 in the solution; those outside the contour take no part. O(n s)
    lines of `m` values each at worst, nearest supports first, and none between samples that are joined already. For
    Gaussian kernels the complete graph is found first, because the lines between its components need no test then:
    there it costs more than `complete_graph`. Memory O(n d + s d).

    A new sample inside the domain gets the label of the nearest training sample it has an edge to, support or not.
    Ctrl-C ends the search: what is not joined by then stays apart, and nothing is attached.

    References
    ----------
    Yang, Estivill-Castro, Chalup (2002), Support vector clustering through proximity graph modelling, Proc. ICONIP:
    the support vector graph. Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2: the lines.
    """

    name: ClassVar[str] = "support_graph"
    consumes: ClassVar[type[Outcome]] = Domain
    finds_k: ClassVar[bool] = True
    tunable: ClassVar[frozenset[str]] = frozenset({"min_cluster_size"})

    m: int = integer(20, at_least=1)
    attach: bool = flag(True)
    outliers: str = choice("noise", OUTLIERS)
    min_cluster_size: int | None = integer(None, at_least=1, optional=True)

    def label(self, outcome: Domain, space: Space, task: Task, rng: Rng) -> Labeling:
        """Components of the samples inside, outliers by the policy."""
        from clusterkit.level_sets.segment_test import segment_test
        from clusterkit.numerics.distinct_rows_jit import find_rows

        if outcome.supports is None:
            raise IncompatibleStages(
                f"labeler '{self.name}' needs a domain that knows its supports, and this {type(outcome).__name__} has "
                "none; use labeler 'complete_graph' or 'proximity'"
            )
        distinct = DistinctRows.of(space.points)
        test = segment_test(outcome, self.m)
        inside = test.inside(distinct.rows)
        if space.n == 1:
            inside[:] = True
        components, interrupted = np.full(len(inside), -1, dtype=np.intp), False
        if inside.any():
            points = np.ascontiguousarray(distinct.rows[inside])
            supports = np.flatnonzero(find_rows(outcome.supports, points) >= 0)
            search = test.search(points, self.name)
            try:
                if len(supports):
                    fast = isinstance(outcome, KernelDomain) and isinstance(outcome.kernel, Gaussian)
                    _join(search, points, supports, test if fast else None, self.name)
            except KeyboardInterrupt:
                interrupted = True
            members = search.members()
            if self.attach and len(supports) and not interrupted:
                members = _attached(members, points, supports)
            components[inside] = members
        return domain_labeling(
            components,
            distinct,
            outcome,
            space,
            m=self.m,
            outliers=self.outliers,
            min_cluster_size=self.min_cluster_size,
            interrupted=interrupted,
        )


def _join(search: Search, points: Array, supports: Array, test: SegmentTest | None, stage: str) -> None:
    """Test all lines to supports that may join anything, the most promising first."""
    within = np.zeros(len(points), dtype=np.intp)
    if test is not None:
        whole = test.search(points, stage)
        whole.complete()
        within = whole.members()
    for most in (*NEAR, len(supports)):
        for edges in _edges(points, supports, search, within, min(most, len(supports))):
            search.join(edges)


def _edges(points: Array, supports: Array, search: Search, within: Array, most: int) -> Iterator[Array]:
    """Edges (e, 2) from every point to its `most` nearest supports, in parts of bounded size, each the shortest first.

    Left out are edges whose ends are joined already, and those between different parts of `within`.
    """
    if most == NEAR[0] and points.shape[1] <= TREE_DIMENSIONS:
        yield _nearest_edges(points, supports, most)
        return
    at, rows = points[supports], _open(search.members(), supports, within)
    for part in block_plan(len(rows), len(supports), np.float64):
        members, some = search.members(), rows[part]
        D = squared_distances(points[some], at)
        D[members[some, None] == members[supports]] = np.inf
        D[within[some, None] != within[supports]] = np.inf
        if most < len(supports):
            farther = np.argpartition(D, most - 1, axis=1)[:, most:]
            np.put_along_axis(D, farther, np.inf, axis=1)
        i, j = np.nonzero(np.isfinite(D))
        order = np.argsort(D[i, j], kind="stable")
        yield np.stack([some[i[order]], supports[j[order]]], axis=1).astype(np.int64, copy=False)


def _open(members: Array, supports: Array, within: Array) -> Array:
    """The points that some support in their part of `within` is not joined to."""
    low, high = np.full(within.max() + 1, len(members)), np.full(within.max() + 1, -1)
    np.minimum.at(low, within[supports], members[supports])
    np.maximum.at(high, within[supports], members[supports])
    low, high = low[within], high[within]
    return np.flatnonzero((high >= 0) & ((low != members) | (high != members)))


def _nearest_edges(points: Array, supports: Array, most: int) -> Array:
    from scipy.spatial import KDTree

    distances, found = KDTree(points[supports]).query(points, k=np.arange(1, most + 1), workers=available())
    order = np.argsort(distances.reshape(-1), kind="stable")
    edges = np.stack([np.repeat(np.arange(len(points)), most), supports[found.reshape(-1)]], axis=1)[order]
    return edges.astype(np.int64, copy=False)


def _attached(members: Array, points: Array, supports: Array) -> Array:
    """Component of each point once those that are alone and no support are put to the nearest support."""
    from clusterkit.level_sets.neighbours import nearest_rows

    alone = np.bincount(members)[members] == 1
    alone[supports] = False
    members = members.copy()
    members[alone] = members[supports[nearest_rows(points[alone], points[supports])]]
    return members
