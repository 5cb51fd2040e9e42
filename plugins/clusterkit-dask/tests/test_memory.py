"""What is in memory at a time: few partitions, and fits to more rows than the memory of the workers holds."""

from __future__ import annotations

import os
import sys
import weakref

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from clusterkit import Auto, recipe
from clusterkit.metrics import adjusted_rand
from clusterkit.testing.compare import same_bits, small_groups
from clusterkit.testing.pytest_plugin import deep

NEEDED = "the engine of clusterkit-dask needs dask and distributed"
cloudpickle = pytest.importorskip("cloudpickle", reason=NEEDED)
dask = pytest.importorskip("dask", reason=NEEDED)
da = pytest.importorskip("dask.array", reason=NEEDED)
distributed = pytest.importorskip("distributed", reason=NEEDED)
DaskRows = pytest.importorskip("clusterkit_dask.rows", reason=NEEDED).DaskRows

# workers cannot import this file by its name
cloudpickle.register_pickle_by_value(sys.modules[__name__])

WORKERS = 2

LIMIT = 1024 * 2**20
"""Bytes of a worker. Its process holds about 230 MiB of libraries and working space, which Dask cannot spill, and
values up to 60 % of the limit; at 95 % it is ended. Of 1024 MiB 130 are left then, of 512 MiB none."""


class Partitions:
    """Partitions of random rows, and how many of them were alive at once."""

    def __init__(self, n, rows):
        self.alive = self.most = 0
        self.array = da.map_blocks(
            self._made, chunks=((rows,) * (n // rows), (5,)), dtype=np.float64, meta=np.empty((0, 5))
        )

    def _made(self, block_info):
        [(start, stop), _] = block_info[None]["array-location"]
        X = np.random.default_rng(start).normal(size=(stop - start, 5))
        self.alive += 1
        self.most = max(self.most, self.alive)
        weakref.finalize(X, self._gone)
        return X

    def _gone(self):
        self.alive -= 1


@pytest.mark.parametrize(
    ("rows", "count"),
    [(170, 30), *(pytest.param(*c, marks=pytest.mark.deep) for c in [(150, 60), (230, 40), (600, 15)])],
)
def test_few_partitions_are_in_memory_at_a_time(rows, count, monkeypatch):
    monkeypatch.setattr(DaskRows, "_groups_of_a_unit", lambda self, n_groups: 1)
    partitions = Partitions(count * rows, rows)
    with small_groups(150), dask.config.set({"scheduler": "threads", "num_workers": 1, "clusterkit.persist": False}):
        recipe("cmeans", n_clusters=3, random_state=0, max_iter=2).fit(partitions.array)
    assert partitions.alive == 0
    assert partitions.most <= 6, "neighbouring units are added one after the other"


def noise(block_info=None):
    [(start, stop), (_, d)] = block_info[None]["array-location"]
    X = np.random.default_rng(start).random((stop - start, d), dtype=np.float32)
    X += np.float32(start % 3)
    return X


def fitted(X, persist):
    """The centres, whether a worker was ended, and the bytes that were spilled."""
    with (
        dask.config.set({"clusterkit.persist": persist}),
        distributed.LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=LIMIT
        ) as processes,
        distributed.Client(processes) as client,
    ):
        pids = client.run(os.getpid)
        model = recipe("cmeans", n_clusters=3, init="random", random_state=0, max_iter=2).fit(X)
        assert client.run(os.getpid) == pids, "no worker was ended because of its memory"
        assert model.n_iter_ == 2
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        return model.cluster_centers_, sum(worker["metrics"]["spilled_bytes"]["disk"] for worker in workers)


@pytest.mark.deep
@pytest.mark.skipif(not deep(), reason="minutes: with the deep profile of hypothesis only")
def test_data_of_four_times_the_memory_of_the_workers():
    chunk = 200_000  # no multiple of a group: units are joined from two or three partitions
    rows = 4 * WORKERS * LIMIT // (20 * 4) // chunk * chunk
    X = da.map_blocks(noise, chunks=((chunk,) * (rows // chunk), (20,)), dtype=np.float32, meta=np.empty((0, 20)))
    again, nothing = fitted(X, persist=False)
    assert nothing == 0, "rows that are read again need no disk"
    once, spilled = fitted(X, persist=True)
    assert spilled > X.nbytes // 2, "kept rows are four times the memory"
    same_bits(again, once, "centres of rows that are read again, and of rows that are spilled")


@pytest.mark.deep
@pytest.mark.filterwarnings("ignore::clusterkit.errors.ClusterkitWarning")
def test_auto_finds_in_a_million_rows_what_it_finds_in_a_sample():
    X, y = make_blobs(1_000_000, n_features=10, centers=6, cluster_std=3, random_state=0)
    with dask.config.set(scheduler="threads", num_workers=2):
        model = Auto(random_state=0).fit(da.from_array(X, chunks=(100_000, 10)))
        labels = np.asarray(model.labels_)
    assert model.n_clusters_ == 6
    assert adjusted_rand(y, labels) > 0.97
