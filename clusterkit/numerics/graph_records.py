"""The graph of neighbours and the merge tree as records: arrays alone, so that spaces and outcomes may hold them."""

from __future__ import annotations

import attrs
import numpy as np

from clusterkit._typing import Array, Floats, Indices, Labels
from clusterkit.numerics.shapes import array, scalar

__all__ = ["MergeTree", "NeighbourGraph"]


@attrs.frozen(eq=False)
class NeighbourGraph:
    """Rows joined to their nearest others, with weights of shared neighbours.

    Parameters
    ----------
    rows : ndarray of int, shape (u,)
        The vertices: distinct rows of the samples, in the order of `search.canonical_order`. Where most samples are in
        groups of equal ones, each group is several vertices.
    place : ndarray of int, shape (n,)
        The vertex of every sample, of several the first.
    index : ndarray of int32, shape (u, k)
        Neighbours of the vertices, nearest first.
    starts, tails, weights : ndarray of shape (u + 1,), (e,), (e,)
        Edges of each vertex in a compressed form: symmetric, each in both directions, sorted.
    method : str
        How neighbours were searched: "exact", "sketch" or "cells".
    recall : float
        Share of the true neighbours that were found, estimated on some rows.
    sketch : int or None
        Axes of the sketch.
    components : int
        Parts of the graph that no edge joins.
    """

    rows: Indices = attrs.field(validator=array("u", below="n", distinct=True))
    place: Indices = attrs.field(validator=array("n", below="u"))
    index: Indices = attrs.field(validator=array("u k", below="u"))
    starts: Indices = attrs.field(validator=array("u+1", divides="e"))
    tails: Indices = attrs.field(validator=array("e", below="u"))
    weights: Array = attrs.field(validator=array("e", least=0))
    method: str
    recall: float = attrs.field(validator=scalar(least=0, most=1))
    sketch: int | None = attrs.field(validator=scalar(least=1))
    components: int = attrs.field(validator=scalar(least=1, most="u"))

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.rows)

    @property
    def facts(self) -> dict[str, object]:
        """The search in short, for `resolved_`."""
        facts: dict[str, object] = {"neighbours": self.method}
        if self.method != "exact":
            facts["recall"] = round(self.recall, 3)
        if self.sketch is not None:
            facts["sketch"] = self.sketch
        distinct = len(np.unique(self.place))
        if distinct < len(self.place):
            facts["distinct_rows"] = distinct
        if self.components > 1:
            facts["components"] = self.components
        return facts


@attrs.frozen(eq=False)
class MergeTree:
    """Communities of the vertices, and the merges that join all of them.

    Parameters
    ----------
    community : ndarray of int, shape (u,)
        The community of each vertex, 0..m-1.
    merges : ndarray of int, shape (m - 1, 2)
        What is joined, in falling order of similarity: communities, and from m on earlier merges.
    similarity : ndarray of shape (m - 1,)
        ``W_ab Σ_ij W_ij / (vol_a vol_b)`` of the two: 1 if they are joined as often as by chance.
    sizes : ndarray of shape (m,)
        Vertices of each community, or where groups of equal rows are several vertices its rows.
    top : float
        Similarity at which such a group would part, which it never does; infinite without such groups.
    """

    community: Labels = attrs.field(validator=array("u", below="m"))
    merges: Indices = attrs.field(validator=array("m-1 2", least=0, distinct=True))
    similarity: Array = attrs.field(validator=array("m-1"))
    sizes: Floats = attrs.field(validator=array("m", least=0))
    top: float = np.inf

    def check_saved(self) -> None:
        """Raise ValueError unless every community has a vertex, and merges join what there is before them."""
        m = len(self.merges) + 1
        if (self.merges >= m + np.arange(m - 1)[:, None]).any() or len(np.unique(self.community)) < m:
            raise ValueError("MergeTree: merges is no tree of the communities")

    @property
    def n(self) -> int:
        """Number of vertices, or of rows."""
        return int(self.sizes.sum())
