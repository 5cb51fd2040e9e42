"""Writing labels to a file or to standard output."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clusterkit.cli import typed_tables
from clusterkit.cli.failures import BadInput
from clusterkit.cli.outputs import STDOUT, text_table, write_table
from clusterkit.core.whole_files import replacing

if TYPE_CHECKING:
    from clusterkit._typing import Labels
    from clusterkit.tables import Table

__all__ = ["STDOUT", "check", "escape_option", "write", "write_lines"]


escape_option = click.option(
    "--escape-formulas",
    is_flag=True,
    help="With --with-data: an apostrophe before cells that begin with = + - @ and are no numbers, which spreadsheets "
    "would run as formulas.",
)
"""The option of commands that write the data of users."""

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What formulas begin with in spreadsheets that open delimited text."""


def check(path: str | None, *, with_data: bool = False, escape_formulas: bool = False) -> None:
    """Raise `BadInput` before the fit if the ending of the file is none of labels, or what writes it is missing."""
    if escape_formulas and not with_data:
        raise BadInput("--escape-formulas is about the cells that --with-data writes")
    if path is None:
        if with_data:
            raise BadInput("--with-data needs -o FILE, or -o - for standard output")
        return
    if path == STDOUT:
        return
    ending = Path(path).suffix.lower()
    if ending == ".npy":
        if with_data:
            raise BadInput(f"{path}: --with-data writes a table, so the file cannot be .npy")
    elif ending in typed_tables.WRITERS:
        typed_tables.check(path)
    elif text_table(path) is None:
        raise BadInput(f"{path}: labels can be .csv, .tsv, .txt (each also .gz), .parquet, .xlsx or .npy")


def write(path: str, labels: Labels, table: Table | None = None, *, escape_formulas: bool = False) -> None:
    """Write one label per row under the header ``label``, the whole file or none.

    Parameters
    ----------
    path : str
        Its ending decides the format: ``.tsv`` has tabs, ``.npy`` is an array, ``.parquet`` and ``.xlsx`` are tables,
        ``.gz`` is compressed, all others have commas. `STDOUT` is standard output.
    labels : ndarray of shape (n,)
        Without a table they are written piece by piece, and may be a file.
    table : Table, optional
        Its cells are written before the labels.
    escape_formulas : bool, default False
        Whether cells of text that a spreadsheet would run as formulas get an apostrophe.
    """
    ending = Path(path).suffix.lower()
    name = "label"
    while table is not None and name in table.names:  # the data may be the output of this command
        name += "_"
    if ending in typed_tables.WRITERS:
        columns = [] if table is None else table.columns()
        with replacing(path) as part:
            typed_tables.WRITERS[ending](part, columns, name, labels)
    elif ending == ".npy":
        import numpy as np

        with replacing(path) as part, part.open("wb") as file:
            np.save(file, labels, allow_pickle=False)
    elif table is not None:
        shown = without_formulas if escape_formulas else list
        cells = zip(table.cells(), labels.tolist(), strict=True)
        write_table(path, [[*shown(table.names), name], *([*shown(row), label] for row, label in cells)])
    elif path.lower().endswith(".gz"):
        write_table(path, [[name], *([label] for label in labels.tolist())])
    else:
        starts = range(0, len(labels), typed_tables.WRITTEN_ROWS)
        write_lines(path, name, (labels[start : start + typed_tables.WRITTEN_ROWS] for start in starts))


def without_formulas(cells: Iterable[str]) -> list[str]:
    """Cells with an apostrophe before those that a spreadsheet would take for a formula; numbers are none.

    Examples
    --------
    >>> without_formulas(["=1+1", "-3.5", "-3,5", "@sum", "+49 30", "a=b", "-"])
    ["'=1+1", '-3.5', '-3,5', "'@sum", "'+49 30", 'a=b', '-']
    """
    from clusterkit.tables.cells import number

    return [
        f"'{cell}"
        if len(cell) > 1 and cell.startswith(FORMULAS) and number(cell, ".") is None and number(cell, ",") is None
        else cell
        for cell in cells
    ]


def write_lines(path: str, name: str, pieces: Iterable[Labels]) -> None:
    """Write a label in each line, a piece of them at once and not all of them as texts in memory."""
    texts = ("\n".join(map(str, labels.tolist())) for labels in pieces)
    if path == STDOUT:
        click.echo(name)
        for text in texts:
            click.echo(text)
        return
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{name}\n")
        file.writelines(f"{text}\n" for text in texts)
