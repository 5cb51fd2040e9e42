"""The picture of mean ranks: methods from the best down, with bars over those that do not differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clusterkit.errors import InvalidParameter
from clusterkit.plots.figure import COLORS, FAINT, INK, axes_for, check_axes, frame
from clusterkit_papers.benchmarking.page import Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["groups", "rank_diagram"]


GAP = 0.35
"""Distance between two bars, in places of methods."""


def rank_diagram(ranking: Ranking, ax: Axes | None = None) -> Axes:
    """Draw mean ranks, the best at the top, with a bar over each group whose ranks are within the critical difference.

    Parameters
    ----------
    ranking : Ranking
        Result of `clusterkit_papers.benchmarking.rank`.
    ax : Axes, optional
        Axes to draw on; default: a new pyplot figure.

    Returns
    -------
    Axes

    Raises
    ------
    InvalidParameter
        If an argument is wrong.
    ImportError
        If matplotlib is missing.

    Notes
    -----
    Source: Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7, figure 1.

    Examples
    --------
    >>> from clusterkit_papers.benchmarking import Ranking, rank_diagram
    >>> from matplotlib.figure import Figure
    >>> ranking = Ranking(("kmeans", "ward"), (1.2, 1.8), (0.9, 0.8), 10, 0.62, 0.06)
    >>> rank_diagram(ranking, ax=Figure().subplots()).get_xlabel()
    'mean rank over 10 sets (1 is best)'
    """
    check_axes(ax, "rank_diagram")
    if not isinstance(ranking, Ranking):
        raise InvalidParameter(
            f"rank_diagram: needs what clusterkit_papers.benchmarking.rank returns, got {type(ranking).__name__}"
        )
    ax = axes_for(ax)
    places = range(len(ranking.methods))
    ax.hlines(places, 1, ranking.ranks, color="#e6e6e6", linewidth=1.0, zorder=0)
    ax.plot(ranking.ranks, places, "o", color=COLORS[0], markersize=6)
    for place, (value, mean) in enumerate(zip(ranking.ranks, ranking.means, strict=True)):
        ax.annotate(
            f"{value:.1f}  (mean {mean:.2f})", (value, place), (7, 0), textcoords="offset points", va="center",
            fontsize=8, color=INK,
        )  # fmt: skip
    bars = groups(ranking)
    for number, (first, last) in enumerate(bars):
        x = 1 - GAP * (len(bars) - number)
        ax.plot([x, x], [first - 0.3, last + 0.3], color=FAINT, linewidth=2.5, solid_capstyle="butt")
    ax.set_yticks(list(places), list(ranking.methods), fontsize=9)
    ax.set_ylim(len(ranking.methods) - 0.4, -0.6)
    ax.set_xlim(1 - GAP * (len(bars) + 1), max(ranking.ranks) + 0.28 * (max(ranking.ranks) - 1) + 1)
    frame(ax, "", (f"mean rank over {ranking.n_sets} sets (1 is best)", ""))
    ax.set_title(
        f"bars join ranks within the critical difference of {ranking.critical_difference:.2f} (Nemenyi, 5 %)",
        fontsize=9.5, loc="left", color=INK,
    )  # fmt: skip
    return ax


def groups(ranking: Ranking) -> list[tuple[int, int]]:
    """First and last place of the longest runs of methods within the critical difference; runs of one are left out."""
    runs: list[tuple[int, int]] = []
    for first, best in enumerate(ranking.ranks):
        last = max(place for place, value in enumerate(ranking.ranks) if value - best <= ranking.critical_difference)
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs
