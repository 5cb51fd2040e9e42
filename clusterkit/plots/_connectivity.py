"""`connectivity`: the graph of a domain, with the segments inside it and the segments that leave it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, ArrayLike, Indices, Labels
from clusterkit.contracts.arguments import Clusterer
from clusterkit.contracts.outcomes import Domain
from clusterkit.contracts.params import check_count
from clusterkit.errors import counted
from clusterkit.numerics.selection import distinct_rows
from clusterkit.plots._domains import draw_domain, projection_of
from clusterkit.plots.figure import (
    FAINT,
    INK,
    LEGEND_ENTRIES,
    STYLES,
    FittedDomain,
    Projection,
    axes_for,
    check_axes,
    draw_points,
    finish,
    frame,
    of_clusters,
    raster,
    styles_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SegmentGraph", "connectivity", "graph_of"]

NEIGHBOURS = 8
"""Nearest neighbours of each sample whose segments are tested first: these join most of a component."""
WIDER = (16, 128, 1024)
"""Numbers of neighbours tried in turn for a segment between parts of a component that near segments left apart."""
COMPONENTS = 40
"""Shortest segments to other components are searched for this many of the largest components."""
SHORTEST = 3
"""Most segments drawn between two components."""
DEFAULT_SEGMENT_POINTS = 20
"""Points tested on a segment for a labeler without such a parameter: the default of ``complete_graph``."""


def connectivity(
    model: Clusterer,
    X: ArrayLike,
    ax: Axes | None = None,
    *,
    max_edges: int = 3000,
    dims: tuple[int, int] | None = None,
    names: Sequence[str] | None = None,
    legend: bool = True,
) -> Axes:
    """Draw segments between samples that stay inside the domain, and short ones that leave it.

    The segments inside are a spanning forest of the complete graph made of short segments, which is enough to show its
    components. Segments between samples of one cluster have its colour; others are dashed, because labelers other than
    ``complete_graph`` may separate what a segment joins. Grey dotted lines are the three shortest segments between any
    two near components; each of them leaves the domain somewhere. Coordinates are those of `contours`; segments are
    tested in all coordinates. For one coordinate a segment follows the value above it.

    Parameters
    ----------
    model : fitted estimator
        A model whose outcome is a domain, as for recipe ``svc``.
    X : array of shape (n, d)
        The data of the fit.
    ax : Axes, optional
        Axes to draw on; default: a new pyplot figure.
    max_edges : int, default 3000
        Most segments inside that are drawn, the longest first, and most segments that leave the domain, the shortest
        first.
    dims : pair of int, optional
        Coordinates to draw instead of principal components.
    names : sequence of str, optional
        Names of the attributes.
    legend : bool, default True
        Whether to put a legend beside the axes.

    Returns
    -------
    Axes

    Raises
    ------
    IncompatibleStages, InvalidParameter, InvalidData, NotFittedError
        Raised as in `contours`.
    ImportError
        If matplotlib is missing.

    Notes
    -----
    The segments are tested at as many points as the model's labeler tests, at 20 if it has no `n_segment_points`. The
    search for components costs as much as ``complete_graph``. If a component is connected by a few long segments only,
    one of them may be missing in the plot.
    """
    check_axes(ax, "connectivity")
    check_count("connectivity: max_edges", max_edges)
    fitted = FittedDomain.of(model, X, names, "connectivity")
    projection = projection_of(fitted, dims, "connectivity")
    graph = graph_of(fitted.domain, fitted.points, _segment_points(model))
    places, labels = projection(fitted.points), fitted.labels
    new_figure, ax = ax is None, axes_for(ax)
    marks = draw_domain(ax, fitted.domain, projection, places, fill=False)
    marks += _draw_graph(ax, projection, fitted.points, labels, graph, max_edges)
    points = draw_points(ax, places, labels, LEGEND_ENTRIES - len(marks), scale=0.45)
    inside = f"{counted(graph.inside, 'sample')} inside in {counted(graph.n_components, 'component')}"
    title = [of_clusters(labels), f"{inside}, {counted(len(graph.edges), 'line')} join them", projection.note]
    frame(ax, "\n".join(line for line in title if line), projection.names)
    return finish(ax, [*points, *marks] if legend else [], None if projection.height else places, new_figure=new_figure)


def _segment_points(model: Any) -> int:
    """Points that the labeler of a model tests on a line."""
    return int(model.get_params().get("labeler__n_segment_points", DEFAULT_SEGMENT_POINTS))


@final
@attrs.frozen(eq=False)
class SegmentGraph:
    """Segments between samples.

    Parameters
    ----------
    edges : ndarray of shape (e, 2)
        A spanning forest of segments inside, the longest first.
    rejected : ndarray of shape (r, 2)
        Short segments between different components, the shortest first.
    n_components : int
        Number of components of the complete graph.
    inside : int
        Number of samples inside the domain.
    """

    edges: Indices
    rejected: Indices
    n_components: int
    inside: int


def graph_of(domain: Domain, points: Array, n_segment_points: int) -> SegmentGraph:
    """Segments between the rows of `points` (n, d), each tested at `n_segment_points` points; indices are of rows."""
    from scipy.sparse.csgraph import connected_components

    from clusterkit.families.support_vectors.level_sets.neighbours import nearest_edges
    from clusterkit.families.support_vectors.level_sets.segment_test import segment_test

    points = np.ascontiguousarray(points, dtype=np.float64)
    first, inverse = distinct_rows(points)
    test = segment_test(domain, n_segment_points)
    is_inside = test.inside(points[first])
    index = first[is_inside]
    rows = np.ascontiguousarray(points[index])
    if not len(rows):
        return SegmentGraph(np.empty((0, 2), dtype=np.intp), np.empty((0, 2), dtype=np.intp), 0, 0)
    near = nearest_edges(rows, NEIGHBOURS)
    hit = test.connected(rows[near[:, 0]], rows[near[:, 1]])
    forest = _forest(rows, near[hit])
    search = test.search(rows, "connectivity")
    search.complete()
    component = np.unique(search.members(), return_inverse=True)[1].reshape(-1)
    part = connected_components(_matrix(rows, forest), directed=False)[1]
    forest = np.concatenate([forest, *_joins(test, rows, part, component)])
    apart = near[component[near[:, 0]] != component[near[:, 1]]]
    rejected = _few(rows, np.concatenate([apart, *_shortest_between(rows, component)]), component)
    edges = forest[np.argsort(-_lengths(rows, forest), kind="stable")]
    return SegmentGraph(index[edges], index[rejected], int(component.max()) + 1, int(is_inside[inverse].sum()))


def _lengths(rows: Array, edges: Indices) -> Array:
    return np.sqrt(np.square(rows[edges[:, 0]] - rows[edges[:, 1]]).sum(axis=1))


def _matrix(rows: Array, edges: Indices) -> Any:
    from scipy.sparse import coo_array

    ends = edges.T.astype(np.int32)  # the searches of graphs of SciPy 1.15 refuse wider ones
    return coo_array((_lengths(rows, edges), ends), shape=(len(rows), len(rows))).tocsr()


def _forest(rows: Array, edges: Indices) -> Indices:
    """A minimum spanning forest of the edges."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    tree = minimum_spanning_tree(_matrix(rows, edges)).tocoo()
    return np.column_stack([tree.row, tree.col]).astype(np.int64)


def _joins(test: Any, rows: Array, part: Labels, component: Labels) -> list[Indices]:
    """Segments that join the parts of each component, the smallest parts first, where near rows have such a segment."""
    joins = []
    for number in np.unique(component):
        members = np.flatnonzero(component == number)
        parts = part[members]  # changed below: joined parts become one
        names, counts = np.unique(parts, return_counts=True)
        for small in names[np.argsort(counts, kind="stable")][:-1]:
            inside = parts == parts[np.argmax(part[members] == small)]
            if inside.all():
                break
            line = _line_between(test, rows, members[inside], members[~inside])
            if line is not None:
                joins.append(line[None])
                parts[inside] = parts[np.argmax(members == line[1])]
    return joins


def _line_between(test: Any, rows: Array, ones: Indices, others: Indices) -> Indices | None:
    """The shortest segment inside from one set of rows to another among near neighbours; None if there is none."""
    from sklearn.neighbors import NearestNeighbors

    finder = NearestNeighbors().fit(rows[others])
    seen = 0
    for n_neighbours in WIDER:
        k = min(n_neighbours, len(others))
        if k == seen:
            return None
        distances, neighbours = finder.kneighbors(rows[ones], n_neighbors=k)
        pairs = np.column_stack([np.repeat(ones, k - seen), others[neighbours[:, seen:].reshape(-1)]])
        pairs = pairs[np.argsort(distances[:, seen:].reshape(-1), kind="stable")]
        hit = test.connected(rows[pairs[:, 0]], rows[pairs[:, 1]])
        if hit.any():
            return np.asarray(pairs[np.argmax(hit)], dtype=np.int64)
        seen = k
    return None


def _shortest_between(rows: Array, component: Labels) -> list[Indices]:
    """The shortest segments from each of the largest components to any other component."""
    from clusterkit.families.support_vectors.level_sets.neighbours import nearest_rows

    numbers, counts = np.unique(component, return_counts=True)
    lines = []
    for number in numbers[np.argsort(-counts, kind="stable")][:COMPONENTS] if len(numbers) > 1 else ():
        members, others = np.flatnonzero(component == number), np.flatnonzero(component != number)
        edges = np.column_stack([members, others[nearest_rows(rows[members], rows[others])]])
        lines.append(edges[np.argsort(_lengths(rows, edges), kind="stable")][:SHORTEST])
    return lines


def _few(rows: Array, edges: Indices, component: Labels) -> Indices:
    """The shortest edges between any two components, at most `SHORTEST` of them, sorted by length."""
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


def _draw_graph(
    ax: Any, projection: Projection, points: Array, labels: Labels, graph: SegmentGraph, most: int
) -> list[Any]:
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    def segments(edges: Indices) -> list[Array]:
        # above one coordinate the values along a segment are no straight line
        steps = np.linspace(0.0, 1.0, 2 if projection.height is None else 33)[:, None, None]
        ends = points[edges].astype(np.float64, copy=False)
        line = (1.0 - steps) * ends[:, 0] + steps * ends[:, 1]  # (steps, e, d)
        return list(projection(line.reshape(-1, points.shape[1])).reshape(len(steps), len(edges), 2).swapaxes(0, 1))

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
