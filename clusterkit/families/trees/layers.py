"""The most persistent cuts of a spanning tree over all smallest sizes of a cluster.

As the smallest size m grows, clusters of the condensed hierarchy stop being divided and become leaves, until they are
too small or their last sibling is. A leaf lasts for the sizes in between; the persistence of a cut is the number of
sizes that its leaves last, in all. Cuts of locally largest persistence are the layers.
Bot, Strobl, Aerts, McInnes (2025), Persistent multiscale density-based clustering.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.families.trees.hierarchy_jit import Condensed, condense, hierarchy

__all__ = ["Cut", "persistent_cuts"]


class Cut(NamedTuple):
    """The leaves at one smallest size.

    `labels` (n,) are numbers of clusters of the condensed hierarchy, -1 for noise; they are the same from the smallest
    size `least` to below `end`. `persistence` is the number of sizes that they last, in all.
    """

    labels: Labels
    least: int
    end: int
    persistence: float


def persistent_cuts(merges: Indices, heights: Array, floor: int, most: int) -> list[Cut]:
    """At most `most` cuts of the largest persistence, from coarse to fine; O(n), and O(n) for each.

    Parameters
    ----------
    merges : ndarray of shape (n - 1, 2)
    heights : ndarray of shape (n - 1,)
        Ascending.
    floor : int
        Smallest size of a cluster, at least 2.
    most : int
    """
    from scipy.signal import find_peaks

    n = len(merges) + 1
    condensed = condense(hierarchy(merges, heights), n, floor)
    least, end = _lasting(condensed, n, floor)
    leaves = np.flatnonzero((least < end) & (condensed.above >= 0))
    if not len(leaves):
        return []
    lasts = end[leaves] - least[leaves]
    sizes = np.unique(np.concatenate([least[leaves], end[leaves]]))
    begin, finish = np.searchsorted(sizes, least[leaves]), np.searchsorted(sizes, end[leaves])
    change = np.zeros(len(sizes) + 1)
    np.add.at(change, begin, lasts)
    np.add.at(change, finish, -lasts)
    trace = np.cumsum(change)[:-1]
    peaks: Indices = find_peaks(np.concatenate([[0.0], trace, [0.0]]))[0] - 1
    peaks = peaks[np.argsort(-trace[peaks], kind="stable")[:most]]
    cuts = []
    for peak in sorted(peaks.tolist(), reverse=True):
        size = sizes[peak]
        chosen = (least <= size) & (size < end) & (condensed.above >= 0)
        labels = _lowest(condensed, chosen)[condensed.cluster[:n]]
        following = int(sizes[peak + 1]) if peak + 1 < len(sizes) else n
        cuts.append(Cut(labels, int(size), following, float(trace[peak])))
    return cuts


def _lasting(condensed: Condensed, n: int, floor: int) -> tuple[Counts, Counts]:
    """The smallest sizes from which each cluster is a leaf, and up to below which; it may never be one."""
    above, size = condensed.above, condensed.size
    count = len(above)
    order = np.lexsort((-size, above))
    place = np.arange(count) - np.searchsorted(above[order], above[order])  # among the siblings, the largest first
    end = size.copy()
    firsts = np.flatnonzero(place == 0)
    seconds = np.minimum(firsts + 1, count - 1)
    paired = place[seconds] == 1
    end[order[firsts[paired]]] = size[order[seconds[paired]]]
    end[0] = n
    least = np.full(count, floor)
    for c in range(count - 1, 0, -1):  # clusters below have higher numbers
        least[above[c]] = max(least[above[c]], least[c], end[c])
    return least, end


def _lowest(condensed: Condensed, chosen: Labels) -> Labels:
    """The chosen cluster that contains each cluster, or -1."""
    within = np.full(len(condensed.above), -1)
    for c in range(len(within)):
        if chosen[c]:
            within[c] = c
        elif condensed.above[c] >= 0:
            within[c] = within[condensed.above[c]]
    return within
