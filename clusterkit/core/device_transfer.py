"""Blocks of rows on their way to a device: while one is computed with, the next one is read and sent."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any, Protocol, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.devices import Device
from clusterkit.numerics.threads import available

__all__ = ["sent_ahead"]

COPIERS = 4
"""Threads that copy a block to pinned memory: one does not fill the bus to the device."""

STAGES = 2
"""Pinned pieces of memory: one is sent while the other is filled. As many blocks are on the device at once."""

_streams: dict[Device, Any] = {}
"""The stream of the copies to a device: one for all passes, because torch keeps the memory of a stream for it."""


class _Sender(Protocol):
    """What brings a block to a device, in a thread of its own; `arrived` is called by the thread that computes."""

    def send(self, X: Array) -> Any:
        """The block, perhaps still on its way."""

    def arrived(self, sent: Any) -> Any:
        """The block, which the device will not use before it is there."""

    def used(self) -> None:
        """Everything that is computed of the last block is asked for; called by the thread that computes."""


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
        """Nothing: memory that is given back is used again in the order of the calls."""


@final
class _Pinned:
    """Copies from pinned memory by a stream of their own, so that they run beside the products.

    Memory of the operating system may be moved or be on a disk, from which a device cannot read by itself: a copy of it
    waits for the processor, and no product runs beside it.
    """

    def __init__(self, device: Device) -> None:
        self._torch: Any = import_module("torch")
        self._handle = device.handle
        if device not in _streams:
            _streams[device] = self._torch.cuda.Stream(self._handle)
        self._stream = _streams[device]
        self._pieces: list[Any] = [None] * STAGES
        self._free: list[Any] = [None] * STAGES
        self._turn = 0
        self._used: deque[Any] = deque()

    def send(self, X: Array) -> tuple[Any, Any]:
        """The block on its way, and the event of its arrival."""
        torch, place = self._torch, self._turn
        self._turn = (place + 1) % STAGES
        if self._free[place] is not None:
            self._free[place].synchronize()  # what was in this piece has left
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
        block.record_stream(current)  # its memory is not given to another block before the products are done
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
