"""Searches in a k-d tree on all cores, which Ctrl-C ends in good order.

The threads that SciPy starts for ``workers`` above 1 are not waited for when Ctrl-C ends the call: they then write into
arrays that are gone, and the process may crash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.numerics.threads import over_rows

if TYPE_CHECKING:
    from scipy.spatial import KDTree

__all__ = ["nearest_in_tree", "within_radius"]

STEPS = 2000
"""Cost of a search in nanoseconds, for the choice of the ranges of the threads; it is a few microseconds."""


def nearest_in_tree(tree: KDTree, queries: Array, count: int) -> tuple[Array, Indices]:
    """Distances and indices of the nearest points of each query, (q, count) each, in ascending order.

    Parameters
    ----------
    tree : scipy.spatial.KDTree
    queries : ndarray of shape (q, d)
    count : int
        At least 1.

    Examples
    --------
    >>> from scipy.spatial import KDTree
    >>> nearest_in_tree(KDTree([[0.0], [1.0], [3.0]]), np.array([[0.9]]), 2)[1].tolist()
    [[1, 0]]
    """
    distances = np.empty((len(queries), count))
    index = np.empty((len(queries), count), dtype=np.intp)
    ranks = [*range(1, count + 1)]

    def search(start: int, stop: int) -> None:
        distances[start:stop], index[start:stop] = tree.query(queries[start:stop], k=ranks)

    over_rows(search, len(queries), STEPS)
    return distances, index


def within_radius(tree: KDTree, queries: Array, radii: Array) -> list[list[int]]:
    """Indices of the points that are no farther from each query than its radius, in any order.

    Parameters
    ----------
    tree : scipy.spatial.KDTree
    queries : ndarray of shape (q, d)
    radii : ndarray of shape (q,)
    """
    balls: list[list[int]] = [[] for _ in range(len(queries))]

    def search(start: int, stop: int) -> None:
        balls[start:stop] = tree.query_ball_point(queries[start:stop], radii[start:stop])

    over_rows(search, len(queries), STEPS)
    return balls
