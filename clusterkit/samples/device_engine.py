"""The engine of a device: blocks go there, functions written for devices compute there, and small sums come back.

The engine stands in front of another engine, which reads the rows. A function that is not written against the namespace
of its block (`clusterkit.samples.array_libraries.has_array_api`) runs on the host. While a device computes with one
block, the next block is read and sent (`sent_ahead`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import chain
from typing import Any, ClassVar, Protocol, TypeVar, cast, final
from weakref import WeakKeyDictionary

import attrs
import numpy as np

from clusterkit._typing import AnyArray, Array, Indices, Labels
from clusterkit.errors import InvalidData
from clusterkit.numerics.threads import available
from clusterkit.samples.array_libraries import has_array_api, table_columns, to_host
from clusterkit.samples.devices import Device
from clusterkit.samples.engines import Engine, LocalEngine, room_for_labels
from clusterkit.samples.rows import Rows
from clusterkit.samples.sums import Addable, total_there
from clusterkit.samples.transform import device_plan

COPIERS = 4
"""Number of threads that copy a block to pinned memory: one does not fill the bus to the device."""

STAGES = 2
"""Number of pinned pieces of memory: one is sent while the other is filled. As many blocks are on the device at
once."""

_streams: dict[Device, Any] = {}
"""The stream of the copies to a device: one for all passes, because torch keeps the memory of a stream for it."""


class _Sender(Protocol):
    """Copies blocks to a device in a thread of its own; `arrived` is called by the thread that computes."""

    def send(self, X: Array) -> Any:
        """The block, perhaps still on its way."""

    def arrived(self, sent: Any) -> Any:
        """The block, which the device will not use before it is there."""

    def used(self) -> None:
        """Called by the thread that computes, when all computations with the last block have been started."""


def sent_ahead(device: Device, read: Callable[[slice], Array], plan: Iterator[slice]) -> Iterator[tuple[slice, Array]]:
    """The blocks of a plan on a device, with their rows.

    Parameters
    ----------
    device : Device
    read : callable
        Row slice to rows on the host, (b, d).
    plan : iterator of slice
    """
    sender = _sender(device)
    with ThreadPoolExecutor(1, thread_name_prefix="clusterkit-device") as pool:
        block = next(plan, None)
        ahead = None if block is None else pool.submit(_read_and_sent, sender, read, block)
        while block is not None and ahead is not None:
            sent = [ahead.result()]
            following = next(plan, None)
            ahead = None if following is None else pool.submit(_read_and_sent, sender, read, following)
            yield block, sender.arrived(sent.pop())  # whoever computes with it holds it alone
            sender.used()
            block = following


def _read_and_sent(sender: _Sender, read: Callable[[slice], Array], block: slice) -> Any:
    return sender.send(read(block))


def _sender(device: Device) -> _Sender:
    return _Pinned(device) if device.library == "torch" and device.name.startswith("cuda") else _Plain(device)


@final
@attrs.frozen
class _Plain:
    """Copies that are complete when the library returns."""

    device: Device

    def send(self, X: Array) -> Any:
        """The block on the device."""
        return self.device.put(X)

    def arrived(self, sent: Any) -> Any:
        """The block itself."""
        return sent

    def used(self) -> None:
        """Do nothing: freed memory is used again in the order of the calls."""


@final
class _Pinned:
    """Copies from pinned memory in a stream of their own, so that they run at the same time as the products.

    Pageable memory may be moved or be on a disk, and a device cannot read it by itself: its copy waits for the
    processor, and no product runs at the same time.
    """

    def __init__(self, device: Device) -> None:
        self._torch: Any = import_module("torch")
        self._handle = device.handle
        if device not in _streams:
            _streams[device] = self._torch.cuda.Stream(self._handle)
        self._stream = _streams[device]
        self._pieces: list[Any] = [None] * STAGES
        self._free: list[Any] = [None] * STAGES
        self._next = 0
        self._used: deque[Any] = deque()

    def send(self, X: Array) -> tuple[Any, Any]:
        """The block on its way, and the event of its arrival."""
        torch, place = self._torch, self._next
        self._next = (place + 1) % STAGES
        if self._free[place] is not None:
            self._free[place].synchronize()  # until the last block of this piece is copied
        piece = self._pieces[place]
        if piece is None or piece.numel() < X.size or piece.numpy().dtype != X.dtype:
            piece = torch.empty(X.size, dtype=getattr(torch, X.dtype.name), pin_memory=True)
            self._pieces[place] = piece
        filled = piece[: X.size].view(X.shape)
        _copy(X, filled.numpy())
        while self._used:  # a device that computes more slowly than blocks are sent would collect them
            self._used.popleft().synchronize()
        with torch.cuda.stream(self._stream):
            block = filled.to(self._handle, non_blocking=True)
            event = torch.cuda.Event()
            event.record(self._stream)
        self._free[place] = event
        return block, event

    def arrived(self, sent: tuple[Any, Any]) -> Any:
        """The block, for which the stream of the products waits."""
        block, event = sent
        current = self._torch.cuda.current_stream(self._handle)
        current.wait_event(event)
        block.record_stream(current)  # keeps its memory until the products are done
        return block

    def used(self) -> None:
        """Note the end of the computations with the last block."""
        event = self._torch.cuda.Event()
        event.record(self._torch.cuda.current_stream(self._handle))
        self._used.append(event)


def _copy(X: Array, target: Array) -> None:
    """Copy rows, by several threads where that is worth it; copies of numpy release the interpreter lock."""
    threads = min(COPIERS, available())
    if X.nbytes < 2**22 or threads == 1:
        np.copyto(target, X)
        return
    ends = np.linspace(0, len(X), threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda a, b: np.copyto(target[a:b], X[a:b]), ends[:-1], ends[1:]))


KEPT = 0.5
"""Share of the free memory of a device that rows from the host may stay in between passes. Products, tables of blocks
and the rows of other fits need the rest."""


@final
@attrs.define(eq=False)
class _KeptRows:
    """The first rows of a source on a device, one array: one pass fills it, later ones read it.

    Parameters
    ----------
    array : array of shape (r, d) or None
    known : int
        Number of rows that are there.
    """

    array: Any
    known: int = 0

    @classmethod
    def of(cls, rows: Rows, device: Device) -> _KeptRows:
        """Room for as many rows as fit into `KEPT` of the free memory."""
        free = device.free_bytes() or 0
        fitting = min(rows.n, int(KEPT * free) // max(1, rows.d * rows.dtype.itemsize))
        if not fitting:
            return cls(None)
        xp = device.xp
        try:
            return cls(xp.empty((fitting, rows.d), dtype=getattr(xp, rows.dtype.name), device=device.handle))
        except Exception:  # each library has an error of its own for memory in pieces that are too small
            return cls(None)

    def block(self, rows: slice) -> Any:
        """Rows of the source, if all of them are there; else None."""
        return self.array[rows.start : rows.stop, :] if rows.stop <= self.known else None

    def fill(self, rows: slice, X: Any) -> None:
        """Take in a block that follows what is there, as far as there is room."""
        if self.array is None or not rows.start <= self.known < rows.stop:
            return
        stop = min(rows.stop, int(self.array.shape[0]))
        if self.known < stop:
            self.array[self.known : stop, :] = X[self.known - rows.start : stop - rows.start, :]
            self.known = stop


A = TypeVar("A", bound=AnyArray)
Part = TypeVar("Part", bound=Addable)
Value = TypeVar("Value")

DENSE = "torch.strided"
"""Name that PyTorch gives to the layout of dense tensors; arrays of other libraries have no layout."""


@final
@attrs.frozen(eq=False)
class ArrayRows:
    """The rows of an array that lies on a device.

    Parameters
    ----------
    source : array of shape (n, d)
        Array of a library of the array API standard, float32 or float64.
    device : Device
    """

    source: AnyArray
    device: Device

    @classmethod
    def of(cls, samples: object) -> ArrayRows:
        """The rows of an array of numbers; all types but float32 become float64.

        Raises
        ------
        InvalidData
            If it is no table of real numbers.
        """
        X: Any = samples
        if (layout := str(getattr(X, "layout", DENSE))) != DENSE:
            raise InvalidData(
                f"X has the layout {layout}, and sparse samples have no path on a device; pass X.to_dense(), or a "
                "sparse matrix of scipy, which is fitted on the host"
            )
        if len(X.shape) != 2:
            raise InvalidData(
                f"Expected 2D array, got an array of shape {tuple(X.shape)} instead. Reshape your data: one row for "
                "each sample"
            )
        if X.shape[1] == 0:
            raise InvalidData(
                f"Found array with 0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 is required"
            )
        device = Device.of(X)
        xp = device.xp
        if (reason := device.why_not()) is not None:
            raise InvalidData(f"X lies on the device {device}, which makes no sums in float64 ({reason}); move it")
        if hasattr(X, "detach"):  # a tensor of PyTorch: no gradients needed
            X = X.detach()
        if xp.isdtype(X.dtype, "complex floating"):
            raise InvalidData("Complex data not supported: the samples must be real numbers")
        if X.dtype not in (xp.float32, xp.float64):
            X = xp.astype(X, xp.float64)
        return cls(X, device)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.source.shape[0])

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.source.shape[1])

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64."""
        return np.dtype(np.float32 if self.source.dtype == self.device.xp.float32 else np.float64)

    @property
    def names(self) -> None:
        """None: arrays have no names of columns."""
        return

    def block(self, rows: slice) -> Array:
        """Neighbouring rows on their device."""
        return cast("Array", self.source[rows.start : rows.stop, :])

    def read(self, rows: slice) -> Array:
        """A copy of neighbouring rows on the host, (b, d)."""
        return np.ascontiguousarray(to_host(self.block(rows)))

    def gather(self, index: Indices) -> Array:
        """A copy of some rows on the host, (m, d)."""
        numbers = self.device.put(np.array(index, dtype=np.int64))
        return np.ascontiguousarray(to_host(self.device.xp.take(self.source, numbers, axis=0)))

    def columns(self, index: Indices) -> ArrayRows:
        """A copy of some columns on the device."""
        numbers = self.device.put(np.array(index, dtype=np.int64))
        return ArrayRows(self.device.xp.take(self.source, numbers, axis=1), self.device)


@final
@attrs.frozen(eq=False)
class DeviceEngine(Engine):
    """Runs the passes of a fit on a device, over rows that lie there or that another engine reads.

    Rows that a pass has sent stay there for the next ones, as far as `KEPT` of the free memory holds them.

    Parameters
    ----------
    device : Device
    base : Engine
        Engine that reads the rows, and computes everything that is not written for a device.
    """

    device: Device
    base: Engine = attrs.field(factory=LocalEngine)
    _kept: WeakKeyDictionary[Rows, _KeptRows] = attrs.field(init=False, repr=False, factory=WeakKeyDictionary)

    by_sample: ClassVar[str] = (
        "Or compute on the host: clusterkit.config(device='cpu'), and for arrays of other libraries numpy.asarray(X)"
    )

    @property
    def in_process(self) -> bool:
        """Whether the base engine computes all blocks in this process."""
        return self.base.in_process

    @classmethod
    def of(cls, X: object) -> DeviceEngine:
        """The engine of an array that lies on a device."""
        return cls(Device.of(X))

    def rows(self, X: object) -> Rows:
        """The rows of an array of the device's library, or of what the other engine takes."""
        if type(X).__module__.partition(".")[0] == self.device.library:
            return ArrayRows.of(X)
        return self.base.rows(X)

    def are_tables(self, X: object) -> bool:
        """Whether the other engine reads tables of this kind."""
        return self.base.are_tables(X)

    def of_tables(self, function: Callable[[object], Value], X: object) -> list[Value]:
        """A function of each part of a table, on the host."""
        return self.base.of_tables(function, X)

    def rows_of_tables(
        self, function: Callable[[object], Array], X: object, width: int, sizes: Sequence[int] | None = None
    ) -> Rows:
        """The rows that a function makes of each part of a table, on the host."""
        return self.base.rows_of_tables(function, X, width, sizes)

    def placed(self, labels: Labels, rows: Rows) -> Labels:
        """Labels of a fit in memory, moved to the device of the rows."""
        if isinstance(rows, ArrayRows):
            return self.device.put(labels)
        return self.base.placed(labels, rows)

    def reduce(self, part: Callable[[slice, Array], Part], rows: Rows, width: int) -> Part:
        """One pass; computed on the device if `part` is written for it."""
        if not has_array_api(part):
            return self.base.reduce(part, rows, width)
        if not self.in_process:
            return self.base.reduce(self.base.there(part, self.device), rows, width)
        return total_there(self._computed(part, rows, width, keep=True))

    def blocks(self, rows: Rows, width: int) -> Iterator[tuple[slice, Array]]:
        """The blocks of a pass on the host."""
        return self.base.blocks(rows, width)

    def labels(self, label: Callable[[slice, Array], Labels], rows: Rows, width: int) -> Labels:
        """Labels (n,): on the device for rows that lie there, else on the host."""
        if isinstance(rows, ArrayRows):
            return self.values(label, rows, width)
        if not has_array_api(label):
            return self.base.labels(label, rows, width)
        if not self.in_process:
            return self.base.labels(self.base.there(label, self.device), rows, width)
        labels = room_for_labels(rows.n)
        for block, values in self._computed(label, rows, width):
            labels[block] = to_host(values)
        return labels

    def values(self, function: Callable[[slice, Array], A], rows: Rows, width: int) -> A:
        """The values of all rows, on the device of the rows: labels (n,) as int64, or a table (n, q)."""
        if not isinstance(rows, ArrayRows):
            computed = (
                self._computed(function, rows, width)
                if has_array_api(function)
                else self._on_host(function, rows, width)
            )
            return cast("A", np.concatenate([np.asarray(to_host(part)) for _, part in computed]))
        xp, parts = self.device.xp, []
        for _, values in self._computed(
            function if has_array_api(function) else _ByHost(function, self.device), rows, width
        ):
            whole = not xp.isdtype(values.dtype, "real floating")
            parts.append(xp.astype(values, xp.int64, copy=False) if whole else values)
        joined: A = xp.concat(parts, axis=0)
        return joined

    def _on_host(
        self, function: Callable[[slice, Array], Value], rows: Rows, width: int
    ) -> Iterator[tuple[slice, Value]]:
        """The function of every block on the host, in the order of the blocks."""
        for block, X in self.base.blocks(rows, width):
            yield block, function(block, X)

    def _computed(
        self, function: Callable[[slice, Array], Value], rows: Rows, width: int, *, keep: bool = False
    ) -> Iterator[tuple[slice, Value]]:
        """The function of every block, in the order of the blocks; while one is computed, the next one comes."""
        plan = device_plan(rows.n, max(width, rows.d, table_columns(function)), rows.dtype)
        with self.device.active():
            if isinstance(rows, ArrayRows):
                for block in plan:
                    yield block, function(block, rows.block(block))
                return
            stored = self._kept_of(rows, keep)
            ahead: list[slice] = []  # the first block that has to be sent
            for block in plan:
                if (X := stored.block(block)) is None:
                    ahead = [block]
                    break
                yield block, function(block, X)
            for block, X in sent_ahead(self.device, rows.read, chain(ahead, plan)):
                if keep:
                    stored.fill(block, X)
                value = function(block, X)
                del X  # frees memory for the block that is sent next
                yield block, value

    def _kept_of(self, rows: Rows, keep: bool) -> _KeptRows:
        """What is there of some rows. Rows that may be written, or that nothing can point to weakly, are never kept."""
        try:
            stored = self._kept.get(rows)
            if stored is None and keep and not hasattr(rows, "write"):
                stored = self._kept[rows] = _KeptRows.of(rows, self.device)
        except TypeError:
            stored = None
        return _KeptRows(None) if stored is None else stored


@final
@attrs.frozen(eq=False)
class _ByHost:
    """The values of a block by a function that is not written for devices: computed on the host, and moved back."""

    function: Callable[[slice, Array], Any]
    device: Device

    def __call__(self, rows: slice, X: Array) -> Any:
        """The values on the device of the block."""
        return self.device.put(np.asarray(self.function(rows, to_host(X))))
