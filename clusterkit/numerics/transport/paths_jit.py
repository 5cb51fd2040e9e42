"""Successive cheapest paths between k clusters: rows move along them until every size is allowed.

The residual graph of the transportation problem has one node a cluster and one, T, that collects all rows: an arc from
cluster p to cluster q costs as much as the row of p that loses least by going to q, so a heap for each ordered pair
knows it. An arc between a cluster and T is free while the size of the cluster may change.

Ahuja, Magnanti, Orlin (1993), Network Flows, section 9.7; the reduction to k nodes is Tokuyama, Nakano (1995),
Efficient algorithms for the Hitchcock transportation problem, SIAM J. Comput. 24.
"""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit

__all__ = ["DONE", "IMPOSSIBLE", "WINDOW", "move_along_paths"]

DONE, WINDOW, IMPOSSIBLE = 0, 1, 2


@njit
def _sift_down(keys, rows, start, length, at):
    key, row = keys[start + at], rows[start + at]
    while True:
        child = 2 * at + 1
        if child >= length:
            break
        if child + 1 < length and keys[start + child + 1] < keys[start + child]:
            child += 1
        if keys[start + child] >= key:
            break
        keys[start + at], rows[start + at] = keys[start + child], rows[start + child]
        at = child
    keys[start + at], rows[start + at] = key, row


@njit
def _sift_up(keys, rows, start, at):
    key, row = keys[start + at], rows[start + at]
    while at > 0:
        parent = (at - 1) // 2
        if keys[start + parent] <= key:
            break
        keys[start + at], rows[start + at] = keys[start + parent], rows[start + parent]
        at = parent
    keys[start + at], rows[start + at] = key, row


@njit
def _candidates(C, labels, prices, window):
    """Heaps of the rows that lose at most `window` at these prices, one for each ordered pair of clusters."""
    n, k = C.shape
    lengths = np.zeros(k * k, dtype=np.int64)
    for i in range(n):
        p = labels[i]
        own = C[i, p] + prices[p]
        for q in range(k):
            if q != p:
                loss = C[i, q] + prices[q] - own
                if loss <= window and loss < np.inf:
                    lengths[p * k + q] += 1
    starts = np.zeros(k * k, dtype=np.int64)
    room = lengths + 16
    for a in range(1, k * k):
        starts[a] = starts[a - 1] + room[a - 1]
    total = starts[-1] + room[-1]
    keys = np.empty(total)
    rows = np.empty(total, dtype=np.int32)
    filled = np.zeros(k * k, dtype=np.int64)
    for i in range(n):
        p = labels[i]
        own = C[i, p] + prices[p]
        for q in range(k):
            if q != p:
                loss = C[i, q] + prices[q] - own
                if loss <= window and loss < np.inf:
                    a = p * k + q
                    keys[starts[a] + filled[a]] = np.float64(C[i, q]) - np.float64(C[i, p])
                    rows[starts[a] + filled[a]] = i
                    filled[a] += 1
    for a in range(k * k):
        for at in range(lengths[a] // 2 - 1, -1, -1):
            _sift_down(keys, rows, starts[a], lengths[a], at)
    return keys, rows, starts, room, lengths, total


@njit
def move_along_paths(C, labels, sizes, prices, low, high, window):
    """Move rows until sizes are allowed; every row is at the cheapest priced label before, between and after moves.

    Parameters
    ----------
    C : ndarray of shape (n, k)
        Costs; infinite ones are never taken.
    labels : ndarray of shape (n,)
        The cheapest at the prices, changed in place.
    sizes : ndarray of shape (k,)
        Of these labels, changed in place.
    prices : ndarray of shape (k + 1,)
        Changed in place; the last is that of T.
    low, high : ndarray of shape (k,)
    window : float
        Only rows that lose at most this much at the prices given are candidates for a move.

    Returns
    -------
    int
        DONE, WINDOW (a path may need rows outside the window: call again with a wider one) or IMPOSSIBLE.
    """
    n, k = C.shape
    T = k
    keys, rows, starts, room, lengths, end = _candidates(C, labels, prices, window)

    # what each cluster hands to T follows its price, by complementary slackness
    flow = np.empty(k, dtype=np.int64)
    excess = np.empty(k + 1, dtype=np.int64)
    for p in range(k):
        if prices[p] > prices[T]:
            flow[p] = high[p]
        elif prices[p] < prices[T]:
            flow[p] = low[p]
        else:
            flow[p] = min(max(sizes[p], low[p]), high[p])
        excess[p] = sizes[p] - flow[p]
    excess[T] = flow.sum() - n

    # the cheapest move of every pair; -1 says that rows outside the window may be as cheap
    arc = np.full((k, k), np.inf)
    mover = np.full((k, k), -1, dtype=np.int64)
    beyond = np.full((k, k), np.inf)
    for p in range(k):
        for q in range(k):
            if p != q:
                beyond[p, q] = window - prices[q] + prices[p]
                _refresh(keys, rows, starts, lengths, labels, arc, mover, beyond, p, q)

    dist = np.empty(k + 1)
    before = np.empty(k + 1, dtype=np.int64)
    final = np.empty(k + 1, dtype=np.bool_)
    while True:
        surplus = False
        for v in range(k + 1):
            dist[v] = np.inf
            before[v] = -1
            final[v] = False
            if excess[v] > 0:
                dist[v] = 0.0
                surplus = True
        if not surplus:
            return DONE

        # Dijkstra from all surpluses to the nearest deficit
        target = -1
        while True:
            u = -1
            for v in range(k + 1):
                if not final[v] and dist[v] < np.inf and (u < 0 or dist[v] < dist[u]):
                    u = v
            if u < 0:
                return IMPOSSIBLE
            final[u] = True
            if excess[u] < 0:
                target = u
                break
            for v in range(k + 1):
                if final[v]:
                    continue
                if u == T:
                    cost = 0.0 if flow[v] > low[v] else np.inf
                elif v == T:
                    cost = 0.0 if flow[u] < high[u] else np.inf
                else:
                    cost = arc[u, v]
                if cost < np.inf:
                    through = dist[u] + max(cost + prices[v] - prices[u], 0.0)
                    if through < dist[v]:
                        dist[v] = through
                        before[v] = u

        v = target
        while before[v] >= 0:
            u = before[v]
            if u != T and v != T and mover[u, v] < 0:
                return WINDOW
            v = u

        length = dist[target]
        for v in range(k + 1):
            if final[v]:
                prices[v] += length - dist[v]

        while True:
            # one row along each arc of the path; labels first, for what is at the top of a heap depends on them
            v = target
            while before[v] >= 0:
                u = before[v]
                if v == T:
                    flow[u] += 1
                elif u == T:
                    flow[v] -= 1
                else:
                    labels[mover[u, v]] = v
                    sizes[u] -= 1
                    sizes[v] += 1
                v = u
            excess[v] -= 1
            excess[target] += 1
            source, v = v, target
            while before[v] >= 0:
                u = before[v]
                if u != T and v != T:
                    i = mover[u, v]
                    for q in range(k):
                        # it arrives at v: a candidate for all moves from there
                        if q != v:
                            key = np.float64(C[i, q]) - np.float64(C[i, v])
                            if key < np.inf:
                                a = v * k + q
                                if lengths[a] == room[a]:
                                    keys, rows, end = _widen(keys, rows, starts, room, lengths, a, end)
                                at = lengths[a]
                                keys[starts[a] + at] = key
                                rows[starts[a] + at] = i
                                lengths[a] += 1
                                _sift_up(keys, rows, starts[a], at)
                            _refresh(keys, rows, starts, lengths, labels, arc, mover, beyond, v, q)
                        if q != u and mover[u, q] == i:
                            _refresh(keys, rows, starts, lengths, labels, arc, mover, beyond, u, q)
                v = u
            # the same path again where ties let it cost nothing more
            if excess[source] <= 0 or excess[target] >= 0:
                break
            v, usable = target, True
            while before[v] >= 0 and usable:
                u = before[v]
                if v == T:
                    usable = flow[u] < high[u]
                elif u == T:
                    usable = flow[v] > low[v]
                else:
                    usable = mover[u, v] >= 0 and arc[u, v] + prices[v] - prices[u] <= 0.0
                v = u
            if not usable:
                break


@njit
def drop_stale(keys, rows, starts, lengths, labels, a, p):
    """Take rows that are no longer in cluster p from the top of heap a."""
    start = starts[a]
    while lengths[a] > 0 and labels[rows[start]] != p:
        lengths[a] -= 1
        keys[start], rows[start] = keys[start + lengths[a]], rows[start + lengths[a]]
        if lengths[a] > 1:
            _sift_down(keys, rows, start, lengths[a], 0)


@njit
def _refresh(keys, rows, starts, lengths, labels, arc, mover, beyond, p, q):
    """What the arc from p to q costs now, and by which row."""
    a = p * len(arc) + q
    drop_stale(keys, rows, starts, lengths, labels, a, p)
    arc[p, q] = beyond[p, q]
    mover[p, q] = -1
    if lengths[a] > 0 and keys[starts[a]] <= beyond[p, q]:
        arc[p, q] = keys[starts[a]]
        mover[p, q] = rows[starts[a]]


@njit
def _widen(keys, rows, starts, room, lengths, a, end):
    """Give a full heap twice the room, at the end of the pool."""
    wanted = 2 * room[a]
    if end + wanted > len(keys):
        more = max(len(keys), wanted)
        keys = np.concatenate((keys, np.empty(more)))
        rows = np.concatenate((rows, np.empty(more, dtype=np.int32)))
    for at in range(lengths[a]):
        keys[end + at] = keys[starts[a] + at]
        rows[end + at] = rows[starts[a] + at]
    starts[a] = end
    room[a] = wanted
    return keys, rows, end + wanted
