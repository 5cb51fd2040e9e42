"""Groups of near points: single linkage by a radius, and a few points that represent all within a radius."""

from __future__ import annotations

import math

import numpy as np

from clusterkit._typing import Array, Indices, Labels

__all__ = ["cover", "single_link"]


def single_link(points: Array, radius: float) -> Labels:
    """Numbers 0.. of the groups of points (p, d) that steps of at most `radius` connect.

    The points of a grid cell whose diagonal is half the radius are in one group; only pairs of near cells are compared
    point by point, so that many points at one place cost no pairs.
    """
    from scipy.spatial import cKDTree

    from clusterkit.numerics.disjoint_jit import join, roots

    side = radius / (2.0 * math.sqrt(points.shape[1]))
    keys = np.floor((points - points.min(axis=0)) / side)
    _, first, cell = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    cell = cell.reshape(-1)
    parent = np.arange(len(first))
    if len(first) > 1:
        members = np.split(np.argsort(cell, kind="stable"), np.cumsum(np.bincount(cell))[:-1])
        for a, b in cKDTree(points[first]).query_pairs(2.0 * radius):
            tree = cKDTree(points[members[a]])
            if tree.query(points[members[b]], distance_upper_bound=radius * (1 + 1e-12))[0].min() <= radius:
                join(parent, a, b)
    return np.unique(roots(parent)[cell], return_inverse=True)[1].reshape(-1)


def cover(points: Array, radius: float) -> Indices:
    """Index of the representative of each of the distinct points (u, d), at most `radius` away from it.

    The points of a grid cell with diagonal `radius` are represented by the one nearest to their mean (of several, the
    one with the smallest coordinates). The grid starts at the smallest coordinates, so that neither a shift of the
    points nor their order changes the result.
    """
    side = radius / math.sqrt(points.shape[1])
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        keys = np.floor((points - points.min(axis=0)) / side)
    if not np.isfinite(keys).all():  # the radius is negligible beside the extent of the data
        return np.arange(len(points))
    _, cell, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    cell = cell.reshape(-1)
    mean = np.stack([np.bincount(cell, weights=column) for column in points.T], axis=1) / count[:, None]
    distance = np.sqrt(np.square(points - mean[cell]).sum(axis=1))
    nearest = np.full(len(count), np.inf)
    np.minimum.at(nearest, cell, distance)
    # the two points of a cell of two have equal distances but for rounding
    candidates = np.flatnonzero(distance <= nearest[cell] + 1e-9 * radius)
    order = candidates[np.lexsort((*points[candidates].T[::-1], cell[candidates]))]
    cells, first = np.unique(cell[order], return_index=True)
    representatives = np.empty(len(count), dtype=np.intp)
    representatives[cells] = order[first]
    return representatives[cell]
