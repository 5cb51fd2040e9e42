"""Evidence accumulation: hierarchical clustering by how many members separate two samples."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels, Rng
from clusterkit.core import memory, params
from clusterkit.core.labelings import Labelings
from clusterkit.core.stages import Consensus

__all__ = ["Coassociation"]

TIE = 1e-12
"""Lifetimes that differ by less are equal: heights are means of quotients of counts."""


@final
@attrs.frozen
class Coassociation(Consensus):
    """Hierarchical clustering where the distance of two samples is the fraction of members that separate them.

    Only members that know both samples count; if there is none, the distance is 1. Without a number of clusters the
    dendrogram is cut where the number of clusters stays the same over the longest range of heights. One cluster is then
    no candidate, and the partition into all distinct label columns is one only if a member has as many clusters. The
    linkage is in ``_linkage_jit.py``.

    Parameters
    ----------
    linkage : {"average", "single", "complete"}, default "average"

    Notes
    -----
    Ties of lifetimes go to fewer clusters. Samples that all members label alike are stored once, with their weight:
    O(u² M) time (single and complete linkage are scipy's) and O(u²) memory for u distinct label columns. Source: Fred,
    Jain 2005.
    """

    name: ClassVar[str] = "coassociation"
    finds_k: ClassVar[bool] = True
    takes_k: ClassVar[bool] = True

    linkage: str = params.choice("average", ("average", "single", "complete"))

    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Labels:
        """Build the dendrogram of the distinct columns, then cut it."""
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


def _averages(distances: Array, counts: Counts) -> tuple[Indices, Array]:
    """Average linkage: merges as edges (u - 1, 2, 2) in order of height, and the heights.

    One edge describes a merge here; the second of each pair repeats it.
    """
    from scipy.spatial.distance import squareform

    from clusterkit.consensus._linkage_jit import average_linkage

    pairs, heights = average_linkage(squareform(distances), counts)
    order = np.argsort(heights, kind="stable")
    return np.stack([pairs[order], pairs[order]], axis=1), heights[order]


def _linked(distances: Array, method: str) -> tuple[Indices, Array]:
    """Linkage by scipy, in the format of `_averages`: merge i joins its two clusters to a new vertex u + i."""
    from scipy.cluster.hierarchy import linkage

    Z = linkage(distances, method)
    vertices = len(Z) + 1 + np.arange(len(Z))
    joined = Z[:, :2].astype(np.int64)
    return np.stack([np.stack([joined[:, side], vertices], axis=1) for side in (0, 1)], axis=1), Z[:, 2]


def _longest(heights: Array, finest: bool) -> int:
    """Number of merges up to the partition with the longest lifetime; all merges if all heights are 0.

    `finest` allows the partition before any merge.
    """
    if heights[-1] <= TIE:
        return len(heights)
    lifetimes = np.diff(heights, prepend=0.0)
    if not finest and len(lifetimes) > 1:
        lifetimes[0] = 0.0
    return int(np.flatnonzero(lifetimes >= lifetimes.max() - TIE)[-1])


def _components(edges: Indices, u: int) -> Labels:
    """Component of each of the first u vertices in the graph of the edges."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    rows, columns = edges.reshape(-1, 2).T
    graph = coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(2 * u, 2 * u))
    labels: Labels = connected_components(graph, directed=False)[1][:u]
    return labels
