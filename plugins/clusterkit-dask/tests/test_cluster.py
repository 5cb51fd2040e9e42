"""Fits on a cluster of processes: the same bits whatever their number, also if they die, and nothing left behind."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import clusterkit_dask
import numpy as np
import pytest
from clusterkit_min_max import MinMaxModularSVC
from joblib import parallel_config
from sklearn.datasets import make_blobs

import clusterkit
from clusterkit import recipe
from clusterkit.samples.limits import listening
from clusterkit.testing.compare import same_bits, small_blocks, small_groups

NEEDED = "the engine of clusterkit-dask needs dask and distributed"
cloudpickle = pytest.importorskip("cloudpickle", reason=NEEDED)
dask = pytest.importorskip("dask", reason=NEEDED)
da = pytest.importorskip("dask.array", reason=NEEDED)
dd = pytest.importorskip("dask.dataframe", reason=NEEDED)
distributed = pytest.importorskip("distributed", reason=NEEDED)
DaskEngine = pytest.importorskip("clusterkit_dask.engine", reason=NEEDED).DaskEngine

# workers cannot import this file by its name
cloudpickle.register_pickle_by_value(sys.modules[__name__])

pytestmark = pytest.mark.filterwarnings("error:Sending large graph")

GROUP = 150
"""Rows of a group, here and in workers_preload.py."""

LOADED = [
    "distributed",
    "dask.array",
    "dask.dataframe",
    "numba",
    "sklearn.svm",
    "clusterkit_dask.engine",
    "clusterkit.estimators.pipeline",
]
"""What all workers load: once for all of them, since most of the time of starting one is that of its libraries."""

PATIENCE = 1000
"""Looks, a hundredth of a second apart, until something that must happen has happened."""


def settings():
    """Of the cluster: patience, and workers that are forked from a process which has loaded the libraries."""
    patient = {
        # on a busy machine a killed worker needs longer to start again than the cluster would wait
        "distributed.deploy.lost-worker-timeout": "300s",
        # one that was killed while something was read from it is called for this long, and nothing else is done then
        "distributed.comm.timeouts.connect": "5s",
    }
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return dask.config.set(patient)
    context = dask.config.set({**patient, "distributed.worker.multiprocessing-method": "forkserver"})
    distributed.utils.get_mp_context().set_forkserver_preload(LOADED)
    return context


@pytest.fixture(scope="module")
def workers():
    """The client of two processes, of one thread each."""
    preload = [str(Path(__file__).with_name("workers_preload.py"))]
    with (
        settings(),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            memory_limit="1GiB",
            preload=preload,
        ) as processes,
        distributed.Client(processes) as client,
    ):
        yield client


@pytest.fixture
def client(workers):
    """The client, when both workers are there: a killed one is started again."""
    workers.wait_for_workers(2, timeout=300)
    return workers


@pytest.fixture(autouse=True)
def small():
    """Groups of 150 rows and blocks of 64."""
    with small_groups(GROUP), small_blocks():
        yield


def blobs(n=3000):
    return make_blobs(n, 5, centers=4, cluster_std=2.0, random_state=0)[0].astype(np.float32)


def k_means(X, **changes):
    return recipe(
        "kmeans", **{"n_clusters": 4, "n_init": 1, "random_state": 3, "solver__tol": 0.0, "max_iter": 6, **changes}
    ).fit(X)


def emmc(X, **changes):
    settings = {"n_clusters": 4, "balancer": "transport", "random_state": 3, "init": "random", "max_iter": 4}
    settings |= {"featuremap__n_hidden": 40, **changes}
    return recipe("emmc-multi", **settings).fit(X)


def same_fit(one, other):
    same_bits(one.history_, other.history_, "objectives")
    assert np.array_equal(np.asarray(one.labels_), np.asarray(other.labels_))
    for number in ("coefficients", "means"):
        if hasattr(one.predictor_.extend, number):
            same_bits(getattr(one.predictor_.extend, number), getattr(other.predictor_.extend, number), number)


def until(happened):
    for _ in range(PATIENCE):
        if happened():
            return True
        time.sleep(0.01)
    return False


def once(mark, action):
    """A function of chunks that acts in the process that reads the first chunk after the file `mark` was made."""

    def read(block):
        try:
            os.unlink(mark)
        except FileNotFoundError:
            return block
        action()
        return block

    return read


def kill_this_worker():
    os.kill(os.getpid(), signal.SIGKILL)


def watched(tmp_path, action):
    """Chunks that can be made to do something once, and the file that makes them."""
    mark = tmp_path / "act-once"
    X = blobs()
    return da.from_array(X, chunks=(170, 5)).map_blocks(once(str(mark), action), dtype=X.dtype, meta=X[:0]), mark


@pytest.mark.parametrize("chunks", [170, *(pytest.param(n, marks=pytest.mark.deep) for n in (300, -1))])
@pytest.mark.parametrize("fit", [pytest.param(k_means, marks=pytest.mark.deep), emmc])
def test_two_processes_give_the_bits_of_this_one(client, fit, chunks):
    X = blobs()
    here = fit(clusterkit.open(X))
    there = fit(da.from_array(X, chunks=(chunks, 5)))
    same_fit(here, there)
    assert np.array_equal(there.predict(da.from_array(X, chunks=(chunks, 5))).compute(), here.labels_)


@pytest.mark.deep
def test_one_process_and_two_at_once_give_the_same_bits(client):
    X = blobs()
    expected = [k_means(clusterkit.open(X)), emmc(clusterkit.open(X))]
    answers = {}
    # a part of a fit in each thread: both use the client of this process
    threads = [
        threading.Thread(target=lambda fit=fit: answers.setdefault(fit, fit(da.from_array(X, chunks=(300, 5)))))
        for fit in (k_means, emmc)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, fit in zip(expected, (k_means, emmc), strict=True):
        same_fit(one, answers[fit])
    client.cluster.scale(1)
    try:
        assert until(lambda: len(client.run(os.getpid)) == 1)
        same_fit(expected[1], emmc(da.from_array(X, chunks=(170, 5))))
    finally:
        client.cluster.scale(2)


@pytest.mark.parametrize("persist", [False, pytest.param("auto", marks=pytest.mark.deep)])
@pytest.mark.parametrize(
    "iteration", [pytest.param(0, id="in the survey"), pytest.param(2, id="in iteration 3", marks=pytest.mark.deep)]
)
def test_a_killed_worker_changes_no_bit(client, tmp_path, iteration, persist):
    X, mark = watched(tmp_path, kill_this_worker)
    before = set(client.run(os.getpid).values())

    def listen(report):
        if report.stage == "loop" and report.iteration == iteration:
            if persist is False:
                mark.touch()
            else:  # what is kept is not read again, until the worker that has it is gone
                os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)

    if iteration == 0:
        mark.touch()
    with dask.config.set({"clusterkit.persist": persist}), listening(listen):
        model = emmc(X, max_iter=iteration + 2)
    assert model.n_iter_ > iteration
    assert not mark.exists()
    same_fit(emmc(clusterkit.open(blobs()), max_iter=iteration + 2), model)
    client.wait_for_workers(2, timeout=300)
    assert set(client.run(os.getpid).values()) != before, "a worker was killed"


@pytest.mark.deep
def test_all_workers_may_be_started_anew_between_iterations(client):
    X = da.from_array(blobs(), chunks=(170, 5))
    restarted = []

    def listen(report):
        if report.stage == "loop" and report.iteration == 1:
            for pid in client.run(os.getpid).values():
                os.kill(pid, signal.SIGKILL)
            restarted.append(True)

    with listening(listen):
        model = k_means(X)
    assert restarted
    same_fit(k_means(clusterkit.open(blobs())), model)


@pytest.mark.deep
def test_ctrl_c_during_a_pass_leaves_a_usable_model(client, tmp_path):
    this = os.getpid()
    X, mark = watched(tmp_path, lambda: (os.kill(this, signal.SIGINT), time.sleep(1)))

    def listen(report):
        if report.stage == "loop" and report.iteration == 2:
            mark.touch()

    with dask.config.set({"clusterkit.persist": False}), listening(listen):
        model = emmc(X, max_iter=5)
    assert model.interrupted_
    assert not model.converged_
    assert model.n_iter_ == 3, "the objective of the iteration was known when its pass was interrupted"
    here = emmc(clusterkit.open(blobs()), max_iter=3)
    same_bits(model.predictor_.extend.coefficients, here.predictor_.extend.coefficients, "coefficients")
    assert np.array_equal(model.predict(blobs()), np.asarray(model.labels_))


def test_nothing_stays_on_the_cluster(client):
    def tasks():
        return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))

    gc.collect()  # errors of the tests before, whose tracebacks hold arrays, may be parts of cycles
    until(lambda: tasks() == 0)
    before = set(client.futures), tasks()  # what a test before left, if it is still there
    model = k_means(da.from_array(blobs(), chunks=(300, 5)))
    assert until(lambda: set(client.futures) <= before[0])
    assert until(lambda: tasks() <= before[1]), (
        "what was kept in memory goes with the end of the fit, not with the model"
    )
    model.labels_.compute()
    assert until(lambda: tasks() <= before[1])


@pytest.mark.parametrize(
    ("frame", "derived"),
    [
        pytest.param(False, False, marks=pytest.mark.deep),
        pytest.param(True, False, marks=pytest.mark.deep),
        (False, True),
        (True, True),
    ],
    ids=["array", "frame", "of array", "of frame"],
)
def test_lazy_labels_hold_the_rows_that_were_persisted(client, frame, derived):
    X = da.from_array(blobs(), chunks=(300, 5))
    lazy = (dd.from_dask_array(X, columns=list("abcde")) if frame else X).persist()
    lazy = lazy + 1 if derived else lazy
    model = k_means(lazy)
    labels = model.predict(lazy)
    expected = model.labels_.compute()
    del lazy
    gc.collect()
    client.run(gc.collect)
    assert np.array_equal(model.labels_.compute(), expected)
    assert np.array_equal(labels.compute(), expected)


def test_more_workers_than_groups_and_files_that_workers_read(client, tmp_path):
    X = blobs(200)
    np.save(tmp_path / "x.npy", X)
    same_fit(k_means(clusterkit.open(X)), k_means(clusterkit_dask.open(tmp_path / "x.npy")))


def test_errors_of_workers_keep_their_type(client):
    X = blobs()
    X[1234, 2] = np.nan
    with pytest.raises(clusterkit.errors.InvalidData, match=r"column 3 of 5 has the value nan in row 1234 \(row 34 of"):
        k_means(da.from_array(X, chunks=(300, 5)))


def classes():
    X, y = make_blobs([300, 320, 280], n_features=3, cluster_std=4.0, random_state=2)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], y[order]


def min_max(X, y):
    return MinMaxModularSVC(4, "random", random_state=0).fit(X, y)


def received(client, named):
    """How often each value of such a name came to a worker from another one."""
    logs = client.run(lambda dask_worker: [key for entry in dask_worker.transfer_incoming_log for key in entry["keys"]])
    return [Counter(key for key in keys if str(key).startswith(named)) for keys in logs.values()]


def test_parts_of_classes_come_at_most_once_to_a_worker(client):
    X, y = classes()
    before = received(client, "stacked-")
    client.amm.stop()  # it takes copies away for which no task is assigned yet, and they come again
    try:
        there = min_max(da.from_array(X, chunks=(200, 3)), y)
    finally:
        client.amm.start()
    same_bits(min_max(X, y).decision_function(X), there.decision_function(X), "values")
    moved = [after - old for after, old in zip(received(client, "stacked-"), before, strict=True)]
    assert all(count == 1 for counts in moved for count in counts.values())
    assert sum(map(len, moved)) <= there.n_parts_.sum(), "two workers: each part is on the one that made it"
    assert np.array_equal(there.predict(da.from_array(X, chunks=(70, 3))).compute(), there.predict(X))


def test_by_the_backend_of_joblib_each_part_is_sent_once(client, monkeypatch):
    X, y = classes()
    shapes, scatter = [], distributed.Client.scatter

    def counted(self, thing, **settings):
        shapes.append(np.shape(thing))
        return scatter(self, thing, **settings)

    monkeypatch.setattr(distributed.Client, "scatter", counted)
    with parallel_config(backend="dask"):
        there = min_max(X, y)
    same_bits(min_max(X, y).decision_function(X), there.decision_function(X), "values")
    assert sorted(shapes) == [(size, 3) for size in (70,) * 4 + (75,) * 4 + (80,) * 4]


@pytest.mark.deep
def test_a_worker_that_dies_while_it_trains_changes_nothing(client, tmp_path):
    X = blobs(500)
    mark = tmp_path / "act-once"
    mark.touch()
    path = str(mark)

    def dies_once(one, other):
        try:
            os.unlink(path)
        except FileNotFoundError:
            return one.sum(axis=0) - other.sum(axis=0)
        kill_this_worker()

    part_of = np.random.default_rng(0).integers(0, 3, 500)
    pairs = [(0, 1), (2, 0), (1, 2)]
    engine = DaskEngine()
    values = engine.of_pairs(dies_once, engine.rows(da.from_array(X, chunks=(170, 5))), part_of, pairs)
    assert not mark.exists()
    for value, (a, b) in zip(values, pairs, strict=True):
        same_bits(value, X[part_of == a].sum(axis=0) - X[part_of == b].sum(axis=0), "the value of a pair")
