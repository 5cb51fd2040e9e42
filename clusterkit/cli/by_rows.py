"""``clusterkit fit`` of a file too large to be read at once: rows stay in the file, labels are written as they come."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import click

from clusterkit.cli import labels, outputs
from clusterkit.cli.data import keys_of
from clusterkit.cli.failures import INTERRUPTED, BadInput

if TYPE_CHECKING:
    from clusterkit.core.rows import Rows
    from clusterkit.estimators.pipeline import Pipeline

__all__ = ["check", "fit", "fits", "rows_of"]

SHARE = 3
"""Files whose numbers would take more than this part of the memory cap are read block by block."""

ENDINGS = (".npy", ".parquet", ".pq")
"""Files that can be read block by block."""


def rows_of(data: str, columns: tuple[str, ...], drop: tuple[str, ...]) -> Rows | None:
    """The rows of a file that is too large to be read at once, and has an ending of `ENDINGS`; else None.

    Parameters
    ----------
    data : str
        The DATA argument.
    columns, drop : tuple of str
        Names of columns to use or to leave out, as in --columns and --drop.
    """
    path = Path(data)
    if path.suffix.lower() not in ENDINGS or not path.is_file():
        return None
    from clusterkit.core import memory
    from clusterkit.datasets.opening import NpyRows, ParquetRows

    allowed = memory.cap() // SHARE
    if path.suffix.lower() == ".npy":
        if path.stat().st_size <= allowed // 2:  # float32 may become float64
            return None
        rows: Rows = NpyRows(data)
        if columns or drop:
            raise BadInput(f"{data} is too large to be read at once, and its columns have no names to choose from")
        return rows if 8 * rows.n * rows.d > allowed else None
    try:
        from pyarrow.parquet import read_metadata, read_schema
    except ImportError:
        return None
    footer, names = read_metadata(data), read_schema(data).names
    if 8 * footer.num_rows * footer.num_columns <= min(allowed, memory.unpacked_cap()):
        return None
    chosen = keys_of(columns) or names
    left_out = set(keys_of(drop))
    for name in (*chosen, *left_out):
        if name not in names:
            raise BadInput(f"{data} has no column {name!r}; it is read block by block, with columns by name only")
    return ParquetRows.of([data], [name for name in chosen if name not in left_out])


def fits(model: object) -> TypeGuard[Pipeline]:
    """Whether an estimator can be fitted to rows that are read block by block."""
    from clusterkit.core.errors import NeedsClusters
    from clusterkit.core.rows_fit import row_problems
    from clusterkit.estimators.pipeline import Pipeline

    if not isinstance(model, Pipeline) or model.tuner is not None:
        return False
    try:
        return not list(row_problems(model.composition()))
    except NeedsClusters:  # the fit says so
        return True


def fit(
    rows: Rows, data: str, name: str, model: Pipeline, path: str | None, save: str | None, *, as_json: bool
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
    as_json : bool
    """
    from clusterkit.cli import summary
    from clusterkit.cli.interrupt import watching
    from clusterkit.core.errors import NeedsClusters
    from clusterkit.estimators.bars import shown
    from clusterkit.tables.selection import numbered

    began = time.perf_counter()
    with watching() as interrupt, shown(True):
        try:
            model.fit(rows)
        except NeedsClusters as error:
            raise BadInput(f"{error}. Give it with -k N.") from error
    if path is not None:
        labels.write(path, model.labels_)
    if save is not None:
        model.save(save)
    interrupted = interrupt.pressed or model.interrupted_
    columns = rows.names or numbered(rows.d)
    facts = summary.of_fit(data, columns, name, model, time.perf_counter() - began)
    facts |= {
        "read": "block by block",
        "bytes": 8 * rows.n * rows.d,
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
