"""Blocks on their way to a device: pinned memory is not filled again before what was in it has left."""

from __future__ import annotations

import sys
import types
import weakref
from contextlib import contextmanager

import numpy as np
import pytest

from clusterkit.samples import device_engine
from clusterkit.samples.device_engine import sent_ahead
from clusterkit.samples.devices import Device


class Tensor:
    """An array, perhaps one that is copied when somebody waits for it: as late as a device may do it."""

    def __init__(self, array, device="cpu"):
        self.array, self.device = array, device

    def numel(self):
        return self.array.size

    def numpy(self):
        return self.array

    def __getitem__(self, rows):
        return Tensor(self.array[rows])

    def view(self, shape):
        return Tensor(self.array.reshape(shape))

    def to(self, device, non_blocking):
        assert non_blocking
        block = Tensor(np.full_like(self.array, np.nan), device)
        stream = LATE["stream"]
        stream.append(lambda: block.array.__setitem__(..., self.array))
        return block

    def record_stream(self, stream):
        LATE["recorded"] += 1


LATE: dict = {}


class Event:
    """Done when the copies before it are done."""

    def record(self, stream):
        self.waiting = list(stream)
        stream.clear()

    def synchronize(self):
        while self.waiting:
            self.waiting.pop(0)()


class Stream(list):
    def __init__(self, device=None):
        super().__init__()

    def wait_event(self, event):
        event.synchronize()


@pytest.fixture
def torch(monkeypatch):
    """As much of torch as the transfer uses."""
    LATE.clear()
    LATE["recorded"] = 0
    pinned = []

    @contextmanager
    def stream(current_one):
        LATE["stream"] = current_one
        yield

    def empty(size, dtype, pin_memory):
        assert pin_memory
        pinned.append(size)
        return Tensor(np.empty(size, dtype=dtype))

    module = types.ModuleType("torch")
    module.float32, module.float64 = np.float32, np.float64
    module.device = str
    module.empty = empty
    module.pinned = pinned
    current = LATE["current"] = Stream()
    module.cuda = types.SimpleNamespace(Stream=Stream, Event=Event, stream=stream, current_stream=lambda d: current)
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_block_arrives_whole(torch, monkeypatch, dtype):
    monkeypatch.setattr(device_engine, "available", lambda: 1)
    X = np.random.default_rng(0).random((100, 3)).astype(dtype)
    plan = [slice(start, min(100, start + 15)) for start in range(0, 100, 15)]
    arrived = [
        (rows, block.array.copy()) for rows, block in sent_ahead(Device("torch", "cuda"), X.__getitem__, iter(plan))
    ]
    assert [rows for rows, _ in arrived] == plan
    for rows, block in arrived:
        assert block.dtype == dtype
        assert np.array_equal(block, X[rows])
    assert torch.pinned == [45, 45], "two pieces of pinned memory serve all blocks"
    assert LATE["recorded"] == len(plan)


def test_blocks_do_not_collect_on_a_device_that_computes_slowly(torch, monkeypatch):
    """A block is sent once the computations with the last but one are done, and one stream serves all passes."""
    monkeypatch.setattr(device_engine, "available", lambda: 1)
    monkeypatch.setattr(device_engine, "_streams", {})
    X, alive, most = np.random.default_rng(0).random((120, 3)), weakref.WeakSet(), []
    usual = Tensor.to

    def sent(self, device, non_blocking):
        block = usual(self, device, non_blocking)
        alive.add(block)
        most.append(len(alive))
        return block

    monkeypatch.setattr(Tensor, "to", sent)
    for _ in range(2):
        for _rows, block in sent_ahead(
            Device("torch", "cuda"), X.__getitem__, (slice(start, start + 10) for start in range(0, 120, 10))
        ):
            # the computation holds the block until the device has done it
            LATE["current"].append(lambda block=block: np.sum(block.array))
            del block
    assert max(most) <= 2
    assert len(device_engine._streams) == 1


def test_large_blocks_are_copied_by_several_threads(monkeypatch):
    monkeypatch.setattr(device_engine, "available", lambda: 3)
    X = np.random.default_rng(0).random((2**18, 3))
    target = np.empty_like(X)
    device_engine._copy(X, target)
    assert np.array_equal(target, X)


def test_no_blocks():
    assert list(sent_ahead(Device("torch", "cpu"), np.zeros((0, 2)).__getitem__, iter(()))) == []
