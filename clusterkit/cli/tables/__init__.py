"""Tables of numbers from files: CSV and TSV (also gzipped), Parquet, NPY.

pandas is not needed. Cells that are no finite numbers are refused here, with their column and row, because the stages
see only an array. `opened` has what all formats share, `delimited` text files, `arrays` the other formats.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, cast

from clusterkit._typing import AnyArray
from clusterkit.cli.tables.arrays import ArrayTable, npy, parquet
from clusterkit.cli.tables.delimited import DelimitedTable, decoded
from clusterkit.cli.tables.opened import NotNumeric, NumericTable, OpenedTable, TableError, select

__all__ = [
    "ArrayTable",
    "DelimitedTable",
    "NotNumeric",
    "NumericTable",
    "OpenedTable",
    "TableError",
    "open_table",
    "select",
]


TEXT = frozenset({"", ".csv", ".tsv", ".tab", ".txt", ".dat", ".data"})
"""Endings of delimited text, for which no plugin is asked; each may be followed by ``.gz``."""

ARRAYS = frozenset({".npy", ".parquet", ".pq"})
"""Endings of the other formats."""


def open_table(
    source: str | Path | BinaryIO, *, delimiter: str | None = None, header: bool | None = None
) -> OpenedTable:
    """Open a file. Its ending decides the format.

    A plugin may read further endings by the hook ``clusterkit_readers``. An ending that nobody reads is refused, as
    what the file is can only be guessed; on standard input everything is delimited text.

    Parameters
    ----------
    source : path or binary stream
        A stream is read as text.
    delimiter : str, optional
        Character between the cells of a text file; detected if None.
    header : bool, optional
        Whether the first row of a text file holds names; detected if None.

    Raises
    ------
    TableError
        If the file is not a table, or its ending is not known.
    OSError
        If it cannot be read.
    """
    if not isinstance(source, str | Path):
        return DelimitedTable(decoded(source, "standard input"), "standard input", delimiter, header)
    title = str(source)
    ending = Path(title.lower().removesuffix(".gz")).suffix
    if ending == ".npy":
        return ArrayTable(title, npy(title))
    if ending in {".parquet", ".pq"}:
        return ArrayTable(title, *parquet(title))
    if ending not in TEXT:
        return ArrayTable(title, *_read_by_plugin(title, Path(title).suffix.lower()))
    return DelimitedTable(decoded(source, title), title, delimiter, header)


def _read_by_plugin(title: str, ending: str) -> tuple[list[AnyArray], list[str]]:
    """Columns of a file and their names, by the reader that a plugin registers for the ending.

    A reader is a function from the path of a file to a mapping of column names to arrays of shape (n,).
    """
    from clusterkit.core.registry import registry

    if registry.find("reader", ending) is None:
        if not Path(title).exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), title)
        known = sorted({*TEXT, *ARRAYS, *registry.names("reader")} - {""})
        raise TableError(
            f"{title}: nothing reads files that end in {ending}. Endings: {', '.join(known)} (text also with .gz). "
            "Text with another ending can be given on standard input: -"
        )
    reader = cast("Callable[[str], Mapping[str, AnyArray]]", registry.get("reader", ending))
    columns = reader(title)
    if not columns:
        raise TableError(f"{title} has no column")
    return list(columns.values()), [str(name) for name in columns]
