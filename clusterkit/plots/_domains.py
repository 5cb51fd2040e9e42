"""`contours`: the border of a domain, with its clusters, its noise and its support vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clusterkit._typing import Array, ArrayLike
from clusterkit.contracts.arguments import Clusterer
from clusterkit.contracts.outcomes import Domain, KernelDomain
from clusterkit.contracts.params import check_count
from clusterkit.plots.figure import (
    INK,
    LEGEND_ENTRIES,
    FittedDomain,
    Projection,
    Supports,
    axes_for,
    check_axes,
    draw_points,
    finish,
    frame,
    of_clusters,
    point_size,
    raster,
)
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.transform import block_plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LEAST_GRID, LARGEST_GRID = 200, 500
"""Range of grid points on each side: fewer give visible corners, more take seconds."""
CELLS = 6.0
"""Grid cells on a length of 1 / sqrt(gamma), the width of a kernel."""
MARGIN = 0.06
"""Margin around the data, as a share of their extent: enough that no point touches the frame; drawing only."""
GROWTHS = 5
"""Largest number of doublings of the margin until the border lies within the plot."""
HEIGHT = "value of the domain"
"""Name of the second axis for one coordinate."""


def contours(
    model: Clusterer,
    X: ArrayLike,
    ax: Axes | None = None,
    *,
    dims: tuple[int, int] | None = None,
    names: Sequence[str] | None = None,
    grid: int | None = None,
    fill: bool = True,
    supports: bool = True,
    legend: bool = True,
) -> Axes:
    """Draw the domain of a model, its clusters, and its support vectors.

    The line is the border, where ``outcome_.value(x) = outcome_.level``; darker shades of grey are further inside.
    Clusters have colours, noise is drawn as grey crosses, free support vectors have rings, and support vectors at their
    bound squares.

    Everything is drawn in the coordinates of the domain, which are the input of the kernel: the data, or the data after
    the maps before the kernel (the names of the axes say so). For one coordinate the value of the domain is drawn above
    it, with the level as a line. For more than two coordinates the samples are projected on their first two principal
    components, or on `dims`, and no border is drawn: the border in the full space has no single curve in the plot.

    Parameters
    ----------
    model : fitted estimator
        A model whose outcome is a domain, as for recipes ``svc``, ``psvc``, ``fsvc`` and ``sgd-lmsvc``.
    X : array of shape (n, d)
        The data of the fit. The column names of a data frame become the names of the axes.
    ax : Axes, optional
        Axes to draw on; default: a new pyplot figure.
    dims : pair of int, optional
        Coordinates to draw instead of principal components.
    names : sequence of str, optional
        Names of the attributes.
    grid : int, optional
        Points on each side at which the domain is evaluated. Default: 200 to 500, more for narrower kernels.
    fill : bool, default True
        Whether to shade the inside.
    supports : bool, default True
        Whether to mark the support vectors.
    legend : bool, default True
        Whether to put a legend beside the axes.

    Returns
    -------
    Axes

    Raises
    ------
    IncompatibleStages, InvalidParameter, InvalidData, NotFittedError
        If the model has no domain, an argument is wrong, X is not the data of the fit, or the model is not fitted.
    ImportError
        If matplotlib is missing.

    Notes
    -----
    O(grid² s) kernel values for s centres, in blocks.

    Examples
    --------
    >>> from clusterkit import Pipeline, plots
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import make_moons
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> model = Pipeline({"name": "rbf", "gamma": 8.0}, "svdd", "complete_graph").fit(X)
    >>> ax = plots.contours(model, X, ax=Figure().subplots())
    >>> ax.get_title(loc="left").splitlines()[0]
    '2 clusters of 200 samples, no noise'
    """
    check_axes(ax, "contours")
    check_count("contours: grid", grid, at_least=2, optional=True)
    fitted = FittedDomain.of(model, X, names, "contours")
    height = (_DomainValues(fitted.domain), HEIGHT)
    projection = Projection.of(fitted.points, fitted.names, dims, "contours", height=height)
    places = projection(fitted.points)
    support_vectors = fitted.supports() if supports else None
    new_figure, ax = ax is None, axes_for(ax)
    marks = _draw_domain(ax, fitted.domain, projection, places, fill, grid)
    if support_vectors is not None:
        marks += _draw_supports(ax, projection, support_vectors, len(places))
    points = draw_points(ax, places, fitted.labels, LEGEND_ENTRIES - len(marks), model)
    note = projection.note and f"{projection.note}; no border"
    title = [of_clusters(fitted.labels), fitted.supports_title(), note]
    frame(ax, "\n".join(line for line in title if line), projection.names)
    return finish(ax, [*points, *marks] if legend else [], None if projection.height else places, new_figure=new_figure)


class _DomainValues:
    """Values of a domain at points (m, d), computed in blocks."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    def __call__(self, Y: Array) -> Array:
        values = np.empty(len(Y))
        width = len(self.domain.centres) if isinstance(self.domain, KernelDomain) else Y.shape[1]
        for rows in block_plan(len(Y), width, np.float64):
            values[rows] = self.domain.value(Y[rows])
        return values


def _draw_domain(
    ax: Any, domain: Domain, projection: Projection, places: Array, fill: bool, grid: int | None
) -> list[Any]:
    """Draw border and inside behind points at `places` (n, 2); returns handles for the legend, none for d > 2."""
    if projection.height is not None:
        return _draw_curve(ax, domain, projection.height, places, fill, grid)
    if not projection.keeps_space:
        return []
    return _draw_border(ax, domain, projection, places, fill, grid)


def _draw_border(
    ax: Any, domain: Domain, projection: Projection, places: Array, fill: bool, grid: int | None
) -> list[Any]:
    from matplotlib.lines import Line2D

    heights_of = _DomainValues(domain)
    margin, spans = MARGIN, _spans(places)
    for _ in range(GROWTHS):
        low, high = places.min(axis=0) - margin * spans, places.max(axis=0) + margin * spans
        if np.all(heights_of(projection.lift(_edge(low, high))) < domain.level):
            break
        margin *= 2.0
    count = [_fineness(domain, float(side), grid) for side in high - low]
    xs, ys = (np.linspace(low[i], high[i], count[i]) for i in (0, 1))
    mesh = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    heights = heights_of(projection.lift(mesh)).reshape(len(ys), len(xs))
    # a sample may be a narrow peak between grid points
    top = max(float(heights.max()), float(heights_of(projection.lift(places)).max()))
    ax.update_datalim([low, high])
    ax.margins(0.0)
    if not heights.min() < domain.level < heights.max():
        return []
    if fill:
        levels = np.linspace(domain.level, top, 6)
        depth = np.ptp(levels)
        ax.contourf(xs, ys, heights, levels=levels, cmap="Greys", vmin=levels[0] - 0.3 * depth,
                    vmax=levels[-1] + 2.4 * depth, zorder=0)  # fmt: skip
    border = ax.contour(xs, ys, heights, levels=[domain.level], colors=INK, linewidths=1.3,
                        linestyles="solid", zorder=2)  # fmt: skip
    border.set_label("border of the domain")
    return [Line2D([], [], color=INK, linewidth=1.3, label="border of the domain")]


def _spans(places: Array) -> Array:
    """Extent of the points on both axes, at least 5 % of the larger extent."""
    spans = np.ptp(places, axis=0)
    largest = float(spans.max())
    return np.maximum(spans, 0.05 * largest) if largest > 0 else np.ones(2)


def _edge(low: Array, high: Array) -> Array:
    """Points on the edge of the plot, 64 on each side."""
    xs, ys = (np.linspace(low[i], high[i], 64) for i in (0, 1))
    ones = np.ones(64)
    sides = [(xs, low[1] * ones), (xs, high[1] * ones), (low[0] * ones, ys), (high[0] * ones, ys)]
    return np.concatenate([np.column_stack(side) for side in sides])


def _fineness(domain: Domain, side: float, grid: int | None) -> int:
    """Number of grid points on a side of the plot, in proportion to the width of the kernel."""
    if grid is not None:
        return int(grid)
    points = 0.0
    if isinstance(domain, KernelDomain) and isinstance(domain.kernel, Gaussian):
        points = CELLS * side * math.sqrt(domain.kernel.gamma)
    return int(np.clip(points, LEAST_GRID, LARGEST_GRID))


def _draw_curve(ax: Any, domain: Domain, height: Any, places: Array, fill: bool, grid: int | None) -> list[Any]:
    """Draw the value of the domain above one coordinate, and the level."""
    from matplotlib.lines import Line2D

    low, high = float(places[:, 0].min()), float(places[:, 0].max())
    margin = 0.1 * (high - low) or 1.0
    xs = np.linspace(low - margin, high + margin, 4 * _fineness(domain, high - low, grid))
    values = height(xs[:, None])
    ax.plot(xs, values, color=INK, linewidth=1.0, zorder=1)
    ax.axhline(domain.level, color=INK, linewidth=1.3, linestyle="--", zorder=1)
    if fill:
        ax.fill_between(xs, domain.level, values, where=values >= domain.level, color="#dddddd", linewidth=0, zorder=0)
    ax.set_xlim(xs[0], xs[-1])
    return [Line2D([], [], color=INK, linewidth=1.3, linestyle="--", label="level of the border")]


def _draw_supports(ax: Any, projection: Projection, supports: Supports, n: int) -> list[Any]:
    """Draw rings around free support vectors and squares around bounded ones, wider than the points of n samples."""
    places = projection(supports.centres)
    size = float(np.clip(60.0 * np.sqrt(50.0 / len(places)), 1.3 * point_size(n) + 8.0, 60.0)) if len(places) else 0.0
    marks = []
    bounded = supports.bounded
    free = "free support vector" if bounded.any() else "support vector"
    for which, marker, text in ((~bounded, "o", free), (bounded, "s", "bounded support vector")):
        if which.any():
            number = int(which.sum())
            marks.append(
                ax.scatter(
                    *places[which].T,
                    s=size,
                    marker=marker,
                    facecolor="none",
                    edgecolor=INK,
                    linewidth=0.9 if len(places) <= 100 else 0.7,
                    zorder=4,
                    label=f"{text}s: {number:,}",
                    rasterized=raster(number),
                )
            )
    return marks
