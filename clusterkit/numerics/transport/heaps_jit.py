"""Heaps of the rows that may move between clusters, one for each ordered pair of clusters, in one pool of memory.

`build_heaps` enters the candidates, `push` adds a row, `drop_stale` removes rows at the top that have left their
cluster, and `widen` makes room.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts, Indices
from clusterkit.numerics.heap_jit import sift_down, sift_up

__all__ = ["Heaps", "build_heaps", "drop_stale", "push", "widen"]

SPARE = 16
"""Free places of every new heap, so that the first rows that arrive in a cluster need no new memory."""


class Heaps(NamedTuple):
    """A binary heap for each ordered pair (p, q) of clusters, number ``p k + q``, in one pool of memory.

    Parameters
    ----------
    keys : ndarray of shape (pool,)
        What a row loses by moving from p to q.
    rows : int32 ndarray of shape (pool,)
        The row. A row that has left p stays until it reaches the top (`drop_stale`).
    starts, capacity, lengths : integer ndarray of shape (k²,)
        Where each heap begins, how many entries it can hold, and how many it has.
    used : integer ndarray of shape (1,)
        Entries of the pool that belong to a heap.
    """

    keys: Array
    rows: Indices
    starts: Indices
    capacity: Counts
    lengths: Counts
    used: Counts


@njit
def build_heaps(C, labels, prices, window):
    """Heaps of the rows that lose at most `window` at these prices; O(n k)."""
    n, k = C.shape
    lengths = np.zeros(k * k, dtype=np.int64)
    for i in range(n):
        p = labels[i]
        least = C[i, p] + prices[p]
        for q in range(k):
            if q != p:
                loss = C[i, q] + prices[q] - least
                if loss <= window and loss < np.inf:
                    lengths[p * k + q] += 1
    starts = np.zeros(k * k, dtype=np.int64)
    capacity = lengths + SPARE
    for a in range(1, k * k):
        starts[a] = starts[a - 1] + capacity[a - 1]
    used = np.empty(1, dtype=np.int64)
    used[0] = starts[-1] + capacity[-1]
    keys = np.empty(used[0])
    rows = np.empty(used[0], dtype=np.int32)
    filled = np.zeros(k * k, dtype=np.int64)
    for i in range(n):
        p = labels[i]
        least = C[i, p] + prices[p]
        for q in range(k):
            if q != p:
                loss = C[i, q] + prices[q] - least
                if loss <= window and loss < np.inf:
                    a = p * k + q
                    keys[starts[a] + filled[a]] = np.float64(C[i, q]) - np.float64(C[i, p])
                    rows[starts[a] + filled[a]] = i
                    filled[a] += 1
    for a in range(k * k):
        for at in range(lengths[a] // 2 - 1, -1, -1):
            sift_down(keys, rows, starts[a], lengths[a], at)
    return Heaps(keys, rows, starts, capacity, lengths, used)


@njit
def push(heaps: Heaps, a, key, row):
    """Add a row to heap a, which has room for it; O(log length)."""
    keys, rows, start, at = heaps.keys, heaps.rows, heaps.starts[a], heaps.lengths[a]
    keys[start + at] = key
    rows[start + at] = row
    heaps.lengths[a] = at + 1
    sift_up(keys, rows, start, at)


@njit
def drop_stale(heaps: Heaps, labels, a, p):
    """Remove rows that are no longer in cluster p from the top of heap a."""
    keys, rows, start, length = heaps.keys, heaps.rows, heaps.starts[a], heaps.lengths[a]
    while length > 0 and labels[rows[start]] != p:
        length -= 1
        keys[start], rows[start] = keys[start + length], rows[start + length]
        if length > 1:
            sift_down(keys, rows, start, length, 0)
    heaps.lengths[a] = length


@njit
def widen(heaps: Heaps, a):
    """Double the capacity of heap a: it moves to the end of the pool, which is enlarged if it has to be."""
    keys, rows, starts, capacity = heaps.keys, heaps.rows, heaps.starts, heaps.capacity
    end, doubled = heaps.used[0], 2 * capacity[a]
    if end + doubled > len(keys):
        more = max(len(keys), doubled)
        keys = np.concatenate((keys, np.empty(more)))
        rows = np.concatenate((rows, np.empty(more, dtype=np.int32)))
    for at in range(heaps.lengths[a]):
        keys[end + at] = keys[starts[a] + at]
        rows[end + at] = rows[starts[a] + at]
    starts[a] = end
    capacity[a] = doubled
    heaps.used[0] = end + doubled
    return Heaps(keys, rows, starts, capacity, heaps.lengths, heaps.used)
