"""What prices say of labels: the cheapest labels at prices, the prices of labels, and the certificate of both."""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit

__all__ = ["audit", "cheapest", "moves", "widest"]

EPS = np.finfo(np.float64).eps


@njit
def cheapest(C, prices, wanted):
    """Labels of least cost plus price, and their sizes; a tie goes where most of the wanted size is missing. O(n k)."""
    n, k = C.shape
    labels = np.empty(n, dtype=np.int64)
    sizes = np.zeros(k, dtype=np.int64)
    for i in range(n):
        best, least = 0, C[i, 0] + prices[0]
        for j in range(1, k):
            value = C[i, j] + prices[j]
            if value < least or (value == least and sizes[j] * wanted[best] < sizes[best] * wanted[j]):
                best, least = j, value
        labels[i] = best
        sizes[best] += 1
    return labels, sizes


@njit
def moves(C, labels):
    """Least cost of moving a row from one cluster to another, (k, k), and the row, -1 where there is none. O(n k)."""
    n, k = C.shape
    least = np.full((k, k), np.inf)
    mover = np.full((k, k), -1, dtype=np.int64)
    for i in range(n):
        p = labels[i]
        own = np.float64(C[i, p])
        for q in range(k):
            if q != p:
                loss = np.float64(C[i, q]) - own
                if loss < least[p, q]:
                    least[p, q] = loss
                    mover[p, q] = i
    return least, mover


@njit
def audit(C, labels, prices, low, high, sizes):
    """How far labels are from the optimum at most, on which scale, and how many rows the prices label otherwise.

    Weak duality: the gap is what every row could save at the prices, plus the price of sizes that are neither at the
    bound their price stands for. The scale is the cost of uniformly random labels above that of free ones; like the
    gap it does not change when a constant is added to a row. O(n k).
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
    """Bellman-Ford from (or to) a node before all others; a node on a negative cycle or -1, and who came before."""
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

    A row of p must not gain by going to q: ``price_p - price_q + margin <= least[p, q]``; a cluster that could grow
    has no price above 0, one that could shrink none below. Such prices exist unless the residual graph has a negative
    cycle; the widest margin is the least mean cost of a cycle, found by Newton's method, O(k³) for each of a few steps.

    Returns
    -------
    prices : ndarray of shape (k,)
        Half way between the lowest and the highest that have the margin.
    margin : float
    cycle : ndarray
        Clusters of a cycle of moves that lowers the cost, each row going to the next cluster; k stands for T. Empty
        where the labels are optimal up to rounding.
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
            break  # rounding
        if total < -4.0 * m * EPS * size:
            return np.zeros(k), total / steps, nodes[:length][::-1].copy()
        # a little less, or rounding finds the same cycle again
        margin = (total - 4.0 * m * EPS * size) / steps
    margin = max(margin, 0.0)
    ahead, _, _ = _lengths(weight, counts, margin, True)
    back, _, _ = _lengths(weight, counts, margin, False)
    prices = (back - ahead) / 2
    alone = True
    for p in range(k):
        if weight[p, k] == 0.0 or weight[k, p] == 0.0:
            alone = False
    # nothing but differences matter where all sizes are fixed
    shift = prices[:k].mean() if alone else prices[k]
    return prices[:k] - shift, margin, np.empty(0, dtype=np.int64)
