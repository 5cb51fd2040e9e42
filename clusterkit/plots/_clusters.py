"""Clusters as coloured points, whatever found them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.plots._figure import axes_for, check_axes, draw_points, finish, frame, of_clusters
from clusterkit.plots._fitted import labels_of, names_of, rows_of
from clusterkit.plots._plane import Plane

__all__ = ["clusters"]


def clusters(
    model_or_labels: Any,
    X: Any,
    ax: Any = None,
    *,
    dims: tuple[int, int] | None = None,
    names: Sequence[str] | None = None,
    legend: bool = True,
) -> Any:
    """Draw samples in the colours of their clusters, and noise as grey crosses.

    Two attributes are drawn as they are; of more the first two principal components, or `dims`. Attributes whose
    standard deviations differ more than tenfold are divided by them first, or one alone would be the picture; the
    title says so. One attribute is drawn in rows, one for each cluster.

    There are six colours, told apart with any colour vision; further clusters repeat them with another marker. With
    more clusters than the legend holds the picture has their numbers, up to 40 of them.

    Parameters
    ----------
    model_or_labels : fitted estimator or array of shape (n,)
        Any estimator with ``labels_``, or integer labels; below 0 is noise.
    X : array of shape (n, d)
        A data frame names the axes.
    ax : Axes, optional
        Where to draw; default: a new figure of pyplot.
    dims : pair of int, optional
        Attributes to draw instead of principal components.
    names : sequence of str, optional
        Of the attributes.
    legend : bool, default True
        Whether to put a legend beside the axes.

    Returns
    -------
    Axes

    Raises
    ------
    InvalidParameter, InvalidData, NotFittedError
        If an argument is wrong, X has another number of rows, or the model is not fitted.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from clusterkit import plots
    >>> from matplotlib.figure import Figure
    >>> ax = plots.clusters([0, 0, 1, -1], [[0, 1], [0, 2], [5, 5], [9, 0]], ax=Figure().subplots())
    >>> ax.get_title(loc="left")
    '2 clusters of 4 samples, 1 noise'
    """
    check_axes(ax, "clusters")
    rows = rows_of(X)
    labels = labels_of(model_or_labels, len(rows), "clusters")
    titles = names_of(names, X, model_or_labels, rows.shape[1], "clusters")
    plane = Plane.of(rows, titles, dims, "clusters", height=(_Rows(labels), "cluster"), scaling=True)
    places = plane(rows)
    own, ax = ax is None, axes_for(ax)
    handles = draw_points(ax, places, labels)
    title = [of_clusters(labels), plane.note]
    frame(ax, "\n".join(line for line in title if line), plane.names)
    if plane.height:
        _name_rows(ax, labels)
    return finish(ax, handles if legend else [], None if plane.height else places, own=own)


class _Rows:
    """The height of samples of one attribute: the rank of their cluster, noise lowest."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels

    def __call__(self, Y: Array) -> Array:
        return np.unique(self.labels, return_inverse=True)[1].reshape(-1).astype(np.float64)


def _name_rows(ax: Any, labels: Labels) -> None:
    found = np.unique(labels)
    step = -(-len(found) // 20)
    ax.set_yticks(range(0, len(found), step), ["noise" if label < 0 else str(label) for label in found[::step]])
    ax.set_ylim(-0.6, len(found) - 0.4)
