"""The numbers as printed, with marks on those that cannot be right. They lie in the CSV files of the folder printed."""

from __future__ import annotations

import csv
import re
from functools import cache
from importlib import resources
from typing import Literal, get_args

import attrs

__all__ = ["Mark", "Printed", "ReproducibleTable", "beside", "catalogue", "printed"]

Mark = Literal["", "low-ri", "contradiction", "impossible", "slow", "two-class"]
"""Why a value is doubtful ("low-ri", "contradiction"), cannot be that of any clustering ("impossible"), or is missing
(a dash for "slow", a star for "two-class")."""


@attrs.frozen
class Printed:
    """One printed cell.

    Parameters
    ----------
    row, column : str
        Place of the cell in the printed table.
    measure : str
        Measure of the printed value, a key of `clusterkit_papers.verdicts.MEASURES`.
    value : float or None
        None where the paper has a dash or a star.
    mark : Mark
        Mark of a doubtful or missing value.
    remark : str
        The reason in words.
    """

    row: str
    column: str
    measure: str
    value: float | None
    mark: Mark = ""
    remark: str = ""


@attrs.frozen
class ReproducibleTable:
    """A table that can be run.

    Parameters
    ----------
    name : str
        Name for the command ``clusterkit reproduce NAME``.
    title : str
    protocol : str
        ``module:function``; the function takes a `Plan` and returns the jobs of the table.
    """

    name: str
    title: str
    protocol: str


def _records(name: str) -> list[dict[str, str]]:
    text = resources.files("clusterkit_papers").joinpath(f"printed/{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def catalogue() -> dict[str, ReproducibleTable]:
    """All tables by name, in the order of the file tables.csv."""
    return {record["name"]: ReproducibleTable(**record) for record in _records("tables")}


@cache
def printed(table: str) -> dict[tuple[str, str], Printed]:
    """The cells of a table by row and column, in printed order."""
    cells: dict[tuple[str, str], Printed] = {}
    for record in _records(table):
        mark = next(mark for mark in get_args(Mark) if mark == record["mark"])
        value = float(record["printed"]) if record["printed"] else None
        cell = Printed(record["row"], record["column"], record["measure"], value, mark, record["remark"])
        cells[cell.row, cell.column] = cell
    return cells


@cache
def beside(table: str, row: str, column: str) -> Printed | None:
    """The printed cell that one of our rows stands beside: the names of ours begin with those of the printed rows.

    Examples
    --------
    >>> beside("emmc-table7", "Ionosphere: emmc-paper, C by labels", "EMMC Acc").value
    74.73
    """
    if table not in catalogue():
        return None
    cells = [
        cell
        for (name, its_column), cell in printed(table).items()
        if its_column == column and re.match(rf"{re.escape(name)}(?![^: ])", row) is not None
    ]
    return max(cells, key=lambda cell: len(cell.row), default=None)
