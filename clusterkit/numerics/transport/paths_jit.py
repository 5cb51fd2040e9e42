"""Successive cheapest paths between k clusters: rows move along them until every size is allowed.

The residual graph of the transportation problem has a node for each cluster and a node T that collects all rows. The
arc from cluster p to cluster q costs as much as the row of p that loses least by moving to q; a heap for each ordered
pair of clusters holds the candidates. An arc between a cluster and T costs nothing while the size of the cluster may
change.

`move_along_paths` repeats four steps: Dijkstra's search for the nearest deficit (`_nearest_deficit`), new prices
(`_raise_prices`), one row along each arc of the path (`_augment`), and heaps in order again (`_repair_heaps`).

Ahuja, Magnanti, Orlin (1993), Network Flows, section 9.7; the reduction to k nodes is Tokuyama, Nakano (1995),
Efficient algorithms for the Hitchcock transportation problem, SIAM J. Comput. 24.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts, Indices, Mask
from clusterkit.numerics.transport.heaps_jit import Heaps, build_heaps, drop_stale, push, widen

__all__ = ["DONE", "IMPOSSIBLE", "WINDOW", "move_along_paths"]

DONE, WINDOW, IMPOSSIBLE = 0, 1, 2
"""How `move_along_paths` ended: all sizes are allowed; it needs a wider window; no labels have allowed sizes."""


class Arcs(NamedTuple):
    """The cheapest move between every two clusters.

    Parameters
    ----------
    cost : ndarray of shape (k, k)
    mover : integer ndarray of shape (k, k)
        The row; -1 where rows outside the window may be as cheap.
    beyond : ndarray of shape (k, k)
        No row outside the window costs less than this.
    """

    cost: Array
    mover: Indices
    beyond: Array


class Flow(NamedTuple):
    """What every cluster hands to T.

    Parameters
    ----------
    amount : integer ndarray of shape (k,)
        Rows that the cluster hands to T, from ``low`` to ``high``.
    excess : integer ndarray of shape (k + 1,)
        Surplus (> 0) or deficit (< 0) of each cluster and of T.
    low, high : integer ndarray of shape (k,)
    """

    amount: Counts
    excess: Counts
    low: Counts
    high: Counts


class PathSearch(NamedTuple):
    """Arrays (k + 1,) of Dijkstra's algorithm: distance, the node before on the path or -1, whether it is final."""

    distance: Array
    before: Indices
    final: Mask


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
        The sizes of these labels, changed in place.
    prices : ndarray of shape (k + 1,)
        Changed in place; the last is the price of T.
    low, high : ndarray of shape (k,)
        Lowest and highest allowed sizes.
    window : float
        Only rows that lose at most this much at the initial prices are candidates for a move.

    Returns
    -------
    int
        DONE, WINDOW (a path may need rows outside the window: call again with a wider one) or IMPOSSIBLE.

    Notes
    -----
    O(n k) for the heaps, and O(k² + k log n) for each row moved.
    """
    k = C.shape[1]
    heaps = build_heaps(C, labels, prices, window)
    arcs = _arcs(heaps, labels, prices, window)
    flow = _initial_flow(len(C), sizes, prices, low, high)
    search = PathSearch(np.empty(k + 1), np.empty(k + 1, dtype=np.int64), np.empty(k + 1, dtype=np.bool_))
    while _begin_search(flow, search):
        target = _nearest_deficit(arcs, flow, prices, search)
        if target < 0:
            return IMPOSSIBLE
        if _leaves_window(arcs, search, target):
            return WINDOW
        _raise_prices(prices, search, target)
        again = True
        while again:
            source = _augment(labels, sizes, arcs, flow, search, target)
            heaps = _repair_heaps(C, labels, heaps, arcs, search, target)
            # the same path once more if ties make it as cheap as before
            again = flow.excess[source] > 0 and flow.excess[target] < 0 and _is_free(arcs, flow, prices, search, target)
    return DONE


@njit
def _initial_flow(n, sizes, prices, low, high):
    """The amounts that complementary slackness demands at these prices, and the surpluses they leave."""
    k = len(sizes)
    amount = np.empty(k, dtype=np.int64)
    excess = np.empty(k + 1, dtype=np.int64)
    for p in range(k):
        if prices[p] > prices[k]:
            amount[p] = high[p]
        elif prices[p] < prices[k]:
            amount[p] = low[p]
        else:
            amount[p] = min(max(sizes[p], low[p]), high[p])
        excess[p] = sizes[p] - amount[p]
    excess[k] = amount.sum() - n
    return Flow(amount, excess, low, high)


@njit
def _begin_search(flow: Flow, search: PathSearch):
    """Start the search at every surplus; False if there is none."""
    excess, distance, before, final = flow.excess, search.distance, search.before, search.final
    surplus = False
    for v in range(len(excess)):
        distance[v] = np.inf
        before[v] = -1
        final[v] = False
        if excess[v] > 0:
            distance[v] = 0.0
            surplus = True
    return surplus


@njit
def _nearest_deficit(arcs: Arcs, flow: Flow, prices, search: PathSearch):
    """Dijkstra's algorithm on reduced costs, from all surpluses to the nearest deficit; -1 if none can be reached."""
    cost_of = arcs.cost
    amount, excess, low, high = flow.amount, flow.excess, flow.low, flow.high
    distance, before, final = search.distance, search.before, search.final
    T = len(amount)
    while True:
        u = -1
        for v in range(T + 1):
            if not final[v] and distance[v] < np.inf and (u < 0 or distance[v] < distance[u]):
                u = v
        if u < 0:
            return -1
        final[u] = True
        if excess[u] < 0:
            return u
        for v in range(T + 1):
            if final[v]:
                continue
            if u == T:
                cost = 0.0 if amount[v] > low[v] else np.inf
            elif v == T:
                cost = 0.0 if amount[u] < high[u] else np.inf
            else:
                cost = cost_of[u, v]
            if cost < np.inf:
                through = distance[u] + max(cost + prices[v] - prices[u], 0.0)
                if through < distance[v]:
                    distance[v] = through
                    before[v] = u


@njit
def _leaves_window(arcs: Arcs, search: PathSearch, target):
    """Whether the path to `target` has an arc whose cheapest row may lie outside the window."""
    T = len(arcs.cost)
    v = target
    while search.before[v] >= 0:
        u = search.before[v]
        if u != T and v != T and arcs.mover[u, v] < 0:
            return True
        v = u
    return False


@njit
def _raise_prices(prices, search: PathSearch, target):
    """Raise the prices so that every arc of the path has the reduced cost 0 and none becomes negative."""
    distance, final = search.distance, search.final
    length = distance[target]
    for v in range(len(prices)):
        if final[v]:
            prices[v] += length - distance[v]


@njit
def _augment(labels, sizes, arcs: Arcs, flow: Flow, search: PathSearch, target):
    """Move one row along each arc of the path to `target`; return the node where the path starts."""
    mover, amount, before = arcs.mover, flow.amount, search.before
    T = len(amount)
    v = target
    while before[v] >= 0:
        u = before[v]
        if v == T:
            amount[u] += 1
        elif u == T:
            amount[v] -= 1
        else:
            labels[mover[u, v]] = v
            sizes[u] -= 1
            sizes[v] += 1
        v = u
    flow.excess[v] -= 1
    flow.excess[target] += 1
    return v


@njit
def _repair_heaps(C, labels, heaps: Heaps, arcs: Arcs, search: PathSearch, target):
    """Enter the rows that moved along the path into the heaps of their new clusters, and renew the arcs concerned.

    All labels have changed before, because a heap drops rows at its top that have left their cluster. Returns the
    heaps, which may have moved to new memory.
    """
    mover, before = arcs.mover, search.before
    T = len(mover)
    v = target
    while before[v] >= 0:
        u = before[v]
        if u != T and v != T:
            i = mover[u, v]
            for q in range(T):
                # row i is now in cluster v: a candidate for all moves from there
                if q != v:
                    key = np.float64(C[i, q]) - np.float64(C[i, v])
                    if key < np.inf:
                        a = v * T + q
                        if heaps.lengths[a] == heaps.capacity[a]:
                            heaps = widen(heaps, a)
                        push(heaps, a, key, i)
                    _refresh(heaps, labels, arcs, v, q)
                if q != u and mover[u, q] == i:
                    _refresh(heaps, labels, arcs, u, q)
        v = u
    return heaps


@njit
def _is_free(arcs: Arcs, flow: Flow, prices, search: PathSearch, target):
    """Whether another row can follow along the whole path at reduced cost 0."""
    mover, cost, before = arcs.mover, arcs.cost, search.before
    T = len(mover)
    v, usable = target, True
    while before[v] >= 0 and usable:
        u = before[v]
        if v == T:
            usable = flow.amount[u] < flow.high[u]
        elif u == T:
            usable = flow.amount[v] > flow.low[v]
        else:
            usable = mover[u, v] >= 0 and cost[u, v] + prices[v] - prices[u] <= 0.0
        v = u
    return usable


@njit
def _arcs(heaps: Heaps, labels, prices, window):
    """The cheapest move of every ordered pair of clusters."""
    k = len(prices) - 1
    arcs = Arcs(np.full((k, k), np.inf), np.full((k, k), -1, dtype=np.int64), np.full((k, k), np.inf))
    for p in range(k):
        for q in range(k):
            if p != q:
                arcs.beyond[p, q] = window - prices[q] + prices[p]
                _refresh(heaps, labels, arcs, p, q)
    return arcs


@njit
def _refresh(heaps: Heaps, labels, arcs: Arcs, p, q):
    """Renew the arc from p to q: its cost, and the row that would move."""
    a = p * len(arcs.cost) + q
    drop_stale(heaps, labels, a, p)
    start, beyond = heaps.starts[a], arcs.beyond[p, q]
    arcs.cost[p, q] = beyond
    arcs.mover[p, q] = -1
    if heaps.lengths[a] > 0 and heaps.keys[start] <= beyond:
        arcs.cost[p, q] = heaps.keys[start]
        arcs.mover[p, q] = heaps.rows[start]
