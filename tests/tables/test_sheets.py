"""Sheets as people keep them: merged cells, two rows of names, cells far from the table."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pytest

from clusterkit.tables import TableError, TableWarning, read_table
from clusterkit.tables.reading.grids import Grid

openpyxl = pytest.importorskip("openpyxl", reason="Excel needs the extra 'tables'")

TWO_ROWS = [["m", None, "n", None], ["a", "b", "a", "b"], *([i / 8, i % 5, -i / 4, i % 3] for i in range(1, 9))]
NAMES = ("m a", "m b", "n a", "n b")


def saved(path, rows, merged=(), **cells):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for place, value in cells.items():
        book.active[place] = value
    for one in merged:
        book.active.merge_cells(one)
    book.save(path)
    return path


class TestMergedCells:
    def test_each_row_has_what_it_shows(self, tmp_path):
        rows = [["region", "a", "b"], *(["north" if i == 0 else "south" if i == 4 else None, i, -i] for i in range(7))]
        table = read_table(saved(tmp_path / "t.xlsx", rows, ["A2:A5", "A6:A8"]))
        assert table.columns()[0].values.tolist() == ["north"] * 4 + ["south"] * 3
        assert table.notes == ("5 cells of merged ones read as what they show",)

    def test_across_columns_with_a_title(self, tmp_path):
        rows = [["sales", None, None], ["a", "b", "c"], [1, 0.5, None], [2, 0.1, 0.2]]
        table = read_table(saved(tmp_path / "t.xlsx", rows, ["A1:C1", "B3:C3"]))
        assert table.names == ("a", "b", "c")
        assert table.cells() == [["1", "0.5", "0.5"], ["2", "0.1", "0.2"]]

    def test_ranges_that_overlap_are_refused(self):
        values = np.full((5, 2), "x", dtype=object)
        filled = np.ones((5, 2), dtype=bool)
        grid = Grid(np.arange(5), np.arange(2), values, filled)
        with pytest.raises(TableError, match=r"t\.xlsx: its merged cells overlap"):
            grid.merged([(0, 0, 4, 0)] * 3, "t.xlsx")


class TestTwoRowsOfNames:
    @pytest.mark.parametrize("merged", [(), ("A1:B1", "C1:D1")])
    def test_groups_and_names(self, tmp_path, merged):
        with pytest.warns(TableWarning, match="the first two rows are taken as the names of the columns, 'm a', 'm b'"):
            table = read_table(saved(tmp_path / "t.xlsx", TWO_ROWS, merged))
        assert (table.names, table.n_rows) == (NAMES, 8)
        assert table.numbers()[0].tolist() == [0.125, 1, -0.25, 1]

    @pytest.mark.parametrize("merged", [(), ("B1:C1",)])
    def test_one_group_is_no_title(self, tmp_path, merged):
        rows = [[None, "m", None], ["g", "a", "b"], *(["x", i, i / 2] for i in range(5))]
        with pytest.warns(TableWarning, match="the first two rows"):
            assert read_table(saved(tmp_path / "t.xlsx", rows, merged)).names == ("g", "m a", "m b")
        table = read_table(saved(tmp_path / "u.xlsx", [["sales"], *rows[1:]]))
        assert (table.names, table.notes) == (("g", "a", "b"), ("1 row before the table left out",))

    def test_units_below_names(self):
        with pytest.warns(TableWarning, match="the first two rows"):
            assert read_table(io.BytesIO(b"size,age\ncm,years\n180,31\n170,45\n")).names == ("size cm", "age years")
        table = read_table(io.BytesIO(b"size,age\ncm,years\n180,31\n170,45\n"), header=True)
        assert (table.names, table.n_rows) == (("size", "age"), 3)

    @pytest.mark.parametrize(
        "text",
        [
            b"name,score\nBob,absent\nAnn,5\nEve,7\n",  # one word above the numbers of one column
            b"a,b\n?,-\n1,2\n3,4\n",
            b"a,b\nx,y\nx,y\nz,u\n",
        ],
    )
    def test_a_row_of_words_is_data(self, text):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert read_table(io.BytesIO(text)).n_rows == 3


class TestCellsFarFromTheTable:
    ROWS = (("a", "b"), *((i, i % 5) for i in range(20)))

    def test_one_in_the_last_corner_is_a_row_and_a_column(self, tmp_path):
        table = read_table(saved(tmp_path / "t.xlsx", self.ROWS, XFD1048576="x"))
        assert (table.names, table.n_rows) == (("a", "b", "x3"), 21)

    def test_one_far_below_a_column_is_a_row(self, tmp_path):
        table = read_table(saved(tmp_path / "t.xlsx", self.ROWS, A100000=7))
        assert (table.n_rows, table.notes) == (21, ("99,978 empty rows between others left out",))

    def test_a_diagonal_is_no_table(self, tmp_path, monkeypatch):
        monkeypatch.setenv("CLUSTERKIT_UNPACKED_CAP", "60000")
        path = saved(tmp_path / "t.xlsx", [[None] * i + [i, i] for i in range(100)])
        with pytest.raises(TableError, match="its cells are too far apart for a table: 200 filled cells in 100 rows"):
            read_table(path)


class TestHiddenParts:
    """Rows and columns that a person does not see: 45 of 60 rows, 2 of 3 columns."""

    @staticmethod
    def path(tmp_path, *hidden_rows, **size):
        book = openpyxl.Workbook()
        sheet = book.active
        for row in [["length", "width", "old"], *([i / 4, -i / 8, i % 7 + 0.5] for i in range(60))]:
            sheet.append(row)
        for i in (*hidden_rows, *range(2, 62, 4)):
            sheet.row_dimensions[i].hidden, sheet.row_dimensions[i].height = not size, size.get("height")
        sheet.column_dimensions["C"].hidden, sheet.column_dimensions["C"].width = not size, size.get("width", 13)
        book.save(tmp_path / "t.xlsx")
        return tmp_path / "t.xlsx"

    @pytest.mark.parametrize("size", [{}, {"height": 0.2, "width": 0.2}])
    @pytest.mark.parametrize(("rows", "words"), [((), "15 rows"), ((1,), "16 rows, with names,")])
    def test_they_are_read_and_told_with_the_option_that_leaves_them_out(self, tmp_path, rows, words, size):
        sentence = rf"{words} and 1 column \('old'\) are hidden in the sheet.*--hidden drop \(hidden='drop' in Python\)"
        with pytest.warns(TableWarning, match=sentence):
            assert read_table(self.path(tmp_path, *rows, **size)).n_rows == 60

    def test_they_can_be_left_out(self, tmp_path, recwarn):
        table = read_table(self.path(tmp_path), hidden="drop")
        assert (table.n_rows, table.names) == (45, ("length", "width"))
        assert table.columns()[0].values.tolist() == [i / 4 for i in range(60) if i % 4]
        assert table.notes == ("15 hidden rows and 1 hidden column left out",)
        assert table.line_of(3) == "row 4 (row 7 of the sheet)"
        assert not recwarn.list
        with pytest.raises(TableError, match="hidden must be 'keep' or 'drop', got 'skip'"):
            read_table(tmp_path / "t.xlsx", hidden="skip")

    def test_a_sheet_that_shows_nothing_or_is_hidden_itself(self, tmp_path):
        book = openpyxl.load_workbook(saved(tmp_path / "t.xlsx", [["a", "b"], [1, 2], [3, 4]]))
        book.create_sheet("shown").append(["c"])
        book.worksheets[0].sheet_state = "hidden"
        book.worksheets[0].column_dimensions.group("A", "B", hidden=True)
        book.save(tmp_path / "t.xlsx")
        with pytest.warns(TableWarning) as caught:
            read_table(tmp_path / "t.xlsx")
        hidden = (
            "2 columns ('a', 'b') are hidden in",
            "the sheet 'Sheet' is hidden; the file has another sheet: 'shown'",
        )
        assert all(part in str(one.message) for part, one in zip(hidden, caught, strict=True))
        with pytest.raises(TableError, match="shows no cell; hidden='keep' reads those that are hidden"):
            read_table(tmp_path / "t.xlsx", hidden="drop")
