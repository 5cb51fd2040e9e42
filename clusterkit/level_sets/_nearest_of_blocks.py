"""The nearest of some points, by matrix products: for rows of another library of the array API."""

from __future__ import annotations

import math

import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.core.kernel_products import Centres, pair_chunks, rows_at
from clusterkit.core.namespaces import as_type, to_host

__all__ = ["nearest_of_block"]

CLOSE = 1e-12
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
