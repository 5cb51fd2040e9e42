"""The hierarchy of a spanning tree, in which merges of equal height are one node, and clusters cut off from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clusterkit._jit import inner, njit
from clusterkit._typing import Array, Counts, Indices, Labels, Mask

__all__ = ["Hierarchy", "cut_off", "hierarchy", "trunks"]


class Hierarchy(NamedTuple):
    """Nodes 0..n-1 are the rows, and node n + i a merge at ``height[n + i]``; the last node is the root.

    A parent has a higher number than its children and is higher than they are; rows have height 0. `size` counts rows,
    and `first` is the lowest row below a node. The parent of the root is -1. Whole numbers have 32 bits, which halves
    the memory that the sweeps over the nodes read in no order.
    """

    parent: Indices
    height: Array
    size: Counts
    first: Indices


def hierarchy(merges: Indices, heights: Array) -> Hierarchy:
    """The hierarchy of n - 1 merges (n - 1, 2) by ascending height; any number of children of one height is one node.

    Which of several spanning trees of equal weight is given makes no difference.
    """
    n = len(merges) + 1
    nodes = 2 * n - 1
    parent, height = np.full(nodes, -1, np.int32), np.zeros(nodes)
    size, first = np.ones(nodes, np.int32), np.arange(nodes, dtype=np.int32)
    # the lowest row of a set holds -1 - the node of the set, every other one a lower row of it
    link = np.arange(-1, -n - 1, -1, dtype=np.int32)
    ties = _merge(merges, heights, parent, height, size, first, link)
    if ties:
        room = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
        nodes = _without_ties(n, parent, height, size, first, *room)
    return Hierarchy(parent[:nodes], height[:nodes], size[:nodes], first[:nodes])


@njit
def _merge(
    merges: Indices, heights: Array, parent: Indices, height: Array, size: Counts, first: Indices, link: Indices
) -> bool:
    """Write the nodes of the merges, and return whether any has a child of its height."""
    n = len(merges) + 1
    ties, begin = False, 0
    for i in range(n - 1):
        if heights[i] > heights[begin]:
            begin = i
        a, b = _lowest(link, merges[i, 0]), _lowest(link, merges[i, 1])
        low, high = min(a, b), max(a, b)
        u, v, node = -1 - link[low], -1 - link[high], n + i
        parent[u], parent[v] = node, node
        height[node], size[node], first[node] = heights[i], size[u] + size[v], low
        ties |= max(u, v) >= n + begin
        link[high] = low
        link[low] = -1 - node
    return ties


@inner
def _lowest(link: Indices, i: int) -> int:
    """The lowest row of the set of row i. The path is halved on the way."""
    while link[i] >= 0:
        up = link[i]
        if link[up] >= 0:
            link[i] = link[up]
        i = up
    return i


@njit
def _without_ties(
    n: int, parent: Indices, height: Array, size: Counts, first: Indices, same: Indices, number: Indices
) -> int:
    """Make a merge of n rows at the height of its parent the same node; how many nodes are left, at the front."""
    for v in range(len(parent) - 1, -1, -1):
        p = parent[v]
        same[v] = same[p] if v >= n and p >= 0 and height[p] == height[v] else v
    count = 0
    for v in range(len(parent)):
        if same[v] == v:
            number[v] = count
            count += 1
    for v in range(len(parent)):
        if same[v] == v:  # its number is at most v: what is overwritten has been read
            u, p = number[v], parent[v]
            height[u], size[u], first[u] = height[v], size[v], first[v]
            parent[u] = number[same[p]] if p >= 0 else -1
    return count


@njit
def trunks(tree: Hierarchy) -> Indices:
    """The child of each node that the others are cut off from: the largest, of equal ones that with the lowest row."""
    trunk = np.full(len(tree.parent), -1)
    for v in range(len(tree.parent) - 1):
        p = tree.parent[v]
        u = trunk[p]
        if u < 0 or tree.size[v] > tree.size[u] or (tree.size[v] == tree.size[u] and tree.first[v] < tree.first[u]):
            trunk[p] = v
    return trunk


@njit
def cut_off(tree: Hierarchy, cuts: Mask, n: int) -> Labels:
    """For each row its lowest ancestor, or itself, that is cut off; else the root."""
    root = len(tree.parent) - 1
    owner = np.empty(root + 1, np.int64)
    owner[root] = root
    for v in range(root - 1, -1, -1):
        owner[v] = v if cuts[v] else owner[tree.parent[v]]
    return owner[:n]
