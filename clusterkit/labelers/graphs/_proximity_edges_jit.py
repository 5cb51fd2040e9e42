"""Edges of proximity graphs: Delaunay triangulation, Euclidean minimum spanning tree, k nearest neighbours.

All take distinct points (u, d) and give edges (e, 2) with the smaller index first, no edge twice, in the order
(squared distance, smaller index, larger index). The same order decides every tie, so that equal distances, of which
grids are full, give one graph whatever way it is found, and the tree is part of the triangulation: the ball whose
diameter is an edge of the tree holds no other point, not even on its surface.

Sources: Yang, Estivill-Castro, Chalup (2002), Support vector clustering through proximity graph modelling, ICONIP:
which graphs; Preparata, Shamos (1985), Computational geometry, sections 5.3 and 6.1: the tree within the triangulation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array
from clusterkit.level_sets.neighbours import TREE_DIMENSIONS
from clusterkit.numerics.disjoint_jit import join
from clusterkit.numerics.threads import available, over_rows

__all__ = ["delaunay_edges", "knn_edges", "mst_edges"]

TRIANGULATED = 3
"""Attributes up to which the spanning tree comes from a triangulation, whose size grows fast with them."""
FLAT = 1e-9
"""Extent, relative to the largest, below which points count as lying in fewer dimensions."""


def delaunay_edges(points: Array) -> Array:
    """Edges of the Delaunay triangulation in the affine hull of the points.

    Parameters
    ----------
    points : ndarray of shape (u, d)
        Distinct.

    Notes
    -----
    Where points lie on one sphere the triangulation is not unique, and the one that qhull finds is taken. Points too
    near to others for it get the edges of the spanning tree. O(u log u) for d <= 2; in 3 and 4 attributes mostly
    near that, at worst O(u²).
    """
    edges, complete = _triangulated(points)
    if not complete:
        edges = np.concatenate([edges, _grown(points)])
    return _sorted_edges(points, edges)


def mst_edges(points: Array) -> Array:
    """The u - 1 edges of the Euclidean minimum spanning tree.

    Parameters
    ----------
    points : ndarray of shape (u, d)
        Distinct.

    Notes
    -----
    Kruskal's method on the Delaunay triangulation for d <= 3. Otherwise Prim's, O(u² d) time and O(u) memory.
    """
    if points.shape[1] <= TRIANGULATED:
        edges, complete = _triangulated(points)
        if complete:
            edges = _sorted_edges(points, edges)
            tree = edges[_first_joins(edges, np.arange(len(points)))]
            if len(tree) == len(points) - 1:
                return tree
    return _sorted_edges(points, _grown(points))


def knn_edges(points: Array, k: int) -> Array:
    """Edges between each point and its k nearest others; ties of the k-th distance go to the smaller index.

    Parameters
    ----------
    points : ndarray of shape (u, d)
        Distinct.
    k : int
        At least 1; all others, where there are no more.

    Notes
    -----
    O(u k log u) in few dimensions, O(u² d) in many; O(u k) memory.
    """
    u = len(points)
    k = min(k, u - 1)
    if k < 1:
        return np.empty((0, 2), dtype=np.int64)
    points = np.ascontiguousarray(points, dtype=np.float64)
    found = np.empty((u, k), dtype=np.int64)
    if points.shape[1] <= TREE_DIMENSIONS and k + 1 < u:
        _tree_neighbours(points, k, found)
    else:
        everyone = np.arange(u)
        over_rows(lambda start, stop: _all_neighbours(points, start, stop, everyone, found), u, u * points.shape[1])
    return _sorted_edges(points, np.stack([np.repeat(np.arange(u), k), found.reshape(-1)], axis=1))


def _tree_neighbours(points: Array, k: int, found: Array) -> None:
    from scipy.spatial import KDTree

    tree = KDTree(points)
    # itself, k others, and one more that tells whether the k-th is one of several
    distances, neighbours = tree.query(points, k=k + 2, workers=available())
    tied = np.flatnonzero(distances[:, -1] <= distances[:, -2] * (1.0 + FLAT))
    _own_neighbours(points, neighbours[:, :-1].astype(np.int64), found)
    for start in range(0, len(tied), 4096):
        rows = tied[start : start + 4096]
        balls = tree.query_ball_point(points[rows], distances[rows, -2] * (1.0 + FLAT), workers=available())
        for row, ball in zip(rows, balls, strict=True):
            _all_neighbours(points, row, row + 1, np.array(ball, dtype=np.int64), found)


def _triangulated(points: Array) -> tuple[Array, bool]:
    """Edges of the triangulation in no particular order, and whether every point is in it."""
    from scipy.spatial import Delaunay, QhullError

    u, d = points.shape
    if u == 1:
        return np.empty((0, 2), dtype=np.int64), True
    whole = points - points[0]
    _, extents, axes = np.linalg.svd(whole - whole.mean(axis=0), full_matrices=False)
    rotated = whole @ axes.T
    rank = max(1, int((extents > FLAT * extents[0]).sum()))
    while rank > 1:
        if u == rank + 1:
            return np.stack(np.triu_indices(u, 1), axis=1), True
        try:
            # as they are where nothing is flat: a rotation rounds
            corners = Delaunay(whole if rank == d else rotated[:, :rank]).simplices
        except QhullError:
            rank -= 1
            continue
        edges = np.concatenate([corners[:, [a, b]] for a in range(rank + 1) for b in range(a)])
        present = np.zeros(u, dtype=bool)
        present[edges] = True
        return edges, bool(present.all())
    order = np.argsort(rotated[:, 0], kind="stable")
    return np.stack([order[:-1], order[1:]], axis=1), True


def _sorted_edges(points: Array, edges: Array) -> Array:
    """Each edge once, in the order of (squared distance, smaller index, larger index)."""
    edges = np.sort(np.asarray(edges, dtype=np.int64).reshape(-1, 2), axis=1)
    keys = np.unique(edges[:, 0] * len(points) + edges[:, 1])
    edges = np.stack([keys // len(points), keys % len(points)], axis=1)
    squares = np.zeros(len(edges))
    _squares(np.ascontiguousarray(points, dtype=np.float64), edges, squares)
    return np.ascontiguousarray(edges[np.argsort(squares, kind="stable")])


def _grown(points: Array) -> Array:
    edges = np.empty((len(points) - 1, 2), dtype=np.int64)
    _prim(np.ascontiguousarray(points, dtype=np.float64), edges)
    return edges


@njit
def _square(points: Any, i: Any, j: Any) -> Any:
    """Squared distance; the same bits whoever asks, and for (j, i)."""
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
def _first_joins(edges: Any, parent: Any) -> Any:
    """Which edges join two sets, taken in their order."""
    kept = np.zeros(len(edges), dtype=np.bool_)
    for e in range(len(edges)):
        kept[e] = join(parent, edges[e, 0], edges[e, 1])
    return kept


@njit
def _sooner(a: Any, i: Any, j: Any, b: Any, k: Any, l: Any) -> Any:  # noqa: E741
    """Whether edge (i, j) of squared length a comes before (k, l) of squared length b."""
    if a != b:
        return a < b
    low, other = min(i, j), min(k, l)
    return low < other or (low == other and max(i, j) < max(k, l))


@njit
def _prim(points: Any, edges: Any) -> Any:
    """Prim's method from point 0."""
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
    """Fill the row with the candidates nearest to point i, itself left out, the nearest first."""
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
def _all_neighbours(points: Any, start: Any, stop: Any, candidates: Any, found: Any) -> Any:
    """Neighbours of points start..stop-1 among the same candidates."""
    lengths = np.empty(found.shape[1])
    for i in range(start, stop):
        _nearest(points, i, candidates, found[i], lengths)


@njit
def _own_neighbours(points: Any, candidates: Any, found: Any) -> Any:
    """Neighbours of every point among a row of candidates each."""
    lengths = np.empty(found.shape[1])
    for i in range(len(points)):
        _nearest(points, i, candidates[i], found[i], lengths)
