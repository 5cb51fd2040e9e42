"""Workers without memory: the fit says that it waits, and goes on when they do."""

from __future__ import annotations

import re
import threading
import time

import numpy as np
import pytest

NEEDED = "needs the packages of plugins/clusterkit-dask"
da = pytest.importorskip("dask.array", reason=NEEDED)
distributed = pytest.importorskip("distributed", reason=NEEDED)
computing = pytest.importorskip("clusterkit_dask.computing", reason=NEEDED)


def pause(dask_worker):
    dask_worker.memory_manager.memory_pause_fraction = False  # nor does it wake the worker again
    dask_worker.status = distributed.core.Status.paused


def resume(dask_worker):
    dask_worker.status = distributed.core.Status.running


def lines_of(caplog):
    return [record.getMessage() for record in caplog.records if record.name == computing.LOGGER.name]


def until(happened):
    for _ in range(1000):
        if happened():
            return
        time.sleep(0.05)


@pytest.fixture
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, memory_limit="4GiB"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_a_fit_that_waits_for_paused_workers_says_so_and_goes_on(client, monkeypatch, caplog):
    monkeypatch.setattr(computing, "LOOK_SECONDS", 0.2)
    caplog.set_level("WARNING", "clusterkit.dask")
    client.run(pause)
    sums = []
    waiting = threading.Thread(target=lambda: sums.extend(computing.computed(da.ones(10).sum())))
    waiting.start()
    until(lambda: lines_of(caplog))
    [line] = lines_of(caplog)
    assert re.match(r"the fit waits: all 2 workers are paused by Dask .* of its 4096 MiB", line)
    assert waiting.is_alive()
    client.run(resume)
    waiting.join(timeout=60)
    assert sums == [10.0]


def test_nothing_is_said_while_one_worker_runs(client, monkeypatch, caplog):
    monkeypatch.setattr(computing, "LOOK_SECONDS", 0.05)
    client.run(pause, workers=[next(iter(client.scheduler_info()["workers"]))])
    slow = da.map_blocks(lambda block: (threading.Event().wait(0.5), block)[1], da.ones(4, chunks=2), dtype=float)
    assert np.array_equal(computing.computed(slow)[0], np.ones(4))
    assert not lines_of(caplog)
