"""Reading a data folder: values, labels, checksums, broken files."""

from __future__ import annotations

import gzip
import hashlib

import numpy as np
import pytest
from clusterkit_papers.datasets import Dataset, DatasetCorrupt, load, names
from scipy import sparse


def test_table_as_in_the_file(folder):
    letter = load("letter", data_home=folder)
    np.testing.assert_array_equal(letter.data, [[1, 2], [3, 4], [5, 6], [7, 8]])
    assert letter.data.dtype == np.float64
    assert letter.target.tolist() == ["A", "C", "B", "A"]
    assert letter.feature_names == ("x0", "x1")
    assert letter.n_classes == 3
    assert letter.description == "Origin: github.com/some/repository, letter.data (version abc). Licence: free."


def test_empty_cells_are_nan_and_integer_labels_integers(folder):
    gaps = load("gaps", data_home=folder)
    np.testing.assert_array_equal(gaps.data, [[np.nan, 1, 2.5], [1, np.nan, 2], [1e-3, 2, np.nan]])
    assert gaps.target.dtype == np.int64
    assert gaps.target.tolist() == [0, 1, -1]


def test_sparse_set(folder):
    tdt2 = load("tdt2", data_home=folder)
    assert sparse.issparse(tdt2.data)
    assert tdt2.data.format == "csr"
    assert tdt2.data.dtype == np.float64
    assert tdt2.data.shape == (10, 40_000)
    assert tdt2.data[9, 9] == 10
    assert tdt2.target.dtype == np.int64
    assert repr(tdt2) == "Dataset('tdt2', 10 x 40000, 3 classes)"


def test_folder_from_variable(folder, monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_DATA", str(folder))
    assert load("letter").data.shape == (4, 2)


def test_every_load_gives_its_own_arrays(folder):
    load("letter", data_home=folder).data[:] = 0
    assert load("letter", data_home=folder).data.sum() == 36


def test_folder_goes_before_scikit_learn(folder, add_file):
    assert load("iris", data_home=folder).data.shape == (150, 4)
    add_file("iris.csv.gz", gzip.compress(b"x0,label\n1,0\n", mtime=0))
    assert load("iris", data_home=folder).data.shape == (1, 1)
    assert names(data_home=folder)["iris"] == ("folder", "scikit-learn")


def test_corrupt_file_is_named_with_both_checksums(folder):
    path = folder / "letter.csv.gz"
    expected = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(gzip.compress(b"x0,label\n1,A\n", mtime=0))
    got = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(DatasetCorrupt) as error:
        load("letter-ab", data_home=folder)
    assert all(part in str(error.value) for part in (str(path), f"expected {expected}", f"got {got}"))


def test_listed_file_is_missing(folder):
    (folder / "letter.csv.gz").unlink()
    with pytest.raises(DatasetCorrupt, match=r"neither letter\.csv\.gz nor letter\.npz"):
        load("letter", data_home=folder)


def test_folder_without_manifest_is_an_error_for_every_name(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"is no data folder: it has no manifest\.csv"):
        load("digits", data_home=tmp_path)
    with pytest.raises(FileNotFoundError, match="is no data folder"):
        names(data_home=tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ("name,n\na,3\n", "has no column sha256"),
        ("", "has no column name and no column sha256"),
        ("name,sha256\na,\n", "the sha256 of 'a' is '', not 64 hexadecimal digits"),
        ("name,sha256\n../a,0\n", r"'\.\./a' cannot be the name"),
    ],
)
def test_broken_manifest(folder, manifest, message):
    (folder / "manifest.csv").write_text(manifest)
    with pytest.raises(ValueError, match=message):
        load("letter", data_home=folder)


@pytest.mark.parametrize(
    ("filename", "content", "message"),
    [
        ("bad.csv.gz", gzip.compress(b"x0,x1\n1,2\n", mtime=0), "the last column is 'x1', not 'label'"),
        ("bad.csv.gz", gzip.compress(b"x0,label\n", mtime=0), "there are no rows"),
        ("bad.csv.gz", gzip.compress(b"", mtime=0), "cannot be read"),
        ("bad.csv.gz", gzip.compress(b"x0,label\n1,a\n2,\n", mtime=0), "row 1 has no label"),
        ("bad.csv.gz", gzip.compress(b"x0,label\none,a\n", mtime=0), "could not convert string 'one'"),
        ("bad.csv.gz", gzip.compress(b"x0,x1,label\n1,a\n2,b\n", mtime=0), "2 rows under 3 names"),
        ("bad.csv.gz", b"x0,label\n1,a\n", "cannot be read: Not a gzipped file"),
        ("bad.npz", b"nothing", "cannot be read"),
    ],
)
def test_unreadable_file(folder, add_file, filename, content, message):
    add_file(filename, content)
    with pytest.raises(ValueError, match=message) as error:
        load("bad", data_home=folder)
    assert filename in str(error.value)


def test_parts_of_a_dataset_must_fit():
    with pytest.raises(ValueError, match=r"data of shape \(2, 2\) with a target of shape \(3,\)"):
        Dataset("odd", np.eye(2), np.arange(3), "", ("a", "b"))
