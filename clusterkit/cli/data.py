"""The DATA argument of commands: a file, standard input, or a data set by name, and the options about how it is read.

A file that is not there is one clear line. The options arrive as one record (`TableOptions`). `write_parquet` and
`write_excel` write labels, and the columns before them: numbers stay numbers, and dates dates.
"""

from __future__ import annotations

import csv
import functools
import io
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import click

from clusterkit.cli.failures import BadInput
from clusterkit.errors import nearest_names, need, shortened

if TYPE_CHECKING:
    from clusterkit.tables import Column, Table
    from clusterkit.tables.reading.chunks import TextReading

MOST_NAMES = 10_000
"""Largest number of names of a folder that are compared with one that is not there."""


def check_file(path: str) -> None:
    """Raise `BadInput` for a file that is not there, with the nearest names in its folder, and for a folder."""
    place = Path(path)
    if place.is_dir():
        raise BadInput(f"{path} is a folder, not a file")
    if not place.exists():
        raise BadInput(f"{path}: no such file{_near(place)}")


def _near(place: Path) -> str:
    """Advice on what was meant: a call that takes patterns, or a question with the nearest names of files."""
    if "*" in place.name:
        return f"; patterns are for Python: clusterkit.open({str(place)!r})"
    if not place.parent.is_dir():
        return f"; there is no folder {place.parent}"
    try:
        names = [entry.name for entry in islice(place.parent.iterdir(), MOST_NAMES) if entry.is_file()]
    except OSError:  # a folder that may not be listed
        return ""
    same_ending = [name for name in names if place.suffix and name.endswith(place.suffix)]
    offer = nearest_names(place.name, same_ending, only_near=True) or nearest_names(place.name, names, only_near=True)
    return f". {offer}" if offer else ""


LIBRARIES = MappingProxyType({".parquet": ("pyarrow", "parquet"), ".xlsx": ("openpyxl", "tables")})
"""Package that writes files with each ending, and the extra that brings it."""

MOST_ROWS = 1_048_575
"""Rows below the names of the columns that a sheet of Excel can have."""

WHOLE = 2.0**53
"""Bound below which every whole number has a float of its own."""

WRITTEN_ROWS = 2**18
"""Rows that are written at once."""


def check_typed(path: str) -> None:
    """Raise `MissingLibrary` if the library for writing the file is missing."""
    library, extra = LIBRARIES[Path(path).suffix.lower()]
    need(library, path, extra)


def write_parquet(path: Path, columns: Sequence[Column]) -> None:
    """Write columns as Parquet."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    arrays = {column.name: pa.array(*_for_arrow(column.with_words())) for column in columns}
    write_table(pa.table(arrays), path, row_group_size=WRITTEN_ROWS)


def _for_arrow(column: Column) -> tuple[Any, ...]:
    """Values for pyarrow, and the mask of gaps where they cannot be None."""
    import numpy as np
    import pyarrow as pa

    if column.values.dtype.kind == "i":
        return (column.values.astype(np.int64, copy=False),)
    if column.kind == "number":
        if (
            np.isfinite(column.values).all()
            and (np.abs(column.values) < WHOLE).all()
            and (column.values % 1 == 0).all()
        ):
            return (column.values.astype(np.int64),)
        return column.values, None, np.isnan(column.values)
    if column.kind == "date":
        return (column.values,)
    return _cells(column), pa.bool_() if column.kind == "truth" else pa.string()


def _cells(column: Column) -> list[Any]:
    """The cells as objects of Python; None for gaps."""
    gaps = column.missing()
    values = column.values.tolist()
    if column.kind == "number":  # a sheet has no infinite numbers
        return [None if math.isnan(value) else str(value) if math.isinf(value) else value for value in values]
    if column.kind == "truth":
        values = [bool(value == 1) for value in values]
    elif column.kind in ("text", "complex", "other"):
        values = [str(value) for value in values]
    return [None if gap else value for gap, value in zip(gaps.tolist(), values, strict=True)]


def write_excel(path: Path, columns: Sequence[Column]) -> None:
    """Write columns as a sheet of Excel; texts stay texts, also where they look like formulas.

    Raises
    ------
    BadInput
        If a sheet cannot have so many rows.
    """
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if (n := len(columns[0].values)) > MOST_ROWS:
        raise BadInput(f"Excel has room for {MOST_ROWS:,} rows, not for {n:,}; write .csv or .parquet")
    book = Workbook(write_only=True)
    sheet = book.create_sheet("clusters")

    def cell(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        made = WriteOnlyCell(sheet, ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", value))
        made.data_type = "s"
        return made

    sheet.append([cell(column.name) for column in columns])
    for row in zip(*(_cells(column.with_words()) for column in columns), strict=True):
        sheet.append([cell(value) for value in row])
    with path.open("wb") as file:
        book.save(file)


WRITERS: Mapping[str, Callable[[Path, Sequence[Column]], None]] = MappingProxyType(
    {".parquet": write_parquet, ".xlsx": write_excel}
)
"""Function that writes each kind of table, by the ending of the file."""


def grouped(
    command: Callable[..., None],
    keyword: str,
    record: type[NamedTuple],
    options: Sequence[Callable[[Callable[..., None]], Callable[..., None]]],
) -> Callable[..., None]:
    """Add options to a command.

    Parameters
    ----------
    command : callable
    keyword : str
        The argument of the command that receives the record.
    record : type of named tuple
        Type whose fields are the names of the options.
    options : sequence of decorators of click
        The last one stands first in the help.
    """
    make: Any = record

    @functools.wraps(command)
    def wrapped(*args: Any, **values: Any) -> Any:
        filled = make(**{name: values.pop(name) for name in record._fields})
        return command(*args, **{keyword: filled}, **values)

    extended: Callable[..., None] = wrapped
    for option in options:
        extended = option(extended)
    return extended


STDIN = "-"
"""The argument for standard input."""


class TableOptions(NamedTuple):
    """Options for reading the DATA argument: the values of the options that `options` adds.

    Parameters
    ----------
    columns, drop : tuple of str
        Columns to use and to leave out, as `clusterkit.tables.select` takes them.
    delimiter : str, optional
        Character between the cells of a text file; detected by default.
    header : bool, optional
        Whether the first row of a text file contains the names of the columns; detected by default.
    encoding : str, optional
        Encoding of a text file; detected by default.
    decimal : str, optional
        The mark before the decimals of numbers in texts; detected by default.
    day_first : bool, optional
        Whether the day is before the month in dates between slashes; detected by default.
    sheet : str, optional
        Name or number, from 1, of the sheet of a spreadsheet; the first one by default.
    hidden : {"keep", "drop"}
        Whether rows and columns that a spreadsheet does not show are read.
    """

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    delimiter: str | None = None
    header: bool | None = None
    encoding: str | None = None
    decimal: str | None = None
    day_first: bool | None = None
    sheet: str | None = None
    hidden: str = "keep"

    def open(self, data: str) -> Table:
        """The table.

        Parameters
        ----------
        data : str
            The argument.
        """
        check(data)
        from clusterkit.tables import read_table

        source: str | BinaryIO = io.BytesIO(sys.stdin.buffer.read()) if data == STDIN else data

        return read_table(source, **self.reading(), sheet=self._sheet(), hidden=self.hidden)

    def reading(self) -> TextReading:
        """Options for reading a text, as `clusterkit.tables.reading.chunks.table_chunks` takes them."""
        return {
            "delimiter": self._delimiter(),
            "header": self.header,
            "encoding": self.encoding,
            "decimal": self.decimal,
            "day_first": self.day_first,
        }

    def _delimiter(self) -> str | None:
        delimiter = "\t" if self.delimiter in ("\\t", "tab") else self.delimiter
        if delimiter is not None and len(delimiter) != 1:
            raise BadInput(f"--delimiter must be one character, got {delimiter!r}")
        return delimiter

    def chosen(self, names: Sequence[str], title: str) -> list[int]:
        """Positions of the columns to use of a table, in the order of --columns."""
        from clusterkit.tables import select

        return select(names, keys_of(self.columns, names), keys_of(self.drop, names), title)

    def _sheet(self) -> str | int:
        """The sheet as `clusterkit.tables.read_table` takes it."""
        if self.sheet is None:
            return 0
        return int(self.sheet) - 1 if self.sheet.isdecimal() and int(self.sheet) else self.sheet


def check(data: str) -> None:
    """Raise for a file that is not there, before anything is imported to read it."""
    if data == STDIN:
        if sys.stdin is None:
            raise BadInput("standard input is closed")
        return
    if not Path(data).is_file():
        check_file(data)


def options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options about how a file is read; the command receives them as `table_options`."""
    choices = (
        click.option(
            "--hidden",
            type=click.Choice(["keep", "drop"]),
            default="keep",
            show_default=True,
            help="Whether rows and columns that a spreadsheet does not show, by a filter for example, are read.",
        ),
        click.option(
            "--sheet", metavar="NAME", help="Sheet of a spreadsheet, by name or number.  [default: the first]"
        ),
        click.option(
            "--day-first/--month-first",
            default=None,
            help="What is first in dates such as 2/3/2024.  [default: auto]",
        ),
        click.option(
            "--decimal",
            type=click.Choice([".", ","]),
            help="Mark before decimals; the other one is between thousands.  [default: auto]",
        ),
        click.option("--encoding", metavar="NAME", help="Encoding of a text file, such as latin-1.  [default: auto]"),
        click.option(
            "--header/--no-header", default=None, help="Whether the first row holds column names.  [default: auto]"
        ),
        click.option("--delimiter", metavar="CHAR", help=r"Character between cells; \t is a tab.  [default: auto]"),
        click.option("--drop", multiple=True, metavar="COLS", help="Columns to exclude, written as in --columns."),
        click.option(
            "--columns",
            multiple=True,
            metavar="COLS",
            help="Columns to use: names, positions or ranges such as 1-4, separated by commas; or the option again. "
            "A name with a comma alone, or in double quotes: '\"a,b\",c'.",
        ),
    )
    return grouped(command, "table_options", TableOptions, choices)


def keys_of(values: Iterable[str], names: Sequence[str] = ()) -> list[str]:
    r"""Names and positions, separated by commas or line ends.

    A name that contains a comma or a line end is written in double quotes, ``'"a,b"'`` in a shell, or stands alone.

    Examples
    --------
    >>> keys_of(["a, b", '"c,d",e', "f,g"], ["f,g", "a"])
    ['a', 'b', 'c,d', 'e', 'f,g']
    >>> keys_of(["a\nb", "a\r\nc"], ["a\nc"])
    ['a', 'b', 'a\nc']
    """
    from clusterkit.tables.cells.column_names import place_of

    keys = list[str]()
    for value in values:
        one = value.replace("\r\n", "\n").replace("\r", "\n")  # newlines as in names read from texts
        places = [place for place in (place_of(value, names), place_of(one, names)) if place is not None]
        if places:
            keys.append(names[places[0]])
            continue
        try:
            parts = [part.strip() for row in csv.reader(io.StringIO(one), skipinitialspace=True) for part in row]
        except csv.Error as error:
            raise BadInput(f"names of columns cannot be read: {error}: {shortened(value)!r}") from None
        keys += [part for part in parts if part]
    return keys
