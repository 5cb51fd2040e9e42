"""What the formats share: a table before its numbers are read, the choice of columns, and errors about cells."""

from __future__ import annotations

import difflib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import attrs

from clusterkit._typing import Array

__all__ = [
    "MISSING",
    "NAMES_SHOWN",
    "NotNumeric",
    "NumericTable",
    "OpenedTable",
    "TableError",
    "is_number",
    "numbered",
    "refuse",
    "select",
    "unique",
]

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})
"""Cells that mean a missing value, in lower case: those of UCI files, R, pandas and SQL."""

NAMES_SHOWN = 12
"""Number of column names in an error message."""


class TableError(ValueError):
    """A file is not a table of numbers."""


class NotNumeric(TableError):
    """Columns contain cells that are missing or not numbers; `columns` has the names of these columns."""

    def __init__(self, message: str, columns: Sequence[str]) -> None:
        super().__init__(message)
        self.columns = tuple(columns)


@attrs.frozen(eq=False)
class NumericTable:
    """Columns of numbers.

    Attributes
    ----------
    data : ndarray of shape (n, d), float64 or float32
        Finite.
    names : tuple of str
        Names of the columns of `data`; "x1", "x2" ... by position in the file if the file has no names.
    named : bool
        Whether the names are from the file.
    rows : list of list of str
        All cells of all columns as they are in the file; empty unless `OpenedTable.table` keeps them.
    row_names : tuple of str
        Names of the columns of `rows`.
    """

    data: Array
    names: tuple[str, ...]
    named: bool
    rows: list[list[str]] = attrs.field(factory=list)
    row_names: tuple[str, ...] = ()


class OpenedTable(ABC):
    """A table whose columns are known and whose numbers are not read yet.

    Attributes
    ----------
    title : str
        The name in messages.
    names : list of str
        Names of all columns.
    named : bool
        Whether the names are from the file.
    """

    title: str
    names: list[str]
    named: bool

    @abstractmethod
    def numbers(self, chosen: list[int]) -> Array:
        """The chosen columns, (n, d), finite."""

    @abstractmethod
    def cells(self) -> list[list[str]]:
        """All columns of all rows as text."""

    def table(self, chosen: list[int], *, keep_rows: bool = False) -> NumericTable:
        """Read the chosen columns, and with `keep_rows` the cells of all columns too."""
        rows = self.cells() if keep_rows else []
        names = tuple(self.names[j] for j in chosen)
        return NumericTable(self.numbers(chosen), names, self.named, rows, tuple(self.names))


def select(names: Sequence[str], columns: Iterable[str], drop: Iterable[str], title: str) -> list[int]:
    """Positions of the columns to use, in the order of `columns`.

    Parameters
    ----------
    names : sequence of str
        Names of all columns of the table.
    columns : iterable of str
        Columns to use: names, positions from 1, or ranges such as "2-4". A name goes before a position. All columns if
        empty.
    drop : iterable of str
        Columns to leave out, written in the same way.
    title : str
        The table, for messages.

    Raises
    ------
    TableError
        If there is no such column, or none is left.

    Examples
    --------
    >>> select(["id", "a", "b", "c"], ["2-3", "c"], ["a"], "t.csv")
    [2, 3]
    """
    included = [j for key in columns for j in _positions(key, names, title)] or range(len(names))
    excluded = {j for key in drop for j in _positions(key, names, title)}
    chosen = [j for j in dict.fromkeys(included) if j not in excluded]
    if not chosen:
        raise TableError(f"{title}: no column is left to cluster")
    return chosen


def _positions(key: str, names: Sequence[str], title: str) -> Sequence[int]:
    """Positions of the columns that a name, a position or a range stands for."""
    if key in names:
        return [names.index(key)]
    low, dash, high = key.partition("-")
    if low.isdecimal() and (high.isdecimal() if dash else True):
        first, last = int(low), int(high if dash else low)
        if 1 <= first <= last <= len(names):
            return range(first - 1, last)
        raise TableError(f"{title}: no column {key}; there are {len(names)} columns, counted from 1")
    close = difflib.get_close_matches(key, names, n=1)
    offer = f" Did you mean {close[0]!r}?" if close else ""
    shown = ", ".join(names[:NAMES_SHOWN]) + (", ..." if len(names) > NAMES_SHOWN else "")
    raise TableError(f"{title}: no column named {key!r}.{offer} Its {len(names)} columns: {shown}")


def refuse(title: str, names: Sequence[str], words: dict[int, str], gaps: dict[int, str]) -> None:
    """Raise `NotNumeric` if there are bad cells.

    Parameters
    ----------
    title : str
        The table, for the message.
    names : sequence of str
        Names of all columns.
    words, gaps : dict of int to str
        By column, the description of its first cell that is not a number, and of its first missing cell.
    """
    for cells, problem in ((words, "not a finite number"), (gaps, "missing value")):
        if cells:
            shown = "; ".join(cells[j] for j in sorted(cells)[:3])
            more = f"; and {len(cells) - 3} more columns" if len(cells) > 3 else ""
            raise NotNumeric(f"{title}: {problem} in {shown}{more}.", [names[j] for j in sorted(cells)])


def is_number(cell: str) -> bool:
    """Whether a cell is a finite number. Python reads 1_000 as a number, but in a table it is a word."""
    try:
        return math.isfinite(float(cell)) and "_" not in cell
    except ValueError:
        return False


def numbered(width: int) -> list[str]:
    """Names by position: x1, x2, ..."""
    return [f"x{j}" for j in range(1, width + 1)]


def unique(cells: Sequence[str]) -> list[str]:
    """Names for all columns, each one once: x3 for an empty third name, a.2 for the second column named a."""
    names: dict[str, None] = {}
    copies: dict[str, int] = {}  # of each name so far, so that thousands of equal names are no search
    for j, cell in enumerate(cells, 1):
        name = base = cell.strip() or f"x{j}"
        while name in names:
            copies[base] = copies.get(base, 1) + 1
            name = f"{base}.{copies[base]}"
        names[name] = None
    return list(names)
