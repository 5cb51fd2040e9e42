"""Files that the workers read themselves."""

from __future__ import annotations

import os
from collections.abc import Sequence

from clusterkit.errors import InvalidData
from clusterkit.tables.reading import opening
from clusterkit_dask.rows import DaskRows

__all__ = ["open"]


def open(source: str | os.PathLike[str], columns: Sequence[str] | None = None) -> DaskRows:
    """Samples in files, to be fitted by Dask: each task reads its own rows from the files.

    Parameters
    ----------
    source : str or path
        Source as in `clusterkit.open`: a Parquet file, a folder of them or a pattern, ``x.npy``, ``x.zarr``. All
        workers must find the files under this path.
    columns : sequence of str, optional
        Columns of Parquet files to read, in this order; default all.

    Returns
    -------
    DaskRows
        Rows for `fit` and `predict` of a recipe.

    Raises
    ------
    InvalidData
        If there is no such file, it holds something else than a table of numbers, or `source` is no path.

    Examples
    --------
    >>> import numpy as np, os, tempfile, clusterkit_dask
    >>> path = os.path.join(tempfile.mkdtemp(), "x.npy")
    >>> np.save(path, np.zeros((1000, 3), dtype=np.float32))
    >>> rows = clusterkit_dask.open(path)
    >>> rows.n, rows.d
    (1000, 3)
    """
    if not isinstance(source, str | os.PathLike):
        raise InvalidData(
            f"workers open files by their path, got {type(source).__name__}; dask.array.from_array takes objects with "
            "a shape, a type and slices"
        )
    return DaskRows(opening.open(source, columns))
