"""The figure of ``clusterkit demo``: a support vector contour, and digits clustered by maximum margins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clusterkit._typing import AnyArray, Array
from clusterkit.plots._domains import contours
from clusterkit.plots.figure import COLORS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clusterkit.estimators.pipeline import Pipeline

__all__ = ["draw"]


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
        Rows are 8 x 8 pixels, drawn at their first two principal components and as the mean of each cluster.
    emmc : fitted estimator
        A model fitted to `images`.
    digits : ndarray of shape (m,)
        The digits in the images, which mark the points; the colours are those of the clusters.
    notes : dict
        A line below each title, by "svc" and "emmc".
    """
    from matplotlib.figure import Figure
    from sklearn.decomposition import PCA

    labels = emmc.labels_
    clusters = np.unique(labels).tolist()
    figure = Figure(figsize=(12.5, 5.9), dpi=130, layout="constrained")
    mosaic = [["svc", "emmc", str(label)] for label in clusters]
    axes: dict[str, Axes] = figure.subplot_mosaic(mosaic, width_ratios=(6, 6, 1.2))
    contours(svc, moons, axes["svc"], legend=False).set_aspect("auto")
    plane = PCA(2, random_state=0).fit_transform(images)
    for label in clusters:
        color, mine = COLORS[label % len(COLORS)], labels == label
        values, counts = np.unique(digits[mine], return_counts=True)
        for value in values:
            x, y = plane[mine & (digits == value)].T
            axes["emmc"].scatter(x, y, s=36, marker=f"${value}$", color=color, linewidth=0.3)
        axes[str(label)].imshow(images[mine].mean(axis=0).reshape(8, 8), cmap="Greys")
        share = f"{mine.sum()} images\n{counts.max() / mine.sum():.0%} are {values[counts.argmax()]}"
        axes[str(label)].set_title(share, fontsize=10, color=color)
    for ax in axes.values():
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
    for name, title in (("svc", "Support vector clustering"), ("emmc", "Extreme maximum margin clustering")):
        axes[name].set_title(f"{title}\n{notes[name]}", loc="left", fontsize=12, color=INK)
    axes["emmc"].set_xlabel("Colour: cluster found. Glyph: the digit, which the method never saw.", color=INK)
    figure.savefig(path)
