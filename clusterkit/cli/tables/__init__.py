"""Tables of numbers from files: CSV and TSV (also gzipped), Parquet, NPY.

pandas is not needed. Cells that are no finite numbers are refused here, with their column and row, because the stages
see only an array. `opened` has what all formats share, `delimited` text files, `arrays` the other formats.
"""

from __future__ import annotations

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


TEXT = frozenset({"", ".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".gz"})
"""Endings of delimited text, for which no plugin is asked."""


def open_table(
    source: str | Path | BinaryIO, *, delimiter: str | None = None, header: bool | None = None
) -> OpenedTable:
    """Open a file. Its ending decides the format.

    A plugin may read further endings by the hook ``clusterkit_readers``; a file with an ending that nobody reads is
    taken for delimited text.

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
        If the file is not a table.
    OSError
        If it cannot be read.
    """
    if not isinstance(source, str | Path):
        return DelimitedTable(decoded(source, "standard input"), "standard input", delimiter, header)
    title = str(source)
    ending = Path(title).suffix.lower()
    if ending == ".npy":
        return ArrayTable(title, npy(title))
    if ending in {".parquet", ".pq"}:
        return ArrayTable(title, *parquet(title))
    if ending not in TEXT and (columns := _read_by_plugin(title, ending)) is not None:
        return ArrayTable(title, *columns)
    return DelimitedTable(decoded(source, title), title, delimiter, header)


def _read_by_plugin(title: str, ending: str) -> tuple[list[AnyArray], list[str]] | None:
    """Columns of a file and their names, by the reader that a plugin registers for the ending; None if there is none.

    A reader is a function from the path of a file to a mapping of column names to arrays of shape (n,).
    """
    from clusterkit.core.registry import registry

    if registry.find("reader", ending) is None:
        return None
    reader = cast("Callable[[str], Mapping[str, AnyArray]]", registry.get("reader", ending))
    columns = reader(title)
    if not columns:
        raise TableError(f"{title} has no column")
    return list(columns.values()), [str(name) for name in columns]
