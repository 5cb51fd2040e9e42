"""Voting: the clusters of all members are matched to one member, then the most frequent label wins."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Counts, Indices, Labels, Rng
from clusterkit.contracts import Consensus
from clusterkit.contracts.labelings import Labelings, by_appearance


@final
@attrs.frozen
class Voting(Consensus):
    """Matches the clusters of all members to those of a reference, and gives each sample its most frequent label.

    The reference is the member that has most samples in common with the others when clusters are matched one to one
    (Hungarian method). A cluster without a partner votes for the reference cluster it overlaps most. The result has as
    many clusters as the reference, or fewer. Best where all members have about the same number of clusters. The
    matching is in `_voted`.

    Notes
    -----
    Ties go to the lowest label; ties between members go to fewer clusters, then to the lexicographically first labels.
    O(n M + M² (u + k³)) time and O(u M²) memory for u distinct label columns and k clusters a member. Source: Dudoit,
    Fridlyand 2003; Fischer, Buhmann 2003.
    """

    name: ClassVar[str] = "voting"
    synonyms: ClassVar[tuple[str, ...]] = ("plurality", "majority")
    finds_k: ClassVar[bool] = True

    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Labels:
        """Match the clusters, rename them, vote."""
        return _voted(labelings.columns, labelings.counts)[labelings.column_of]


def _voted(columns: Labels, counts: Counts) -> Labels:
    """Labels of the distinct columns (u, M)."""
    from clusterkit.families.consensus.expansion import plurality

    M = columns.shape[1]
    shared = [[_shared(columns[:, i], columns[:, j], counts) for j in range(M)] for i in range(M)]
    common = [sum(_partners(table)[2] for table in row) for row in shared]
    chosen = min(range(M), key=lambda i: (-common[i], columns[:, i].max(), columns[:, i].tolist()))
    votes = np.full_like(columns, -1)
    for m in range(M):
        known = columns[:, m] >= 0
        votes[known, m] = _names(shared[chosen][m])[columns[known, m]]
    labels = plurality(votes)
    silent = labels < 0
    if silent.any():
        # the clusters of these columns share no sample with the reference: they are combined separately
        rest = np.stack([by_appearance(member) for member in columns[silent].T], axis=1)
        labels[silent] = labels.max() + 1 + _voted(rest[:, (rest >= 0).any(axis=0)], counts[silent])
    return labels


def _shared(one: Labels, other: Labels, counts: Counts) -> Counts:
    """Number of samples that two clusters share, (k, k')."""
    known = (one >= 0) & (other >= 0)
    table = np.zeros((one.max() + 1, other.max() + 1), dtype=np.int64)
    np.add.at(table, (one[known], other[known]), counts[known])
    return table


def _partners(table: Counts) -> tuple[Indices, Indices, int]:
    """Rows and columns of the best one-to-one matching, and the number of samples in the matched pairs."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(table, maximize=True)
    return rows, columns, int(table[rows, columns].sum())


def _names(table: Counts) -> Labels:
    """Row of the table (k, k') of common samples whose name each column, a cluster, gets; -1 for a column of zeros."""
    rows, columns, _ = _partners(table)
    names = np.where(table.max(axis=0) > 0, table.argmax(axis=0), -1)
    overlapping = table[rows, columns] > 0
    names[columns[overlapping]] = rows[overlapping]
    return names
