"""Edges that are likely inside a domain: to near neighbours, and between the innermost points of components.

`single_link` makes groups of near points by single linkage with a radius, `cover` a few points that represent all
within a radius. `pairs_not_rejected` computes kernel sums at one sample point of every segment as matrix products. For
points i, j and a position λ the identity ``|x(λ) - x_s|² = (1-λ) d_is + λ d_js - λ(1-λ) d_ij`` gives the sums on
all segments at once, ``exp(λ(1-λ) d_ij) Σ_s β_s e^{-(1-λ) d_is} e^{-λ d_js}``. If there are many components, that
rejects most pairs with a few operations for each. Scaled coordinates as in `_segments_jit`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.sparse_rows import from_mean
from clusterkit.samples.limits import spend


class Grouping(NamedTuple):
    """The components of a search at some moment.

    Parameters
    ----------
    component : ndarray of shape (u,)
        Component 0..c-1 of each point.
    sizes : ndarray of shape (c,)
        Number of points of each component.
    innermost : ndarray of shape (c,)
        Index of the point with the largest value in each component.
    """

    component: Labels
    sizes: Counts
    innermost: Indices


def grouping_of(roots: Indices, values: Array) -> Grouping:
    """The components, from the root of the disjoint set of each point and the value at each point."""
    from clusterkit.numerics.structures_jit import number_sets

    return Grouping(*number_sets(roots, values))


def single_link(points: Array, radius: float) -> Labels:
    """Numbers 0.. of the groups of points (p, d) that steps of at most `radius` connect.

    The points of a grid cell whose diagonal is half the radius are in one group; only pairs of near cells are compared
    point by point, so that many points at one place cost no pairs.
    """
    from scipy.spatial import cKDTree

    from clusterkit.numerics.structures_jit import join, roots

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
    if not np.isfinite(keys).all():  # the radius is negligible relative to the extent of the data
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


ROWS = 512
"""Points in a block: its matrices of 512 x 512 numbers, 2 MiB each, stay in the cache."""
LARGEST_EXPONENT = 300.0
"""Largest exponent of the factor of a pair: a larger factor would multiply a sum that may have been rounded to 0."""
PRODUCTS = 60
"""Terms of a product of matrices that cost as much as a kernel evaluation."""
FEW = 0.02
"""Fraction of undecided pairs of a block at which further positions cost more than the test of single segments."""


def pairs_not_rejected(
    points: Array, component: Labels, centres: Array, weights: Array, level: float, positions: Array
) -> Iterator[Indices]:
    """Pairs of different components whose segments may be inside, (e, 2), block by block.

    Parameters
    ----------
    points : ndarray of shape (u, d)
    component : ndarray of shape (u,)
    centres : ndarray of shape (s, d)
    weights : ndarray of shape (s,)
    level : float
        A pair is rejected if the sum at one position is below it by more than rounding.
    positions : ndarray
        Positions on the segment from the point of smaller index, between 0 and 1; those after the first are only used
        while many pairs of a block are left.

    Yields
    ------
    ndarray of shape (e, 2)
        Pairs that are not rejected, the shortest first; they have to be tested by other means.

    Notes
    -----
    O(u² s) operations for a position, memory of a block. The expanded form of distances is used above four
    attributes; it loses about ``1e-15 |x|²`` in the exponent, which the margin below the level covers.
    """
    low = level * (1.0 - max(1e-6, 1e-13 * float(from_mean(points, centres.mean(axis=0)).max())))
    positive = np.flatnonzero(weights > 0)
    centres, logs = centres[positive], np.log(weights[positive])
    blocks = [slice(start, min(len(points), start + ROWS)) for start in range(0, len(points), ROWS)]
    for at, rows in enumerate(blocks):
        D_rows = squared_distances(points[rows], centres)
        for columns in blocks[at:]:
            undecided = component[rows, None] != component[None, columns]
            if columns is rows:
                undecided &= np.arange(rows.start, rows.stop)[:, None] < np.arange(rows.start, rows.stop)[None]
            total = int(undecided.sum())
            if not total:
                continue
            D_columns = squared_distances(points[columns], centres)
            between = squared_distances(points[rows], points[columns])
            for position in positions:
                share = position * (1.0 - position)
                A = np.exp(logs - (1.0 - position) * D_rows)
                B = np.exp(-position * D_columns)
                exponent = share * between
                safe = exponent <= LARGEST_EXPONENT
                sums = (A @ B.T) * np.exp(np.where(safe, exponent, 0.0))
                spend(A.size + B.size + sums.size + sums.size * A.shape[1] // PRODUCTS)
                undecided &= ~safe | (sums >= low)
                if undecided.sum() <= FEW * total:
                    break
            if undecided.any():
                # shortest first: pairs of components joined by them need no further test
                first, second = np.nonzero(undecided)
                order = np.argsort(between[first, second], kind="stable")
                yield np.stack([first[order] + rows.start, second[order] + columns.start], axis=1)
