"""Binary heaps in a stretch of two arrays, the least key first: one entry moved to its place."""

from __future__ import annotations

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices

__all__ = ["sift_down", "sift_up"]


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
