"""`width_path`: clusters, support vectors and noise at every bandwidth of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clusterkit._typing import Array, Counts
from clusterkit.contracts.arguments import Clusterer
from clusterkit.drivers.width_path import WidthPath
from clusterkit.errors import InvalidParameter
from clusterkit.plots.figure import COLORS, FAINT, INK, check_axes, frame, matplotlib_or_raise

if TYPE_CHECKING:
    from clusterkit.plots.figure import AxesArray, ObjectArray

__all__ = [
    "plateaus",
    "width_path",
]


LOGARITHMIC_FROM = 12
"""Number of clusters above which their axis is logarithmic."""
SHORTEST_PLATEAU = 3
"""Fewest steps of the path that count as a plateau."""
MOST_NAMED = 6
"""Most plateaus whose number of clusters is written, the longest ones: more would overlap."""


def width_path(
    path: WidthPath,
    axes: AxesArray | None = None,
    *,
    chosen: float | Clusterer | None = None,
    legend: bool = True,
) -> ObjectArray:
    """Draw the numbers of clusters, support vectors and noise samples against gamma.

    Plateaus, where the number of clusters does not change for three steps or more, are shaded and labelled with the
    number: a number of clusters that lasts is more credible.

    Parameters
    ----------
    path : WidthPath
        The result of `clusterkit.width_path`.
    axes : pair of Axes, optional
        Axes for the clusters and for the samples; default: a new pyplot figure.
    chosen : float or fitted estimator, optional
        The gamma to mark, or a model with this gamma.
    legend : bool, default True
        Whether to put a legend beside the axes.

    Returns
    -------
    ndarray of two Axes

    Raises
    ------
    InvalidParameter
        If an argument is wrong, or the path has no step.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from clusterkit import plots, width_path
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import make_moons
    >>> X, _ = make_moons(100, noise=0.05, random_state=0)
    >>> path = width_path(X, n_gammas=8)
    >>> top, bottom = plots.width_path(path, axes=Figure().subplots(2, 1, sharex=True))
    >>> bottom.get_xscale()
    'log'
    """
    matplotlib_or_raise()
    check_path(path, "width_path")
    pair = _checked(axes)
    gamma = _gamma(chosen)
    if pair is None:
        from matplotlib import pyplot

        pair = pyplot.subplots(2, 1, sharex=True, figsize=(7.4, 5.4), height_ratios=(1.3, 1), layout="constrained")[1]
    top, bottom = pair
    _draw_clusters(top, path)
    _draw_samples(bottom, path)
    for ax in pair:
        ax.set_xscale("log")
        if gamma is not None:
            ax.axvline(gamma, color=INK, linewidth=1.2, linestyle="--", label=f"chosen: {gamma:.4g}")
    n = path.labels.shape[1]
    few, many = int(path.n_clusters.min()), int(path.n_clusters.max())
    frame(top, f"{len(path)} widths, {few} to {many} clusters of {n:,} samples", ("", "clusters"))
    frame(bottom, "", ("gamma of the Gaussian kernel (narrower to the right)", "samples"))
    if legend:
        for ax in pair:
            ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False, fontsize=8.5)
    return np.asarray(pair)


def check_path(path: object, caller: str) -> None:
    """Raise InvalidParameter for anything but a path with at least one step."""
    if not isinstance(path, WidthPath):
        raise InvalidParameter(
            f"{caller}: needs what clusterkit.width_path(X) returns, got {type(path).__name__}"
            + ("; a fitted model is drawn by contours or clusters" if hasattr(path, "fit") else "")
        )
    if not len(path):
        raise InvalidParameter(f"{caller}: the path has no step")


def plateaus(path: WidthPath) -> list[tuple[int, int]]:
    """First and last step of every plateau, the longest first: at least three steps with the same k > 1."""
    change = np.flatnonzero(np.diff(path.n_clusters)) + 1
    firsts, ends = np.concatenate([[0], change]), np.concatenate([change, [len(path)]])
    stretches = [
        (int(first), int(end) - 1)
        for first, end in zip(firsts, ends, strict=True)
        if end - first >= SHORTEST_PLATEAU and path.n_clusters[first] > 1
    ]
    return sorted(stretches, key=lambda stretch: stretch[0] - stretch[1])


def _checked(axes: AxesArray | None) -> ObjectArray | None:
    if axes is None:
        return None
    pair = np.asarray(axes, dtype=object).reshape(-1)
    if len(pair) != 2:
        raise InvalidParameter(f"width_path: axes must be a pair of matplotlib axes or None, got {len(pair)}")
    for ax in pair:
        check_axes(ax, "width_path")
    return pair


def _gamma(chosen: Any) -> float | None:
    if chosen is None:
        return None
    if hasattr(chosen, "fit"):
        gamma = getattr(getattr(getattr(chosen, "space_", None), "kernel", None), "gamma", None)
        if gamma is None:
            raise InvalidParameter(
                f"width_path: chosen must be a gamma or a fitted model with a Gaussian kernel, got "
                f"{type(chosen).__name__} without one"
            )
        return float(gamma)
    try:
        value = float(chosen)
    except (TypeError, ValueError):
        value = np.nan
    if not (np.isfinite(value) and value > 0):
        raise InvalidParameter(f"width_path: chosen must be a finite gamma > 0 or a fitted model, got {chosen!r}")
    return value


def _edges(gamma: Array) -> Array:
    """Borders of the steps, midway between the bandwidths, (steps + 1,)."""
    if len(gamma) == 1:
        return gamma[0] * np.array([0.8, 1.25])
    logs = np.log(gamma)
    middle = (logs[1:] + logs[:-1]) / 2.0
    ends = [logs[0] - (middle[0] - logs[0]), *middle, logs[-1] + (logs[-1] - middle[-1])]
    return np.exp(np.array(ends))


def _draw_clusters(ax: Any, path: WidthPath) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    edges = _edges(path.gamma)
    ax.stairs(path.n_clusters, edges, baseline=None, color=COLORS[0], linewidth=1.5, zorder=2)
    ax.plot(path.gamma, path.n_clusters, color=COLORS[0], marker="o", linestyle="", markersize=4, label="clusters")
    few, many = int(path.n_clusters.min()), int(path.n_clusters.max())
    if many > LOGARITHMIC_FROM:
        # logarithmic to base 2, but with a place for 0
        ax.set_yscale("symlog", base=2, linthresh=1.0, linscale=0.7)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.set_ylim(-0.4 if few == 0 else 0.6, 1.8 * many)
    else:
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        ax.set_ylim(few - 0.6, many + max(1.0, 0.18 * (many - few)))
    for number, (first, last) in enumerate(plateaus(path)):
        shade = {"label": "plateau"} if number == 0 else {}
        ax.axvspan(edges[first], edges[last + 1], color="#e6e6e6", linewidth=0, zorder=0, **shade)
        if number < MOST_NAMED:
            k = int(path.n_clusters[first])
            middle = float(np.sqrt(edges[first] * edges[last + 1]))
            ax.annotate(f"{k}", (middle, k), xytext=(0, 6), textcoords="offset points", ha="center", fontsize=10,
                        fontweight="bold", color=INK)  # fmt: skip


def _draw_samples(ax: Any, path: WidthPath) -> None:
    series: Sequence[tuple[str, Counts, str, str]] = (
        ("support vectors", path.n_sv, COLORS[5], "o-"),
        ("at the bound", path.n_bsv, COLORS[2], "s-"),
        ("noise", path.n_noise, FAINT, "x--"),
    )
    for name, values, color, style in series:
        if np.all(values >= 0):  # -1 where the solver does not report the number
            ax.plot(path.gamma, values, style, color=color, markersize=4, linewidth=1.2, label=name)
    ax.set_ylim(bottom=0)
