"""Labelers that join samples by segments inside a domain.

Samples x_i, x_j with ``g(x) >= level`` are joined if ``g(x_i + k / (m + 1) (x_j - x_i)) >= level`` for k = 1..m, where
m is the parameter `n_segment_points`; clusters are the connected components. The labelers differ in the pairs tested:

* `CompleteGraph`: all pairs. Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2.
* `SupportGraph`: pairs with a support vector at one end.
* `Proximity`: pairs of neighbours, whose edges (spanning tree, Delaunay triangulation, nearest neighbours) are
  found in `_proximity_edges_jit.py`. Both from Yang, Estivill-Castro, Chalup (2002), Proc. ICONIP.

All three make labels of components by `graph_labeling`. The segment test and the search for components are in
`clusterkit.level_sets.segment_test`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.contracts import Labeler, Labeling, Task
from clusterkit.contracts.outcomes import Domain, KernelDomain, Outcome
from clusterkit.contracts.params import MOST_WORK, choice, flag, integer, real
from clusterkit.errors import ClusterkitWarning, IncompatibleStages, InvalidData
from clusterkit.labelers._outliers import MOST_POINTS, OUTLIERS, domain_labeling
from clusterkit.level_sets.neighbours import DistinctRows
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.spanning_trees.searches import nearest_in_tree
from clusterkit.samples import Space
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.limits import deadline, metered
from clusterkit.samples.transform import block_plan

if TYPE_CHECKING:
    from clusterkit.level_sets.segment_test import ComponentSearch, SegmentTest

__all__ = [
    "CompleteGraph",
    "Proximity",
    "SupportGraph",
    "graph_labeling",
]


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
    level_sets/_segments_jit.py (`first_outside`) and level_sets/_components.py (`Components.complete`); the step from
    components to labels is in labelers/graphs.py (`graph_labeling`).

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
    max_seconds : float or None, default None
        Time limit for the search and the proof, in seconds, an emergency brake: with it a result may depend on the
        speed of the machine, which the warning and `resolved_` then say. None sets no limit.

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
    sparse: ClassVar[bool] = True
    tunable: ClassVar[frozenset[str]] = frozenset({"min_cluster_size"})

    n_segment_points: int = integer(20, at_least=1, at_most=MOST_POINTS)
    outliers: str = choice("noise", OUTLIERS)
    min_cluster_size: int | None = integer(None, at_least=1, optional=True)
    max_work: int | None = integer(None, at_least=1, at_most=MOST_WORK, optional=True)
    max_seconds: float | None = real(None, above=0.0, optional=True)

    def label(self, outcome: Domain, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the components of the samples inside the domain; outliers as `outliers` says."""
        return graph_labeling(
            outcome,
            space,
            lambda search, points: search.complete(),
            stage=self.name,
            n_segment_points=self.n_segment_points,
            outliers=self.outliers,
            min_cluster_size=self.min_cluster_size,
            max_work=self.max_work,
            max_seconds=self.max_seconds,
        )

    def candidate_labels(self, space: Space, smallest: int) -> Callable[[Domain], Labels]:
        """A function that labels many domains of the points of `space` by likely edges only, without their proof.

        For tuners, which dissolve components of fewer than `smallest` samples. The components are those of the
        complete graph or parts of them; see `clusterkit.level_sets.many_widths`. Rows outside the domain are -1.
        """
        from clusterkit.level_sets.many_widths import CandidateLabels
        from clusterkit.numerics.sparse_rows import SparseRows

        rng, task = np.random.default_rng(0), Task(space.n, None)
        labeler = attrs.evolve(self, max_work=None, max_seconds=None, outliers="noise", min_cluster_size=None)

        def label_one(domain: Domain) -> Labels:
            return labeler.label(domain, space, task, rng).labels

        if isinstance(space.points, SparseRows):
            return label_one
        return CandidateLabels.of(space.points, label_one, n_segment_points=self.n_segment_points, smallest=smallest)

    def labels_of_domains(self, space: Space) -> Callable[[Domain], Labels]:
        """A function that labels many domains of the points of `space`, without limits of work and time.

        For tuners that search over widths and bounds. With up to 4,000 points whose distances fit under the memory cap,
        quantities that depend on the points alone are computed once; otherwise the function calls `label` for each
        domain.
        """
        from clusterkit.level_sets.many_widths import labels_of_domains

        rng, task = np.random.default_rng(0), Task(space.n, None)
        labeler = attrs.evolve(self, max_work=None, max_seconds=None)
        return labels_of_domains(
            space.points,
            lambda domain: labeler.label(domain, space, task, rng).labels,
            n_segment_points=self.n_segment_points,
            outliers=self.outliers,
            min_cluster_size=self.min_cluster_size,
        )


GRAPHS = ("mst", "delaunay", "knn")
"""Minimum spanning tree, Delaunay triangulation, nearest neighbours."""
MOST_ATTRIBUTES = 4
"""Largest number of attributes for a triangulation: its number of simplices grows exponentially with them."""


@final
@attrs.frozen
class Proximity(Labeler[Domain]):
    """Clusters are the components of a neighbour graph whose lines lie inside the domain.

    Choose it for many samples with a domain that is expensive to evaluate: the number of segments to test grows with
    n, not n². The neighbour graph connects the distinct samples inside the domain; an edge remains if
    `n_segment_points` points between its ends are inside too. Samples that `complete_graph` separates are never
    joined, but a cluster of `complete_graph` is split wherever no segment between neighbours connects its parts. The
    neighbour graphs are in _proximity_edges_jit.py (`mst_edges`, `delaunay_edges`, `knn_edges`).

    Parameters
    ----------
    graph : {"mst", "delaunay", "knn"}, default "mst"
        The Euclidean minimum spanning tree, with only n - 1 edges, so that each edge outside the domain splits a
        cluster; the Delaunay triangulation, which contains the tree, for at most 4 attributes; or edges to the
        `n_neighbors` nearest others, in both directions. The last graph may be disconnected for few of them, whatever
        the domain.
    n_neighbors : int, default 4
        Neighbours of each sample, for graph "knn" only.
    n_segment_points : int, default 20
        Points tested on a segment, at fractions ``k / (n_segment_points + 1)``: the m of the papers. The ends are
        tested once for each sample.
    outliers : {"noise", "nearest", "singleton"}, default "noise"
        Labels of samples outside the domain: -1, the label of the nearest sample in a cluster (0 if there is no
        cluster), or a cluster for each of them (equal samples share it).
    min_cluster_size : int or None, default None
        The samples of components with fewer samples are outliers. None lets a tuner choose it; without a tuner there
        is no minimum.

    Raises
    ------
    InvalidData
        For graph "delaunay" on more than 4 attributes.

    Notes
    -----
    Edges of equal length are ordered by their smaller and then their larger index, so every graph but the
    triangulation of points on one sphere is unique, and samples joined by "mst" are joined by "delaunay" as well.
    Points on a line or in a plane are triangulated within that line or plane.

    O(E m) values of the domain for E edges and m points on a segment. E is below n p for "knn" with p neighbours,
    n - 1 for "mst", and for "delaunay" about 3 n in 2 and 7 n in 3 attributes. Finding the edges takes O(n p log n) up
    to 10 attributes and O(n² d) above for "knn"; O(n log n) up to 3 attributes and O(n² d) above for "mst"; for
    "delaunay" O(n log n) up to 2 attributes, above that usually not much more, at worst O(n²). Memory O(n d + E).

    A new sample inside the domain gets the label of the nearest training sample that a segment inside the domain
    connects it to, as in `complete_graph`. Ctrl-C ends the search: components that are not joined by then stay
    separate.

    References
    ----------
    Yang, Estivill-Castro, Chalup (2002), Support vector clustering through proximity graph modelling, Proc. ICONIP.
    """

    name: ClassVar[str] = "proximity"
    synonyms: ClassVar[tuple[str, ...]] = ("proximity_graph", "delaunay")
    consumes: ClassVar[type[Outcome]] = Domain
    finds_k: ClassVar[bool] = True
    tunable: ClassVar[frozenset[str]] = frozenset({"min_cluster_size"})

    graph: str = choice("mst", GRAPHS)
    n_neighbors: int = integer(4, at_least=1)
    n_segment_points: int = integer(20, at_least=1, at_most=MOST_POINTS)
    outliers: str = choice("noise", OUTLIERS)
    min_cluster_size: int | None = integer(None, at_least=1, optional=True)

    def label(self, outcome: Domain, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the components of the samples inside the domain; outliers as `outliers` says."""
        d = space.points.shape[1]
        if self.graph == "delaunay" and d > MOST_ATTRIBUTES:
            raise InvalidData(
                f"labeler 'proximity': graph='delaunay' takes at most {MOST_ATTRIBUTES} attributes, these samples have "
                f"{d}; use graph='mst' or 'knn'"
            )
        return graph_labeling(
            outcome,
            space,
            lambda search, points: search.join(self._edges(points)),
            stage=self.name,
            n_segment_points=self.n_segment_points,
            outliers=self.outliers,
            min_cluster_size=self.min_cluster_size,
        )

    def _edges(self, points: Array) -> Indices:
        from clusterkit.labelers._proximity_edges_jit import delaunay_edges, knn_edges, mst_edges

        if self.graph == "knn":
            return knn_edges(points, self.n_neighbors)
        return mst_edges(points) if self.graph == "mst" else delaunay_edges(points)


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
    synonyms: ClassVar[tuple[str, ...]] = ("support_vector_graph", "svg")
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
        from clusterkit.numerics.structures_jit import find_rows

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


def graph_labeling(
    domain: Domain,
    space: Space,
    find_components: Callable[[ComponentSearch, Array], None],
    *,
    stage: str,
    n_segment_points: int,
    outliers: str,
    min_cluster_size: int | None,
    max_work: int | None = None,
    max_seconds: float | None = None,
) -> Labeling:
    """Labels from the components that `find_components` joins among the distinct samples inside the domain.

    Parameters
    ----------
    domain : Domain
    space : Space
    find_components : callable
        Called with a search and its points (u, d); joins points by calling the methods of the search.
    stage : str
        Name for progress reports.
    n_segment_points : int
        Points tested on a segment.
    outliers, min_cluster_size
        As in `domain_labeling`.
    max_work : int, optional
        Most kernel evaluations of the search for components, which ends with a warning where it needs more.
    max_seconds : float, optional
        Time limit, in seconds: the search ends at its first progress report after it, with a warning.

    Returns
    -------
    Labeling
        Its facts say which limit ended the search, if one did.

    Warns
    -----
    ClusterkitWarning
        If a limit ended the search.
    """
    from clusterkit.level_sets.segment_test import segment_test
    from clusterkit.numerics.sparse_rows import as_rows

    distinct = DistinctRows.of(space.points)
    test = segment_test(domain, n_segment_points)
    inside = test.inside(distinct.rows)
    if space.n == 1:
        inside[:] = True
    components, interrupted = np.full(len(inside), -1, dtype=np.intp), False
    facts: Mapping[str, Any] = {}
    if inside.any():
        points = as_rows(distinct.rows[inside], np.float64)
        search = test.search(points, stage)
        try:
            with deadline(max_seconds) as limit, metered(max_work) as meter:
                find_components(search, points)
        except KeyboardInterrupt:
            interrupted = True
        if limit.passed or meter.passed:
            name, value = ("max_work", max_work) if meter.passed else ("max_seconds", max_seconds)
            facts = {"ended": name, "components": len(np.unique(search.members()))}
            warnings.warn(
                f"labeler '{stage}': the search for components was ended after {name}={value:g}. Its "
                f"{facts['components']} components are used; some of them may belong together. Raise {name} or set it "
                "to None",
                ClusterkitWarning,
                stacklevel=3,
            )
        components[inside] = search.members()
    labeling = domain_labeling(
        components,
        distinct,
        domain,
        space,
        n_segment_points=n_segment_points,
        outliers=outliers,
        min_cluster_size=min_cluster_size,
        interrupted=interrupted,
    )
    return attrs.evolve(labeling, facts=facts)
