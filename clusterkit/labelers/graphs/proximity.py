"""Proximity graphs of a domain: segments are tested between neighbours only."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from clusterkit._typing import Array, Indices, Rng
from clusterkit.core.errors import InvalidData
from clusterkit.core.outcomes import Domain, Outcome
from clusterkit.core.params import choice, integer
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeler, Labeling, Task
from clusterkit.labelers._outliers_and_prediction import MOST_POINTS, OUTLIERS

__all__ = ["Proximity"]

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
        from clusterkit.labelers.graphs._labeling import graph_labeling

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
        from clusterkit.labelers.graphs._proximity_edges_jit import delaunay_edges, knn_edges, mst_edges

        if self.graph == "knn":
            return knn_edges(points, self.n_neighbors)
        return mst_edges(points) if self.graph == "mst" else delaunay_edges(points)
