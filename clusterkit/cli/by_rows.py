"""``clusterkit fit`` of a file too large to be read at once: rows stay in the file, labels are written as they come."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import click

from clusterkit.cli import labels, outputs
from clusterkit.cli.data import keys_of
from clusterkit.cli.failures import INTERRUPTED, BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clusterkit.cli.data import TableOptions
    from clusterkit.core.rows import Rows
    from clusterkit.estimators.pipeline import Pipeline

__all__ = ["ENDINGS", "check", "fit", "fits", "is_large", "rows_of"]

SHARE = 3
"""Files whose numbers would take more than this part of the memory cap are read block by block."""

ENDINGS = (".npy", ".parquet", ".pq", ".csv", ".tsv", ".tab", ".txt", ".dat", ".data")
"""Files that can be read block by block; text is parsed once into a temporary file of numbers."""

HEAPS = 2
"""Heaps of a command that reads a file block by block: large arrays are few, so that threads seldom wait for one."""

M_ARENA_MAX = -8
"""The number of the setting in `mallopt` of the GNU C library."""


def is_large(data: str) -> bool:
    """Whether a file is too large to be read at once, and has an ending of `ENDINGS`."""
    path = Path(data)
    if path.suffix.lower() not in ENDINGS or not path.is_file():
        return False
    from clusterkit.core import memory

    allowed = memory.cap() // SHARE
    if path.suffix.lower() == ".npy":
        if path.stat().st_size <= allowed // 2:  # float32 may become float64
            return False
        from clusterkit.datasets.opening import NpyRows

        rows = NpyRows(data)
        return 8 * rows.n * rows.d > allowed
    if path.suffix.lower() not in (".parquet", ".pq"):
        with path.open("rb") as file:
            compressed = file.read(2) == b"\x1f\x8b"
        return not compressed and path.stat().st_size > allowed  # the text itself would be in memory too
    _reserve_nothing()
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import read_metadata
    except ImportError:
        return False
    try:
        footer = read_metadata(data)
    except (ArrowException, OSError):  # what reads the table says what is wrong with it
        return False
    return 8 * footer.num_rows * footer.num_columns > min(allowed, memory.unpacked_cap())


def _reserve_nothing() -> None:
    """Have pyarrow take memory as it needs it, unless its environment variable says otherwise.

    Its own allocator reserves 1 GiB with the first byte. Under a limit of memory, OpenBLAS then finds no room for its
    buffers, and tries again without end. The variable is read when pyarrow is imported, and is this command's own.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def _share_heaps() -> None:
    """Have the threads of the command share `HEAPS` heaps; where the C library is not that of GNU, nothing.

    Each pass starts threads, and each may get a heap of its own, which keeps what it once held for later threads.
    """
    if sys.platform == "linux":
        allocator = ctypes.CDLL(None)
        if hasattr(allocator, "mallopt"):
            allocator.mallopt(M_ARENA_MAX, HEAPS)


def rows_of(data: str, options: TableOptions) -> Rows:
    """The rows of a file that is too large to be read at once.

    Parameters
    ----------
    data : str
        The DATA argument.
    options : TableOptions
        Columns to use or to leave out, and how a text is read.
    """
    from clusterkit.datasets.opening import NpyRows
    from clusterkit.tables import NotNumeric

    _share_heaps()
    path = Path(data)
    if path.suffix.lower() == ".npy":
        if options.columns or options.drop:
            raise BadInput(f"{data} is too large to be read at once, and its columns have no names to choose from")
        return NpyRows(data)
    try:
        return _parquet(data, options) if path.suffix.lower() in (".parquet", ".pq") else _spooled(data, options)
    except NotNumeric as error:
        raise BadInput(
            f"{error} The file is read block by block, because it is too large, and takes columns of numbers only: "
            f"--drop {','.join(error.columns)}"
        ) from error


def _parquet(data: str, options: TableOptions) -> Rows:
    """The rows of a Parquet file."""
    from pyarrow.parquet import read_schema

    from clusterkit.datasets.opening import ParquetRows

    return ParquetRows.of([data], _chosen(read_schema(data).names, options, data))


def _spooled(data: str, options: TableOptions) -> Rows:
    """The numbers of a text, in a temporary file."""
    from clusterkit.datasets.raw_rows import spooled_text
    from clusterkit.tables.chunks import text_form
    from clusterkit.tables.selection import check_distinct

    reading = options.reading()
    form, _ = text_form(data, **reading)
    chosen = _chosen(form.names, options, data)
    check_distinct(chosen, form.shared, form.names, data)
    return spooled_text([data], chosen, **reading)


def _chosen(names: Sequence[str], options: TableOptions, data: str) -> list[str]:
    """The columns of a table that its options choose."""
    from clusterkit.tables import select

    columns, drop = (keys_of(values, names) for values in (options.columns, options.drop))
    return [names[j] for j in select(names, columns, drop, data)]


def fits(model: object) -> TypeGuard[Pipeline]:
    """Whether an estimator can be fitted to rows that are read block by block."""
    from clusterkit.core.device_paths import row_problems
    from clusterkit.core.errors import NeedsClusters
    from clusterkit.estimators.pipeline import Pipeline

    if not isinstance(model, Pipeline):
        return False
    try:
        composition = model.composition()
        return model.fits_by_sample() or (model.tuner is None and not list(row_problems(composition)))
    except NeedsClusters:  # the fit says so
        return True


def fit(
    rows: Rows,
    data: str,
    name: str,
    model: Pipeline,
    path: str | None,
    save: str | None,
    *,
    cache: str | None,
    spool: bool,
    instead_of: str | None,
    as_json: bool,
) -> None:
    """Fit, write labels and model, and print a summary.

    Parameters
    ----------
    rows : Rows
    data : str
        The name of the file, for messages.
    name : str
        The recipe.
    model : Pipeline
        Its estimator.
    path : str or None
        File for the labels.
    save : str or None
        File for the model.
    cache : str or None
        File for a copy of the rows.
    spool : bool
        Whether rows that every pass would decode anew may be copied to a temporary file beside the labels or the model.
    instead_of : str or None
        The recipe that would be used if all rows were in memory, where the user named none.
    as_json : bool
    """
    from clusterkit.cli import row_copies, summary
    from clusterkit.cli.interrupt import watching
    from clusterkit.core.errors import NeedsClusters
    from clusterkit.estimators.bars import shown
    from clusterkit.estimators.number import is_open
    from clusterkit.estimators.saving import save_with_facts
    from clusterkit.tables.selection import numbered

    if is_open(getattr(model, "n_clusters", None)):
        raise BadInput(
            f"-k auto and ranges compare fits of all rows in memory, and {data} is read block by block, because it is "
            "too large. Give one number with -k N, or choose it on a part of the rows"
        )
    began = time.perf_counter()
    written = [file for file in (path, save) if file is not None and file != outputs.STDOUT]
    try:
        model.composition()  # a missing number of clusters is said before rows are copied
        with shown(True):
            source, note = row_copies.copied(rows, model, cache, written[0] if spool and written else None)
        with watching() as interrupt, shown(True):
            model.fit(source)
    except NeedsClusters as error:
        raise BadInput(f"{error}. Give it with -k N.") from error
    if path is not None:
        labels.write(path, model.labels_)
    if save is not None:
        names = list(rows.names or map(str, range(1, rows.d + 1)))
        save_with_facts(save, model, {"columns": names, "named": rows.names is not None, "recipe": name})
    interrupted = interrupt.pressed or model.interrupted_
    columns = rows.names or numbered(rows.d)
    facts = summary.of_fit(data, columns, name, model, time.perf_counter() - began)
    facts |= {
        "read": "block by block",
        "copy": note,
        "doubts": None,  # they need all rows in memory
        "bytes": 8 * rows.n * rows.d,
        "instead_of": instead_of,
        "interrupted": interrupted,
        "labels_file": path,
        "model_file": save,
    }
    summary.show(facts, as_json=as_json, err=path == outputs.STDOUT)
    if interrupted:
        raise click.exceptions.Exit(INTERRUPTED)


def check(*, with_data: bool, picture: str | None) -> None:
    """Raise `BadInput` for what cannot be written from rows that are read block by block."""
    if with_data or picture is not None:
        option = "--with-data" if with_data else "--plot"
        raise BadInput(f"{option} needs all rows in memory; the file is read block by block, because it is too large")
