"""Excel files, by openpyxl."""

from __future__ import annotations

import datetime
import operator
import shlex
import warnings
from collections.abc import Sequence
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from clusterkit.errors import TableError, TableWarning, counted, first_names, need
from clusterkit.tables.cells.column_names import numbered, shared_names, unique
from clusterkit.tables.cells.parsing import MISSING
from clusterkit.tables.reading.grids import (
    Grid,
    hidden_parts,
    merged_ranges,
)
from clusterkit.tables.reading.headers import (
    PREVIEW,
    FirstRow,
    are_levels,
    first_row,
    is_again,
    may_repeat,
    of_two_rows,
    tell_of_first_row,
    tell_of_repeats,
)
from clusterkit.tables.reading.table import Table, check_not_empty
from clusterkit.tables.reading.unpacking import check_archive

MOST_SHEETS = 5
"""Largest number of sheets that an error names."""


def read_spreadsheet(title: str, header: bool | None, sheet: str | int, hidden: str = "keep") -> Table:
    """A sheet of an Excel file; empty rows and columns around the table are left out.

    Parameters
    ----------
    title : str
        The file.
    header : bool or None
        Whether the first row has names; detected if None: it has if all its cells are texts. Two rows may have them.
    sheet : str or int
    hidden : {"keep", "drop"}
        Whether rows and columns that are hidden are read, with a warning, or left out.

    Raises
    ------
    TableError
        If it is no Excel file, or too large when it is unpacked.
    MissingLibrary
        If openpyxl is missing.
    """
    check_archive(title)
    openpyxl = need("openpyxl", f"{title}: reading Excel", "tables")
    try:
        with closing(openpyxl.load_workbook(title, read_only=True, data_only=True)) as book:
            sheets = [str(one.title) for one in book.worksheets]
            place = sheets.index(sheet) if sheet in sheets else sheet
            if not isinstance(place, int) or not 0 <= place < len(sheets):
                what = f"number {place + 1}" if isinstance(place, int) else repr(place)
                raise TableError(f"{title} has no sheet {what}, but {', '.join(sheets)}")
            name, opened = sheets[place], book.worksheets[place]
            grid = Grid.of(opened, title).merged(merged_ranges(title, opened), title)
            invisible = hidden_parts(title, opened)
            shows = opened.sheet_state == "visible"
    except TableError:
        raise
    except Exception as error:  # a damaged file may raise anything
        raise TableError(f"{title} is no Excel file: {type(error).__name__}: {error}") from None
    others = _other_sheets(name, sheets)
    label = f"{title}, sheet {name!r}" if others else title
    if not grid.values.size:
        raise TableError(f"{label} is empty{others}")
    filled_rows, dropped = grid.rows, list[str]()
    if hidden == "drop":
        rows, columns = map(np.isin, (grid.rows, grid.columns), invisible)
        grid = grid.part(~rows, ~columns)
        counts = counted(int(rows.sum()), "hidden row"), counted(int(columns.sum()), "hidden column")
        dropped.append(f"{' and '.join(counts)} left out")
        if not grid.values.size:
            raise TableError(f"{label} shows no cell; hidden='keep' reads those that are hidden")
    lead = _lead(grid)
    grid = grid.from_row(lead)
    texts = [[_text_of(cell) for cell in row] for row in grid.values]
    first = _first_row(grid, texts[: PREVIEW + 1], header)
    tell_of_first_row(first.notice and f"{label}: {first.notice}")
    titles = list(first.names) or (texts[0] if first.named else [])
    names = unique(titles) if first.named else numbered(len(grid.columns))
    header_rows = may_repeat(texts[: first.rows], chosen=bool(header))
    again = [i for i, row in enumerate(texts) if i >= first.rows and is_again(row, header_rows)]
    tell_of_repeats(label, (grid.rows[again] + 1).tolist(), "row")
    values, places = np.delete(grid.values, again, axis=0), np.delete(grid.rows, again)
    _tell_of_hidden(label, grid.columns, places, first.rows, names, invisible)
    body, places = values[first.rows :], places[first.rows :]
    if not len(body):
        raise TableError(f"{label} has no row of data, only the names {', '.join(names[:12])}{others}")
    if not shows:
        warnings.warn(f"{title}: the sheet {name!r} is hidden{others}", TableWarning, stacklevel=4)
    frame = {name: _with_gaps(body[:, j]) for j, name in enumerate(names)}
    shown = int((~grid.entered & (grid.values != None)).sum())  # noqa: E711 - cell by cell
    return check_not_empty(
        Table(
            title,
            frame,
            tuple(names),
            first.named,
            (*_notes(name, sheets, lead, places, filled_rows, shown), *dropped),
            shared=shared_names(titles, names),
            other_sheets=others,
            line_of=lambda row: f"row {row + 1} (row {int(places[row]) + 1} of the sheet)",
        )
    )


def _first_row(grid: Grid, preview: list[list[str]], header: bool | None) -> FirstRow:
    """Decide whether the first row of a sheet has names, by the types of its cells, or as asked for.

    The preview has the texts of the first cells.
    """
    if header is not None:
        return FirstRow(header)
    values = grid.values
    two = of_two_rows(preview, carry=bool(grid.entered[0].sum() == sum(map(bool, preview[0]))))
    if two is not None:
        return two
    words = [_is_name(cell, values[1:, j]) for j, cell in enumerate(values[0])]
    gaps = [not cell or cell.lower() in MISSING for cell in preview[0]]  # in the header, above a column with cells
    if (all(words) and not are_levels(preview)) or (
        len(values) > 1 and any(words) and all(map(operator.or_, words, gaps))
    ):
        return FirstRow(True)
    return first_row(preview, numbers=True) if len(values) > 1 else FirstRow(False)


def _notes(
    name: str, sheets: Sequence[str], lead: int, places: NDArray[np.intp], filled: NDArray[np.intp], merged: int
) -> tuple[str, ...]:
    """Notices about a sheet."""
    notes = [f"sheet {name!r} of {len(sheets)}"] if len(sheets) > 1 else []
    if lead:
        notes.append(f"{counted(lead, 'row')} before the table left out")
    empty = int(places[-1] - places[0]) + 1 - int(((filled >= places[0]) & (filled <= places[-1])).sum())
    if empty:
        notes.append(f"{counted(empty, 'empty row')} between others left out")
    if merged:
        notes.append(f"{counted(merged, 'cell')} of merged ones read as what they show")
    return tuple(notes)


def _is_name(cell: object, below: NDArray[np.object_]) -> bool:
    """Whether a cell of the first row is a name: a text, or a date above cells that are none, as months may be."""
    if isinstance(cell, datetime.date):
        return len(below) > 0 and not any(isinstance(other, datetime.date) for other in below)
    return isinstance(cell, str) and cell.strip().lower() not in MISSING


def _text_of(cell: object) -> str:
    """A cell as a text file would have it; empty for a gap."""
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    return "" if cell is None else str(cell)


def _other_sheets(name: str, sheets: Sequence[str]) -> str:
    """The end of an error about a sheet: that the table may be in another one."""
    others = [sheet for sheet in sheets if sheet != name]
    if not others:
        return ""
    other = "another sheet" if len(others) == 1 else "other sheets"
    return (
        f"; the file has {other}: {first_names([repr(sheet) for sheet in others], MOST_SHEETS)}: choose one with "
        f"--sheet {shlex.quote(others[0])}, sheet={others[0]!r} in Python"
    )


def _with_gaps(cells: NDArray[np.object_]) -> NDArray[np.object_]:
    """A column with gaps in place of texts that mean gaps among numbers or dates; among texts they may be words."""
    if all(isinstance(cell, str) or cell is None for cell in cells):
        return cells
    gaps = [isinstance(cell, str) and cell.strip().lower() in MISSING for cell in cells]
    return np.array([None if gap else cell for gap, cell in zip(gaps, cells, strict=True)], dtype=object)


def _tell_of_hidden(
    title: str,
    at: NDArray[np.intp],
    places: NDArray[np.intp],
    heads: int,
    names: Sequence[str],
    invisible: tuple[list[int], list[int]],
) -> None:
    """Warn of rows, the first of which have names, and columns that the sheet does not show, and are read."""
    rows = np.isin(places, invisible[0]).tolist()
    columns = [repr(names[j]) for j in np.flatnonzero(np.isin(at, invisible[1])).tolist()]
    parts = [counted(sum(rows), "row") + ", with names," * any(rows[:heads])] if any(rows) else []
    parts += [f"{counted(len(columns), 'column')} ({first_names(columns, MOST_SHEETS)})"] if columns else []
    if parts:
        several = len(columns) + sum(rows) > 1
        warnings.warn(
            f"{title}: {' and '.join(parts)} {'are' if several else 'is'} hidden in the sheet, by a filter perhaps, "
            "and read like all others; --hidden drop (hidden='drop' in Python) leaves out what is not shown",
            TableWarning,
            stacklevel=5,
        )


def _lead(grid: Grid) -> int:
    """Number of rows before the table: titles of one filled cell, above a row of texts that names all columns."""
    several = np.flatnonzero(grid.entered.sum(axis=1) > 1)
    lead = int(several[0]) if len(several) else 0
    if not lead or not all(
        isinstance(row[mask][0], str) for row, mask in zip(grid.values[:lead], grid.entered[:lead], strict=True)
    ):
        return 0
    names = grid.from_row(lead).values
    if names.shape[1] < 3:
        return 0
    if _groups(grid, lead):
        return lead - 1
    if all(isinstance(name, str) for name in names[0]):
        return lead
    return lead if _has_two_rows(names) else 0


def _groups(grid: Grid, lead: int) -> bool:
    """Whether the row before a row of names has a name for some of its columns, and is no title."""
    above = grid.from_row(lead - 1)
    filled = np.array([value is not None for value in above.values[0]])
    # a title begins above the first column, or is merged over all
    return not filled[0] and bool(filled.any()) and _has_two_rows(above.values)


def _has_two_rows(values: NDArray[np.object_]) -> bool:
    """Whether the first two rows of cells have the names of the columns."""
    return of_two_rows([[_text_of(cell) for cell in row] for row in values[: PREVIEW + 1]]) is not None
