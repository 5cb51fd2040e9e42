"""Base clusters, the clusters of all members as one set: sizes, overlaps and similarities."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core import memory
from clusterkit.core.labelings import Labelings

__all__ = ["average_coassociation", "indicator", "jaccard", "overlaps", "plurality"]


def indicator(labelings: Labelings) -> Any:
    """Membership of the distinct columns in the base clusters: sparse (u, E) of ones for E base clusters."""
    from scipy.sparse import csr_matrix

    known = labelings.columns >= 0
    numbers = (labelings.columns + labelings.offsets)[known]
    starts = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    shape = (len(known), int(labelings.n_clusters.sum()))
    return csr_matrix((np.ones(len(numbers)), numbers, starts), shape=shape)


def overlaps(labelings: Labelings) -> Array:
    """Number of samples that two base clusters share, (E, E) float64 of whole numbers; the diagonal has the sizes."""
    E = int(labelings.n_clusters.sum())
    memory.require(3 * 8 * E * E, f"the overlaps of {E} base clusters", "Combine fewer labelings, or coarser ones.")
    H = indicator(labelings)
    shared: Array = (H.multiply(labelings.counts[:, None]).T @ H).toarray()
    return shared


def jaccard(B: Array) -> Array:
    """Fraction of the samples of two base clusters that are in both, (E, E)."""
    sizes = np.diag(B)
    return B / (sizes[:, None] + sizes[None, :] - B)


def average_coassociation(B: Array) -> Array:
    """Mean number of members that put a sample of one base cluster and one of another into one cluster, (E, E).

    ``ECS(c, c') = Σ_o |c∩o| |c'∩o| / (|c| |c'|)`` over all base clusters o.
    """
    sizes = np.diag(B)
    return (B @ B) / np.outer(sizes, sizes)


def plurality(votes: Labels) -> Labels:
    """The most frequent vote of each row of (u, M), ties to the lowest; -1 is no vote, and the result without votes."""
    frequent = (votes[:, :, None] == votes[:, None, :]).sum(axis=2)
    frequent[votes < 0] = 0
    most = frequent.max(axis=1)
    above = votes.max() + 1
    chosen: Labels = np.where(frequent == most[:, None], votes, above).min(axis=1)
    return np.where(most > 0, chosen, -1)
