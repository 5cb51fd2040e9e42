"""Parquet that is fitted block by block is decoded once, into a temporary file beside the labels."""

from __future__ import annotations

import errno
import json
from io import FileIO
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from clusterkit.cli import fit
from clusterkit.tables.reading.opening import ParquetRows, spooled
from clusterkit.testing.compare import small_groups

X = make_blobs(2000, 3, centers=3, random_state=0)[0]
KMEANS = ("--recipe", "kmeans", "-k", 3, "--set", "n_init=1", "--json")


@pytest.fixture(autouse=True)
def little_memory(monkeypatch):
    """So little that 2,000 rows are many."""
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "60K")
    # the folders of tests may lie in memory
    monkeypatch.setattr(fit, "IN_MEMORY", frozenset())
    with small_groups(500):
        yield


@pytest.fixture(params=[np.float32, np.float64])
def parquet(request, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="Parquet files are read by pyarrow")
    from pyarrow.parquet import write_table

    path = tmp_path / "x.parquet"
    write_table(pa.table({name: X[:, j].astype(request.param) for j, name in enumerate("abc")}), path)
    return path


@pytest.fixture
def decoded(monkeypatch):
    """How many rows are decoded from Parquet."""
    counted, read = [], ParquetRows.read

    def counting(self, rows):
        counted.append(rows.stop - rows.start)
        return read(self, rows)

    monkeypatch.setattr(ParquetRows, "read", counting)
    return counted


def fitted(run, parquet, labels, *options):
    answer = run("fit", parquet, *KMEANS, "-o", labels, *options)
    assert answer.exit_code == 0, answer.output
    return np.load(labels), json.loads(answer.stdout)["copy"]


def test_rows_are_decoded_once_and_the_labels_are_those_of_decoding_in_every_pass(run, parquet, decoded, tmp_path):
    (tmp_path / "out").mkdir()
    labels, note = fitted(run, parquet, tmp_path / "out" / "l.npy")
    assert sum(decoded) == len(X)
    assert note == f"from a temporary copy in {tmp_path / 'out'}"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["l.npy"]
    decoded.clear()
    anew, note = fitted(run, parquet, tmp_path / "anew.npy", "--no-spool")
    assert sum(decoded) > 5 * len(X)
    assert note is None
    assert np.array_equal(labels, anew)


def test_no_file_beside_which_it_may_lie_no_copy(run, parquet, decoded):
    assert run("fit", parquet, *KMEANS).exit_code == 0
    assert sum(decoded) > 5 * len(X)


def test_a_disk_with_little_room_gets_no_copy_and_the_summary_says_so(run, parquet, decoded, tmp_path, monkeypatch):
    monkeypatch.setattr("clusterkit.samples.rows.shutil.disk_usage", lambda folder: SimpleNamespace(free=40_000))
    _, note = fitted(run, parquet, tmp_path / "l.npy")
    assert sum(decoded) > 5 * len(X)
    assert note is not None
    assert "decoded in every pass, because a copy of" in note
    assert "more than half of what is free" in note


def test_a_disk_that_becomes_full_costs_the_copy_only(run, parquet, tmp_path, monkeypatch):
    labels, _ = fitted(run, parquet, tmp_path / "l.npy")
    files = []

    def full(**how):
        files.append(FileIO("/dev/full", "r+"))
        return files[-1]

    monkeypatch.setattr("clusterkit.samples.rows.tempfile.TemporaryFile", full)
    without, note = fitted(run, parquet, tmp_path / "m.npy")
    assert note == f"decoded in every pass, because the disk of {tmp_path} became full"
    assert np.array_equal(labels, without)
    assert [file.closed for file in files] == [True]


def test_a_folder_that_takes_no_temporary_file_costs_the_copy_only(run, parquet, tmp_path, monkeypatch):
    def refused(**how):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("clusterkit.samples.rows.tempfile.TemporaryFile", refused)
    _, note = fitted(run, parquet, tmp_path / "l.npy")
    assert note == f"decoded in every pass, because {tmp_path} takes no temporary file: No space left on device"


def test_ctrl_c_while_rows_are_copied_ends_the_command_and_leaves_nothing(run, parquet, tmp_path, monkeypatch):
    def interrupted(self, rows):
        raise KeyboardInterrupt

    monkeypatch.setattr(ParquetRows, "read", interrupted)
    answer = run("fit", parquet, *KMEANS, "-o", tmp_path / "l.npy")
    assert answer.exit_code != 0
    assert [path.name for path in tmp_path.iterdir()] == ["x.parquet"]


def test_a_missing_number_of_clusters_is_said_before_rows_are_copied(run, parquet, decoded, tmp_path):
    answer = run("fit", parquet, "--recipe", "emmc-multi", "--set", "balancer=transport", "-o", tmp_path / "l.npy")
    assert answer.exit_code == 2
    assert "Give it with -k N" in " ".join(answer.output.split())
    assert decoded == []


def test_a_copy_has_the_same_bits_and_names(parquet, tmp_path):
    rows = ParquetRows.of([str(parquet)])
    copy = spooled(rows, str(tmp_path))
    assert (copy.n, copy.d, copy.dtype, copy.names) == (rows.n, rows.d, rows.dtype, ("a", "b", "c"))
    assert np.array_equal(copy.read(slice(3, 1999)), rows.read(slice(3, 1999)))
    index = np.array([1999, 0, 5, 4, 5])
    assert np.array_equal(copy.gather(index), rows.gather(index))


@pytest.mark.parametrize(
    ("mounts", "inside"),
    [
        ("/dev/a / ext4 rw\ntmpfs /tmp tmpfs rw\n", True),
        ("tmpfs / tmpfs rw\n/dev/a /tmp ext4 rw\n", False),
        ("tmpfs /tmp tmpfs rw\n/dev/a /tmp ext4 rw\n", False),  # the later mount hides the earlier one
        ("/dev/a / ext4 rw\ntmpfs /tmp/folder tmpfs rw\n", False),
        ("", False),
    ],
)
def test_folders_in_memory_are_known(tmp_path, monkeypatch, mounts, inside):
    monkeypatch.setattr(fit, "IN_MEMORY", frozenset({"tmpfs"}))
    table = tmp_path / "mounts"
    table.write_text(mounts)
    assert fit._lies_in_memory("/tmp/results", str(table)) == inside
    assert not fit._lies_in_memory("/tmp/results", str(tmp_path / "absent"))
