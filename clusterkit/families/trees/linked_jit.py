"""A spanning tree of linked rows: what belongs together is joined first, merges of what is apart are refused."""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices, Labels
from clusterkit.numerics.structures_jit import find, join

__all__ = ["linked_forest"]


@njit
def linked_forest(
    merges: Indices,
    heights: Array,
    together: Indices,
    height: float,
    of_row: Labels,
    starts: Indices,
    near: Indices,
) -> tuple[Indices, Array, int]:
    """Edges (n - 1, 2) of a tree and their lengths, of which the first that are returned as a number are accepted.

    Edges between rows that belong together come first, then those of the tree in their order, without those that would
    close a circle or join components with groups that are apart. The last edges join the components that are left to
    the first one.

    Parameters
    ----------
    merges : ndarray of shape (n - 1, 2)
    heights : ndarray of shape (n - 1,)
        Ascending.
    together : ndarray of shape (t, 2)
        Pairs of rows that belong together.
    height : float
        Length of the edges between them, at most that of all others.
    of_row : ndarray of shape (n,)
        Group of each row, or -1.
    starts, near : ndarray
        Groups that are apart from each group (`neighbours_of`).
    """
    n, m = len(merges) + 1, len(starts) - 1
    parent = np.arange(n)
    home, following = np.full(m, -1), np.full(m, -1)  # a row of each group; the next group of its component
    first, last, count = np.full(n, -1), np.full(n, -1), np.zeros(n, np.int64)
    edges, lengths, used = np.empty((n - 1, 2), np.int64), np.empty(n - 1), 0
    for e in range(len(together)):
        if join(parent, together[e, 0], together[e, 1]):
            edges[used, 0], edges[used, 1] = min(together[e, 0], together[e, 1]), max(together[e, 0], together[e, 1])
            lengths[used] = height
            used += 1
    for i in range(n):
        g = of_row[i]
        if g >= 0 and home[g] < 0:
            home[g] = i
            root = find(parent, i)
            first[root], last[root], count[root] = g, g, 1
    for e in range(n - 1):
        a, b = find(parent, merges[e, 0]), find(parent, merges[e, 1])
        if a == b:
            continue
        few, many = (a, b) if count[a] <= count[b] else (b, a)
        apart, g = False, first[few]
        while g >= 0 and not apart:
            for at in range(starts[g], starts[g + 1]):
                if find(parent, home[near[at]]) == many:
                    apart = True
                    break
            g = following[g]
        if apart:
            continue
        edges[used, 0], edges[used, 1], lengths[used] = merges[e, 0], merges[e, 1], heights[e]
        used += 1
        join(parent, a, b)
        root = find(parent, a)
        other = b if root == a else a
        if count[other] > 0:
            if count[root] > 0:
                following[last[root]] = first[other]
                last[root] = last[other]
            else:
                first[root], last[root] = first[other], last[other]
            count[root] += count[other]
    accepted = used
    top = np.nextafter(max(heights[-1], 1e-300), np.inf) if n > 1 else 0.0
    begin = find(parent, 0)
    for i in range(n):
        if find(parent, i) == i and i != begin:
            edges[used, 0], edges[used, 1], lengths[used] = begin, i, top
            used += 1
    return edges, lengths, accepted
