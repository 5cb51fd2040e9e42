"""Large tables in pieces of some rows, in the same form as `clusterkit.tables.read_table` gives them whole."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

import attrs
import numpy as np

from clusterkit.errors import TableError, need
from clusterkit.tables.cells.column_names import shared_names, unique
from clusterkit.tables.cells.parsing import order_of
from clusterkit.tables.reading import unpacking
from clusterkit.tables.reading.delimited import Form, NamedOnce, form_of, pandas_options
from clusterkit.tables.reading.files import table_of_arrays
from clusterkit.tables.reading.headers import tell_of_first_row, tell_of_repeats
from clusterkit.tables.reading.table import Table

CHUNK_ROWS = 2**16
"""Largest number of rows of a piece."""

CHUNK_CELLS = 2**22
"""Largest number of cells of a piece of several rows: 32 MiB of numbers, and some times that while they are texts."""

HEAD_BYTES = 2**20
"""Bytes of a text from which its form is found out: more than the thousand rows that a table read whole is judged by,
unless a row has more than a thousand characters."""

COUNTED_BYTES = 2**24
"""Bytes that are read at once to count the lines of a text."""

TEXT_ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data")
"""Endings of delimited text that is read in pieces; compressed text is not."""


class TextReading(TypedDict, total=False):
    """Options for reading a text, see `clusterkit.tables.read_table`."""

    delimiter: str | None
    header: bool | None
    encoding: str | None
    decimal: str | None
    day_first: bool | None


def table_chunks(
    path: str, *, delimiter: str | None = None, header: bool | None = None, encoding: str | None = None,
    decimal: str | None = None, day_first: bool | None = None, rows: int | None = None,
) -> Iterator[Table]:  # fmt: skip
    """The rows of a text, Parquet or NPY file, some at a time; parameters and errors are those of `read_table`.

    Parameters
    ----------
    path : str
        Path of the file; its ending decides the format.
    rows : int, optional
        Most rows of a piece; by default `CHUNK_ROWS`, and so many that they have `CHUNK_CELLS` cells.
    """
    ending = Path(path).suffix.lower()
    if ending == ".npy":
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        step = rows or _rows_of(array.shape[1])
        for start in range(0, len(array), step):
            yield table_of_arrays(path, np.array(array[start : start + step]))
    elif ending in (".parquet", ".pq"):
        yield from _of_parquet(path, rows, decimal, order_of(day_first))
    else:
        form, name = text_form(path, delimiter, header, encoding, decimal, day_first)
        tell_of_first_row(form.notice)
        yield from _of_text(path, form, name, rows or _rows_of(len(form.names)))


def _rows_of(n_columns: int) -> int:
    """Rows of a piece."""
    return max(1, min(CHUNK_ROWS, CHUNK_CELLS // max(1, n_columns)))


def text_form(
    path: str,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    day_first: bool | None = None,
) -> tuple[Form, str]:
    """Delimiter, names, decimals and dates of a text by its first lines, and its encoding."""
    with open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
        more = bool(file.read(1))
    if head[:2] == b"\x1f\x8b":
        raise TableError(f"{path} is compressed, and cannot be read in pieces; unpack it first")
    if more:
        head = head[: head.rfind(b"\n") + 1] or head
    text, name = unpacking.decoded(head, path, encoding)
    form = form_of(text, path, delimiter, header, decimal)
    order = order_of(day_first)
    return attrs.evolve(form, orders=dict.fromkeys(form.names, order)) if order else form, name


def lines_of(path: str) -> int:
    """Line ends of a file, and one more: no table in it has more rows."""
    lines = 1
    with open(path, "rb") as file:
        while piece := file.read(COUNTED_BYTES):
            lines += piece.count(b"\n") or piece.count(b"\r")
    return lines


def _of_text(path: str, form: Form, encoding: str, rows: int) -> Iterator[Table]:
    pandas = need("pandas", f"{path}: reading text in pieces", "tables")
    start = 0
    options: Any = pandas_options(form)
    try:
        with (
            open(path, encoding=encoding) as file,
            pandas.read_csv(once := NamedOnce(file, form), chunksize=rows, **options) as pieces,
        ):
            while True:
                with warnings.catch_warnings():  # for this piece only, not while the caller works on it
                    warnings.simplefilter("error", pandas.errors.ParserWarning)
                    warnings.simplefilter("ignore", pandas.errors.DtypeWarning)
                    frame = next(pieces, None)
                if frame is None:
                    tell_of_repeats(path, once.places, "line")
                    return
                frame.columns = form.names
                yield form.table(frame, start)
                start += len(frame)
    except (pandas.errors.ParserError, pandas.errors.ParserWarning, pandas.errors.EmptyDataError) as error:
        raise TableError(f"{path} is no table: {error}") from None
    except UnicodeError as error:
        raise TableError(f"{path} is no text in {encoding}: {error}") from None


def _of_parquet(path: str, rows: int | None, decimal: str | None, order: str | None) -> Iterator[Table]:
    pyarrow, parquet = (need(its, f"{path}: Parquet", "parquet") for its in ("pyarrow", "pyarrow.parquet"))
    start = 0
    with parquet.ParquetFile(os.fspath(path)) as file:
        header = [str(name) for name in file.schema_arrow.names]
        names = unique(header)
        shared = shared_names(header, names)
        for batch in file.iter_batches(rows or _rows_of(len(names))):
            table = pyarrow.Table.from_batches([batch]).rename_columns(names)
            orders = dict.fromkeys(names, order) if order else {}
            yield Table(
                path, table, tuple(names), decimal=decimal, shared=shared, orders=orders, offset=start,
            )  # fmt: skip
            start += batch.num_rows
