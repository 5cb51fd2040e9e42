"""A folder of labelled data sets: two formats of files, and which rows are noise."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Collection, Iterable
from pathlib import Path

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Mask
from clusterkit.core.errors import InvalidParameter, nearest_names

__all__ = ["LabeledSet", "folder_of", "read_sets"]

TABLE, DATA, LABELS = ".csv.gz", ".data.gz", ".labels0.gz"
"""Endings: a table whose last column is ``label``; numbers separated by blanks, with the classes in a second file."""

TABLE_NOISE, LABELS_NOISE = -1, 0
"""The class of rows that belong to no cluster, in tables and in files of classes (there 1 is the first class)."""


@attrs.frozen(eq=False)
class LabeledSet:
    """A data set with known classes.

    Parameters
    ----------
    name : str
    X : ndarray of shape (n, d)
    classes : ndarray of shape (n,)
        Class of each row, from 0; -1 for noise.
    """

    name: str
    X: Array
    classes: Labels

    @property
    def known(self) -> Mask:
        """Rows that belong to a class, (n,). The others are clustered, but not judged."""
        return np.asarray(self.classes >= 0)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.classes.max(initial=-1)) + 1

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits of the data and the classes."""
        content = np.ascontiguousarray(self.X).tobytes() + np.ascontiguousarray(self.classes).tobytes()
        return hashlib.sha256(content).hexdigest()[:12]


def folder_of(name: str) -> Path:
    """The folder of that path, or of that name in the data folder (the environment variable CLUSTERKIT_DATA).

    Raises
    ------
    InvalidParameter
        If there is no such folder.
    """
    if Path(name).is_dir():
        return Path(name)
    data = os.environ.get("CLUSTERKIT_DATA")
    if data and (Path(data) / name).is_dir():
        return Path(data) / name
    place = f"nor in the data folder {data}" if data else "and CLUSTERKIT_DATA, the folder of data sets, is not set"
    raise InvalidParameter(f"{name}: there is no such folder here, {place}")


def read_sets(
    folder: str | Path, names: Collection[str] | None = None, *, max_rows: int | None = None
) -> list[LabeledSet]:
    """The data sets of a folder, by name.

    Parameters
    ----------
    folder : path
        With files ``NAME.csv.gz``, whose last column ``label`` has the classes (-1: noise), or ``NAME.data.gz`` beside
        ``NAME.labels0.gz`` (0: noise), as in the suite of Gagolewski.
    names : collection of str, optional
        Only these.
    max_rows : int, optional
        Only sets with at most so many rows.

    Raises
    ------
    InvalidParameter
        If a file cannot be read, a name is unknown, or nothing is left.
    """
    listed = sorted(Path(folder).glob(f"*{TABLE}")) + sorted(Path(folder).glob(f"*{DATA}"))
    files = {file.name.removesuffix(TABLE).removesuffix(DATA): file for file in listed}
    for name in names or ():
        if name not in files:
            raise InvalidParameter(f"{folder}: no data set named {name!r}. {nearest_names(name, files)}")
    chosen = [_read(name, file) for name, file in sorted(files.items()) if names is None or name in names]
    chosen = [each for each in chosen if max_rows is None or len(each.X) <= max_rows]
    if not chosen:
        limit = "" if max_rows is None else f" of at most {max_rows} rows"
        raise InvalidParameter(f"{folder}: no data set{limit} (files NAME{TABLE}, or NAME{DATA} and NAME{LABELS})")
    return chosen


def _read(name: str, file: Path) -> LabeledSet:
    try:
        if file.name.endswith(TABLE):
            from clusterkit.datasets.readers import read_bytes

            table = read_bytes(file.read_bytes(), file.name, name=name, description="")
            return _labeled(name, np.asarray(table.data), np.asarray(table.target).tolist(), TABLE_NOISE)
        X = np.loadtxt(file, ndmin=2, dtype=np.float64)
        with gzip.open(file.with_name(name + LABELS), "rt", encoding="ascii") as lines:
            classes = [int(line) for line in lines if line.strip()]
        return _labeled(name, X, classes, LABELS_NOISE)
    except (OSError, EOFError, ValueError) as error:
        raise InvalidParameter(f"{file}: cannot be read as a labelled data set: {error}") from error


def _labeled(name: str, X: Array, classes: Iterable[object], noise: int) -> LabeledSet:
    values = list(classes)
    if len(values) != len(X):
        raise ValueError(f"{len(X)} rows, but {len(values)} classes")
    order = {value: place for place, value in enumerate(sorted({v for v in values if v != noise}, key=str))}
    return LabeledSet(name, X, np.array([order.get(value, -1) for value in values], dtype=np.intp))
