"""`number_curve`: the best score at each number of clusters that was tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clusterkit.core.errors import InvalidParameter
from clusterkit.core.wording import counted
from clusterkit.plots.figure import COLORS, FAINT, INK, axes_for, check_axes, frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clusterkit._typing import Clusterer

__all__ = ["number_curve"]


def number_curve(model: Clusterer, ax: Axes | None = None) -> Axes:
    """Draw the best score at each number of clusters among which a fit chose; the chosen one has a ring.

    Parameters
    ----------
    model : fitted estimator
        An `Auto`, or any estimator of this library that was fitted with ``n_clusters="auto"`` or a range.
    ax : Axes, optional
        Axes to draw on; default: a new pyplot figure.

    Returns
    -------
    Axes

    Raises
    ------
    InvalidParameter
        If an argument is wrong, or the fit did not choose a number of clusters.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from clusterkit import Auto, plots
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(60, random_state=0, cluster_std=0.5)
    >>> model = Auto(pool=["kmeans", "genie"], random_state=0).fit(X)
    >>> plots.number_curve(model, Figure().subplots()).get_xlabel()
    'number of clusters'
    """
    check_axes(ax, "number_curve")
    rows: list[Any] = list(getattr(model, "candidates_", []))
    best: dict[int, float] = {}
    for row in rows:
        best[row["n_clusters"]] = max(best.get(row["n_clusters"], row["score"]), row["score"])
    if len(best) < 2:
        raise InvalidParameter(
            'number_curve: the fit did not choose among numbers of clusters; fit with n_clusters="auto" or a range'
        )
    ax = axes_for(ax)
    numbers = sorted(best)
    chosen = rows[0]["n_clusters"]
    ax.plot(numbers, [best[k] for k in numbers], color=COLORS[0], marker="o", markersize=4, linewidth=1.4)
    ax.scatter([chosen], [best[chosen]], s=160.0, facecolors="none", edgecolors=INK, linewidths=1.4)
    second = getattr(model, "second_n_clusters_", None)
    if second in best:
        ax.annotate("second", (second, best[second]), xytext=(7, 6), textcoords="offset points",
                    ha="left", fontsize=8.5, color=FAINT)  # fmt: skip
    ax.margins(y=0.18)
    frame(
        ax,
        f"{counted(chosen, 'cluster')} {'has' if chosen == 1 else 'have'} the highest score",
        ("number of clusters", "score"),
    )
    apart = (numbers[-1] - numbers[0]) / 24
    ticks: list[int] = []
    for k in numbers:
        if not ticks or k - ticks[-1] >= apart:
            ticks.append(k)
    ax.set_xticks(ticks, [str(k) for k in ticks])
    return ax
