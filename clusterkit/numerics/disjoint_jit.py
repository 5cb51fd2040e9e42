"""Disjoint sets of elements (union-find): which elements have been joined, directly or through others."""

from __future__ import annotations

from clusterkit._jit import inner, njit
from clusterkit._typing import Indices

__all__ = ["find", "join", "roots"]


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
