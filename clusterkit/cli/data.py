"""The DATA argument of commands: a file, standard input, or a data set by name."""

from __future__ import annotations

import csv
import functools
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import click

from clusterkit.cli.failures import BadInput

if TYPE_CHECKING:
    from clusterkit._typing import AnyArray
    from clusterkit.cli.tables import NumericTable, OpenedTable

__all__ = ["TableOptions", "options", "read"]

PREFIX = "data:"
"""Beginning of the name of a known data set, which tells it from a file."""

STDIN = "-"
"""The argument that stands for standard input."""


class TableOptions(NamedTuple):
    """How the DATA argument is read: the values of the options that `options` adds.

    Parameters
    ----------
    columns, drop : tuple of str
        Columns to use and to leave out, as `clusterkit.cli.tables.select` takes them.
    delimiter : str, optional
        Character between the cells of a text file; detected by default.
    header : bool, optional
        Whether the first row of a text file contains the names of the columns; detected by default.
    """

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    delimiter: str | None = None
    header: bool | None = None

    def open(self, data: str) -> tuple[OpenedTable, AnyArray | None]:
        """The table, whose numbers are not read yet, and the known classes of its rows or None."""
        from clusterkit.cli.tables import open_table

        if data.startswith(PREFIX):
            return _known_data_set(data)
        delimiter = "\t" if self.delimiter in ("\\t", "tab") else self.delimiter
        if delimiter is not None and len(delimiter) != 1:
            raise BadInput(f"--delimiter must be one character, got {delimiter!r}")
        if data != STDIN and Path(data).is_dir():
            raise BadInput(f"{data} is a folder, not a file")
        if data == STDIN and sys.stdin is None:
            raise BadInput("standard input is closed")
        source: str | BinaryIO = sys.stdin.buffer if data == STDIN else data
        try:
            return open_table(source, delimiter=delimiter, header=self.header), None
        except FileNotFoundError as error:
            hint = f"; the data set of this name is {PREFIX}{data}" if _is_known_data_set(data) else ""
            raise BadInput(f"{data}: no such file{hint}") from error

    def chosen(self, opened: OpenedTable) -> list[int]:
        """Positions of the columns to use, in the order of --columns."""
        from clusterkit.cli.tables import select

        return select(opened.names, _keys(self.columns), _keys(self.drop), opened.title)


def read(opened: OpenedTable, chosen: list[int], *, keep_rows: bool = False) -> NumericTable:
    """Read the chosen columns. The error about cells that are no numbers says how to leave their columns out."""
    from clusterkit.cli.tables import NotNumeric

    try:
        return opened.table(chosen, keep_rows=keep_rows)
    except NotNumeric as error:
        culprits = ",".join(_quoted(name) for name in error.columns)
        raise BadInput(f"{error} To leave columns out: --drop {culprits}") from error


def options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options about how a file is read; the command receives them as `table_options`."""

    @functools.wraps(command)
    def wrapped(*args: Any, **values: Any) -> Any:
        table_options = TableOptions(**{name: values.pop(name) for name in TableOptions._fields})
        return command(*args, table_options=table_options, **values)

    for option in (
        click.option(
            "--header/--no-header", default=None, help="Whether the first row holds column names.  [default: auto]"
        ),
        click.option("--delimiter", metavar="CHAR", help=r"Character between cells; \t is a tab.  [default: auto]"),
        click.option("--drop", multiple=True, metavar="COLS", help="Columns to exclude, written as in --columns."),
        click.option(
            "--columns",
            multiple=True,
            metavar="COLS",
            help="Columns to use: names, positions or ranges such as 1-4, separated by commas.",
        ),
    ):
        wrapped = option(wrapped)
    return wrapped


def _known_data_set(data: str) -> tuple[OpenedTable, AnyArray]:
    """A known data set, such as data:wine, and its classes."""
    from clusterkit.cli.tables import ArrayTable
    from clusterkit.core.memory import require
    from clusterkit.datasets import load

    dataset = load(data.removeprefix(PREFIX))
    rows = dataset.data
    if hasattr(rows, "toarray"):
        require(8 * rows.shape[0] * rows.shape[1], f"{data} as a dense table", "Choose another data set.")
        rows = rows.toarray()
    return ArrayTable(data, list(rows.T), dataset.feature_names), dataset.target


def _is_known_data_set(name: str) -> bool:
    from clusterkit.datasets.known import known

    return name in known()


def _keys(values: Iterable[str]) -> list[str]:
    """Names and positions, separated by commas; a name that contains a comma is written in double quotes."""
    return [key.strip() for line in csv.reader(values, skipinitialspace=True) for key in line if key.strip()]


def _quoted(name: str) -> str:
    """The name of a column as the shell and --drop take it."""
    return f"'\"{name}\"'" if "," in name else f"'{name}'" if " " in name else name
