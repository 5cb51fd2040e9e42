"""`sizes`: how many rows each cluster has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clusterkit._typing import ArrayLike, Clusterer
from clusterkit.plots._fitted_model import labels_of
from clusterkit.plots.figure import FAINT, INK, STYLES, axes_for, check_axes, frame, of_clusters, styles_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["sizes"]

MOST_BARS = 30
"""Most clusters with a bar of their own, the largest ones; the rest has one together."""


def sizes(model_or_labels: Clusterer | ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw the number of rows of each cluster as bars, and of noise in grey.

    Parameters
    ----------
    model_or_labels : fitted estimator or array of shape (n,)
        Any estimator with ``labels_``, or integer labels; labels below 0 are noise.
    ax : Axes, optional
        Axes to draw on; default: a new pyplot figure.

    Returns
    -------
    Axes

    Raises
    ------
    InvalidParameter, NotFittedError
        If an argument is wrong, or the model is not fitted.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from clusterkit import plots
    >>> from matplotlib.figure import Figure
    >>> ax = plots.sizes([0, 0, 0, 1, -1], Figure().subplots())
    >>> [int(bar.get_width()) for bar in ax.patches]
    [3, 1, 1]
    """
    check_axes(ax, "sizes")
    values = getattr(model_or_labels, "labels_", model_or_labels)
    # whatever has no labels_ is taken for labels, and checked there
    labels = labels_of(model_or_labels, len(np.atleast_1d(values)), "sizes")  # type: ignore[arg-type]
    names, counts = np.unique(labels[labels >= 0], return_counts=True)
    style = dict(zip(labels.tolist(), styles_of(labels).tolist(), strict=True))
    largest = np.sort(np.argsort(-counts, kind="stable")[:MOST_BARS])
    bars = [(f"cluster {names[j]}", int(counts[j]), STYLES[style[int(names[j])]][0]) for j in largest]
    if len(names) > len(largest):
        bars.append((f"{len(names) - len(largest)} others", int(counts.sum() - counts[largest].sum()), FAINT))
    if (labels < 0).any():
        bars.append(("noise", int((labels < 0).sum()), FAINT))
    ax = axes_for(ax)
    ax.barh(range(len(bars)), [bar[1] for bar in bars], color=[bar[2] for bar in bars], height=0.7)
    for place, (_, count, _) in enumerate(bars):
        ax.annotate(f"{count:,} ({count / len(labels):.0%})", (count, place), xytext=(4, 0), va="center",
                    textcoords="offset points", fontsize=8.5, color=INK)  # fmt: skip
    frame(ax, of_clusters(labels), ("rows", ""))
    ax.set_yticks(range(len(bars)), [bar[0] for bar in bars], color=INK)
    ax.set_ylim(len(bars) - 0.4, -0.6)
    ax.set_xlim(0, 1.18 * max((bar[1] for bar in bars), default=1))
    return ax
