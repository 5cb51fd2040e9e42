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
    from clusterkit.cli.tables import Opened, Table

__all__ = ["Reading", "options", "read"]

PREFIX = "data:"
STDIN = "-"


class Reading(NamedTuple):
    """How the DATA argument is read."""

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    delimiter: str | None = None
    header: bool | None = None

    def open(self, data: str) -> tuple[Opened, Any]:
        """The table, not read yet, and the known classes of its rows or None."""
        from clusterkit.cli.tables import open_table

        if data.startswith(PREFIX):
            return _known(data)
        delimiter = "\t" if self.delimiter in ("\\t", "tab") else self.delimiter
        if delimiter is not None and len(delimiter) != 1:
            raise BadInput(f"--delimiter must be one character, got {delimiter!r}")
        if data != STDIN and Path(data).is_dir():
            raise BadInput(f"{data} is a folder, not a file")
        source: str | BinaryIO = sys.stdin.buffer if data == STDIN else data
        try:
            return open_table(source, delimiter=delimiter, header=self.header), None
        except FileNotFoundError as error:
            hint = f"; the data set of this name is {PREFIX}{data}" if _is_known(data) else ""
            raise BadInput(f"{data}: no such file{hint}") from error

    def chosen(self, opened: Opened) -> list[int]:
        """Positions of the columns to use."""
        from clusterkit.cli.tables import select

        return select(opened.names, _keys(self.columns), _keys(self.drop), opened.title)


def read(opened: Opened, chosen: list[int], *, keep_rows: bool = False) -> Table:
    """The numbers; if some are none, the error says how to leave their columns out."""
    from clusterkit.cli.tables import NotNumeric

    try:
        return opened.table(chosen, keep_rows=keep_rows)
    except NotNumeric as error:
        culprits = ",".join(_quoted(name) for name in error.columns)
        raise BadInput(f"{error} To leave columns out: --drop {culprits}") from error


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how a file is read; the command gets them as `reading`."""

    @functools.wraps(command)
    def wrapped(*args: Any, **values: Any) -> Any:
        return command(*args, reading=Reading(**{name: values.pop(name) for name in Reading._fields}), **values)

    for option in (
        click.option("--header/--no-header", default=None, help="First row holds names.  [default: auto]"),
        click.option("--delimiter", metavar="CHAR", help=r"Between cells; \t is a tab.  [default: auto]"),
        click.option("--drop", multiple=True, metavar="COLS", help="Columns to leave out, like --columns."),
        click.option("--columns", multiple=True, metavar="COLS", help="Columns to use: names, positions, 1-4."),
    ):
        wrapped = option(wrapped)
    return wrapped


def _known(data: str) -> tuple[Opened, Any]:
    from clusterkit.cli.tables import Arrays
    from clusterkit.core.memory import require
    from clusterkit.datasets import load

    dataset = load(data.removeprefix(PREFIX))
    rows = dataset.data
    if hasattr(rows, "toarray"):
        require(8 * rows.shape[0] * rows.shape[1], f"{data} as a dense table", "Choose another one.")
        rows = rows.toarray()
    return Arrays(data, list(rows.T), dataset.feature_names), dataset.target


def _is_known(name: str) -> bool:
    from clusterkit.datasets.known import known

    return name in known()


def _keys(values: Iterable[str]) -> list[str]:
    """Names and positions, separated by commas; a name with a comma stands in double quotes."""
    return [key.strip() for line in csv.reader(values, skipinitialspace=True) for key in line if key.strip()]


def _quoted(name: str) -> str:
    return f"'\"{name}\"'" if "," in name else f"'{name}'" if " " in name else name
