"""Parts of the pictures of figures: curves, logarithmic axes with plain numbers, and a legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = ["draw_curve", "finish", "plain_log"]


def draw_curve(
    axes: Axes, points: Sequence[tuple[float, float]], label: str, color: str, marker: str, line: str = "-"
) -> None:
    """Draw points (x, y), in any order, as a line with markers; nothing for no points."""
    if points:
        x, y = np.array(sorted(points)).T
        axes.plot(x, y, line, color=color, marker=marker, markersize=4, linewidth=1.2, label=label)


def finish(
    figure: Figure,
    axes: np.ndarray,
    path: str | None,
    *,
    loc: str,
    ncols: int,
    fontsize: float,
    title: str | None = None,
) -> None:
    """Give a figure the legend of its first axes that have one, and write it to a file, if there is a path.

    Parameters
    ----------
    figure : Figure
    axes : ndarray of Axes
    path : str or None
        Its ending decides the format.
    loc, ncols, fontsize, title
        Of the legend, as ``figure.legend`` takes them.
    """
    handles, labels = next((its for one in axes.flat if (its := one.get_legend_handles_labels())[0]), ([], []))
    if handles:
        figure.legend(handles, labels, loc=loc, ncols=ncols, fontsize=fontsize, title=title, frameon=False)
    if path is not None:
        figure.savefig(path)


def plain_log(axis: Axis, *, decades: bool = False) -> None:
    """Write the ticks of a logarithmic axis as plain numbers.

    Parameters
    ----------
    axis : Axis
        The x axis or y axis of some axes, which is made logarithmic.
    decades : bool, default False
        Ticks at powers of ten alone, not at 2 and 5 times them.
    """
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    getattr(axis.axes, f"set_{axis.axis_name}scale")("log")
    axis.set_major_locator(LogLocator(subs=(1.0,) if decades else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    axis.set_minor_formatter(NullFormatter())
