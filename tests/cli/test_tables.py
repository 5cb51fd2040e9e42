"""Reading tables: the same numbers whatever the format, and one clear error for whatever is no table of numbers."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest

from clusterkit.cli.tables import NotNumeric, TableError, open_table, select


def read(source, columns=(), drop=(), **how):
    opened = open_table(source, **how)
    return opened.table(select(opened.names, columns, drop, opened.title), keep_rows=True)


def test_formats_agree(tmp_path, blobs):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    lines = [",".join(map(repr, row)) for row in blobs.tolist()]
    csv = "a,b\n" + "\n".join(lines) + "\n"
    (tmp_path / "t.csv").write_text(csv)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(csv.encode()))
    (tmp_path / "t.tsv").write_text(csv.replace(",", "\t"))
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(csv.replace(",", "\t").encode()))
    (tmp_path / "semicolons.csv").write_text(csv.replace(",", ";"))
    (tmp_path / "spaces.txt").write_text("\n".join("  " + line.replace(",", "   ") + " " for line in lines))
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf" + csv.replace("\n", "\r\n").encode())
    np.save(tmp_path / "t.npy", blobs)
    pq.write_table(pa.table({"a": blobs[:, 0], "b": blobs[:, 1]}), tmp_path / "t.parquet")
    files = sorted(tmp_path.iterdir())
    assert len(files) == 9
    for file in files:
        table = read(file)
        assert np.array_equal(table.data, blobs), file.name
        assert table.data.dtype == np.float64
        named = file.name not in ("t.npy", "spaces.txt")
        assert table.named is named, file.name
        assert table.names == (("a", "b") if named else ("x1", "x2"))
    assert np.array_equal(read(io.BytesIO(csv.encode())).data, blobs)


def test_float32_stays(tmp_path, blobs):
    np.save(tmp_path / "t.npy", blobs.astype(np.float32))
    assert read(tmp_path / "t.npy").data.dtype == np.float32


@pytest.mark.parametrize(
    ("content", "named", "names"),
    [
        ("a,b\n1,2\n", True, ("a", "b")),
        ("1,2\n3,4\n", False, ("x1", "x2")),
        ("id,2019\n1,5\n2,6\n", True, ("id", "2019")),
        ('"height, cm","width"\n1,2\n', True, ("height, cm", "width")),
        ("a,a,\n1,2,3\n", True, ("a", "a.2", "x3")),
        ("# note,b\n1,2\n", True, ("# note", "b")),
        ("7\n8\n", False, ("x1",)),
        ("\n\na,b\n\n1,2\n\n", True, ("a", "b")),
    ],
)
def test_header_is_found(write, content, named, names):
    table = read(write("t.csv", content))
    assert (table.named, table.names) == (named, names)


def test_rows_of_text_without_header(write):
    iris = write("iris.data", "5.1,3.5,setosa\n4.9,3.0,setosa\n")
    table = read(iris, drop=["3"])
    assert not table.named
    assert table.data.tolist() == [[5.1, 3.5], [4.9, 3.0]]
    assert table.rows == [["5.1", "3.5", "setosa"], ["4.9", "3.0", "setosa"]]


def test_header_can_be_told(write):
    path = write("t.csv", "1,2\n3,4\n")
    assert read(path, header=True).names == ("1", "2")
    assert read(path, header=True).data.tolist() == [[3.0, 4.0]]
    with pytest.raises(NotNumeric, match=r"column 'x1', row 1 \(line 1\): 'a'"):
        read(write("h.csv", "a,b\n3,4\n"), header=False)


@pytest.mark.parametrize(
    ("columns", "drop", "chosen"),
    [
        ([], [], [0, 1, 2, 3, 4]),
        (["b"], [], [1]),
        (["4", "a"], [], [3, 0]),
        (["2-4"], ["c"], [1, 3]),
        (["x-1", "a", "a"], [], [4, 0]),
        ([], ["1-3"], [3, 4]),
    ],
)
def test_selection(columns, drop, chosen):
    assert select(["a", "b", "c", "d", "x-1"], columns, drop, "t") == chosen


@pytest.mark.parametrize(
    ("columns", "drop", "message"),
    [
        (["hight"], [], "t: no column named 'hight'. Did you mean 'height'? Its 2 columns: height, width"),
        (["3"], [], "t: no column 3; there are 2 columns, counted from 1"),
        (["0"], [], "t: no column 0; there are 2 columns, counted from 1"),
        (["2-1"], [], "t: no column 2-1; there are 2 columns, counted from 1"),
        (["2"], ["width"], "t: no column is left to cluster"),
    ],
)
def test_selection_errors(columns, drop, message):
    with pytest.raises(TableError) as caught:
        select(["height", "width"], columns, drop, "t")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,b\n", "has no row of data, only the names a, b"),
        ("a," + 999 * "b" + "\n", f"has no row of data, only the names a, {80 * 'b'}"),
        ("a,b\n1,2\n3\n", "row 2 (line 3) has 1 cells instead of 2"),
        ("a,b\n1,2\n3,4,5\n", "row 2 (line 3) has 3 cells instead of 2"),
        ("a,b\n1,2\n3,x\n4,y\n", "not a finite number in column 'b', row 2 (line 3): 'x'."),
        ("a,b\n1,2\n\n3,inf\n", "not a finite number in column 'b', row 2 (line 4): 'inf'."),
        ("a,b\n1,2\n3,1_0\n", "not a finite number in column 'b', row 2 (line 3): '1_0'."),
        ("a,b\n1,2\n3,\n", "missing value in column 'b', row 2 (line 3): ''."),
        ("a,b\n1,2\nNA,4\n", "missing value in column 'a', row 2 (line 3): 'NA'."),
        ("a,b\n1,2\nnan,4\n", "missing value in column 'a', row 2 (line 3): 'nan'."),
        ("a;b\n1,5;2\n", "not a finite number in column 'a', row 1 (line 2): '1,5'."),
        ("a,b,c,d,e\np,q,r,s,1\n", "row 1 (line 2): 'r'; and 1 more columns."),
    ],
)
def test_bad_text(write, content, message):
    with pytest.raises(TableError) as caught:
        read(write("t.csv", content))
    assert message in str(caught.value)
    assert "t.csv" in str(caught.value)


def test_what_is_not_used_may_be_text(write):
    assert read(write("t.csv", "a,b\n1,x\n2,y\n"), columns=["a"]).data.tolist() == [[1.0], [2.0]]


def test_bad_files(tmp_path):
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(TableError, match=r"b\.csv is not UTF-8 text\. Formats: CSV, TSV"):
        read(tmp_path / "b.csv")
    (tmp_path / "b.csv.gz").write_bytes(b"\x1f\x8b broken")
    with pytest.raises(TableError, match="cannot be unpacked"):
        read(tmp_path / "b.csv.gz")
    (tmp_path / "b.npy").write_bytes(b"nothing")
    with pytest.raises(TableError, match="is no NPY file of numbers"):
        read(tmp_path / "b.npy")
    np.save(tmp_path / "o.npy", np.array([{}], dtype=object))
    with pytest.raises(TableError, match="is no NPY file of numbers"):
        read(tmp_path / "o.npy")
    np.save(tmp_path / "one.npy", np.arange(3.0))
    with pytest.raises(TableError, match=r"needs real numbers in rows and columns, got float64 of shape \(3,\)"):
        read(tmp_path / "one.npy")
    np.save(tmp_path / "e.npy", np.empty((0, 2)))
    with pytest.raises(TableError, match="has no row of data"):
        read(tmp_path / "e.npy")
    np.save(tmp_path / "n.npy", np.array([[1.0, 2.0], [3.0, np.nan]]))
    with pytest.raises(NotNumeric, match="missing value in column 'x2', row 2: 'nan'"):
        read(tmp_path / "n.npy")


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": ["p", "q"], "n": [1, 2], "yes": [True, False], "gap": [None, 1.5]}), path)
    assert read(path, columns=["n", "yes"]).data.tolist() == [[1.0, 1.0], [2.0, 0.0]]
    with pytest.raises(NotNumeric, match="not a finite number in column 'id', row 1: 'p'") as caught:
        read(path)
    assert caught.value.columns == ("id",)
    with pytest.raises(NotNumeric, match="missing value in column 'gap', row 1"):
        read(path, drop=["id"])
    path.write_bytes(b"nothing")
    with pytest.raises(TableError, match="is no Parquet file"):
        read(path)


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(TableError, match="Parquet needs pyarrow; install clusterkit-toolkit with the extra 'parquet'"):
        read(tmp_path / "t.parquet")


def test_an_empty_line_of_a_single_column_is_a_missing_value():
    with pytest.raises(TableError, match="line 3 is empty, so column 'label' has no value there"):
        read(io.BytesIO(b"label\n0\n\n0\n1\n"))
    assert len(read(io.BytesIO(b"\nlabel\n0\n1\n\n\n")).data) == 2
