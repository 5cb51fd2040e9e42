"""Nearest neighbours: as edges, the shortest first, and as one row for each query with ties decided by the index.

`nearest_of_block` finds the nearest of some points by matrix products, for rows of another library of the array API.
`DistinctRows` are the distinct rows of a sample, `nearest_label` is the label of the nearest labelled row.
"""

from __future__ import annotations

import math
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.contracts.labelings import NOISE
from clusterkit.errors import InvalidData
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.neighbour_graph import nearest_in_tree, unique_pairs
from clusterkit.numerics.selection import distinct_rows
from clusterkit.samples.array_libraries import as_type, is_device_array, to_host
from clusterkit.samples.kernels import Centres, pair_chunks, rows_at
from clusterkit.samples.transform import block_plan

TREE_DIMENSIONS = 10
"""Number of attributes up to which a k-d tree is faster than the distances of all pairs."""
TIE = 1e-9
"""Relative difference of distances up to which two results of a k-d tree are compared again, exactly."""
CLOSE = 1e-12
"""Relative difference of squared distances in expanded form up to which they are compared again, exactly; relative to
the extent of the points as well."""


def nearest_edges(points: Array, k: int) -> Indices:
    """Edges from each point to its k nearest others, (e, 2), no edge twice, the shortest first.

    Parameters
    ----------
    points : ndarray of shape (u, d)
        No two equal.
    k : int
        Neighbours of each point; more than u - 1 means all others.
    """
    from clusterkit.numerics.structures_jit import ascending

    k = min(k + 1, len(points))
    if k < 2:
        return np.empty((0, 2), dtype=np.int64)
    distances, neighbours = _nearest(points, k)
    pairs = np.stack([np.repeat(np.arange(len(points)), k), neighbours.reshape(-1)], axis=1)
    edges, first = unique_pairs(pairs, len(points))
    proper = np.flatnonzero(edges[:, 0] != edges[:, 1])
    # `take` is some five times as fast here as an index in brackets
    return np.take(edges, proper[ascending(distances.reshape(-1)[first[proper]])], axis=0)


def _nearest(points: Array, k: int) -> tuple[Array, Indices]:
    """Distances and indices of the k nearest points of each point, itself among them, (u, k), ascending."""
    if points.shape[1] <= TREE_DIMENSIONS:
        from scipy.spatial import KDTree

        distances, neighbours = nearest_in_tree(KDTree(points), points, k)
        return distances, neighbours.astype(np.int64, copy=False)
    from sklearn.neighbors import NearestNeighbors

    distances, neighbours = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(points).kneighbors(points)
    return distances, neighbours.astype(np.int64)


def nearest_rows(Y: Array, points: Array) -> Indices:
    """Index of the row of `points` (u, d) nearest to each row of Y (p, d), the smallest of several; (p,).

    O((u + p) log u) in few dimensions, O(p u d) in many. Candidates within rounding of the smallest distance are
    compared by sums of squared differences, so that ties do not depend on the algorithm. Y may belong to any library of
    the array API; the indices are of numpy.
    """
    if is_device_array(Y):
        return nearest_of_block(Y, points)
    Y, points = (np.ascontiguousarray(rows, dtype=np.float64) for rows in (Y, points))
    nearest = np.zeros(len(Y), dtype=np.intp)
    if len(points) == 1 or not len(Y):
        return nearest
    if points.shape[1] <= TREE_DIMENSIONS:
        from scipy.spatial import KDTree

        tree = KDTree(points)
        distances, neighbours = nearest_in_tree(tree, Y, 2)
        if not np.isfinite(np.square(distances[:, 0])).all():
            raise InvalidData("squared distances of the rows to those of the fit overflow; scale the data first")
        nearest[:] = neighbours[:, 0]
        for i in np.flatnonzero(distances[:, 1] <= distances[:, 0] * (1.0 + TIE)):
            nearest[i] = _first_nearest(Y[i], points, tree.query_ball_point(Y[i], distances[i, 0] * (1.0 + TIE)))
        return nearest
    scale = float(np.square(points - points.mean(axis=0)).sum(axis=1).max())
    for rows in block_plan(len(Y), len(points), np.float64):
        D = squared_distances(Y[rows], points)
        every, first = np.arange(len(D)), D.argmin(axis=1)
        nearest[rows] = first
        least = D[every, first]
        limit = least + CLOSE * (least + scale)
        D[every, first] = np.inf
        for i in np.flatnonzero(D.min(axis=1) <= limit):
            D[i, first[i]] = least[i]
            nearest[rows.start + i] = _first_nearest(Y[rows.start + i], points, np.flatnonzero(D[i] <= limit[i]))
    return nearest


def _first_nearest(y: Array, points: Array, candidates: Indices | list[int]) -> int:
    """The candidate nearest to y by sums of squared differences, the smallest index of several."""
    candidates = np.sort(np.asarray(candidates, dtype=np.intp))
    return int(candidates[np.argmin(np.square(points[candidates] - y).sum(axis=1))])


"""Relative difference of squared distances up to which rows are compared again by sums of squared differences, relative
to the extent of the points as well: some thousand times the rounding of the products."""


def nearest_of_block(Y: Array, points: Array) -> Indices:
    """Index of the row of `points` (u, d) nearest to each row of Y (p, d), the smallest of several; (p,), of numpy.

    O(p u d). Candidates within rounding of the smallest distance are compared on the host.
    """
    points = np.asarray(points, dtype=np.float64)
    nearest = np.zeros(Y.shape[0], dtype=np.intp)
    if len(points) == 1 or not len(nearest):
        return nearest
    there = Centres.to_device_of(Y, points, reach=math.inf)
    xp = there.xp
    scale = float(np.square(points - points.mean(axis=0)).sum(axis=1).max())
    for rows in pair_chunks(len(nearest), Y.shape[1], len(points)):
        negative = there.exponents(there.scaled(Y[rows, :]))
        nearest[rows] = to_host(xp.argmax(negative, axis=1))
        least = -xp.max(negative, axis=1)
        near = -negative <= (least + CLOSE * (least + scale))[:, None]
        several = np.flatnonzero(to_host(xp.sum(xp.astype(near, xp.int32), axis=1)) > 1)
        if len(several):
            queries = to_host(as_type(rows_at(Y[rows, :], several), np.float64))
            for i, query, candidates in zip(several, queries, to_host(rows_at(near, several)), strict=True):
                index = np.flatnonzero(candidates)
                nearest[rows.start + i] = index[np.argmin(np.square(points[index] - query).sum(axis=1))]
    return nearest


@final
@attrs.frozen(eq=False)
class DistinctRows:
    """The samples without repetitions, so that equal samples cannot get different labels.

    Parameters
    ----------
    rows : ndarray of shape (u, d), float64
        The distinct rows in order of first appearance.
    inverse : ndarray of shape (n,)
        Index into `rows` of each sample.
    counts : ndarray of shape (u,)
        Number of samples equal to each distinct row.
    """

    rows: Array
    inverse: Indices
    counts: Counts

    @classmethod
    def of(cls, points: Array) -> DistinctRows:
        """The distinct rows of `points` (n, d); O(n d)."""
        points = np.ascontiguousarray(points, dtype=np.float64)
        first, inverse = distinct_rows(points)
        return cls(points[first], inverse, np.bincount(inverse, minlength=len(first)))


def nearest_label(Y: Array, rows: Array, labels: Labels) -> Labels:
    """Label of the nearest labelled row, for each row of Y (p, d).

    Parameters
    ----------
    Y : ndarray of shape (p, d)
    rows : ndarray of shape (u, d)
    labels : ndarray of shape (u,)
        Labels of `rows`; rows with label -1 have none and are ignored.

    Returns
    -------
    ndarray of shape (p,)
        Ties go to the row of smallest index. All 0 if no row has a label: then everything is one cluster.
    """
    labelled = np.flatnonzero(labels != NOISE)
    if not len(labelled):
        return np.zeros(len(Y), dtype=np.intp)
    return labels[labelled[nearest_rows(Y, rows[labelled])]]
