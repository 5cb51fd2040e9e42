"""The graph of a domain: which samples straight lines inside connect, and where lines leave it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core.outcomes import Domain
from clusterkit.core.params import check_count
from clusterkit.plots._figure import (
    FAINT,
    INK,
    LEGEND_ENTRIES,
    STYLES,
    axes_for,
    check_axes,
    counted,
    draw_points,
    finish,
    frame,
    of_clusters,
    raster,
    styles_of,
)
from clusterkit.plots._fitted import FittedDomain
from clusterkit.plots._plane import Plane
from clusterkit.plots.domains import draw_domain, plane_of

__all__ = ["Graph", "connectivity", "graph_of"]

NEIGHBOURS = 8
WIDER = (16, 128, 1024)
"""Neighbours looked at, one after the other, for a line between pieces that near lines left apart."""
COMPONENTS = 40
"""Largest components whose shortest lines to the others are looked for."""
SHORTEST = 3
DEFAULT_M = 20


def connectivity(
    model: Any,
    X: Any,
    ax: Any = None,
    *,
    max_edges: int = 3000,
    dims: tuple[int, int] | None = None,
    names: Sequence[str] | None = None,
    legend: bool = True,
) -> Any:
    """Draw the lines between samples that stay inside the domain, and near ones that leave it.

    The lines inside are a spanning forest of the complete graph, short ones first: enough of them to see what hangs
    together. Those between samples of one cluster have its colour, others are dashed: labelers other than
    ``complete_graph`` may separate what a line joins. Grey dotted lines are the three shortest between any two near
    components; each leaves the domain somewhere. Coordinates are those of `contours`; lines are tested in all of
    them. For one coordinate a line follows the value above it.

    Parameters
    ----------
    model : fitted estimator
        Its outcome is a domain, as for recipe ``svc``.
    X : array of shape (n, d)
        What it was fitted on.
    ax : Axes, optional
        Where to draw; default: a new figure of pyplot.
    max_edges : int, default 3000
        Most lines inside that are drawn, the longest first, and most that leave it, the shortest first.
    dims : pair of int, optional
        Coordinates to draw instead of principal components.
    names : sequence of str, optional
        Of the attributes.
    legend : bool, default True
        Whether to put a legend beside the axes.

    Returns
    -------
    Axes

    Raises
    ------
    IncompatibleStages, InvalidParameter, InvalidData, NotFittedError
        As `contours`.
    ImportError
        If matplotlib is missing.

    Notes
    -----
    The lines are tested at as many points as the model's labeler does, at 20 where it has no `m`. The search for
    components costs what ``complete_graph`` costs. Where a component hangs together by a few long lines only, one
    may stay undrawn.
    """
    check_axes(ax, "connectivity")
    check_count("connectivity: max_edges", max_edges)
    fitted = FittedDomain.of(model, X, names, "connectivity")
    plane = plane_of(fitted, dims, "connectivity")
    graph = graph_of(fitted.domain, fitted.points, _samples(model))
    places, labels = plane(fitted.points), fitted.labels
    own, ax = ax is None, axes_for(ax)
    marks = draw_domain(ax, fitted.domain, plane, places, fill=False)
    marks += _draw_graph(ax, plane, fitted.points, labels, graph, max_edges)
    points = draw_points(ax, places, labels, LEGEND_ENTRIES - len(marks), scale=0.45)
    inside = f"{counted(graph.inside, 'sample')} inside in {counted(graph.n_components, 'component')}"
    title = [of_clusters(labels), f"{inside}, {counted(len(graph.edges), 'line')} join them", plane.note]
    frame(ax, "\n".join(line for line in title if line), plane.names)
    return finish(ax, [*points, *marks] if legend else [], None if plane.height else places, own=own)


def _samples(model: Any) -> int:
    m = model.get_params().get("labeler__m", DEFAULT_M)
    return int(m)


@final
@attrs.frozen(eq=False)
class Graph:
    """Lines between samples.

    Parameters
    ----------
    edges : ndarray of shape (e, 2)
        A spanning forest of lines inside, the longest first.
    rejected : ndarray of shape (r, 2)
        Short lines between different components, the shortest first.
    n_components : int
        Of the complete graph.
    inside : int
        Samples inside the domain.
    """

    edges: Array
    rejected: Array
    n_components: int
    inside: int


def graph_of(domain: Domain, points: Array, m: int) -> Graph:
    """Lines between the rows of `points` (n, d), tested at m points each; indices are of these rows."""
    from scipy.sparse.csgraph import connected_components

    from clusterkit.level_sets.neighbours import nearest_edges
    from clusterkit.level_sets.segment_test import segment_test
    from clusterkit.numerics.distinct_rows_jit import distinct_rows

    points = np.ascontiguousarray(points, dtype=np.float64)
    first, inverse = distinct_rows(points)
    test = segment_test(domain, m)
    is_inside = test.inside(points[first])
    index = first[is_inside]
    rows = np.ascontiguousarray(points[index])
    if not len(rows):
        return Graph(np.empty((0, 2), dtype=np.intp), np.empty((0, 2), dtype=np.intp), 0, 0)
    near = nearest_edges(rows, rows, NEIGHBOURS)
    hit = test.connected(rows[near[:, 0]], rows[near[:, 1]])
    forest = _forest(rows, near[hit])
    search = test.search(rows, "connectivity")
    search.join(forest)
    search.complete()
    component = np.unique(search.members(), return_inverse=True)[1].reshape(-1)
    piece = connected_components(_matrix(rows, forest), directed=False)[1]
    forest = np.concatenate([forest, *_joins(test, rows, piece, component)])
    apart = near[component[near[:, 0]] != component[near[:, 1]]]
    rejected = _few(rows, np.concatenate([apart, *_shortest_between(rows, component)]), component)
    edges = forest[np.argsort(-_lengths(rows, forest), kind="stable")]
    return Graph(index[edges], index[rejected], int(component.max()) + 1, int(is_inside[inverse].sum()))


def _lengths(rows: Array, edges: Array) -> Array:
    return np.sqrt(np.square(rows[edges[:, 0]] - rows[edges[:, 1]]).sum(axis=1))


def _matrix(rows: Array, edges: Array) -> Any:
    from scipy.sparse import coo_array

    return coo_array((_lengths(rows, edges), edges.T), shape=(len(rows), len(rows))).tocsr()


def _forest(rows: Array, edges: Array) -> Array:
    """The shortest edges that join what all of them join."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    tree = minimum_spanning_tree(_matrix(rows, edges)).tocoo()
    return np.column_stack([tree.row, tree.col]).astype(np.int64)


def _joins(test: Any, rows: Array, piece: Labels, component: Labels) -> list[Array]:
    """A line from each piece of a component but the last to the rest, if near ones have one; small pieces first."""
    joins = []
    for number in np.unique(component):
        own = np.flatnonzero(component == number)
        pieces = piece[own]  # changed below: what is joined is one piece
        found, counts = np.unique(pieces, return_counts=True)
        for small in found[np.argsort(counts, kind="stable")][:-1]:
            mine = pieces == pieces[np.argmax(piece[own] == small)]
            if mine.all():
                break
            line = _line_between(test, rows, own[mine], own[~mine])
            if line is not None:
                joins.append(line[None])
                other = pieces[np.argmax(own == line[1])]
                pieces[mine] = other
    return joins


def _line_between(test: Any, rows: Array, mine: Array, others: Array) -> Array | None:
    """The shortest line inside from one set of rows to another among some neighbours; None if there is none."""
    from sklearn.neighbors import NearestNeighbors

    finder = NearestNeighbors().fit(rows[others])
    seen = 0
    for wanted in WIDER:
        k = min(wanted, len(others))
        if k == seen:
            return None
        distances, found = finder.kneighbors(rows[mine], n_neighbors=k)
        pairs = np.column_stack([np.repeat(mine, k - seen), others[found[:, seen:].reshape(-1)]])
        pairs = pairs[np.argsort(distances[:, seen:].reshape(-1), kind="stable")]
        hit = test.connected(rows[pairs[:, 0]], rows[pairs[:, 1]])
        if hit.any():
            return np.asarray(pairs[np.argmax(hit)], dtype=np.int64)
        seen = k
    return None


def _shortest_between(rows: Array, component: Labels) -> list[Array]:
    """The shortest lines from each of the largest components to any other."""
    from clusterkit.level_sets.neighbours import nearest_rows

    found, counts = np.unique(component, return_counts=True)
    lines = []
    for number in found[np.argsort(-counts, kind="stable")][:COMPONENTS] if len(found) > 1 else ():
        mine, others = np.flatnonzero(component == number), np.flatnonzero(component != number)
        edges = np.column_stack([mine, others[nearest_rows(rows[mine], rows[others])]])
        lines.append(edges[np.argsort(_lengths(rows, edges), kind="stable")][:SHORTEST])
    return lines


def _few(rows: Array, edges: Array, component: Labels) -> Array:
    """The shortest edges between each two components, `SHORTEST` at most, by length."""
    if not len(edges):
        return edges
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    edges = edges[np.argsort(_lengths(rows, edges), kind="stable")]
    pair = np.sort(component[edges], axis=1)
    key = pair[:, 0] * (int(component.max()) + 1) + pair[:, 1]
    order = np.argsort(key, kind="stable")
    first = np.concatenate([[0], np.flatnonzero(np.diff(key[order])) + 1])
    rank = np.arange(len(key)) - np.repeat(first, np.diff([*first, len(key)]))
    return edges[np.sort(order[rank < SHORTEST])]


def _draw_graph(ax: Any, plane: Plane, points: Array, labels: Labels, graph: Graph, most: int) -> list[Any]:
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    def segments(edges: Array) -> list[Array]:
        # the heights above one coordinate are no straight line
        steps = np.linspace(0.0, 1.0, 2 if plane.height is None else 33)[:, None, None]
        ends = points[edges].astype(np.float64, copy=False)
        line = (1.0 - steps) * ends[:, 0] + steps * ends[:, 1]  # (steps, e, d)
        return list(plane(line.reshape(-1, points.shape[1])).reshape(len(steps), len(edges), 2).swapaxes(0, 1))

    edges, rejected = graph.edges[:most], graph.rejected[:most]
    same = labels[edges[:, 0]] == labels[edges[:, 1]]
    style = styles_of(labels)
    colors = [STYLES[i][0] if i >= 0 else FAINT for i in style[edges[same, 0]]]
    many = raster(len(edges))
    marks = []
    if len(edges):
        some = f": {len(edges):,} of {len(graph.edges):,}" if len(edges) < len(graph.edges) else ""
        lines = LineCollection(
            segments(edges[same]), colors=colors, linewidths=1.2, zorder=2.5, label="line inside", rasterized=many
        )
        ax.add_collection(lines, autolim=False)
        marks.append(Line2D([], [], color=STYLES[0][0], linewidth=1.0, label=f"line inside{some}"))
    if not same.all():
        lines = LineCollection(
            segments(edges[~same]), colors=INK, linewidths=1.0, linestyles="dashed", zorder=2.6,
            label="inside, between clusters",
        )  # fmt: skip
        ax.add_collection(lines, autolim=False)
        marks.append(Line2D([], [], color=INK, linewidth=1.0, linestyle="--", label="inside, between clusters"))
    if len(rejected):
        lines = LineCollection(
            segments(rejected), colors=FAINT, linewidths=1.1, linestyles="dotted", zorder=2.4, label="leaves the domain"
        )
        ax.add_collection(lines, autolim=False)
        marks.append(Line2D([], [], color=FAINT, linewidth=0.9, linestyle=":", label="leaves the domain"))
    return marks
