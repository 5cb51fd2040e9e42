"""A table before its numbers are read: the names of its columns, the choice among them, and what is refused."""

from __future__ import annotations

import difflib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import attrs
from numpy.typing import NDArray

__all__ = [
    "MISSING",
    "NAMES_SHOWN",
    "NotNumeric",
    "Opened",
    "Table",
    "TableError",
    "is_number",
    "numbered",
    "refuse",
    "select",
    "unique",
]

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})
NAMES_SHOWN = 12


class TableError(ValueError):
    """A file that is no table of numbers."""


class NotNumeric(TableError):
    """Columns that hold something else than numbers, or nothing; `columns` has their names."""

    def __init__(self, message: str, columns: Sequence[str]) -> None:
        super().__init__(message)
        self.columns = tuple(columns)


@attrs.frozen(eq=False)
class Table:
    """Columns of numbers.

    Attributes
    ----------
    data : ndarray of shape (n, d), float64 or float32
        Finite.
    names : tuple of str
        One for each column of `data`; "x1", "x2" ... by position in the file if it names none.
    named : bool
        Whether the names are the file's own.
    rows : list of list of str
        All cells of all columns as they stand in the file; empty unless asked for.
    row_names : tuple of str
        Names of the columns of `rows`.
    """

    data: NDArray[Any]
    names: tuple[str, ...]
    named: bool
    rows: list[list[str]] = attrs.field(factory=list)
    row_names: tuple[str, ...] = ()


class Opened(ABC):
    """A table whose columns are known and whose numbers are not read yet.

    Attributes
    ----------
    title : str
        What messages call it.
    names : list of str
        Of all columns.
    named : bool
        Whether the names are its own.
    """

    title: str
    names: list[str]
    named: bool

    @abstractmethod
    def numbers(self, chosen: list[int]) -> NDArray[Any]:
        """The chosen columns, (n, d), finite."""

    @abstractmethod
    def cells(self) -> list[list[str]]:
        """All columns of all rows as text."""

    def table(self, chosen: list[int], *, keep_rows: bool = False) -> Table:
        """Read the chosen columns, and with `keep_rows` the cells of all."""
        rows = self.cells() if keep_rows else []
        names = tuple(self.names[j] for j in chosen)
        return Table(self.numbers(chosen), names, self.named, rows, tuple(self.names))


def select(names: Sequence[str], columns: Iterable[str], drop: Iterable[str], title: str) -> list[int]:
    """Positions of the columns to use, in the order asked for; names come before positions.

    Examples
    --------
    >>> select(["id", "a", "b", "c"], ["2-3", "c"], ["a"], "t.csv")
    [2, 3]
    """
    wanted = [j for key in columns for j in _positions(key, names, title)] or range(len(names))
    unwanted = {j for key in drop for j in _positions(key, names, title)}
    chosen = [j for j in dict.fromkeys(wanted) if j not in unwanted]
    if not chosen:
        raise TableError(f"{title}: no column is left to cluster")
    return chosen


def _positions(key: str, names: Sequence[str], title: str) -> Sequence[int]:
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
    """Raise if there is a cell, by column, that is no number or missing."""
    for found, what in ((words, "not a finite number"), (gaps, "missing value")):
        if found:
            shown = "; ".join(found[j] for j in sorted(found)[:3])
            more = f"; and {len(found) - 3} more columns" if len(found) > 3 else ""
            raise NotNumeric(f"{title}: {what} in {shown}{more}.", [names[j] for j in sorted(found)])


def is_number(cell: str) -> bool:
    """Whether a cell is a finite number; Python's 1_000 is not meant as one in a table."""
    try:
        return math.isfinite(float(cell)) and "_" not in cell
    except ValueError:
        return False


def numbered(width: int) -> list[str]:
    """Names by position."""
    return [f"x{j}" for j in range(1, width + 1)]


def unique(cells: Sequence[str]) -> list[str]:
    """Names without gaps and repetitions."""
    names: list[str] = []
    for j, cell in enumerate(cells, 1):
        name = base = cell.strip() or f"x{j}"
        copies = 1
        while name in names:
            copies += 1
            name = f"{base}.{copies}"
        names.append(name)
    return names
