"""`silhouette`: how much nearer each row is to its own cluster than to the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clusterkit._typing import ArrayLike, Clusterer
from clusterkit.core.errors import InvalidParameter
from clusterkit.plots._fitted_model import labels_of, rows_of
from clusterkit.plots.figure import FAINT, INK, STYLES, axes_for, check_axes, frame, styles_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["silhouette"]

MOST_ROWS = 5000
"""Most rows, a regular sample of more: all distances between them are computed, 200 MB."""

GAP = 0.02
"""Space between two clusters, as a share of the rows."""


def silhouette(model_or_labels: Clusterer | ArrayLike, X: ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw the silhouette coefficients of the rows (Rousseeuw 1987), sorted within each cluster.

    A row near 1 is well inside its cluster, near 0 between two, below 0 nearer to another one. The coefficients use
    Euclidean distances of X as it is, and suit round clusters. Noise is left out.

    Parameters
    ----------
    model_or_labels : fitted estimator or array of shape (n,)
    X : array of shape (n, d)
        In units that can be compared. Of more than 5,000 rows a regular sample is used.
    ax : Axes, optional
        Axes to draw on; default: a new pyplot figure.

    Returns
    -------
    Axes

    Raises
    ------
    InvalidParameter, InvalidData, NotFittedError
        If an argument is wrong, there are fewer than two clusters, or the model is not fitted.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from clusterkit import plots
    >>> from matplotlib.figure import Figure
    >>> ax = plots.silhouette([0, 0, 1, 1], [[0, 1], [0, 2], [9, 0], [9, 1]], Figure().subplots())
    >>> ax.get_title(loc="left")
    'Mean silhouette 0.89'
    """
    check_axes(ax, "silhouette")
    rows = rows_of(X)
    labels = labels_of(model_or_labels, len(rows), "silhouette")
    inside = np.flatnonzero(labels >= 0)
    inside = inside[:: max(1, -(-len(inside) // MOST_ROWS))]
    rows, labels = rows[inside], labels[inside]
    names = np.unique(labels)
    if not 1 < len(names) < len(labels):
        raise InvalidParameter(f"silhouette: needs at least two clusters with several rows, got {len(names)} clusters")
    from sklearn.metrics import silhouette_samples

    values = silhouette_samples(rows, labels)
    ax = axes_for(ax)
    style = styles_of(labels)
    bottom, gap = 0.0, GAP * len(labels)
    ticks = []
    for name in names:
        members = np.sort(values[labels == name])
        places = bottom + np.arange(len(members))
        color = STYLES[style[np.argmax(labels == name)]][0]
        ax.fill_betweenx(places, 0.0, members, color=color, linewidth=0.6, edgecolor=color)
        ticks.append(bottom + len(members) / 2)
        bottom += len(members) + gap
    mean = float(values.mean())
    ax.axvline(mean, color=INK, linewidth=1.0, linestyle="--")
    ax.axvline(0.0, color=FAINT, linewidth=0.8)
    frame(ax, f"Mean silhouette {mean:.2f}", ("silhouette coefficient", "cluster"))
    step = -(-len(names) // 20)
    ax.set_yticks(ticks[::step], [str(name) for name in names[::step]])
    ax.set_ylim(bottom, -gap)
    return ax
