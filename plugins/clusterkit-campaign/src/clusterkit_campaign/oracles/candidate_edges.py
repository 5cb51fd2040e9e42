"""The plain version of a segment test from distances: every sample point, every centre, double precision."""

from __future__ import annotations

import numpy as np


def sums_on_segment(D, i, j, centres, weights, gamma, n_segment_points):
    """The kernel sum at the sample points between points i and j, from squared distances D (u, u); (m,)."""
    position = (np.arange(1, n_segment_points + 1) / (n_segment_points + 1))[:, None]
    squares = (1 - position) * D[i, centres] + position * D[j, centres] - position * (1 - position) * D[i, j]
    return np.exp(-gamma * squares) @ weights


def components(edges, inside, is_connected):
    """Number of the component of each point, joined by the edges between points inside that are connected."""
    component = np.arange(len(inside))
    for i, j in edges:
        if inside[i] and inside[j] and component[i] != component[j] and is_connected(i, j):
            component[component == component[j]] = component[i]
    return component
