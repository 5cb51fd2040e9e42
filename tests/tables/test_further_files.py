"""Compressed text, files that nothing reads, odd line ends and thousands of equal names."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile

import pytest

from clusterkit.tables import TableError, read_table
from clusterkit.tables.cells.column_names import unique

TEXT = b"a,b\n1,x\n2,y\n3,x\n"


def zipped(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return path


class TestCompressedText:
    @pytest.mark.parametrize(
        ("name", "content"),
        [("t.csv.gz", gzip.compress(TEXT)), ("t.csv.bz2", bz2.compress(TEXT, 1)), ("t.CSV.xz", lzma.compress(TEXT))],
        ids=["gz", "bz2", "xz"],  # the bytes of an archive hold the time at which it is made
    )
    def test_it_is_unpacked(self, tmp_path, name, content):
        (tmp_path / name).write_bytes(content)
        assert read_table(tmp_path / name).cells() == [["1", "x"], ["2", "y"], ["3", "x"]]
        (tmp_path / name).write_bytes(content[:-9])
        with pytest.raises(TableError, match=rf"{name} cannot be unpacked"):
            read_table(tmp_path / name)

    @pytest.mark.parametrize("name", ["t.csv.zip", "t.zip"])
    def test_an_archive_of_one_text(self, tmp_path, name):
        path = zipped(tmp_path / name, t_csv=TEXT)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("__MACOSX/._t.csv", b"")
        assert read_table(path).names == ("a", "b")

    def test_other_archives_are_named(self, tmp_path):
        with pytest.raises(TableError, match=r"t\.zip is an archive of 2 files: a\.csv, b\.csv; unpack the one"):
            read_table(zipped(tmp_path / "t.zip", a_csv=TEXT, b_csv=TEXT))
        with pytest.raises(TableError, match=r"with a\.xlsx, which is no text by its ending; unpack it"):
            read_table(zipped(tmp_path / "u.zip", a_xlsx=b"x"))
        with pytest.raises(TableError, match=r"v\.zip is an archive without a file"):
            read_table(zipped(tmp_path / "v.zip"))

    @pytest.mark.parametrize("name", ["t.csv.bz2", "t.csv.xz", "t.zip"])
    def test_none_fills_the_memory(self, tmp_path, monkeypatch, name):
        monkeypatch.setenv("CLUSTERKIT_UNPACKED_CAP", "1000")
        zeros = b"0\n" * 10_000
        content = {"t.csv.bz2": bz2.compress, "t.csv.xz": lzma.compress}.get(name)
        if content is None:
            with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("t.csv", zeros)
        else:
            (tmp_path / name).write_bytes(content(zeros))
        with pytest.raises(TableError, match="is larger than 1000 bytes when it is unpacked"):
            read_table(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("t.dta", r"Save it as \.csv\."),
        ("t.sqlite", r"Export the table as \.csv or \.parquet\."),
        ("t.pkl", "a pickle can run any code"),
        ("t.json.gz", "Unpack it first"),
        ("t.jsonl", r"Write the table as \.parquet or \.csv\."),
        ("t.h5", r"Write the table as \.parquet or \.npy"),
    ],
)
def test_the_nearest_form_of_others_is_named(tmp_path, name, advice):
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(TableError, match=rf"nothing reads files that end in .*{advice}.*Endings: .*\.csv.*\.parquet"):
        read_table(tmp_path / name)


class TestNames:
    def test_thousands_of_equal_names(self):
        """Every name is made in a few steps: a million of them would otherwise not end."""

        class Counting(str):
            hashes = 0

            def strip(self):
                return self

            def __hash__(self):
                Counting.hashes += 1
                return super().__hash__()

        names = unique([Counting("a")] * 20_000)
        assert Counting.hashes < 40 * 20_000
        assert len(set(names)) == 20_000
        assert names[:3] == ["a", "a.2", "a.3"]

    def test_names_that_look_like_copies(self):
        assert unique(["a", "a.2", "a", "a", ""]) == ["a", "a.2", "a.3", "a.4", "x5"]


class TestLineEnds:
    def test_of_every_system(self, tmp_path):
        for end in ("\n", "\r\n", "\r"):
            path = tmp_path / "t.csv"
            path.write_bytes(end.join(["a,b", "1,2", "3,4", ""]).encode())
            table = read_table(path)
            assert table.names == ("a", "b")
            assert table.numbers().tolist() == [[1.0, 2.0], [3.0, 4.0]]

    def test_a_cell_that_the_reader_does_not_take(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("a,b\n" + "x" * 200_000 + ",1\n")
        with pytest.raises(TableError, match="is no delimited text: field larger than field limit"):
            read_table(path)
