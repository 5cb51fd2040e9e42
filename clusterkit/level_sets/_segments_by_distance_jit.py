"""Straight lines in a Gaussian domain of many attributes, from distances alone.

``|x(λ) - x_s|² = (1-λ) d_is + λ d_js - λ(1-λ) d_ij``: with the distances of both ends to the centres at hand a sample
costs one exponential a centre, whatever the number of attributes. Scaled coordinates as in `_lines_jit`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit
from clusterkit.level_sets._segments_jit import first_outside, line_space
from clusterkit.numerics.disjoint_jit import find, join
from clusterkit.numerics.exponential_jit import fast_exp
from clusterkit.numerics.gaussian_jit import FAST

__all__ = ["join_edges_by_distances", "line_sum"]


@njit(fastmath=FAST)
def line_sum(position: Any, between: Any, one: Any, other: Any, weights: Any) -> Any:
    """The sum at a position of a line, from the squared distances of its ends to each other and to the centres."""
    rest, shift, total = 1.0 - position, position * (1.0 - position) * between, 0.0
    for s in range(len(weights)):
        # rounding may leave a little below 0, where the exponential must not be asked
        total += weights[s] * fast_exp(-max(rest * one[s] + position * other[s] - shift, 0.0))
    return total


@njit
def join_edges_by_distances(
    edges: Any, start: Any, budget: Any, parent: Any, samples: Any, domain: Any, distances: Any, weights: Any,
    tried: Any, margin: Any,
) -> Any:  # fmt: skip
    """As `join_edges`, with squared distances (u, s) of the points to the centres; samples in the order `tried`.

    Sums within `margin`, relative, of the level are left to `first_outside`.
    """
    points = samples[0]
    m, level, arrays = domain
    space, count = line_space(points.shape[1], m, arrays), np.zeros(1, dtype=np.int64)
    low, high = level * (1.0 - margin), level * (1.0 + margin)
    for e in range(start, len(edges)):
        if count[0] >= budget:
            return e
        i, j = min(edges[e, 0], edges[e, 1]), max(edges[e, 0], edges[e, 1])
        if find(parent, i) == find(parent, j):
            continue
        between = 0.0
        for c in range(points.shape[1]):
            difference = points[i, c] - points[j, c]
            between += difference * difference
        inside, unclear = True, False
        for k in tried:
            value = line_sum(k / (m + 1), between, distances[i], distances[j], weights)
            count[0] += 1
            if value < low:
                inside = False
                break
            unclear = unclear or value < high
        if inside and unclear:
            inside = first_outside(i, j, samples, domain, space, count) == 0
        if inside:
            join(parent, i, j)
    return len(edges)
