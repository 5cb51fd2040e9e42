"""Writing labels to a file or to standard output."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clusterkit.cli.failures import BadInput

if TYPE_CHECKING:
    from clusterkit._typing import Labels
    from clusterkit.cli.tables import NumericTable

__all__ = ["STDOUT", "check", "write"]

STDOUT = "-"
"""The path that stands for standard output."""


def check(path: str | None, *, with_data: bool = False) -> None:
    """Raise `BadInput` before the fit for a path that could not be written after it."""
    if path is None:
        if with_data:
            raise BadInput("--with-data needs -o FILE, or -o - for standard output")
        return
    if path == STDOUT:
        return
    if with_data and path.lower().endswith(".npy"):
        raise BadInput(f"{path}: --with-data writes text, so the file cannot be .npy")
    if Path(path).is_dir():
        raise BadInput(f"{path} cannot be written: it is a folder")
    if not Path(path).resolve().parent.is_dir():
        raise BadInput(f"{path} cannot be written: there is no such folder")


def write(path: str, labels: Labels, table: NumericTable | None = None) -> None:
    """Write one label per row under the header ``label``.

    Parameters
    ----------
    path : str
        Its ending decides the format: ``.tsv`` has tabs, ``.npy`` is an array, ``.gz`` is compressed, all others have
        commas. `STDOUT` is standard output.
    labels : ndarray of shape (n,)
    table : NumericTable, optional
        Its cells are written before the labels.
    """
    if path.lower().endswith(".npy"):
        import numpy as np

        np.save(path, labels, allow_pickle=False)
        return
    endings = {suffix.lower() for suffix in Path(path).suffixes}
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter="\t" if ".tsv" in endings else ",", lineterminator="\n")
    head, rows = ([], [[]] * len(labels)) if table is None else (list(table.row_names), table.rows)
    name = "label"
    while name in head:  # the data may be the output of this command
        name += "_"
    writer.writerow([*head, name])
    writer.writerows([*row, label] for row, label in zip(rows, labels.tolist(), strict=True))
    if path == STDOUT:
        click.echo(buffer.getvalue(), nl=False)
        return
    content = buffer.getvalue().encode()
    Path(path).write_bytes(gzip.compress(content) if ".gz" in endings else content)
