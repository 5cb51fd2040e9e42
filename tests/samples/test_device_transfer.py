"""Blocks on their way to a device: pinned memory is not filled again before what was in it has left."""

from __future__ import annotations

import sys
import types
import weakref
from contextlib import contextmanager

import numpy as np
import pytest

from clusterkit import config, recipe
from clusterkit.errors import InvalidParameter
from clusterkit.samples import array_libraries, device_engine, transform
from clusterkit.samples.array_libraries import array_namespace, device_product
from clusterkit.samples.device_engine import DeviceEngine, sent_ahead
from clusterkit.samples.devices import Device
from clusterkit.samples.rows import RowsFile, SlicedRows
from clusterkit.samples.sums import Sums
from clusterkit.testing.compare import DEVICE


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


class Sent:
    """Rows of the host that note which of them are read."""

    def __init__(self, X):
        self._rows, self.seen = SlicedRows(X), []

    def __getattr__(self, name):
        return getattr(self._rows, name)

    def read(self, rows):
        self.seen.append((rows.start, rows.stop))
        return self._rows.read(rows)


class Added:
    """Part of a pass: the sum of all columns."""

    array_api = True

    def __call__(self, rows, X):
        return Sums.of(array_namespace(X).sum(X, axis=0))


@pytest.mark.parametrize(
    ("fitting", "later"), [(0, [0, 64, 128, 192]), (100, [64, 128, 192]), (128, [128, 192]), (10**6, [])]
)
def test_rows_stay_on_a_device_as_far_as_there_is_room(monkeypatch, fitting, later):
    pytest.importorskip("array_api_strict", reason="array-api-strict simulates the devices")
    monkeypatch.setattr(Device, "free_bytes", lambda self: int(fitting * 3 * 8 / device_engine.KEPT))
    monkeypatch.setattr(transform, "DEVICE_BLOCK_BYTES", 64 * 3 * 8)
    X = np.random.default_rng(0).normal(size=(200, 3))
    rows, engine = Sent(X), DeviceEngine(DEVICE)
    for expected in ([0, 64, 128, 192], later, later):
        rows.seen.clear()
        total = engine.reduce(Added(), rows, 3)
        np.testing.assert_allclose(total.arrays[0], X.sum(axis=0))
        assert [start for start, _ in rows.seen] == expected
    wider = engine.reduce(Added(), rows, 5)  # other blocks of the same rows
    np.testing.assert_allclose(wider.arrays[0], X.sum(axis=0))


def test_rows_that_may_be_written_do_not_stay_on_a_device(monkeypatch):
    pytest.importorskip("array_api_strict", reason="array-api-strict simulates the devices")
    monkeypatch.setattr(Device, "free_bytes", lambda self: 10**9)
    file, engine = RowsFile(5, 1, np.dtype(np.float64), "numbers"), DeviceEngine(DEVICE)
    for value in (1.0, 2.0):
        file.write(slice(0, 5), np.full((5, 1), value))
        assert engine.reduce(Added(), file, 1).arrays[0].tolist() == [5 * value]


def rounded_to_tf32(array):
    """Float32 numbers with the last 13 bits cut off, as the tensor cores cut them at worst."""
    return (np.ascontiguousarray(array).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def test_products_of_three_tf32_products_are_as_exact_as_the_page_says(monkeypatch):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(200, 64)).astype(np.float32), rng.normal(size=(64, 50)).astype(np.float32)

    def cut(a, b):  # sums in float64, so that nothing but the cut is seen
        return rounded_to_tf32(a).astype(np.float64) @ rounded_to_tf32(b).astype(np.float64)

    monkeypatch.setattr(array_libraries, "_tf32_product", cut)
    exact, scale = A.astype(np.float64) @ B.astype(np.float64), np.abs(A.astype(np.float64)) @ np.abs(B)
    assert (np.abs(cut(A, B) - exact) > 1e-5 * scale).any()
    with config(precision="tf32x3"):
        assert (np.abs(device_product(A, B) - exact) <= 1.2e-6 * scale).all()
    np.testing.assert_array_equal(device_product(A, B), A @ B)


def test_a_fit_of_three_tf32_products_has_the_labels_of_one_of_float32():
    pytest.importorskip("array_api_strict", reason="array-api-strict simulates the devices")
    X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32) + 4 * (np.arange(300) % 3)[:, None]
    fits = []
    for precision in ("float32", "tf32x3"):
        with config(device=str(DEVICE), precision=precision):
            fits.append(recipe("elm-kmeans", n_clusters=3, n_init=1, random_state=0).fit(X).labels_)
    np.testing.assert_array_equal(fits[0], fits[1])
    with pytest.raises(InvalidParameter, match="precision must be one of 'float32', 'tf32x3', got 'half'"):
        config(precision="half")
