"""Edges of proximity graphs: Delaunay triangulation, Euclidean minimum spanning tree, k nearest neighbours.

All functions take distinct points (u, d) and return edges (e, 2) with the smaller index first, no edge twice, in the
order (squared distance, smaller index, larger index). The same order decides every tie. So equal distances, which are
frequent on grids, give the same graph by every algorithm, and the tree is part of the triangulation: the ball whose
diameter is an edge of the tree contains no other point, not even on its surface.

Sources: Yang, Estivill-Castro, Chalup (2002), Support vector clustering through proximity graph modelling, ICONIP:
which graphs; Preparata, Shamos (1985), Computational geometry, sections 5.3 and 6.1: the tree within the triangulation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices
from clusterkit.level_sets.neighbours import TREE_DIMENSIONS
from clusterkit.numerics.spanning_trees.searches import nearest_in_tree, within_radius
from clusterkit.numerics.structures_jit import join
from clusterkit.numerics.threads import over_rows

__all__ = ["delaunay_edges", "knn_edges", "mst_edges"]

TRIANGULATED = 3
"""Number of attributes up to which the spanning tree is taken from a triangulation, whose size grows fast with it."""
FLAT = 1e-9
"""Extent, relative to the largest one, below which points count as lying in fewer dimensions: far above rounding."""
TIE = 1e-9
"""Relative difference of distances that a k-d tree cannot order reliably: ties are decided by exact comparison."""
ROWS = 4096
"""Tied points whose candidates are collected at a time: bounds the memory of the lists of candidates."""


def delaunay_edges(points: Array) -> Indices:
    """Edges of the Delaunay triangulation in the affine hull of the points.

    Parameters
    ----------
    points : ndarray of shape (u, d)
        Distinct points.

    Notes
    -----
    If points lie on one sphere the triangulation is not unique, and the one that qhull finds is taken. If qhull leaves
    out points that are too near to others, the edges of the spanning tree are added. O(u log u) for d <= 2; in 3 and 4
    attributes usually close to that, at worst O(u²).
    """
    edges, complete = _triangulated(points)
    if not complete:
        edges = np.concatenate([edges, _grown(points)])
    return _sorted_edges(points, edges)


def mst_edges(points: Array) -> Indices:
    """The u - 1 edges of the Euclidean minimum spanning tree.

    Parameters
    ----------
    points : ndarray of shape (u, d)
        Distinct points.

    Notes
    -----
    Kruskal's algorithm on the Delaunay triangulation for d <= 3, otherwise Prim's in O(u² d) time and O(u) memory.
    """
    if points.shape[1] <= TRIANGULATED:
        edges, complete = _triangulated(points)
        if complete:
            edges = _sorted_edges(points, edges)
            tree = edges[_joining(edges, np.arange(len(points)))]
            if len(tree) == len(points) - 1:
                return tree
    return _sorted_edges(points, _grown(points))


def knn_edges(points: Array, k: int) -> Indices:
    """Edges between each point and its k nearest others; ties of the k-th distance go to the smaller index.

    Parameters
    ----------
    points : ndarray of shape (u, d)
        Distinct points.
    k : int
        Neighbours of each point, at least 1; more than u - 1 means all others.

    Notes
    -----
    O(u k log u) in few dimensions, O(u² d) in many; O(u k) memory.
    """
    u = len(points)
    k = min(k, u - 1)
    if k < 1:
        return np.empty((0, 2), dtype=np.int64)
    points = np.ascontiguousarray(points, dtype=np.float64)
    neighbours = np.empty((u, k), dtype=np.int64)
    if points.shape[1] <= TREE_DIMENSIONS and k + 1 < u:
        _tree_neighbours(points, k, neighbours)
    else:
        every_point = np.arange(u)
        over_rows(
            lambda start, stop: _all_neighbours(points, start, stop, every_point, neighbours), u, u * points.shape[1]
        )
    return _sorted_edges(points, np.stack([np.repeat(np.arange(u), k), neighbours.reshape(-1)], axis=1))


def _tree_neighbours(points: Array, k: int, neighbours: Indices) -> None:
    """Write the k nearest others of each point to `neighbours` (u, k), with candidates from a k-d tree."""
    from scipy.spatial import KDTree

    tree = KDTree(points)
    # the point itself, k others, and one more, which shows whether the k-th distance is tied
    distances, candidates = nearest_in_tree(tree, points, k + 2)
    tied = np.flatnonzero(distances[:, -1] <= distances[:, -2] * (1.0 + TIE))
    _row_neighbours(points, candidates[:, :-1].astype(np.int64), neighbours)
    for start in range(0, len(tied), ROWS):
        rows = tied[start : start + ROWS]
        balls = within_radius(tree, points[rows], distances[rows, -2] * (1.0 + TIE))
        for row, ball in zip(rows, balls, strict=True):
            _all_neighbours(points, row, row + 1, np.array(ball, dtype=np.int64), neighbours)


def _triangulated(points: Array) -> tuple[Indices, bool]:
    """Edges of the triangulation, unordered, and whether every point is one of its corners."""
    from scipy.spatial import Delaunay, QhullError

    u, d = points.shape
    if u == 1:
        return np.empty((0, 2), dtype=np.int64), True
    shifted = points - points[0]
    _, extents, axes = np.linalg.svd(shifted - shifted.mean(axis=0), full_matrices=False)
    rotated = shifted @ axes.T
    rank = max(1, int((extents > FLAT * extents[0]).sum()))
    while rank > 1:
        if u == rank + 1:
            return np.stack(np.triu_indices(u, 1), axis=1), True
        try:
            # points of full dimension are not rotated, because a rotation rounds
            corners = Delaunay(shifted if rank == d else rotated[:, :rank]).simplices
        except QhullError:
            rank -= 1
            continue
        edges = np.concatenate([corners[:, [a, b]] for a in range(rank + 1) for b in range(a)])
        present = np.zeros(u, dtype=bool)
        present[edges] = True
        return edges, bool(present.all())
    order = np.argsort(rotated[:, 0], kind="stable")
    return np.stack([order[:-1], order[1:]], axis=1), True


def _sorted_edges(points: Array, edges: Indices) -> Indices:
    """Each edge once, in the order of (squared distance, smaller index, larger index)."""
    edges = np.sort(np.asarray(edges, dtype=np.int64).reshape(-1, 2), axis=1)
    keys = np.unique(edges[:, 0] * len(points) + edges[:, 1])
    edges = np.stack([keys // len(points), keys % len(points)], axis=1)
    squares = np.zeros(len(edges))
    _squares(np.ascontiguousarray(points, dtype=np.float64), edges, squares)
    return np.ascontiguousarray(edges[np.argsort(squares, kind="stable")])


def _grown(points: Array) -> Indices:
    """The spanning tree by Prim's algorithm, (u - 1, 2)."""
    edges = np.empty((len(points) - 1, 2), dtype=np.int64)
    _prim(np.ascontiguousarray(points, dtype=np.float64), edges)
    return edges


@njit
def _square(points: Any, i: Any, j: Any) -> Any:
    """Squared distance: the same bits for every caller, and for (j, i)."""
    total = 0.0
    for c in range(points.shape[1]):
        difference = points[i, c] - points[j, c]
        total += difference * difference
    return total


@njit
def _squares(points: Any, edges: Any, squares: Any) -> Any:
    for e in range(len(edges)):
        squares[e] = _square(points, edges[e, 0], edges[e, 1])


@njit
def _joining(edges: Any, parent: Any) -> Any:
    """Whether each edge joins two of the disjoint sets `parent`, if the edges are taken in their order."""
    joins = np.zeros(len(edges), dtype=np.bool_)
    for e in range(len(edges)):
        joins[e] = join(parent, edges[e, 0], edges[e, 1])
    return joins


@njit
def _sooner(a: Any, i: Any, j: Any, b: Any, k: Any, l: Any) -> Any:  # noqa: E741
    """Whether edge (i, j) of squared length a comes before (k, l) of squared length b."""
    if a != b:
        return a < b
    first, second = min(i, j), min(k, l)
    return first < second or (first == second and max(i, j) < max(k, l))


@njit
def _prim(points: Any, edges: Any) -> Any:
    """Write the spanning tree by Prim's algorithm from point 0 to `edges` (u - 1, 2)."""
    u = len(points)
    left, near, squares = np.arange(1, u), np.zeros(u, dtype=np.int64), np.empty(u)
    for v in range(u):
        squares[v] = _square(points, 0, v)
    for e in range(u - 1):
        # the points not in the tree yet are at the front of `left`
        count, best = u - 1 - e, 0
        for n in range(1, count):
            v, w = left[n], left[best]
            if _sooner(squares[v], v, near[v], squares[w], w, near[w]):
                best = n
        new = left[best]
        edges[e, 0], edges[e, 1] = near[new], new
        left[best] = left[count - 1]
        for n in range(count - 1):
            v = left[n]
            square = _square(points, new, v)
            if _sooner(square, v, new, squares[v], v, near[v]):
                squares[v], near[v] = square, new


@njit
def _nearest(points: Any, i: Any, candidates: Any, row: Any, lengths: Any) -> Any:
    """Fill `row` with the candidates nearest to point i, except i, the nearest first, ties by index."""
    count, k = 0, len(row)
    for j in candidates:
        if j == i:
            continue
        square = _square(points, i, j)
        if count == k:
            if square > lengths[k - 1] or (square == lengths[k - 1] and j > row[k - 1]):
                continue
        else:
            count += 1
        place = count - 1
        while place > 0 and (lengths[place - 1] > square or (lengths[place - 1] == square and row[place - 1] > j)):
            lengths[place], row[place] = lengths[place - 1], row[place - 1]
            place -= 1
        lengths[place], row[place] = square, j


@njit
def _all_neighbours(points: Any, start: Any, stop: Any, candidates: Any, neighbours: Any) -> Any:
    """Write the neighbours of points start..stop-1 among the same candidates to `neighbours` (u, k)."""
    lengths = np.empty(neighbours.shape[1])
    for i in range(start, stop):
        _nearest(points, i, candidates, neighbours[i], lengths)


@njit
def _row_neighbours(points: Any, candidates: Any, neighbours: Any) -> Any:
    """Write the neighbours of every point i among ``candidates[i]`` to `neighbours` (u, k)."""
    lengths = np.empty(neighbours.shape[1])
    for i in range(len(points)):
        _nearest(points, i, candidates[i], neighbours[i], lengths)
