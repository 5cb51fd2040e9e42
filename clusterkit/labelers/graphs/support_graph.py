"""The support vector graph of a domain: segments that have a support vector at one end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.core.errors import IncompatibleStages
from clusterkit.core.kernel import Gaussian
from clusterkit.core.outcomes import Domain, KernelDomain, Outcome
from clusterkit.core.params import choice, flag, integer
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeler, Labeling, Task
from clusterkit.core.transform import block_plan
from clusterkit.labelers._outliers_and_prediction import MOST_POINTS, OUTLIERS, domain_labeling
from clusterkit.level_sets.distinct import DistinctRows
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.tree_search import nearest_in_tree

if TYPE_CHECKING:
    from clusterkit.level_sets.segment_test import ComponentSearch, SegmentTest

__all__ = ["SupportGraph"]

NEAR = (8, 64)
"""Numbers of nearest support vectors that every sample is tested with before all support vectors.

A few short segments join most of a cluster, so that the last round has few pairs left. The values are not critical.
"""
TREE_DIMENSIONS = 10
"""Number of attributes up to which a k-d tree finds the first `NEAR[0]`: with more it is slower than all distances."""


@final
@attrs.frozen
class SupportGraph(Labeler[Domain]):
    """Clusters are the components of the graph of straight lines inside the domain that end in a support vector.

    Choose it for domains without a fast complete graph (explicit features, other kernels than the Gaussian) that have
    few support vectors: it tests at most n s segments for s support vectors inside the domain, instead of n² / 2. It
    never joins samples that `complete_graph` separates, except those of parameter `attach`. The segment test is in
    level_sets/segment_test.py (`SegmentTest`).

    Parameters
    ----------
    n_segment_points : int, default 20
        Points tested on a segment, at fractions ``k / (n_segment_points + 1)``: the m of the papers. The ends are
        tested once for each sample.
    attach : bool, default True
        Concerns samples inside the domain that are no support vectors and are connected to none. True: they get the
        cluster of the nearest support vector inside (of several, the one that comes first among the samples); False:
        each is a cluster of its own. A support vector without a segment inside is a cluster of its own either way,
        and so is every sample if no support vector is inside.
    outliers : {"noise", "nearest", "singleton"}, default "noise"
        Labels of samples outside the domain: -1, the label of the nearest sample in a cluster (0 if there is no
        cluster), or a cluster for each of them (equal samples share it).
    min_cluster_size : int or None, default None
        The samples of components with fewer samples are outliers. None lets a tuner choose it; without a tuner there
        is no minimum.

    Raises
    ------
    IncompatibleStages
        If the domain has no support vectors: it was made from a function alone.

    Notes
    -----
    Support vectors are the samples with a weight other than 0 in the solution; those outside the contour are ignored.
    O(n s) segments at worst, each with `n_segment_points` values of the domain, those to the nearest support vectors
    first; segments between samples that are joined already are not tested. For Gaussian kernels the complete graph is
    found first, because segments between its components then need no test: there it costs more than
    `complete_graph`. Memory O(n d + s d).

    A new sample inside the domain gets the label of the nearest training sample that a segment inside the domain
    connects it to, support vector or not. Ctrl-C ends the search: components that are not joined by then stay
    separate, and no sample is attached.

    References
    ----------
    Yang, Estivill-Castro, Chalup (2002), Support vector clustering through proximity graph modelling, Proc. ICONIP:
    the support vector graph. Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2: the lines.
    """

    name: ClassVar[str] = "support_graph"
    consumes: ClassVar[type[Outcome]] = Domain
    finds_k: ClassVar[bool] = True
    tunable: ClassVar[frozenset[str]] = frozenset({"min_cluster_size"})

    n_segment_points: int = integer(20, at_least=1, at_most=MOST_POINTS)
    attach: bool = flag(True)
    outliers: str = choice("noise", OUTLIERS)
    min_cluster_size: int | None = integer(None, at_least=1, optional=True)

    def label(self, outcome: Domain, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the components of the samples inside the domain; outliers as `outliers` says."""
        from clusterkit.level_sets.segment_test import segment_test
        from clusterkit.numerics.distinct_rows_jit import find_rows

        if outcome.supports is None:
            raise IncompatibleStages(
                f"labeler '{self.name}' needs a domain with support vectors, and this {type(outcome).__name__} has "
                "none; use labeler 'complete_graph' or 'proximity'"
            )
        distinct = DistinctRows.of(space.points)
        test = segment_test(outcome, self.n_segment_points)
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
            n_segment_points=self.n_segment_points,
            outliers=self.outliers,
            min_cluster_size=self.min_cluster_size,
            interrupted=interrupted,
        )


def _join(search: ComponentSearch, points: Array, supports: Indices, test: SegmentTest | None, stage: str) -> None:
    """Test all segments to support vectors that may join two components, the shortest first.

    With a `test`, the complete graph is found first, and segments between its components are skipped.
    """
    upper: Labels = np.zeros(len(points), dtype=np.intp)
    if test is not None:
        complete = test.search(points, stage)
        complete.complete()
        upper = complete.members()
    for count in (*NEAR, len(supports)):
        for edges in _edges(points, supports, search, upper, min(count, len(supports))):
            search.join(edges)


def _edges(points: Array, supports: Indices, search: ComponentSearch, upper: Labels, count: int) -> Iterator[Indices]:
    """Edges (e, 2) from every point to its `count` nearest support vectors, in batches of bounded memory.

    The shortest edges of a batch come first. Left out are edges whose ends are joined already, and edges between
    different components of `upper` (u,), which no segment inside the domain connects.
    """
    if count == NEAR[0] and points.shape[1] <= TREE_DIMENSIONS:
        yield _nearest_edges(points, supports, count)
        return
    support_points, open_rows = points[supports], _open(search.members(), supports, upper)
    for block in block_plan(len(open_rows), len(supports), np.float64):
        members, rows = search.members(), open_rows[block]
        D = squared_distances(points[rows], support_points)
        D[members[rows, None] == members[supports]] = np.inf
        D[upper[rows, None] != upper[supports]] = np.inf
        if count < len(supports):
            farther = np.argpartition(D, count - 1, axis=1)[:, count:]
            np.put_along_axis(D, farther, np.inf, axis=1)
        i, j = np.nonzero(np.isfinite(D))
        order = np.argsort(D[i, j], kind="stable")
        yield np.stack([rows[i[order]], supports[j[order]]], axis=1).astype(np.int64, copy=False)


def _open(members: Labels, supports: Indices, upper: Labels) -> Indices:
    """The points that are not joined yet to every support vector in their component of `upper`."""
    low, high = np.full(upper.max() + 1, len(members)), np.full(upper.max() + 1, -1)
    np.minimum.at(low, upper[supports], members[supports])
    np.maximum.at(high, upper[supports], members[supports])
    low, high = low[upper], high[upper]
    return np.flatnonzero((high >= 0) & ((low != members) | (high != members)))


def _nearest_edges(points: Array, supports: Indices, count: int) -> Indices:
    """Edges (e, 2) from every point to its `count` nearest support vectors, the shortest first."""
    from scipy.spatial import KDTree

    distances, neighbours = nearest_in_tree(KDTree(points[supports]), points, count)
    order = np.argsort(distances.reshape(-1), kind="stable")
    edges = np.stack([np.repeat(np.arange(len(points)), count), supports[neighbours.reshape(-1)]], axis=1)[order]
    return edges.astype(np.int64, copy=False)


def _attached(members: Labels, points: Array, supports: Indices) -> Labels:
    """Component of each point after points that are alone and no support vectors join the nearest support vector."""
    from clusterkit.level_sets.neighbours import nearest_rows

    alone = np.bincount(members)[members] == 1
    alone[supports] = False
    members = members.copy()
    members[alone] = members[supports[nearest_rows(points[alone], points[supports])]]
    return members
