"""Disjoint sets: which elements have been joined, directly or through others."""

from __future__ import annotations

from typing import Any

from clusterkit._jit import njit

__all__ = ["find", "join", "roots"]


@njit
def find(parent: Any, i: Any) -> Any:
    """The root of i's set; `parent` (n,) starts as ``arange(n)``. Halves the path on the way."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit
def join(parent: Any, i: Any, j: Any) -> Any:
    """Make one set of two; the smaller root stays, so that the result depends on no order. Whether they were two."""
    a, b = find(parent, i), find(parent, j)
    if a == b:
        return False
    if a < b:
        parent[b] = a
    else:
        parent[a] = b
    return True


@njit
def roots(parent: Any) -> Any:
    """Every element's root, in place."""
    for i in range(len(parent)):
        parent[i] = find(parent, i)
    return parent
