"""Formulas of spreadsheets without values: they are told, with what to do."""

from __future__ import annotations

import warnings

import pytest

from clusterkit.tables import TableError, TableWarning, read_table

openpyxl = pytest.importorskip("openpyxl", reason="Excel needs the extra 'tables'")
pytest.importorskip("pandas", reason="Excel needs the extra 'tables'")


def book(path, rows, title="Sales"):
    made = openpyxl.Workbook()
    made.active.title = title
    for row in rows:
        made.active.append(row)
    made.save(path)
    return str(path)


def test_formulas_without_values_are_told(tmp_path):
    rows = [[i, f"=A{i + 2}*2", i * 0.5 if i % 2 else f"=A{i + 2}"] for i in range(6)]
    path = book(tmp_path / "a.xlsx", [["x", "twice", "half"], *rows])
    with pytest.warns(TableWarning) as caught:
        table = read_table(path)
    [warning] = [str(one.message) for one in caught]
    assert "a.xlsx, sheet 'Sales': 9 cells of columns twice, half hold formulas without a value" in warning
    assert "open the file in a spreadsheet program and save it there" in warning
    assert table.n_rows == 6


def test_a_column_without_a_name_is_told_by_its_letter(tmp_path):
    path = book(tmp_path / "a.xlsx", [["x"], [1, "=A2"], [2, "=A3"]])
    with pytest.warns(TableWarning, match="2 cells of column B hold formulas"):
        read_table(path)


def test_nothing_but_formulas(tmp_path):
    path = book(tmp_path / "a.xlsx", [["=1+1", "=2+2"], ["=3+3", "=4+4"]])
    with pytest.raises(TableError, match="'Sales' has nothing but formulas without values; open the file"):
        read_table(path)


def test_texts_and_gaps_are_no_formulas(tmp_path):
    path = book(tmp_path / "a.xlsx", [["x", "word"], [1, "f = 3"], [None, None], [2, "b"], [3, None]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_table(path).n_rows == 3
