"""Compiled data structures: disjoint sets, tables of rows, and heaps.

Disjoint sets (union-find) say which elements have been joined, directly or through others. Rows of one matrix are found
in another by hashing instead of sorting, O(n d). A binary heap is a stretch of two arrays, the least key first; one
entry is moved to its place (`sift_down`, `sift_up`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clusterkit._jit import inner, njit
from clusterkit._typing import Array, Indices
from clusterkit.numerics.sparse_rows import Rows, SparseRows

__all__ = [
    "find",
    "find_rows",
    "join",
    "roots",
    "sift_down",
    "sift_up",
]


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


def find_rows(rows: Rows, Y: Rows) -> Indices:
    """For each row of Y (p, d) the index of the first equal row of `rows` (u, d), or -1; O((u + p) d)."""
    if isinstance(rows, SparseRows):
        assert isinstance(Y, SparseRows)
        return rows.find(Y)
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
