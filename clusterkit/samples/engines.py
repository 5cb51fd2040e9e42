"""The engines, which run passes over rows: the abstract class, and the engine of this machine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import AnyArray, Array, Labels
from clusterkit.numerics.threads import in_threads
from clusterkit.samples import memory
from clusterkit.samples.rows import Rows
from clusterkit.samples.sums import Addable, total
from clusterkit.samples.transform import block_plan

if TYPE_CHECKING:
    from clusterkit.samples.devices import Device

__all__ = ["Engine", "LocalEngine", "room_for_labels"]

Part = TypeVar("Part", bound=Addable)
Value = TypeVar("Value")

READ_BYTES = 16 * 1024**2
"""Bytes of neighbouring rows that are read at once: enough for the full speed of a disk, and three such pieces (one in
use, one being read, one handed over) are little memory."""

LABELS_SHARE = 8
"""Labels that take more than this fraction, 1 / 8, of the memory cap go to a temporary file instead of an array."""


class Engine(ABC):
    """Runs passes over rows; constructed without arguments, and registered by the hook ``clusterkit_engines``.

    Its name is that of the package whose collections it takes: an engine ``dask`` gets what ``dask.array`` and
    ``dask.dataframe`` make, and is imported for these only. Its rows may have ``place(row)``: where a row lies, in
    words that begin with a space, for the error about a value that is no number.
    """

    by_sample: ClassVar[str] = (
        "Or fit a sample and label the rest: model.fit(rows.gather(index)) for some row numbers, then "
        "model.predict(rows)"
    )
    """Advice for a composition that needs all rows at once: how to fit a sample of the engine's collections."""
    trains_pairs: ClassVar[bool] = False
    """Whether `of_pairs` and `named` are implemented, by which clusterkit-min-max trains on the device of the rows."""

    @abstractmethod
    def rows(self, X: object) -> Rows:
        """The collection as rows."""

    @abstractmethod
    def reduce(self, part: Callable[[slice, Array], Part], rows: Rows, width: int) -> Part:
        """One pass: the sum of ``part(slice, rows of the slice)`` over all blocks.

        Blocks are those of ``block_plan(rows.n, width, rows.dtype)``, and they are added in the one order of
        `clusterkit.samples.sums`, whoever computes them. `part` is a frozen callable that pickles.
        """

    @abstractmethod
    def blocks(self, rows: Rows, width: int) -> Iterator[tuple[slice, Array]]:
        """The rows of the same blocks, one after the other: for what cannot be added."""

    @abstractmethod
    def labels(self, label: Callable[[slice, Array], Labels], rows: Rows, width: int) -> Labels:
        """The labels of all rows, (n,), block by block; an array of the engine's kind, lazy if its arrays are."""

    @property
    def in_process(self) -> bool:
        """True if this process computes all blocks itself: per-row values can be kept in memory between passes."""
        return True

    def there(self, function: Callable[[slice, Array], Value], device: Device) -> Callable[[slice, Array], Value]:
        """The function of blocks on the device of whichever process computes the block."""
        return function

    def placed(self, labels: Labels, rows: Rows) -> Labels:
        """Labels (n,) of rows that were so few that they were fitted in memory, as the engine's kind of array."""
        return labels

    def of_pairs(
        self, function: Callable[[Array, Array], Value], rows: Rows, part_of: Labels, pairs: Sequence[tuple[int, int]]
    ) -> list[Value]:
        """``function(rows of part a, rows of part b)`` for each pair (a, b), where `part_of`, (n,), numbers the parts.

        The rows of a part, in their order, are cut out once for all its pairs.
        """
        raise NotImplementedError(f"{type(self).__name__} computes nothing of pairs of parts")

    def are_tables(self, X: object) -> bool:
        """Whether a collection is a table of columns of any kind, for `of_tables` and `rows_of_tables`."""
        return False

    def of_tables(self, function: Callable[[object], Value], X: object) -> list[Value]:
        """A function of each part of a table, a data frame in memory, in the order of the parts."""
        raise NotImplementedError(f"{type(self).__name__} has no tables")

    def rows_of_tables(
        self, function: Callable[[object], Array], X: object, width: int, sizes: Sequence[int] | None = None
    ) -> Rows:
        """The rows that a function makes of each part of a table, (rows of the part, width), float64.

        `sizes` are the rows of each part, where they are known.
        """
        raise NotImplementedError(f"{type(self).__name__} has no tables")

    def named(self, labels: Labels, names: AnyArray) -> AnyArray:
        """``names[labels]`` for labels that the engine made, as lazy as they are."""
        return names[labels]


@final
@attrs.frozen
class LocalEngine(Engine):
    """Runs the passes over rows that are read block by block: on all cores, while a thread reads the next blocks."""

    def rows(self, X: object) -> Rows:
        """The rows themselves."""
        return cast("Rows", X)

    def reduce(self, part: Callable[[slice, Array], Part], rows: Rows, width: int) -> Part:
        """One pass; nothing but the sums and a few blocks is kept."""
        return total(self._computed(part, rows, width))

    def _computed(
        self, function: Callable[[slice, Array], Value], rows: Rows, width: int
    ) -> Iterator[tuple[slice, Value]]:
        """The function of every block, in the order of the blocks."""
        return in_threads(function, self.blocks(rows, width))

    def blocks(self, rows: Rows, width: int) -> Iterator[tuple[slice, Array]]:
        """The blocks of a pass with their rows; while they are used, a thread reads the next ones."""
        pieces = _pieces(rows, width)
        with ThreadPoolExecutor(1, thread_name_prefix="clusterkit-read") as pool:
            piece = next(pieces, None)
            ahead = None if piece is None else pool.submit(rows.read, _span(piece))
            while piece is not None and ahead is not None:
                X = ahead.result()
                following = next(pieces, None)
                ahead = None if following is None else pool.submit(rows.read, _span(following))
                first = piece[0].start
                for block in piece:
                    yield block, X[block.start - first : block.stop - first]
                piece = following

    def labels(self, label: Callable[[slice, Array], Labels], rows: Rows, width: int) -> Labels:
        """Labels (n,) in an array, or where that is too large in a memory map of a temporary file."""
        labels = room_for_labels(rows.n)
        for block, values in self._computed(label, rows, width):
            labels[block] = values
        return labels


def room_for_labels(n: int) -> Labels:
    """An array for n labels, or where that is too large a memory map of a temporary file."""
    if n * np.dtype(np.intp).itemsize <= memory.cap() // LABELS_SHARE:
        return np.empty(n, dtype=np.intp)
    # the file has no name: it is removed together with the array
    with TemporaryFile(prefix="clusterkit-labels-") as file:
        return np.memmap(file, dtype=np.intp, mode="w+", shape=(n,))


def _pieces(rows: Rows, width: int) -> Iterator[list[slice]]:
    """Neighbouring blocks that are read at once."""
    piece: list[slice] = []
    per_row = rows.d * rows.dtype.itemsize
    for block in block_plan(rows.n, width, rows.dtype):
        if piece and (block.stop - piece[0].start) * per_row > READ_BYTES:
            yield piece
            piece = []
        piece.append(block)
    if piece:
        yield piece


def _span(piece: list[slice]) -> slice:
    return slice(piece[0].start, piece[-1].stop)
