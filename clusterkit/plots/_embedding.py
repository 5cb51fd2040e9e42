"""`embedding`: samples with many attributes in a plane that keeps neighbours together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clusterkit._typing import Array, ArrayLike, Clusterer
from clusterkit.core.params import check_count
from clusterkit.numerics.row_samples import sample_rows
from clusterkit.plots._fitted_model import labels_of, rows_of
from clusterkit.plots._projection import spreads_of
from clusterkit.plots.figure import axes_for, check_axes, draw_points, finish, frame, of_clusters

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MOST_ROWS", "embedding"]

MOST_ROWS = 2000
"""Samples that are embedded by default: some seconds of one core, and the picture of more looks the same."""

COMPONENTS = 50
"""Principal components that stand for more attributes than this, as van der Maaten and Hinton (2008) have it."""

PERPLEXITY = 30.0
"""Number of neighbours that a sample attends to, scikit-learn's default; lower for fewer than 90 samples."""

FEWEST = 5
"""Distinct samples below which there are no neighbourhoods to keep; their principal components are drawn."""


def embedding(
    model_or_labels: Clusterer | ArrayLike,
    X: ArrayLike,
    ax: Axes | None = None,
    *,
    max_rows: int = MOST_ROWS,
    legend: bool = True,
) -> Axes:
    """Draw samples with many attributes so that neighbours stay neighbours, in the colours of their clusters.

    Two principal components of wide data often show a small part of its variance. This picture, a t-distributed
    stochastic neighbour embedding (t-SNE), shows instead which samples are near to which. It says nothing about how far
    apart groups are, nor about how wide they are.

    A fitted model is drawn in the coordinates to which its feature map scales the data; for labels alone the attributes
    are standardised if their standard deviations differ more than tenfold. The same samples give the same picture.

    Parameters
    ----------
    model_or_labels : fitted estimator or array of shape (n,)
        Any estimator with ``labels_``, or integer labels; labels below 0 are noise.
    X : array of shape (n, d)
    ax : Axes, optional
        Axes to draw on; default: a new pyplot figure.
    max_rows : int, default 2000
        Most samples to draw. Of more, a random choice is drawn, always the same one, and the title says so.
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

    Notes
    -----
    O(m d²) for the components and O(m log m) an iteration, a thousand of them, for m samples drawn; on one core.

    References
    ----------
    van der Maaten, Hinton (2008), Visualizing data using t-SNE, Journal of Machine Learning Research 9.

    Examples
    --------
    >>> import numpy as np
    >>> from clusterkit import plots
    >>> from matplotlib.figure import Figure
    >>> X = np.repeat(np.eye(8), 6, axis=0) + np.random.default_rng(0).normal(scale=0.1, size=(48, 8))
    >>> ax = plots.embedding(np.arange(48) // 6, X, ax=Figure().subplots())
    >>> ax.get_title(loc="left").splitlines()[1]
    't-SNE of 8 attributes: near samples are alike, distances between groups mean nothing'
    """
    check_axes(ax, "embedding")
    max_rows = check_count("max_rows", max_rows)
    rows = rows_of(X)
    labels = labels_of(model_or_labels, len(rows), "embedding")
    n, d = rows.shape
    chosen = sample_rows(n, max_rows, np.random.default_rng(0))
    points = _coordinates(model_or_labels, rows)[chosen]
    places, name = _places(points)
    new_figure, ax = ax is None, axes_for(ax)
    handles = draw_points(ax, places, labels[chosen])
    drawn = "" if len(chosen) == n else f", {len(chosen):,} drawn"
    note = f"{name} of {d} attributes: near samples are alike, distances between groups mean nothing"
    frame(ax, f"{of_clusters(labels)}{drawn}\n{note}", ("", ""))
    ax.set_xticks([])
    ax.set_yticks([])
    return finish(ax, handles if legend else [], places, new_figure=new_figure)


def _coordinates(model: Any, rows: Array) -> Array:
    """The rows as a fitted model scales them, or standardised where their units differ."""
    space = getattr(model, "space_", None)
    if space is not None and not space.sparse and space.n == len(rows):
        scaled: Array = np.asarray(space.scaled_points(), dtype=np.float64)
        return scaled
    spreads = spreads_of(rows)
    return rows.astype(np.float64) if spreads is None else rows / spreads


def _places(points: Array) -> tuple[Array, str]:
    """Places in the plane (m, 2), and the name of the method."""
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    m = len(points)
    if points.shape[1] > COMPONENTS:
        points = PCA(min(COMPONENTS, m), random_state=0).fit_transform(points)
    if points.shape[1] < 3 or len(np.unique(points, axis=0)) < FEWEST:
        places = np.zeros((m, 2))
        few = points[:, :2] - points[:, :2].mean(axis=0)
        places[:, : few.shape[1]] = few
        return places, "Coordinates"
    with threadpool_limits(1):  # sums of several threads round differently, and the picture would change with them
        model = TSNE(2, perplexity=min(PERPLEXITY, (m - 1) / 3.0), init="pca", random_state=0)
        return model.fit_transform(points), "t-SNE"
