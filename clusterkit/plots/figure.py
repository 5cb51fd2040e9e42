"""Shared parts of all plots, also of plugins: axes, colours, the points of clusters, legends beside the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array, Indices, Labels
from clusterkit.core.errors import InvalidParameter
from clusterkit.core.wording import counted

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = [
    "COLORS",
    "FAINT",
    "INK",
    "LEGEND_ENTRIES",
    "SIZE",
    "SPINES",
    "STYLES",
    "TITLE",
    "AxesArray",
    "ObjectArray",
    "axes_for",
    "check_axes",
    "counted",
    "draw_points",
    "finish",
    "fit_height",
    "frame",
    "matplotlib_or_raise",
    "of_clusters",
    "point_size",
    "raster",
    "styles_of",
]

ObjectArray: TypeAlias = NDArray[np.object_]
"""An array of axes, as `matplotlib.figure.Figure.subplots` returns it."""

AxesArray: TypeAlias = "ObjectArray | Sequence[Axes] | Sequence[Sequence[Axes]]"
"""Several axes, as a user passes them."""

COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
"""The colours of Okabe and Ito, distinguishable with any colour vision, without black (used for text) and yellow (too
pale for small points)."""
MARKERS = ("o", "^", "D", "v", "p", "<", ">")
"""Markers of clusters: further clusters repeat the colours with another marker. Rings and squares around points mark
support vectors, crosses noise and stars equilibria, so none of these marks a cluster after the first six."""
STYLES = tuple((color, marker) for marker in MARKERS for color in COLORS)
"""Colour and marker of each cluster, in order."""
INK, FAINT = "#222222", "#808080"
"""Colours of lines and text, and of noise and secondary lines."""
SPINES = "#cccccc"
"""Colour of the lines around the data."""
TITLE = 10.5
"""Size of the letters of a title in points."""

LEGEND_ENTRIES = 10
"""Most lines of a legend: more would be higher than the axes."""
MOST_NUMBERS = 40
"""At most so many clusters have their number written into the plot, where the legend cannot name them all."""
RASTER_FROM = 5000
"""With at least so many points a PDF or SVG has an image of them instead of single points."""
SIZE = (7.4, 5.0)
"""Width and height of a new figure in inches."""
HEIGHTS = (2.6, 6.6)
"""Least and largest height in inches to which a new figure is adjusted."""
STRETCH = 8.0
"""Ratio of the two ranges up to which both axes have the same unit."""


def matplotlib_or_raise() -> None:
    """Raise a clear ImportError if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "pictures need matplotlib: install it, or clusterkit-toolkit with the extra 'plots'"
        ) from error


def axes_for(ax: Axes | None) -> Axes:
    """The axes, or the axes of a new pyplot figure, which notebooks and ``pyplot.show`` display."""
    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(figsize=SIZE, layout="constrained")[1]
    return ax


def check_axes(ax: object, caller: str) -> None:
    """Raise InvalidParameter for anything but matplotlib axes or None, before anything is computed."""
    matplotlib_or_raise()
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        hint = "; give one of them" if isinstance(ax, np.ndarray | list | tuple) else ""
        raise InvalidParameter(f"{caller}: ax must be matplotlib axes or None, got {type(ax).__name__}{hint}")


def of_clusters(labels: Labels) -> str:
    """Text about labels for a title."""
    noise = int(np.sum(labels < 0))
    k = len(np.unique(labels[labels >= 0]))
    return f"{counted(k, 'cluster')} of {counted(len(labels), 'sample')}, {noise or 'no'} noise"


def styles_of(labels: Labels) -> Indices:
    """Index into `STYLES` for each label, -1 for noise: the label itself if there are enough styles, else its rank."""
    if labels.max(initial=-1) >= len(STYLES):
        ranks = np.unique(labels[labels >= 0], return_inverse=True)[1].reshape(-1)
        styles = np.full(len(labels), -1, dtype=np.intp)
        styles[labels >= 0] = ranks % len(STYLES)
        return styles
    return np.where(labels >= 0, labels, -1).astype(np.intp)


def point_size(n: int) -> float:
    """Area of a marker in points², smaller for many samples."""
    return float(np.clip(26.0 * np.sqrt(250.0 / max(n, 1)), 2.5, 26.0))


def raster(n: int) -> bool:
    """Whether so many marks are drawn as an image within vector graphics."""
    return n > RASTER_FROM


def draw_points(
    ax: Axes, places: Array, labels: Labels, room: int = LEGEND_ENTRIES, *, alpha: float = 1.0, scale: float = 1.0
) -> list[Artist]:
    """Scatter clusters and noise, and return at most `room` handles for the legend.

    There is one collection for each style in use, labelled with its cluster, and one for noise. If there are more
    clusters than room, the legend names the largest and the numbers of the clusters are written into the plot.

    Parameters
    ----------
    ax : Axes
    places : ndarray of shape (n, 2)
    labels : ndarray of shape (n,)
    room : int
    alpha : float
    scale : float
        Factor of the area of the markers.

    Returns
    -------
    list of artists
    """
    from matplotlib.lines import Line2D

    size, many = scale * point_size(len(places)), raster(len(places))
    names, counts = np.unique(labels[labels >= 0], return_counts=True)
    style = styles_of(labels)
    common: dict[str, Any] = {"rasterized": many, "alpha": alpha}
    noise = labels < 0
    handles: list[Any] = []
    if noise.any():
        room -= 1
        x, y = places[noise].T
        crosses = ax.scatter(x, y, s=1.3 * size, marker="x", color=FAINT, linewidth=0.9, zorder=3,
                             label=f"noise: {noise.sum():,}", **common)  # fmt: skip
        handles.append(crosses)
    drawn = {}
    for index in np.unique(style[~noise]):
        rows = style == index
        color, marker = STYLES[index]
        first = int(labels[rows][0])
        x, y = places[rows].T
        drawn[int(index)] = ax.scatter(
            x, y, s=size, color=color, marker=marker, edgecolor="white", linewidth=0.0 if many else 0.4,
            zorder=3, label=f"cluster {first}: {int(np.sum(labels == first)):,}", **common,
        )  # fmt: skip
    if len(names) <= room:
        return [*drawn.values(), *handles]
    largest = np.sort(np.argsort(-counts, kind="stable")[: max(room - 1, 0)])
    named: list[Any] = []
    for place in largest:
        color, marker = STYLES[style[np.argmax(labels == names[place])]]
        text = f"cluster {names[place]}: {counts[place]:,}"
        named.append(Line2D([], [], linestyle="", marker=marker, color=color, markersize=5, label=text))
    others = len(names) - len(largest)
    rest = Line2D([], [], linestyle="", label=f"and {counted(others, 'more cluster')}")
    _draw_numbers(ax, places, labels, names[np.argsort(-counts, kind="stable")][:MOST_NUMBERS])
    return [*named, rest, *handles]


def _draw_numbers(ax: Any, places: Array, labels: Labels, which: Labels) -> None:
    """Write the number of each cluster at its sample nearest to the median of the cluster."""
    from matplotlib.patheffects import withStroke

    for label in which:
        members = places[labels == label]
        middle = members[np.argmin(np.square(members - np.median(members, axis=0)).sum(axis=1))]
        ax.annotate(
            str(label), middle, fontsize=8, fontweight="bold", color=INK, ha="center", va="center", zorder=6,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )  # fmt: skip


def frame(ax: Axes, title: str, names: Sequence[str]) -> None:
    """Set title, names of the axes and light spines; names of columns may have dollar signs, which begin no formula."""
    ax.set_title(title, fontsize=TITLE, loc="left", color=INK, parse_math=False)
    ax.set_xlabel(names[0], color=INK, parse_math=False)
    ax.set_ylabel(names[1], color=INK, parse_math=False)
    ax.tick_params(colors=FAINT, labelsize=8)
    for spine in ax.spines.values():
        spine.set_color(SPINES)


def finish(ax: Axes, handles: Sequence[Artist], places: Array | None, *, new_figure: bool) -> Axes:
    """Add a legend beside the data and, if possible, equal units on both axes.

    Parameters
    ----------
    ax : Axes
    handles : list of artists
        For the legend; empty: no legend.
    places : ndarray of shape (n, 2) or None
        Places of the data; both axes get the same unit unless one range is much longer. None: the axes have
        different quantities.
    new_figure : bool
        Whether the figure was made for these axes; its height is then adjusted to the equal units.

    Returns
    -------
    Axes
    """
    if handles:
        ax.legend(
            handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False,
            fontsize=8.5, handletextpad=0.5,
        )  # fmt: skip
    if places is None or not len(places):
        return ax
    width, height = np.ptp(places, axis=0)
    if 0 < max(width, height) <= STRETCH * min(width, height):
        # adjust the limits, not the box: layouts leave the wrong space for names beside a box that shrinks later
        ax.set_aspect("equal", adjustable="box" if _shares_both(ax) else "datalim")
        if new_figure:
            fit_height(ax)
    return ax


def fit_height(ax: Axes) -> None:
    """Adjust the height of the figure to the equal units of its only axes."""
    figure: Any = ax.figure
    aspect = ax.get_aspect()
    if aspect == "auto":
        return
    ax.set_aspect("auto")  # otherwise the layout already changes the limits
    figure.get_layout_engine().execute(figure)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    width, height = figure.get_size_inches()
    box = ax.get_position()
    suited = height * (1.0 - box.height) + width * box.width * (top - bottom) / (right - left)
    figure.set_size_inches(width, float(np.clip(suited, *HEIGHTS)))
    ax.set_aspect(aspect)


def _shares_both(ax: Any) -> bool:
    """Whether other axes share both directions, so that the limits are fixed."""
    return all(len(group.get_siblings(ax)) > 1 for group in (ax.get_shared_x_axes(), ax.get_shared_y_axes()))
