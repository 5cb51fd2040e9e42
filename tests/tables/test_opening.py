"""`clusterkit.open`: files and objects as rows."""

from __future__ import annotations

import gc
import os
import pickle
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import clusterkit
from clusterkit.errors import InvalidData, NeedsSpace
from clusterkit.tables import TableWarning
from clusterkit.tables.reading import opening

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


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["f2", "f4", "f2"], np.float32),
        (["f4", "i8", "?"], np.float64),
        (["i1", "u8", "f2"], np.float64),
    ],
)
def test_columns_of_several_types_are_the_numbers_that_were_written(tmp_path, types, expected):
    pa = pytest.importorskip("pyarrow", reason="Parquet files are read by pyarrow")
    from pyarrow.parquet import write_table

    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 2 if kind == "?" else 100, size=500).astype(kind) for kind in types]
    columns[1][7] = 2**53 if types[1] in ("i8", "u8") else 0.1
    write_table(pa.table(dict(zip("abc", columns, strict=True))), tmp_path / "x.parquet", row_group_size=170)
    rows = clusterkit.open(tmp_path / "x.parquet")
    assert rows.dtype == expected
    assert np.array_equal(rows.read(slice(0, 500)), np.column_stack([column.astype(expected) for column in columns]))


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="Linux says what is mapped")
def test_files_are_mapped_while_they_are_read_only(parquet):
    rows = clusterkit.open(parquet, columns=["a", "b", "c"])

    def mapped():
        with open("/proc/self/maps") as maps:
            return [line for line in maps if str(parquet) in line]

    rows.read(slice(0, 100))
    assert len(mapped()) == 1
    rows.read(slice(100, 700))
    assert ["part-1" in line for line in mapped()] == [True]
    rows.read(slice(700, 1000))
    rows.read(slice(999, 1000))
    del rows
    gc.collect()
    assert not mapped()


def test_what_was_decoded_goes_when_reading_begins_elsewhere(parquet):
    import pyarrow as pa

    rows = clusterkit.open(parquet, columns=["a", "b", "c"])
    gc.disable()
    try:
        rows.read(slice(0, 100))
        once = pa.total_allocated_bytes()
        for _ in range(5):
            rows.read(slice(0, 100))
        assert once > 0
        assert pa.total_allocated_bytes() == once
    finally:
        gc.enable()


def test_columns_that_are_no_numbers_are_named(parquet):
    with pytest.raises(InvalidData, match=r"columns that are no numbers: title \(string\); choose"):
        clusterkit.open(parquet)
    with pytest.raises(InvalidData, match="has no column 'd'; it has a, b, c, title"):
        clusterkit.open(parquet, columns=["a", "d"])


def test_a_missing_value_is_named_by_column_and_row(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="Parquet files are read by pyarrow")
    from pyarrow.parquet import write_table

    gaps = [None if row in (431, 700) else 1.5 for row in range(1000)]
    write_table(pa.table({"a": X[:, 0], "b": gaps}), tmp_path / "gaps.parquet", row_group_size=170)
    with pytest.raises(InvalidData, match="column 'b' has no value in row 431;"):
        clusterkit.open(tmp_path / "gaps.parquet").read(slice(400, 900))


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


def test_parts_of_parquet_that_are_broken_or_wider_are_named(parquet):
    from pyarrow.parquet import read_table, write_table

    first = parquet / "part-0.parquet"
    for part in parquet.iterdir():
        write_table(read_table(part, columns=["a", "b"]), part)
    table = read_table(first)
    write_table(table.append_column("more", table.column("a")), parquet / "part-2.parquet")
    with pytest.raises(InvalidData, match=r"part-2\.parquet' has columns that .*part-0\.parquet' has not: more"):
        clusterkit.open(parquet)
    assert clusterkit.open(parquet, columns=["a", "b"]).d == 2
    (parquet / "part-2.parquet").write_bytes(first.read_bytes()[:-50])
    with pytest.raises(InvalidData, match=r"cannot open '.*part-2\.parquet': "):
        clusterkit.open(parquet, columns=["a"])


def test_folders_without_parquet_and_names_that_choose_nothing(tmp_path):
    with pytest.raises(InvalidData, match=r"the folder holds no \.parquet; name other files by a pattern"):
        clusterkit.open(tmp_path)
    with pytest.raises(InvalidData, match="name of a file or a folder is empty"):
        clusterkit.open("")
    with pytest.raises(InvalidData, match="chooses no column"):
        clusterkit.open(tmp_path, columns=[])


def test_files_of_other_kinds_are_refused_with_those_that_are_read(tmp_path):
    (tmp_path / "x.json").write_text("[1, 2]")
    with pytest.raises(InvalidData, match=r"it is no Parquet, \.npy, \.zarr, \.csv"):
        clusterkit.open(tmp_path / "x.json")


class TestText:
    @pytest.fixture(autouse=True)
    def _pandas(self):
        pytest.importorskip("pandas", reason="text is read in pieces by pandas")

    @staticmethod
    def written(tmp_path, X, name="x.csv", mark="."):
        sep = ";" if mark == "," else ","
        lines = [sep.join(repr(value).replace(".", mark) for value in row) for row in X.tolist()]
        (tmp_path / name).write_text("\n".join([sep.join("abc"), *lines]) + "\n")
        return str(tmp_path / name)

    @pytest.mark.parametrize("mark", [".", ","])
    def test_numbers_are_those_of_the_text_whatever_the_piece(self, tmp_path, monkeypatch, mark):
        X = np.random.default_rng(0).standard_normal((1000, 3))
        monkeypatch.setattr("clusterkit.tables.reading.chunks.CHUNK_ROWS", 170)
        rows = clusterkit.open(self.written(tmp_path, X, mark=mark))
        assert (rows.n, rows.d, rows.names, rows.dtype) == (1000, 3, ("a", "b", "c"), np.float64)
        np.testing.assert_allclose(rows.read(slice(150, 500)), X[150:500], rtol=1e-12)  # pandas 2.1 rounds otherwise
        index = np.array([999, 0, 5, 4, 5, 7])  # neighbours are read at once, and 7 is none of 5
        np.testing.assert_allclose(rows.gather(index), X[index], rtol=1e-12)

    def test_several_files_and_some_columns(self, tmp_path):
        X = np.random.default_rng(0).standard_normal((60, 3))
        for number in range(3):
            self.written(tmp_path, X[20 * number : 20 * number + 20], f"part-{number}.csv")
        rows = clusterkit.open(str(tmp_path / "part-*.csv"), columns=["c", "a"])
        assert rows.names == ("c", "a")
        np.testing.assert_allclose(rows.read(slice(0, 60)), X[:, [2, 0]], rtol=1e-12)

    def test_columns_of_several_files_are_found_by_their_names(self, tmp_path):
        (tmp_path / "part-0.csv").write_text("a,b,c\n1,2,3\n")
        (tmp_path / "part-1.csv").write_text("c,a,b\n6,4,5\n")
        rows = clusterkit.open(str(tmp_path / "part-*.csv"))
        assert rows.read(slice(0, 2)).tolist() == [[1, 2, 3], [4, 5, 6]]
        assert clusterkit.open(str(tmp_path / "part-*.csv"), columns=["c"]).read(slice(0, 2)).tolist() == [[3], [6]]
        (tmp_path / "part-1.csv").write_text("c,a,d\n6,4,5\n")
        with pytest.raises(InvalidData, match=r"has other columns than .*: c, a, d instead of a, b, c"):
            clusterkit.open(str(tmp_path / "part-*.csv"))

    def test_equal_names_hold_their_order(self, tmp_path):
        (tmp_path / "part-0.csv").write_text("a,a,b\n1,2,3\n")
        (tmp_path / "part-1.csv").write_text("b,a,a\n6,4,5\n")
        with pytest.warns(TableWarning), pytest.raises(InvalidData, match="has other columns than"):
            clusterkit.open(str(tmp_path / "part-*.csv"))

    def test_the_copy_goes_with_the_rows(self, tmp_path, monkeypatch):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        rows = clusterkit.open(self.written(tmp_path, np.ones((9, 3))))
        assert len(list(tmp_path.glob("clusterkit-spool-*"))) == 1
        del rows
        gc.collect()
        assert not list(tmp_path.glob("clusterkit-spool-*"))

    def test_a_word_is_named_and_nothing_is_left(self, tmp_path, monkeypatch):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        path = self.written(tmp_path, np.ones((3000, 3)))
        with open(path, "a") as file:
            file.write("1,many,3\n")
        with pytest.raises(ValueError, match="not a finite number in column 'b', row 3001: 'many'"):
            clusterkit.open(path)
        assert not list(tmp_path.glob("clusterkit-spool-*"))

    def test_lacking_space_is_said_with_the_number_before_the_work(self, tmp_path, monkeypatch):
        monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=200))
        with pytest.raises(NeedsSpace, match="needs 264 bytes"):
            clusterkit.open(self.written(tmp_path, np.ones((9, 3))))
        with pytest.raises(NeedsSpace, match=r"a copy of 100 x 5 float32 needs 2,000 bytes"):
            clusterkit.open(np.zeros((100, 5)), cache=tmp_path / "copy.npy")
        assert not (tmp_path / "copy.npy").exists()


def test_a_copy_is_an_array_of_float32_and_is_read_instead(tmp_path):
    X = np.random.default_rng(0).standard_normal((500, 4))
    rows = clusterkit.open(X, cache=tmp_path / "copy.npy")
    assert (rows.n, rows.d, rows.dtype) == (500, 4, np.float32)
    np.testing.assert_array_equal(rows.read(slice(100, 300)), X[100:300].astype(np.float32))
    np.testing.assert_array_equal(np.load(tmp_path / "copy.npy"), X.astype(np.float32))
    np.testing.assert_array_equal(clusterkit.open(tmp_path / "copy.npy").read(slice(0, 500)), X.astype(np.float32))
    assert pickle.loads(pickle.dumps(rows)).read(slice(0, 1)).shape == (1, 4)


@pytest.mark.parametrize("kind", ["path", "map"])
def test_a_copy_never_replaces_what_it_is_made_of(tmp_path, kind):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(30.0).reshape(10, 3))
    source = path if kind == "path" else np.load(path, mmap_mode="r")
    before = path.read_bytes()
    (tmp_path / "link.npy").symlink_to(path)
    for cache in (path, tmp_path / "link.npy"):
        with pytest.raises(InvalidData, match="is the file that is read"):
            clusterkit.open(source, cache=cache)
    assert path.read_bytes() == before


def test_a_copy_replaces_an_earlier_one_and_no_other_file(tmp_path):
    copy, other = tmp_path / "copy.npy", tmp_path / "other.npy"
    copy.touch()  # nothing is lost with an empty file
    for _ in range(2):
        assert np.array_equal(clusterkit.open(X.astype(float), cache=copy).read(slice(0, 1000)), X)
    changed = X.copy()
    changed[-1, 0] += 1
    for content in (changed, X.astype(float), X[:500], X.astype(np.int64)):
        np.save(other, content)
        before = other.read_bytes()
        with pytest.raises(InvalidData, match="is there already and holds something else"):
            clusterkit.open(X, cache=other)
        assert other.read_bytes() == before
    other.write_bytes(b"no array")
    with pytest.raises(InvalidData, match="is there already and holds something else"):
        clusterkit.open(X, cache=other)


@pytest.mark.parametrize(
    ("cache", "reason"), [("copy.bin", "must end in .npy"), ("absent/copy.npy", "there is no folder")]
)
def test_a_copy_that_cannot_be_written_or_read(tmp_path, cache, reason):
    with pytest.raises(InvalidData, match=reason):
        clusterkit.open(np.zeros((4, 2)), cache=tmp_path / cache)


def test_columns_without_names_are_not_chosen(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((4, 2)))
    for source in (tmp_path / "x.npy", np.zeros((4, 2))):
        with pytest.raises(InvalidData, match="columns= chooses columns of Parquet files and of text"):
            clusterkit.open(source, columns=["a"])


def test_arrays_that_are_no_tables_are_named(tmp_path):
    np.save(tmp_path / "line.npy", np.zeros(4))
    (tmp_path / "empty.npy").write_bytes(b"")
    with pytest.raises(InvalidData, match=r"line.npy' row by row: it has \(4,\)"):
        clusterkit.open(tmp_path / "line.npy")
    with pytest.raises(InvalidData, match=r"cannot open .*empty.npy"):
        clusterkit.open(tmp_path / "empty.npy")


class TestEqualNames:
    def test_of_a_text_are_told(self, tmp_path):
        path = tmp_path / "twice.csv"
        path.write_text("a,b,a\n1,2,3\n4,5,6\n")
        with pytest.warns(
            TableWarning, match=r"same name.* column 1 \(a\) is called 'a', column 3 \(a\) is called 'a.2'"
        ):
            rows = clusterkit.open(path)
        assert rows.names == ("a", "b", "a.2")
        with pytest.warns(TableWarning, match=r"column 1 \(a\) is called 'a'"):
            assert clusterkit.open(path, columns=["a"]).read(slice(0, 2)).tolist() == [[1.0], [4.0]]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert clusterkit.open(path, columns=["b"]).names == ("b",)

    def test_of_parquet_are_refused(self, tmp_path):
        pyarrow = pytest.importorskip("pyarrow")
        columns = [pyarrow.array([1.0, 2.0]), pyarrow.array([3.0, 4.0])]
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.Table.from_arrays(columns, names=["a", "a"]), tmp_path / "twice.parquet")
        with pytest.raises(InvalidData, match="has 2 columns named 'a'; rename them"):
            clusterkit.open(tmp_path / "twice.parquet")
