"""`candidates`: the clusterings that `Auto` chose among, with their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clusterkit.core.errors import InvalidParameter
from clusterkit.core.wording import counted
from clusterkit.estimators.driven import Driven
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.plots.figure import INK, STYLES, axes_for, check_axes, frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["candidates"]


def candidates(model: Driven | Pipeline, ax: Axes | None = None) -> Axes:
    """Draw the score of every distinct clustering that `Auto` or ``n_clusters="auto"`` chose among, by its number.

    A point is a clustering, coloured by the recipe that found it first; its size grows with its agreement (adjusted
    Rand index) with the answer: large points with high scores are the same structure, small ones are rivals. The answer
    has a ring.

    Parameters
    ----------
    model : Auto, or a Pipeline or Driven whose number of clusters was chosen
        Fitted.
    ax : Axes, optional
        Axes to draw on; default: a new pyplot figure.

    Returns
    -------
    Axes

    Raises
    ------
    InvalidParameter
        If an argument is wrong, the model is not fitted, or there was nothing to choose.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from clusterkit import Auto, plots
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(60, random_state=0, cluster_std=0.5)
    >>> model = Auto(pool=["kmeans", "genie"], random_state=0).fit(X)
    >>> plots.candidates(model, Figure().subplots()).get_xlabel()
    'number of clusters'
    """
    check_axes(ax, "candidates")
    if not isinstance(model, Driven | Pipeline):
        raise InvalidParameter(f"candidates: needs a fitted estimator, got {type(model).__name__}")
    rows: list[Any] = list(getattr(model, "candidates_", []))
    if not rows:
        raise InvalidParameter(
            "candidates: the model is not fitted, or had nothing to choose among; take Auto or n_clusters='auto'"
        )
    ax = axes_for(ax)
    names = list(dict.fromkeys(row["recipe"] for row in rows))
    for place, name in enumerate(names):
        mine = [row for row in rows if row["recipe"] == name]
        ax.scatter(
            [row["n_clusters"] for row in mine],
            [row["score"] for row in mine],
            s=[15.0 + 60.0 * max(row["similarity"], 0.0) for row in mine],
            color=STYLES[place % len(STYLES)][0],
            marker=STYLES[place % len(STYLES)][1],
            label=name,
            alpha=0.85,
            linewidths=0.0,
        )
    best = rows[0]
    confidence: float = getattr(model, "confidence_", np.nan)
    ax.scatter([best["n_clusters"]], [best["score"]], s=190.0, facecolors="none", edgecolors=INK, linewidths=1.2)
    if len({row["n_clusters"] for row in rows}) > 1:
        most = max(row["n_clusters"] for row in rows)
        if most > 12:
            ax.set_xscale("log")
        ticks = np.unique([row["n_clusters"] for row in rows])
        ax.set_xticks(ticks, [str(tick) if tick <= 10 or tick % 5 == 0 else "" for tick in ticks], minor=False)
        ax.set_xticks([], minor=True)
    else:
        ax.set_xticks([best["n_clusters"]])
    ax.legend(frameon=False, fontsize=8)
    title = f"{best['recipe']}, {counted(best['n_clusters'], 'cluster')}; confidence in the structure {confidence:.2f}"
    frame(ax, title, ("number of clusters", "score"))
    return ax
