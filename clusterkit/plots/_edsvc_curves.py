"""`edsvc_curves`: scores and numbers of clusters of an ``edsvc`` search over bandwidths and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from clusterkit._typing import Array, Clusterer, Indices
from clusterkit.core.errors import InvalidParameter
from clusterkit.plots.figure import COLORS, FAINT, INK, check_axes, frame, matplotlib_or_raise
from clusterkit.tuners.curves import CURVES, GRID_STEP, WIDTH_STEP, EdSvcCurves

if TYPE_CHECKING:
    from clusterkit.plots.figure import AxesArray, ObjectArray

__all__ = ["edsvc_curves"]

NAMES = {"nmi": "mean NMI", "ami": "mean adjusted MI"}
"""Names of the scores on the axes."""
STEPS = ("gamma of the Gaussian kernel (narrower to the right)", "C (outliers to the right)")
"""Names of the horizontal axes of the two steps of the coordinate search."""


def edsvc_curves(model: Clusterer | Mapping[str, object] | EdSvcCurves, axes: AxesArray | None = None) -> ObjectArray:
    """Draw the score and the number of clusters of every candidate of the tuner ``edsvc``.

    The coordinate search gets a column for the bandwidths and one for the bounds, with scores above and clusters below.
    The grid search gets a map of the scores, in which candidates with a disallowed number of clusters are grey, and a
    map of the clusters. The winner is marked, and the score of the partition in which every sample is alone.

    Parameters
    ----------
    model : fitted estimator, mapping or EdSvcCurves
        A fit with the tuner, its ``resolved_["tuner"]``, or the curves in it.
    axes : array-like of Axes, optional
        As many axes as are returned; default: a new pyplot figure.

    Returns
    -------
    ndarray of Axes
        Shape (2, s) for s steps of the coordinate search, or (2,) for the grid.

    Raises
    ------
    InvalidParameter
        If `model` has no curves, or the number of `axes` is wrong.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from clusterkit import plots, recipe
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(60, centers=3, random_state=0)
    >>> model = recipe("edsvc", random_state=0, tuner__n_gamma=8, tuner__n_bounds=6).fit(X)
    >>> plots.edsvc_curves(model, axes=Figure().subplots(2, 2)).shape
    (2, 2)
    """
    matplotlib_or_raise()
    curves = _curves(model)
    is_grid = bool((curves.step == GRID_STEP).all())
    steps = [GRID_STEP] if is_grid else np.unique(curves.step).tolist()
    shape = (2,) if is_grid else (2, len(steps))
    pairs = _axes(axes, shape, is_grid)
    if is_grid:
        _draw_grid(pairs, curves)
    else:
        for column, step in enumerate(steps):
            _draw_step(pairs[:, column], curves, step, first=column == 0)
    return pairs


def _curves(model: Any) -> EdSvcCurves:
    facts = model.resolved_.get("tuner", {}) if hasattr(model, "resolved_") else model
    curves = facts.get(CURVES) if isinstance(facts, dict) else facts
    if not isinstance(curves, EdSvcCurves):
        raise InvalidParameter(
            f"edsvc_curves: needs a fit with the tuner 'edsvc' that searched, such as recipe('edsvc').fit(X), got "
            f"{type(model).__name__} without curves"
        )
    return curves


def _axes(axes: AxesArray | None, shape: tuple[int, ...], is_grid: bool) -> ObjectArray:
    if axes is None:
        from matplotlib import pyplot

        rows, columns = (1, 2) if is_grid else shape
        grid = pyplot.subplots(
            rows, columns, figsize=(8.6, 3.8) if is_grid else (4.4 * columns + 0.6, 5.2), layout="constrained",
            sharex="none" if is_grid else "col", sharey="none" if is_grid else "row", squeeze=False,
        )[1]  # fmt: skip
        return np.asarray(grid.reshape(shape))
    grid = np.asarray(axes, dtype=object)
    if grid.size != np.prod(shape):
        raise InvalidParameter(f"edsvc_curves: axes must be {np.prod(shape)} matplotlib axes or None, got {grid.size}")
    for ax in grid.reshape(-1):
        check_axes(ax, "edsvc_curves")
    return grid.reshape(shape)


def _draw_step(pair: ObjectArray, curves: EdSvcCurves, step: int, first: bool) -> None:
    """Draw one step of the coordinate search: scores above, clusters below."""
    of = np.flatnonzero(curves.step == step)
    x = (curves.gamma if step == WIDTH_STEP else curves.C)[of]
    top, bottom = pair
    top.plot(x, curves.score[of], color=COLORS[0], linewidth=1.3, marker="o", markersize=3)
    top.axhline(curves.singletons, color=FAINT, linestyle=":", linewidth=1.1)
    top.annotate("every sample alone", (0.02, curves.singletons), xycoords=("axes fraction", "data"), xytext=(0, 3),
                 textcoords="offset points", fontsize=8, color=FAINT)  # fmt: skip
    bottom.plot(x, curves.n_clusters[of], color=COLORS[5], linewidth=1.3, marker="o", markersize=3)
    for ax in pair:
        ax.set_xscale("log")
    if step != WIDTH_STEP:
        top.set_xlim(1.25 * x.max(), x.min() / 1.25)
        bottom.set_xlim(1.25 * x.max(), x.min() / 1.25)
    bottom.set_yscale("log")
    best = curves.chosen if curves.chosen in of else _same_width(curves, of)
    for ax, values in ((top, curves.score), (bottom, curves.n_clusters)):
        if best is not None:
            at = curves.gamma[best] if step == WIDTH_STEP else curves.C[best]
            ax.axvline(at, color=INK, linewidth=1.0, linestyle="--")
            ax.plot([at], [values[best]], marker="o", markersize=8, markerfacecolor="none", color=INK)
    k = "" if best is None else f": {curves.score[best]:.3f}, {curves.n_clusters[best]:,} clusters"
    title = ("widths" if step == WIDTH_STEP else "bounds") + k
    frame(top, title, ("", NAMES[curves.measure] if first else ""))
    frame(bottom, "", (STEPS[step], "clusters" if first else ""))


def _same_width(curves: EdSvcCurves, of: Indices) -> int | None:
    """Candidate with the bandwidth at which the bounds were searched; None if no candidate qualified."""
    if curves.chosen < 0:
        return None
    return int(of[np.argmin(np.abs(np.log(curves.gamma[of] / curves.gamma[curves.chosen])))])


def _draw_grid(pair: ObjectArray, curves: EdSvcCurves) -> None:
    """Draw maps over bandwidths and bounds; the bounds are spaced equally, in the order of the search."""
    from matplotlib.colors import LogNorm

    gammas, bounds = np.unique(curves.gamma), np.unique(curves.C)[::-1]
    place = np.searchsorted(gammas, curves.gamma), len(bounds) - 1 - np.searchsorted(bounds[::-1], curves.C)
    shape = (len(bounds), len(gammas))
    maps = []
    for values in (np.where(curves.qualified, curves.score, np.nan), curves.n_clusters.astype(float)):
        table = np.full(shape, np.nan)
        table[place[1], place[0]] = values
        maps.append(table)
    titles = (f"{NAMES[curves.measure]}, grey: may not win", "clusters")
    options: tuple[dict[str, Any], ...] = ({"cmap": "viridis"}, {"cmap": "cividis", "norm": LogNorm(vmin=1)})
    for ax, table, title, option in zip(pair, maps, titles, options, strict=True):
        ax.set_facecolor("#dddddd")
        image = ax.pcolormesh(_edges(gammas), np.arange(len(bounds) + 1) - 0.5, table, **option)
        ax.figure.colorbar(image, ax=ax)
        ax.set_xscale("log")
        ax.set_yticks(np.arange(len(bounds)), [f"{C:.3g}" if np.isfinite(C) else "given" for C in bounds], fontsize=8)
        if curves.chosen >= 0:
            at = place[0][curves.chosen], place[1][curves.chosen]
            ax.plot([gammas[at[0]]], [at[1]], marker="o", markersize=10, markerfacecolor="none",
                    markeredgecolor="white", markeredgewidth=3)  # fmt: skip
            ax.plot([gammas[at[0]]], [at[1]], marker="o", markersize=10, markerfacecolor="none",
                    markeredgecolor=INK, markeredgewidth=1.4)  # fmt: skip
        frame(ax, title, ("gamma of the Gaussian kernel", "C" if ax is pair[0] else ""))


def _edges(gamma: Array) -> Array:
    """Borders of the columns of the map, (columns + 1,)."""
    logs = np.log(gamma)
    if len(logs) == 1:
        return np.exp(logs[0] + np.array([-0.5, 0.5]))
    middle = (logs[1:] + logs[:-1]) / 2.0
    return np.exp(np.concatenate([[2 * logs[0] - middle[0]], middle, [2 * logs[-1] - middle[-1]]]))
