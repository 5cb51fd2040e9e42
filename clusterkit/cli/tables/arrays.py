"""Tables that consist of arrays: NPY, Parquet, and data sets in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from clusterkit._typing import AnyArray, Array
from clusterkit.cli.tables.opened import MISSING, OpenedTable, TableError, is_number, numbered, refuse, unique
from clusterkit.core import memory

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

__all__ = ["ArrayTable", "npy", "parquet"]


class ArrayTable(OpenedTable):
    """A table whose columns are arrays.

    Parameters
    ----------
    title : str
        The name in messages.
    arrays : sequence of ndarray
        One for each column.
    names : sequence of str
        Of the columns; x1, x2, ... if there are none.
    """

    def __init__(self, title: str, arrays: Sequence[AnyArray], names: Sequence[str] = ()) -> None:
        self.title, self.arrays = title, arrays
        self.named = bool(names)
        self.names = unique(names) if names else numbered(len(arrays))

    def cells(self) -> list[list[str]]:
        """All columns of all rows as text."""
        return [[str(value) for value in row] for row in zip(*self.arrays, strict=True)]

    def numbers(self, chosen: list[int]) -> Array:
        """The chosen columns, (n, d); float32 if all of them are, else float64."""
        if not len(self.arrays[0]):
            raise TableError(f"{self.title} has no row of data")
        words: dict[int, str] = {}
        gaps: dict[int, str] = {}
        narrow = all(self.arrays[j].dtype == np.float32 for j in chosen)
        data = np.empty((len(self.arrays[0]), len(chosen)), dtype=np.float32 if narrow else np.float64)
        for position, j in enumerate(chosen):
            values = self.arrays[j]
            if values.dtype.kind in "iufb":
                data[:, position] = values
                bad = np.flatnonzero(~np.isfinite(data[:, position]))
            else:  # objects: text, decimals, or numbers with gaps
                bad = np.flatnonzero([not is_number(str(value)) for value in values])
                if not len(bad):
                    data[:, position] = [float(value) for value in values]
            # words and gaps apart: a word shows that the column has no numbers, so it is reported first
            for row in bad:
                gap = values[row] is None or str(values[row]).strip().lower() in MISSING
                where = f"column {self.names[j]!r}, row {row + 1}: {str(values[row])!r}"
                (gaps if gap else words).setdefault(j, where)
        refuse(self.title, self.names, words, gaps)
        return data


def npy(title: str) -> list[AnyArray]:
    """Columns of an NPY file. Pickled objects are refused, because reading them runs code."""
    try:
        array = np.load(title, allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # a damaged header may raise anything, and claim any size
        raise TableError(f"{title} is no NPY file of numbers: {error}") from None
    if not isinstance(array, np.ndarray):
        raise TableError(f"{title} is no NPY file of numbers: it is an archive of several arrays")
    if array.ndim != 2 or array.dtype.kind not in "iufb" or not array.shape[1]:
        raise TableError(f"{title}: needs real numbers in rows and columns, got {array.dtype} of shape {array.shape}")
    return list(array.T)


def parquet(title: str) -> tuple[list[AnyArray], list[str]]:
    """Columns of a Parquet file and their names."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise TableError(
            f"{title}: Parquet needs pyarrow; install clusterkit-toolkit with the extra 'parquet'"
        ) from None
    with open(title, "rb") as file:
        try:
            _check_size(pyarrow.parquet.ParquetFile(file).metadata, title)
            table = pyarrow.parquet.read_table(file)
        except TableError:
            raise
        except Exception as error:  # a damaged file may raise anything, OSError too
            raise TableError(f"{title} is no Parquet file: {error}") from None
    if not table.num_columns:
        raise TableError(f"{title} has no column")
    return [column.to_numpy() for column in table.columns], table.column_names


def _check_size(metadata: FileMetaData, title: str) -> None:
    """Refuse a Parquet file that would be too large when it is unpacked."""
    allowed = memory.unpacked_cap()
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    # columns of equal values are almost nothing in the file
    size = max(sum(group.total_byte_size for group in groups), 8 * metadata.num_rows * metadata.num_columns)
    if size > allowed:
        raise TableError(
            f"{title} has {memory.human(size)} when it is unpacked, above the cap of {memory.human(allowed)}. If that "
            f"is right, raise the cap: {memory.setting(memory.UNPACKED_VARIABLE, 2 * size)}"
        )
