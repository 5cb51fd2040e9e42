"""Segments in a Gaussian domain of many attributes, from distances alone.

``|x(λ) - x_s|² = (1-λ) d_is + λ d_js - λ(1-λ) d_ij``: if the squared distances of both ends to the centres are known, a
sample point costs one exponential per centre, whatever the number of attributes. Scaled coordinates as in
`_segments_jit`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array
from clusterkit.level_sets._segments_jit import first_outside, segment_workspace
from clusterkit.numerics.disjoint_jit import find, join
from clusterkit.numerics.exponential_jit import fast_exp
from clusterkit.numerics.gaussian_jit import FAST

__all__ = ["CentreDistances", "join_edges_by_distances", "segment_sum"]


class CentreDistances(NamedTuple):
    """Distances of points to the centres of a kernel sum.

    Parameters
    ----------
    squares : ndarray of shape (u, s)
        Squared distances of the points to the centres.
    weights : ndarray of shape (s,)
        Weights of the centres.
    margin : float
        Relative error of kernel sums computed from `squares`.
    """

    squares: Array
    weights: Array
    margin: float


@njit(fastmath=FAST)
def segment_sum(position: Any, between: Any, one: Any, other: Any, weights: Any) -> Any:
    """The kernel sum at a position of a segment, 0 <= position <= 1.

    From the squared distance `between` the ends, and those of either end to the centres, `one` and `other` (s,).
    """
    rest, shift, total = 1.0 - position, position * (1.0 - position) * between, 0.0
    for s in range(len(weights)):
        # rounding may leave a number slightly below 0, for which fast_exp is not defined
        total += weights[s] * fast_exp(-max(rest * one[s] + position * other[s] - shift, 0.0))
    return total


@njit
def join_edges_by_distances(
    edges: Any, start: Any, budget: Any, parent: Any, samples: Any, contour: Any, distances: Any, order: Any
) -> Any:
    """As `join_edges`, with kernel sums from `CentreDistances`, at sample numbers in the sequence `order`.

    Segments with a sum within the relative margin of the level are decided by `first_outside`.
    """
    points = samples.points
    m, level = contour.n_segment_points, contour.level
    squares, weights, margin = distances
    work, sums = segment_workspace(points.shape[1], contour), np.zeros(1, dtype=np.int64)
    low, high = level * (1.0 - margin), level * (1.0 + margin)
    for e in range(start, len(edges)):
        if sums[0] >= budget:
            return e, sums[0]
        i, j = min(edges[e, 0], edges[e, 1]), max(edges[e, 0], edges[e, 1])
        if find(parent, i) == find(parent, j):
            continue
        between = 0.0
        for c in range(points.shape[1]):
            difference = points[i, c] - points[j, c]
            between += difference * difference
        inside, unclear = True, False
        for k in order:
            value = segment_sum(k / (m + 1), between, squares[i], squares[j], weights)
            sums[0] += 1
            if value < low:
                inside = False
                break
            unclear = unclear or value < high
        if inside and unclear:
            inside = first_outside(i, j, samples, contour, work, sums) == 0
        if inside:
            join(parent, i, j)
    return len(edges), sums[0]
