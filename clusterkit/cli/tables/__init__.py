"""Tables of numbers from files: CSV and TSV (also gzipped), Parquet, NPY.

pandas is not needed. Whatever cannot be clustered is refused here, with the column and the row, because
further inside only an array is left.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from clusterkit.cli.tables.arrays import Arrays, npy, parquet
from clusterkit.cli.tables.delimited import Text, decoded
from clusterkit.cli.tables.opened import NotNumeric, Opened, Table, TableError, select

__all__ = ["Arrays", "NotNumeric", "Opened", "Table", "TableError", "Text", "open_table", "select"]


def open_table(source: str | Path | BinaryIO, *, delimiter: str | None = None, header: bool | None = None) -> Opened:
    """Open a file; its ending tells the format, and any unknown ending means text with a delimiter.

    Parameters
    ----------
    source : path or binary stream
        A stream is read as text.
    delimiter : str, optional
        Of text; found by looking if None.
    header : bool, optional
        Whether the first row of text holds names; found by looking if None.

    Raises
    ------
    TableError
        If it is no table.
    OSError
    """
    if not isinstance(source, str | Path):
        return Text(decoded(source, "standard input"), "standard input", delimiter, header)
    title = str(source)
    ending = Path(title).suffix.lower()
    if ending == ".npy":
        return Arrays(title, npy(title))
    if ending in {".parquet", ".pq"}:
        return Arrays(title, *parquet(title))
    return Text(decoded(source, title), title, delimiter, header)
