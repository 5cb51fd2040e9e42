"""A sample of the rows of a table that is the same in whatever order, and in whatever pieces, the rows come."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import final

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import AnyArray
from clusterkit.numerics.selection import mixed
from clusterkit.tables.reading.frames import MICROSECONDS, NA, NONE, Column, as_level

MOST_ROWS = 2000
"""Largest number of rows that are kept while a table is read: four times those of `clusterkit.tables.preparing.plans`,
which are chosen among them when it is known which columns are used."""

MOST_CELLS = 4_000_000
"""Largest number of cells of these rows: 32 MiB of numbers, and some times that of texts."""

Keys = NDArray[np.uint64]

GAP = np.uint64(0x9E3779B97F4A7C15)
"""Value of a gap before it is hashed: an odd number without a pattern, which is no number that people write."""


@final
@attrs.frozen(eq=False)
class RowSample:
    """The different rows with the smallest hashes of their cells.

    A hash has 64 bits and depends on the cells and on the names of the columns alone: not on the process, the platform,
    or the order of rows and columns. Rows that are equal are kept once.

    Parameters
    ----------
    columns : tuple of Column
        All columns of the table, cut to these rows.
    keys : ndarray of shape (rows,), uint64
        The hashes, ascending.

    Notes
    -----
    O(n d) for a block of n rows and d columns, and a sort of n numbers.

    Examples
    --------
    >>> from clusterkit.tables.reading.frames import columns_of
    >>> blocks = [columns_of({"a": np.array(values)}) for values in ([3.0, 1.0], [2.0, 1.0])]
    >>> both = RowSample.of(blocks[0]) + RowSample.of(blocks[1])
    >>> sorted(both.columns[0].values.tolist())
    [1.0, 2.0, 3.0]
    """

    columns: tuple[Column, ...]
    keys: Keys

    @classmethod
    def of(cls, columns: Sequence[Column]) -> RowSample:
        """The sample of a block of rows."""
        return cls(tuple(columns), _keys(columns))._smallest()

    def __add__(self, other: RowSample) -> RowSample:
        """The sample of both blocks together, whose columns are of the same kinds."""
        columns = tuple(_joined(a, b) for a, b in zip(self.columns, other.columns, strict=True))
        return RowSample(columns, np.concatenate([self.keys, other.keys]))._smallest()

    def _smallest(self) -> RowSample:
        keys, rows = np.unique(self.keys, return_index=True)
        most = max(1, min(MOST_ROWS, MOST_CELLS // len(self.columns)))
        return RowSample(tuple(column.take(rows[:most]) for column in self.columns), keys[:most])


def _keys(columns: Sequence[Column]) -> Keys:
    """The hash of each row."""
    keys = np.zeros(len(columns[0].values), dtype=np.uint64)
    for column in columns:
        keys += mixed(_cells(column) ^ _key_of_text(column.name))
    return keys


def equal_rows(columns: Sequence[Column]) -> int:
    """Number of rows whose cells are equal to those of another row; a gap is equal to a gap, whatever word it is.

    Examples
    --------
    >>> a, b = np.array([1.0, np.nan, np.nan, 1.0]), np.array(["x", "x", None, "x"], dtype=object)
    >>> equal_rows([Column("a", "number", a)]), equal_rows([Column("a", "number", a), Column("b", "text", b)])
    (4, 2)
    """
    counts = np.unique(_keys([attrs.evolve(column, words=None) for column in columns]), return_counts=True)[1]
    return int(counts[counts > 1].sum())


def _cells(column: Column) -> Keys:
    """A number of 64 bits for each cell; equal cells have equal ones."""
    gaps = column.missing()
    if column.kind in ("number", "truth"):
        keys = (column.values.astype(np.float64) + 0.0).view(np.uint64)  # -0.0 + 0.0 is 0.0
    elif column.kind == "date":
        keys = column.values.astype(MICROSECONDS).view(np.uint64)
    else:
        known: dict[object, int] = {cell: int(_key_of_text(str(cell))) for cell in set(column.values)}
        keys = np.fromiter((known[cell] for cell in column.values), dtype=np.uint64, count=len(column.values))
    keys[gaps] = GAP
    if column.words is not None:
        for i, word in enumerate(column.words):
            if word is not None and word.upper() in (NA, NONE.upper()):  # texts that may be levels
                keys[i] = _key_of_text(as_level(word))
    return keys


def _key_of_text(text: str) -> np.uint64:
    """The hash of a text."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def _joined(one: Column, other: Column) -> Column:
    """The cells of both; where one has gaps only, of the kind of the other."""
    if one.kind != other.kind:
        if other.missing().all():
            other = attrs.evolve(one, values=_gaps(one, len(other.values)), words=other.words)
        else:
            one = attrs.evolve(other, values=_gaps(other, len(one.values)), words=one.words)
    words = None
    if one.words is not None or other.words is not None:
        parts = [
            np.full(len(its.values), None, dtype=object) if its.words is None else its.words for its in (one, other)
        ]
        words = np.concatenate(parts)
    return attrs.evolve(one, values=np.concatenate([one.values, other.values]), words=words)


def _gaps(column: Column, n: int) -> AnyArray:
    """Gaps, as a column of this kind has them."""
    if column.kind in ("number", "truth"):
        return np.full(n, np.nan)
    if column.kind == "date":
        return np.full(n, np.datetime64("NaT", "us"), dtype=MICROSECONDS)
    return np.full(n, None, dtype=object)
