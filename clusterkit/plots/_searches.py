"""Plots of searches.

- `search_curve`: the scores of a search against one parameter, or over two parameters as a map;
- `number_curve`: the best score at each number of clusters that was tried;
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from clusterkit._typing import Array
from clusterkit.contracts.arguments import Clusterer
from clusterkit.errors import InvalidParameter, counted, nearest_names
from clusterkit.estimators.search import Candidate, SearchResult
from clusterkit.plots.figure import COLORS, FAINT, INK, axes_for, check_axes, frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes


EstimatorT = TypeVar("EstimatorT", bound=Clusterer)

LOGARITHMIC_FROM = 20.0
"""Ratio of the largest to the smallest value of a positive parameter from which its axis is logarithmic."""
MOST_WRITTEN = 150
"""Largest number of cells of a map for which each cell shows its score."""
LONGEST = 24
"""Largest number of characters of a parameter value on an axis."""


def search_curve(
    search: SearchResult[EstimatorT], ax: Axes | None = None, *, params: Sequence[str] | str | None = None
) -> Axes:
    """Draw the scores of a search against one parameter, or as a heat map over two.

    Among candidates that differ in other parameters only the best is shown. The numbers at the points of a curve are
    numbers of clusters; crosses and grey cells are candidates without a score: excluded, failed or not run. Candidates
    with the best score and other clusters have a thin ring or a dashed border, and the title counts them.

    Parameters
    ----------
    search : SearchResult
        Result of `clusterkit.search`.
    ax : Axes, optional
        Axes to draw on; default: a new pyplot figure.
    params : str or one or two str, optional
        The parameters; default: the first two that vary, by name.

    Returns
    -------
    Axes

    Raises
    ------
    InvalidParameter
        If an argument is wrong.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from clusterkit import plots, search
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(60, random_state=0)
    >>> finished = search("kmeans", {"n_clusters": [2, 3, 4]}, X, score="silhouette", random_state=0)
    >>> plots.search_curve(finished, ax=Figure().subplots()).get_xlabel()
    'n_clusters'
    """
    check_axes(ax, "search_curve")
    if not isinstance(search, SearchResult):
        raise InvalidParameter(f"search_curve: needs what clusterkit.search returns, got {type(search).__name__}")
    names = _names(search, params)
    ax = axes_for(ax)
    values = [_values(search, name) for name in names]
    if len(names) == 1:
        _draw_curve(ax, search, names[0], values[0])
    else:
        _draw_map(ax, search, names, values)
    best = search.candidates[search.best_index]
    values_of_best = ", ".join(f"{name} = {_text(best.params.get(name))}" for name in names)
    direction = "lowest" if search.lower_is_better else "highest"
    tied = len(search.ties)
    also = "" if tied == 0 else f"; tied with {tied} other{'s' if tied > 1 else ''}"
    title = (
        f"{direction} {search.score} {best.score:.3g}: {values_of_best}, {counted(best.n_clusters, 'cluster')}{also}"
    )
    ax.set_title(title, fontsize=10.5, loc="left", color=INK)
    return ax


def _names(search: SearchResult[Any], params: Sequence[str] | str | None) -> list[str]:
    known = sorted({name for candidate in search.candidates for name in candidate.params})
    if params is None:
        names = (search.varied or known)[:2]
        if not names:
            raise InvalidParameter("search_curve: the grid names no parameter")
        return names
    names = [params] if isinstance(params, str) else list(params)
    for name in names:
        if name not in known:
            raise InvalidParameter(
                f"search_curve: no parameter {name!r} in the grid. {nearest_names(str(name), known)}"
            )
    if not 1 <= len(names) <= 2:
        raise InvalidParameter(f"search_curve: params must be one or two names, got {len(names)}")
    return names


def _values(search: SearchResult[Any], name: str) -> dict[str, Any]:
    """The values of a parameter by their keys: numbers sorted, others in the order of the grid."""
    values: dict[str, Any] = {}
    for candidate in search.candidates:
        values.setdefault(candidate.key(name), candidate.params.get(name))
    if all(map(_is_number, values.values())):
        return dict(sorted(values.items(), key=lambda item: item[1]))
    return values


def _best(search: SearchResult[Any], names: Sequence[str], keys: Sequence[str]) -> Candidate | None:
    """The best candidate with these values; None if none of them has a score."""
    sign = -1.0 if search.lower_is_better else 1.0
    matching = [
        candidate
        for candidate in search.candidates
        if not np.isnan(candidate.score) and [candidate.key(name) for name in names] == list(keys)
    ]
    return max(matching, key=lambda candidate: sign * candidate.score, default=None)


def _draw_curve(ax: Any, search: SearchResult[Any], name: str, keyed: dict[str, Any]) -> None:
    values = list(keyed.values())
    numeric = all(map(_is_number, values))
    places = np.array(values, dtype=float) if numeric else np.arange(len(values), dtype=float)
    points = [_best(search, [name], [key]) for key in keyed]
    scores = np.array([np.nan if point is None else point.score for point in points])
    scored = ~np.isnan(scores)
    ax.plot(
        places[scored], scores[scored], color=COLORS[0], marker="o", markersize=5, linewidth=1.5, label=search.score
    )
    keys = list(keyed)
    best = keys.index(search.candidates[search.best_index].key(name))
    ax.plot(places[best], scores[best], color=COLORS[5], marker="o", markersize=10, markerfacecolor="none",
            linestyle="", markeredgewidth=1.8, label="best")  # fmt: skip
    tied = [keys.index(search.candidates[i].key(name)) for i in search.ties]
    if tied:
        ax.plot(places[tied], scores[tied], color=COLORS[5], marker="o", markersize=13, markerfacecolor="none",
                linestyle="", markeredgewidth=1.0, label="tied")  # fmt: skip
    for place, score, point in zip(places, scores, points, strict=True):
        if point is not None and name != "n_clusters":
            ax.annotate(str(point.n_clusters), (place, score), xytext=(0, 7), textcoords="offset points", ha="center",
                        fontsize=8.5, color=INK)  # fmt: skip
    if not scored.all():
        low = float(scores[scored].min()) - 0.08 * max(float(np.ptp(scores[scored])), 1e-3)
        ax.plot(places[~scored], np.full(np.sum(~scored), low), color=FAINT, marker="x", linestyle="", label="no score")
    ax.margins(y=0.12)
    frame(ax, "", (name, search.score))
    if numeric and _wide(places):
        ax.set_xscale("log")
    if not numeric or (len(values) <= 10 and not _wide(places)):
        ax.set_xticks(places, [_text(value) for value in values])
        ax.minorticks_off()
    ax.legend(frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)


def _draw_map(ax: Any, search: SearchResult[Any], names: Sequence[str], values: Sequence[dict[str, Any]]) -> None:
    across, up = values
    table = [[_best(search, names, (x, y)) for x in across] for y in up]
    scores: Array = np.array([[np.nan if cell is None else cell.score for cell in row] for row in table])
    ax.set_facecolor("#dddddd")
    image = ax.imshow(scores, origin="lower", aspect="auto", cmap="viridis_r" if search.lower_is_better else "viridis")
    ax.figure.colorbar(image, ax=ax, label=search.score)
    frame(ax, "", names)
    ax.set_xticks(range(len(across)), [_text(x) for x in across.values()], rotation=0 if len(across) <= 10 else 60)
    ax.set_yticks(range(len(up)), [_text(y) for y in up.values()])
    if scores.size <= MOST_WRITTEN:
        for row, cells in enumerate(table):
            for column, cell in enumerate(cells):
                if cell is None:
                    ax.text(column, row, "–", ha="center", va="center", fontsize=8, color=FAINT)
                    continue
                level = image.norm(cell.score)
                dark = level > 0.6 if search.lower_is_better else level < 0.6
                text = f"{cell.score:.2g}" + ("" if "n_clusters" in names else f"\n{cell.n_clusters} cl.")
                ax.text(column, row, text, ha="center", va="center", fontsize=8, color="white" if dark else INK)
    from matplotlib.patches import Rectangle

    for index in (search.best_index, *search.ties):
        cell = search.candidates[index]
        column, row = (list(axis).index(cell.key(name)) for name, axis in zip(names, values, strict=True))
        style = "-" if index == search.best_index else "--"
        corner = (column - 0.5, row - 0.5)
        ax.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=COLORS[5], linewidth=2.5, linestyle=style))


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _wide(places: Array) -> bool:
    return bool(places.min() > 0 and places.max() / places.min() >= LOGARITHMIC_FROM)


def _text(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(getattr(value, "name", value))
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


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
