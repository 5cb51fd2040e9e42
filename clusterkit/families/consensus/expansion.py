"""COMUSA: clusters that grow from pivots in the graph of co-associations, of samples or of base clusters.

Base clusters are the clusters of all members as one set, with sizes, overlaps and similarities. COMUSA on them
(`Comusacl`) is linear in the number of samples.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Labels, Rng
from clusterkit.contracts import Consensus, params
from clusterkit.contracts.labelings import Labelings
from clusterkit.errors import ClusterkitWarning
from clusterkit.samples import memory

BLOCK = 2**22
"""Co-associations multiplied at a time: 32 MiB as float64."""


@attrs.frozen
class _Expansion(Consensus):
    """A consensus that grows clusters."""

    finds_k: ClassVar[bool] = True

    relaxation: float = params.real(0.5, at_least=0.0)


@final
@attrs.frozen
class Comusa(_Expansion):
    """Grows clusters in the graph whose edges count how many members put two samples into one cluster.

    A cluster starts at the free sample with the largest mean similarity to its neighbours. A sample v of the cluster
    takes a free sample w if no other free sample is more similar to w than ``(1 + relaxation)`` times v. The number of
    clusters follows. The growth is in ``_consensus_jit.py`` (`expand`).

    Parameters
    ----------
    relaxation : float, default 0.5
        Larger gives fewer and larger clusters. The published value joins everything where members have two or three
        clusters; 0.25 is worth a try then, 0 gives dozens of clusters.
    max_over : {"unvisited", "all"}, default "unvisited"
        Samples among which the most similar one to w is sought.

    Notes
    -----
    Ties go to the smallest index. Samples that all members label alike are stored once in the matrix of counts:
    O(u² M) time and O(u²) memory for u distinct label columns, plus the scans of the rows. The result is that of the
    plain algorithm on n samples. Source: Mimaroglu, Erdil 2011.
    """

    name: ClassVar[str] = "comusa"

    max_over: str = params.choice("unvisited", ("unvisited", "all"))

    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Labels:
        """Expansion over samples; one cluster gets a warning."""
        from clusterkit.families.consensus._consensus_jit import agreements, expand

        u = len(labelings.counts)
        memory.require(4 * u * u, f"the co-association of {u} distinct label columns", "Use consensus 'comusacl'.")
        S = np.empty((u, u), dtype=np.int32)
        agreements(labelings.columns, S)
        order = np.argsort(-_attachment(S, labelings.counts)[labelings.column_of], kind="stable")
        labels: Labels = expand(
            S, labelings.column_of, labelings.counts, order, self.relaxation, self.max_over == "all"
        )
        if not labels.any():
            warnings.warn(
                f"consensus 'comusa' joined all samples with relaxation = {self.relaxation:g}; a smaller one gives "
                "more clusters",
                ClusterkitWarning,
                stacklevel=4,
            )
        return labels


def _attachment(S: Counts, counts: Counts) -> Array:
    """Mean co-association of a sample of each column with its neighbours in the graph, (u,); -inf without any."""
    together = np.empty(len(S))
    degree = np.empty(len(S))
    block = max(1, BLOCK // len(S))
    for begin in range(0, len(S), block):
        rows = S[begin : begin + block]
        itself = rows[np.arange(len(rows)), np.arange(begin, begin + len(rows))]
        together[begin : begin + block] = rows @ counts - itself
        degree[begin : begin + block] = (rows > 0) @ counts - 1
    return np.divide(together, degree, out=np.full(len(S), -np.inf), where=degree > 0)


class _OfBaseClusters(_Expansion):
    """One that grows groups of base clusters."""

    weight: str = "ecs"

    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Labels:
        """Expansion over base clusters, then votes."""
        return _merged(self.name, labelings, self.relaxation, self.weight)


@final
@attrs.frozen
class Comusacl(_OfBaseClusters):
    """Grows groups of base clusters as COMUSA grows groups of samples, then each sample joins the group it votes for.

    A sample votes for the group with most of its base clusters. This is our own variant of the idea of a COMUSA on
    clusters: the published algorithm of this name may differ, so do not compare with its numbers. The growth is in
    ``_consensus_jit.py`` (`expand`).

    Parameters
    ----------
    relaxation : float, default 0.5
        Larger gives fewer and larger groups.
    weight : {"jaccard", "ecs"}, default "jaccard"
        Similarity of two base clusters: the fraction of their samples that are in both, or the mean co-association
        between them, which also counts agreement through third clusters.

    Notes
    -----
    Ties go to the first base cluster, or the first group. O(n M + E³) time and O(E²) memory for E base clusters.
    """

    name: ClassVar[str] = "comusacl"

    weight: str = params.choice("jaccard", ("jaccard", "ecs"))


@final
@attrs.frozen
class ComusaclDew(_OfBaseClusters):
    """`comusacl` with the mean co-association of two base clusters as their similarity.

    Our own variant, like `comusacl`; ``comusacl(weight="ecs")`` is the same.

    Parameters
    ----------
    relaxation : float, default 0.5
        Larger gives fewer and larger groups.

    Notes
    -----
    O(n M + E³) time and O(E²) memory for E base clusters.
    """

    name: ClassVar[str] = "comusacl_dew"


def _merged(name: str, labelings: Labelings, relaxation: float, weight: str) -> Labels:
    from clusterkit.families.consensus._consensus_jit import expand

    B = overlaps(labelings)
    W = jaccard(B) if weight == "jaccard" else average_coassociation(B)
    E = len(W)
    order = np.argsort(-_cluster_attachment(W), kind="stable")
    groups = expand(W, np.arange(E), np.ones(E, dtype=np.int64), order, relaxation, False)
    columns = labelings.columns
    votes = np.where(columns >= 0, groups[(columns + labelings.offsets).clip(0)], -1)
    labels = plurality(votes)[labelings.column_of]
    if (labels == labels[0]).all():
        warnings.warn(
            f"consensus '{name}' joined all samples with relaxation = {relaxation:g}; a smaller one gives more"
            " clusters",
            ClusterkitWarning,
            stacklevel=5,
        )
    return labels


def _cluster_attachment(W: Array) -> Array:
    """Mean of the positive similarities of each base cluster to others, (E,); -inf without any."""
    W = W.copy()
    np.fill_diagonal(W, 0.0)
    degree = np.count_nonzero(W, axis=1)
    means = np.divide(W.sum(axis=1), degree, out=np.full(len(W), -np.inf), where=degree > 0)
    # equal means of quotients differ by rounding; rounded, they are ties, which the order of the base clusters breaks
    return np.round(means / max(means.max(), 1.0), 12)


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
    memory.require(3 * 8 * E * E, f"the overlaps of {E} base clusters", "Combine fewer labellings, or coarser ones.")
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
