"""The nearest row by mutual reachability, for new rows."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Array, Indices

__all__ = ["nearest_by_reachability"]

FEW = 512
"""Rows up to which new rows are compared with all of them, by numpy: nothing has to be compiled for these."""

BLOCK = 4096
"""New rows that are compared at once with few rows: some 16 MiB of distances."""


def nearest_by_reachability(X: Array, core_distances: Array, n_neighbors: int, Y: Array) -> tuple[Indices, Array]:
    """For each row y the row x of least ``max(|x - y|, core_x, core_y)``, and that value.

    Of several such rows the nearest one is taken, then the first.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    core_distances : ndarray of shape (n,)
        Of `minimum_spanning_tree` for the rows of X.
    n_neighbors : int
        As there: the core distance of a new row reaches to its ``n_neighbors - 1``-th nearest row of X, because it
        counts itself.
    Y : ndarray of shape (m, d)

    Returns
    -------
    nearest : ndarray of shape (m,)
    weights : ndarray of shape (m,)
    """
    X, Y = (np.ascontiguousarray(rows, dtype=np.float64) for rows in (X, Y))
    n, k = len(X), min(n_neighbors - 1, len(X))
    nearest, weights = np.empty(len(Y), np.int64), np.empty(len(Y))
    if n <= FEW:
        for start in range(0, len(Y), BLOCK):
            block = slice(start, start + BLOCK)
            nearest[block], weights[block] = _of_few(X, core_distances, k, Y[block])
        return nearest, weights
    from clusterkit.numerics.spanning_trees.boruvka import Tasks, build_tree
    from clusterkit.numerics.spanning_trees.node_values import floors
    from clusterkit.numerics.spanning_trees.reach_jit import reach_task

    with Tasks(max(n, len(Y))) as tasks:
        tree = build_tree(X, tasks, filtered=False)  # single precision would be too coarse for far rows
        in_slots = np.zeros(len(tree.row))
        in_slots[tree.row >= 0] = core_distances[tree.row[tree.row >= 0]]
        floor = np.zeros(len(tree.radius))
        floors(in_slots**2 * (1 - 1e-14), tree.row >= 0, floor)
        tasks(reach_task, tree, in_slots, floor, k, Y, nearest, weights)
    return nearest, weights


def _of_few(X: Array, core: Array, k: int, Y: Array) -> tuple[Indices, Array]:
    D = np.zeros((len(Y), len(X)))
    for c in range(X.shape[1]):
        D += (Y[:, c, None] - X[None, :, c]) ** 2
    D = np.sqrt(D)
    core_new = np.partition(D, k - 1, axis=1)[:, k - 1] if k else np.zeros(len(Y))
    W = np.maximum(np.maximum(D, core), core_new[:, None])
    least = W.min(axis=1)
    nearest = np.argmin(np.where(least[:, None] == W, D, np.inf), axis=1)
    return nearest, least
