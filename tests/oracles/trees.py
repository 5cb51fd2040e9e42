"""Spanning trees by all pairs, and Genie's rule by a look at all clusters in every step."""

import numpy as np


def reach(X, n_neighbors):
    """Mutual reachability distances and core distances, (n, n) and (n,)."""
    X = X.astype(np.float64)
    D = np.sqrt(sum((X[:, c, None] - X[None, :, c]) ** 2 for c in range(X.shape[1])))
    core = np.sort(D, axis=1)[:, min(n_neighbors, len(X)) - 1] if n_neighbors > 1 else np.zeros(len(X))
    W = np.maximum(np.maximum(D, core), core[:, None])
    return W, core


def prim(W):
    """Weights of the edges of a minimum spanning tree, ascending."""
    inside, least, weights = np.zeros(len(W), bool), np.full(len(W), np.inf), []
    least[0] = 0.0
    for _ in range(len(W)):
        i = int(np.argmin(np.where(inside, np.inf, least)))
        inside[i] = True
        weights.append(least[i])
        least = np.minimum(least, W[i])
    return np.sort(weights[1:])


def genie(edges, n, k, gini):
    """Labels of k clusters from the edges of a tree in ascending order."""
    labels, left = np.arange(n), [tuple(edge) for edge in edges]
    while len(set(labels)) > k:
        sizes = np.bincount(labels, minlength=n)
        c = sizes[sizes > 0]
        index = np.abs(c[:, None] - c[None]).sum() / 2 / ((len(c) - 1) * n)
        smallest = c.min() if index > gini else None
        for edge in left:
            ends = sizes[labels[list(edge)]]
            if smallest is None or smallest in ends:
                left.remove(edge)
                labels[labels == labels[edge[1]]] = labels[edge[0]]
                break
    return labels
