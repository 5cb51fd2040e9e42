"""Edges that are likely inside a domain: to near neighbours, and between the innermost points of components."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.level_sets.neighbours import nearest_edges

__all__ = ["EdgeSearch", "Grouping", "MembersOnly", "grouping_of", "join_components", "join_neighbours"]

NEIGHBOURS = 8
"""Neighbours of each point that are tried first: they join most of a cluster; more of them join few points more."""
INNERMOST_NEIGHBOURS = 16
"""Neighbours that are tried from the innermost point of each component, among these points."""
MORE_NEIGHBOURS = (32, 64, 128)
"""Neighbours of each point of a small component that are tried last, round by round."""
SMALL = 0.02
"""Fraction of the points up to which a component is small. Large ones have been tried from many sides before."""
MOST_EDGES = 200_000
"""Most edges tried in one of the last rounds: beyond that, the proof by bounds is faster."""


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


class EdgeSearch(Protocol):
    """A search for components of points, (u, d), that knows the values of the domain at the points, (u,)."""

    @property
    def points(self) -> Any:
        """Points, an array or sparse rows."""

    @property
    def values(self) -> Array:
        """Value at each point; larger means farther inside."""

    def join(self, edges: Indices) -> None:
        """Test edges (e, 2) in their order, and join the ends of those inside."""

    def grouping(self) -> Grouping:
        """The components at the moment."""

    def complete(self) -> None:
        """Join any two components that a segment between two of their points joins."""


@final
@attrs.frozen(eq=False)
class MembersOnly:
    """The `ComponentSearch` of a segment test, made from an `EdgeSearch`."""

    search: EdgeSearch

    def join(self, edges: Indices) -> None:
        """Test edges (e, 2) in their order, and join the ends of those inside."""
        self.search.join(edges)

    def complete(self) -> None:
        """Join any two components that a segment between two of their points joins."""
        self.search.complete()

    def members(self) -> Labels:
        """Component of each point at the moment, (u,)."""
        return self.search.grouping().component


def grouping_of(roots: Indices, values: Array) -> Grouping:
    """The components, from the root of the disjoint set of each point and the value at each point."""
    _, component, sizes = np.unique(roots, return_inverse=True, return_counts=True)
    component = component.reshape(-1)
    # of several assignments to an index the last one counts: the point with the largest value
    innermost = np.empty(len(sizes), dtype=np.intp)
    ascending = np.argsort(values, kind="stable")
    innermost[component[ascending]] = ascending
    return Grouping(component, sizes, innermost)


def join_neighbours(search: EdgeSearch) -> None:
    """Try edges to nearest neighbours, the shortest first."""
    search.join(nearest_edges(search.points, search.points, NEIGHBOURS))


def join_components(search: EdgeSearch) -> None:
    """Try edges between the innermost points of components, then from small components to more and more neighbours."""
    points, values = search.points, search.values
    component, sizes, innermost = search.grouping()
    while len(sizes) > 1:
        before, inner = len(sizes), points[innermost]
        search.join(innermost[nearest_edges(inner, inner, min(INNERMOST_NEIGHBOURS, before - 1))])
        component, sizes, innermost = search.grouping()
        if len(sizes) == before:
            break
    for neighbours in MORE_NEIGHBOURS:
        if len(sizes) == 1 or neighbours >= len(points):
            return
        small = np.flatnonzero(sizes[component] <= max(1, int(SMALL * len(points))))
        small = small[np.argsort(-values[small], kind="stable")][: MOST_EDGES // neighbours]
        edges = nearest_edges(points[small], points, neighbours, small)
        edges = edges[component[edges[:, 0]] != component[edges[:, 1]]]
        search.join(edges)
        before = len(sizes)
        component, sizes, innermost = search.grouping()
        if len(sizes) == before:
            return
