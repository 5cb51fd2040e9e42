"""The filled cells of a sheet of an Excel file, read row by row, without the empty margins around them."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit.errors import TableError
from clusterkit.samples import memory

if TYPE_CHECKING:
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

PIECE = 2**20
"""Bytes of a sheet that are searched at a time."""

OVERLAP = 512
"""Bytes of a piece that are searched again with the next one: the longest element that is searched for."""


def pieces(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """The content of a file of an archive, in pieces that overlap by the length of a mark."""
    before = b""
    with archive.open(name) as file:
        while piece := file.read(PIECE):
            yield before + piece
            before = piece[-OVERLAP:]


MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=\"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})\"")
"""Pattern of a range of merged cells in a sheet of an XLSX file."""

IS_HIDDEN = rb"(?=[^>]*\s(?:hidden=\"(?:1|true)|(?:ht|width)=\"0(?:\.\d*)?)\")"
"""Pattern of a part of a sheet that is not shown: of a size below one, hidden itself, by a filter, or in a group that
is folded up."""

HIDDEN_ROW = re.compile(rb"<(?:\w+:)?row(?=\s)" + IS_HIDDEN + rb"[^>]*?\sr=\"(\d{1,7})\"")
"""Pattern of a row that is not shown."""

HIDDEN_COLUMNS = re.compile(
    rb"<(?:\w+:)?col(?=\s)" + IS_HIDDEN + rb"(?=[^>]*\smax=\"(\d{1,5})\")[^>]*?\smin=\"(\d{1,5})\""
)
"""Pattern of a range of columns that are not shown."""

MOST_COLUMNS = 2**14
"""Columns of a sheet at most."""

BYTES_OF_CELL = 8
"""Bytes of a cell of the grid, without its value."""

Range = tuple[int, int, int, int]
"""First row, first column, last row and last column, from 0."""


@attrs.frozen(eq=False)
class Grid:
    """The rows and columns of a sheet that have filled cells.

    Parameters
    ----------
    rows, columns : ndarray
        Numbers of the rows and columns in the sheet, from 0.
    values : ndarray of shape (rows, columns), object
        None for empty cells.
    entered : ndarray of shape (rows, columns), bool
        Cells that are filled themselves, and do not only show the value of the merged cells that they belong to.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    values: NDArray[np.object_]
    entered: NDArray[np.bool_]

    @classmethod
    def of(cls, sheet: ReadOnlyWorksheet, title: str) -> Self:
        """The grid of a sheet of openpyxl, which was opened to be read only.

        Raises
        ------
        TableError
            If the rows and columns with filled cells would be too large a table.
        """
        allowed = memory.unpacked_cap()
        at: list[tuple[int, int]] = []
        cells: list[object] = []
        looked_at = 0
        sheet.reset_dimensions()  # the dimensions in the file may be wrong, and rows would be filled up to them
        for i, row in enumerate(sheet.rows):
            looked_at += len(row)
            if looked_at > allowed:
                break
            for j, cell in enumerate(row):
                if cell.value is None:
                    continue
                value = _value(cell)
                if value is not None and not (isinstance(value, str) and not value.strip()):
                    at.append((i, j))
                    cells.append(value)
        places = np.array(at, dtype=np.intp).reshape(-1, 2)
        rows, of_row = np.unique(places[:, 0], return_inverse=True)
        columns, of_column = np.unique(places[:, 1], return_inverse=True)
        size = BYTES_OF_CELL * len(rows) * len(columns)
        if looked_at > allowed or size > allowed:
            raise TableError(
                f"{title}, sheet {sheet.title!r}: its cells are too far apart for a table: {len(cells):,} filled cells "
                f"in {len(rows):,} rows and {len(columns):,} columns; move the table into a sheet of its own"
            )
        shape = len(rows), len(columns)
        values = np.full(shape, None, dtype=object)
        for i, j, cell in zip(of_row.tolist(), of_column.tolist(), cells, strict=True):
            values[i, j] = cell
        entered = np.zeros(shape, dtype=bool)
        entered[of_row, of_column] = True
        return cls(rows, columns, values, entered)

    def merged(self, ranges: Iterable[Range], title: str) -> Grid:
        """The grid with the value of the first of some merged cells in all of them, as the sheet shows it.

        Raises
        ------
        TableError
            If ranges overlap, which no spreadsheet program writes.
        """
        values, entered = self.values.copy(), self.entered.copy()
        filled = 0
        for top, left, bottom, right in ranges:
            rows = slice(*np.searchsorted(self.rows, (top, bottom + 1)).tolist())
            columns = slice(*np.searchsorted(self.columns, (left, right + 1)).tolist())
            part = values[rows, columns]
            if not part.size or self.rows[rows.start] != top or self.columns[columns.start] != left:
                continue
            filled += part.size
            if filled > values.size:
                raise TableError(f"{title}: its merged cells overlap, so that it is unknown what they show")
            if part[0, 0] is None:
                continue
            values[rows, columns] = part[0, 0]
            entered[rows, columns] = False
            entered[rows.start, columns.start] = True
        return attrs.evolve(self, values=values, entered=entered)

    def from_row(self, first: int) -> Grid:
        """The grid from a row on, without the columns that are empty then."""
        rows = np.arange(len(self.rows)) >= first
        filled: NDArray[np.bool_] = (self.values[rows] != None).any(axis=0)  # noqa: E711 - cell by cell
        return self.part(rows, filled)

    def part(self, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> Grid:
        """The grid of some rows and columns, by their masks."""
        values, entered = self.values[rows][:, columns], self.entered[rows][:, columns]
        return Grid(self.rows[rows], self.columns[columns], values, entered)


def merged_ranges(title: str, sheet: ReadOnlyWorksheet) -> Iterator[Range]:
    """The ranges of merged cells of a sheet, which openpyxl does not give for a file opened to be read only."""
    from openpyxl.utils import column_index_from_string

    seen: set[bytes] = set()
    with zipfile.ZipFile(title) as archive:
        for match in _matches(MERGED, archive, sheet):
            if match[0] in seen:  # already found in the overlap of two pieces
                continue
            seen.add(match[0])
            left, right = (column_index_from_string(match[group].decode()) - 1 for group in (1, 3))
            yield int(match[2]) - 1, left, int(match[4]) - 1, right


def hidden_parts(title: str, sheet: ReadOnlyWorksheet) -> tuple[list[int], list[int]]:
    """The rows and the columns of a sheet, from 0, that it does not show."""
    with zipfile.ZipFile(title) as archive:
        rows = [int(match[1]) - 1 for match in _matches(HIDDEN_ROW, archive, sheet)]
        ranges = [(int(match[2]) - 1, int(match[1])) for match in _matches(HIDDEN_COLUMNS, archive, sheet)]
    return rows, [j for start, end in ranges for j in range(start, min(end, MOST_COLUMNS))]


def _matches(
    pattern: re.Pattern[bytes], archive: zipfile.ZipFile, sheet: ReadOnlyWorksheet
) -> Iterator[re.Match[bytes]]:
    """What a pattern finds in the file of a sheet, in the overlap of two pieces perhaps twice."""
    return chain.from_iterable(pattern.finditer(piece) for piece in pieces(archive, sheet._worksheet_path))


def _value(cell: Any) -> object:
    """Value of a cell; None for an error such as #DIV/0!, and whole numbers without decimals."""
    if cell.data_type == "e":
        return None
    value: object = cell.value
    if cell.data_type == "n" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value
