"""Genie's rule on a spanning tree: single linkage that goes on with the smallest cluster where sizes become uneven."""

from __future__ import annotations

import numpy as np

from clusterkit._jit import inner, njit
from clusterkit._typing import Counts, Indices, Labels
from clusterkit.numerics.disjoint_jit import find, join

__all__ = ["genie"]


@inner
def _add(sums: Counts, size: int, clusters: int) -> None:
    """Add clusters of a size to a Fenwick tree (n + 1, 2) of clusters and their rows: O(log n), as its sums are."""
    place, rows = size, clusters * size
    while place < len(sums):
        sums[place, 0] += clusters
        sums[place, 1] += rows
        place += place & -place


@inner
def _apart(sums: Counts, size: int, clusters: int, rows: int) -> int:
    """Sum of ``|c - size|`` over the sizes c of all clusters."""
    few, below, place = 0, 0, size
    while place > 0:
        few += sums[place, 0]
        below += sums[place, 1]
        place -= place & -place
    return size * few - below + (rows - below) - size * (clusters - few)


def genie(merges: Indices, first_equal: Indices, k: int, gini: float) -> Labels:
    """Labels of k clusters, as any numbers, from the edges of a spanning tree in ascending order.

    Parameters
    ----------
    merges : ndarray of shape (n - 1, 2)
    first_equal : ndarray of shape (n,)
        The first row equal to each row. Equal rows are one cluster from the start, as edges of length 0 would make it.
    k : int
    gini : float
        Largest Gini index ``Σ_{i<j} |c_i - c_j| / ((m - 1) n)`` of the sizes c of m clusters at which the shortest edge
        is taken. Above, it is the shortest edge with an end in a cluster of the smallest size.

    Notes
    -----
    The sum is kept as a whole number, with the sizes in a Fenwick tree: O(n log n).
    """
    n = len(merges) + 1
    parent, sums = np.arange(n), np.zeros((n + 1, 2), np.int64)
    after, before = np.arange(1, n + 1), np.arange(-1, n - 1)  # of the edges left; n - 1 is the end
    size, of_size = np.zeros(n, np.int64), np.zeros(n + 1, np.int64)
    _merge(merges, first_equal, k, gini, parent, sums, after, before, size, of_size)
    return parent


@njit
def _merge(
    merges: Indices,
    first_equal: Indices,
    k: int,
    gini: float,
    parent: Labels,
    sums: Counts,
    after: Indices,
    before: Indices,
    size: Counts,
    of_size: Counts,
) -> None:
    n = len(merges) + 1
    for i in range(n):
        parent[i] = first_equal[i]
        size[first_equal[i]] += 1
    spread, clusters, rows = 0, 0, 0
    for i in range(n):
        if size[i] > 0:
            spread += _apart(sums, size[i], clusters, rows)
            _add(sums, size[i], 1)
            of_size[size[i]] += 1
            clusters, rows = clusters + 1, rows + size[i]
    smallest, pointer, pointed, head = 1, 0, 0, 0
    while clusters > k:
        edge = head
        if spread > gini * (clusters - 1) * n:
            while of_size[smallest] == 0:
                smallest += 1
            if pointed != smallest:
                pointer, pointed = head, smallest
            # an edge that is passed over gets no end of this size any more
            while size[find(parent, merges[pointer, 0])] != smallest and (
                size[find(parent, merges[pointer, 1])] != smallest
            ):
                pointer = after[pointer]
            edge = pointer
        if edge == pointer:
            pointer = after[edge]
        if before[edge] >= 0:
            after[before[edge]] = after[edge]
        else:
            head = after[edge]
        if after[edge] < n - 1:
            before[after[edge]] = before[edge]
        a, b = find(parent, merges[edge, 0]), find(parent, merges[edge, 1])
        if a == b:  # between equal rows
            continue
        s, t = size[a], size[b]
        join(parent, a, b)
        size[find(parent, a)] = s + t
        rows = n
        for old in (s, t):
            spread -= _apart(sums, old, clusters, rows)
            _add(sums, old, -1)
            of_size[old] -= 1
            clusters, rows = clusters - 1, rows - old
        spread += _apart(sums, s + t, clusters, rows)
        _add(sums, s + t, 1)
        of_size[s + t] += 1
        clusters += 1
    for i in range(n):
        parent[i] = find(parent, i)
