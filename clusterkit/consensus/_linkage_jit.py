"""Average linkage of weighted points."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit

__all__ = ["average_linkage"]


@njit
def average_linkage(D: Any, counts: Any) -> Any:
    """Merges of average linkage by the nearest-neighbour chain, in no particular order; D (u, u) is overwritten.

    Parameters
    ----------
    D : ndarray of shape (u, u), float64
        Distances.
    counts : ndarray of shape (u,)
        Number of samples at each point: the result equals linking all samples, after the merges of equal ones.

    Returns
    -------
    pairs : ndarray of shape (u - 1, 2)
        One point of each of the two clusters that merge.
    heights : ndarray of shape (u - 1,)

    Notes
    -----
    O(u²). Source: Murtagh 1983; the update of distances: Lance, Williams 1967.
    """
    u = len(D)
    size = counts.astype(np.float64)
    pairs = np.empty((u - 1, 2), np.int64)
    heights = np.empty(u - 1)
    chain = np.empty(u, np.int64)
    length = 0
    for step in range(u - 1):
        if length == 0:
            for a in range(u):
                if size[a] > 0:
                    chain[0] = a
                    length = 1
                    break
        while True:
            a = chain[length - 1]
            # ties go to the predecessor in the chain, otherwise the loop might not end
            b = chain[length - 2] if length > 1 else -1
            for c in range(u):
                if c != a and size[c] > 0 and (b < 0 or D[a, c] < D[a, b]):
                    b = c
            if length > 1 and b == chain[length - 2]:
                break
            chain[length] = b
            length += 1
        length -= 2
        a, b = min(a, b), max(a, b)
        pairs[step, 0] = a
        pairs[step, 1] = b
        heights[step] = D[a, b]
        for c in range(u):
            if c != a and c != b and size[c] > 0:
                D[a, c] = (size[a] * D[a, c] + size[b] * D[b, c]) / (size[a] + size[b])
                D[c, a] = D[a, c]
        size[a] += size[b]
        size[b] = 0.0
    return pairs, heights
