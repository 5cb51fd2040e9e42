"""Reading tables: the same cells whatever the format, and one clear error for whatever is no table."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest

pytest.importorskip("pandas")

from clusterkit.errors import MissingLibrary
from clusterkit.tables import NotNumeric, TableError, TableWarning, read_table, select
from clusterkit.tables.reading.chunks import table_chunks


@pytest.fixture
def blobs():
    return np.round(np.random.default_rng(0).normal(size=(30, 2)), 4)


@pytest.fixture
def write(tmp_path):
    def text(name, content, encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content.encode(encoding))
        return path

    return text


def test_formats_agree(tmp_path, blobs):
    pandas = pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    lines = [",".join(map(repr, row)) for row in blobs.tolist()]
    csv = "a,b\n" + "\n".join(lines) + "\n"
    german = csv.replace(",", ";").replace(".", ",")
    (tmp_path / "t.csv").write_text(csv)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(csv.encode()))
    (tmp_path / "t.tsv").write_text(csv.replace(",", "\t"))
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(csv.replace(",", "\t").encode()))
    (tmp_path / "semicolons.csv").write_text(csv.replace(",", ";"))
    (tmp_path / "german.csv").write_text(german)
    (tmp_path / "utf16.csv").write_bytes(german.encode("utf-16"))
    (tmp_path / "utf16-le.csv").write_bytes(csv.encode("utf-16-le"))
    (tmp_path / "spaces.txt").write_text("\n".join("  " + line.replace(",", "   ") + " " for line in lines))
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf" + csv.replace("\n", "\r\n").encode())
    np.save(tmp_path / "t.npy", blobs)
    pandas.DataFrame(blobs, columns=["a", "b"]).to_excel(tmp_path / "t.xlsx", index=False, startrow=2, startcol=1)
    pq.write_table(pa.table({"a": blobs[:, 0], "b": blobs[:, 1]}), tmp_path / "t.parquet")
    files = sorted(tmp_path.iterdir())
    assert len(files) == 13
    for file in files:
        table = read_table(file)
        assert np.array_equal(table.numbers(), blobs), file.name
        assert table.numbers().dtype == np.float64
        named = file.name not in ("t.npy", "spaces.txt")
        assert table.named is named, file.name
        assert table.names == (("a", "b") if named else ("x1", "x2"))
    assert np.array_equal(read_table(io.BytesIO(csv.encode())).numbers(), blobs)


def test_float32_stays(tmp_path, blobs):
    np.save(tmp_path / "t.npy", blobs.astype(np.float32))
    assert read_table(tmp_path / "t.npy").numbers().dtype == np.float32


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
        ("2024-01-02,Ulm\n2024-01-03,Bonn\n", False, ("x1", "x2")),
        ("1,5;2\n2,5;3\n", False, ("x1", "x2")),
        ("a,b\n1,2,\n3,4,\n", True, ("a", "b", "x3")),
    ],
)
def test_header_is_found(write, content, named, names):
    table = read_table(write("t.csv", content))
    assert (table.named, table.names) == (named, names)


def test_cells_are_those_of_the_file(write):
    table = read_table(write("iris.data", "5.10,3.5,setosa\n4.9,3.0,NA\n"))
    assert not table.named
    assert table.select(drop=["3"]).numbers().tolist() == [[5.1, 3.5], [4.9, 3.0]]
    assert table.cells() == [["5.10", "3.5", "setosa"], ["4.9", "3.0", "NA"]]


def test_codes_keep_their_zeros(write):
    lines = "\n".join(f"{i},{1100 * i:05d}" for i in range(90))
    codes = read_table(write("t.csv", "n,zip\n" + lines)).columns()[1]
    assert codes.kind == "text"
    assert codes.values[:2].tolist() == ["00000", "01100"]


def test_header_can_be_given(write):
    path = write("t.csv", "1,2\n3,4\n")
    assert read_table(path, header=True).names == ("1", "2")
    assert read_table(path, header=True).numbers().tolist() == [[3.0, 4.0]]
    with pytest.raises(NotNumeric, match=r"column 'x1', row 1 \(line 1\): 'a'"):
        read_table(write("h.csv", "a,b\n3,4\n"), header=False).numbers()


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
    ("lines", "names"),
    [
        (["comment", *(f"row {i} good" for i in range(60))], ("comment",)),
        (["a text", *(f"item {i}" for i in range(60)), "three words here"], ("a text",)),
        (["one thing", *("word " * (1 + i % 3) for i in range(60))], ("one thing",)),
        (["1 2", *(f"{i} {i}" for i in range(60))], ("x1", "x2")),
        (["x y", *(f"{i} red" for i in range(60))], ("x", "y")),
    ],
)
def test_blanks_between_words_are_no_delimiter(write, lines, names):
    table = read_table(write("t.txt", "\n".join(lines) + "\n"))
    assert table.names == names
    assert table.n_rows == len(lines) - table.named


def test_a_short_row_of_numbers_between_blanks(write):
    with pytest.raises(TableError, match=r"row 31 \(line 31\) has 1 cell instead of 2"):
        read_table(write("t.txt", "1 2\n" * 30 + "1\n" + "1 2\n" * 30))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,b\n", "has no row of data, only the names a, b"),
        ("sep=;\n", "has no row of data"),
        ("sep=;\na;b\n", "has no row of data, only the names a, b"),
        ("a," + 999 * "b" + "\n", f"has no row of data, only the names a, {80 * 'b'}"),
        ("a,b\n1,2\n3\n", "row 2 (line 3) has 1 cell instead of 2"),
        ("a,b\n1,2\n3,4,5\n", "row 2 (line 3) has 3 cells instead of 2"),
        ("a;b\n1,5;2\n\n3;4;5\n" + "1;2\n" * 9, "row 2 (line 4) has 3 cells instead of 2"),
    ],
)
def test_what_is_no_table(write, content, message):
    with pytest.raises(TableError) as caught:
        read_table(write("t.csv", content))
    assert message in str(caught.value)
    assert "t.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3,x\n4,y\n", "not a finite number in column 'b', row 2 (line 3): 'x'."),
        ("a,b\n1,2\n3,1_0\n", "not a finite number in column 'b', row 2 (line 3): '1_0'."),
        ("a,b\n1,2\n\n3,\n", "missing value in column 'b', row 2 (line 4)."),
        ("a,b\n1,2\nNA,4\n", "missing value in column 'a', row 2 (line 3)."),
        ("a,b\n1,2\n-inf,4\n", "not a finite number in column 'a', row 2 (line 3): '-inf'."),
        ("a,b,c,d,e\np,q,r,s,1\n", "row 1 (line 2): 'r'; and 1 more columns."),
        ("label\n0\n\n0\n1\n", "missing value in column 'label', row 2 (line 3)."),
    ],
)
def test_what_is_no_number(write, content, message):
    with pytest.raises(NotNumeric) as caught:
        read_table(write("t.csv", content)).numbers()
    assert message in str(caught.value)
    assert "t.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("lead", "lines"),
    [
        ("Report of sales\nmade 2024-05-01\n\n", 2),
        ("# made by a tool\n", 1),
        ("Report of sales,,\n,,\n", 2),
        ("\n\nTitle\n", 1),
    ],
)
def test_titles_above_the_table_are_left_out(write, lead, lines):
    body = "".join(f"{i},{i / 4},{'ab'[i % 2]}\n" for i in range(30))
    path = write("t.csv", f"{lead}n,x,g\n{body}")
    table = read_table(path)
    assert (table.names, table.n_rows) == (("n", "x", "g"), 30)
    assert f"{lines} line{'s' * (lines > 1)} before the table left out" in table.notes[0]
    assert table.cells()[0] == ["0", "0.0", "a"]
    pieces = list(table_chunks(str(path), rows=7))
    np.testing.assert_array_equal(
        np.concatenate([piece.pick([0, 1]).numbers() for piece in pieces])[:, 0], np.arange(30)
    )


def test_a_header_of_one_name_is_no_title(write):
    table = read_table(write("t.csv", "name,,\n" + "".join(f"{i},{i},{i + 1}\n" for i in range(9))))
    assert (table.names, table.n_rows) == (("name", "x2", "x3"), 9)


@pytest.mark.parametrize("mark", [";", ",", "|", "\t"])
def test_the_line_with_the_delimiter_of_spreadsheets(write, mark):
    table = read_table(write("t.csv", f"sep={mark}\n" + "a,b\n1,2\n3,4\n".replace(",", mark)))
    assert (table.names, table.notes) == (("a", "b"), ())
    assert table.numbers().tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_titles_in_a_sheet(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["Sales of 2024"], [], ["all regions"], ["n", "x", "g"], [1, 2.5, "a"], [2, None, "b"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx")
    assert (table.names, table.n_rows) == (("n", "x", "g"), 2)
    assert table.notes == ("2 rows before the table left out",)
    assert table.line_of(0) == "row 1 (row 5 of the sheet)"


def test_a_single_column_keeps_its_rows():
    assert read_table(io.BytesIO(b"\nlabel\n0\n1\n\n\n")).n_rows == 2
    assert read_table(io.BytesIO(b"label\n0\n\n1\n")).n_rows == 3


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1", "cp1252", "utf-32", "utf-8-sig"])
def test_encodings(write, encoding):
    table = read_table(write("t.csv", "Größe,Stadt\n1,Köln\n2,Ulm\n", encoding))
    assert table.names == ("Größe", "Stadt")
    assert table.columns()[1].values.tolist() == ["Köln", "Ulm"]
    assert bool(table.notes) is not encoding.startswith("utf-8")


def test_an_encoding_can_be_given(write):
    path = write("t.csv", "名前,n\n山,1\n川,2\n", "shift-jis")
    assert read_table(path, encoding="shift-jis").names == ("名前", "n")
    with pytest.raises(TableError, match="there is no encoding named 'utf-9'"):
        read_table(path, encoding="utf-9")
    with pytest.raises(TableError, match=r"t\.csv is no text in utf-8"):
        read_table(path, encoding="utf-8")


@pytest.mark.parametrize(
    ("encoding", "word"),
    [
        ("cp1251", "Москва"),
        ("koi8-r", "Москва"),
        ("shift_jis", "さくらがさく"),
        ("gb18030", "北京市"),
        ("cp1253", "Αθήνα"),
    ],
)
def test_letters_that_are_not_western_are_told(write, encoding, word):
    path = write("t.csv", f"town,a\n{word},1\nBonn,2\n", encoding)
    with pytest.warns(TableWarning, match=r"is taken for (cp1252|latin-1), .* --encoding"):
        read_table(path)
    assert read_table(path, encoding=encoding).cells()[0] == [word, "1"]


def test_western_letters_are_not_told(write, recwarn):
    text = "town,a\nKöln,1\nSão Paulo,2\nNîmes,3\nŒuvre – « été »,4\nÄÖ,5\n"
    assert read_table(write("t.csv", text, "cp1252")).cells()[1] == ["São Paulo", "2"]
    assert not recwarn.list


def test_the_mark_before_decimals(write):
    assert read_table(write("a.csv", "x;y\n1.234,5;2,5\n7,25;1.000\n")).numbers().tolist() == [
        [1234.5, 2.5],
        [7.25, 1000],
    ]
    with pytest.warns(TableWarning, match="'1,234' is read as 1234 and may mean 1.234"):
        assert read_table(write("b.csv", "x;y\n1,234;2\n")).numbers().tolist() == [[1234.0, 2.0]]
    assert read_table(write("b.csv", "x;y\n1,234;2\n"), decimal=",").numbers().tolist() == [[1.234, 2.0]]
    assert read_table(write("c.csv", "1,5;2,5\n3,25;4,5\n")).numbers().tolist() == [[1.5, 2.5], [3.25, 4.5]]


def test_sheets(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "first"
    book.active.append(["a", "b"])
    book.active.append([1, 2])
    other = book.create_sheet("second")
    other.append([7, 8])
    path = tmp_path / "t.xlsx"
    book.save(path)
    assert read_table(path).numbers().tolist() == [[1.0, 2.0]]
    assert read_table(path).notes == ("sheet 'first' of 2",)
    assert read_table(path, sheet="second").names == ("x1", "x2")
    assert read_table(path, sheet=1).numbers().tolist() == [[7.0, 8.0]]
    with pytest.raises(TableError, match="has no sheet 'third', but first, second"):
        read_table(path, sheet="third")


def test_bad_files(tmp_path):
    for name, content, message in (
        ("b.csv", bytes(range(256)), r"b\.csv is no text\. Formats: CSV, TSV"),
        ("b.csv.gz", b"\x1f\x8b broken", "cannot be unpacked"),
        ("b.npy", b"nothing", "is no NPY file of numbers"),
        ("b.xlsx", b"nothing", "is no spreadsheet"),
        ("b.parquet", b"nothing", "is no Parquet file"),
        ("b.csv.zst", b"nothing", r"nothing reads files that end in \.zst"),
        ("b.xls", b"nothing", r"nothing reads files that end in \.xls\. Save it as \.xlsx\. Endings: \.csv, "),
        ("b.docx", b"nothing", r"nothing reads files that end in \.docx\. Copy the table .*Endings: \.csv, "),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(TableError, match=message):
            read_table(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "nowhere.docx")
    np.save(tmp_path / "o.npy", np.array([{}], dtype=object))
    with (tmp_path / "a.npy").open("wb") as file:
        np.savez(file, a=np.zeros(3))
    header = (
        np.lib.format.magic(1, 0) + b"v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000, 2), }"
    )
    (tmp_path / "h.npy").write_bytes(header.ljust(128) + b"\n")
    for name in ("o.npy", "a.npy", "h.npy"):
        with pytest.raises(TableError, match="is no NPY file of numbers"):
            read_table(tmp_path / name)
    np.save(tmp_path / "one.npy", np.arange(3.0))
    with pytest.raises(TableError, match=r"needs real numbers in rows and columns, got float64 of shape \(3,\)"):
        read_table(tmp_path / "one.npy")
    np.save(tmp_path / "e.npy", np.empty((0, 2)))
    with pytest.raises(TableError, match="has no row of data"):
        read_table(tmp_path / "e.npy")
    np.save(tmp_path / "n.npy", np.array([[1.0, 2.0], [3.0, np.nan]]))
    with pytest.raises(NotNumeric, match="missing value in column 'x2', row 2"):
        read_table(tmp_path / "n.npy").numbers()


def test_plain_numbers_need_no_pandas(write, monkeypatch, blobs):
    lines = "\n".join(";".join(map(repr, row)) for row in blobs.tolist())
    expected = read_table(write("t.csv", f"a;b\n{lines}\n")).numbers()
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    table = read_table(write("t.csv", f"a;b\n{lines}\n"))
    assert table.names == ("a", "b")
    np.testing.assert_array_equal(table.numbers(), expected)
    assert table.cells()[0] == [repr(value) for value in blobs[0].tolist()]
    with pytest.raises(TableError, match=r"row 2 \(line 3\) has 1 cell instead of 2"):
        read_table(write("t.csv", "a,b\n1,2\n3\n"))


@pytest.mark.parametrize(
    ("module", "name", "content", "message"),
    [
        (
            "pyarrow.parquet",
            "t.parquet",
            b"",
            "Parquet needs pyarrow: install it, or .* the extra 'parquet'",
        ),
        (
            "pandas",
            "t.csv",
            b"a,b\n1,x\n",
            "reading text that is not plain numbers needs pandas: install it, or clusterkit-toolkit with",
        ),
    ],
)
def test_a_missing_library_is_one_line(tmp_path, monkeypatch, module, name, content, message):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(MissingLibrary, match=message):
        read_table(tmp_path / name)


@pytest.mark.parametrize("module", ["openpyxl"])
def test_what_excel_lacks_is_named(tmp_path, monkeypatch, module):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    pandas.DataFrame({"a": [1.0, 2.0]}).to_excel(tmp_path / "t.xlsx", index=False)
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(
        MissingLibrary, match=f"reading Excel needs {module}: install it, or clusterkit-toolkit with the extra 'tables'"
    ):
        read_table(tmp_path / "t.xlsx")
