"""The search of the recipe edsvc: scores and numbers of clusters over widths and bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._typing import Array
from clusterkit.core.errors import InvalidParameter
from clusterkit.plots._figure import COLORS, FAINT, INK, check_axes, frame, matplotlib_or_raise
from clusterkit.tuners._candidates import Curves

__all__ = ["edsvc_curves"]

NAMES = {"nmi": "mean NMI", "ami": "mean adjusted MI"}
STEPS = ("gamma of the Gaussian kernel (narrower to the right)", "C (outliers to the right)")


def edsvc_curves(model: Any, axes: Any = None) -> Any:
    """Draw what the tuner edsvc saw: the score of every candidate and its number of clusters.

    For the coordinate search a column for the widths and one for the bounds, scores above and clusters below; for the
    search of the plane a map of the scores with the candidates that may not win left grey, and one of the clusters.
    The winner is marked, and the score that all samples alone would have.

    Parameters
    ----------
    model : fitted estimator, mapping or Curves
        A fit with the tuner, its ``resolved_["tuner"]``, or the curves in there.
    axes : array-like of Axes, optional
        As many as come back; default: a new figure of pyplot.

    Returns
    -------
    ndarray of Axes
        (2, s) for s steps of the coordinate search, or (2,) for the plane.

    Raises
    ------
    InvalidParameter
        If there are no curves, or `axes` are of another number.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from clusterkit import plots, recipe
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(60, centers=3, random_state=0)
    >>> model = recipe("edsvc", random_state=0, tuner__n_gamma=8, tuner__n_C=6).fit(X)
    >>> plots.edsvc_curves(model, axes=Figure().subplots(2, 2)).shape
    (2, 2)
    """
    matplotlib_or_raise()
    curves = _curves(model)
    plane = bool((curves.step == 2).all())
    steps = [2] if plane else np.unique(curves.step).tolist()
    shape = (2,) if plane else (2, len(steps))
    grid = _axes(axes, shape, plane)
    if plane:
        _draw_plane(grid, curves)
    else:
        for column, step in enumerate(steps):
            _draw_step(grid[:, column], curves, step, first=column == 0)
    return grid


def _curves(model: Any) -> Curves:
    found = model
    if hasattr(found, "resolved_"):
        found = found.resolved_.get("tuner", {})
    if isinstance(found, dict):
        found = found.get("curves")
    if not isinstance(found, Curves):
        raise InvalidParameter(
            f"edsvc_curves: needs a fit with the tuner 'edsvc' that searched, such as recipe('edsvc').fit(X), got "
            f"{type(model).__name__} without curves"
        )
    return found


def _axes(axes: Any, shape: tuple[int, ...], plane: bool) -> Array:
    if axes is None:
        from matplotlib import pyplot

        rows, columns = (1, 2) if plane else shape
        grid = pyplot.subplots(
            rows, columns, figsize=(8.6, 3.8) if plane else (4.4 * columns + 0.6, 5.2), layout="constrained",
            sharex="none" if plane else "col", sharey="none" if plane else "row", squeeze=False,
        )[1]  # fmt: skip
        return np.asarray(grid.reshape(shape))
    grid = np.asarray(axes, dtype=object)
    if grid.size != np.prod(shape):
        raise InvalidParameter(f"edsvc_curves: axes must be {np.prod(shape)} matplotlib axes or None, got {grid.size}")
    for ax in grid.reshape(-1):
        check_axes(ax, "edsvc_curves")
    return grid.reshape(shape)


def _draw_step(pair: Array, curves: Curves, step: int, first: bool) -> None:
    """Scores above, clusters below."""
    of = np.flatnonzero(curves.step == step)
    x = (curves.gamma if step == 0 else curves.C)[of]
    top, bottom = pair
    top.plot(x, curves.score[of], color=COLORS[0], linewidth=1.3, marker="o", markersize=3)
    top.axhline(curves.singletons, color=FAINT, linestyle=":", linewidth=1.1)
    top.annotate("every sample alone", (0.02, curves.singletons), xycoords=("axes fraction", "data"), xytext=(0, 3),
                 textcoords="offset points", fontsize=8, color=FAINT)  # fmt: skip
    bottom.plot(x, curves.n_clusters[of], color=COLORS[5], linewidth=1.3, marker="o", markersize=3)
    for ax in pair:
        ax.set_xscale("log")
    if step == 1:
        top.set_xlim(1.25 * x.max(), x.min() / 1.25)
        bottom.set_xlim(1.25 * x.max(), x.min() / 1.25)
    bottom.set_yscale("log")
    best = curves.chosen if curves.chosen in of else _like(curves, of)
    for ax, values in ((top, curves.score), (bottom, curves.n_clusters)):
        if best is not None:
            at = curves.gamma[best] if step == 0 else curves.C[best]
            ax.axvline(at, color=INK, linewidth=1.0, linestyle="--")
            ax.plot([at], [values[best]], marker="o", markersize=8, markerfacecolor="none", color=INK)
    k = "" if best is None else f": {curves.score[best]:.3f}, {curves.n_clusters[best]:,} clusters"
    title = ("widths" if step == 0 else "bounds") + k
    frame(top, title, ("", NAMES[curves.measure] if first else ""))
    frame(bottom, "", (STEPS[step], "clusters" if first else ""))


def _like(curves: Curves, of: Array) -> int | None:
    """The width that the bounds were searched at."""
    if curves.chosen < 0:
        return None
    return int(of[np.argmin(np.abs(np.log(curves.gamma[of] / curves.gamma[curves.chosen])))])


def _draw_plane(pair: Array, curves: Curves) -> None:
    """Maps over widths and bounds; the bounds are equally spaced as they were tried."""
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
    """Where the columns of the map begin and end."""
    logs = np.log(gamma)
    if len(logs) == 1:
        return np.exp(logs[0] + np.array([-0.5, 0.5]))
    middle = (logs[1:] + logs[:-1]) / 2.0
    return np.exp(np.concatenate([[2 * logs[0] - middle[0]], middle, [2 * logs[-1] - middle[-1]]]))
