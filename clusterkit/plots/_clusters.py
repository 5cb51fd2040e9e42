"""`clusters`: samples as points in the colours of their clusters, for the labels of any method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clusterkit._typing import Array, ArrayLike, Clusterer, Labels
from clusterkit.plots._fitted_model import labels_of, names_of, rows_of
from clusterkit.plots._projection import Projection
from clusterkit.plots.figure import axes_for, check_axes, draw_points, finish, frame, of_clusters

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["clusters"]


def clusters(
    model_or_labels: Clusterer | ArrayLike,
    X: ArrayLike,
    ax: Axes | None = None,
    *,
    dims: tuple[int, int] | None = None,
    names: Sequence[str] | None = None,
    legend: bool = True,
) -> Axes:
    """Draw samples in the colours of their clusters, and noise as grey crosses.

    Two attributes are drawn as they are, more as their first two principal components, or as the two of `dims`.
    Attributes whose standard deviations differ more than tenfold are standardised first, since otherwise one attribute
    would dominate; the title says so. A single attribute is drawn in rows, one row for each cluster.

    There are six colours, distinguishable with any colour vision; further clusters repeat them with another marker.
    With more clusters than the legend holds, their numbers are written into the plot, up to 40 of them.

    Parameters
    ----------
    model_or_labels : fitted estimator or array of shape (n,)
        Any estimator with ``labels_``, or integer labels; labels below 0 are noise.
    X : array of shape (n, d)
        The column names of a data frame become the names of the axes.
    ax : Axes, optional
        Axes to draw on; default: a new pyplot figure.
    dims : pair of int, optional
        Attributes to draw instead of principal components.
    names : sequence of str, optional
        Names of the attributes.
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
    projection = Projection.of(rows, titles, dims, "clusters", height=(_ClusterRanks(labels), "cluster"), scaling=True)
    places = projection(rows)
    new_figure, ax = ax is None, axes_for(ax)
    handles = draw_points(ax, places, labels)
    title = [of_clusters(labels), projection.note]
    frame(ax, "\n".join(line for line in title if line), projection.names)
    if projection.height:
        _name_rows(ax, labels)
    return finish(ax, handles if legend else [], None if projection.height else places, new_figure=new_figure)


class _ClusterRanks:
    """Height of samples with one attribute: the rank of their cluster, noise lowest."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels

    def __call__(self, Y: Array) -> Array:
        return np.unique(self.labels, return_inverse=True)[1].reshape(-1).astype(np.float64)


def _name_rows(ax: Any, labels: Labels) -> None:
    names = np.unique(labels)
    step = -(-len(names) // 20)
    ax.set_yticks(range(0, len(names), step), ["noise" if label < 0 else str(label) for label in names[::step]])
    ax.set_ylim(-0.6, len(names) - 0.4)
