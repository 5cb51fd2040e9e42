"""Cells of even sizes: rows moved along the cheapest paths, and the prices that make every row's cell its cheapest.

An assignment of rows to cells of given sizes is a flow; moving one row at a time along the cheapest path from a cell
with too many to one with too few keeps it the cheapest of its sizes (successive shortest paths). The prices are its
dual: with them new rows follow the same borders.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit

__all__ = ["even", "prices"]

EPS = float(np.finfo(np.float64).eps)


@njit
def _cheapest(costs: Any, members: Any, sizes: Any, a: Any, b: Any, price: Any, which: Any) -> Any:
    """The row of cell a that goes to b at the least extra cost, the lowest row on ties."""
    least, found = np.inf, -1
    for position in range(sizes[a]):
        i = members[a, position]
        extra = costs[i, b] - costs[i, a]
        if extra < least or (extra == least and i < found):
            least, found = extra, i
    price[a, b] = least
    which[a, b] = found


@njit
def _paths(price: Any, source: Any, tolerance: Any, reach: Any, before: Any) -> Any:
    """Cheapest ways from the source cells to all, by relaxation until nothing changes, O(k³) at worst."""
    k = len(reach)
    for b in range(k):
        reach[b] = 0.0 if source[b] else np.inf
        before[b] = -1
    for _ in range(k):
        changed = False
        for a in range(k):
            if reach[a] == np.inf:
                continue
            for b in range(k):
                if b != a and reach[a] + price[a, b] < reach[b] - tolerance:
                    reach[b] = reach[a] + price[a, b]
                    before[b] = a
                    changed = True
        if not changed:
            break


@njit
def even(costs: Any, labels: Any) -> Any:
    """Move rows, in place, until sizes are n // k or one more; the extra costs between cells, (k, k), and moves.

    `costs` (n, k), `labels` (n,) the cheapest cells. O(k³ + n) for a row in excess, memory of n k integers.
    """
    n, k = costs.shape
    floor = n // k
    members = np.empty((k, n), dtype=np.int32)
    place = np.empty(n, dtype=np.int32)
    sizes = np.zeros(k, dtype=np.int64)
    for i in range(n):
        a = labels[i]
        members[a, sizes[a]] = i
        place[i] = sizes[a]
        sizes[a] += 1
    price, which = np.full((k, k), np.inf), np.full((k, k), -1)
    for a in range(k):
        for b in range(k):
            if a != b:
                _cheapest(costs, members, sizes, a, b, price, which)
    tolerance = 8.0 * EPS * np.abs(costs).max()
    reach, before = np.empty(k), np.empty(k, dtype=np.int64)
    source = np.empty(k, dtype=np.bool_)
    moved = 0
    # first what is above n // k + 1, wherever there is room; then what is below n // k
    for lower in range(2):
        most = floor if lower or n % k == 0 else floor + 1
        while True:
            for a in range(k):
                source[a] = sizes[a] > most
            _paths(price, source, tolerance, reach, before)
            sink, least = -1, np.inf
            for b in range(k):
                lacking = sizes[b] < floor if lower else sizes[b] < most
                if lacking and reach[b] < least:
                    sink, least = b, reach[b]
            if sink < 0:
                break
            b = sink
            rows, cells = np.empty(k + 1, dtype=np.int64), np.empty(k + 1, dtype=np.int64)
            steps = 0
            while before[b] >= 0 and steps < k:
                rows[steps], cells[steps] = which[before[b], b], b
                b = before[b]
                steps += 1
            for step in range(steps):
                i, b = rows[step], cells[step]
                a = labels[i]
                sizes[a] -= 1
                other = members[a, sizes[a]]
                members[a, place[i]], place[other] = other, place[i]
                members[b, sizes[b]], place[i] = i, sizes[b]
                sizes[b] += 1
                labels[i] = b
                moved += 1
            for step in range(steps):
                i, b = rows[step], cells[step]
                for a in range(k):
                    for c in range(k):
                        if which[a, c] == i and a != b:
                            _cheapest(costs, members, sizes, a, c, price, which)
                for c in range(k):
                    if c != b:
                        extra = costs[i, c] - costs[i, b]
                        if extra < price[b, c] or (extra == price[b, c] and i < which[b, c]):
                            price[b, c], which[b, c] = extra, i
    return price, moved


@njit
def prices(price: Any) -> Any:
    """Prices p (k,) with ``p_a - p_b <= price[a, b]`` for all cells, as far inside as half the least mean of a cycle.

    O(k³). Source: Karp (1978), A characterization of the minimum cycle mean in a digraph, Discrete Mathematics 23.
    """
    k = len(price)
    walks = np.full((k + 1, k), np.inf)
    walks[0, 0] = 0.0
    for step in range(k):
        for a in range(k):
            for b in range(k):
                if a != b:
                    walks[step + 1, b] = min(walks[step + 1, b], walks[step, a] + price[a, b])
    mean = np.inf
    for b in range(k):
        if walks[k, b] < np.inf:
            most = -np.inf
            for step in range(k):
                if walks[step, b] < np.inf:
                    most = max(most, (walks[k, b] - walks[step, b]) / (k - step))
            mean = min(mean, most)
    margin = 0.5 * max(mean, 0.0) if mean < np.inf else 0.0
    p = np.zeros(k)
    for _ in range(k):
        for a in range(k):
            for b in range(k):
                if a != b:
                    p[a] = min(p[a], p[b] + price[a, b] - margin)
    return p - p.mean()
