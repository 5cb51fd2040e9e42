"""How long the clusters of a spanning tree last, and what is left of the tree without some of its edges."""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts, Indices, Labels, Mask
from clusterkit.numerics.disjoint_jit import find, join, roots

__all__ = ["components", "persistence"]


@njit
def persistence(merges: Indices, heights: Array, birth: Array) -> tuple[Array, Counts]:
    """For each merge ``ln(height / birth)`` of the cluster that is born later, and the rows of the smaller one.

    Merges (n - 1, 2) come by ascending height, and each row is born at ``birth > 0``, a cluster at the least birth of
    its rows.
    """
    n = len(birth)
    parent, size, born = np.arange(n), np.ones(n, np.int64), birth.copy()
    lasted, side = np.zeros(n - 1), np.zeros(n - 1, np.int64)
    for e in range(n - 1):
        a, b = find(parent, merges[e, 0]), find(parent, merges[e, 1])
        later = max(born[a], born[b])
        if heights[e] > later:
            lasted[e] = np.log(heights[e] / later)
        side[e] = min(size[a], size[b])
        rows, first = size[a] + size[b], min(born[a], born[b])
        join(parent, a, b)
        root = find(parent, a)
        size[root], born[root] = rows, first
    return lasted, side


@njit
def components(merges: Indices, dropped: Mask) -> Labels:
    """The lowest row of the component of each row in the tree without the dropped edges."""
    parent = np.arange(len(merges) + 1)
    for e in range(len(merges)):
        if not dropped[e]:
            join(parent, merges[e, 0], merges[e, 1])
    return roots(parent)
