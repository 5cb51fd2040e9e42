"""Groups that are apart, with a cost for every label: labels of least total cost, by branch and bound.

Minimised is ``Σ_g D[g, y_g]`` subject to ``y_a != y_b`` for every pair (a, b) that is apart. Components of these pairs
are independent. In a component the pairs of a spanning forest are kept and the others dropped: the cheapest labels of
the forest follow from one sweep from its leaves to its roots (`_forest`), and their cost is a lower bound. If no
dropped pair is violated these labels are optimal; otherwise the search branches on one of these pairs, "a has not this
label" or "a has it and none of its neighbours does" (`_search`). A tree is solved without a branch.

An upper bound comes first, from a local search (`_descend`): single moves, and exchanges of two labels along a Kempe
chain, the groups of these two labels that hang together. The work is counted in costs read; once it is above the
budget, the labels found so far and the least bound of what is left are returned.

Whether groups fit into k clusters at all is a colouring of a graph with k colours (`colouring`), exact within a budget.
Nodes with fewer than k neighbours can be coloured last, whatever the others have; they are taken away one after the
other. What is left is coloured by DSATUR, the node with the most colours around it first, with at most one new colour a
node. Brélaz (1979), New methods to color the vertices of a graph, Communications of the ACM 22.
"""

from __future__ import annotations

import numpy as np

from clusterkit._jit import inner, njit
from clusterkit._typing import Array, Indices, Labels, Mask
from clusterkit.numerics.structures_jit import find

OPTIMAL, NOT_PROVEN, IMPOSSIBLE, BUDGET_OVER = 0, 1, 2, 3
"""How the search of a component ends: with an optimum; with labels and a lower bound; with the proof that there are no
labels; without labels, because the budget is over."""

ROUNDING = 1e-12
"""Improvements below this fraction of the costs are rounding."""


@njit
def neighbours_of(edges: Indices, m: int) -> tuple[Indices, Indices]:
    """The neighbours of each of m nodes: those of node v are ``near[starts[v]:starts[v + 1]]``."""
    starts = np.zeros(m + 1, np.int64)
    for e in range(len(edges)):
        starts[edges[e, 0] + 1] += 1
        starts[edges[e, 1] + 1] += 1
    for v in range(m):
        starts[v + 1] += starts[v]
    at, near = starts[:-1].copy(), np.empty(2 * len(edges), np.int64)
    for e in range(len(edges)):
        a, b = edges[e, 0], edges[e, 1]
        near[at[a]], near[at[b]] = b, a
        at[a] += 1
        at[b] += 1
    return starts, near


@njit
def cheapest_apart(D: Array, edges: Indices, budget: float) -> tuple[Labels, float, int, int]:
    """Labels (m,) of least cost, a lower bound of the cost, how the search ended, and a node of the worst component.

    Parameters
    ----------
    D : ndarray of shape (m, k), float64
        Cost of each label; inf forbids it.
    edges : ndarray of shape (c, 2)
        Pairs of nodes that are apart, each once.
    budget : float
        Most costs that are read, for all components together.
    """
    m, k = D.shape
    labels = np.empty(m, np.int64)
    lower, state, where = 0.0, OPTIMAL, -1
    for v in range(m):
        j = 0
        for i in range(1, k):
            if D[v, i] < D[v, j]:
                j = i
        labels[v] = j
    starts, near = neighbours_of(edges, m)
    done, local, queue = np.zeros(m, np.bool_), np.empty(m, np.int64), np.empty(m, np.int64)
    work = 0.0
    for root in range(m):
        if done[root]:
            continue
        queue[0], q, head, bad = root, 1, 0, D[root, labels[root]] == np.inf
        done[root], local[root] = True, 0
        while head < q:
            v = queue[head]
            head += 1
            for at in range(starts[v], starts[v + 1]):
                u = near[at]
                bad |= labels[u] == labels[v]
                if not done[u]:
                    done[u], local[u] = True, q
                    bad |= D[u, labels[u]] == np.inf
                    queue[q] = u
                    q += 1
        if not bad:
            for at in range(q):
                lower += D[queue[at], labels[queue[at]]]
            continue
        nodes = queue[:q].copy()
        table = np.empty((q, k))
        ends = 0
        for at in range(q):
            for j in range(k):
                table[at, j] = D[nodes[at], j]
            ends += starts[nodes[at] + 1] - starts[nodes[at]]
        pairs, p = np.empty((ends // 2, 2), np.int64), 0
        for at in range(q):
            for to in range(starts[nodes[at]], starts[nodes[at] + 1]):
                other = local[near[to]]
                if at < other:
                    pairs[p, 0], pairs[p, 1] = at, other
                    p += 1
        best, bound, end, spent = _search(table, pairs, budget - work)
        work += spent
        lower += bound
        if end > state:
            state, where = end, root
        for at in range(q):
            labels[nodes[at]] = best[at]
    return labels, lower, state, where


@njit
def _spanning_forest(D: Array, pairs: Indices) -> tuple[Indices, Indices, Indices]:
    """Nodes with parents before children, the parent of each or -1, and the pairs outside the forest.

    A pair is violated by the cheapest labels of its ends if they are equal. Such pairs enter the forest first, so that
    few of them are outside.
    """
    q = len(D)
    cheapest = np.empty(q, np.int64)
    for v in range(q):
        cheapest[v] = 0
        for c in range(D.shape[1]):
            if D[v, c] < D[v, cheapest[v]]:
                cheapest[v] = c
    joined, inside = np.arange(q), np.zeros(len(pairs), np.bool_)
    for violated in (True, False):
        for e in range(len(pairs)):
            a, b = pairs[e, 0], pairs[e, 1]
            if (cheapest[a] == cheapest[b]) == violated:
                a, b = find(joined, a), find(joined, b)
                if a != b:
                    joined[max(a, b)] = min(a, b)
                    inside[e] = True
    starts, near = neighbours_of(pairs[inside], q)
    order, parent, seen, count = np.empty(q, np.int64), np.full(q, -1), np.zeros(q, np.bool_), 0
    for root in range(q):
        if seen[root]:
            continue
        seen[root], order[count], head = True, root, count
        count += 1
        while head < count:
            v = order[head]
            head += 1
            for at in range(starts[v], starts[v + 1]):
                u = near[at]
                if not seen[u]:
                    seen[u], parent[u], order[count] = True, v, u
                    count += 1
    return order, parent, pairs[~inside]


@njit
def _forest(
    D: Array, banned: Indices, order: Indices, parent: Indices, sums: Array, best: Labels, labels: Labels
) -> float:
    """Cost of the cheapest labels of the forest, which are written to `labels`; inf if there are none."""
    q, k = D.shape
    for v in range(q):
        for j in range(k):
            sums[v, j] = np.inf if banned[v, j] > 0 else D[v, j]
    total = 0.0
    for at in range(q - 1, -1, -1):
        v = order[at]
        first, second = -1, -1
        for j in range(k):
            if first < 0 or sums[v, j] < sums[v, first]:
                first, second = j, first
            elif second < 0 or sums[v, j] < sums[v, second]:
                second = j
        best[v, 0], best[v, 1] = first, second
        p = parent[v]
        if p < 0:
            total += sums[v, first]
            continue
        for j in range(k):
            if j != first:
                sums[p, j] += sums[v, first]
            elif second >= 0:
                sums[p, j] += sums[v, second]
            else:
                sums[p, j] = np.inf
    if total == np.inf:
        return total
    for at in range(q):
        v = order[at]
        p = parent[v]
        labels[v] = best[v, 0] if p < 0 or labels[p] != best[v, 0] else best[v, 1]
    return total


@njit
def _search(D: Array, pairs: Indices, budget: float) -> tuple[Labels, float, int, float]:
    """Branch and bound in one component: labels, lower bound, how it ended, and the work."""
    q, k = D.shape
    order, parent, dropped = _spanning_forest(D, pairs)
    starts, near = neighbours_of(pairs, q)
    banned, sums = np.zeros((q, k), np.int32), np.empty((q, k))
    best2, labels, best = np.empty((q, 2), np.int64), np.empty(q, np.int64), np.zeros(q, np.int64)
    step = float(q * k + len(dropped))
    work = step
    value = _forest(D, banned, order, parent, sums, best2, labels)
    if value == np.inf:
        return best, value, IMPOSSIBLE, work
    root, scale = value, 0.0
    for v in range(q):
        scale += abs(D[v, labels[v]])
    least = np.inf
    for v in range(q):
        best[v] = labels[v]
    violated = False
    for e in range(len(dropped)):
        violated |= labels[dropped[e, 0]] == labels[dropped[e, 1]]
    if not violated:
        return best, value, OPTIMAL, work
    if _repair(D, starts, near, best):
        least = _descend(D, starts, near, best)
        for v in range(q):
            scale += abs(D[v, best[v]])
    work += 20.0 * step
    depth, room, used = 0, 64, 0
    frame: Indices = np.empty((room, 2), np.int64)  # the node and the label of each level
    phase: Indices = np.empty(room, np.int64)  # 0: it has not this label; 1: it has
    begin: Indices = np.empty(room, np.int64)
    bound: Array = np.empty(room)
    trail: Indices = np.empty((256, 2), np.int64)
    while True:
        chosen = -1
        if value < least - ROUNDING * scale:
            regret = -np.inf
            for e in range(len(dropped)):
                a, b = dropped[e, 0], dropped[e, 1]
                if labels[a] == labels[b]:
                    one, other = _regret(D, banned, a, labels[a]), _regret(D, banned, b, labels[b])
                    if chosen < 0 or min(one, other) > regret:
                        regret, chosen = min(one, other), e
            if chosen < 0:
                least = value
                for v in range(q):
                    best[v] = labels[v]
        if chosen >= 0:
            if depth == room:
                frame, phase, begin, bound = _wider(frame, phase, begin, bound)
                room = len(phase)
            a, b = dropped[chosen, 0], dropped[chosen, 1]
            if _regret(D, banned, b, labels[b]) < _regret(D, banned, a, labels[a]):
                a, b = b, a
            frame[depth, 0], frame[depth, 1], phase[depth], begin[depth], bound[depth] = a, labels[a], 0, used, value
            depth += 1
            trail, used = _ban(banned, trail, used, a, labels[a])
        else:
            while depth > 0:
                while used > begin[depth - 1]:
                    used -= 1
                    banned[trail[used, 0], trail[used, 1]] -= 1
                if phase[depth - 1] == 0 and bound[depth - 1] < least - ROUNDING * scale:
                    break
                depth -= 1
            if depth == 0:
                break
            a, label = frame[depth - 1, 0], frame[depth - 1, 1]
            phase[depth - 1] = 1
            for j in range(k):
                if j != label:
                    trail, used = _ban(banned, trail, used, a, j)
            for at in range(starts[a], starts[a + 1]):
                trail, used = _ban(banned, trail, used, near[at], label)
        if work > budget:
            open_bound = least
            for at in range(depth):  # what is left of each level: its second half, and the node that is entered now
                if phase[at] == 0 or at == depth - 1:
                    open_bound = min(open_bound, bound[at])
            return best, max(root, open_bound), (NOT_PROVEN if least < np.inf else BUDGET_OVER), work
        value = _forest(D, banned, order, parent, sums, best2, labels)
        work += step
    return best, (least if least < np.inf else root), (OPTIMAL if least < np.inf else IMPOSSIBLE), work


@inner
def _regret(D: Array, banned: Indices, v: int, label: int) -> float:
    """What node v loses at least by another label than this one."""
    other = np.inf
    for j in range(D.shape[1]):
        if j != label and banned[v, j] == 0:
            other = min(other, D[v, j])
    return other - D[v, label]


@njit
def _ban(banned: Indices, trail: Indices, used: int, v: int, label: int) -> tuple[Indices, int]:
    banned[v, label] += 1
    if used == len(trail):
        longer = np.empty((2 * used, 2), np.int64)
        for at in range(used):
            longer[at, 0], longer[at, 1] = trail[at, 0], trail[at, 1]
        trail = longer
    trail[used, 0], trail[used, 1] = v, label
    return trail, used + 1


@njit
def _wider(frame: Indices, phase: Indices, begin: Indices, bound: Array) -> tuple[Indices, Indices, Indices, Array]:
    n = len(phase)
    one, two, three, four = (
        np.empty((2 * n, 2), np.int64),
        np.empty(2 * n, np.int64),
        np.empty(2 * n, np.int64),
        np.empty(2 * n),
    )
    for at in range(n):
        one[at, 0], one[at, 1] = frame[at, 0], frame[at, 1]
        two[at], three[at], four[at] = phase[at], begin[at], bound[at]
    return one, two, three, four


@njit
def _repair(D: Array, starts: Indices, near: Indices, labels: Labels) -> bool:
    """Change labels until no pair is violated, by moves to the label of fewest conflicts that is not tabu."""
    q, k = D.shape
    conflicts = np.zeros((q, k), np.int64)  # neighbours of each label
    for v in range(q):
        for at in range(starts[v], starts[v + 1]):
            conflicts[v, labels[near[at]]] += 1
    until = np.zeros((q, k), np.int64)
    v, quiet = 0, 0
    for move in range(1, 200 * q + 2000):
        quiet = 0
        while conflicts[v, labels[v]] == 0 and quiet < q:
            v = v + 1 if v + 1 < q else 0
            quiet += 1
        if quiet == q:
            return True
        new = -1
        for j in range(k):
            if j == labels[v] or D[v, j] == np.inf or until[v, j] > move:
                continue
            if (
                new < 0
                or conflicts[v, j] < conflicts[v, new]
                or (conflicts[v, j] == conflicts[v, new] and D[v, j] < D[v, new])
            ):
                new = j
        if new >= 0:
            old = labels[v]
            until[v, old] = move + 5 + (move % 7)
            labels[v] = new
            for at in range(starts[v], starts[v + 1]):
                conflicts[near[at], old] -= 1
                conflicts[near[at], new] += 1
        v = v + 1 if v + 1 < q else 0
    left = 0
    for v in range(q):
        left += conflicts[v, labels[v]]
    return left == 0


@njit
def _descend(D: Array, starts: Indices, near: Indices, labels: Labels) -> float:
    """Lower the cost by exchanges of two labels along Kempe chains, single moves among them; the cost reached."""
    q, k = D.shape
    total = 0.0
    for v in range(q):
        total += D[v, labels[v]]
    mark, chain = np.full(q, -1), np.empty(q, np.int64)
    stamp, steps = 0, 0
    improved = True
    while improved and steps < 50 * q * k:
        improved = False
        for root in range(q):
            for j in range(k):
                old = labels[root]
                if j == old or D[root, j] >= D[root, old]:
                    continue
                chain[0], count, head, gain = root, 1, 0, 0.0
                mark[root] = stamp
                while head < count and gain < np.inf:
                    v = chain[head]
                    head += 1
                    to = j if labels[v] == old else old
                    gain += D[v, to] - D[v, labels[v]]
                    for at in range(starts[v], starts[v + 1]):
                        u = near[at]
                        if labels[u] == to and mark[u] != stamp:
                            mark[u], chain[count] = stamp, u
                            count += 1
                stamp += 1
                steps += count
                if gain < -ROUNDING * (1.0 + abs(total)):
                    for at in range(count):
                        v = chain[at]
                        labels[v] = j if labels[v] == old else old
                    total += gain
                    improved = True
    total = 0.0
    for v in range(q):
        total += D[v, labels[v]]
    return total


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
