"""`clusterkit.open`: files and objects as rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import clusterkit
from clusterkit.core.errors import InvalidData
from clusterkit.datasets import opening

X = np.random.default_rng(0).standard_normal((1000, 3)).astype(np.float32)


@pytest.fixture
def parquet(tmp_path):
    """Two Parquet files with row groups of 170 rows."""
    pa = pytest.importorskip("pyarrow", reason="Parquet files are read by pyarrow")
    from pyarrow.parquet import write_table

    for number, rows in enumerate((slice(0, 600), slice(600, 1000))):
        columns = {name: X[rows, column] for column, name in enumerate("abc")}
        write_table(pa.table({**columns, "title": ["x"] * len(X[rows])}), tmp_path / f"part-{number}.parquet",
                    row_group_size=170)  # fmt: skip
    return tmp_path


def test_a_file_of_numpy_is_mapped(tmp_path):
    np.save(tmp_path / "x.npy", X)
    rows = clusterkit.open(tmp_path / "x.npy")
    assert (rows.n, rows.d, rows.dtype, rows.names) == (1000, 3, np.float32, None)
    assert np.array_equal(rows.read(slice(10, 700)), X[10:700])
    assert np.array_equal(rows.gather(np.array([999, 3, 3])), X[[999, 3, 3]])
    assert len(pickle.dumps(rows)) < 1000
    assert np.array_equal(pickle.loads(pickle.dumps(rows)).read(slice(0, 5)), X[:5])


@pytest.mark.parametrize("batch", [7, 100, 4096])
@pytest.mark.parametrize("what", ["*.parquet", ""])
def test_parquet_is_read_in_order_from_anywhere(parquet, what, batch, monkeypatch):
    monkeypatch.setattr(opening, "BATCH_ROWS", batch)
    rows = clusterkit.open(parquet / what if what else parquet, columns=["a", "b", "c"])
    assert (rows.n, rows.d, rows.dtype, rows.names) == (1000, 3, np.float32, ("a", "b", "c"))
    for start, stop in [(0, 50), (50, 400), (400, 1000), (333, 340), (340, 341), (0, 1000), (999, 1000)]:
        assert np.array_equal(rows.read(slice(start, stop)), X[start:stop]), (start, stop)
    index = np.array([999, 0, 170, 169, 600, 599, 0])
    assert np.array_equal(rows.gather(index), X[index])
    assert np.array_equal(pickle.loads(pickle.dumps(rows)).read(slice(5, 9)), X[5:9])
    assert np.array_equal(clusterkit.open(parquet, columns=["c", "a"]).read(slice(0, 4)), X[:4, [2, 0]])


def test_columns_that_are_no_numbers_are_named(parquet):
    with pytest.raises(InvalidData, match=r"column 'title' of .* has the type string"):
        clusterkit.open(parquet)
    with pytest.raises(InvalidData, match="has no column 'd'; it has a, b, c, title"):
        clusterkit.open(parquet, columns=["a", "d"])


def test_missing_values_are_named(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="Parquet files are read by pyarrow")
    from pyarrow.parquet import write_table

    write_table(pa.table({"a": [1.0, 2.0], "b": [None, 2.0]}), tmp_path / "gaps.parquet")
    with pytest.raises(InvalidData, match="column 'b' has missing values"):
        clusterkit.open(tmp_path / "gaps.parquet").read(slice(0, 2))


def test_objects_with_a_shape_and_slices_are_rows():
    class Stored:
        shape, dtype = (1000, 3), np.dtype(np.int32)

        def __getitem__(self, rows):
            assert isinstance(rows, slice)
            return (10 * X[rows]).astype(np.int32)

    rows = clusterkit.open(Stored())
    assert rows.dtype == np.float64
    whole = (10 * X).astype(np.int32)
    assert np.array_equal(rows.read(slice(3, 9)), whole[3:9])
    assert np.array_equal(rows.gather(np.array([8, 2, 3])), whole[[8, 2, 3]])


def test_zarr_is_read(tmp_path):
    zarr = pytest.importorskip("zarr", reason="zarr reads its own format")
    stored = zarr.create_array(str(tmp_path / "x.zarr"), shape=X.shape, chunks=(90, 3), dtype="float32")
    stored[:] = X
    rows = clusterkit.open(tmp_path / "x.zarr")
    assert np.array_equal(rows.read(slice(80, 200)), X[80:200])


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("nowhere.parquet", "there is no such file"),
        ("nowhere.npy", "cannot open 'nowhere.npy'"),
        (np.zeros(3), "an object with a shape of two numbers"),
        (np.zeros((2, 2), dtype="U1"), "rows must be numbers, got the type"),
    ],
)
def test_what_cannot_be_opened_says_why(source, reason):
    with pytest.raises(InvalidData, match=reason):
        clusterkit.open(source)


def test_text_tables_are_refused_with_a_way_out(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InvalidData, match="written as Parquet once"):
        clusterkit.open(tmp_path / "x.csv")
