"""Successive cheapest paths between k clusters: rows move along them until every size is allowed.

The residual graph of the transportation problem has a node for each cluster and a node T that collects all rows. The
arc from cluster p to cluster q costs as much as the row of p that loses least by moving to q; a heap for each ordered
pair of clusters holds the candidates. An arc between a cluster and T costs nothing while the size of the cluster may
change.

`move_along_paths` repeats four steps: Dijkstra's search for the nearest deficit (`_nearest_deficit`), new prices
(`_raise_prices`), one row along each arc of the path (`_augment`), and heaps in order again (`_repair_heaps`).

The heaps are in one pool of memory: `build_heaps` enters the candidates, `push` adds a row, `drop_stale` removes rows
at the top that have left their cluster, and `widen` makes room.

Prices of clusters and labels of rows: `cheapest` goes from prices to labels, `widest` from labels to prices (their dual
variables), and `audit` bounds how far both are from the optimum by weak duality. `moves` finds the cheapest move
between every two clusters.

Ahuja, Magnanti, Orlin (1993), Network Flows, section 9.7; the reduction to k nodes is Tokuyama, Nakano (1995),
Efficient algorithms for the Hitchcock transportation problem, SIAM J. Comput. 24.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts, Indices, Mask
from clusterkit.numerics.structures_jit import sift_down, sift_up

SPARE = 16
"""Free places of every new heap, so that the first rows that arrive in a cluster need no new memory."""


class Heaps(NamedTuple):
    """A binary heap for each ordered pair (p, q) of clusters, number ``p k + q``, in one pool of memory.

    Parameters
    ----------
    keys : ndarray of shape (pool,)
        Increase of the cost if the row moves from p to q.
    rows : int32 ndarray of shape (pool,)
        The row. A row that has left p stays until it reaches the top (`drop_stale`).
    starts, capacity, lengths : integer ndarray of shape (k²,)
        First entry, capacity and number of entries of each heap.
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
def build_heaps(C, labels, prices, candidates, window):
    """Heaps of those of the rows `candidates` that lose at most `window` at these prices; O(k) for each of them."""
    k = C.shape[1]
    lengths = np.zeros(k * k, dtype=np.int64)
    for i in candidates:
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
    for i in candidates:
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
        before, number = keys, rows
        keys, rows = np.empty(len(before) + more), np.empty(len(before) + more, dtype=np.int32)
        for at in range(len(before)):
            keys[at], rows[at] = before[at], number[at]
    for at in range(heaps.lengths[a]):
        keys[end + at] = keys[starts[a] + at]
        rows[end + at] = rows[starts[a] + at]
    starts[a] = end
    capacity[a] = doubled
    heaps.used[0] = end + doubled
    return Heaps(keys, rows, starts, capacity, heaps.lengths, heaps.used)


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
    """Numbers of rows that flow from every cluster to the node T.

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
def move_along_paths(C, labels, sizes, prices, low, high, candidates, window):
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
    candidates : ndarray of int
        All rows that lose at most `window` at the initial prices by their second cheapest label, ascending.
    window : float
        Only these rows are candidates for a move.

    Returns
    -------
    int
        DONE, WINDOW (a path may need rows outside the window: call again with a wider one) or IMPOSSIBLE.

    Notes
    -----
    O(k) for each candidate, and O(k² + k log n) for each row moved.
    """
    k = C.shape[1]
    heaps = build_heaps(C, labels, prices, candidates, window)
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
            # repeat the same path if ties make it as cheap as before
            again = flow.excess[source] > 0 and flow.excess[target] < 0 and _is_free(arcs, flow, prices, search, target)
    return DONE


@njit
def _initial_flow(n, sizes, prices, low, high):
    """The flow that complementary slackness requires at these prices, with the surpluses that remain."""
    k = len(sizes)
    amount = np.empty(k, dtype=np.int64)
    excess = np.empty(k + 1, dtype=np.int64)
    excess[k] = -n
    for p in range(k):
        if prices[p] > prices[k]:
            amount[p] = high[p]
        elif prices[p] < prices[k]:
            amount[p] = low[p]
        else:
            amount[p] = min(max(sizes[p], low[p]), high[p])
        excess[p] = sizes[p] - amount[p]
        excess[k] += amount[p]
    return Flow(amount, excess, low, high)


@njit
def _begin_search(flow: Flow, search: PathSearch):
    """Start the search at every node with a surplus; False if there is none."""
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


EPS = np.finfo(np.float64).eps
"""Relative rounding error of double precision."""


COMPARED = {"nnan", "nsz"}
"""What the compiler may assume of costs that are only compared: none is nan, and 0 and -0 are one."""


@njit
def cheapest(C, prices, targets):
    """Labels of least cost plus price, their sizes, and how much more the next label of each row costs; O(n k).

    A tie goes to the cluster whose size so far is the smaller share of its entry in `targets` (k,).
    """
    n, k = C.shape
    labels, more = np.empty(n, dtype=np.int64), np.empty(n)
    sizes, priced = np.zeros(k, dtype=np.int64), np.empty(k)
    for i in range(n):
        for j in range(k):
            priced[j] = C[i, j] + prices[j]
        least, second, ties = _two_least(priced)
        best = 0
        while best < k - 1 and priced[best] != least:
            best += 1
        if ties > 1:
            second = least
            for j in range(best + 1, k):
                if priced[j] == least and sizes[j] * targets[best] < sizes[best] * targets[j]:
                    best = j
        labels[i], more[i] = best, second - least
        sizes[best] += 1
    return labels, sizes, more


@njit(fastmath=COMPARED)
def _two_least(values):
    """The least value, the least above it, and how many are the least; in vectors, as comparisons do not round."""
    least, second, ties = np.inf, np.inf, 0
    for j in range(len(values)):
        least = min(least, values[j])
    for j in range(len(values)):
        above = values[j] > least
        second = min(second, values[j] if above else np.inf)
        ties += 0 if above else 1
    return least, second, ties


@njit
def losses(C, labels, prices):
    """How much more each row costs at the cheapest of the other labels, (n,); O(n k)."""
    n, k = C.shape
    more = np.empty(n)
    for i in range(n):
        least = np.inf
        for j in range(k):
            value = C[i, j] + prices[j]
            if j != labels[i] and value < least:
                least = value
        more[i] = least - (C[i, labels[i]] + prices[labels[i]])
    return more


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
    """Smallest cost of moving a row from one cluster to another, (k, k), and the number of that row, or -1; O(n k)."""
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
    """Duality gap of a labelling, a scale to divide it by, and the number of rows with a cheaper label at the prices.

    By weak duality the cost is above the optimum by at most the gap. The gap sums what each row could save at the
    prices, and the violations of complementary slackness: a positive price times the rows missing to the upper bound
    of the size, a negative one times the rows above the lower bound. The scale is the expected cost of uniformly random
    labels less that of each row's cheapest label; like the gap it does not change when a constant is added to a row.
    O(n k).
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
        node T of the residual graph. Empty if the labels are optimal up to rounding.
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
    shift = prices[k]
    if all_fixed:
        shift = 0.0
        for p in range(k):
            shift += prices[p]
        shift /= k
    return prices[:k] - shift, margin, np.empty(0, dtype=np.int64)
