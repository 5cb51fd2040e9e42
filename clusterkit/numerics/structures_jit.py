"""Compiled data structures: disjoint sets, tables of rows, heaps, and orders of pairs and of values.

Disjoint sets (union-find) say which elements have been joined, directly or through others. Rows of one matrix are found
in another by hashing instead of sorting, O(n d). A binary heap is a stretch of two arrays, the least key first; one
entry is moved to its place (`sift_down`, `sift_up`). Pairs are put in order by buckets (`ordered_pairs`) and values by
merging (`ascending`), on all cores with the result of one.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clusterkit._jit import inner, njit
from clusterkit._typing import Array, Counts, Indices
from clusterkit.numerics.threads import over_rows


@inner
def find(parent: Indices, i: int) -> int:
    """The root of the set of element i; `parent` (n,) must start as ``arange(n)``. The path is halved on the way."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@inner
def join(parent: Indices, i: int, j: int) -> bool:
    """Unite the sets of i and j; return whether they were two sets.

    The smaller root remains the root, so that the final roots do not depend on the order of the calls.
    """
    a, b = find(parent, i), find(parent, j)
    if a == b:
        return False
    if a < b:
        parent[b] = a
    else:
        parent[a] = b
    return True


@njit
def roots(parent: Indices) -> Indices:
    """Replace the entry of every element by the root of its set."""
    for i in range(len(parent)):
        parent[i] = find(parent, i)
    return parent


def number_sets(roots: Indices, values: Array) -> tuple[Indices, Indices, Indices]:
    """Disjoint sets by their roots (n,): the number of each element's set, (n,), in the order of the roots, and sizes.

    Third is the element of the largest value in each set, of several the last. O(n); values (n,) are no NaN.
    """
    number, sizes, largest = np.zeros(len(roots), np.intp), np.zeros(len(roots), np.intp), np.zeros(len(roots), np.intp)
    count = _number_sets(roots, values, number, sizes, largest)
    return number, sizes[:count].copy(), largest[:count].copy()


@njit
def _number_sets(roots: Any, values: Any, number: Any, sizes: Any, largest: Any) -> Any:
    for i in range(len(roots)):
        number[roots[i]] = 1
    count = 0
    for i in range(len(roots)):
        if number[i]:
            number[i] = count
            count += 1
    for i in range(len(roots)):  # the number of a root is written twice, and is the same
        number[i] = c = number[roots[i]]
        sizes[c] += 1
        if sizes[c] == 1 or values[i] >= values[largest[c]]:
            largest[c] = i
    return count


def find_rows(rows: Array, Y: Array) -> Indices:
    """For each row of Y (p, d) the index of the first equal row of `rows` (u, d), or -1; O((u + p) d)."""
    rows, Y = (np.ascontiguousarray(points, dtype=np.float64) for points in (rows, Y))
    if rows.shape[1] != Y.shape[1]:
        raise ValueError(f"rows of {Y.shape[1]} numbers among rows of {rows.shape[1]}")
    table = _table(len(rows))
    matches = np.empty(len(Y), dtype=np.intp)
    _lookup(rows, Y, table, matches)
    return matches


def _table(n: int) -> NDArray[np.intp]:
    """An empty hash table, at most half full with n rows; its length is a power of 2."""
    return np.full(1 << max(4, (2 * n).bit_length()), -1, dtype=np.intp)


@inner
def _hash(Y: Any, i: Any) -> Any:
    """FNV hash of the bits of a row, mixed afterwards, because neighbouring numbers differ in few bits."""
    code = np.uint64(14695981039346656037)
    for c in range(Y.shape[1]):
        bits = np.float64(Y[i, c] + 0.0).view(np.uint64)
        code = (code ^ bits) * np.uint64(1099511628211)
        code ^= code >> np.uint64(29)
    code = (code ^ (code >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return code ^ (code >> np.uint64(31))


@inner
def _place(Y: Any, i: Any, rows: Any, table: Any) -> Any:
    """The place of a row equal to row i of Y in the table, or the free place where that row belongs."""
    mask = np.uint64(len(table) - 1)
    place = _hash(Y, i) & mask
    while table[place] >= 0:
        other, c = table[place], 0
        while c < Y.shape[1] and Y[i, c] == rows[other, c]:
            c += 1
        if c == Y.shape[1]:
            break
        place = (place + np.uint64(1)) & mask
    return place


@njit
def _lookup(rows: Any, Y: Any, table: Any, matches: Any) -> Any:
    for i in range(len(rows)):
        place = _place(rows, i, rows, table)
        if table[place] < 0:
            table[place] = i
    for i in range(len(Y)):
        matches[i] = table[_place(Y, i, rows, table)]


@njit
def sift_down(keys: Array, rows: Indices, start: int, length: int, at: int) -> None:
    """Move entry `at` of the heap of `length` entries from `start` on below the smaller ones; O(log length)."""
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
def sift_up(keys: Array, rows: Indices, start: int, at: int) -> None:
    """Move entry `at` of the heap from `start` on above the larger ones; O(log at)."""
    key, row = keys[start + at], rows[start + at]
    while at > 0:
        parent = (at - 1) // 2
        if keys[start + parent] <= key:
            break
        keys[start + at], rows[start + at] = keys[start + parent], rows[start + parent]
        at = parent
    keys[start + at], rows[start + at] = key, row


STEPS = 20
"""Cost of a pair or a value in nanoseconds, for the choice of the ranges of the threads."""


def ordered_pairs(pairs: Indices, n: int) -> tuple[Indices, Indices]:
    """Each unordered pair of row numbers once, and where it is first, as `neighbour_graph.unique_pairs`; O(n + e).

    Pairs are put into a bucket for each lower number. Then buckets are sorted independently of each other, in threads.
    A bucket of b pairs takes O(b) if they are few, and at most O(b^(4/3)).
    """
    start = np.zeros(n + 1, dtype=np.int64)
    keys, bits = np.empty(len(pairs), dtype=np.int64), len(pairs).bit_length()
    _fill_buckets(pairs, start, keys, bits)
    work = STEPS * max(1, len(pairs) // max(1, n))
    counts = np.empty(n, dtype=np.int64)
    over_rows(lambda first, last: _sort_buckets(first, last, start, keys, bits, counts), n, work)
    to = np.concatenate([[0], np.cumsum(counts)])
    unique, position = np.empty((to[-1], 2), dtype=np.int64), np.empty(to[-1], dtype=np.intp)
    over_rows(lambda first, last: _empty_buckets(first, last, start, keys, bits, to, unique, position), n, work)
    return unique, position


@njit
def _fill_buckets(pairs: Any, start: Any, keys: Any, bits: Any) -> None:
    """Write the keys of all pairs, the higher number before the position, bucket by bucket, and where buckets start."""
    for e in range(len(pairs)):
        start[min(pairs[e, 0], pairs[e, 1])] += 1
    total = 0
    for i in range(len(start)):
        total += start[i]
        start[i] = total
    for e in range(len(pairs) - 1, -1, -1):
        i, j = pairs[e, 0], pairs[e, 1]
        low = min(i, j)
        start[low] -= 1
        keys[start[low]] = (max(i, j) << bits) | e


@njit
def _sort_buckets(first: Any, last: Any, start: Any, keys: Any, bits: Any, counts: Any) -> None:
    """Sort the keys of the buckets from `first` to `last` by Shell's method, and count their different pairs."""
    for bucket in range(first, last):
        low, high = start[bucket], start[bucket + 1]
        gap = 1
        while 9 * gap < high - low:
            gap = 3 * gap + 1
        while gap > 0:
            for at in range(low + gap, high):
                key, place = keys[at], at
                while place >= low + gap and keys[place - gap] > key:
                    keys[place] = keys[place - gap]
                    place -= gap
                keys[place] = key
            gap //= 3
        count = 0
        for at in range(low, high):
            count += at == low or keys[at] >> bits != keys[at - 1] >> bits
        counts[bucket] = count


@njit
def _empty_buckets(
    first: Any, last: Any, start: Any, keys: Any, bits: Any, to: Any, unique: Any, position: Any
) -> None:
    """Write the different pairs of sorted buckets from place ``to[bucket]`` on, with their first positions."""
    for bucket in range(first, last):
        place = to[bucket]
        for at in range(start[bucket], start[bucket + 1]):
            if at == start[bucket] or keys[at] >> bits != keys[at - 1] >> bits:
                unique[place, 0], unique[place, 1] = bucket, keys[at] >> bits
                position[place] = keys[at] & ((1 << bits) - 1)
                place += 1


def edges_in_order(edges: Indices, order: Indices) -> Indices:
    """The edges (e, 2) in an order, the lower end of each first, in threads where they are many."""
    ordered = np.empty((len(order), 2), dtype=np.int64)
    over_rows(partial(_lower_first, edges, order, ordered), len(order), STEPS)
    return ordered


@njit
def _lower_first(edges: Any, order: Any, ordered: Any, first: Any, last: Any) -> None:
    for place in range(first, last):
        a, b = edges[order[place], 0], edges[order[place], 1]
        ordered[place, 0], ordered[place, 1] = min(a, b), max(a, b)


@njit
def row_products(values: Array, columns: Indices, starts: Indices, x: Array, products: Array) -> None:
    """Write the products of a sparse matrix (n, n), row by row, with a vector."""
    for i in range(len(products)):
        total = 0.0
        for at in range(starts[i], starts[i + 1]):
            total += values[at] * x[columns[at]]
        products[i] = total


SHORT = 32
"""Equal values up to which their edges are put in order one by one."""


def ties_in_order(ranked: Array, edges: Indices, order: Indices) -> Indices:
    """Put short runs of edges of equal weight in the order of their (lower, higher) ends; the places of long ones."""
    long = np.zeros(len(ranked), dtype=np.bool_)
    over_rows(partial(_sort_ties, ranked, edges, order, long), len(ranked), STEPS)
    return np.flatnonzero(long)


@njit
def _sort_ties(ranked: Any, edges: Any, order: Any, long: Any, first: Any, last: Any) -> None:
    """Sort the runs that begin from `first` to `last`, or mark their places where they are long."""
    begin = first
    while begin < last and begin > 0 and ranked[begin] == ranked[begin - 1]:
        begin += 1
    while begin < last:
        end = begin + 1
        while end < len(ranked) and ranked[end] == ranked[begin]:
            end += 1
        if end - begin > SHORT:
            for place in range(begin, end):
                long[place] = True
        else:
            for at in range(begin + 1, end):
                edge, place = order[at], at
                low, high = min(edges[edge, 0], edges[edge, 1]), max(edges[edge, 0], edges[edge, 1])
                while place > begin:
                    a, b = edges[order[place - 1], 0], edges[order[place - 1], 1]
                    if min(a, b) < low or (min(a, b) == low and max(a, b) <= high):
                        break
                    order[place] = order[place - 1]
                    place -= 1
                order[place] = edge
        begin = end


PIECE = 2**15
"""Values that are sorted at once: they and their order stay in the cache."""


def ascending(values: Array, kind: Literal["stable", "quicksort"] = "stable") -> Indices:
    """The stable order of values (e,) that are no NaN: ``np.argsort(values, kind="stable")``, in threads.

    Pieces are sorted, and two neighbouring ones merged until one is left; each range of the result is merged by itself.
    "quicksort" is twice as fast, and leaves the order of equal values in a piece open.
    """
    e = len(values)
    if e <= PIECE:
        return np.argsort(values, kind=kind)
    order, keys = np.empty(e, dtype=np.intp), np.empty(e)

    def sort(first: int, last: int) -> None:
        for piece in range(first, last):
            rows = slice(piece * PIECE, min(e, (piece + 1) * PIECE))
            inside = np.argsort(values[rows], kind=kind)
            order[rows], keys[rows] = inside + rows.start, values[rows][inside]

    over_rows(sort, -(-e // PIECE), 4 * STEPS * PIECE)
    others, other_keys, width = np.empty_like(order), np.empty_like(keys), PIECE
    while width < e:
        over_rows(partial(_merge, width, keys, order, other_keys, others), e, STEPS)
        order, others, keys, other_keys, width = others, order, other_keys, keys, 2 * width
    return order


@njit
def _merge(width: Any, keys: Any, order: Any, to_keys: Any, to_order: Any, first: Any, last: Any) -> None:
    """Write the entries `first` to `last` of the merged pairs of sorted stretches, each of `width` entries."""
    at = first
    while at < last:
        left = at - at % (2 * width)
        middle, end = min(len(keys), left + width), min(len(keys), left + 2 * width)
        # how many of the entries before are of the left stretch, which comes first among equal ones
        low, high = max(0, at - left - (end - middle)), min(at - left, middle - left)
        while low < high:
            half = (low + high) // 2
            if keys[left + half] <= keys[middle + at - left - half - 1]:
                low = half + 1
            else:
                high = half
        i, j = left + low, middle + at - left - low
        for place in range(at, min(last, end)):
            if j >= end or (i < middle and keys[i] <= keys[j]):
                to_keys[place], to_order[place] = keys[i], order[i]
                i += 1
            else:
                to_keys[place], to_order[place] = keys[j], order[j]
                j += 1
        at = min(last, end)


@njit
def persistence(merges: Indices, heights: Array, birth: Array) -> tuple[Array, Counts]:
    """Persistence ``ln(height / birth)`` of the younger cluster of each merge, and the rows of the smaller, (n - 1,).

    The merges (n - 1, 2) are in the order of their heights. Each row is born at ``birth > 0``, and a cluster at the
    least birth of its rows.
    """
    n = len(birth)
    parent, size, born = np.arange(n), np.ones(n, np.int64), birth.copy()
    lasted, side = np.zeros(n - 1), np.zeros(n - 1, np.int64)
    for e in range(n - 1):
        a, b = find(parent, merges[e, 0]), find(parent, merges[e, 1])
        later = max(born[a], born[b])
        if heights[e] > later:
            lasted[e] = np.log(heights[e] / later)
        side[e] = min(size[a], size[b])
        rows, first = size[a] + size[b], min(born[a], born[b])
        join(parent, a, b)
        root = find(parent, a)
        size[root], born[root] = rows, first
    return lasted, side
