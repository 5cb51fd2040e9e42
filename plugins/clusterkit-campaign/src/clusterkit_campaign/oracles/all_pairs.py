"""The complete graph of a Gaussian kernel sum from every sample of every line, by numpy alone."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from clusterkit_campaign.oracles.complete_graph import canonical


def kernel_sum(Y, centres, weights, gamma):
    """``Σ weights_s exp(-gamma |y - x_s|²)`` from explicit differences, (p,)."""
    values = np.empty(len(Y))
    for start in range(0, len(Y), 8192):
        block = Y[start : start + 8192]
        squares = np.zeros((len(block), len(centres)))
        for column in range(Y.shape[1]):
            squares += np.square(block[:, column, None] - centres[:, column])
        values[start : start + 8192] = np.exp(-gamma * squares) @ weights
    return values


def complete_graph(points, centres, weights, gamma, level, n_segment_points):
    """Labels with noise -1, and how near any value came to the level, relative to it."""
    values = kernel_sum(points, centres, weights, gamma)
    margin = np.abs(values / level - 1.0).min()
    inside = np.flatnonzero(values >= level) if len(points) > 1 else np.arange(1)
    i, j = (inside[side] for side in np.triu_indices(len(inside), 1))
    edge = np.ones(len(i), dtype=bool)
    for k in range(1, n_segment_points + 1):
        fraction = k / (n_segment_points + 1)
        values = kernel_sum(points[i] + fraction * (points[j] - points[i]), centres, weights, gamma)
        # a line of length 0 has no samples
        between = (points[i] != points[j]).any(axis=1)
        margin = min(margin, np.abs(values[between] / level - 1.0).min(initial=np.inf))
        edge &= (values >= level) | ~between
    n = len(points)
    _, part = connected_components(coo_array((np.ones(edge.sum()), (i[edge], j[edge])), shape=(n, n)), directed=False)
    labels = np.full(n, -1)
    labels[inside] = part[inside]
    return canonical(labels), margin
