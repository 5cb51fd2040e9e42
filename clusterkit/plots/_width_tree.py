"""`width_tree`: how clusters split as the kernel narrows, from one cluster to many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.core.errors import InvalidParameter
from clusterkit.core.labelings import cluster_sizes
from clusterkit.drivers.width_path import WidthPath
from clusterkit.plots._width_path import check_path, plateaus
from clusterkit.plots.figure import COLORS, FAINT, axes_for, check_axes, counted, frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["width_tree"]

BAR = 0.32
"""Width of the bar of a step, in steps; the rest is for the bands."""

GAP = 0.25
"""Share of the height that is left free between clusters at the step with most of them."""

MOST_GAPS = 12
"""With more clusters than this the gaps no longer grow."""


def width_tree(path: WidthPath, ax: Axes | None = None, *, min_share: float = 0.02) -> Axes:
    """Draw the tree of clusters over the widths of the kernel, wide at the left and narrow at the right.

    Each column is a width, each bar a cluster, as high as its share of the samples. Bands lead from a cluster to the
    clusters that its samples are in at the next width, so that a cluster that lasts is a long band, and a split is a
    fork. Colours are those of the clusters on the longest plateau. Samples in no cluster, or in clusters below
    `min_share`, leave the picture where they leave their cluster.

    Parameters
    ----------
    path : WidthPath
        The result of `clusterkit.width_path`.
    ax : Axes, optional
        Axes to draw on; default: a new pyplot figure.
    min_share : float, default 0.02
        Clusters with a smaller share of the samples are not drawn.

    Returns
    -------
    Axes

    Raises
    ------
    InvalidParameter
        If an argument is wrong, or the path has no step.
    ImportError
        If matplotlib is missing.

    Notes
    -----
    O(steps · n log n).

    Examples
    --------
    >>> from clusterkit import plots, width_path
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import make_moons
    >>> X, _ = make_moons(100, noise=0.05, random_state=0)
    >>> ax = plots.width_tree(width_path(X, n_gammas=6), ax=Figure().subplots())
    >>> ax.get_title(loc="left")
    'Clusters of 100 samples at 6 widths'
    """
    check_axes(ax, "width_tree")
    check_path(path, "width_tree")
    if not 0.0 <= min_share < 1.0:
        raise InvalidParameter(f"width_tree: min_share must be in [0, 1), got {min_share!r}")
    n = path.labels.shape[1]
    columns = _columns(path.labels, min_share)
    shades = _shades(path)
    ax = axes_for(ax)
    for step, column in enumerate(columns):
        for label, (bottom, top) in column.places.items():
            members = path.labels[step] == label
            ax.fill_between([step - BAR / 2, step + BAR / 2], bottom, top, color=_color(shades[members]), linewidth=0)
    for step in range(len(columns) - 1):
        _draw_bands(ax, step, path.labels[step : step + 2], columns[step : step + 2], shades)
    _name_steps(ax, path)
    names = ("gamma of the Gaussian kernel (narrower to the right)", "samples")
    frame(ax, f"Clusters of {counted(n, 'sample')} at {counted(len(path), 'width')}", names)
    return ax


@final
@attrs.frozen(eq=False)
class _Column:
    """The clusters at one width.

    Parameters
    ----------
    places : dict
        Label to the bottom and top of its bar.
    """

    places: dict[int, tuple[float, float]]


def _columns(labels: Labels, min_share: float) -> list[_Column]:
    """Places of the bars: clusters stand at each width in the order of the samples, with gaps between them."""
    n = labels.shape[1]
    order = _leaf_order(labels)
    rank = np.empty(n)
    rank[order] = np.arange(n)
    sizes = [cluster_sizes(row) for row in labels]
    most = max(map(len, sizes))
    gap = GAP * n / max(1, min(most, MOST_GAPS) - 1) if most > 1 else 0.0
    columns = []
    for row, counts in zip(labels, sizes, strict=True):
        shown = [label for label, size in counts.items() if size >= min_share * n]
        shown.sort(key=lambda label: float(rank[row == label].mean()))
        # the column is centred, so that bands of clusters that last are level
        height = sum(counts[label] for label in shown) + gap * max(0, len(shown) - 1)
        bottom = (n * (1.0 + GAP) - height) / 2
        places = {}
        for label in shown:
            places[label] = (bottom, bottom + counts[label])
            bottom += counts[label] + gap
        columns.append(_Column(places))
    return columns


def _leaf_order(labels: Labels) -> Indices:
    """Samples such that those that stay together longest are neighbours: by the labels at the widest kernel first."""
    return np.lexsort(labels[::-1])


def _shades(path: WidthPath) -> Indices:
    """Number of the colour of each sample: its cluster in the middle of the longest plateau, -1 for noise."""
    stretches = plateaus(path)
    if stretches:
        first, last = stretches[0]
        return path.labels[(first + last) // 2]
    several = np.flatnonzero(path.n_clusters > 1)
    return path.labels[several[0] if len(several) else 0]


def _color(shades: Indices) -> str:
    """The colour that most samples have."""
    known = shades[shades >= 0]
    return COLORS[int(np.bincount(known).argmax()) % len(COLORS)] if len(known) else FAINT


def _draw_bands(ax: Any, step: int, labels: Labels, columns: list[_Column], shades: Indices) -> None:
    """A band for each pair of clusters at neighbouring widths that share samples, as high as their number."""
    left = {label: bottom for label, (bottom, _) in columns[0].places.items()}
    right = {label: bottom for label, (bottom, _) in columns[1].places.items()}
    x = np.linspace(step + BAR / 2, step + 1 - BAR / 2, 20)
    ease = _smooth(np.linspace(0.0, 1.0, 20))
    # both sides are filled from below in the order of the other side, so that the bands of a cluster do not cross
    height = {(a, b): int(np.sum((labels[0] == a) & (labels[1] == b))) for a in left for b in right}
    starts, ends = {}, {}
    for a in left:
        for b in sorted(right, key=right.__getitem__):
            starts[a, b] = left[a]
            left[a] += height[a, b]
    bottoms = {label: bottom for label, (bottom, _) in columns[0].places.items()}
    for b in right:
        for a in sorted(bottoms, key=bottoms.__getitem__):
            ends[a, b] = right[b]
            right[b] += height[a, b]
    for (a, b), share in height.items():
        if share:
            low = starts[a, b] + ease * (ends[a, b] - starts[a, b])
            color = _color(shades[(labels[0] == a) & (labels[1] == b)])
            ax.fill_between(x, low, low + share, color=color, alpha=0.35, linewidth=0)


def _smooth(t: Array) -> Array:
    """From 0 to 1 with level ends."""
    return t * t * (3.0 - 2.0 * t)


def _name_steps(ax: Any, path: WidthPath) -> None:
    """gamma and the number of clusters below each step, as many as have room."""
    every = -(-len(path) // 12)
    steps = range(0, len(path), every)
    ax.set_xticks(list(steps), [f"{path.gamma[i]:.3g}\nk = {path.n_clusters[i]}" for i in steps])
    ax.set_yticks([])
