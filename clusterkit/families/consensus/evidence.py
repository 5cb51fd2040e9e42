"""Evidence accumulation and DICLENS: hierarchies of samples and of base clusters.

`Coassociation` is hierarchical clustering by how many members separate two samples. `Diclens` cuts the tree of base
clusters where clusters are tight and far apart.
"""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels, Rng
from clusterkit.contracts import Consensus, params
from clusterkit.contracts.labelings import Labelings
from clusterkit.samples import memory

TIE = 1e-12
"""Lifetimes that differ by less are equal: heights are means of quotients of counts."""


@final
@attrs.frozen
class Coassociation(Consensus):
    """Hierarchical clustering where the distance of two samples is the fraction of members that separate them.

    Only members that know both samples count; if there is none, the distance is 1. Without a number of clusters the
    dendrogram is cut where the number of clusters stays the same over the longest range of heights. One cluster is then
    no candidate, and the partition into all distinct label columns is one only if a member has as many clusters. The
    linkage is in ``_consensus_jit.py``.

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
    synonyms: ClassVar[tuple[str, ...]] = ("evidence_accumulation", "eac")
    finds_k: ClassVar[bool] = True
    takes_k: ClassVar[bool] = True

    linkage: str = params.choice("average", ("average", "single", "complete"))

    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Labels:
        """Build the dendrogram of the distinct columns, then cut it."""
        from clusterkit.families.consensus._consensus_jit import disagreements

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

    from clusterkit.families.consensus._consensus_jit import average_linkage

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


SAME_SIMILARITY = 1e-12
"""Scores that differ by less are equal: they are sums of quotients of counts."""


@final
@attrs.frozen
class Diclens(Consensus):
    """Joins the clusters of all members along a spanning tree and returns the best partition on the way.

    The tree links base clusters by their mean co-association, most similar first. After each link every sample goes to
    the group with most of its base clusters. The result is the partition with the largest difference between the mean
    co-association inside clusters and between clusters, both scaled to [0, 1] over all partitions; the number of
    clusters follows. It has no parameters of its own. The loop is in ``_consensus_jit.py`` (`join_until`).

    Notes
    -----
    Ties of votes go to the group with the first base cluster, ties of scores to fewer clusters. Ties are common (before
    the first link every vote is one of several), so the order of the members may matter. Samples that all members label
    alike are stored once: O(n M + E³ + E u M²) time and O(E² + u M) memory for u distinct label columns and E base
    clusters. Source: Mimaroglu, Aksehirli 2012.
    """

    name: ClassVar[str] = "diclens"
    finds_k: ClassVar[bool] = True
    ordered: ClassVar[bool] = True

    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Labels:
        """Insert all edges once for the scores, and again up to the best partition."""
        from clusterkit.families.consensus._consensus_jit import join_until, spanning_tree
        from clusterkit.families.consensus.expansion import average_coassociation, overlaps

        similarity = average_coassociation(overlaps(labelings))
        E = len(similarity)
        memory.require(8 * E * E, f"the votes of {E} base clusters", "Combine fewer labellings, or coarser ones.")
        edges, values = spanning_tree(similarity)
        # among equal similarities the edge with the lower base clusters comes first
        edges = edges[np.lexsort((edges[:, 1], edges[:, 0], -values))]
        numbers = np.where(labelings.columns >= 0, labelings.columns + labelings.offsets, -1)
        _, cohesion, coupling, clusters = join_until(numbers, labelings.counts, edges, E - 2)
        score = _scaled(cohesion) - _scaled(coupling)
        near = np.flatnonzero(score >= score.max() - SAME_SIMILARITY)
        best = int(near[np.argmin(clusters[near])])
        labels: Labels = join_until(numbers, labelings.counts, edges, best)[0]
        return labels[labelings.column_of]


def _scaled(values: Array) -> Array:
    """Values scaled to [0, 1]; zeros if they are all equal."""
    low, high = values.min(), values.max()
    return (
        (values - low) / (high - low) if high - low > SAME_SIMILARITY * max(1.0, abs(high)) else np.zeros_like(values)
    )
