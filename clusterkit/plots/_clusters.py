"""Plots of labels of any method.

- `clusters`: samples as points in the colours of their clusters;
- `sizes`: how many rows each cluster has;
- `silhouette`: how much nearer each row is to its own cluster than to the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from clusterkit._typing import ArrayLike
from clusterkit.contracts.arguments import Clusterer
from clusterkit.errors import InvalidParameter
from clusterkit.plots.figure import (
    FAINT,
    INK,
    STYLES,
    axes_for,
    check_axes,
    deciding,
    draw_clusters,
    frame,
    names_of,
    of_clusters,
    rows_of,
    styles_of,
    title_of,
)
from clusterkit.profiles.measures import labels_of
from clusterkit.profiles.profiling import roles_of_fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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

    Two attributes are drawn as they are. Of more, those are left out that the fit calls irrelevant or covariates, and
    two clusters and more are seen from the two directions in which they differ most (discriminant analysis, Fisher
    1936), a single one along its first two principal components, standardised where standard deviations differ more
    than tenfold; the title says so. `dims` draws two attributes instead. A single attribute is drawn in rows, one row
    for each cluster.

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
        Attributes to draw instead.
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
    rows = rows_of(X, model_or_labels)
    labels = labels_of(model_or_labels, len(rows), "clusters")
    titles = names_of(names, X, model_or_labels, rows.shape[1], "clusters")
    mask = deciding(model_or_labels, roles_of_fit(model_or_labels))
    return draw_clusters(ax, rows, labels, titles, mask, model_or_labels, dims, legend=legend)


MOST_BARS = 30
"""Largest number of clusters with a bar of their own, the largest ones; the rest has one together."""


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
    bars = [(title_of(model_or_labels, names[j]), int(counts[j]), STYLES[style[int(names[j])]][0]) for j in largest]
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


MOST_ROWS = 5000
"""Largest number of rows, a regular sample of more: all distances between them are computed, 200 MB."""

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
        Samples in units that can be compared. If there are more than 5,000 rows, a regular sample is used.
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
    rows = rows_of(X, model_or_labels)
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
    frame(ax, f"Mean silhouette {mean:.2f}", ("silhouette coefficient", ""))
    step = -(-len(names) // 20)
    ax.set_yticks(ticks[::step], [title_of(model_or_labels, name) for name in names[::step]])
    ax.set_ylim(bottom, -gap)
    return ax
