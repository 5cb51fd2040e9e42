"""The DATA argument of commands: a file, standard input, or a data set by name."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import click

from clusterkit.cli.failures import BadInput
from clusterkit.cli.inputs import check_file
from clusterkit.cli.option_groups import grouped
from clusterkit.core.wording import shortened

if TYPE_CHECKING:
    from clusterkit._typing import AnyArray
    from clusterkit.tables import Table
    from clusterkit.tables.chunks import TextReading

__all__ = ["TableOptions", "check", "keys_of", "options"]

PREFIX = "data:"
"""Beginning of the name of a known data set, which tells it from a file."""

STDIN = "-"
"""The argument that stands for standard input."""


class TableOptions(NamedTuple):
    """How the DATA argument is read: the values of the options that `options` adds.

    Parameters
    ----------
    columns, drop : tuple of str
        Columns to use and to leave out, as `clusterkit.tables.select` takes them.
    delimiter : str, optional
        Character between the cells of a text file; detected by default.
    header : bool, optional
        Whether the first row of a text file contains the names of the columns; detected by default.
    encoding : str, optional
        Of a text file; detected by default.
    decimal : str, optional
        The mark before the decimals of numbers in texts; detected by default.
    day_first : bool, optional
        Whether the day is before the month in dates between slashes; detected by default.
    sheet : str, optional
        Name or number, from 1, of the sheet of a spreadsheet; the first one by default.
    """

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    delimiter: str | None = None
    header: bool | None = None
    encoding: str | None = None
    decimal: str | None = None
    day_first: bool | None = None
    sheet: str | None = None

    def open(self, data: str) -> tuple[Table, AnyArray | None]:
        """The table, and the known classes of its rows or None.

        Parameters
        ----------
        data : str
            The argument.
        """
        if data.startswith(PREFIX):
            return _known_data_set(data)
        delimiter = self._delimiter()
        check(data)
        from clusterkit.tables import read_table

        source: str | BinaryIO = io.BytesIO(sys.stdin.buffer.read()) if data == STDIN else data

        table = read_table(
            source, delimiter=delimiter, header=self.header, encoding=self.encoding, decimal=self.decimal,
            day_first=self.day_first, sheet=self._sheet(),
        )  # fmt: skip
        return table, None

    def reading(self) -> TextReading:
        """How a text is read: what `clusterkit.tables.chunks.table_chunks` takes."""
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

    def chosen(self, table: Table) -> list[int]:
        """Positions of the columns to use, in the order of --columns."""
        from clusterkit.tables import select

        return select(table.names, keys_of(self.columns, table.names), keys_of(self.drop, table.names), table.title)

    def _sheet(self) -> str | int:
        """The sheet as `clusterkit.tables.read_table` takes it."""
        if self.sheet is None:
            return 0
        return int(self.sheet) - 1 if self.sheet.isdecimal() and int(self.sheet) else self.sheet


def check(data: str) -> None:
    """Raise for a file or a known data set that is not there, before anything is imported to read it."""
    if data.startswith(PREFIX):
        from clusterkit.datasets.loading import check_name

        check_name(data.removeprefix(PREFIX))
        return
    if data == STDIN:
        if sys.stdin is None:
            raise BadInput("standard input is closed")
        return
    if not Path(data).is_file():
        check_file(data, f"; the data set of this name is {PREFIX}{data}" if _is_known_data_set(data) else "")


def options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options about how a file is read; the command receives them as `table_options`."""
    choices = (
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


def _known_data_set(data: str) -> tuple[Table, AnyArray]:
    """A known data set, such as data:wine, and its classes."""
    from clusterkit.core.memory import require
    from clusterkit.datasets import load
    from clusterkit.tables import table_of_arrays

    dataset = load(data.removeprefix(PREFIX))
    rows = dataset.data
    if hasattr(rows, "toarray"):
        require(8 * rows.shape[0] * rows.shape[1], f"{data} as a dense table", "Choose another data set.")
        rows = rows.toarray()
    return table_of_arrays(data, rows, tuple(dataset.feature_names)), dataset.target


def _is_known_data_set(name: str) -> bool:
    from clusterkit.datasets.known import known

    return name in known()


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
    from clusterkit.tables.selection import place_of

    keys = list[str]()
    for value in values:
        one = value.replace("\r\n", "\n").replace("\r", "\n")  # as names in texts are read
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
