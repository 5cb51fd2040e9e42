"""The figure of ``clusterkit demo``: a support vector contour, and digits clustered by maximum margins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import AnyArray, Array

if TYPE_CHECKING:
    from clusterkit.estimators.pipeline import Pipeline

__all__ = ["draw"]

COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
"""The colours of Okabe and Ito, distinguishable with any colour vision."""
INK, FAINT = "#222222", "#777777"
"""Colours of lines and text, and of secondary text."""
GRID = 240
"""Points on each side at which the domain is evaluated."""


def draw(
    path: str, moons: Array, svc: Pipeline, images: Array, emmc: Pipeline, digits: AnyArray, notes: dict[str, str]
) -> None:
    """Write the figure to a file.

    Parameters
    ----------
    path : str
        File name; the ending decides the format.
    moons : ndarray of shape (n, 2)
    svc : fitted estimator
        A model fitted to `moons`, whose outcome is a kernel domain.
    images : ndarray of shape (m, 64)
        Rows are 8 x 8 pixels.
    emmc : fitted estimator
        A model fitted to `images`.
    digits : ndarray of shape (m,)
        The digits in the images; only for the captions.
    notes : dict
        A line below each title, by "svc" and "emmc".
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.5, 5.9), dpi=130, facecolor="white")
    parts: Any = figure.subfigures(1, 2, width_ratios=(1, 1.08))
    left, right = parts
    _titles(left, "Support vector clustering", notes["svc"])
    axes = left.add_axes((0.03, 0.09, 0.94, 0.74))
    _contour(axes, moons, svc)

    _titles(right, "Extreme maximum margin clustering", notes["emmc"])
    colors = _colors(emmc.labels_)
    _scatter(right.add_axes((0.02, 0.09, 0.62, 0.74)), images, emmc.labels_, digits, colors)
    k = len(colors)
    height = 0.74 / k
    for place, label in enumerate(colors):
        bottom = 0.83 - (place + 1) * height
        _mean_image(right, (0.67, bottom + 0.12 * height, 0.16, 0.80 * height), images, emmc.labels_, digits, label)
    figure.savefig(path)


def _titles(part: Any, title: str, note: str) -> None:
    part.text(0.03, 0.945, title, fontsize=15, fontweight="bold", color=INK, va="center")
    part.text(0.03, 0.885, note, fontsize=10, color=FAINT, va="center")


def _colors(labels: NDArray[Any]) -> dict[int, str]:
    clusters = [int(label) for label in np.unique(labels) if label >= 0]
    return {label: COLORS[place % len(COLORS)] for place, label in enumerate(clusters)}


def _bare(axes: Any) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_color("#dddddd")


def _contour(axes: Any, points: NDArray[Any], svc: Any) -> None:
    """Draw the domain, its border, the clusters, and the support vectors."""
    domain, labels = svc.outcome_, svc.labels_
    low, high = points.min(axis=0) - 0.28, points.max(axis=0) + 0.28
    xs, ys = np.linspace(low[0], high[0], GRID), np.linspace(low[1], high[1], GRID)
    plane = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    heights = domain.value(plane).reshape(GRID, GRID)
    inside = np.linspace(domain.level, max(heights.max(), domain.level + 1e-9), 7)
    depth = np.ptp(inside)
    limits = {"vmin": inside[0] - 0.3 * depth, "vmax": inside[-1] + 2 * depth}
    axes.contourf(xs, ys, heights, levels=inside, cmap="Greys", **limits)
    axes.contour(xs, ys, heights, levels=[domain.level], colors=INK, linewidths=1.6)
    for label, color in _colors(labels).items():
        rows = labels == label
        axes.scatter(*points[rows].T, s=22, color=color, edgecolor="white", linewidth=0.4, zorder=3,
                     label=f"cluster {label}: {rows.sum()}")  # fmt: skip
    noise = labels < 0
    if noise.any():
        axes.scatter(*points[noise].T, s=34, marker="x", color=INK, zorder=3, label=f"noise: {noise.sum()}")
    axes.scatter(*domain.centres.T, s=62, facecolor="none", edgecolor="#D55E00", linewidth=1.2, zorder=4,
                 label=f"support vectors: {len(domain.centres)}")  # fmt: skip
    axes.plot([], [], color=INK, linewidth=1.6, label="border")
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    _bare(axes)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.015), ncols=5, fontsize=8.5, frameon=False,
                columnspacing=1.2, handletextpad=0.4)  # fmt: skip


def _scatter(axes: Any, images: Any, labels: Any, digits: Any, colors: dict[int, str]) -> None:
    """Draw digits as glyphs at their first two principal components, in the colour of their cluster."""
    centred = images - images.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)  # 64 x 64, the largest eigenvalue last
    plane = centred @ directions[:, :-3:-1]
    for label, color in colors.items():
        for value in np.unique(digits):
            rows = (labels == label) & (digits == value)
            axes.scatter(*plane[rows].T, s=36, marker=f"${value}$", color=color, linewidth=0.3, alpha=0.85)
    axes.margins(0.03)
    _bare(axes)
    axes.text(0.5, -0.045, "Colour: cluster found. Glyph: the digit, which the method never saw.", fontsize=8.5,
              color=INK, ha="center", va="center", transform=axes.transAxes)  # fmt: skip


def _mean_image(part: Any, place: tuple[float, ...], images: Any, labels: Any, digits: Any, label: int) -> None:
    """Draw the mean image of a cluster, framed in its colour, with its size and its most frequent digit."""
    rows = labels == label
    values, counts = np.unique(digits[rows], return_counts=True)
    most = int(np.argmax(counts))
    color = _colors(labels)[label]
    axes = part.add_axes(place)
    axes.imshow(images[rows].mean(axis=0).reshape(8, 8), cmap="Greys", interpolation="nearest", aspect="equal")
    _bare(axes)
    for spine in axes.spines.values():
        spine.set(color=color, linewidth=3)
    axes.text(1.12, 0.68, f"cluster {label}", fontsize=10.5, fontweight="bold", color=color, transform=axes.transAxes)
    axes.text(1.12, 0.44, f"{rows.sum()} images", fontsize=9, color=INK, transform=axes.transAxes)
    share = 100 * counts[most] / rows.sum()
    axes.text(1.12, 0.22, f"{share:.0f} % are {values[most]}", fontsize=9, color=INK, transform=axes.transAxes)
