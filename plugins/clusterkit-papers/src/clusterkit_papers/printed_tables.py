"""The numbers as printed, with the marks of those that cannot be right."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import Literal, get_args

import attrs

__all__ = ["Entry", "Mark", "Printed", "catalogue", "printed"]

Mark = Literal["", "low-ri", "contradiction", "impossible", "slow", "two-class"]
"""Why a value is doubtful ("low-ri", "contradiction"), cannot be that of any clustering ("impossible"), or is missing
(a dash for "slow", a star for "two-class")."""


@attrs.frozen
class Printed:
    """One printed cell.

    Parameters
    ----------
    row, column : str
        Where it stands.
    measure : str
        What it measures, a key of `clusterkit_papers.verdicts.MEASURES`.
    value : float or None
        None where the paper has a dash or a star.
    mark : Mark
    remark : str
        The doubt in words.
    """

    row: str
    column: str
    measure: str
    value: float | None
    mark: Mark = ""
    remark: str = ""


@attrs.frozen
class Entry:
    """A table that can be run.

    Parameters
    ----------
    name, title : str
    protocol : str
        ``module:function`` that plans it.
    """

    name: str
    title: str
    protocol: str


def _records(name: str) -> list[dict[str, str]]:
    text = resources.files("clusterkit_papers").joinpath(f"printed/{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def catalogue() -> dict[str, Entry]:
    """All tables by name."""
    return {record["name"]: Entry(**record) for record in _records("tables")}


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
