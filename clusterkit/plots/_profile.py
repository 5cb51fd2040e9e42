"""`profile`: in which columns each cluster differs from the others, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clusterkit.core.errors import InvalidParameter
from clusterkit.plots.figure import INK, axes_for, check_axes, frame
from clusterkit.profiles import Profile
from clusterkit.profiles.heat_map import heat_cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["profile"]

STRONGEST = 2.0
"""Difference in standard deviations at which the colour is full: stronger ones are rare and equally clear."""

SHORT = 32
"""Most characters of a name; the rest is cut off."""


def profile(clusters: Profile, ax: Axes | None = None, *, max_features: int = 20) -> Axes:
    """Draw the standardised differences of a profile: red above the rows outside, blue below.

    The columns that distinguish some cluster most come first. A cell of which the interval holds 0 is left empty, and a
    column with no other cells is left out.

    Parameters
    ----------
    clusters : Profile
        Of `clusterkit.profile`.
    ax : Axes, optional
        Axes to draw on; default: a new pyplot figure.
    max_features : int, default 20
        Rows of the map.

    Returns
    -------
    Axes

    Raises
    ------
    InvalidParameter
        If an argument is wrong, or no column was compared.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> import clusterkit
    >>> from matplotlib.figure import Figure
    >>> summary = clusterkit.profile([0] * 9 + [1] * 9, [[i, i % 3] for i in range(18)], names=["size", "kind"])
    >>> ax = clusterkit.plots.profile(summary, Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['size']
    """
    check_axes(ax, "profile")
    if not isinstance(clusters, Profile):
        raise InvalidParameter(f"profile: needs a Profile, made by clusterkit.profile, got {type(clusters).__name__}")
    shown, names, values = heat_cells(clusters, max_features)
    if not names:
        raise InvalidParameter("profile: no column was compared")
    ax = axes_for(ax)
    drawn: Any = ax.pcolormesh(values, cmap="RdBu_r", vmin=-STRONGEST, vmax=STRONGEST, edgecolors="#80808040")
    if values.size <= 160:
        for (row, column), value in np.ndenumerate(values):
            if np.isfinite(value):
                ink = "#fefefe" if abs(value) > 0.7 * STRONGEST else "#111111"
                ax.annotate(f"{value:+.1f}", (column + 0.5, row + 0.5), ha="center", va="center", fontsize=8, color=ink)
    frame(ax, "Difference from the other rows, in standard deviations", ("cluster", ""))
    ax.set_xticks(np.arange(len(shown)) + 0.5, [str(cluster.label) for cluster in shown])
    names = ["".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in name) for name in names]
    short = [name if len(name) <= SHORT else name[: SHORT - 1] + "…" for name in names]
    ax.set_yticks(np.arange(len(names)) + 0.5, short, color=INK, parse_math=False)
    ax.invert_yaxis()
    ax.tick_params(length=0)
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.7, aspect=18, extend="both")
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, colors=INK)
    return ax
