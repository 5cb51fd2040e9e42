"""The minimum spanning tree of a table of points."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices

__all__ = ["SpanningTree", "compiles_first", "minimum_spanning_tree"]

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
        from clusterkit.numerics.spanning_trees.prim_jit import core_squares, prim

        core = core_squares(X, k)
        edges, squares = prim(X, core)
        return _in_order(edges, squares, core)
    from clusterkit.numerics.distinct_rows_jit import distinct_rows
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
    # every further copy hangs on the first one; no edge of it can be shorter than its core distance
    copies = np.setdiff1d(np.arange(n), first, assume_unique=True)
    hanging = np.stack([first[inverse[copies]], copies], axis=1)
    return _in_order(
        np.concatenate([first[edges], hanging]), np.concatenate([squares, core[inverse[copies]]]), core[inverse]
    )


def _in_order(edges: Indices, squares: Array, core: Array) -> SpanningTree:
    """The tree with its edges sorted by (weight, lower row, higher row), from squared weights and core distances."""
    ends = np.stack([np.minimum(edges[:, 0], edges[:, 1]), np.maximum(edges[:, 0], edges[:, 1])], axis=1)
    order = np.argsort(squares)
    ranked = squares.take(order)
    tied = np.flatnonzero(ranked[1:] == ranked[:-1])
    if len(tied):  # only runs of equal weights are sorted by their rows: most weights of most data differ
        inside = np.zeros(len(order), bool)
        inside[tied], inside[tied + 1] = True, True
        places = np.flatnonzero(inside)
        moved = order[places]
        order[places] = moved[np.lexsort((ends[moved, 1], ends[moved, 0], squares[moved]))]
    # `take` copies whole rows, several times as fast as an index does
    return SpanningTree(ends.take(order, axis=0), np.sqrt(ranked), np.sqrt(core))


def compiles_first(n: int, d: int, n_neighbors: int) -> bool:
    """Whether `minimum_spanning_tree` of such rows has to compile its loops first, which takes some seconds.

    That happens once, in the first call after the installation; if so, a line of the logger "clusterkit" says it.
    """
    import logging

    from clusterkit._jit import has_compiled

    if n <= ALL_PAIRS:
        return False
    from clusterkit.numerics.spanning_trees.boruvka_jit import search_task
    from clusterkit.numerics.spanning_trees.core_distances_jit import core_task
    from clusterkit.numerics.spanning_trees.gathered_jit import gathered_task
    from clusterkit.numerics.spanning_trees.kd_tree_jit import FILTERED
    from clusterkit.numerics.spanning_trees.neighbours_jit import list_task

    kind = "float32" if d >= FILTERED else "float64"
    neighbours = list_task if n_neighbors == 1 else gathered_task if d == 2 else core_task
    kernels = (search_task, neighbours)
    if all(has_compiled(kernel, f"array({kind}, 3d, C)") for kernel in kernels):
        return False
    logging.getLogger("clusterkit").warning("compiling the spanning tree, once for this installation: some seconds")
    return True
