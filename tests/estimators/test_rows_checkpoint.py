"""NMF of rows outside memory with its factor in a file: the fit in memory, and only whole iterations after a kill."""

from __future__ import annotations

import errno
import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import clusterkit
from clusterkit import recipe
from clusterkit.errors import ClusterkitWarning, IncompatibleStages, InvalidData, InvalidParameter, NeedsSpace
from clusterkit.families.factors import _stored_factor
from clusterkit.samples.limits import listening
from clusterkit.testing.compare import same_bits, small_blocks, small_groups


@pytest.fixture(autouse=True)
def small():
    """Groups of 150 rows and blocks of 64."""
    with small_groups(150), small_blocks():
        yield


def blobs(dtype=np.float64, n=700):
    return make_blobs(n, 5, centers=4, cluster_std=2.0, random_state=0)[0].astype(dtype)


def nmf(X, checkpoint=None, **changes):
    settings = {"n_clusters": 4, "labeler": "argmax", "random_state": 3, "solver__max_iter": 12, **changes}
    return recipe("nmf", solver__checkpoint=checkpoint, **settings).fit(X)


def same_fit(one, other):
    same_bits(one.history_, other.history_, "objectives")
    assert np.array_equal(one.labels_, other.labels_)
    same_bits(one.predictor_.extend.basis, other.predictor_.extend.basis, "the basis")


def iterations_of(fit):
    """What a fit gives, and the iterations that it made."""
    iterations = []
    with listening(lambda report: iterations.append(report.iteration) if report.stage == "nmf" else None):
        model = fit()
    return model, iterations


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"solver__update": "hals"},
        {"solver__normalize": True},
        {"solver__update": "hals", "solver__normalize": True, "solver__tol": 0.05, "solver__max_iter": 100},
        {"n_init": 3},
        {"balancer": "transport"},
    ],
    ids=str,
)
def test_labels_and_predictions_are_those_of_the_fit_in_memory(tmp_path, dtype, changes):
    X = blobs(dtype)
    memory, rows = nmf(X, **changes), nmf(clusterkit.open(X), tmp_path, **changes)
    assert np.array_equal(rows.labels_, memory.labels_)
    np.testing.assert_allclose(rows.history_, memory.history_, rtol=1e-4 if dtype == np.float32 else 1e-9)
    assert rows.n_iter_ == memory.n_iter_
    assert rows.converged_ == memory.converged_ == ("solver__tol" in changes)
    assert rows.stop_reason_ == memory.stop_reason_
    assert rows.exact_on_training_ == memory.exact_on_training_
    new = X[::-1] + dtype(0.25)
    assert np.array_equal(rows.predict(new), memory.predict(new))


def test_the_factor_is_a_file_of_numpy_and_the_model_does_not_need_it(tmp_path):
    X = blobs(np.float32)
    model = nmf(clusterkit.open(X), tmp_path)
    (factor,) = tmp_path.glob("nmf-*/factor-*.npy")
    A = np.load(factor)
    assert (A.shape, A.dtype, factor.name) == ((700, 4), np.float32, "factor-12.npy")
    np.testing.assert_allclose(A, nmf(X).outcome_.rows, rtol=1e-3, atol=1e-6)
    shutil.rmtree(tmp_path)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


@pytest.mark.parametrize("update", ["multiplicative", "hals"])
def test_without_a_path_they_are_refused_before_work(update):
    class Unread:
        n, d, dtype, names = 700, 5, np.dtype(np.float64), None

        def read(self, rows):
            raise AssertionError("no row may be read")

        gather = read

    with pytest.raises(IncompatibleStages) as refusal:
        nmf(Unread(), solver__update=update)
    text = str(refusal.value)
    assert "update='anls' has one" in text
    assert f"so has update='{update}' with checkpoint='FOLDER'" in text
    assert "predict" in text, "and the way by a sample"


def test_rows_kmeans_and_weights_are_refused_with_a_path_too(tmp_path):
    rows = clusterkit.open(blobs())
    with pytest.raises(IncompatibleStages, match="labeler: 'rows_kmeans' needs the scores of all rows at once"):
        nmf(rows, tmp_path, labeler="rows_kmeans")
    with pytest.raises(IncompatibleStages, match="sample_weight"):
        recipe("nmf", n_clusters=4, labeler="argmax", solver__checkpoint=tmp_path).fit(
            rows, sample_weight=np.arange(700.0)
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", [3, ""])
def test_a_path_is_a_name(value):
    with pytest.raises(InvalidParameter, match="checkpoint must be the name of a folder, or None"):
        nmf(blobs(), value)


KILLED = """
import os, signal, sys
import clusterkit
from clusterkit import recipe
from clusterkit.samples.limits import listening
from clusterkit.families.factors._stored_factor import FactorFiles
from clusterkit.testing.compare import small_blocks, small_groups

path, checkpoint, moment = sys.argv[1:]
kill = lambda: os.kill(os.getpid(), signal.SIGKILL)
write, writes = FactorFiles.write, []
def counted(self, iteration, rows, A):
    writes.append(iteration)
    if moment == "in a pass" and iteration == 3 and writes.count(3) == 5:
        write(self, iteration, rows, A[: len(A) // 2])  # half a block
        kill()
    write(self, iteration, rows, A)
FactorFiles.write = counted
commit = FactorFiles.commit
def killed(self, iteration, **small):
    if moment == "before the iteration counts" and iteration == 3:
        kill()
    commit(self, iteration, **small)
    if moment == "when it counts" and iteration == 3:
        kill()
FactorFiles.commit = killed
settings = dict(n_clusters=4, labeler="argmax", random_state=3, solver__max_iter=12)
with small_groups(150), small_blocks():
    recipe("nmf", solver__checkpoint=checkpoint, **settings).fit(clusterkit.open(path))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill a process without notice")
@pytest.mark.parametrize(
    ("moment", "first"),
    [
        pytest.param("in a pass", 3, marks=pytest.mark.deep),
        ("before the iteration counts", 3),
        pytest.param("when it counts", 4, marks=pytest.mark.deep),
    ],
    ids=str,
)
def test_a_killed_fit_goes_on_from_its_last_whole_iteration(tmp_path, moment, first):
    path, checkpoint = tmp_path / "x.npy", tmp_path / "checkpoint"
    np.save(path, blobs())
    done = subprocess.run([sys.executable, "-c", KILLED, path, checkpoint, moment], check=False, env=os.environ)
    assert done.returncode == -signal.SIGKILL
    model, iterations = iterations_of(lambda: nmf(clusterkit.open(path), checkpoint))
    assert iterations == list(range(first, 13))
    same_fit(nmf(clusterkit.open(path), tmp_path / "undisturbed"), model)
    assert len(list(checkpoint.glob("nmf-*/*"))) == 2, "a factor and what belongs to it, nothing of the killed fit"
    again, iterations = iterations_of(lambda: nmf(clusterkit.open(path), checkpoint))
    assert not iterations
    same_fit(model, again)


def test_more_iterations_and_a_smaller_tolerance_go_on(tmp_path):
    rows = clusterkit.open(blobs())
    nmf(rows, tmp_path, solver__max_iter=5)
    model, iterations = iterations_of(lambda: nmf(rows, tmp_path))
    assert iterations == list(range(6, 13))
    same_fit(nmf(rows, tmp_path / "other"), model)
    loose, tight = (nmf(rows, tmp_path / "hals", solver__update="hals", solver__max_iter=300, solver__tol=tol)
                    for tol in (0.1, 0.02))  # fmt: skip
    assert loose.converged_
    assert tight.converged_
    assert loose.n_iter_ < tight.n_iter_
    fresh = nmf(rows, tmp_path / "fresh", solver__update="hals", solver__max_iter=300, solver__tol=0.02)
    same_fit(fresh, tight)


@pytest.mark.parametrize("tol", [1e-4, 0.5])
def test_a_smaller_bound_than_the_iterations_that_are_stored_is_refused(tmp_path, tol):
    rows = clusterkit.open(blobs())
    settings = {"solver__update": "hals", "solver__tol": tol}
    model = nmf(rows, tmp_path, **settings)
    assert model.n_iter_ > 2
    with pytest.raises(InvalidParameter, match=f"holds {model.n_iter_} iterations, more than max_iter = 2, .* only"):
        nmf(rows, tmp_path, solver__max_iter=2, **settings)
    again, iterations = iterations_of(lambda: nmf(rows, tmp_path, solver__max_iter=model.n_iter_, **settings))
    assert not iterations
    assert (again.n_iter_, again.converged_) == (model.n_iter_, model.converged_)
    same_fit(model, again)


def test_a_second_fit_in_the_same_folder_is_refused_while_the_first_runs(tmp_path):
    rows = clusterkit.open(blobs())
    refused = []

    def second(report):
        if report.stage == "nmf" and report.iteration == 3 and not refused:
            refused.append(True)
            with pytest.raises(InvalidData, match=rf"another fit or search works with it \(process {os.getpid()} on "):
                nmf(rows, tmp_path)
            nmf(rows, tmp_path, random_state=4)  # another start has a folder of its own

    with listening(second):
        model = nmf(rows, tmp_path)
    assert refused
    same_fit(nmf(rows, tmp_path / "alone"), model)
    same_fit(model, nmf(rows, tmp_path))
    assert not list(tmp_path.glob("nmf-*/in-use"))


def test_ctrl_c_keeps_the_iterations_so_far(tmp_path, monkeypatch):
    rows, write = clusterkit.open(blobs()), _stored_factor.FactorFiles.write

    def interrupted(self, iteration, block, A):
        if iteration == 4 and block.start > 300:
            raise KeyboardInterrupt
        write(self, iteration, block, A)

    monkeypatch.setattr(_stored_factor.FactorFiles, "write", interrupted)
    model = nmf(rows, tmp_path)
    assert model.interrupted_
    assert model.n_iter_ == 3
    monkeypatch.undo()
    with small_groups(150), small_blocks():
        same_fit(nmf(rows, tmp_path / "three", solver__max_iter=3), model)
        same_fit(nmf(rows, tmp_path / "whole"), nmf(rows, tmp_path))


def test_ctrl_c_when_the_iteration_counts_already(tmp_path, monkeypatch):
    rows, commit = clusterkit.open(blobs()), _stored_factor.FactorFiles.commit

    def interrupted(self, iteration, **arrays):
        commit(self, iteration, **arrays)
        if iteration == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(_stored_factor.FactorFiles, "commit", interrupted)
    model = nmf(rows, tmp_path)
    assert model.interrupted_
    assert model.n_iter_ == 4
    assert len(model.history_) == 4


def test_a_full_disk_keeps_the_iterations_so_far(tmp_path, monkeypatch):
    rows, write = clusterkit.open(blobs()), _stored_factor._write_all

    def full(file, content):
        if "factor-4" in os.fspath(full_of(file)):
            raise OSError(errno.ENOSPC, "no space left")
        write(file, content)

    def full_of(file):
        return os.readlink(f"/proc/self/fd/{file.fileno()}")

    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("this system does not tell the names of open files")
    monkeypatch.setattr(_stored_factor, "_write_all", full)
    with pytest.raises(NeedsSpace, match="is full; the iterations so far are stored"):
        nmf(rows, tmp_path)
    monkeypatch.setattr(_stored_factor, "_write_all", write)
    model, iterations = iterations_of(lambda: nmf(rows, tmp_path))
    assert iterations == list(range(4, 13))
    same_fit(nmf(rows, tmp_path / "other"), model)


def test_space_is_asked_for_first(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(10**5, 90_000, 10_000))
    with pytest.raises(NeedsSpace, match=r"two copies of the 700 x 4 numbers of a checkpoint needs 44,800 bytes"):
        nmf(clusterkit.open(blobs()), tmp_path)
    assert not list(tmp_path.glob("nmf-*/*"))


@pytest.mark.parametrize("other", ["rows", "order", "seed", "delta", "n_clusters"])
def test_a_checkpoint_of_another_fit_is_not_taken_up(tmp_path, other):
    X = blobs()
    nmf(clusterkit.open(X), tmp_path)
    swapped = X.copy()
    swapped[[10, 500]] = X[[500, 10]]
    X = {"rows": X + 0.5 * (X > 3), "order": swapped}.get(other, X)
    changes = {"seed": {"random_state": 4}, "delta": {"solver__delta": 1e-9}, "n_clusters": {"n_clusters": 3}}
    model, iterations = iterations_of(lambda: nmf(clusterkit.open(X), tmp_path, **changes.get(other, {})))
    assert iterations == list(range(1, 13))
    same_fit(nmf(clusterkit.open(X), tmp_path / "other", **changes.get(other, {})), model)
    assert len(list(tmp_path.glob("nmf-*"))) == 2


@pytest.mark.parametrize("damage", ["no rows", "fewer rows", "half a state", "no state of numpy", "another array"])
def test_damage_is_said(tmp_path, damage):
    rows = clusterkit.open(blobs())
    nmf(rows, tmp_path)
    (factor,), (state,) = tmp_path.glob("nmf-*/factor-*.npy"), tmp_path.glob("nmf-*/state.npz")
    if damage == "no rows":
        factor.unlink()
    elif damage == "fewer rows":
        os.truncate(factor, 5000)
    elif damage == "half a state":
        os.truncate(state, 300)
    elif damage == "no state of numpy":
        Path(state).write_bytes(b"state")
    else:
        np.savez(state, iterations=np.array(3))
    with pytest.raises(InvalidData, match=r"was changed or damaged: .*Remove the folder to start anew"):
        nmf(rows, tmp_path)


def test_features_that_are_all_zero(tmp_path):
    with pytest.warns(ClusterkitWarning, match="all 700 samples are equal"):
        model = nmf(clusterkit.open(np.zeros((700, 3))), tmp_path, featuremap="identity")
    assert model.converged_
    assert model.objective_ == 0.0
    assert model.stop_reason_ == "all features are zero, and so are the factors"


def test_negative_features_are_refused(tmp_path):
    with pytest.raises(InvalidData, match="needs nonnegative features"):
        nmf(clusterkit.open(blobs()), tmp_path, featuremap="identity")
    assert not list(tmp_path.iterdir())


def test_equal_rows_with_different_labels_are_told(tmp_path):
    ray = clusterkit.open(np.repeat([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]], 200, axis=0))
    with pytest.warns(ClusterkitWarning, match=r"equal rows among the first 600 have different labels .*'anls'"):
        parted = nmf(ray, tmp_path, n_clusters=3).labels_.reshape(3, 200)
    assert (parted != parted[:, :1]).any()
    together = nmf(ray, n_clusters=3, solver__update="anls").labels_.reshape(3, 200)
    assert (together == together[:, :1]).all()
