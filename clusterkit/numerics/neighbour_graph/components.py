"""Connected components of a graph of neighbours: which are clusters, and which to join where there are too many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.numerics.neighbour_graph.nearest import neighbour_search

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["MOST_COMPONENTS", "components", "join_nearest", "large_components"]

MOST_COMPONENTS = 1000
"""Most components whose distances to each other are looked at, a second of work at most."""
LEAST_SHARE = 0.1
"""Smallest size of a component that may be a cluster, relative to the mean size. The smallest clusters of the sets of
shapes that decided on it have 0.12 of the mean size."""
QUERIES = 4_000_000
"""Most nearest-row queries between components. Beyond it only some rows of each component are queried, evenly spaced in
their order; the queries take some seconds."""


def components(W: csr_array) -> Labels:
    """Connected component of each row of a sparse symmetric matrix (u, u), numbered by first appearance."""
    from scipy.sparse.csgraph import connected_components

    return np.asarray(connected_components(W, directed=False)[1], dtype=np.intp)


def large_components(component: Labels, n_neighbors: int, k: int | None) -> Indices:
    """Row numbers of the components that may be clusters, ascending; all rows if there is none.

    A row and its neighbours are a component's least size, unless weights vanish: a smaller component consists of rows
    so far from all others, by the scale of these others, that they are outliers. So is one below `LEAST_SHARE` of the
    mean size of k clusters: a dozen rows that happen to be nearest to each other. Beyond the `MOST_COMPONENTS` largest
    components (the first of equal size) all are left out.

    Parameters
    ----------
    component : ndarray of shape (u,)
    n_neighbors : int
    k : int or None
        Number of clusters, if it is known.
    """
    sizes = np.bincount(component)
    large = sizes > max(n_neighbors, 0 if k is None else LEAST_SHARE * len(component) / k)
    large[np.argsort(-sizes, kind="stable")[MOST_COMPONENTS:]] = False
    return np.flatnonzero(large[component]) if large.any() else np.arange(len(component))


def join_nearest(points: Array, scales: Array, component: Labels, count: int) -> Labels:
    """Components joined to `count` groups, (u,); groups are numbered by first appearance.

    The pair is joined first for which ``ln(1 + g) n_a n_b / (n_a + n_b)`` is smallest. g is the squared distance of the
    nearest rows of the two, divided by the product of their scales, so that it compares with the exponent of the
    weights; for equal g the factor of the sizes is the rise of the within-cluster sum of squares of the indicators, as
    in Ward's method, so that small components are joined before large ones are.

    Parameters
    ----------
    points : ndarray of shape (u, d)
    scales : ndarray of shape (u,)
    component : ndarray of shape (u,)
        0..c-1, each with a row.
    count : int
        At most c.

    Notes
    -----
    O(c³) at most, beside the queries for the nearest rows.
    """
    gaps = np.log1p(_gaps(points, scales, component))
    sizes = np.bincount(component).astype(np.float64)
    c = len(sizes)
    group = np.arange(c)
    harmonic = sizes[:, None] * sizes / (sizes[:, None] + sizes)
    for _ in range(c - count):
        costs = gaps * harmonic
        low, high = sorted(divmod(int(np.argmin(costs)), c))
        group[group == high] = low
        gaps[low] = np.minimum(gaps[low], gaps[high])
        gaps[:, low] = gaps[low]
        gaps[low, low] = np.inf
        gaps[high], gaps[:, high] = np.inf, np.inf
        sizes[low] += sizes[high]
        harmonic[low] = sizes[low] * sizes / (sizes[low] + sizes)
        harmonic[:, low] = harmonic[low]
    return np.unique(group, return_inverse=True)[1][component]


def _gaps(points: Array, scales: Array, component: Labels) -> Array:
    """Scaled squared distances between the components, (c, c)."""
    order = np.argsort(component, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(component))[:-1])
    c = len(members)
    by_size = sorted(range(c), key=lambda number: (len(members[number]), number))
    queries = sum(len(members[number]) * (c - 1 - rank) for rank, number in enumerate(by_size))
    share = min(1.0, QUERIES / max(1, queries))
    gaps = np.full((c, c), np.inf)
    queried = [rows[:: max(1, int(1.0 / share))] for rows in members]
    # the rows of the smaller component are looked for in the tree of the larger one
    for rank in range(1, c):
        large = by_size[rank]
        search = neighbour_search(points[members[large]])
        for small in by_size[:rank]:
            squared, index = search(points[queried[small]], 1)
            nearest = int(np.argmin(squared[:, 0]))
            ends = queried[small][nearest], members[large][index[nearest, 0]]
            gaps[small, large] = gaps[large, small] = squared[nearest, 0] / (scales[ends[0]] * scales[ends[1]])
    return gaps
