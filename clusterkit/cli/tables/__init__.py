"""Tables of numbers from files: CSV and TSV (also gzipped), Parquet, NPY.

pandas is not needed. Cells that are no finite numbers are refused here, with their column and row, because the stages
see only an array. `opened` has what all formats share, `delimited` text files, `arrays` the other formats.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

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


def open_table(
    source: str | Path | BinaryIO, *, delimiter: str | None = None, header: bool | None = None
) -> OpenedTable:
    """Open a file. Its ending decides the format; a file with any other ending is read as delimited text.

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
    return DelimitedTable(decoded(source, title), title, delimiter, header)
