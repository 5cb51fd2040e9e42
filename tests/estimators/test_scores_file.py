"""Scores that lie in a temporary file between the passes of a balancer: the same labels, fewer passes, no leftovers."""

import os
from concurrent.futures import ThreadPoolExecutor
from io import FileIO
from types import SimpleNamespace

import numpy as np
import pytest
from oracles.rows import Watched
from sklearn.datasets import make_blobs

import clusterkit
from clusterkit import recipe
from clusterkit.errors import ClusterkitWarning, NeedsSpace
from clusterkit.fitting.pass_iterations import IterationCosts, room_for_scores
from clusterkit.samples.engines import LocalEngine
from clusterkit.samples.rows import RowsFile, SlicedRows
from clusterkit.samples.rows_space import RowsSpace
from clusterkit.samples.transform import IdentityMap
from clusterkit.testing.compare import same_bits, small_blocks, small_groups

X = make_blobs(700, 5, centers=4, cluster_std=4.0, random_state=0)[0].astype(np.float32)
EMMC = {"n_clusters": 4, "random_state": 3, "init": "random"}
BALANCERS = {
    "transport of four": ("emmc-multi", {**EMMC, "balancer": "transport"}),
    "transport of one output": ("emmc-single", {**EMMC, "balancer": "transport"}),
    "transport of k-means": ("cmeans", {"n_clusters": 4, "random_state": 3, "balancer": "transport"}),
    "band of two": ("emmc", {**EMMC, "n_clusters": 2}),
    "transport of memberships": (
        "fuzzy-cmeans", {"n_clusters": 4, "n_init": 1, "random_state": 3, "balancer": "transport"},
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def small():
    """Groups and blocks so small that a few hundred rows take several of both, and borders so small that they occur."""
    with small_groups(150), small_blocks(), pytest.MonkeyPatch.context() as patched:
        patched.setattr("clusterkit.families.shared.transport.GATHERED", 1500)
        yield


@pytest.fixture
def files(monkeypatch):
    """The files of scores that a test makes."""
    made = []

    def recorded(*arguments):
        made.append(room_for_scores(*arguments))
        return made[-1]

    monkeypatch.setattr("clusterkit.fitting.pass_iterations.room_for_scores", recorded)
    return made


def full(monkeypatch, free=0):
    """A disk without room."""
    monkeypatch.setattr("clusterkit.samples.rows.shutil.disk_usage", lambda folder: SimpleNamespace(free=free))


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("band of two", np.float32),
        ("band of two", np.float64),
        ("transport of k-means", np.float32),
        *(
            pytest.param(name, dtype, marks=pytest.mark.deep)
            for name in BALANCERS
            for dtype in (np.float32, np.float64)
            if name != "band of two" and (name, dtype) != ("transport of k-means", np.float32)
        ),
    ],
)
def test_labels_and_objectives_are_those_without_a_file(name, dtype, files, monkeypatch):
    recipe_name, parameters = BALANCERS[name]
    parameters = {**parameters, "max_iter": 3}
    rows = clusterkit.open(X.astype(dtype))
    written = recipe(recipe_name, **parameters).fit(rows)
    assert len(files) == 1
    assert files[0] is not None
    full(monkeypatch)
    with pytest.warns(ClusterkitWarning, match=r"the scores of 700 rows take .* free: the balancer maps .* by TMPDIR"):
        anew = recipe(recipe_name, **parameters).fit(rows)
    assert files[1] is None
    assert np.array_equal(written.labels_, anew.labels_)
    same_bits(written.history_, anew.history_, "the objectives of all iterations")
    assert written.resolved_ == anew.resolved_


@pytest.mark.parametrize(
    ("recipe_name", "parameters", "passes"),
    [
        ("emmc-multi", {"balancer": None, "init": "random"}, 1),
        ("kmeans", {"n_init": 1, "solver__tol": 0.0}, 1),
        ("emmc-multi", {"balancer": "transport", "init": "random"}, 2),
    ],
)
def test_an_iteration_reads_the_rows_once_and_with_a_balancer_twice(recipe_name, parameters, passes):
    read = []
    for iterations in (2, 3, 4):
        rows = Watched(np.random.default_rng(0).normal(size=(700, 5)))
        model = recipe(recipe_name, n_clusters=4, random_state=0, max_iter=iterations, **parameters).fit(rows)
        assert model.n_iter_ == iterations
        read.append(sum(rows.passed))
    assert np.diff(read).tolist() == [700 * passes] * 2


@pytest.mark.parametrize("iteration", [1, 2])
def test_ctrl_c_in_a_pass_of_the_balancer_leaves_no_file(iteration, files, monkeypatch):
    by, read, iterations = IterationCosts.by, RowsFile.read, []

    def counted(self, block_labeler):
        iterations.append(block_labeler)
        return by(self, block_labeler)

    def interrupted(self, rows):
        if len(iterations) == iteration:
            raise KeyboardInterrupt
        return read(self, rows)

    monkeypatch.setattr(IterationCosts, "by", counted)
    monkeypatch.setattr(RowsFile, "read", interrupted)
    model = recipe("emmc-multi", **BALANCERS["transport of four"][1])
    if iteration == 1:
        with pytest.raises(KeyboardInterrupt):
            model.fit(clusterkit.open(X))
    else:
        assert model.fit(clusterkit.open(X)).interrupted_
    assert [file._file.closed for file in files] == [True]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the device that is always full")
def test_a_disk_that_becomes_full_is_one_error_that_says_what_to_do(files, monkeypatch):
    monkeypatch.setattr("clusterkit.samples.rows.tempfile.TemporaryFile", lambda **how: FileIO("/dev/full", "r+"))
    with pytest.raises(NeedsSpace, match=r"became full with the scores of 700 rows, which take 10\.9 KiB; choose"):
        recipe("emmc-multi", **BALANCERS["transport of four"][1]).fit(clusterkit.open(X))
    assert [file._file.closed for file in files] == [True]


def test_the_file_has_no_name_and_goes_with_the_fit(tmp_path, monkeypatch, files):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    recipe("emmc-multi", max_iter=2, **BALANCERS["transport of four"][1]).fit(clusterkit.open(X))
    assert [file._file.closed for file in files] == [True]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("rows", [np.float32, np.float64])
@pytest.mark.parametrize("scores", [np.float32, np.float64])
@pytest.mark.parametrize("q", [1, 2])
def test_scores_are_kept_in_their_type_unless_they_fill_no_column_of_the_rows(q, scores, rows):
    space = RowsSpace.of(SlicedRows(X.astype(rows)), LocalEngine(), IdentityMap(5))
    block_labeler = SimpleNamespace(scores=lambda rows, block: (block[:, :q] / 3).astype(scores))
    with IterationCosts(space) as costs:
        stored = costs.by(block_labeler)
        if (q, scores, rows) == (1, np.float32, np.float64):
            assert stored.file is None
        else:
            assert stored.dtype == scores
            assert stored.file.dtype == rows
            assert stored.file.n_bytes == 700 * q * np.dtype(scores).itemsize


def test_several_threads_write_and_any_rows_are_read():
    scores = np.random.default_rng(0).normal(size=(1000, 3))
    file = room_for_scores(1000, 3, scores.dtype)
    blocks = [slice(start, start + 50) for start in range(0, 1000, 50)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda rows: file.write(rows, scores[rows]), blocks))
    assert np.array_equal(file.read(slice(33, 777)), scores[33:777])
    index = np.array([999, 0, 5, 4, 5])
    assert np.array_equal(file.gather(index), scores[index])
    with pytest.raises(EOFError, match="the scores of 1,000 rows end before row 1001"):
        file.read(slice(990, 1001))
    file.close()
