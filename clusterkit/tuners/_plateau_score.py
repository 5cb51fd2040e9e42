"""Quality of a partition without labels: how many bandwidths it lasts over, its separation, its cluster sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.metrics.pairs import adjusted_from_pairs, table_pairs

__all__ = ["GridPartition", "ReachabilityTree", "ScoredPartition", "adjusted_rand", "best", "lasts"]

SAME = 0.95
"""Two partitions with at least this adjusted Rand index count as the same."""
SEPARATION = 2.0
"""Weight of the separation in the score, chosen on generated shapes."""
NEIGHBOURS = 5
"""The core distance of a row is the distance to its neighbour of this rank."""
INNER = 0.97
"""Sparseness of a cluster is this quantile of the tree edges inside it: the largest edge would follow every outlier."""
TIE = 1e-9
"""Scores that differ by less are equal: they are sums of logarithms and quantiles, with rounding far below this."""
CHANCE_LASTS, CHANCE_SEPARATION = 5, 0.0
"""A best partition at or below this duration and below this separation is no better than those of a single Gaussian
cloud: its gaps are no wider than its clusters are sparse, and it does not last."""

Grid = Mapping[tuple[int, int], "GridPartition"]
"""Partitions by row and column."""


@final
@attrs.frozen(eq=False)
class GridPartition:
    """The partition of one run, at its place in the grid of bandwidths and outlier fractions.

    Parameters
    ----------
    row, column : int
        Index of the bandwidth, index of the outlier fraction.
    labels : ndarray of shape (m,)
        0..k-1; rows of small clusters and outliers are in the nearest remaining cluster.
    k : int
    coverage : float
        Fraction of the rows that were in a remaining cluster before.
    support : float
        Fraction of the rows that have a weight in the solution.
    """

    row: int
    column: int
    labels: Labels
    k: int
    coverage: float
    support: float = 1.0

    @property
    def shares(self) -> Array:
        """Fraction of the rows in every cluster, (k,)."""
        return np.bincount(self.labels, minlength=self.k) / len(self.labels)

    @property
    def evenness(self) -> float:
        """Entropy of the shares: ln k for equal clusters, near 0 where one cluster has nearly all rows."""
        return float(-(self.shares * np.log(self.shares)).sum())


def adjusted_rand(a: GridPartition, b: GridPartition) -> float:
    """Adjusted Rand index of two partitions; 1 if both are a single cluster. O(m + k k')."""
    table = np.bincount(a.labels * b.k + b.labels, minlength=a.k * b.k).reshape(a.k, b.k)
    return adjusted_from_pairs(table_pairs(table))


@final
@attrs.frozen(eq=False)
class ReachabilityTree:
    """Minimum spanning tree of the mutual reachability distances of the rows.

    Parameters
    ----------
    ends : ndarray of shape (m - 1, 2)
    lengths : ndarray of shape (m - 1,)
    """

    ends: Array
    lengths: Array

    @classmethod
    def of(cls, D: Array) -> ReachabilityTree:
        """The tree of squared distances D (m, m); O(m²) by Prim's algorithm."""
        from clusterkit.numerics.reachability_jit import PRECOMPUTED, reachability_tree

        rank = min(NEIGHBOURS, len(D) - 1)
        core = np.partition(D, rank, axis=1)[:, rank]
        ends, squares = reachability_tree(D, core, PRECOMPUTED)
        return cls(ends, np.sqrt(squares))

    def separation(self, partition: GridPartition) -> float:
        """Mean over the rows of ``(gap - sparseness) / max(gap, sparseness)`` of their cluster, in [-1, 1].

        The gap of a cluster is its shortest tree edge to another cluster, its sparseness the `INNER` quantile of the
        edges inside it. This is the index of Moulavi et al. (2014), computed from one tree of all rows.
        """
        one, other = partition.labels[self.ends[:, 0]], partition.labels[self.ends[:, 1]]
        across = one != other
        gap = np.full(partition.k, math.inf)
        np.minimum.at(gap, one[across], self.lengths[across])
        np.minimum.at(gap, other[across], self.lengths[across])
        sparse = np.zeros(partition.k)
        for cluster in range(partition.k):
            inner = self.lengths[~across & (one == cluster)]
            if len(inner):
                sparse[cluster] = np.quantile(inner, INNER)
        scale = np.maximum(gap, sparse)
        values = np.divide(gap - sparse, scale, out=np.zeros_like(gap), where=(scale > 0) & np.isfinite(scale))
        return float(partition.shares @ values)


@final
@attrs.frozen(eq=False)
class ScoredPartition:
    """The best of several partitions, with its score.

    Parameters
    ----------
    partition : GridPartition
    lasts : int
        Number of consecutive bandwidths, including its own, over which the partition stays the same.
    separation, score : float
    """

    partition: GridPartition
    lasts: int
    separation: float
    score: float

    @property
    def chance(self) -> bool:
        """Whether the partition is no better than those of a single cloud: it neither lasts nor is separated."""
        return self.lasts <= CHANCE_LASTS and self.separation < CHANCE_SEPARATION


def best(partitions: Sequence[GridPartition], tree: ReachabilityTree) -> ScoredPartition | None:
    """The partition of the highest score ``ln L + 2 V + ln H``; None if there are no partitions.

    L is the number of consecutive bandwidths over which the partition stays the same, V its separation and H its
    evenness, whose logarithm rules out a few outliers against all the rest. Among equal scores the partition nearest to
    the middle of its plateau wins, then the wider kernel.
    """
    grid = _by_place(partitions)
    ranked = []
    for partition in partitions:
        down, up = _reach(partition, grid, -1), _reach(partition, grid, 1)
        separation = tree.separation(partition)
        score = math.log(down + up + 1) + SEPARATION * separation + math.log(partition.evenness)
        scored = ScoredPartition(partition, down + up + 1, separation, score)
        ranked.append((abs(up - down), partition.row, partition.column, scored))
    if not ranked:
        return None
    top = max(entry[-1].score for entry in ranked)
    return min((entry for entry in ranked if entry[-1].score >= top - TIE), key=lambda entry: entry[:3])[-1]


def lasts(partition: GridPartition, partitions: Sequence[GridPartition], same: float) -> int:
    """Number of consecutive bandwidths, including its own, with an adjusted Rand index of at least `same`."""
    grid = _by_place(partitions)
    return _reach(partition, grid, -1, same) + _reach(partition, grid, 1, same) + 1


def _by_place(partitions: Sequence[GridPartition]) -> Grid:
    return {(partition.row, partition.column): partition for partition in partitions}


def _reach(partition: GridPartition, grid: Grid, step: int, same: float = SAME) -> int:
    """Number of bandwidths to one side (`step` is 1 or -1) over which the partition stays the same."""
    steps = 0
    while True:
        following = grid.get((partition.row + (steps + 1) * step, partition.column))
        if following is None or adjusted_rand(partition, following) < same:
            return steps
        steps += 1
