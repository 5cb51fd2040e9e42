"""The minimum spanning tree of a table of points."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices

__all__ = ["SpanningTree", "minimum_spanning_tree"]


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
    from clusterkit.numerics.spanning_trees.prim_jit import core_squares, prim

    X = np.ascontiguousarray(X, dtype=np.float64)
    core = core_squares(X, min(n_neighbors, len(X)))
    edges, squares = prim(X, core)
    return _in_order(edges, squares, core)


def _in_order(edges: Indices, squares: Array, core: Array) -> SpanningTree:
    """The tree with its edges sorted by (weight, lower row, higher row), from squared weights and core distances."""
    ends = np.sort(edges, axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0], squares))
    return SpanningTree(ends[order], np.sqrt(squares[order]), np.sqrt(core))
