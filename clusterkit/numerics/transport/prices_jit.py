"""Prices of clusters and labels of rows: the cheapest labels at prices, the prices of labels, and the proof of both.

`cheapest` goes from prices to labels, `widest` from labels to prices (their dual variables), and `audit` bounds how far
both are from the optimum by weak duality. `moves` finds the cheapest move between every two clusters.
"""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit

__all__ = ["audit", "cheapest", "margins", "moves", "widest"]

EPS = np.finfo(np.float64).eps
"""Relative rounding error of double precision."""


@njit
def cheapest(C, prices, targets):
    """Labels of least cost plus price, and their sizes; O(n k).

    A tie goes to the cluster whose size so far is the smaller share of its entry in `targets` (k,).
    """
    n, k = C.shape
    labels = np.empty(n, dtype=np.int64)
    sizes = np.zeros(k, dtype=np.int64)
    for i in range(n):
        best, least = 0, C[i, 0] + prices[0]
        for j in range(1, k):
            value = C[i, j] + prices[j]
            if value < least or (value == least and sizes[j] * targets[best] < sizes[best] * targets[j]):
                best, least = j, value
        labels[i] = best
        sizes[best] += 1
    return labels, sizes


@njit
def margins(C, prices):
    """The first label of least cost plus price of each row, (n,), and how much more the next one costs, (n,); O(n k).

    With a single cluster the next one costs inf.
    """
    n, k = C.shape
    labels, more = np.empty(n, dtype=np.int64), np.empty(n)
    for i in range(n):
        best, least, second = 0, C[i, 0] + prices[0], np.inf
        for j in range(1, k):
            value = C[i, j] + prices[j]
            if value < least:
                best, least, second = j, value, least
            elif value < second:
                second = value
        labels[i], more[i] = best, second - least
    return labels, more


@njit
def moves(C, labels):
    """Least cost of moving a row from one cluster to another, (k, k), and the number of that row, or -1; O(n k)."""
    n, k = C.shape
    least = np.full((k, k), np.inf)
    mover = np.full((k, k), -1, dtype=np.int64)
    for i in range(n):
        p = labels[i]
        present = np.float64(C[i, p])
        for q in range(k):
            if q != p:
                loss = np.float64(C[i, q]) - present
                if loss < least[p, q]:
                    least[p, q] = loss
                    mover[p, q] = i
    return least, mover


@njit
def audit(C, labels, prices, low, high, sizes):
    """Bound on the distance of labels from the optimum, its scale, and the number of rows with another cheapest label.

    By weak duality the distance is at most the gap: what every row could save at the prices, plus the price of sizes
    that are not at the bound which their price stands for. The scale is the expected cost of uniformly random labels
    less the cost of each row's cheapest label; like the gap it does not change when a constant is added to a row. O(n
    k).
    """
    n, k = C.shape
    gap, scale, others = 0.0, 0.0, 0
    for i in range(n):
        best, least = 0, C[i, 0] + prices[0]
        total, finite, free = 0.0, 0, np.inf
        for j in range(k):
            cost = np.float64(C[i, j])
            value = cost + prices[j]
            if value < least:
                best, least = j, value
            if cost < np.inf:
                total += cost
                finite += 1
                free = min(free, cost)
        gap += C[i, labels[i]] + prices[labels[i]] - least
        scale += total / finite - free
        others += best != labels[i]
    for p in range(k):
        gap += prices[p] * (high[p] - sizes[p]) if prices[p] > 0 else prices[p] * (low[p] - sizes[p])
    return gap, scale, others


@njit
def _lengths(weight, counts, margin, forward):
    """Bellman-Ford algorithm from, or to, an additional node with arcs of length 0.

    The arcs cost ``weight - margin · counts``. Returns the distances, the node before each on its path or -1, and a
    node from which a negative cycle is reached backwards, or -1 if there is none. O(k³).
    """
    m = len(weight)
    dist = np.zeros(m)
    before = np.full(m, -1, dtype=np.int64)
    changed = -1
    for _ in range(m + 1):
        changed = -1
        for u in range(m):
            for v in range(m):
                w = weight[u, v] if forward else weight[v, u]
                if w < np.inf:
                    through = dist[u] + (w - margin * (counts[u, v] if forward else counts[v, u]))
                    if through < dist[v]:
                        dist[v] = through
                        before[v] = u
                        changed = v
        if changed < 0:
            break
    return dist, before, changed


@njit
def widest(least, low, high, sizes):
    """Prices at which labels are optimal with the widest margin.

    A row of p must not gain by moving to q: ``price_p - price_q + margin <= least[p, q]``. A cluster that could grow
    has no price above 0, and a cluster that could shrink has none below. Such prices exist unless the residual graph
    has a negative cycle. The widest margin is the least mean cost of a cycle, found by Newton's method, O(k³) for each
    of a few steps.

    Parameters
    ----------
    least : ndarray of shape (k, k)
        Least cost of a move between two clusters, as `moves` returns it.
    low, high, sizes : ndarray of shape (k,)
        Lowest, highest and present sizes.

    Returns
    -------
    prices : ndarray of shape (k,)
        Half-way between the lowest and the highest prices that have the margin.
    margin : float
    cycle : ndarray
        Clusters of a cycle of moves that lowers the cost: in each a row moves to the next cluster; k stands for the
        node T of `paths_jit`. Empty if the labels are optimal up to rounding.
    """
    k = len(least)
    m = k + 1
    weight = np.full((m, m), np.inf)
    counts = np.zeros((m, m))
    margin = 0.0
    for p in range(k):
        for q in range(k):
            if least[p, q] < np.inf:
                weight[p, q] = least[p, q]
                counts[p, q] = 1.0
                margin = max(margin, least[p, q])
        if sizes[p] < high[p]:
            weight[p, k] = 0.0
        if sizes[p] > low[p]:
            weight[k, p] = 0.0
    while True:
        _, before, changed = _lengths(weight, counts, margin, True)
        if changed < 0:
            break
        v = changed
        for _ in range(m):
            if before[v] >= 0:
                v = before[v]
        nodes = np.empty(m, dtype=np.int64)
        length, total, size, steps = 0, 0.0, 0.0, 0.0
        u = v
        while length < m:
            nodes[length] = u
            length += 1
            w = before[u]
            if w < 0:
                break
            total += weight[w, u]
            size += abs(weight[w, u])
            steps += counts[w, u]
            u = w
            if u == v:
                break
        if u != v or steps == 0 or total / steps >= margin:
            break  # rounding: this cycle is no better than the margin
        if total < -4.0 * m * EPS * size:
            return np.zeros(k), total / steps, nodes[:length][::-1].copy()
        # a little less than the mean, because with rounding the same cycle could be found again
        margin = (total - 4.0 * m * EPS * size) / steps
    margin = max(margin, 0.0)
    ahead, _, _ = _lengths(weight, counts, margin, True)
    back, _, _ = _lengths(weight, counts, margin, False)
    prices = (back - ahead) / 2
    all_fixed = True
    for p in range(k):
        if weight[p, k] == 0.0 or weight[k, p] == 0.0:
            all_fixed = False
    # if all sizes are fixed, only differences of prices matter
    shift = prices[:k].mean() if all_fixed else prices[k]
    return prices[:k] - shift, margin, np.empty(0, dtype=np.int64)
