"""Connected components of a graph of neighbours: which are clusters, and which to join where there are too many."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.numerics.neighbour_graph.nearest import neighbour_search

__all__ = ["components", "join_nearest", "large_components"]

QUERIES = 4_000_000
"""Most nearest-row queries between components. Beyond it only some rows of each component are asked, evenly spaced in
their order; the queries take some seconds."""


def components(W: Any) -> Labels:
    """Connected component of each row of a sparse symmetric matrix (u, u), numbered by first appearance."""
    from scipy.sparse.csgraph import connected_components

    return np.asarray(connected_components(W, directed=False)[1], dtype=np.intp)


def large_components(component: Labels, n_neighbors: int) -> Indices:
    """Row numbers of the components with more rows than a row has neighbours, ascending; all rows if there is none.

    A row and its neighbours are a component's least size, unless weights vanish: a smaller component consists of rows
    so far from all others, by the scale of these others, that they are outliers.
    """
    large = np.bincount(component) > n_neighbors
    return np.flatnonzero(large[component]) if large.any() else np.arange(len(component))


def join_nearest(points: Array, scales: Array, component: Labels, count: int) -> Labels:
    """Components joined to `count` groups by single linkage, (u,); groups are numbered by first appearance.

    The distance of two components is that of their nearest rows, squared and divided by the product of the scales of
    the two, so that it compares with the exponent of the weights.

    Parameters
    ----------
    points : ndarray of shape (u, d)
    scales : ndarray of shape (u,)
    component : ndarray of shape (u,)
        0..c-1, each with a row.
    count : int
        At most c.
    """
    gaps = _gaps(points, scales, component)
    c = len(gaps)
    group = np.arange(c)
    i, j = np.triu_indices(c, 1)
    groups = c
    for edge in np.argsort(gaps[i, j], kind="stable"):
        if groups == count:
            break
        low, high = sorted((group[i[edge]], group[j[edge]]))
        if low != high:
            group[group == high] = low
            groups -= 1
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
    asked = [rows[:: max(1, int(1.0 / share))] for rows in members]
    # the rows of the smaller component are looked for in the tree of the larger one
    for rank in range(1, c):
        large = by_size[rank]
        search = neighbour_search(points[members[large]])
        for small in by_size[:rank]:
            squared, index = search(points[asked[small]], 1)
            nearest = int(np.argmin(squared[:, 0]))
            ends = asked[small][nearest], members[large][index[nearest, 0]]
            gaps[small, large] = gaps[large, small] = squared[nearest, 0] / (scales[ends[0]] * scales[ends[1]])
    return gaps
