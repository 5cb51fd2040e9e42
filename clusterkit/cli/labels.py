"""Writing labels to a file or to standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clusterkit.cli.failures import BadInput
from clusterkit.cli.outputs import STDOUT, text_table, write_table
from clusterkit.core.whole_files import replacing

if TYPE_CHECKING:
    from clusterkit._typing import Labels
    from clusterkit.tables import Table

__all__ = ["STDOUT", "check", "write"]


def check(path: str | None, *, with_data: bool = False) -> None:
    """Raise `BadInput` before the fit if the ending of the file is none of labels."""
    if path is None:
        if with_data:
            raise BadInput("--with-data needs -o FILE, or -o - for standard output")
        return
    if path == STDOUT:
        return
    if path.lower().endswith(".npy"):
        if with_data:
            raise BadInput(f"{path}: --with-data writes text, so the file cannot be .npy")
    elif text_table(path) is None:
        raise BadInput(f"{path}: labels can be .csv, .tsv, .txt (each also .gz), or .npy")


def write(path: str, labels: Labels, table: Table | None = None) -> None:
    """Write one label per row under the header ``label``, the whole file or none.

    Parameters
    ----------
    path : str
        Its ending decides the format: ``.tsv`` has tabs, ``.npy`` is an array, ``.gz`` is compressed, all others have
        commas. `STDOUT` is standard output.
    labels : ndarray of shape (n,)
    table : Table, optional
        Its cells are written before the labels.
    """
    if path.lower().endswith(".npy"):
        import numpy as np

        with replacing(path) as part, part.open("wb") as file:
            np.save(file, labels, allow_pickle=False)
        return
    head, rows = ([], [[]] * len(labels)) if table is None else (list(table.names), table.cells())
    name = "label"
    while name in head:  # the data may be the output of this command
        name += "_"
    write_table(path, [[*head, name], *([*row, label] for row, label in zip(rows, labels.tolist(), strict=True))])
