"""``clusterkit fit`` of a file too large to be read at once: rows stay in the file, labels are written as they come."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import click

from clusterkit.cli import outputs
from clusterkit.cli.data import keys_of
from clusterkit.cli.failures import INTERRUPTED, BadInput

if TYPE_CHECKING:
    from clusterkit._typing import Labels
    from clusterkit.core.rows import Rows
    from clusterkit.estimators.pipeline import Pipeline

__all__ = ["check", "fit", "fits", "rows_of", "write"]

SHARE = 3
"""Files whose numbers would take more than this part of the memory cap are read block by block."""

ENDINGS = (".npy", ".parquet", ".pq")
"""Files that can be read block by block."""

WRITTEN_ROWS = 2**18
"""Labels that are written at once."""


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

    if not isinstance(model, Pipeline):
        return False
    try:
        composition = model.composition()
        return model.fits_by_sample() or (model.tuner is None and not list(row_problems(composition)))
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
    from clusterkit.cli import console, summary
    from clusterkit.cli.interrupt import watching
    from clusterkit.core.errors import NeedsClusters
    from clusterkit.core.labelings import cluster_sizes
    from clusterkit.core.memory import human
    from clusterkit.estimators.bars import shown
    from clusterkit.tables.selection import numbered

    began = time.perf_counter()
    with watching() as interrupt, shown(True):
        try:
            model.fit(rows)
        except NeedsClusters as error:
            raise BadInput(f"{error}. Give it with -k N.") from error
    if path is not None:
        write(path, model.labels_)
    if save is not None:
        model.save(save)
    interrupted = interrupt.pressed or model.interrupted_
    sizes = cluster_sizes(model.labels_)
    facts: dict[str, Any] = {
        "data": data,
        "rows": rows.n,
        "columns": list(rows.names or numbered(rows.d)),
        "recipe": name,
        "read": "block by block",
        "n_clusters": len(sizes),
        "sizes": sizes,
        "n_iter": model.n_iter_,
        "converged": bool(model.converged_),
        "stop_reason": model.stop_reason_,
        "objective": float(model.objective_),
        "resolved": model.resolved_,
        "seconds": round(time.perf_counter() - began, 3),
        "interrupted": interrupted,
        "labels_file": path,
        "model_file": save,
    }
    err = path == outputs.STDOUT
    if as_json:
        console.as_json(facts, err=err)
    else:
        console.heading(f"{data}: {len(sizes)} clusters by {name}", err=err)
        lines = {
            "rows": f"{rows.n:,}, read block by block, because they take {human(rows.n * rows.d * 8)} in memory",
            "stopped": f"{model.stop_reason_}, after {model.n_iter_} iterations",
            "converged": "yes" if model.converged_ else "no",
            "objective": f"{model.objective_:.6g}",
            "resolved": ", ".join(
                f"{slot}.{key}={console.number(value)}"
                for slot, parameters in model.resolved_.items()
                for key, value in parameters.items()
            ),
            "time": f"{facts['seconds']:.2f} s",
            "labels in": path or "",
            "model in": save or "",
        }
        console.facts(lines, err=err)
        summary.show_sizes(sizes, rows.n, err=err)
    if interrupted:
        raise click.exceptions.Exit(INTERRUPTED)


def write(path: str, labels: Labels) -> None:
    """Write labels piece by piece: ``.parquet``, ``.npy``, or text with one label in a line."""
    import numpy as np

    from clusterkit.core.whole_files import replacing

    pieces = [slice(start, start + WRITTEN_ROWS) for start in range(0, len(labels), WRITTEN_ROWS)]
    if path == outputs.STDOUT:
        click.echo("label")
        for rows in pieces:
            click.echo("\n".join(map(str, labels[rows].tolist())))
        return
    with replacing(path) as part:
        if path.lower().endswith(".npy"):
            stored = np.lib.format.open_memmap(part, mode="w+", dtype=labels.dtype, shape=labels.shape)
            for rows in pieces:
                stored[rows] = labels[rows]
            stored.flush()
        elif path.lower().endswith(".parquet"):
            import pyarrow as pa
            from pyarrow.parquet import ParquetWriter

            with ParquetWriter(part, pa.schema([("label", pa.int64())])) as writer:
                for rows in pieces:
                    writer.write_table(pa.table({"label": np.asarray(labels[rows], dtype=np.int64)}))
        else:
            with part.open("w", encoding="utf-8") as file:
                file.write("label\n")
                file.writelines("\n".join(map(str, labels[rows].tolist())) + "\n" for rows in pieces)


def check(path: str | None, *, with_data: bool, picture: str | None) -> None:
    """Raise `BadInput` for what cannot be written from rows that are read block by block."""
    if with_data or picture is not None:
        option = "--with-data" if with_data else "--plot"
        raise BadInput(f"{option} needs all rows in memory; the file is read block by block, because it is too large")
    if path not in (None, outputs.STDOUT) and not str(path).lower().endswith((".parquet", ".npy", ".csv", ".txt")):
        raise BadInput(f"{path}: labels of rows that are read block by block can be .parquet, .npy, .csv or .txt")
