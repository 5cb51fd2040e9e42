"""Reading of a table from a file, by a reader chosen by the file's ending."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, cast

import attrs
import numpy as np

from clusterkit._typing import AnyArray
from clusterkit.errors import TableError, need
from clusterkit.tables.cells.column_names import numbered, shared_names, unique
from clusterkit.tables.cells.parsing import order_of
from clusterkit.tables.reading import unpacking
from clusterkit.tables.reading.delimited import read_delimited
from clusterkit.tables.reading.frames import why_no_table
from clusterkit.tables.reading.table import Table, check_not_empty
from clusterkit.tables.reading.unpacking import COMPRESSED, TEXT, without_compression

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

SPREADSHEETS = frozenset({".xlsx", ".xlsm"})
"""Endings of spreadsheets."""

PARQUET = frozenset({".parquet", ".pq"})
"""Endings of Parquet files."""

NUMPY = ".npy"
"""The ending of an array."""

NEAREST: Mapping[str, str] = MappingProxyType(
    dict.fromkeys((".xls", ".ods", ".xlsb", ".numbers"), "Save it as .xlsx.")
    | dict.fromkeys((".sav", ".dta", ".sas7bdat", ".por", ".rds", ".rdata", ".mat", ".arff"), "Save it as .csv.")
    | dict.fromkeys((".db", ".sqlite", ".sqlite3", ".duckdb", ".mdb"), "Export the table as .csv or .parquet.")
    | dict.fromkeys((".h5", ".hdf5", ".nc", ".zarr", ".orc", ".avro", ".npz"), "Write the table as .parquet or .npy.")
    | dict.fromkeys((".json", ".jsonl", ".ndjson", ".feather", ".arrow"), "Write the table as .parquet or .csv.")
    | dict.fromkeys((".pkl", ".pickle", ".joblib"), "Write it as .parquet or .npy; a pickle can run any code.")
    | dict.fromkeys((".html", ".htm", ".xml", ".pdf", ".docx"), "Copy the table into a sheet, and save it as .xlsx.")
    | dict.fromkeys((".7z", ".rar", ".tar", ".tgz", ".zst", ".lz4", ".gz", ".bz2", ".xz"), "Unpack it first.")
)
"""Advice for a file with an ending that cannot be read."""

STREAM = "standard input"
"""The title of a stream."""


def read_table(
    source: str | os.PathLike[str] | BinaryIO, *, delimiter: str | None = None, header: bool | None = None,
    encoding: str | None = None, decimal: str | None = None, day_first: bool | None = None, sheet: str | int = 0,
    hidden: str = "keep",
) -> Table:  # fmt: skip
    r"""Read a table from a file. Its ending decides the format.

    Delimited text (.csv, .tsv, .tab, .txt, .dat, .data, each also with .gz, .bz2, .xz or .zip) is read by pandas, Excel
    (.xlsx, .xlsm) by openpyxl, Parquet by pyarrow, arrays (.npy) by numpy, further endings by plugins through the hook
    ``clusterkit_readers``. Delimiter, header, encoding and the mark before decimals are detected.

    Parameters
    ----------
    source : path or binary stream
        A stream is read as text.
    delimiter : str, optional
        Character between the cells of a text file.
    header : bool, optional
        Whether the first row of a text file or a spreadsheet holds names.
    encoding : str, optional
        Encoding of a text file, such as "latin-1". Detected among UTF-8, UTF-16, UTF-32 and Windows-1252.
    decimal : {".", ","}, optional
        The mark before the decimals of numbers in texts. It holds for all columns: where it makes no numbers of cells,
        they are texts.
    day_first : bool, optional
        Whether the day is before the month in dates between slashes.
    sheet : str or int, default 0
        Name or number, from 0, of the sheet of a spreadsheet.
    hidden : {"keep", "drop"}, default "keep"
        Whether rows and columns that a spreadsheet does not show, by a filter for example, are read, with a warning, or
        left out.

    Returns
    -------
    Table
        Table whose `frame`, or the table itself, can be passed to a `Preparation`.

    Raises
    ------
    TableError
        If the file is not a table, its ending is not known, or the library that reads it is missing; names the file,
        and where it can column and row.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import io
    >>> table = read_table(io.BytesIO(b"height;born\n1,82;3.4.1990\n1,64;17.12.1985\n"))
    >>> table.names, table.decimal, table.n_rows
    (('height', 'born'), ',', 2)
    """
    if hidden not in ("keep", "drop"):
        raise TableError(f"hidden must be 'keep' or 'drop', got {hidden!r}")
    table = _table(source, delimiter, header, encoding, decimal, sheet, hidden)
    order = order_of(day_first)
    if decimal is None and order is None:
        return table
    orders = dict.fromkeys(table.names, order) if order else {}
    return attrs.evolve(table, decimal=table.decimal or decimal, orders=orders)


def _table(
    source: str | os.PathLike[str] | BinaryIO, delimiter: str | None, header: bool | None, encoding: str | None,
    decimal: str | None, sheet: str | int, hidden: str,
) -> Table:  # fmt: skip
    """The table of a file, by its ending."""
    title = os.fspath(source) if isinstance(source, str | os.PathLike) else STREAM
    if title is not STREAM and not os.path.exists(title):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), title)
    if title is STREAM or Path(without_compression(title)).suffix in TEXT:
        text, name = unpacking.decoded(unpacking.content_of(source, title), title, encoding)
        notes = () if name.startswith("utf-8") or text.isascii() else (f"read as {name}",)
        return read_delimited(text, title, delimiter, header, decimal, notes)
    ending = Path(title.lower()).suffix
    if ending == NUMPY:
        return table_of_arrays(title, _npy(title))
    if ending in PARQUET:
        return _parquet(title)
    if ending in SPREADSHEETS:
        from clusterkit.tables.reading.spreadsheets import read_spreadsheet

        return read_spreadsheet(title, header, sheet, hidden)
    from clusterkit.contracts.registry import registry

    if registry.find("reader", ending) is not None:
        return _by_plugin(title, ending)
    advice = f" {NEAREST[ending]}" if ending in NEAREST else ""
    raise TableError(
        f"{title}: nothing reads files that end in {ending}.{advice} Endings: {', '.join(known_endings())} (text also "
        f"with {', '.join(COMPRESSED)}). Text with another ending can be given on standard input: -"
    )


def known_endings() -> list[str]:
    """All endings of files that can be read, those of plugins too."""
    from clusterkit.contracts.registry import registry

    builtin = {*TEXT, *SPREADSHEETS, *PARQUET, NUMPY}
    return sorted({*builtin, *registry.names("reader")} - {""})


def table_of_arrays(title: str, arrays: Mapping[str, AnyArray] | AnyArray, names: tuple[str, ...] = ()) -> Table:
    """A table of columns that are arrays, or of the columns of one array.

    Parameters
    ----------
    title : str
        The name in messages.
    arrays : mapping of str to ndarray of shape (n,), or ndarray of shape (n, d)
    names : tuple of str, default ()
        Names of the columns of one array; of none they are x1, x2, ...

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If there is no row.
    """
    if isinstance(arrays, np.ndarray):
        columns = list(arrays.T)
    else:
        names, columns = tuple(arrays), list(arrays.values())
    unique_names = unique(names) if names else numbered(len(columns))
    frame = dict(zip(unique_names, columns, strict=True))
    shared = shared_names(names, unique_names)
    return check_not_empty(Table(title, frame, tuple(unique_names), bool(names), shared=shared))


def _npy(title: str) -> AnyArray:
    """The array of an NPY file. Pickled objects are refused, because reading them runs code."""
    try:
        array = np.load(title, allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # a damaged header may raise anything, and claim any size
        raise TableError(f"{title} is no NPY file of numbers: {error}") from None
    if not isinstance(array, np.ndarray):
        raise TableError(f"{title} is no NPY file of numbers: it is an archive of several arrays")
    if array.ndim > 2 and (why := why_no_table(array)):
        raise TableError(f"{title}: {why}")
    if array.ndim != 2 or array.dtype.kind not in "iufb" or not array.shape[1]:
        raise TableError(f"{title}: needs real numbers in rows and columns, got {array.dtype} of shape {array.shape}")
    return array


def _parquet(title: str) -> Table:
    """The columns of a Parquet file."""
    parquet = need("pyarrow.parquet", f"{title}: Parquet", "parquet")
    with open(title, "rb") as file:
        try:
            content = parquet.ParquetFile(file)
            _check_size(content.metadata, title)
            table = content.read()  # unlike pyarrow.parquet.read_table, whatever the names
        except TableError:
            raise
        except Exception as error:  # a damaged file may raise anything, OSError too
            raise TableError(f"{title} is no Parquet file: {error}") from None
    if not table.num_columns:
        raise TableError(f"{title} has no column")
    names = unique(table.column_names)
    shared = shared_names(table.column_names, names)
    return check_not_empty(Table(title, table.rename_columns(names), tuple(names), shared=shared))


def _check_size(metadata: FileMetaData, title: str) -> None:
    """Refuse a Parquet file that would be too large when it is unpacked."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    # columns of equal values are almost nothing in the file
    size = max(sum(group.total_byte_size for group in groups), 8 * metadata.num_rows * metadata.num_columns)
    unpacking.check_size(size, title)


def _by_plugin(title: str, ending: str) -> Table:
    """Columns of a file by the reader that a plugin registers for the ending.

    A reader is a function from the path of a file to a mapping of column names to arrays of shape (n,).
    """
    from clusterkit.contracts.registry import registry

    reader = cast("Callable[[str], Mapping[str, AnyArray]]", registry.get("reader", ending))
    columns = reader(title)
    if not columns:
        raise TableError(f"{title} has no column")
    return table_of_arrays(title, {str(name): np.asarray(values) for name, values in columns.items()})
