"""The minimum spanning tree of a table of points, masses of its edges, and the nearest row for new rows.

The mass of an edge (`edge_masses`) is how long the clusters last that the edge joins, and how many rows say so. New
rows follow the row that is nearest by mutual reachability (`nearest_by_reachability`).
"""

from __future__ import annotations

import math
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Rng
from clusterkit.numerics.selection import distinct_rows

ALL_PAIRS = 512
"""Rows up to which Prim's algorithm looks at all pairs: about a millisecond, and nothing else has to be compiled."""


@final
@attrs.frozen(eq=False)
class SpanningTree:
    """A minimum spanning tree of n rows.

    Parameters
    ----------
    edges : ndarray of shape (n - 1, 2)
        Indices of the rows that each edge joins, the lower one first.
    weights : ndarray of shape (n - 1,), float64
        Lengths of the edges, ascending; edges of equal length in the order of (lower, higher) row.
    core_distances : ndarray of shape (n,), float64
        Distance of each row to its n_neighbors-th nearest row, itself counted as the first.
    """

    edges: Indices
    weights: Array
    core_distances: Array


def minimum_spanning_tree(X: Array, n_neighbors: int = 1) -> SpanningTree:
    """The minimum spanning tree of the rows of X under ``max(|x_i - x_j|, core_i, core_j)``.

    Parameters
    ----------
    X : ndarray of shape (n, d), float32 or float64
        Finite numbers.
    n_neighbors : int, default 1
        Core distances reach to the n_neighbors-th nearest row, where the row itself is the first, as scikit-learn
        counts. With 1 they are 0 and the tree is the Euclidean one. More than n counts as n.

    Examples
    --------
    >>> import numpy as np
    >>> tree = minimum_spanning_tree(np.array([[0.0], [1.0], [3.0], [3.5]]))
    >>> tree.edges.tolist(), tree.weights.tolist()
    ([[2, 3], [0, 1], [1, 2]], [0.5, 1.0, 2.0])
    """
    X = np.ascontiguousarray(X, dtype=np.float64)
    n, k = len(X), min(n_neighbors, len(X))
    if n <= ALL_PAIRS:
        from clusterkit.numerics.spanning_trees.reach_jit import SQUARED, core_squares, prim

        core = core_squares(X, k)
        edges, squares = prim(X, core, SQUARED)
        return _in_order(edges, squares, core)
    from clusterkit.numerics.spanning_trees.boruvka import Tasks, boruvka, build_tree
    from clusterkit.numerics.spanning_trees.kd_tree_jit import FILTERED

    filtered = X.shape[1] >= FILTERED
    with Tasks(n) as tasks:
        sets = tasks.beside(distinct_rows, X)  # most data have no equal rows, so that the k-d tree is of all
        search = build_tree(X, tasks, filtered)
        first, inverse = sets()
        del sets
        if len(first) == n:
            del first, inverse
            return _in_order(*boruvka(search, k, np.zeros(0, np.int64), tasks))
        del search
        if len(first) > 1:
            search = build_tree(np.ascontiguousarray(X[first]), tasks, filtered)
            edges, squares, core = boruvka(search, k, np.bincount(inverse), tasks)
        else:
            edges, squares, core = np.empty((0, 2), np.int64), np.empty(0), np.zeros(1)
    # every further copy of a row is joined to the first one; no edge of it can be shorter than its core distance
    copies = np.setdiff1d(np.arange(n), first, assume_unique=True)
    hanging = np.stack([first[inverse[copies]], copies], axis=1)
    return _in_order(
        np.concatenate([first[edges], hanging]), np.concatenate([squares, core[inverse[copies]]]), core[inverse]
    )


def tree_of_distances(D: Array, n_neighbors: int = 1) -> SpanningTree:
    """The minimum spanning tree under ``max(D_ij, core_i, core_j)``, from all distances D (n, n); O(n²).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([0.0, 1.0, 3.0, 3.5])
    >>> tree_of_distances(abs(X[:, None] - X)).weights.tolist()
    [0.5, 1.0, 2.0]
    """
    from clusterkit.numerics.spanning_trees.reach_jit import PRECOMPUTED, prim

    D = np.ascontiguousarray(D, dtype=np.float64)
    k = min(n_neighbors, len(D)) - 1
    core = np.partition(D, k, axis=1)[:, k] if k > 0 else np.zeros(len(D))
    edges, weights = prim(D, core, PRECOMPUTED)
    return _in_order(edges, weights, core, squares=False)


QUERIED = 16
"""Rows of a component whose nearest row outside of it is looked for; the shortest of these distances joins it."""


def tree_of_neighbours(X: Array, n_neighbors: int, degree: int, rng: Rng) -> tuple[SpanningTree, dict[str, object]]:
    """The minimum spanning tree of the edges to the nearest rows, and how these were searched.

    Much faster than the tree of all pairs where rows have hundreds of numbers, and the same wherever the path of the
    true tree leads along neighbours. Components of the graph are joined by the nearest rows of some of their rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    n_neighbors : int
        As in `minimum_spanning_tree`.
    degree : int
        Neighbours of a row in the graph.
    rng : Generator

    Returns
    -------
    tree : SpanningTree
    facts : dict
        "neighbours" ("exact", "sketch" or "cells") and "components"; where not all pairs are
        compared "recall".
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    from clusterkit.numerics.neighbour_search import nearest_of, nearest_rows

    n, rows = len(X), np.ascontiguousarray(X, dtype=np.float32)
    if n < 2:
        return SpanningTree(np.empty((0, 2), np.int64), np.empty(0), np.zeros(n)), {"neighbours": "exact"}
    k = min(max(degree, n_neighbors - 1), n - 1)
    near = nearest_rows(rows, np.arange(n), k, rng)
    squares = np.empty((n, k))
    for c in range(k):  # from differences: 0 for equal rows
        gaps = X - X[near.index[:, c]]
        squares[:, c] = np.einsum("ij,ij->i", gaps, gaps, dtype=np.float64)
    core = np.sort(squares, axis=1)[:, min(n_neighbors, n) - 2] if n_neighbors > 1 else np.zeros(n)
    heads, tails = np.repeat(np.arange(n), k), near.index.reshape(-1).astype(np.int64)
    weights = np.maximum(np.maximum(squares.reshape(-1), core[heads]), core[tails])

    def forest() -> tuple[Indices, Array, Indices]:
        # scipy takes weights of 0 for missing edges: ranks take their place, which also decide between equal ones
        order = np.lexsort((np.maximum(heads, tails), np.minimum(heads, tails), weights))
        ends = np.minimum(heads, tails)[order] * np.int64(n) + np.maximum(heads, tails)[order]
        _, first = np.unique(ends, return_index=True)
        ends = ends[first]
        graph = csr_array((first + 1.0, (ends // n, ends % n)), shape=(n, n))
        of_rank = order[minimum_spanning_tree(graph).tocoo().data.astype(np.int64) - 1]
        return np.stack([heads[of_rank], tails[of_rank]], axis=1), weights[of_rank], connected_components(graph)[1]

    edges, lengths, component = forest()
    facts: dict[str, object] = {"neighbours": near.method, "components": int(component.max()) + 1}
    if near.method != "exact":
        facts["recall"] = round(near.recall, 3)
    while component.max() > 0:
        sizes = np.bincount(component)
        smaller = sizes < sizes.max()
        for part in np.flatnonzero(smaller if smaller.any() else np.arange(len(sizes)) > 0):
            members, others = np.flatnonzero(component == part), np.flatnonzero(component != part)
            members = members[:: max(1, len(members) // QUERIED)]
            i, j = members, others[nearest_of(rows[others], rows[members], 1)[1][:, 0]]
            reach = np.maximum(np.maximum(np.square(X[i] - X[j]).sum(axis=1, dtype=np.float64), core[i]), core[j])
            best = int(np.argmin(reach))
            heads, tails = np.append(heads, i[best]), np.append(tails, j[best])
            weights = np.append(weights, reach[best])
        edges, lengths, component = forest()
    return _in_order(edges, lengths, core), facts


def _in_order(edges: Indices, weights: Array, core: Array, squares: bool = True) -> SpanningTree:
    """The tree with its edges sorted by (weight, lower row, higher row).

    Weights and core distances are squares, or the distances themselves.
    """
    from clusterkit.numerics.structures_jit import ascending, edges_in_order, ties_in_order

    order = ascending(weights, "quicksort")
    ranked = weights.take(order)
    places = ties_in_order(ranked, edges, order)
    if len(places):
        moved = order[places]
        low, high = edges[moved].min(axis=1), edges[moved].max(axis=1)
        order[places] = moved[np.lexsort((high, low, weights[moved]))]
    ends = edges_in_order(edges, order)
    return SpanningTree(ends, np.sqrt(ranked), np.sqrt(core)) if squares else SpanningTree(ends, ranked, core)


LEAST_SIDE = 5
"""A side of fewer rows is no cluster, however few rows there are in all: one core neighbourhood."""


def least_side(n: int) -> int:
    """Smallest number of rows on both sides of an edge of the whole tree that has a mass: max(5, round(√n / 2))."""
    return max(LEAST_SIDE, round(math.sqrt(n) / 2))


def nearest_first(rows: Array, edges: Indices, weights: Array, precomputed: bool = False) -> Indices:
    """The order of edges of ascending weights in which those of equal weight come by the distance of their two rows.

    (n - 1,), for rows (n, d), or with `precomputed` their distances (n, n), and edges (n - 1, 2). The order of the rows
    then matters only where distances tie as well.
    """
    order = np.arange(len(weights))
    tied = np.flatnonzero(weights[1:] == weights[:-1])
    inside = np.zeros(len(weights), bool)
    inside[tied], inside[tied + 1] = True, True
    places = np.flatnonzero(inside)
    if precomputed:
        apart = rows[edges[places, 0], edges[places, 1]]
    else:
        one, other = (rows[edges[places, end]].astype(np.float64) for end in (0, 1))
        apart = ((one - other) ** 2).sum(axis=1)
    order[places] = places[np.lexsort((apart, weights[places]))]
    return order


def births(core: Array, weights: Array) -> Array:
    """Core distances with the smallest positive one, or weight, in place of 0; ones if all are 0."""
    for lengths in (core, weights):
        positive = lengths[lengths > 0]
        if len(positive):
            return np.maximum(core, positive.min())
    return np.ones(len(core))


def edge_masses(edges: Indices, weights: Array, birth: Array) -> tuple[Array, Counts]:
    """Mass ``ln(w / b) √s`` of every edge, and s, the rows of its smaller side; both (n - 1,).

    b is the later of the births of the two components that an edge of weight w joins, each the least birth of its rows.

    Parameters
    ----------
    edges : ndarray of int, shape (n - 1, 2)
        Edges in the order of ascending weight.
    weights : ndarray of shape (n - 1,)
    birth : ndarray of shape (n,)
        Result of `births`.
    """
    from clusterkit.numerics.structures_jit import persistence

    lasted, side = persistence(edges, weights, birth)
    return lasted * np.sqrt(side), side


FEW = 512
"""Rows up to which new rows are compared with all of them, by numpy: nothing has to be compiled for these."""

BLOCK = 4096
"""New rows that are compared at once with few rows: some 16 MiB of distances."""


def nearest_by_reachability(
    X: Array, core_distances: Array, n_neighbors: int, Y: Array, precomputed: bool = False
) -> tuple[Indices, Array]:
    """For each row y the row x of least ``max(|x - y|, core_x, core_y)``, and that value.

    Among several such rows the nearest one is taken, then the first.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    core_distances : ndarray of shape (n,)
        Core distances of the rows of X, from `minimum_spanning_tree`.
    n_neighbors : int
        As in `minimum_spanning_tree`: the core distance of a new row is the distance to its ``n_neighbors - 1``-th
        nearest row of X, because it counts itself.
    Y : ndarray of shape (m, d)
    precomputed : bool, default False
        Whether Y are the distances between the rows y and x, (m, n); X is not read then.

    Returns
    -------
    nearest : ndarray of shape (m,)
    weights : ndarray of shape (m,)
    """
    X, Y = (np.ascontiguousarray(rows, dtype=np.float64) for rows in (X, Y))
    n = len(core_distances)
    k = min(n_neighbors - 1, n)
    nearest, weights = np.empty(len(Y), np.int64), np.empty(len(Y))
    if precomputed or n <= FEW:
        for start in range(0, len(Y), BLOCK):
            block = slice(start, start + BLOCK)
            D = Y[block] if precomputed else _distances(X, Y[block])
            nearest[block], weights[block] = _of_distances(D, core_distances, k)
        return nearest, weights
    from clusterkit.numerics.spanning_trees.boruvka import Tasks, build_tree, floors
    from clusterkit.numerics.spanning_trees.reach_jit import reach_task

    with Tasks(max(n, len(Y))) as tasks:
        tree = build_tree(X, tasks, filtered=False)  # single precision would be too coarse for far rows
        in_slots = np.zeros(len(tree.row))
        in_slots[tree.row >= 0] = core_distances[tree.row[tree.row >= 0]]
        floor = np.zeros(len(tree.radius))
        floors(in_slots**2 * (1 - 1e-14), tree.row >= 0, floor)
        tasks(reach_task, tree, in_slots, floor, k, Y, nearest, weights)
    return nearest, weights


def _distances(X: Array, Y: Array) -> Array:
    D = np.zeros((len(Y), len(X)))
    for c in range(X.shape[1]):
        D += (Y[:, c, None] - X[None, :, c]) ** 2
    distances: Array = np.sqrt(D)
    return distances


def _of_distances(D: Array, core: Array, k: int) -> tuple[Indices, Array]:
    core_new = np.partition(D, k - 1, axis=1)[:, k - 1] if k else np.zeros(len(D))
    W = np.maximum(np.maximum(D, core), core_new[:, None])
    least = W.min(axis=1)
    nearest = np.argmin(np.where(least[:, None] == W, D, np.inf), axis=1)
    return nearest, least
