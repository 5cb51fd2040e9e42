"""Excel files, by pandas and openpyxl."""

from __future__ import annotations

import datetime
import shlex
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clusterkit.core.errors import first_names
from clusterkit.core.wording import counted
from clusterkit.tables.errors import TableError, TableWarning
from clusterkit.tables.formulas import REMEDY, uncomputed, warning_of
from clusterkit.tables.frames import NA
from clusterkit.tables.gaps import OF_PANDAS
from clusterkit.tables.headers import PREVIEW, first_row, tell_of_first_row
from clusterkit.tables.percents import shown_as_percent, with_percents
from clusterkit.tables.selection import numbered, shared_names, unique
from clusterkit.tables.table import Table, check_not_empty
from clusterkit.tables.unpacking import check_archive

__all__ = ["read_spreadsheet"]

MOST_SHEETS = 5
"""Most sheets that an error names."""


def read_spreadsheet(title: str, header: bool | None, sheet: str | int) -> Table:
    """A sheet of an Excel file; empty rows and columns around the table are left out.

    Parameters
    ----------
    title : str
        The file.
    header : bool or None
        Whether the first row has names; detected if None: it has if all its cells are texts.
    sheet : str or int

    Raises
    ------
    TableError
        If it is no Excel file, too large when it is unpacked, or pandas or openpyxl is missing.
    """
    check_archive(title)
    try:
        import openpyxl  # noqa: F401
        import pandas
    except ImportError as error:
        missing = str(error.name).partition(".")[0]
        install = "install clusterkit-toolkit with the extra 'tables'"
        raise TableError(f"{title}: reading Excel needs {missing}; {install}") from None
    try:
        with pandas.ExcelFile(title, engine="openpyxl") as book:
            sheets = [str(name) for name in book.sheet_names]
            if isinstance(sheet, str) and sheet not in sheets:
                raise TableError(f"{title} has no sheet {sheet!r}, but {', '.join(sheets)}")
            if isinstance(sheet, int) and not 0 <= sheet < len(sheets):
                raise TableError(f"{title} has no sheet number {sheet + 1}, but {', '.join(sheets)}")
            options = {"keep_default_na": False, "na_values": [cell for cell in OF_PANDAS if cell != NA]}
            cells: Any = pandas.read_excel(book, sheet_name=sheet, header=None, dtype=object, **options)
    except TableError:
        raise
    except Exception as error:  # a damaged file may raise anything
        raise TableError(f"{title} is no Excel file: {type(error).__name__}: {error}") from None
    filled = cells.notna().to_numpy()
    name = sheets[sheet] if isinstance(sheet, int) else sheet
    formulas = uncomputed(title, name)
    if not filled.any():
        if len(formulas):
            raise TableError(f"{title}, sheet {name!r} has nothing but formulas without values; {REMEDY}")
        raise TableError(f"{title}{_of_sheet(name, sheets)} is empty{_elsewhere(name, sheets)}")
    rows = np.flatnonzero(filled.any(axis=1))
    lead = _lead(cells.to_numpy(dtype=object)[rows], filled[rows])
    rows = rows[lead:]
    columns = np.flatnonzero(filled[rows].any(axis=0))
    values = cells.to_numpy(dtype=object)[rows][:, columns]
    first = values[0]
    words = [_is_name(cell, values[1:, j]) for j, cell in enumerate(first)]
    named = all(words) if header is None else header
    if not named and header is None and len(values) > 1:
        # a gap in the header, above a column with cells
        named = any(words) and all(
            word or not before for word, before in zip(words, filled[rows[0], columns], strict=True)
        )
        if not named:
            guess = first_row([[_text_of(cell) for cell in row] for row in values[: PREVIEW + 1]], numbers=True)
            named = guess.named
            tell_of_first_row(guess.notice and f"{title}{_of_sheet(name, sheets)}: {guess.notice}")
    titles = [_text_of(cell) for cell in first] if named else []
    names = unique(titles) if named else numbered(len(columns))
    body = values[1:] if named else values
    if not len(body):
        raise TableError(
            f"{title}{_of_sheet(name, sheets)} has no row of data, only the names {', '.join(names[:12])}"
            f"{_elsewhere(name, sheets)}"
        )
    notes = (
        (f"sheet {sheets[sheet] if isinstance(sheet, int) else sheet!r} of {len(sheets)}",) if len(sheets) > 1 else ()
    )
    if lead:
        notes = (*notes, f"{counted(lead, 'row')} before the table left out")
    places = rows[1:] if named else rows
    _tell_of_formulas(title, name, formulas, places, dict(zip(columns.tolist(), names, strict=True)))
    percents = shown_as_percent(title, name)
    shares = {
        names[j]: np.flatnonzero(np.isin(places, percents[percents[:, 1] == column, 0]))
        for j, column in enumerate(columns.tolist())
        if column in percents[:, 1]
    }
    frame = {name: _with_gaps(body[:, j]) for j, name in enumerate(names)}
    frame |= {name: with_percents(frame[name], rows) for name, rows in shares.items()}
    # these texts have a point before their decimals, whatever others have
    filled_cells = {name: sum(cell is not None and cell == cell for cell in frame[name]) for name in shares}
    marks = {name: "." for name, rows in shares.items() if len(rows) == filled_cells[name]}
    return check_not_empty(
        Table(
            title,
            frame,
            tuple(names),
            named,
            notes,
            shared=shared_names(titles, names),
            marks=marks,
            elsewhere=_elsewhere(name, sheets),
            line_of=lambda row: f"row {row + 1} (row {int(places[row]) + 1} of the sheet)",
        )
    )


def _is_name(cell: object, below: NDArray[np.object_]) -> bool:
    """Whether a cell of the first row is a name: a text, or a date above cells that are none, as months may be."""
    if isinstance(cell, datetime.date):
        return len(below) > 0 and not any(isinstance(other, datetime.date) for other in below)
    return isinstance(cell, str)


def _text_of(cell: object) -> str:
    """A cell as a text file would have it; empty for a gap."""
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    return "" if cell is None or cell != cell else str(cell)


def _of_sheet(name: str, sheets: Sequence[str]) -> str:
    """Which of several sheets an error is about."""
    return f", sheet {name!r}," if len(sheets) > 1 else ""


def _elsewhere(name: str, sheets: Sequence[str]) -> str:
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
    """A column with gaps where texts are NA beside numbers or dates; among texts NA may be a word."""
    if all(isinstance(cell, str) or cell is None or cell != cell for cell in cells):
        return cells
    return np.array([None if isinstance(cell, str) and cell.strip() == NA else cell for cell in cells], dtype=object)


def _tell_of_formulas(
    title: str, sheet: str, formulas: NDArray[np.intp], rows: NDArray[np.intp], names: Mapping[int, str]
) -> None:
    """Warn of formulas without values in the rows and columns of the table, and in columns of nothing else."""
    from openpyxl.utils import get_column_letter

    inside = formulas[np.isin(formulas[:, 0], rows)]
    if len(inside):
        columns = [names.get(j, get_column_letter(j + 1)) for j in np.unique(inside[:, 1]).tolist()]
        warnings.warn(warning_of(title, sheet, columns, len(inside)), TableWarning, stacklevel=5)


def _lead(cells: NDArray[np.object_], filled: NDArray[np.bool_]) -> int:
    """Number of rows before the table: titles of one filled cell, above a row of texts that names all columns."""
    several = np.flatnonzero(filled.sum(axis=1) > 1)
    lead = int(several[0]) if len(several) else 0
    if not lead or not all(
        isinstance(row[mask][0], str) for row, mask in zip(cells[:lead], filled[:lead], strict=True)
    ):
        return 0
    width = int(filled[lead:].any(axis=0).sum())
    names = cells[lead][filled[lead]]
    return lead if width > 2 and len(names) == width and all(isinstance(name, str) for name in names) else 0
