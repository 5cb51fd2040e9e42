"""Evidence accumulation: a dendrogram of how often two samples are apart."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core import memory, params
from clusterkit.core.labelings import Labelings
from clusterkit.core.stages import Consensus

__all__ = ["Coassociation"]

TIE = 1e-12


@final
@attrs.frozen
class Coassociation(Consensus):
    """Hierarchical clustering where the distance of two samples is the share of members that part them.

    Only members that know both samples count; where there is none the distance is 1. Without a number of clusters the
    dendrogram is cut where a number of clusters lasts longest. One cluster is no candidate then, and to keep all
    distinct label columns apart is one only if a member does.

    Parameters
    ----------
    linkage : {"average", "single", "complete"}, default "average"

    Notes
    -----
    Ties of lifetimes go to fewer clusters. Samples that all members label alike are kept once, with their weight:
    O(u² M) time (single and complete linkage: of scipy) and O(u²) memory for u distinct label columns. Source: Fred,
    Jain 2005.
    """

    name: ClassVar[str] = "coassociation"
    finds_k: ClassVar[bool] = True
    takes_k: ClassVar[bool] = True

    linkage: str = params.choice("average", ("average", "single", "complete"))

    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Labels:
        """Dendrogram of the distinct columns, then a cut."""
        from clusterkit.consensus._coassociation_jit import disagreements

        u = len(labelings.counts)
        memory.require(
            16 * u * u, f"the distances of {u} distinct label columns", "Use consensus 'hbgf', 'diclens' or 'voting'."
        )
        distances = np.empty(u * (u - 1) // 2)
        disagreements(labelings.columns, distances)
        edges, heights = (
            _averages(distances, labelings.counts) if self.linkage == "average" else (_linked(distances, self.linkage))
        )
        merges = _longest(heights, labelings.n_clusters.max() == u) if k is None else u - k
        return _components(edges[:merges], u)[labelings.column_of]


def _averages(distances: Array, counts: Array) -> tuple[Array, Array]:
    """Merges in order of height: (u - 1, 2, 2) edges, the second of each pair idle."""
    from scipy.spatial.distance import squareform

    from clusterkit.consensus._linkage_jit import average_linkage

    pairs, heights = average_linkage(squareform(distances), counts)
    order = np.argsort(heights, kind="stable")
    return np.stack([pairs[order], pairs[order]], axis=1), heights[order]


def _linked(distances: Array, method: str) -> tuple[Array, Array]:
    """The same of scipy: merge i joins its two clusters to a vertex u + i."""
    from scipy.cluster.hierarchy import linkage

    Z = linkage(distances, method)
    made = len(Z) + 1 + np.arange(len(Z))
    joined = Z[:, :2].astype(np.int64)
    return np.stack([np.stack([joined[:, side], made], axis=1) for side in (0, 1)], axis=1), Z[:, 2]


def _longest(heights: Array, finest: bool) -> int:
    """How many merges lead to the number of clusters with the longest lifetime; all of them if nothing is apart.

    `finest` says whether no merge at all may be the answer.
    """
    if heights[-1] <= TIE:
        return len(heights)
    lifetimes = np.diff(heights, prepend=0.0)
    if not finest and len(lifetimes) > 1:
        lifetimes[0] = 0.0
    return int(np.flatnonzero(lifetimes >= lifetimes.max() - TIE)[-1])


def _components(edges: Array, u: int) -> Labels:
    """Which of the first u vertices the edges connect."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    rows, columns = edges.reshape(-1, 2).T
    graph = coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(2 * u, 2 * u))
    labels: Labels = connected_components(graph, directed=False)[1][:u]
    return labels
