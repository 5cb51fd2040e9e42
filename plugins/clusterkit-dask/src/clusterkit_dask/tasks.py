"""Tasks that run on the workers: pure functions of their arguments, so that a lost task is simply run again."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.errors import InvalidData
from clusterkit.numerics.threads import limited_threads
from clusterkit.samples import sums
from clusterkit.samples.array_libraries import table_columns, to_host
from clusterkit.samples.devices import Device
from clusterkit.samples.rows import Rows
from clusterkit.samples.sums import Addable, add_left_to_right
from clusterkit.samples.transform import device_plan

__all__ = [
    "OnWorkersDevice",
    "Span",
    "Tables",
    "chosen",
    "device_of_worker",
    "joined",
    "labels_of_piece",
    "labels_of_span",
    "numbers",
    "of_pair",
    "of_part",
    "one_of",
    "read",
    "stacked",
    "sum_of_nodes",
    "sums_of_span",
]

Part = TypeVar("Part", bound=Addable)
Value = TypeVar("Value")

READ_BYTES = 16 * 1024**2
"""Bytes of neighbouring rows that a worker reads from a file at once, as the engine of one machine does."""


Tables = tuple[Sequence[object], Sequence[tuple[int, int, int, int]], int, np.dtype, tuple[str, ...] | None]
"""The arguments of `joined`, where the task that uses the rows joins them itself: no task of its own holds a copy."""


@final
@attrs.frozen
class Span:
    """Neighbouring groups of rows and the length of their blocks: the plan of the client, who alone knows it.

    Parameters
    ----------
    groups : tuple of (int, int)
        First row and end of each group.
    step : int
        Rows of a block; the last one of a group may have fewer.
    """

    groups: tuple[tuple[int, int], ...]
    step: int

    @property
    def start(self) -> int:
        """First row."""
        return self.groups[0][0]

    @property
    def stop(self) -> int:
        """End of the last group."""
        return self.groups[-1][1]

    def blocks(self, group: tuple[int, int]) -> Iterator[slice]:
        """The blocks of a group."""
        start, stop = group
        for first in range(start, stop, self.step):
            yield slice(first, min(stop, first + self.step))


def numbers(piece: object, dtype: np.dtype, names: tuple[str, ...] | None, number: int) -> Array:
    """A partition as numbers, (m, d): an array, or a frame of pandas whose missing values become nan.

    Raises
    ------
    InvalidData
        If a column holds something else than numbers, although the type of the collection says so.
    """
    try:
        if hasattr(piece, "to_numpy"):
            table: Array = piece.to_numpy(dtype=dtype, na_value=np.nan)
        else:
            table = np.asarray(piece, dtype=dtype)
    except (TypeError, ValueError) as error:
        columns = "" if names is None else f" with the columns {', '.join(names)[:200]}"
        raise InvalidData(f"partition {number}{columns} is no table of numbers: {error}") from error
    return np.require(table, requirements=["C", "A"])


def joined(
    pieces: Sequence[object],
    cuts: Sequence[tuple[int, int, int, int]],
    d: int,
    dtype: np.dtype,
    names: tuple[str, ...] | None,
) -> Array:
    """Neighbouring rows out of partitions, (b, d).

    Parameters
    ----------
    pieces : sequence
        The partitions: arrays, or frames.
    cuts : sequence of (int, int, int, int)
        For each partition its number, its number of rows by the plan, and the first row and the end of the rows to
        take.
    d : int
        Columns.
    dtype : numpy dtype
    names : tuple of str or None
        Names of the columns.

    Raises
    ------
    InvalidData
        If a partition has another shape than when the rows were counted, or is no table of numbers.
    """
    taken = [np.empty((0, d), dtype=dtype)]
    for piece, (number, rows, start, stop) in zip(pieces, cuts, strict=True):
        table = numbers(piece, dtype, names, number)
        if table.shape != (rows, d):
            raise InvalidData(
                f"partition {number} has the shape {table.shape}, but {(rows, d)} when the rows were counted; the "
                "graph of the collection must give the same rows each time"
            )
        taken.append(table[start:stop])
    if len(taken) == 2:
        return np.ascontiguousarray(taken[1])
    return np.concatenate(taken)


def read(rows: Rows, start: int, stop: int) -> Array:
    """Neighbouring rows of a file, (b, d)."""
    # a copy has a reading position of its own: tasks of a worker may share the object
    return copy.copy(rows).read(slice(start, stop))


def sums_of_span(
    part: Callable[[slice, Array], Part], source: Array | Rows | Tables, span: Span, close: bool
) -> list[Part]:
    """The sums of the groups of a span, each from left to right; if `close`, the one sum of all of them."""
    with limited_threads(0):
        blocks = _Blocks(source, span)
        totals = (add_left_to_right(part(block, X) for block, X in blocks.of(group)) for group in span.groups)
        return [add_left_to_right(totals)] if close else list(totals)


def one_of(totals: Sequence[Part], number: int) -> list[Part]:
    """One of the totals of a span, so that they travel one by one."""
    return [totals[number]]


def sum_of_nodes(nodes: Sequence[Sequence[Part]]) -> list[Part]:
    """One node of the tree: the sum of its neighbours in their order."""
    return [add_left_to_right(total for node in nodes for total in node)]


def labels_of_span(label: Callable[[slice, Array], Labels], source: Array | Rows | Tables, span: Span) -> Labels:
    """The labels of the rows of a span."""
    with limited_threads(0):
        blocks = _Blocks(source, span)
        values = [label(block, X) for group in span.groups for block, X in blocks.of(group)]
    return np.concatenate(values).astype(np.intp, copy=False)


def labels_of_piece(
    label: Callable[[slice, Array], Labels],
    piece: object,
    step: int,
    dtype: np.dtype,
    names: tuple[str, ...] | None,
    number: int,
) -> Labels:
    """The labels of a partition whose place among the rows is not known, in blocks from its first row on."""
    X = numbers(piece, dtype, names, number)
    with limited_threads(0):
        starts = range(0, len(X), step)
        values = [label(slice(first, min(len(X), first + step)), X[first : first + step]) for first in starts]
    return np.concatenate([np.empty(0, dtype=np.intp), *values]).astype(np.intp, copy=False)


def chosen(source: Array | Rows | Tables, offset: int, index: Indices) -> Array:
    """Some rows by their numbers, of which the source begins with `offset`."""
    if isinstance(source, tuple):
        source = joined(*source)
    if isinstance(source, np.ndarray):
        return source[index - offset]
    return copy.copy(source).gather(index)


def of_part(source: Array, part_of: Labels, part: int) -> Array:
    """The rows of a unit that belong to a part."""
    return source[part_of == part]


def stacked(pieces: Sequence[Array]) -> Array:
    """The rows of a part out of all units."""
    return np.concatenate(pieces)


def of_pair(function: Callable[[Array, Array], Value], one: Array, other: Array) -> Value:
    """A function of the rows of two parts."""
    with limited_threads(0):
        return function(one, other)


def _in_place(source: Array | Rows | Tables) -> Array | Rows:
    """Rows whose numbers lie where numbers of their size may lie.

    Data from another worker may begin anywhere in a message. Products of such arrays are made of copies in another
    order, and then round otherwise.
    """
    if isinstance(source, tuple):
        return joined(*source)
    return np.require(source, requirements=["C", "A"]) if isinstance(source, np.ndarray) else source


@final
@attrs.frozen(eq=False)
class _Blocks:
    """The rows of the blocks of a span, from an array of its rows or from a file."""

    source: Array | Rows = attrs.field(converter=_in_place)
    span: Span
    _own: list[Rows] = attrs.field(init=False, factory=list)

    def of(self, group: tuple[int, int]) -> Iterator[tuple[slice, Array]]:
        """The blocks of a group with their rows."""
        if isinstance(self.source, np.ndarray):
            offset = self.span.start
            for block in self.span.blocks(group):
                yield block, self.source[block.start - offset : block.stop - offset]
            return
        if not self._own:  # a copy has a reading position of its own, which goes on from group to group
            self._own.append(copy.copy(self.source))
        rows = self._own[0]
        most = max(1, READ_BYTES // max(1, rows.d * rows.dtype.itemsize) // self.span.step) * self.span.step
        for first in range(*group, most):
            end = min(group[1], first + most)
            X = rows.read(slice(first, end))
            for block in self.span.blocks((first, end)):
                yield block, X[block.start - first : block.stop - first]


VISIBLE = "CUDA_VISIBLE_DEVICES"
"""Variable by which whoever starts the workers gives each of them devices, its own first."""


@final
@attrs.frozen(eq=False)
class OnWorkersDevice:
    """The function of a block, which is sent to the device of the worker; what it gives comes back to the worker.

    Parameters
    ----------
    function : callable
        Row slice and rows to a part or to labels; written for devices.
    device : Device
        Device of the workers; without a number each worker has its own.
    """

    function: Callable[[slice, Array], object]
    device: Device

    def __call__(self, rows: slice, X: Array) -> object:
        """A part with all its sums on the host, or labels there."""
        answer: Any = self.function(rows, device_of_worker(self.device).put(X))
        return to_host(answer)

    def block_rows(self, width: int, dtype: np.dtype) -> int:
        """Rows of a block of so many features: more than a processor has at once."""
        first = next(iter(device_plan(sums.GROUP, max(width, table_columns(self.function)), dtype)))
        return int(first.stop - first.start)


def device_of_worker(device: Device) -> Device:
    """A device without a number, as the one of this worker: by its number, unless somebody else has dealt them out."""
    if device.name != "cuda" or os.environ.get(VISIBLE):
        return device
    try:
        from distributed import get_worker

        number = int(get_worker().name)
    except (ImportError, ValueError, TypeError):  # the threads of this process, or a worker with a name in words
        return device
    count = _count(device)
    return attrs.evolve(device, name=f"cuda:{number % count}") if count else device


def _count(device: Device) -> int:
    """How many devices the library sees."""
    from importlib import import_module

    library = import_module(device.library)
    counted = library.cuda.device_count() if device.library == "torch" else library.cuda.runtime.getDeviceCount()
    return int(counted)
