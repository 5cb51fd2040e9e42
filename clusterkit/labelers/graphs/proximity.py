"""Proximity graphs of a domain: lines are tested between neighbours only."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from clusterkit._typing import Array, Rng
from clusterkit.core.errors import InvalidData
from clusterkit.core.outcomes import Domain, Outcome
from clusterkit.core.params import choice, integer
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeler, Labeling, Task
from clusterkit.labelers._outliers_and_prediction import OUTLIERS

__all__ = ["Proximity"]

GRAPHS = ("mst", "delaunay", "knn")
MOST_ATTRIBUTES = 4
"""Above that a triangulation has too many simplices to be of use."""


@final
@attrs.frozen
class Proximity(Labeler):
    """Clusters are the components of a neighbour graph whose lines lie inside the domain.

    Choose it for many samples with a domain that is expensive to evaluate: the number of lines to test grows with n,
    not n². The graph is that of the distinct samples inside; its edges are kept if `m` points between their ends are
    inside too. It never joins what `complete_graph` keeps apart, but it splits more: a cluster falls apart where no
    line between neighbours bridges it.

    Parameters
    ----------
    graph : {"mst", "delaunay", "knn"}, default "mst"
        The Euclidean minimum spanning tree, n - 1 lines in all, so that each one outside splits; the Delaunay
        triangulation, which contains the tree, for at most 4 attributes; or lines to the `k` nearest others, taken
        both ways. The last graph itself falls into pieces for small `k`, whatever the domain.
    k : int, default 4
        Neighbours of each sample, only for graph "knn".
    m : int, default 20
        Points tested on a line, at fractions ``k / (m + 1)``; the ends are tested once a sample.
    outliers : {"noise", "nearest", "singleton"}, default "noise"
        Samples outside the domain: label -1, the label of the nearest sample in a cluster (one cluster 0 if there
        is none), or a cluster each (equal samples share it).
    min_cluster_size : int or None, default None
        Components with fewer samples are outliers. None leaves it to a tuner; without one, no component is too small.

    Raises
    ------
    InvalidData
        For graph "delaunay" on more than 4 attributes.

    Notes
    -----
    Edges of equal length are taken in the order of their smaller and then their larger index, so every graph but
    the triangulation of points on one sphere is unique, and what "mst" joins "delaunay" joins as well. Points on a
    line or in a plane are triangulated in there.

    O(E m) values of the domain for E edges: below n k, n - 1, and about 3 n or 7 n in 2 or 3 attributes. Finding them
    takes O(n k log n) up to 10 attributes and O(n² d) above for "knn"; O(n log n) up to 3 and O(n² d) above for
    "mst"; for "delaunay" O(n log n) up to 2 attributes, above that usually not much more, at worst O(n²). Memory
    O(n d + E).

    A new sample inside the domain gets the label of the nearest training sample it has an edge to, as in
    `complete_graph`. Ctrl-C ends the search: what is not joined by then stays apart.

    References
    ----------
    Yang, Estivill-Castro, Chalup (2002), Support vector clustering through proximity graph modelling, Proc. ICONIP.
    """

    name: ClassVar[str] = "proximity"
    consumes: ClassVar[type[Outcome]] = Domain
    finds_k: ClassVar[bool] = True
    tunable: ClassVar[frozenset[str]] = frozenset({"min_cluster_size"})

    graph: str = choice("mst", GRAPHS)
    k: int = integer(4, at_least=1)
    m: int = integer(20, at_least=1)
    outliers: str = choice("noise", OUTLIERS)
    min_cluster_size: int | None = integer(None, at_least=1, optional=True)

    def label(self, outcome: Domain, space: Space, task: Task, rng: Rng) -> Labeling:
        """Components of the samples inside, outliers by the policy."""
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
            m=self.m,
            outliers=self.outliers,
            min_cluster_size=self.min_cluster_size,
        )

    def _edges(self, points: Array) -> Array:
        from clusterkit.labelers.graphs._proximity_edges_jit import delaunay_edges, knn_edges, mst_edges

        if self.graph == "knn":
            return knn_edges(points, self.k)
        return mst_edges(points) if self.graph == "mst" else delaunay_edges(points)
