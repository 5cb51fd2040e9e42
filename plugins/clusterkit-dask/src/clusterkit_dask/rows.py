"""Rows of Dask collections and of files that workers read, in units of whole groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import cast, final

import attrs
import dask
import numpy as np
from dask.delayed import Delayed, delayed

from clusterkit._typing import Array, Indices, Labels
from clusterkit.samples import sums
from clusterkit.samples.rows import Rows
from clusterkit.samples.transform import block_plan
from clusterkit_dask import resources, tasks
from clusterkit_dask.computing import computed
from clusterkit_dask.pieces import Pieces

__all__ = ["DaskRows", "literal"]

UNIT_BYTES = 32 * 1024**2
"""Groups of few columns are joined to units up to this size, so that a task is worth its overhead of a millisecond."""

UNITS_PER_THREAD = 4
"""Groups are joined to units only as long as each thread gets this many: the last ones then leave few threads idle."""


def literal(thing: object) -> Delayed:
    """A thing that many tasks take, as one task of its own: it is sent once, and can be made again if it is lost."""
    return delayed(thing, pure=False, traverse=False)


@final
@attrs.define(eq=False)
class DaskRows:
    """Samples as the engine reads them: the state is what was counted and what is kept in memory for the fit.

    Parameters
    ----------
    source : Pieces or Rows
        Partitions of a collection, or rows that every worker can read.
    """

    source: Pieces | Rows
    _kept: tuple[Delayed, ...] | None = attrs.field(init=False, default=None, repr=False)
    _sent: Delayed | None = attrs.field(init=False, default=None, repr=False)
    _units: tuple[tuple[tuple[int, int], ...], ...] | None = attrs.field(init=False, default=None, repr=False)

    @property
    def n(self) -> int:
        """Number of rows; the first use counts them where the partitions do not know."""
        if isinstance(self.source, Pieces):
            self.source = self.source.sized()
            return sum(self.sizes)
        return self.source.n

    @property
    def d(self) -> int:
        """Number of columns."""
        return self.source.d

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64."""
        return self.source.dtype

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns of a frame or of a file."""
        return self.source.names

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each partition, of those that are counted; none for a file."""
        return (self.source.sizes or ()) if isinstance(self.source, Pieces) else ()

    @property
    def counted(self) -> bool:
        """Whether the number of rows is known without a pass."""
        return not (isinstance(self.source, Pieces) and self.source.sizes is None)

    def place(self, row: int) -> str:
        """Position of a row, as text; empty for a file."""
        for number, end in enumerate(accumulate(self.sizes)):
            if row < end:
                return f" (row {row - end + self.sizes[number]} of partition {number})"
        return ""

    def read(self, rows: slice) -> Array:
        """Neighbouring rows, (b, d), computed and brought here."""
        if self._kept:
            sizes = [unit[-1][1] - unit[0][0] for unit in self.units()]
            wanted = delayed(tasks.joined, pure=False)(*self._between(self._kept, sizes, None)(rows.start, rows.stop))
        elif isinstance(self.source, Pieces):
            wanted = delayed(tasks.joined, pure=False)(*self._between_partitions()(rows.start, rows.stop))
        else:
            wanted = self._read(rows.start, rows.stop)
        (X,) = computed(wanted)
        return cast("Array", X)

    def gather(self, index: Indices) -> Array:
        """Some rows, (m, d); each unit that has one of them is computed once."""
        wanted, place = np.unique(np.asarray(index, dtype=np.intp), return_inverse=True)
        picked = []
        for unit, source in zip(self.units(), self.sources(), strict=True):
            inside = wanted[(wanted >= unit[0][0]) & (wanted < unit[-1][1])]
            if len(inside):
                picked.append(delayed(tasks.chosen, pure=False)(source, unit[0][0], inside))
        parts = [np.empty((0, self.d), dtype=self.dtype), *cast("tuple[Array, ...]", computed(*picked))]
        return np.concatenate(parts)[place]

    def cut(self, part_of: Labels) -> dict[int, Delayed]:
        """The rows of each part, in their order; each unit is read once for all parts.

        Parameters
        ----------
        part_of : ndarray of shape (n,)
            Number >= 0 of the part of each row.
        """
        small = part_of.astype(np.min_scalar_type(int(part_of.max(initial=0))), copy=False)
        picked: dict[int, list[Delayed]] = {}
        for unit, source in zip(self.units(), self._kept or self._arrays(), strict=True):
            numbers = small[unit[0][0] : unit[-1][1]]
            sent = literal(numbers)
            for part in np.unique(numbers).tolist():
                picked.setdefault(part, []).append(delayed(tasks.of_part, pure=False)(source, sent, part))
        return {part: delayed(tasks.stacked, pure=False)(pieces) for part, pieces in picked.items()}

    def keep(self) -> None:
        """Keep the rows in the memory of the workers from here on, where that is wanted; it ends with this object."""
        if self._kept is None:
            if resources.keeps(self.n * self.d * self.dtype.itemsize):
                self._kept = dask.persist(*self._arrays())
            else:
                self._kept = ()

    def units(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The groups of each unit: a number that divides `FAN_IN`, so that units meet at the nodes of the tree."""
        if self._units is None:
            groups = [(rows.start, rows.stop) for rows in sums.groups(self.n)]
            size = self._groups_of_a_unit(len(groups))
            self._units = tuple(tuple(groups[first : first + size]) for first in range(0, len(groups), size))
        return self._units

    def spans(self, width: int, block_rows: Callable[[int, np.dtype], int] | None = None) -> tuple[tasks.Span, ...]:
        """The units with the length of their blocks for so many features; `block_rows` gives another one than usual."""
        step = self.step(width) if block_rows is None else min(sums.GROUP, block_rows(max(width, self.d), self.dtype))
        return tuple(tasks.Span(unit, step) for unit in self.units())

    def step(self, width: int) -> int:
        """Rows of every block of so many features, but of the last one of a group."""
        first = next(iter(block_plan(sums.GROUP, width, self.dtype)))
        length: int = first.stop - first.start
        return length

    @property
    def made_again(self) -> bool:
        """Whether a pass makes the partitions again, so that few of them should be in memory at a time."""
        return not self._kept and isinstance(self.source, Pieces)

    def sources(self, original: bool = False) -> tuple[Delayed | tasks.Tables, ...]:
        """Source of each unit: its rows as an array, the file, or the partitions and the rows to take of them.

        Parameters
        ----------
        original : bool, default False
            Leave out what is kept in memory, which then may go.
        """
        if self._kept and not original:
            return self._kept
        if isinstance(self.source, Pieces):
            return self._tables()
        return (self._file(),) * len(self.units())

    def _arrays(self) -> tuple[Delayed, ...]:
        """The rows of each unit as an array, which is a task of its own."""
        if isinstance(self.source, Pieces):
            return tuple(delayed(tasks.joined, pure=False)(*tables) for tables in self._tables())
        return tuple(self._read(unit[0][0], unit[-1][1]) for unit in self.units())

    def _tables(self) -> tuple[tasks.Tables, ...]:
        """The partitions that each unit lies in."""
        between = self._between_partitions()
        return tuple(between(unit[0][0], unit[-1][1]) for unit in self.units())

    def _between_partitions(self) -> Callable[[int, int], tasks.Tables]:
        """Neighbouring rows out of the partitions."""
        assert isinstance(self.source, Pieces)
        pieces = self.source.sized()
        assert pieces.sizes is not None
        return self._between(pieces.parts, pieces.sizes, self.names)

    def _read(self, start: int, stop: int) -> Delayed:
        """Neighbouring rows of the file."""
        return delayed(tasks.read, pure=False)(self._file(), start, stop)

    def _file(self) -> Delayed:
        """The file, as one thing for all tasks."""
        if self._sent is None:
            self._sent = literal(self.source)
        return self._sent

    def _between(
        self, parts: Sequence[Delayed], sizes: Sequence[int], names: tuple[str, ...] | None
    ) -> Callable[[int, int], tasks.Tables]:
        """A function that finds neighbouring rows in tables with so many rows each."""
        ends = np.cumsum(sizes, dtype=np.int64)

        def between(start: int, stop: int) -> tasks.Tables:
            tables, cuts = [], []
            for number in range(int(np.searchsorted(ends, start, side="right")), len(ends)):
                end = int(ends[number])
                begin = end - sizes[number]
                if begin >= stop:
                    break
                if sizes[number]:
                    tables.append(parts[number])
                    cuts.append((number, sizes[number], max(start - begin, 0), min(stop, end) - begin))
            return tables, cuts, self.d, self.dtype, names

        return between

    def _groups_of_a_unit(self, n_groups: int) -> int:
        """A power of two up to `FAN_IN`."""
        size, threads = 1, resources.threads()
        group_bytes = sums.GROUP * self.d * self.dtype.itemsize
        stored_together = _rows_stored_together(self.source)
        while size < sums.FAN_IN:
            thin = 2 * size * group_bytes <= UNIT_BYTES and n_groups >= 2 * size * UNITS_PER_THREAD * threads
            if not thin and size * sums.GROUP >= stored_together:
                break
            size *= 2
        return size


def _rows_stored_together(source: Pieces | Rows) -> int:
    """Rows of the largest row group of Parquet files, which is decoded from its start; 0 of all else."""
    ends: tuple[int, ...] = getattr(source, "ends", ())
    return max((stop - start for start, stop in pairwise(ends)), default=0)
