"""The rounds of Borůvka's algorithm on a k-d tree: the edge of least weight that leaves each component.

Weights are squared, ``w(x, y) = max(|x - y|², core_x, core_y)``. A core distance is the weight of many pairs; of
pairs of equal weight the nearest one comes first, so that "less" means less in the order of (w, |x - y|²). Without it
the tree would depend on the order of the rows. Every row knows either its exact nearest row outside its component
(`other`, `weight`, `square`) or a lower bound of that weight (`bound`, `nearest`), which stays true when components
grow. A component is decided once the least known weight is not above the bounds of its rows. The search goes leaf by
leaf through the rows of undecided components, nearest leaves first, and a weight that it finds for one row bounds all
rows of the component.

`smallest` and `kth_near` have the k-th smallest of some numbers, exactly or a bound of it by counting, which processors
do many at a time.
"""

from __future__ import annotations

import numpy as np

from clusterkit._jit import inner, njit
from clusterkit._typing import Array, Counts, Indices, Mask
from clusterkit.numerics.spanning_trees.kd_tree_jit import (
    BALLS,
    CHUNK,
    TASKS,
    KdTree,
    edge_of,
    leaf_squares,
    near_slots,
    next_leaf,
    point_bound,
    squared,
    work_arrays,
)
from clusterkit.numerics.structures_jit import find, join

MIXED = -1
"""Component of a node whose rows are in several."""


@inner
def _less(w: float, square: float, other_w: float, other_square: float) -> bool:
    return w < other_w or (w == other_w and square < other_square)


@njit
def row_candidates(
    t: int,
    rows: Array,
    component: Indices,
    core: Array,
    euclidean: bool,
    other: Indices,
    weight: Array,
    square: Array,
    bound: Array,
    nearest: Array,
    lists: Indices,
    pointer: Indices,
) -> None:
    """Update the edge candidates of the rows of a task: the nearest listed row of another component, or a higher bound.

    `rows` are in slot order; `lists` (slots, K) are the nearest slots of each row, nearest first. With fewer neighbours
    the rest is -1, and no unlisted row is nearer than the core distance. With `euclidean` all core distances are 0.
    """
    K, slots = lists.shape[1], len(component)
    for s in range(t * slots // TASKS, (t + 1) * slots // TASKS):
        mine = component[s]
        if mine < 0:
            continue
        if other[s] >= 0 and component[other[s]] == mine:
            other[s] = -1
        if other[s] >= 0 or pointer[s] >= K:
            continue
        place, mine_core = pointer[s], core[s]
        # rows with larger core distances weigh more than any that are listed, and no less than the bound
        while place < K and lists[s, place] >= 0:
            near = lists[s, place]
            if component[near] != mine and (euclidean or core[near] <= mine_core):
                break
            place += 1
        if place < K and lists[s, place] >= 0:
            other[s], square[s] = lists[s, place], squared(rows, s, lists[s, place])
            weight[s] = max(square[s], mine_core)
            bound[s], nearest[s] = weight[s], square[s]
        else:
            place = K
            last = squared(rows, s, lists[s, K - 1]) if lists[s, K - 1] >= 0 else mine_core
            if _less(bound[s], nearest[s], max(last, mine_core), last):
                bound[s], nearest[s] = max(last, mine_core), last
        pointer[s] = place


@njit
def candidate_task(
    t: int, component: Indices, other: Indices, weight: Array, square: Array, bests: Array, leasts: Array
) -> None:
    """Write the least known edge weights of a part of the rows into row t of `bests`, `leasts` (parts, components)."""
    parts, slots = len(bests), len(component)
    best, least = np.full(bests.shape[1], np.inf), np.full(bests.shape[1], np.inf)  # apart from what others write to
    for s in range(t * slots // parts, (t + 1) * slots // parts):
        mine = component[s]
        if mine >= 0 and other[s] >= 0 and _less(weight[s], square[s], best[mine], least[mine]):
            best[mine], least[mine] = weight[s], square[s]
    for c in range(len(best)):
        bests[t, c], leasts[t, c] = best[c], least[c]


@njit
def least_of(bests: Array, leasts: Array, best: Array, least: Array) -> None:
    """Write the least weight of each component among all parts."""
    for c in range(len(best)):
        best[c], least[c] = bests[0, c], leasts[0, c]
        for t in range(1, len(bests)):
            if _less(bests[t, c], leasts[t, c], best[c], least[c]):
                best[c], least[c] = bests[t, c], leasts[t, c]


@njit
def need_task(
    t: int,
    component: Indices,
    other: Indices,
    bound: Array,
    nearest: Array,
    best: Array,
    least: Array,
    needs: Counts,
) -> None:
    """Count in row t of `needs` how many rows of each component, of a part of all, may have an edge below `best`."""
    parts, slots = len(needs), len(component)
    need = np.zeros(len(best), dtype=np.int64)
    for s in range(t * slots // parts, (t + 1) * slots // parts):
        mine = component[s]
        if mine >= 0 and other[s] < 0 and _less(bound[s], nearest[s], best[mine], least[mine]):
            need[mine] += 1
    for c in range(len(need)):
        needs[t, c] = need[c]


@njit
def search_task(
    t: int,
    tree: KdTree,
    component: Indices,
    pure: Indices,
    core: Array,
    floor: Array,
    searched: Mask,
    bests: Array,
    leasts: Array,
    other: Indices,
    weight: Array,
    square: Array,
    bound: Array,
    nearest: Array,
) -> None:
    """Search the rows in a task's leaves for weights less than the best known ones, of which each task has a copy."""
    points, rows, filtered = tree.points, tree.rows, tree.filtered
    lows, highs, centres, radii = tree.low, tree.high, tree.centre, tree.radius
    scale, grow, slack, cut = tree.scale, tree.grow, tree.slack, tree.cut
    leaves, d, slots = points.shape
    queries, edges, _, wanted, out, starts, hits, near, near_squares, nodes, apart = work_arrays(tree)
    best, least = bests, leasts
    if len(bests) < tree.n:  # in the first round every row is a component, which no other task looks at
        best, least = bests.copy(), leasts.copy()
    active, edge = np.empty(slots, np.int64), np.empty(slots, np.int64)
    limits, squares, ranges, low, high = np.empty(slots), np.empty(slots), np.empty(slots), np.empty(d), np.empty(d)
    for chunk in range(t * CHUNK, leaves, TASKS * CHUNK):
        for leaf in range(chunk, min(chunk + CHUNK, leaves)):
            home = leaves - 1 + leaf
            count, common, lowest, widest = 0, -2, np.inf, 0.0
            for s in range(leaf * slots, (leaf + 1) * slots):
                mine = component[s]
                if mine < 0 or not searched[mine] or other[s] >= 0:
                    continue
                if not _less(bound[s], nearest[s], best[mine], least[mine]):
                    continue
                for c in range(d):
                    value = rows[s, c]
                    if count == 0 or value < low[c]:
                        low[c] = value
                    if count == 0 or value > high[c]:
                        high[c] = value
                common = mine if common in (-2, mine) else MIXED
                active[count], edge[count], limits[count], squares[count] = s, -1, np.inf, np.inf
                lowest, widest = min(lowest, core[s]), max(widest, best[mine])
                count += 1
            if count == 0:
                continue
            for a in range(count):
                for c in range(d):
                    queries[a, c] = points[leaf, c, active[a] - leaf * slots]
            radius, centre = radii[home], centres[home]
            if d > BALLS and count == 1:
                radius, centre = 0.0, rows[active[0]]
            nodes[0], apart[0], top = 0, lowest, 1
            widest = heaviest = np.nextafter(widest, np.inf)
            while True:
                node, top = next_leaf(
                    lows,
                    highs,
                    centres,
                    radii,
                    top,
                    nodes,
                    apart,
                    low,
                    high,
                    centre,
                    radius,
                    floor,
                    pure,
                    common,
                    widest,
                    heaviest,
                )
                if node < 0:
                    break
                there = node - leaves + 1
                for a in range(count):
                    s = active[a]
                    mine, my_core = component[s], core[s]
                    limit, near_limit = limits[a], squares[a]
                    if _less(best[mine], least[mine], limit, near_limit):
                        limit, near_limit = best[mine], least[mine]
                    wanted[a] = False
                    if my_core <= limit and pure[node] != mine:
                        gap = point_bound(lows, highs, node, rows, s)
                        if _less(max(floor[node], gap, my_core), gap, limit, near_limit):
                            # if the core distance equals the weight limit, only the distance can make an edge better
                            ranges[a] = near_limit if my_core == limit else limit
                            edges[a] = edge_of(ranges[a], filtered, scale, grow, slack, cut)
                            wanted[a] = True
                leaf_squares(points, there, queries, count, wanted, edges, out, starts, hits)
                widest = heaviest = 0.0
                for a in range(count):
                    s = active[a]
                    mine, my_core = component[s], core[s]
                    limit, near_limit = limits[a], squares[a]
                    if _less(best[mine], least[mine], limit, near_limit):
                        limit, near_limit = best[mine], least[mine]
                    if my_core > limit:
                        continue
                    if hits[a] > 0:
                        met = near_slots(
                            out, a, edges[a], hits[a], rows, there, filtered, rows, s, ranges[a], near, near_squares
                        )
                        for i in range(met):
                            j = near[i]
                            if component[j] == mine:
                                continue
                            w = max(near_squares[i], my_core, core[j])
                            if _less(w, near_squares[i], limit, near_limit):
                                limit, near_limit = w, near_squares[i]
                                limits[a], squares[a], edge[a] = limit, near_limit, j
                                best[mine], least[mine] = limit, near_limit
                    # a row at its own core distance looks for nearer rows of that weight only
                    widest = max(widest, near_limit if my_core == limit else limit)
                    heaviest = max(heaviest, limit)
                widest, heaviest = np.nextafter(widest, np.inf), np.nextafter(heaviest, np.inf)
            for a in range(count):
                s = active[a]
                mine = component[s]
                if edge[a] >= 0 and not _less(best[mine], least[mine], limits[a], squares[a]):
                    other[s], weight[s], square[s] = edge[a], limits[a], squares[a]
                    bound[s], nearest[s] = limits[a], squares[a]
                elif _less(bound[s], nearest[s], best[mine], least[mine]):
                    bound[s], nearest[s] = best[mine], least[mine]


@njit
def lightest_task(
    t: int,
    row: Indices,
    component: Indices,
    ready: Mask,
    other: Indices,
    weight: Array,
    square: Array,
    lightest: Indices,
) -> None:
    """Write into row t of `lightest` (parts, components) which row has the best edge of each one, in a part of all.

    Components that are not ready have -1. Among edges of equal weight and length the one between the lowest (lower,
    higher) rows is the best.
    """
    parts, slots = len(lightest), len(component)
    chosen = np.full(len(ready), -1, dtype=np.int64)
    for s in range(t * slots // parts, (t + 1) * slots // parts):
        c = component[s]
        if c < 0 or not ready[c] or other[s] < 0:
            continue
        if chosen[c] < 0 or _is_better(s, chosen[c], row, other, weight, square):
            chosen[c] = s
    for c in range(len(chosen)):
        lightest[t, c] = chosen[c]


@inner
def _is_better(s: int, rival: int, row: Indices, other: Indices, weight: Array, square: Array) -> bool:
    if _less(weight[rival], square[rival], weight[s], square[s]):
        return False
    if weight[s] == weight[rival] and square[s] == square[rival]:
        a, b = row[s], row[other[s]]
        e, f = row[rival], row[other[rival]]
        low, rival_low = min(a, b), min(e, f)
        if low > rival_low or (low == rival_low and max(a, b) >= max(e, f)):
            return False
    return True


@njit
def merge(
    row: Indices,
    component: Indices,
    other: Indices,
    weight: Array,
    square: Array,
    lightest: Indices,
    sizes: Counts,
    edges: Indices,
    squares: Array,
    made: int,
    parent: Indices,
    renumbered: Indices,
) -> tuple[int, int]:
    """Add the best edge of every component that is ready, and write the new numbers of the components.

    Edges that would close a cycle, which can happen with equal weights, are left out. Returns the numbers of edges and
    of components. `parent` is work space.
    """
    count = len(parent)
    chosen = lightest[0]
    for c in range(count):
        parent[c] = c
        for t in range(1, len(lightest)):
            s = lightest[t, c]
            if s >= 0 and (chosen[c] < 0 or _is_better(s, chosen[c], row, other, weight, square)):
                chosen[c] = s
    for c in range(count):
        s = chosen[c]
        if s >= 0 and join(parent, c, component[other[s]]):
            edges[made, 0], edges[made, 1], squares[made] = row[s], row[other[s]], weight[s]
            made += 1
    number, left = chosen, 0
    for c in range(count):
        number[c] = -1
    for c in range(count):
        root, size = find(parent, c), sizes[c]
        if number[root] < 0:  # numbers are at most c: the sizes that are overwritten have been read
            number[root] = left
            sizes[left] = 0
            left += 1
        renumbered[c] = number[root]
        sizes[number[root]] += size
    return made, left


@njit
def renumber_task(t: int, component: Indices, renumbered: Indices) -> None:
    """Write the new numbers of the components of a task's rows."""
    slots = len(component)
    for s in range(t * slots // TASKS, (t + 1) * slots // TASKS):
        if component[s] >= 0:
            component[s] = renumbered[component[s]]


GUESSES = 12
"""Largest number of guesses, each with a count of the values up to it, before the rest is searched one by one. A guess
is on the straight line between the last two, so three or four suffice unless many of the numbers are equal."""

STEPS = 2
"""Largest number of values below the k-th smallest from which it is reached step by step, each step a pass over all
values."""

MANY = 10
"""Values between two guesses from which on a straight line between them is likely to miss by more than one."""

GROWTH = 4.0
"""Largest factor from a guess to the next one while all are too small."""

LARGEST = np.int64(0x7FF0000000000000)
"""The bits of infinity."""


@inner
def smallest(values: Array, count: int, k: int) -> float:
    """The k-th smallest of the first `count` values, which it brings to the front together with the smaller ones."""
    low, high, place = 0, count, k - 1
    while high - low > 1:
        a, b, pivot = values[low], values[high - 1], values[low + (high - low) // 2]
        pivot = max(min(a, b), min(max(a, b), pivot))
        below = low
        for i in range(low, high):  # no branch on a value, as in the tree's own selection
            t = values[i]
            values[i] = values[below]
            values[below] = t
            below += t < pivot
        if place < below:
            high = below
            continue
        upto = below
        for i in range(below, high):
            t = values[i]
            values[i] = values[upto]
            values[upto] = t
            upto += t <= pivot
        if place < upto:
            return pivot
        low = upto
    return values[place]


@inner
def count_upto(values: Array, count: int, edge: float) -> int:
    """How many of the first values are not above `edge`."""
    inside = 0
    for i in range(count):
        inside += values[i] <= edge
    return inside


@inner
def _next_above(values: Array, bits: Counts, count: int, low: float) -> np.int64:
    """The least value above `low`, as its bits: numbers that are not negative are in the order of their bits."""
    least = LARGEST
    for i in range(count):
        least = min(least, bits[i] if values[i] > low else LARGEST)
    return least


@inner
def kth_near(values: Array, bits: Counts, count: int, k: int, guess: float, scratch: Array) -> float:
    """The k-th smallest of the first `count` values, which stay where they are: fast if it is near the guess.

    Parameters
    ----------
    values, bits : ndarray of shape (> count,)
        Float64, none negative, at least k of them finite; and the same memory as int64. The place behind them is
        written to.
    count, k : int
    guess : float
    scratch : ndarray of shape (> count,)
    """
    low, below, high, upto = -1.0, 0, np.inf, count
    for _ in range(GUESSES):
        if not low < guess < high:
            break
        smaller = count_upto(values, count, guess)
        if smaller >= k:
            high, upto = guess, smaller
        else:
            low, below = guess, smaller
        if k - below <= STEPS:
            break
        start = max(low, 0.0)
        if high == np.inf:
            guess = start * min((k - 0.5) / max(below, 1), GROWTH)
        else:  # a little below the k-th value, which is then reached by single steps
            aim = max(k - 0.5 * STEPS - (0.5 if upto - below > MANY else 0.0), 0.5 * (below + k))
            guess = start + (high - start) * ((aim - below) / (upto - below))
    if k - below > STEPS:
        inside = 0
        for i in range(count):
            value = values[i]
            scratch[inside] = value
            inside += (value > low) & (value <= high)
        return smallest(scratch, inside, k - below)
    values[count] = low
    while below < k:
        bits[count] = _next_above(values, bits, count, values[count])
        below = below + 1 if below + 1 == k else count_upto(values, count, values[count])
    return values[count]
