"""The two file formats of a data folder: CSV with a label column, and sparse npz."""

from __future__ import annotations

import gzip
import io
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clusterkit.datasets.dataset import Dataset

SUFFIXES = (".csv.gz", ".npz")
"""File name endings, in the order in which they are tried."""


def read_bytes(content: bytes, filename: str, *, name: str, description: str) -> Dataset:
    """Read a data set from the bytes of its file.

    Parameters
    ----------
    content : bytes
        The file.
    filename : str
        Name of the file; the ending decides the format, and errors mention the name.
    name, description : str
        Name and description of the data set.

    Returns
    -------
    Dataset
        Data and target as in the file.

    Raises
    ------
    ValueError
        If the content does not have the format.
    """
    try:
        if filename.endswith(".npz"):
            data, target = _read_npz(content)
            names = tuple(f"x{j}" for j in range(data.shape[1]))
        else:
            data, target, names = _read_csv(gzip.decompress(content).decode("utf-8"))
    except (ValueError, KeyError, EOFError, OSError, zlib.error) as error:
        raise ValueError(f"{filename} cannot be read: {error}") from error
    return Dataset(name=name, data=data, target=target, description=description, feature_names=names)


def _read_csv(text: str) -> tuple[NDArray[np.float64], NDArray[Any], tuple[str, ...]]:
    header, *lines = text.splitlines()
    names = tuple(header.split(","))
    if names[-1] != "label":
        raise ValueError(f"the last column is {names[-1]!r}, not 'label'")
    if not lines:
        raise ValueError("there are no rows")
    parts = [line.rpartition(",") for line in lines]
    cells = [_fill_empty(features) for features, _, _ in parts]
    data = np.loadtxt(cells, dtype=np.float64, delimiter=",", comments=None, ndmin=2)
    if data.shape != (len(lines), len(names) - 1):
        raise ValueError(f"{len(lines)} rows under {len(names)} names do not make a table {data.shape}")
    return data, _as_labels([label for _, _, label in parts]), names[:-1]


def _fill_empty(line: str) -> str:
    # Only lines with empty cells are split: loadtxt refuses these, but parses all others at the speed of C.
    if ",," in line or line.startswith(",") or line.endswith(","):
        return ",".join(cell or "nan" for cell in line.split(","))
    return line


def _as_labels(labels: list[str]) -> NDArray[Any]:
    if not all(labels):
        raise ValueError(f"row {labels.index('')} has no label")
    try:
        return np.array([int(label) for label in labels], dtype=np.int64)
    except ValueError:
        return np.array(labels)


def _read_npz(content: bytes) -> tuple[Any, NDArray[Any]]:
    from scipy.sparse import csr_matrix

    with np.load(io.BytesIO(content), allow_pickle=False) as parts:
        indices, shape = parts["indices"].astype(np.int32), tuple(parts["shape"].tolist())
        data = csr_matrix((parts["data"].astype(np.float64), indices, parts["indptr"]), shape=shape)
        labels = parts["labels"]
    return data, labels.astype(np.int64) if labels.dtype.kind in "iu" else labels
