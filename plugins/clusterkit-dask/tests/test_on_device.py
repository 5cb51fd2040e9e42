"""Blocks on the devices of workers, with a simulated one: labels of the host, lazy, and one device a worker."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import clusterkit
from clusterkit import recipe
from clusterkit.errors import IncompatibleStages
from clusterkit.testing.compare import small_blocks, small_groups

NEEDED = "the engine of clusterkit-dask needs dask, with its arrays and frames"
pytest.importorskip("pandas", reason=NEEDED)
dask = pytest.importorskip("dask", reason=NEEDED)
da = pytest.importorskip("dask.array", reason=NEEDED)
pytest.importorskip("array_api_strict", reason="array-api-strict simulates devices")

COMPOSITIONS = {
    "k-means": ("kmeans", {"n_init": 1, "max_iter": 4}),
    "EMMC": ("emmc-multi", {"balancer": None, "featuremap__n_hidden": 40, "max_iter": 3, "init": "random"}),
}  # fmt: skip


@pytest.fixture(autouse=True)
def threads():
    """Groups of 150 rows, blocks of 64, and Dask's threads, whatever clients other tests left."""
    with small_groups(150), small_blocks(), dask.config.set(scheduler="threads", num_workers=2):
        yield


def blobs(dtype=np.float32, n=3000):
    return make_blobs(n, 5, centers=4, cluster_std=2.0, random_state=0)[0].astype(dtype)


@pytest.mark.parametrize("name", ["k-means", "EMMC"])
def test_labels_are_those_of_the_host_and_lazy(name):
    recipe_name, changes = COMPOSITIONS[name]
    X, parameters = blobs(np.float64), {"n_clusters": 4, "random_state": 3, **changes}
    rows = da.from_array(X, chunks=(300, -1))
    here = recipe(recipe_name, **parameters).fit(rows)
    with clusterkit.config(device="array_api_strict:device1"):
        there = recipe(recipe_name, **parameters).fit(rows)
        assert isinstance(there.labels_, da.Array)
        predicted = there.predict(rows).compute()
    assert np.array_equal(there.labels_.compute(), here.labels_.compute())
    assert np.array_equal(predicted, here.predict(X))


def test_what_has_no_path_is_refused():
    rows = da.from_array(blobs(), chunks=(300, -1))
    with (
        clusterkit.config(device="array_api_strict:device1"),
        pytest.raises(IncompatibleStages, match="no path on"),
    ):
        recipe("ncut", n_clusters=4).fit(rows)


def test_a_block_is_computed_on_the_device_and_its_sums_come_back():
    tasks = pytest.importorskip("clusterkit_dask.tasks")
    from clusterkit.samples.devices import Device
    from clusterkit.samples.sums import Sums

    places = []

    def sums_of(rows, X):
        places.append(str(X.device))
        return Sums((X.sum() if isinstance(X, np.ndarray) else X.__array_namespace__().sum(X, axis=0),))

    part = tasks.OnWorkersDevice(sums_of, Device("array_api_strict", "device2"))
    answer = part(slice(0, 3), np.ones((3, 2)))
    assert "device2" in places[0]
    assert isinstance(answer.arrays[0], np.ndarray)
    assert answer.arrays[0].tolist() == [3.0, 3.0]
    assert part.block_rows(5, np.dtype(np.float32)) >= 150


def test_a_device_without_a_number_is_the_workers_own(monkeypatch):
    tasks = pytest.importorskip("clusterkit_dask.tasks")
    distributed = pytest.importorskip("distributed")
    from clusterkit.samples.devices import Device

    class Worker:
        name = 5

    monkeypatch.setattr(distributed, "get_worker", Worker)
    monkeypatch.setattr(tasks, "_count", lambda device: 4)
    monkeypatch.delenv(tasks.VISIBLE, raising=False)
    device_of = tasks.device_of_worker
    assert device_of(Device("torch", "cuda")) == Device("torch", "cuda:1")
    assert device_of(Device("torch", "cuda:3")) == Device("torch", "cuda:3")
    monkeypatch.setenv(tasks.VISIBLE, "2,3")
    assert device_of(Device("torch", "cuda")) == Device("torch", "cuda")
