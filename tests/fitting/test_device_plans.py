"""Blocks on a device are planned by the widest table that is made of them: the memory of a device is bounded."""

from __future__ import annotations

import weakref
from typing import ClassVar

import attrs
import numpy as np
import pytest

import clusterkit
from clusterkit import recipe
from clusterkit.contracts import Partitioner
from clusterkit.families.factors import updates
from clusterkit.samples import array_libraries, transform
from clusterkit.samples.array_libraries import to_host
from clusterkit.samples.coding import Coded, Coding
from clusterkit.samples.device_engine import DeviceEngine
from clusterkit.samples.rows import SlicedRows
from clusterkit.samples.transform import device_plan
from clusterkit.testing.compare import DEVICE, put

xp = pytest.importorskip("array_api_strict", reason="array-api-strict simulates devices")

BLOCK = 2**18
"""Bytes of a block in these tests: a thousandth of the usual, so that few rows are many blocks."""

MOST_BLOCKS = 8
"""2 GiB are as many blocks of the usual size."""


@attrs.frozen(eq=False)
class Given(Partitioner):
    """A start from labels that are there already."""

    name: ClassVar[str] = "given"

    labels: np.ndarray

    def start(self, samples, task, rng):
        return self.labels


class Memory:
    """Bytes of all arrays on the simulated device, now and at most; views take none."""

    def __init__(self):
        self.now = self.most = 0

    def watch(self, monkeypatch):
        usual = type(xp.zeros(1))._new.__func__

        def counted(cls, x, device=None):
            array = usual(cls, x, device)
            if isinstance(x, np.ndarray) and x.base is None and "CPU_DEVICE" not in repr(array.device):
                self.now += x.nbytes
                self.most = max(self.most, self.now)
                weakref.finalize(array, self._gone, x.nbytes)
            return array

        monkeypatch.setattr(type(xp.zeros(1)), "_new", classmethod(counted))

    def _gone(self, size):
        self.now -= size


@pytest.fixture
def memory(monkeypatch):
    """Small blocks on the device, and the memory that these take."""
    monkeypatch.setattr(transform, "DEVICE_BLOCK_BYTES", BLOCK)
    monkeypatch.setattr(array_libraries, "CHUNK_BYTES", BLOCK // 4)
    memory = Memory()
    memory.watch(monkeypatch)
    return memory


FITS = {
    "k-means": ("kmeans", 150, {"max_iter": 2}),
    "k-means in random features": ("elm-kmeans", 150, {"featuremap__n_hidden": 40, "max_iter": 2}),
    "EMMC": ("emmc-multi", 150, {"balancer": None, "featuremap__n_hidden": 40, "max_iter": 2}),
    "fuzzy c-means": ("fuzzy-cmeans", 100, {"solver__max_iter": 2}),
    "fuzzy c-means with another exponent": ("fuzzy-cmeans", 100, {"solver__max_iter": 2, "solver__fuzzifier": 1.7}),
    "factorisation": (
        "elm-nmf",
        40,
        {"solver__update": "anls", "solver__max_iter": 1, "labeler": "argmax", "featuremap__n_hidden": 8},
    ),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FITS)
def test_the_memory_of_a_device_does_not_grow_with_the_number_of_clusters(memory, monkeypatch, name, dtype):
    method, k, changes = FITS[name]
    X = np.random.default_rng(0).random((3000, 4)).astype(dtype)
    monkeypatch.setattr(updates, "FOLD_IN_UPDATES", 2)  # each step of a coordinate is a call
    if "max_iter" in changes:
        changes = {**changes, "init": Given(np.arange(3000) % k)}
    with clusterkit.config(device=str(DEVICE)):
        model = recipe(method, **{"n_clusters": k, "random_state": 0, "n_init": 1, **changes})
        model.fit(X, sample_weight=np.ones(3000))
        assert 0 < memory.most <= MOST_BLOCKS * BLOCK
        memory.most = memory.now
        model.predict(X)
    assert 0 < memory.most <= MOST_BLOCKS * BLOCK


class Sizes:
    """A block program that notes the rows of its blocks."""

    array_api = True

    def __init__(self, columns=None):
        self.seen = []
        if columns is not None:
            self.table_columns = columns

    def __call__(self, rows, X):
        self.seen.append(rows.stop - rows.start)
        return len(self.seen)


@pytest.mark.parametrize(("columns", "rows"), [(None, 16_384), (4, 16_384), (1000, 4096), (3000, 1344)])
def test_wide_tables_make_blocks_of_fewer_rows(columns, rows, monkeypatch):
    monkeypatch.setattr(transform, "DEVICE_BLOCK_BYTES", 2**24)
    part = Sizes(columns)
    DeviceEngine(DEVICE).reduce(part, SlicedRows(np.zeros((20_000, 5), dtype=np.float32)), 256)
    assert max(part.seen) == rows
    assert sum(part.seen) == 20_000


def test_the_usual_plans():
    """With few clusters blocks are planned by the features alone, and a block of narrow rows has 2^20 of them."""
    rows = [max(part.stop - part.start for part in device_plan(10**7, width, np.float32)) for width in (5, 100, 1000)]
    assert rows == [2**20, 163 * 4096, 65_536]
    wide = [max(part.stop - part.start for part in device_plan(10**5, width, np.float64)) for width in (10**4, 10**6)]
    assert wide == [3328, 64]


@pytest.mark.parametrize("weights", [None, np.arange(60.0) % 4])
@pytest.mark.parametrize("starts", [1, 2])
def test_unit_vectors_are_compared_and_need_no_table(starts, weights):
    labels = np.random.default_rng(0).integers(9, size=(starts, 60))
    coded = Coded(labels, Coding.ONEHOT, 9, np.eye(9), weights)
    H = put(np.zeros((60, 2)))
    np.testing.assert_array_equal(to_host(coded.device_targets(H)), coded.block(slice(None)))
    np.testing.assert_array_equal(to_host(coded.start(0).device_sizes(H)), coded.start(0).sizes()[0])
