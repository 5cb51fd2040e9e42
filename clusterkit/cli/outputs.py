"""The files that commands write: checked before the work begins, and written whole or not at all.

Labels go to a file or to standard output (`write`).
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clusterkit.cli import data
from clusterkit.cli.failures import BadInput
from clusterkit.files import replacing, same_file

if TYPE_CHECKING:
    from clusterkit._typing import Labels
    from clusterkit.tables import Table

__all__ = [
    "STDOUT",
    "check",
    "check_ending",
    "check_labels",
    "escape_option",
    "text_table",
    "write",
    "write_table",
]


STDOUT = "-"
"""The path for standard output, and for standard input."""

TABLES = ("", ".csv", ".txt", ".tsv", ".tab")
"""Endings of delimited text; the last two have tabs, the others commas. A file without an ending has commas."""

TABS = (".tsv", ".tab")
"""Endings of text with tabs between the cells."""


def check(outputs: Mapping[str, str | None], inputs: Iterable[str] = ()) -> None:
    """Raise `BadInput` before the work for a file that cannot or must not be written.

    Parameters
    ----------
    outputs : mapping of str to str or None
        The option to the file that it names; None if it is not used.
    inputs : iterable of str
        Files that are read. An output that is one of them, or another output, is refused, by whatever name or link.
    """
    taken = [("is read by this command", source) for source in inputs]
    for option, path in outputs.items():
        if path == STDOUT and sys.stdout is None:
            raise BadInput(f"{option} -: standard output is closed")
        if path is None or path == STDOUT:
            continue
        for what, other in taken:
            if _same(path, other):
                raise BadInput(f"{path}: {option} needs a file of its own, this one {what}")
        _check_place(path)
        taken.append((f"is that of {option}", path))


def _check_place(path: str) -> None:
    """Raise `BadInput` if no file can be written there."""
    target = Path(path)
    if target.is_dir():
        raise BadInput(f"{path} cannot be written: it is a folder")
    parent = Path(os.path.realpath(target)).parent
    if not parent.is_dir():
        raise BadInput(f"{path} cannot be written: there is no such folder")
    is_device = target.exists() and not target.is_file()
    if (target.exists() and not os.access(target, os.W_OK)) or not (is_device or os.access(parent, os.W_OK)):
        raise BadInput(f"{path} cannot be written: no permission")


def _same(path: str, other: str) -> bool:
    """Whether two names are of one file. `STDOUT` as `other` is standard input, which may come from a file."""
    try:
        if other == STDOUT:
            return os.path.samestat(os.stat(path), os.fstat(sys.stdin.fileno()))
        return same_file(path, other)
    except (OSError, ValueError, AttributeError):  # no such file, or no standard input
        return False


def check_ending(path: str | None, endings: Collection[str], what: str) -> None:
    """Raise `BadInput` for a file whose ending is of another kind of content."""
    if path is None or path == STDOUT:
        return
    ending = Path(path).suffix.lower()
    if ending not in endings:
        known = ", ".join(sorted(each for each in endings if each))
        raise BadInput(f"{path}: {what} can be {known}, not {ending or 'without an ending'}")


def text_table(path: str) -> str | None:
    """The ending, without ``.gz``, of a file of delimited text; None if the ending is of something else."""
    name = path.lower().removesuffix(".gz")
    ending = Path(name).suffix
    return ending if ending in TABLES else None


def write_table(path: str, rows: Iterable[Sequence[object]]) -> None:
    """Write rows as delimited text: the ending decides the delimiter and whether the file is compressed.

    Raises
    ------
    OSError
        If writing fails, with the path and the reason; nothing is changed then.
    """
    buffer = io.StringIO(newline="")
    tabs = text_table(path) in TABS
    csv.writer(buffer, delimiter="\t" if tabs else ",", lineterminator="\n").writerows(rows)
    if path == STDOUT:
        click.echo(buffer.getvalue(), nl=False)
        return
    content = buffer.getvalue().encode()
    with replacing(path) as part:
        part.write_bytes(gzip.compress(content) if path.lower().endswith(".gz") else content)


escape_option = click.option(
    "--escape-formulas",
    is_flag=True,
    help="With --with-data: an apostrophe before cells that begin with = + - @ and are no numbers, which spreadsheets "
    "would run as formulas.",
)
"""The option of commands that write the data of users."""

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""First characters of formulas in spreadsheets that open delimited text."""


def check_labels(path: str | None, *, with_data: bool = False, escape_formulas: bool = False) -> None:
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
    elif ending in data.WRITERS:
        data.check_typed(path)
    elif text_table(path) is None:
        raise BadInput(f"{path}: labels can be .csv, .tsv, .txt (each also .gz), .parquet, .xlsx or .npy")


def write(path: str, labels: Labels, table: Table | None = None, *, escape_formulas: bool = False) -> None:
    """Write one label per row under the header ``label``, the whole file or none.

    Parameters
    ----------
    path : str
        Path whose ending decides the format: ``.tsv`` has tabs, ``.npy`` is an array, ``.parquet`` and ``.xlsx`` are
        tables, ``.gz`` is compressed, all others have commas. `STDOUT` is standard output.
    labels : ndarray of shape (n,)
        Labels; without a table they are written piece by piece, and may be a file.
    table : Table, optional
        Table whose cells are written before the labels.
    escape_formulas : bool, default False
        Whether cells of text that a spreadsheet would run as formulas get an apostrophe.
    """
    ending = Path(path).suffix.lower()
    name = "label"
    while table is not None and name in table.names:  # the data may be the output of this command
        name += "_"
    if ending in data.WRITERS:
        columns = [] if table is None else table.columns()
        with replacing(path) as part:
            data.WRITERS[ending](part, columns, name, labels)
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
        _write_lines(path, name, labels)


def without_formulas(cells: Iterable[str]) -> list[str]:
    """Cells with an apostrophe before those that a spreadsheet would take for a formula; numbers are none.

    Examples
    --------
    >>> without_formulas(["=1+1", "-3.5", "-3,5", "@sum", "+49 30", "a=b", "-"])
    ["'=1+1", '-3.5', '-3,5', "'@sum", "'+49 30", 'a=b', '-']
    """
    from clusterkit.tables.cells.parsing import number

    return [
        f"'{cell}"
        if len(cell) > 1 and cell.startswith(FORMULAS) and number(cell, ".") is None and number(cell, ",") is None
        else cell
        for cell in cells
    ]


def _write_lines(path: str, name: str, labels: Labels) -> None:
    """Write a label in each line, a piece of them at once and not all of them as texts in memory."""
    starts = range(0, len(labels), data.WRITTEN_ROWS)
    texts = ("\n".join(map(str, labels[start : start + data.WRITTEN_ROWS].tolist())) for start in starts)
    if path == STDOUT:
        click.echo(name)
        for text in texts:
            click.echo(text)
        return
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{name}\n")
        file.writelines(f"{text}\n" for text in texts)
