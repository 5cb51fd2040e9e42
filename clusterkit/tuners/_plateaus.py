"""How good a partition looks without labels: how long it lasts, how far its clusters are apart, how even they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels

__all__ = ["Choice", "Partition", "Tree", "adjusted_rand", "best", "lasts"]

SAME = 0.95
"""Adjusted Rand index from which two partitions count as the same."""
SEPARATION = 2.0
"""Weight in the score, chosen on generated shapes."""
NEIGHBOURS = 5
"""Rank of the neighbour whose distance is the core distance."""
INNER = 0.97
"""Quantile of a cluster's own edges that stands for its sparseness: the largest would follow every stray."""
TIE = 1e-9
CHANCE_LASTS, CHANCE_SEPARATION = 5, 0.0
"""A best partition below both has no gaps wider than its clusters are sparse and does not last: so has a cloud."""


@final
@attrs.frozen(eq=False)
class Partition:
    """One run of a search.

    Parameters
    ----------
    row, column : int
        Its place: number of the width, number of the share of outliers.
    labels : ndarray of shape (m,)
        0..k-1, small clusters and outliers gone to the nearest of the others.
    k : int
    coverage : float
        Share of the rows that were in a cluster before.
    """

    row: int
    column: int
    labels: Labels
    k: int
    coverage: float

    @property
    def shares(self) -> Array:
        """Share of the rows in every cluster, (k,)."""
        return np.bincount(self.labels, minlength=self.k) / len(self.labels)

    @property
    def evenness(self) -> float:
        """Entropy of the shares: ln k for equal clusters, little where one has nearly all."""
        return float(-(self.shares * np.log(self.shares)).sum())


def adjusted_rand(a: Partition, b: Partition) -> float:
    """Adjusted Rand index of two partitions; 1 for two that are one cluster each."""
    table = np.bincount(a.labels * b.k + b.labels, minlength=a.k * b.k).reshape(a.k, b.k).astype(np.float64)
    pairs, rows, columns = (float((t * (t - 1.0)).sum()) for t in (table, table.sum(axis=1), table.sum(axis=0)))
    m = float(len(a.labels))
    expected, most = rows * columns / max(1.0, m * (m - 1.0)), (rows + columns) / 2.0
    return 1.0 if most == expected else (pairs - expected) / (most - expected)


@final
@attrs.frozen(eq=False)
class Tree:
    """Minimum spanning tree of the mutual reachability distances of the rows.

    Parameters
    ----------
    ends : ndarray of shape (m - 1, 2)
    lengths : ndarray of shape (m - 1,)
    """

    ends: Array
    lengths: Array

    @classmethod
    def of(cls, D: Array) -> Tree:
        """The tree of squared distances D (m, m)."""
        from clusterkit.tuners._pieces_jit import reachability_tree

        rank = min(NEIGHBOURS, len(D) - 1)
        core = np.partition(D, rank, axis=1)[:, rank]
        ends, squares = reachability_tree(D, core)
        return cls(ends, np.sqrt(squares))

    def separation(self, partition: Partition) -> float:
        """Mean over the rows of ``(gap - sparseness) / max(gap, sparseness)`` of their cluster, in [-1, 1].

        The gap is a cluster's shortest tree edge to another one, its sparseness the `INNER` quantile of its own
        edges: the index of Moulavi et al. (2014), read from one tree of all rows.
        """
        one, other = partition.labels[self.ends[:, 0]], partition.labels[self.ends[:, 1]]
        across = one != other
        gap = np.full(partition.k, math.inf)
        np.minimum.at(gap, one[across], self.lengths[across])
        np.minimum.at(gap, other[across], self.lengths[across])
        sparse = np.zeros(partition.k)
        for cluster in range(partition.k):
            own = self.lengths[~across & (one == cluster)]
            if len(own):
                sparse[cluster] = np.quantile(own, INNER)
        scale = np.maximum(gap, sparse)
        values = np.divide(gap - sparse, scale, out=np.zeros_like(gap), where=(scale > 0) & np.isfinite(scale))
        return float(partition.shares @ values)


@final
@attrs.frozen(eq=False)
class Choice:
    """The best of several partitions, and why.

    Parameters
    ----------
    partition : Partition
    lasts : int
        Neighbouring widths over which it stays the same, its own included.
    separation, score : float
    """

    partition: Partition
    lasts: int
    separation: float
    score: float

    @property
    def chance(self) -> bool:
        """Whether it is not better than what a single cloud may fall into: neither lasting nor separated."""
        return self.lasts <= CHANCE_LASTS and self.separation < CHANCE_SEPARATION


def best(partitions: Sequence[Partition], tree: Tree) -> Choice | None:
    """The partition of the highest score ``ln L + 2 V + ln H``; None if there is none.

    L is the number of neighbouring widths over which the partition stays the same, V its separation and H its
    evenness, whose logarithm rules out a few strays against all the rest. Among equals the one nearest to the middle
    of its plateau wins, then the wider kernel.
    """
    at = {(each.row, each.column): each for each in partitions}
    ranked = []
    for each in partitions:
        down, up = _reach(each, at, -1), _reach(each, at, 1)
        separation = tree.separation(each)
        score = math.log(down + up + 1) + SEPARATION * separation + math.log(each.evenness)
        ranked.append((abs(up - down), each.row, each.column, Choice(each, down + up + 1, separation, score)))
    if not ranked:
        return None
    top = max(entry[-1].score for entry in ranked)
    return min((entry for entry in ranked if entry[-1].score >= top - TIE), key=lambda entry: entry[:3])[-1]


def lasts(partition: Partition, partitions: Sequence[Partition], same: float) -> int:
    """Neighbouring widths, its own included, over which the adjusted Rand index with a partition is at least `same`."""
    at = {(each.row, each.column): each for each in partitions}
    return _reach(partition, at, -1, same) + _reach(partition, at, 1, same) + 1


def _reach(partition: Partition, at: dict[tuple[int, int], Partition], step: int, same: float = SAME) -> int:
    """How many steps of the width to one side the partition stays the same."""
    steps = 0
    while True:
        following = at.get((partition.row + (steps + 1) * step, partition.column))
        if following is None or adjusted_rand(partition, following) < same:
            return steps
        steps += 1
