"""Exact nearest neighbours with ties decided by the row number, whatever the algorithm and the number of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.numerics.tree_search import nearest_in_tree

__all__ = ["Search", "approximate_neighbours", "neighbour_search"]

TREE_DIMENSIONS = 20
"""Number of attributes up to which a k-d tree is used; in more it looks at nearly all points, and a matrix product of
all pairs is faster."""
SPARE = 4
"""Candidates beyond the neighbours asked for: enough to see where a tie at the last neighbour ends, nearly always."""
TREE_ROUNDING = 1e-9
"""Relative error of the squared distances of a k-d tree that is allowed for."""
PRODUCT_ROUNDING = 1e-12
"""Error of squared distances in their expanded form that is allowed for, relative to the extent of the points."""
BLOCK = 2**24
"""Numbers in a block of distances or differences: 128 MB."""

Candidates = Callable[[Array, int], tuple[Indices, Array]]
"""Candidate rows of each query, (m, c), and a lower bound on the squared distance of all other rows, (m,)."""
Search = Callable[[Array, int], tuple[Array, Indices]]
"""Squared distances and row numbers of the nearest rows of each query, (m, k), ascending."""


def neighbour_search(points: Array) -> Search:
    """The function that finds the exact nearest rows of `points` (u, d), float64.

    Its arguments are queries (m, d) and their number of neighbours k <= u; it gives squared distances, computed from
    differences and therefore exactly 0 for equal rows, and row numbers, both (m, k), ascending. Of equally near rows
    those with the lowest numbers are taken. O((u + m) log u) in few dimensions, O(m u d) in many.

    Examples
    --------
    >>> search = neighbour_search(np.array([[0.0], [1.0], [-1.0], [5.0]]))
    >>> search(np.array([[0.0]]), 2)
    (array([[0., 1.]]), array([[0, 1]]))
    """
    find = _tree(points) if points.shape[1] <= TREE_DIMENSIONS else _products(points)

    def search(queries: Array, k: int) -> tuple[Array, Indices]:
        squared, index = np.empty((len(queries), k)), np.empty((len(queries), k), dtype=np.intp)
        open_queries, count = np.arange(len(queries)), min(k + SPARE, len(points))
        while len(open_queries):
            unsure = []
            rows = max(1, BLOCK // max(1, count * points.shape[1]))
            for start in range(0, len(open_queries), rows):
                block = open_queries[start : start + rows]
                candidates, bound = find(queries[block], count)
                near, order = _exact(queries[block], points, candidates)
                squared[block], index[block] = near[:, :k], order[:, :k]
                if count < len(points):
                    unsure.append(block[near[:, k - 1] >= bound])
            open_queries = np.concatenate(unsure) if unsure else np.empty(0, dtype=np.intp)
            count = min(4 * count, len(points))
        return squared, index

    return search


def _exact(queries: Array, points: Array, candidates: Indices) -> tuple[Array, Indices]:
    """Candidates sorted by their distance, then by their number."""
    candidates = np.sort(candidates, axis=1)
    gaps = points[candidates] - queries[:, None, :]
    squared = np.einsum("ijk,ijk->ij", gaps, gaps)
    order = np.argsort(squared, axis=1, kind="stable")
    return np.take_along_axis(squared, order, axis=1), np.take_along_axis(candidates, order, axis=1)


def _tree(points: Array) -> Candidates:
    from scipy.spatial import KDTree

    # cells split in the middle: faster to build, and no slower to search in the points of clusters
    tree = KDTree(points, balanced_tree=False, compact_nodes=False)

    def find(queries: Array, count: int) -> tuple[Indices, Array]:
        distances, index = nearest_in_tree(tree, queries, count)
        return index, np.square(distances[:, -1]) * (1.0 - TREE_ROUNDING)

    return find


def _products(points: Array) -> Candidates:
    centre = points.mean(axis=0)
    centred = points - centre
    squares = np.einsum("ij,ij->i", centred, centred)
    rounding = PRODUCT_ROUNDING * float(squares.max(initial=0.0))

    def find(queries: Array, count: int) -> tuple[Indices, Array]:
        index, bound = np.empty((len(queries), count), dtype=np.intp), np.empty(len(queries))
        rows = max(1, min(1024, BLOCK // len(points)))
        for start in range(0, len(queries), rows):
            block = slice(start, min(len(queries), start + rows))
            Q = queries[block] - centre
            D = Q @ (-2.0 * centred.T)
            D += squares
            near = np.argpartition(D, count - 1, axis=1)[:, :count] if count < len(points) else None
            index[block] = np.arange(len(points)) if near is None else near
            own_squares = np.einsum("ij,ij->i", Q, Q)
            largest = np.take_along_axis(D, index[block], axis=1).max(axis=1) + own_squares
            bound[block] = largest - rounding - PRODUCT_ROUNDING * own_squares
        return index, bound

    return find


def approximate_neighbours(points: Array, k: int, seed: int) -> tuple[Array, Indices]:
    """Nearest rows of each row of `points` (u, d) by nearest-neighbour descent, the row itself first; some are missed.

    Dong, Charikar, Li (2011), by pynndescent. Squared distances are computed from differences, ties by the row number.

    Raises
    ------
    ModuleNotFoundError
        If pynndescent is not installed.
    """
    from pynndescent import NNDescent

    graph: Any = NNDescent(points, n_neighbors=k, random_state=seed).neighbor_graph[0]
    index = np.asarray(graph, dtype=np.intp)
    # a search that finds too few rows says -1; the row itself then stands for them, an edge that is left out later
    rows = np.arange(len(points))[:, None]
    index = np.where(index < 0, rows, index)
    index[:, -1:] = np.where((index == rows).any(axis=1, keepdims=True), index[:, -1:], rows)
    squared, ordered = np.empty(index.shape), np.empty_like(index)
    step = max(1, BLOCK // max(1, k * points.shape[1]))
    for start in range(0, len(points), step):
        block = slice(start, start + step)
        squared[block], ordered[block] = _exact(points[block], points, index[block])
    return squared, ordered
