"""Files too large for the memory: read block by block, with the labels of the fit in memory."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import clusterkit
from clusterkit import recipe
from clusterkit.cli import fit
from clusterkit.cli.data import TableOptions
from clusterkit.cli.failures import BadInput
from clusterkit.cli.predict import labels_by_pieces
from clusterkit.estimators.preparing import fit_prepared
from clusterkit.tables import Preparation, TableError, TableWarning, read_table
from clusterkit.testing.compare import small_groups

X = make_blobs(2000, 3, centers=3, random_state=0)[0].astype(np.float32)
KMEANS = ("--recipe", "kmeans", "-k", 3, "--set", "n_init=1")


@pytest.fixture
def little_memory(monkeypatch):
    """So little that 2,000 rows are many."""
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "60K")
    with small_groups(500):
        yield


@pytest.fixture
def npy(tmp_path):
    np.save(tmp_path / "x.npy", X)
    return tmp_path / "x.npy"


@pytest.fixture
def parquet(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="Parquet files are read by pyarrow")
    from pyarrow.parquet import write_table

    path = tmp_path / "x.parquet"
    write_table(pa.table({**{name: X[:, j] for j, name in enumerate("abc")}, "title": ["x"] * len(X)}), path)
    return path


def expected():
    with small_groups(500):
        return recipe("kmeans", n_clusters=3, n_init=1, random_state=0).fit(X).labels_


def test_labels_of_a_large_file_are_those_of_the_fit_in_memory(run, npy, little_memory, tmp_path):
    labels = tmp_path / "labels.tsv.gz"
    answer = run("fit", npy, *KMEANS, "-o", labels)
    assert answer.exit_code == 0, answer.output
    assert "read block by block" in answer.output
    assert "whether a single column makes the clusters was not tested" in " ".join(answer.output.split())
    assert np.array_equal(np.loadtxt(labels, skiprows=1, dtype=int), expected())


def test_parquet_is_read_and_written(run, parquet, little_memory, tmp_path):
    from pyarrow.parquet import read_table

    labels, model = tmp_path / "l.parquet", tmp_path / "m.clusterkit"
    answer = run("fit", parquet, *KMEANS, "--drop", "title", "-o", labels, "--save", model, "--json")
    assert answer.exit_code == 0, answer.output
    facts = json.loads(answer.stdout)
    assert facts["columns"] == ["a", "b", "c"]
    assert facts["read"] == "block by block"
    assert np.array_equal(read_table(labels)["label"].to_numpy(), expected())

    assert np.array_equal(clusterkit.load(model).predict(clusterkit.open(parquet, columns=["a", "b", "c"])), expected())


def test_a_small_file_and_a_recipe_that_needs_all_rows_are_read_at_once(run, npy, monkeypatch):
    assert not fit.is_large(str(npy))
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "60K")
    assert fit.is_large(str(npy))
    answer = run("fit", npy, "--recipe", "nmf", "-k", 3, "--set", "n_init=1", "--set", "max_iter=5")
    assert "block by block" not in answer.output


def test_what_a_large_file_cannot_have_is_refused_with_the_way_out(
    run, npy, parquet, csv, little_memory, tmp_path, error_of
):
    pytest.importorskip("pandas", reason="text is read in pieces by pandas")
    for arguments, reason in (
        (("--with-data", "-o", tmp_path / "l.csv"), "--with-data needs all rows in memory"),
        (("--plot", tmp_path / "p.png"), "--plot needs all rows in memory"),
        (("-k", "2-5"), "Give one number with -k N"),
    ):
        assert reason in error_of(run("fit", npy, *KMEANS, *arguments))
    for data, options, reason in (
        (npy, {"columns": ("1",)}, "its columns have no names"),
        (parquet, {"drop": ("nothing",)}, "no column named 'nothing'"),
        (parquet, {"drop": ("1-4",)}, "no column is left to cluster"),
        (parquet, {}, "columns that are no numbers: title \\(string\\).*--drop title"),
        (csv, {"drop": ("id",)}, "'word', row 1: 'w0'.*--drop word"),
    ):
        with pytest.raises((BadInput, TableError), match=reason):
            fit.rows_of(str(data), TableOptions(**options))


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "x.csv"
    lines = [f"{i},{','.join(map(repr, row))},w{i % 7}" for i, row in enumerate(X.astype(float).tolist())]
    path.write_text("\n".join(["id,a,b,c,word", *lines]) + "\n")
    return path


def test_text_is_parsed_once_and_removed(run, csv, little_memory, tmp_path, monkeypatch):
    pytest.importorskip("pandas", reason="text is read in pieces by pandas")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    labels, copy = tmp_path / "l.npy", tmp_path / "copy.npy"
    answer = run("fit", csv, *KMEANS, "--drop", "id,word", "-o", labels, "--cache", copy)
    assert answer.exit_code == 0, answer.output
    assert "read block by block" in answer.output
    assert np.array_equal(np.load(labels), expected())
    assert np.array_equal(np.load(copy), X)
    assert not list(tmp_path.glob("clusterkit-spool-*"))


def test_a_missing_number_of_clusters_is_said_before_rows_are_copied(run, parquet, little_memory, tmp_path):
    arguments = ("--recipe", "emmc-multi", "--set", "balancer=transport", "--drop", "title")
    answer = run("fit", parquet, *arguments, "--cache", tmp_path / "copy.npy")
    assert answer.exit_code == 2
    assert "Give it with -k N" in " ".join(answer.output.split())
    assert not (tmp_path / "copy.npy").exists()


def test_labels_of_new_rows_of_a_large_file_are_those_in_memory(run, npy, parquet, csv, tmp_path, monkeypatch):
    pytest.importorskip("pandas", reason="text is read in pieces by pandas")
    answers = []
    for data, options in ((csv, ("--drop", "id")), (parquet, ()), (npy, ())):
        model = tmp_path / f"{data.name}.clusterkit"
        assert run("fit", data, *KMEANS, *options, "--save", model).exit_code == 0
        answers.append((model, data, run("predict", model, data).stdout))
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "60K")
    monkeypatch.setattr("clusterkit.tables.reading.chunks.CHUNK_ROWS", 300)
    for model, data, in_memory in answers:
        assert run("predict", model, data).stdout == in_memory


def test_a_warning_about_the_rows_of_every_piece_is_one(csv, tmp_path, monkeypatch):
    pytest.importorskip("pandas", reason="text is read in pieces by pandas")
    kmeans = recipe("kmeans", n_clusters=3, n_init=1, random_state=0)
    fit_prepared(kmeans, read_table(csv), Preparation(drop=("id", "word")))
    lines = csv.read_text().splitlines()
    for i in range(10, len(lines), 100):
        cells = lines[i].split(",")
        lines[i] = ",".join([cells[0], f"w{i}", *cells[2:]])
    data = tmp_path / "new.csv"
    data.write_text("\n".join(lines))
    monkeypatch.setattr("clusterkit.tables.reading.chunks.CHUNK_ROWS", 300)
    model = {"pipeline": kmeans, "columns": ["a", "b", "c"], "named": True}
    with pytest.warns(TableWarning) as caught:
        assert len(labels_by_pieces(model, str(data), TableOptions())) == len(X)
    [warning] = [str(one.message) for one in caught]
    assert "column 'a': 3 cells are no number and counted as a gap, the first one in row 10: 'w10'" in warning
    assert "(and likewise in 6 other pieces of the file)" in warning


@pytest.mark.deep
@pytest.mark.skipif(sys.platform != "linux", reason="limits of data segments, and /proc, are of Linux")
def test_a_parquet_file_is_fitted_under_a_limit_of_memory(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="Parquet files are read by pyarrow")
    from pyarrow.parquet import write_table

    rng, path, labels = np.random.default_rng(0), tmp_path / "x.parquet", tmp_path / "l.parquet"
    write_table(pa.table({f"x{j}": rng.standard_normal(70_000, dtype=np.float32) for j in range(20)}), path)
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_DATA, (1200 * 2**20, 1200 * 2**20)); "
        "from clusterkit.cli import main; sys.argv[0] = 'clusterkit'; main()"
    )
    arguments = ["fit", path, "--recipe", "kmeans", "-k", 3, "--set", "n_init=1", "--set", "max_iter=2", "-o", labels]
    environment = {**os.environ, "CLUSTERKIT_MEMORY_CAP": "20M", "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    environment.pop("ARROW_DEFAULT_MEMORY_POOL", None)
    # without room, OpenBLAS does not end
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], env=environment, capture_output=True, text=True,
        timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "read block by block" in done.stdout
    assert labels.is_file()


def test_a_large_table_with_categories_is_fitted_block_by_block_by_the_mixture(run, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=3000)
    kind = np.array(["a", "b"])[np.where(rng.random(3000) < 0.8, y, 0)]
    X = 8.0 * y[:, None] + rng.normal(size=(3000, 2))
    rows = [f"{a:.3f},{level},{b:.3f}" for (a, b), level in zip(X, kind, strict=True)]
    (tmp_path / "x.csv").write_text("size,kind,mass\n" + "\n".join(rows) + "\n")
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "100K")
    monkeypatch.setattr("clusterkit.tables.reading.chunks.CHUNK_ROWS", 700)
    monkeypatch.setattr("clusterkit.estimators.mixed_blocks.SAMPLE", 300)
    monkeypatch.setattr("clusterkit.samples.memory.require", lambda *_: None)  # of the sample
    arguments = ("--recipe", "mixture", "-k", 2, "-o", tmp_path / "labels.csv", "--save", tmp_path / "m.clusterkit")
    answer = run("fit", tmp_path / "x.csv", *arguments)
    assert answer.exit_code == 0, answer.output
    assert "block by block" in answer.output
    labels = np.loadtxt(tmp_path / "labels.csv", skiprows=1, dtype=int)
    assert ((labels == labels[0]) == (y == y[0])).mean() > 0.99
    assert run("predict", tmp_path / "m.clusterkit", tmp_path / "x.csv", "-o", tmp_path / "again.csv").exit_code == 0
    assert (np.loadtxt(tmp_path / "again.csv", skiprows=1, dtype=int) == labels).all()
