"""Pictures of tables and figures: the curves of a figure, or the printed values of a table beside ours."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clusterkit_papers.axes import finish, plain_log
from clusterkit_papers.printed_tables import catalogue

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PICTURES", "beside", "draw"]

PICTURES: Mapping[str, str] = {
    "emmc-figures": "clusterkit_papers.emmc.growth:draw",
    "edsvc-figures": "clusterkit_papers.edsvc.figures:draw",
    "elm-figures": "clusterkit_papers.elm.figures:draw",
    "m3-figures": "clusterkit_papers.min_max.figures:draw",
    "m3-figure3": "clusterkit_papers.min_max.heights:draw",
    "m3-figure6": "clusterkit_papers.min_max.times:draw",
}
"""``module:function`` of the pictures that are curves; the function takes a path and rows. All others are drawn by
`beside`, but for those of `OF_DATA`."""

OF_DATA: Mapping[str, str] = {
    "svc-figures": "clusterkit_papers.svc.figures:draw",
    "m3-figures7-8": "clusterkit_papers.min_max.decomposition:draw",
}
"""``module:function`` of the pictures of data sets, not of rows; the function takes a path and a seed."""

WIDTHS, ROW_HEIGHT, EDGE = (3.1, 1.9), 0.19, 1.1
"""Inches of a column (of up to four columns, and of more) and of a row, and above and below."""

MOST_ROWS = 150
"""Highest number of rows of a picture: beyond that it could not be read."""


def draw(name: str, path: str, rows: Sequence[Mapping[str, object]] | None = None, seed: int = 0) -> None:
    """Write the picture of a table or figure; needs the extra ``plots``.

    Parameters
    ----------
    name : str
        A key of `clusterkit_papers.tables()`.
    path : str
        File for the picture; its ending decides the format.
    rows : sequence of mapping, optional
        The rows of the table, or of its ``--json``. By default the whole table is run.
    seed : int, default 0
        Seed of the data and fits of the pictures in `OF_DATA`, which show them and not the rows.

    Raises
    ------
    UnknownName
        If there is no such table.
    InvalidData
        If no row has a value to draw.
    """
    from clusterkit.errors import InvalidData, UnknownName, nearest_names, need

    if name not in catalogue():
        raise UnknownName(f"no table named {name!r}. {nearest_names(name, catalogue())}")
    need("matplotlib", "a picture", "plots")
    if name in OF_DATA:
        _function(OF_DATA[name])(path, seed)
        return
    if rows is None:
        from clusterkit_papers import reproduce

        rows = reproduce(name, seed=seed)
    if all(row["ours"] is None for row in rows):
        raise InvalidData(f"{name}: no row has a value, so there is nothing to draw; its verdicts say why")
    if name in PICTURES:
        _function(PICTURES[name])(path, rows)
    else:
        beside(path, rows)


def _function(where: str) -> Callable[..., object]:
    """The function of ``module:function``."""
    module, _, name = where.partition(":")
    function: Callable[..., object] = getattr(importlib.import_module(module), name)
    return function


def beside(path: str, rows: Sequence[Mapping[str, object]]) -> Figure:
    """Printed values (diamonds) beside ours (dots, with the standard deviation), a column of axes for each column.

    Parameters
    ----------
    path : str
        File for the picture; its ending decides the format.
    rows : sequence of mapping
        Rows of `clusterkit_papers.reproduce`. Rows without a value of ours are left out, and so are columns without a
        printed value if any column has one.

    Returns
    -------
    ndarray of shape (columns,)
        The axes.
    """
    from matplotlib.figure import Figure

    from clusterkit.plots.figure import COLORS, INK, frame

    measured = [row for row in rows if row["ours"] is not None]
    beside_print = [row for row in measured if row["printed"] is not None]
    columns = list(dict.fromkeys(str(row["column"]) for row in beside_print or measured))
    compared = [row for row in measured if row["column"] in columns]
    names = list(dict.fromkeys(str(row["row"]) for row in compared))[:MOST_ROWS]
    places = {name: place for place, name in enumerate(names)}
    longest = max((len(name) for name in names), default=0)
    size = (WIDTHS[len(columns) > 4] * max(1, len(columns)) + 0.085 * longest, ROW_HEIGHT * len(names) + EDGE)
    figure = Figure(figsize=size, dpi=100, facecolor="white", layout="constrained")
    axes: Any = figure.subplots(1, max(1, len(columns)), sharey=True, squeeze=False)[0]
    for column, axis in zip(columns, axes, strict=False):
        here = [row for row in compared if row["column"] == column and row["row"] in places]
        if any(row["sd"] for row in here):
            drawn = [row for row in here if row["sd"]]
            axis.errorbar(
                [row["ours"] for row in drawn], [places[row["row"]] for row in drawn], xerr=[r["sd"] for r in drawn],
                fmt="none", ecolor=COLORS[0], elinewidth=1.0,
            )  # fmt: skip
        printed = [row for row in here if row["printed"] is not None]
        if printed:
            axis.plot(
                [row["printed"] for row in printed], [places[row["row"]] for row in printed], "D", color=INK,
                markerfacecolor="none", markersize=6, label="printed",
            )  # fmt: skip
        axis.plot(
            [row["ours"] for row in here], [places[row["row"]] for row in here], "o", color=COLORS[0], markersize=4,
            label="ours",
        )  # fmt: skip
        values = [row[kind] for row in here for kind in ("ours", "printed") if row[kind] is not None]
        if values and min(values) > 0 and max(values) > 50 * min(values):
            plain_log(axis.xaxis, decades=True)
        frame(axis, column, ("", ""))
        axis.grid(color="#e6e6e6", linewidth=0.6)
    axes[0].set_yticks(range(len(names)), names, fontsize=8)
    axes[0].set_ylim(len(names) - 0.4, -0.6)
    finish(figure, axes, path, loc="outside lower center", ncols=2, fontsize=9)
    return axes
