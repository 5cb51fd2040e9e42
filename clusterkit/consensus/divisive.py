"""DICLENS: cut the tree of base clusters where clusters are tight and far apart."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core import memory
from clusterkit.core.labelings import Labelings
from clusterkit.core.stages import Consensus

__all__ = ["Diclens"]

TIE = 1e-12
"""Scores that differ by less are equal: they are sums of quotients of counts."""


@final
@attrs.frozen
class Diclens(Consensus):
    """Joins the clusters of all members along a spanning tree and returns the best partition on the way.

    The tree links base clusters by their mean co-association, most similar first. After each link every sample goes to
    the group with most of its base clusters. The result is the partition with the largest difference between the mean
    co-association inside clusters and between clusters, both scaled to [0, 1] over all partitions; the number of
    clusters follows. It has no parameters of its own. The loop is in ``_divisive_jit.py`` (`join_until`).

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
        from clusterkit.consensus._base_clusters import average_coassociation, overlaps
        from clusterkit.consensus._divisive_jit import join_until, spanning_tree

        similarity = average_coassociation(overlaps(labelings))
        E = len(similarity)
        memory.require(8 * E * E, f"the votes of {E} base clusters", "Combine fewer labelings, or coarser ones.")
        edges, values = spanning_tree(similarity)
        # among equal similarities the edge with the lower base clusters comes first
        edges = edges[np.lexsort((edges[:, 1], edges[:, 0], -values))]
        numbers = np.where(labelings.columns >= 0, labelings.columns + labelings.offsets, -1)
        _, cohesion, coupling, clusters = join_until(numbers, labelings.counts, edges, E - 2)
        score = _scaled(cohesion) - _scaled(coupling)
        near = np.flatnonzero(score >= score.max() - TIE)
        best = int(near[np.argmin(clusters[near])])
        labels: Labels = join_until(numbers, labelings.counts, edges, best)[0]
        return labels[labelings.column_of]


def _scaled(values: Array) -> Array:
    """Values scaled to [0, 1]; zeros if they are all equal."""
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high - low > TIE * max(1.0, abs(high)) else np.zeros_like(values)
