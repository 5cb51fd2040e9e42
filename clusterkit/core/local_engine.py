"""The engine of this machine: blocks on all cores, the next ones read ahead by a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryFile
from typing import TypeVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core import memory
from clusterkit.core.block_threads import in_threads
from clusterkit.core.rows import Rows
from clusterkit.core.sums import Addable, total
from clusterkit.core.transform import block_plan

__all__ = ["LocalEngine", "room_for_labels"]

Part = TypeVar("Part", bound=Addable)
Value = TypeVar("Value")

READ_BYTES = 16 * 1024**2
"""Bytes of neighbouring rows that are read at once: enough for the full speed of a disk, and three such pieces (one in
use, one being read, one handed over) are little memory."""

LABELS_SHARE = 8
"""Labels that take more than this part of the memory cap go to a temporary file instead of an array."""


@final
@attrs.frozen
class LocalEngine:
    """Runs the passes of a fit over rows that are read block by block."""

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
    # the file has no name: it goes when the array goes
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
