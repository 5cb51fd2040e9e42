"""Where lines inside a domain are likely: to near neighbours, and between the innermost samples of components."""

from __future__ import annotations

from typing import Any, Protocol, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.level_sets.neighbours import nearest_edges

__all__ = ["Linked", "LinkedSearch", "join_components", "join_neighbours", "members_of"]

NEIGHBOURS = 8
SMALL = 0.02
MOST_EDGES = 200_000


class Linked(Protocol):
    """A search for components of points, (u, d), with the values of the domain there, (u,)."""

    @property
    def points(self) -> Any:
        """Points, an array or sparse rows."""

    @property
    def values(self) -> Array:
        """Larger is further inside."""

    def join(self, edges: Array) -> None:
        """Try edges (e, 2) in their order."""

    def members(self) -> tuple[Array, Array, Array]:
        """Component 0..c-1 of each point, sizes, and the innermost point of each component."""

    def complete(self) -> None:
        """Join whatever any line between two of the points joins."""


@final
@attrs.frozen(eq=False)
class LinkedSearch:
    """The search of a segment test, from components that know more than it asks for."""

    components: Linked

    def join(self, edges: Array) -> None:
        """Try edges (e, 2) in their order."""
        self.components.join(edges)

    def complete(self) -> None:
        """Join whatever any line between two of the points joins."""
        self.components.complete()

    def members(self) -> Array:
        """Component of each point so far, (u,)."""
        return self.components.members()[0]


def members_of(roots: Array, values: Array) -> tuple[Array, Array, Array]:
    """What `Linked.members` gives, from the root of each point."""
    _, component, sizes = np.unique(roots, return_inverse=True, return_counts=True)
    component = component.reshape(-1)
    # the last one written is the one of the largest value
    innermost = np.empty(len(sizes), dtype=np.intp)
    rising = np.argsort(values, kind="stable")
    innermost[component[rising]] = rising
    return component, sizes, innermost


def join_neighbours(search: Linked) -> None:
    """Nearest neighbours, the shortest lines first."""
    search.join(nearest_edges(search.points, search.points, NEIGHBOURS))


def join_components(search: Linked) -> None:
    """Lines between the innermost points of components, then from small components to ever more neighbours."""
    points, values = search.points, search.values
    component, sizes, innermost = search.members()
    while len(sizes) > 1:
        before, inner = len(sizes), points[innermost]
        search.join(innermost[nearest_edges(inner, inner, min(16, before - 1))])
        component, sizes, innermost = search.members()
        if len(sizes) == before:
            break
    for neighbours in (32, 64, 128):
        if len(sizes) == 1 or neighbours >= len(points):
            return
        # large components have been tried from many sides by now
        small = np.flatnonzero(sizes[component] <= max(1, int(SMALL * len(points))))
        small = small[np.argsort(-values[small], kind="stable")][: MOST_EDGES // neighbours]
        edges = nearest_edges(points[small], points, neighbours, small)
        edges = edges[component[edges[:, 0]] != component[edges[:, 1]]]
        search.join(edges)
        before = len(sizes)
        component, sizes, innermost = search.members()
        if len(sizes) == before:
            return
