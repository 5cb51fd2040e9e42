"""Compressed text, Feather, JSON and archives of arrays, and what is said of files that nothing reads."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zipfile

import numpy as np
import pytest

from clusterkit.tables import TableError, read_table

TEXT = b"a,b\n1,x\n2,y\n3,x\n"
RECORDS = [{"a": 1, "b": "x"}, {"a": 2, "b": None}, {"b": "x", "a": 3.5}]


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


class TestJson:
    @pytest.mark.parametrize(
        "value",
        [
            RECORDS,
            {"a": [1, 2, 3.5], "b": ["x", None, "x"]},
            {"a": {"0": 1, "1": 2, "2": 3.5}, "b": {"0": "x", "1": None, "2": "x"}},
            {"columns": ["a", "b"], "index": [0, 1, 2], "data": [[1, "x"], [2, None], [3.5, "x"]]},
        ],
    )
    def test_every_form(self, tmp_path, value):
        (tmp_path / "t.json").write_text(json.dumps(value))
        table = read_table(tmp_path / "t.json")
        assert table.names == ("a", "b")
        assert [column.kind for column in table.columns()] == ["number", "text"]
        assert table.cells() == [["1", "x"], ["2", ""], ["3.5", "x"]]

    def test_a_row_in_each_line_and_rows_without_names(self, tmp_path):
        (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, RECORDS)) + "\n")
        assert read_table(tmp_path / "t.jsonl").n_rows == 3
        (tmp_path / "t.json").write_text('[["p", "q"], [1, 2]]')
        assert read_table(tmp_path / "t.json").names == ("x1", "x2")
        assert read_table(tmp_path / "t.json", header=True).names == ("p", "q")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("{", "is no JSON"),
            (
                '{"a": 1}\n{"a": 2}',
                "is no JSON: Extra data: .*; a file with a row in each line is read if its name ends",
            ),
            ("[" * 100_000, "is no JSON"),
            ("3", "is no table: a list of rows"),
            ("[[1], [1, 2]]", "row 1 has 1 cell instead of 2"),
            ('{"a": [1], "b": [1, 2]}', "the columns have 1 to 2 cells"),
            ('{"a": {"x": 1}, "b": {"y": 1}}', "cells for different rows"),
            ('{"a": 1}', "is no table"),
            ("[]", "has no column"),
        ],
    )
    def test_what_is_no_table(self, tmp_path, text, message):
        (tmp_path / "t.json").write_text(text)
        with pytest.raises(TableError, match=message):
            read_table(tmp_path / "t.json")


class TestArrays:
    def test_one_array_or_columns(self, tmp_path):
        np.savez(tmp_path / "t.npz", X=np.arange(6.0).reshape(3, 2), seed=np.array(1))
        assert read_table(tmp_path / "t.npz").numbers().tolist() == [[0, 1], [2, 3], [4, 5]]
        np.savez_compressed(tmp_path / "u.npz", a=np.arange(3), b=np.array(["x", "y", "x"]))
        assert read_table(tmp_path / "u.npz").names == ("a", "b")

    def test_several_are_named(self, tmp_path):
        np.savez(tmp_path / "t.npz", X=np.zeros((3, 2)), Y=np.zeros((3, 2)))
        with pytest.raises(TableError, match=r"has X \(3, 2\), Y \(3, 2\); write the one to be read as \.npy"):
            read_table(tmp_path / "t.npz")
        np.savez(tmp_path / "t.npz", X=np.array([{}], dtype=object))
        with pytest.raises(TableError, match="is no archive of arrays of numbers"):
            read_table(tmp_path / "t.npz")


def test_feather(tmp_path, monkeypatch):
    feather = pytest.importorskip("pyarrow.feather")
    pyarrow = pytest.importorskip("pyarrow")
    feather.write_feather(pyarrow.table({"a": [1, 2, None], "b": ["x", "y", "x"]}), str(tmp_path / "t.feather"))
    table = read_table(tmp_path / "t.feather")
    assert (table.names, table.cells()[2]) == (("a", "b"), ["", "x"])
    monkeypatch.setenv("CLUSTERKIT_UNPACKED_CAP", "10")
    with pytest.raises(TableError, match="is larger than 10 bytes when it is unpacked"):
        read_table(tmp_path / "t.feather")
    (tmp_path / "u.feather").write_bytes(b"FEA1 broken")
    with pytest.raises(TableError, match=r"u\.feather is no Feather file"):
        read_table(tmp_path / "u.feather")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("t.dta", r"Save it as \.csv\."),
        ("t.sqlite", r"Export the table as \.csv or \.parquet\."),
        ("t.pkl", "a pickle can run any code"),
        ("t.json.gz", "Unpack it first"),
        ("t.h5", r"Write the table as \.parquet or \.npy"),
    ],
)
def test_the_nearest_form_of_others_is_named(tmp_path, name, advice):
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(TableError, match=rf"nothing reads files that end in .*{advice}.*Endings: .*\.feather.*\.json"):
        read_table(tmp_path / name)
