"""Whether groups that are apart fit into k clusters: colouring of a graph with k colours, exact within a budget.

Nodes with fewer than k neighbours can be coloured last, whatever the others have; they are taken away one after the
other. What is left is coloured by DSATUR, the node with the most colours around it first, with at most one new colour a
node. Brélaz (1979), New methods to color the vertices of a graph, Communications of the ACM 22.
"""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Indices, Labels, Mask
from clusterkit.numerics.linked.apart_jit import neighbours_of

__all__ = ["colouring", "dense_core"]


@njit
def dense_core(edges: Indices, m: int, k: int) -> tuple[Mask, Indices]:
    """The nodes (mask) that keep at least k neighbours among themselves, and the others in the order of their going."""
    starts, near = neighbours_of(edges, m)
    degree, left = starts[1:] - starts[:-1], np.ones(m, np.bool_)
    gone, count = np.empty(m, np.int64), 0
    for v in range(m):
        if degree[v] < k:
            left[v], gone[count] = False, v
            count += 1
    head = 0
    while head < count:
        v = gone[head]
        head += 1
        for at in range(starts[v], starts[v + 1]):
            u = near[at]
            if left[u]:
                degree[u] -= 1
                if degree[u] < k:
                    left[u], gone[count] = False, u
                    count += 1
    return left, gone[:count].copy()


@njit
def colouring(edges: Indices, m: int, k: int, budget: int) -> tuple[int, Labels]:
    """1 and colours (m,) of the nodes, 0 if there are none, or -1 if `budget` steps do not decide it."""
    left, gone = dense_core(edges, m, k)
    starts, near = neighbours_of(edges, m)
    colour = np.full(m, -1)
    inside, count = np.empty(m, np.int64), 0
    for v in range(m):
        if left[v]:
            inside[count] = v
            count += 1
    inside = inside[:count]
    around, used = np.zeros((m, k), np.int64), np.zeros(m, np.int64)  # neighbours of each colour; colours around
    path, highest, depth, steps = np.empty(len(inside), np.int64), np.zeros(len(inside) + 1, np.int64), 0, 0
    colours = 0  # in use
    forward = True
    while depth < len(inside):
        steps += len(inside)
        if steps > budget:
            return -1, colour
        if forward:
            chosen = np.int64(-1)
            for at in range(len(inside)):
                v = inside[at]
                if colour[v] < 0 and (
                    chosen < 0
                    or used[v] > used[chosen]
                    or (used[v] == used[chosen] and starts[v + 1] - starts[v] > starts[chosen + 1] - starts[chosen])
                ):
                    chosen = v
            path[depth], highest[depth], begin = chosen, colours, 0
        else:
            chosen = path[depth]
            begin = colour[chosen] + 1
            _uncolour(chosen, starts, near, colour, around, used)
            colours = highest[depth]
        new = begin
        while new < k and new <= colours and around[chosen, new] > 0:
            new += 1
        if new < k and new <= colours:
            colour[chosen] = new
            for at in range(starts[chosen], starts[chosen + 1]):
                u = near[at]
                used[u] += around[u, new] == 0
                around[u, new] += 1
            colours = max(colours, new + 1)
            depth, forward = depth + 1, True
        elif depth == 0:
            return 0, colour
        else:
            depth, forward = depth - 1, False
    for at in range(len(gone) - 1, -1, -1):
        v, new = gone[at], 0
        while _has(v, new, starts, near, colour):
            new += 1
        colour[v] = new
    return 1, colour


@njit
def _has(v: int, new: int, starts: Indices, near: Indices, colour: Labels) -> bool:
    same = False
    for at in range(starts[v], starts[v + 1]):
        same |= colour[near[at]] == new
    return same


@njit
def _uncolour(v: int, starts: Indices, near: Indices, colour: Labels, around: Indices, used: Indices) -> None:
    for at in range(starts[v], starts[v + 1]):
        u = near[at]
        around[u, colour[v]] -= 1
        used[u] -= around[u, colour[v]] == 0
    colour[v] = -1
