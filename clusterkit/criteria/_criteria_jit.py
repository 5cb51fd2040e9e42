"""The compiled loops of criteria: Hartigan's dip, and sweeps over the edges of a spanning tree.

`dip` is the distance of a sample to the nearest unimodal distribution. The sweeps take the edges shortest first: edges
inside and between clusters, and the cluster that noise joins (`adopt`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.numerics.structures_jit import find


@njit
def _minorant(x: Any) -> Any:
    """Index of the point before each point on the greatest convex minorant of the points up to it, (n,)."""
    before = np.zeros(len(x), dtype=np.int64)
    for j in range(1, len(x)):
        before[j] = j - 1
        while True:
            i = before[j]
            h = before[i]
            if i == 0 or (x[j] - x[i]) * (i - h) < (x[i] - x[h]) * (j - i):
                break
            before[j] = h
    return before


@njit
def _majorant(x: Any) -> Any:
    """Index of the point after each point on the least concave majorant of the points from it on, (n,)."""
    n = len(x)
    after = np.full(n, n - 1, dtype=np.int64)
    for k in range(n - 2, -1, -1):
        after[k] = k + 1
        while True:
            i = after[k]
            h = after[i]
            if i == n - 1 or (x[k] - x[i]) * (i - h) < (x[i] - x[h]) * (k - i):
                break
            after[k] = h
    return after


@njit
def dip(x: Any) -> float:
    """The dip of sorted values x, (n,): at least 1 / (2 n), at most 1/4.

    The largest distance of the empirical distribution function to the nearest distribution function with one mode
    (Hartigan, Hartigan 1985, The dip test of unimodality, Annals of Statistics 13; P. M. Hartigan 1985, algorithm
    AS 217, Applied Statistics 34). The modal interval shrinks until the difference of minorant and majorant inside it
    is no larger than the dip outside it. O(n) time for each interval, of which there are few.
    """
    n = len(x)
    low, high, largest = 0, n - 1, 1.0
    if n < 2 or x[0] == x[n - 1]:
        return 0.5 / max(n, 1)
    before, after = _minorant(x), _majorant(x)
    convex, concave = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    while True:
        convex[0], p = high, 0
        while convex[p] > low:
            convex[p + 1] = before[convex[p]]
            p += 1
        concave[0], q = low, 0
        while concave[q] < high:
            concave[q + 1] = after[concave[q]]
            q += 1
        first, last, i, j, widest = p, q, p - 1, 1, 1.0
        if p != 1 or q != 1:
            widest = 0.0
            while True:
                a, b = convex[i], concave[j]
                if a > b:
                    c = convex[i + 1]
                    gap = b - c + 1 - (x[b] - x[c]) * (a - c) / (x[a] - x[c])
                    j += 1
                    if gap >= widest:
                        widest, first, last = gap, i + 1, j - 1
                else:
                    c = concave[j - 1]
                    gap = (x[a] - x[c]) * (b - c) / (x[b] - x[c]) - (a - c - 1)
                    i -= 1
                    if gap >= widest:
                        widest, first, last = gap, i + 1, j
                i, j = max(i, 0), min(j, q)
                if convex[i] == concave[j]:
                    break
        if widest < largest:
            break
        for e in range(first, p):
            largest = max(largest, _above_chord(x, convex[e + 1], convex[e]))
        for e in range(last, q):
            largest = max(largest, _below_chord(x, concave[e], concave[e + 1]))
        if low == convex[first] and high == concave[last]:
            break
        low, high = convex[first], concave[last]
    return largest / (2.0 * n)


@njit
def _above_chord(x: Any, start: Any, stop: Any) -> float:
    """Largest height of the steps above a chord of the minorant, in steps."""
    most = 1.0
    if stop - start > 1 and x[stop] != x[start]:
        slope = (stop - start) / (x[stop] - x[start])
        for i in range(start, stop + 1):
            most = max(most, i - start + 1 - (x[i] - x[start]) * slope)
    return most


@njit
def _below_chord(x: Any, start: Any, stop: Any) -> float:
    """Largest depth of the steps below a chord of the majorant, in steps."""
    most = 1.0
    if stop - start > 1 and x[stop] != x[start]:
        slope = (stop - start) / (x[stop] - x[start])
        for i in range(start, stop + 1):
            most = max(most, (x[i] - x[start]) * slope - (i - start - 1))
    return most


@njit
def _merge_mass(parent: Any, birth: Any, size: Any, a: Any, b: Any, weight: Any, least: Any) -> Any:
    """Join the components with roots a and b at an edge; the mass of the edge, 0 where a side has too few rows."""
    small = min(size[a], size[b])
    # the component that was born later, at the larger distance, ends here
    dying = max(birth[a], birth[b])
    mass = 0.0
    if small >= least and weight > dying:
        mass = np.log(weight / dying) * np.sqrt(small)
    if size[a] < size[b]:
        a, b = b, a
    parent[b] = a
    size[a] += size[b]
    birth[a] = min(birth[a], birth[b])
    return mass


@njit
def inner_masses(low: Any, high: Any, weights: Any, core: Any, labels: Any, k: Any, least: Any) -> Any:
    """Largest mass of an edge inside each cluster, (k,), when only the edges inside clusters are swept."""
    parent, size, birth = np.arange(len(core)), np.ones(len(core), dtype=np.int64), core.copy()
    largest = np.zeros(k)
    for e in range(len(weights)):
        c = labels[low[e]]
        if c == labels[high[e]]:
            a, b = find(parent, low[e]), find(parent, high[e])
            if a != b:
                largest[c] = max(largest[c], _merge_mass(parent, birth, size, a, b, weights[e], least))
    return largest


@njit
def log_contrasts(low: Any, high: Any, weights: Any, labels: Any, k: Any, least: Any) -> Any:
    """Contrasts of each cluster: how much longer an edge is than the mean edge near it, as a difference of logarithms.

    The three results, (k,) each, are: the shortest edge that leaves the cluster against all edges inside it; the
    largest difference of an inner edge to the side where it is smaller; and the largest product of that difference with
    the root of the smaller side. Sides of fewer than `least` rows do not count.
    """
    parent, size = np.arange(len(labels)), np.ones(len(labels), dtype=np.int64)
    total, count = np.zeros(len(labels)), np.zeros(len(labels), dtype=np.int64)
    gap, inner, inner_mass = np.full(k, np.inf), np.zeros(k), np.zeros(k)
    for e in range(len(weights)):
        c, other, length = labels[low[e]], labels[high[e]], np.log(weights[e])
        if c != other:
            gap[c], gap[other] = min(gap[c], length), min(gap[other], length)
            continue
        a, b = find(parent, low[e]), find(parent, high[e])
        if size[a] < size[b]:
            a, b = b, a
        if size[b] >= least:
            longer = length - max(total[a] / count[a], total[b] / count[b])
            inner[c] = max(inner[c], longer)
            inner_mass[c] = max(inner_mass[c], longer * np.sqrt(size[b]))
        parent[b] = a
        size[a] += size[b]
        total[a] += total[b] + length
        count[a] += count[b] + 1
    # edges of the tree between rows of one cluster need not connect it
    sums, edges = np.zeros(k), np.zeros(k, dtype=np.int64)
    for i in range(len(labels)):
        if parent[i] == i:
            sums[labels[i]] += total[i]
            edges[labels[i]] += count[i]
    outer = np.zeros(k)
    for c in range(k):
        if edges[c] > 0:
            outer[c] = gap[c] - sums[c] / edges[c]
    return outer, inner, inner_mass


@njit
def cluster_edges(low: Any, high: Any, weights: Any, labels: Any, k: Any, quantile: Any) -> Any:
    """Shortest edge that leaves each cluster (inf if none), a quantile of its inner edges, and their number.

    The quantile interpolates linearly as numpy's; nan where a cluster has no inner edge.
    """
    gap, count = np.full(k, np.inf), np.zeros(k, dtype=np.int64)
    for e in range(len(weights)):
        c, other = labels[low[e]], labels[high[e]]
        if c == other:
            count[c] += 1
        else:
            gap[c] = min(gap[c], weights[e])
            gap[other] = min(gap[other], weights[e])
    place = np.empty(k)
    for c in range(k):
        place[c] = quantile * max(count[c] - 1, 0)
    seen, spread = np.zeros(k, dtype=np.int64), np.full(k, np.nan)
    for e in range(len(weights)):
        c = labels[low[e]]
        if c == labels[high[e]]:
            first = int(place[c])
            if seen[c] == first:
                spread[c] = weights[e]
            elif seen[c] == first + 1:
                spread[c] += (place[c] - first) * (weights[e] - spread[c])
            seen[c] += 1
    return gap, spread, count


@njit
def adopt(low: Any, high: Any, labels: Any) -> Any:
    """Labels in which rows without one (-1) follow the tree to the cluster that they join first.

    The edges are taken shortest first. A component has at most one label; two labelled ones are not joined. Rows stay
    at -1 only if no row has a label.
    """
    n = len(labels)
    parent, label, size = np.arange(n), labels.copy(), np.ones(n, dtype=np.int64)
    # an edge between two clusters is skipped: rows behind it have a label already, so one sweep reaches every row
    for e in range(len(low)):
        a, b = find(parent, low[e]), find(parent, high[e])
        if a == b or (label[a] >= 0 and label[b] >= 0):
            continue
        if size[a] < size[b]:
            a, b = b, a
        parent[b] = a
        size[a] += size[b]
        label[a] = max(label[a], label[b])
    adopted = np.empty_like(labels)
    for i in range(n):
        adopted[i] = label[find(parent, i)]
    return adopted


@njit
def compare_partitions(
    first: int, last: int, labels: Labels, starts: Indices, counts: Counts, squares: Counts, jaccard: Array
) -> None:
    """Compare some of the partitions, places `first` to `last` of an order of all, with those before each.

    Parameters
    ----------
    labels : ndarray of shape (m, n)
    starts : ndarray of shape (m + 1,)
        Where the clusters of each partition begin in those of all.
    counts : ndarray of shape (c,)
        Sizes of all clusters.
    squares : ndarray of shape (m, m)
        Gets the sum of the squares of the numbers of common rows.
    jaccard : ndarray of shape (c, m)
        Gets the largest Jaccard index of each cluster with one of each partition.
    """
    n = labels.shape[1]
    for place in range(first, last):
        i = place // 2 if place % 2 == 0 else len(labels) - 1 - place // 2  # long and short rows in turn
        for j in range(i):
            k, other = starts[i + 1] - starts[i], starts[j + 1] - starts[j]
            common = np.zeros((k, other), dtype=np.int64)
            for row in range(n):
                common[labels[i, row], labels[j, row]] += 1
            for a in range(k):
                for b in range(other):
                    both = common[a, b]
                    if both == 0:
                        continue
                    squares[i, j] += both * both
                    of_one, of_other = starts[i] + a, starts[j] + b
                    share = both / (counts[of_one] + counts[of_other] - both)
                    jaccard[of_one, j] = max(jaccard[of_one, j], share)
                    jaccard[of_other, i] = max(jaccard[of_other, i], share)
