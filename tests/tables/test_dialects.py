"""Marks before decimals and orders of day and month: what a table shows holds for it, what it leaves open is told."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pytest

pytest.importorskip("pandas")

import clusterkit
from clusterkit import recipe
from clusterkit.estimators.preparing import fit_prepared
from clusterkit.profiles.raw_table import RawTable
from clusterkit.tables import Preparation, TableError, TableWarning, read_table
from clusterkit.tables.cells import parsing
from clusterkit.tables.reading.chunks import table_chunks

VALUES = np.array([1218.25, 5386.5, 9801.75, 12.5, 7.25, 3.125])


def text(values, decimal, digits=None, thousands=""):
    """Numbers as texts."""
    forms = [f"{v:,.{digits}f}" if digits is not None else f"{float(v)!r}" for v in values]
    return [form.replace(",", "T").replace(".", decimal).replace("T", thousands) for form in forms]


def table(columns, sep=";", **options):
    """A table that is read from delimited text."""
    lines = [sep.join(columns), *(sep.join(row) for row in zip(*columns.values(), strict=True))]
    return read_table(io.BytesIO("\n".join(lines).encode()), **options)


def texts(*cells_of_column):
    return np.array(cells_of_column, dtype=object)


@pytest.fixture(autouse=True)
def warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error", TableWarning)
        yield


class TestMarks:
    @pytest.mark.parametrize("of_fit", [".", ","])
    @pytest.mark.parametrize("of_rows", [".", ","])
    @pytest.mark.parametrize("thousands", [True, False])
    def test_each_file_has_its_own(self, of_fit, of_rows, thousands):
        def form(mark):
            other = ("." if mark == "," else ",") if thousands else ""
            return table({"a": text(VALUES, mark, 2, other), "b": text(VALUES[::-1], mark, 3, other)})

        fitted = Preparation(scale="none").fit(form(of_fit))
        np.testing.assert_allclose(fitted.transform(form(of_rows)), np.c_[VALUES, VALUES[::-1]], atol=0.01)

    def test_columns_may_differ(self):
        """The share has points although the file has commas."""
        commas = text(VALUES, ",")
        mixed = table({"a": commas, "b": commas, "share": text(VALUES, "."), "n": ["1.211"] * 6})
        columns = {column.name: column for column in mixed.columns()}
        assert (columns["a"].decimal, columns["share"].decimal, columns["n"].decimal) == (",", ".", ",")
        np.testing.assert_allclose(mixed.numbers(), np.c_[VALUES, VALUES, VALUES, np.full(6, 1211.0)])
        fitted = Preparation(scale="none").fit(mixed)
        assert fitted.features == ("a", "b", "share")
        assert "A comma is before the decimals of a; b." in fitted.paragraph()
        assert fitted.resolved()["decimal_commas"] == ["a", "b"]

    def test_as_many_columns_of_each_decide_nothing_for_the_others(self):
        both = table({"a": text(VALUES, ","), "share": text(VALUES, "."), "n": text(1000 + VALUES, ".", 3)})
        assert both.decimal == "."
        open_ = table({"a": text(VALUES, ","), "share": text(VALUES, "."), "n": ["1.211", "2.345", "3.500"] * 2})
        assert open_.decimal is None
        assert [column.decimal for column in open_.columns()] == [",", ".", None]
        cure = (
            "'n': '1.211' is read as 1.211 and may mean 1211, .* write its cells as 1211, without a mark, or as 1.2110"
        )
        with pytest.warns(TableWarning, match=cure):
            Preparation().fit(open_)
        for value, cells in ((1211, ["1211", "2345", "3500"]), (1.211, ["1.2110", "2.345", "3.500"])):
            clear = table({"a": text(VALUES, ","), "share": text(VALUES, "."), "n": cells * 2})
            assert Preparation(scale="none").fit(clear).transform(clear)[0].tolist() == [VALUES[0], VALUES[0], value]

    def test_an_option_holds_though_no_cell_fits(self):
        option = table({"a": ["1.211", "2.345"], "b": ["1,5", "2"]}, decimal=",")
        np.testing.assert_allclose(option.numbers(), [[1211, 1.5], [2345, 2.0]])
        with pytest.raises(TableError, match=r"column 'share', row 1 .*'11.30'"):
            table({"a": ["1.211", "2.345"], "share": ["11.30", "9.25"]}, decimal=",").numbers()

    @pytest.mark.parametrize(("mark", "name"), [(".", "point"), (",", "comma")])
    def test_an_option_that_makes_texts_of_numbers_says_so(self, mark, name):
        other = "," if mark == "." else "."
        rows = {"a": text(VALUES, other), "b": [str(i**2) for i in range(6)]}
        reason = rf"'a' \(its cells, such as '.*{other}.*', are no numbers with a {name} before decimals\); without"
        with pytest.warns(TableWarning, match=f"look like numbers are not used as such: {reason}"):
            fitted = Preparation().fit(table(rows, decimal=mark))
        assert set(fitted.left_out) == {"a"}
        assert not Preparation().fit(table(rows)).left_out

    @pytest.mark.parametrize("cell", ["1218,834", "0,834", "1.234.567", "12,5", "-1.234,50 €"])
    def test_what_shows_a_comma(self, cell):
        assert table({"a": [cell, "1.211"], "n": ["1", "2"]}).numbers()[1, 0] == 1211.0
        assert read_table(io.BytesIO(f"a;b\n{cell};1.211\n".encode())).decimal == ","

    @pytest.mark.parametrize("cell", ["1218.834", "0.834", "1,234,567", "12.5", "1e5.", "7."])
    def test_what_does_not(self, cell):
        assert table({"a": [cell, "1.211"], "n": ["1", "2"]}).decimal != ","

    def test_late_rows_count_where_the_first_ones_show_nothing(self):
        late = table({"a": [*["1.211"] * 1500, "12,5"], "b": ["7.500"] * 1501})
        assert late.decimal == ","
        assert late.numbers()[[0, -1]].tolist() == [[1211.0, 7500.0], [12.5, 7500.0]]
        ascending = table({"a": [str(i % 999) for i in range(1500)] + ["1.000", "1.234.567"]})
        assert ascending.numbers()[-2:, 0].tolist() == [1000.0, 1234567.0]

    def test_the_same_in_pieces(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("a;b\n" + "1.211;12,5\n" * 3 + "7.000;13\n" * 3)
        pieces = [piece.numbers() for piece in table_chunks(str(path), rows=2)]
        np.testing.assert_array_equal(np.vstack(pieces), read_table(path).numbers())


class TestOpenNumbers:
    """Every cell such as 1.211 may be more than a thousand, or one and a bit."""

    MESSAGE = (
        r"column 'rev': '1.211' is read as 1.211 and may mean 1211, because every cell fits both. The option "
        r"--decimal , \(decimal=',' in Python\) reads 1211, and --decimal . confirms 1.211"
    )

    @pytest.fixture
    def columns(self):
        return {"rev": ["1.211", "12.500", "-3.047", "999"], "n": ["5", "6", "7", "8"]}

    def test_a_fit_tells_it(self, columns):
        with pytest.warns(TableWarning, match=self.MESSAGE):
            fitted = Preparation(scale="none").fit(table(columns))
        assert fitted.transform(table(columns), quiet=True)[:, 0].tolist() == [1.211, 12.5, -3.047, 999.0]

    def test_new_rows_tell_it(self, columns):
        fitted = Preparation(scale="none").fit({"rev": VALUES})
        with pytest.warns(TableWarning, match=self.MESSAGE):
            fitted.transform(table(columns))

    def test_plain_numbers_tell_it(self, columns, tmp_path):
        """As rows that are read block by block are."""
        with pytest.warns(TableWarning, match=self.MESSAGE):
            table(columns).numbers()
        path = tmp_path / "t.csv"
        path.write_text("rev;n\n" + "1.211;5\n" * 9)
        with pytest.warns(TableWarning, match=self.MESSAGE) as caught:
            assert clusterkit.open(str(path)).read(slice(0, 9))[0].tolist() == [1.211, 5.0]
        assert len(caught) == 1

    def test_the_option_decides(self, columns):
        fitted = Preparation(scale="none").fit(table(columns, decimal=","))
        assert fitted.transform(table(columns, decimal=","))[:, 0].tolist() == [1211.0, 12500.0, -3047.0, 999.0]
        Preparation().fit(table(columns, decimal="."))
        frame = {name: texts(*its) for name, its in columns.items()}
        fitted = Preparation(scale="none", decimal=",").fit(frame)
        assert fitted.transform(frame)[0, 0] == 1211.0

    def test_new_rows_are_read_as_those_of_the_fit(self, columns):
        fitted = Preparation(scale="none").fit(table({"rev": text(VALUES, ",", 2, "."), "n": list("123456")}))
        with pytest.warns(TableWarning, match="'1.211' is read as 1211 and may mean 1.211"):
            assert fitted.transform(table(columns))[0, 0] == 1211.0

    @pytest.mark.parametrize(
        "more", [{"b": ["0.5", "2", "3", "4"]}, {"b": ["0,5", "2", "3", "4"]}, {"rev": ["1.211", "3.5", "7", "1.5"]}]
    )
    def test_what_shows_the_mark_ends_it(self, columns, more):
        Preparation(scale="none").fit(table({**columns, **more}))

    def test_thousands_without_a_mark_end_it(self):
        Preparation().fit(table({"rev": ["1.211", "1211", "3", "4"]}))
        with pytest.warns(TableWarning, match="'1.211' is read as"):
            Preparation().fit(table({"rev": ["1.211", "121", "3", "4"]}))

    def test_both_marks_in_a_column_are_told(self):
        with pytest.warns(
            TableWarning, match="fits both; '2,345' beside it has the other mark: write all of them with"
        ):
            Preparation().fit({"rev": texts("1.211", "2,345", "3,047")})

    def test_dollars_have_no_thousandths(self):
        fitted = Preparation(scale="none").fit({"income": texts("$96,453", "$45,920", "$1,000")})
        assert fitted.transform({"income": texts("$96,453", "$45,920")})[:, 0].tolist() == [96453.0, 45920.0]

    def test_columns_that_are_no_numbers_are_not_told_of(self, columns):
        Preparation(drop="rev").fit(table(columns))
        Preparation(as_category="rev").fit(table({**columns, "rev": ["1.211", "1.211", "3.047", "3.047"]}))


class TestOrders:
    ISO = np.array([np.datetime64("2024-01-13") + 11 * i for i in range(40)])

    def dates(self, form):
        return np.array([day.strftime(form) for day in self.ISO.astype(object)], dtype=object)

    @pytest.mark.parametrize(("of_fit", "of_rows"), [("%m/%d/%Y", "%d/%m/%Y"), ("%d/%m/%Y", "%m/%d/%Y")])
    def test_new_rows_decide_it(self, of_fit, of_rows):
        fitted = Preparation().fit({"day": self.dates(of_fit)})
        expected = fitted.transform({"day": self.ISO})
        with pytest.warns(
            TableWarning, match=r"column 'day': dates between slashes are read with the (day|month) first"
        ):
            np.testing.assert_allclose(fitted.transform({"day": self.dates(of_rows)}), expected, atol=1e-9)
        # where they leave it open, the order of the fit holds
        rows = [i for i, day in enumerate(self.ISO.astype(object)) if day.day <= 12]
        np.testing.assert_allclose(fitted.transform({"day": self.dates(of_fit)[rows]}), expected[rows], atol=1e-9)

    def test_both_orders_are_refused_by_cell(self):
        fitted = Preparation().fit({"day": self.dates("%m/%d/%Y")})
        mixed = np.where(np.arange(40) < 30, self.dates("%d/%m/%Y"), self.dates("%m/%d/%Y"))
        with pytest.raises(
            TableError,
            match=r"column 'day': '\d+/\d+/2024' in row 3\d has the month before the day, unlike '\d+/\d+/2024' in r",
        ):
            fitted.transform({"day": mixed})

    def test_a_fit_to_both_orders_tells_it_and_predicts_the_same(self):
        mixed = np.where(np.arange(40) < 38, self.dates("%d/%m/%Y"), self.dates("%m/%d/%Y"))
        with pytest.warns(
            TableWarning, match="'day' has dates between slashes with the day first, and others with the"
        ):
            fitted = Preparation().fit({"day": mixed})
        with pytest.warns(TableWarning, match="(are|is) no clear date and counted as a gap"):
            np.testing.assert_array_equal(
                fitted.transform({"day": mixed}), fitted.transform({"day": mixed}, quiet=True)
            )

    def test_an_open_order_is_told_and_can_be_given(self):
        months = texts(*(f"01/{month:02d}/2024" for month in range(1, 13)))
        with pytest.warns(
            TableWarning, match="'day': no day is above 12, so that '01/01/2024' may have the day or the mon"
        ):
            short = Preparation().fit({"day": months})
        seconds = short.transform({"day": months}, quiet=True)
        fitted = Preparation(day_first=True).fit({"day": months})
        iso = np.array([f"2024-{month:02d}-01" for month in range(1, 13)], dtype="datetime64[D]")
        np.testing.assert_allclose(
            fitted.transform({"day": months}), Preparation().fit({"day": iso}).transform({"day": iso})
        )
        assert fitted.plans[0].form == parsing.DAY_FIRST
        assert not np.allclose(seconds[:, 0], fitted.transform({"day": months})[:, 0])
        read = table({"day": months, "n": text(VALUES[:1].repeat(12), ".")}, day_first=True)
        assert Preparation().fit(read).plans[0].form == parsing.DAY_FIRST
        assert Preparation(day_first=False).fit({"day": months}).plans[0].form == parsing.MONTH_FIRST

    def test_pieces_of_a_file_have_one_order(self, tmp_path):
        """The first rows show it for all pieces; where they do not, a later cell with the other order is refused."""
        fitted = Preparation().fit({"day": self.dates("%m/%d/%Y")})
        lines = [f"{day},{i}" for i, day in enumerate(self.dates("%d/%m/%Y"))]
        (tmp_path / "t.csv").write_text("day,n\n" + "\n".join(lines))
        with pytest.warns(TableWarning, match="are read with the day first"):
            parts = [fitted.transform(piece) for piece in table_chunks(str(tmp_path / "t.csv"), rows=4)]
        np.testing.assert_allclose(np.vstack(parts), fitted.transform({"day": self.ISO}), atol=1e-9)
        open_first = "day,n\n" + "05/06/2024,1\n" * 1001 + "25/06/2024,2\n"
        (tmp_path / "t.csv").write_text(open_first)
        pieces = list(table_chunks(str(tmp_path / "t.csv"), rows=300))
        for piece in pieces[:-1]:
            fitted.transform(piece)
        with pytest.raises(
            TableError, match="'25/06/2024' in row 1002 has the day before the month, unlike the dates bef"
        ):
            fitted.transform(pieces[-1])


def test_some_rows_are_read_as_all_of_them():
    """A profile reads some rows, which may leave open what all of them show."""
    columns = {"a": texts(*["1.211"] * 30, *["9,5"] * 30), "b": np.r_[np.arange(30.0), 300 + np.arange(30.0)]}
    model = recipe("kmeans", n_clusters=2, random_state=0)
    fit_prepared(model, columns)
    rows = RawTable.of(columns, None, model, "profile")
    assert rows.columns(np.arange(3))[0].values.tolist() == [1211.0] * 3
    assert rows.columns(np.arange(58, 60))[0].values.tolist() == [9.5] * 2


class TestLabels:
    """A column that the command line wrote beside the data is no feature."""

    def test_left_out_and_brought_back(self):
        labels = np.r_[np.zeros(20), np.ones(15), [-1.0]]
        data = {"a": np.arange(36.0) ** 2, "label": labels}
        assert Preparation().fit(data).left_out == {"label": "labels of clusters, by its name and values"}
        assert Preparation(keep="label").fit(data).used == ("a", "label")
        assert Preparation().fit({**data, "label_": labels[::-1]}).used == ("a",)

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("labels", np.arange(36) % 3), ("label", np.arange(36) % 3 + 1),
            ("label", np.arange(36) ** 3), ("label", np.arange(36) % 3 - 2),
            ("label", np.where(np.arange(36) % 9, np.arange(36) % 3, np.nan)), ("label", texts(*["x", "y"] * 18)),
        ],
    )  # fmt: skip
    def test_other_columns_stay(self, name, values):
        assert name in Preparation().fit({"a": np.arange(36.0) ** 2, name: values}).used

    def test_alone_they_are_used(self):
        assert Preparation().fit({"label": np.arange(36) % 3}).used == ("label",)


@pytest.mark.parametrize("before", ["", "\n\n", '"a title"\n\n', "sep=,\n"])
def test_names_of_several_lines_cost_no_row(tmp_path, before):
    path = tmp_path / "table.csv"
    path.write_text(before + 'x,"of two\nlines",z\n' + "".join(f"{i}.5,{i},2\n" for i in range(1, 6)))
    x, y, _ = read_table(str(path)).columns()
    assert x.values.tolist() == [1.5, 2.5, 3.5, 4.5, 5.5]
    assert (y.name, len(y.values)) == ("of two\nlines", 5)


@pytest.mark.parametrize("mark", [",", ";", "|"])
def test_blanks_around_a_mark_belong_to_it(mark, tmp_path):
    rows = [f" {i / 7:.3f} {mark} {'' if i == 3 else i % 5} {mark} {'x' if i % 2 else 'y'} " for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join([f" a {mark} b {mark} c ", *rows]))
    table = read_table(tmp_path / "t.csv")
    assert table.names == ("a", "b", "c")
    assert [column.kind for column in table.columns()] == ["number", "number", "text"]
    assert set(table.columns()[2].values) == {"x", "y"}


@pytest.mark.parametrize("header", ["'a','b'", "a,b"])
def test_cells_between_apostrophes_are_numbers(header, tmp_path):
    (tmp_path / "t.csv").write_text(header + "\n" + "".join(f"'{i / 8}','{-i}.25'\n" for i in range(1, 30)))
    for table in (read_table(tmp_path / "t.csv"), *table_chunks(str(tmp_path / "t.csv"))):
        assert table.names == ("a", "b")
        assert [column.values[0] for column in table.columns()] == [0.125, -1.25]


@pytest.mark.parametrize(
    "rows",
    [[(1, 2.1), (41, 51), (2, 2.2), (42, 52), (3, 2.3), (43, 53)], [(1, 1), (2, 2)] * 20],
    ids=["ten rows", "two piles"],
)
def test_a_table_of_few_different_rows_is_one_of_numbers(rows, tmp_path):
    """Neither the names of the columns nor the numbers below them become anything else, however few there are."""
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in rows))
    model = recipe("kmeans", n_clusters=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)  # both columns say the same in the second one
        fit_prepared(model, read_table(tmp_path / "t.csv"))
    assert model.preparation_.used == ("x", "y")
    assert len(set(zip(model.labels_[::2], model.labels_[1::2], strict=True))) == 1
