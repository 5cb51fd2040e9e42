"""Gaps that say something, NA that is Namibia, rows without a value, levels written otherwise."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from clusterkit.errors import InvalidParameter
from clusterkit.tables import Preparation, TableError, TableWarning, read_table
from clusterkit.tables.reading.chunks import table_chunks

RNG = np.random.default_rng(0)
OTHER = np.round(RNG.normal(size=60), 3)


def column(*values):
    """Sixty cells."""
    return np.array((list(values) * 60)[:60], dtype=object)


def csv(**columns):
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return io.BytesIO("\n".join(rows).encode())


def quiet(call, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call(*arguments)


class TestOneLevelAndGaps:
    @pytest.mark.parametrize(
        ("cells", "name"),
        [
            (column("yes", None, None), "vip=yes"),
            (np.where(np.arange(60) % 3, np.nan, 1.0), "vip=1"),
            (np.array([True, None, None] * 20, dtype=object), "vip=True"),
        ],
    )
    def test_they_are_told_apart(self, cells, name):
        table = {"vip": cells, "b": OTHER}
        fitted = quiet(Preparation().fit, table)
        assert fitted.features == (name, "b")
        assert quiet(fitted.transform, table)[:3, 0].tolist() == [0.5, 0.0, 0.0]
        assert fitted.resolved()["categories"] == {"vip": f"{name.partition('=')[2]!r} or a gap"}

    def test_few_gaps_are_none(self):
        almost = column("yes")
        almost[:2] = None
        assert Preparation().fit({"vip": almost, "b": OTHER}).left_out == {"vip": "always 'yes'"}

    def test_another_level_is_told(self):
        fitted = Preparation().fit({"vip": column("yes", None), "b": OTHER})
        with pytest.warns(TableWarning, match=r"column 'vip': 1 cell is a level that the fit did not see .*'no'"):
            row = fitted.transform({"vip": np.array(["no", "yes"], dtype=object), "b": OTHER[:2]})
        assert row[:, 0].tolist() == [0.0, 0.5]


class TestNA:
    CODES = column("NA", "DE", "US")

    def test_codes_in_lower_case_are_levels_where_that_is_asked_for(self):
        table = read_table(csv(country=column("na", "de", "fr"), b=OTHER))
        assert "country (20, 20 of them written NA: --na level" in Preparation().fit(table).paragraph()
        fitted = Preparation(na="level").fit(table)
        assert "country=NA" in fitted.features
        assert "country=NA" not in Preparation(na="gap").fit(table).features
        mixed = read_table(csv(country=column("na", "DE", "FR"), b=OTHER))
        assert "country=NA" not in Preparation().fit(mixed).features
        small, large = (read_table(csv(country=[text, "de"], b=[0.0, 0.1])) for text in ("na", "NA"))
        np.testing.assert_array_equal(fitted.transform(small), fitted.transform(large))

    def test_among_countries_it_is_one(self):
        fitted = Preparation().fit(read_table(csv(country=self.CODES, b=OTHER)))
        assert fitted.features[:3] == ("country=DE", "country=NA", "country=US")
        assert "Categories: country: 3 levels, one of them NA." in fitted.paragraph()
        alone = quiet(fitted.transform, read_table(csv(country=["NA"], b=[0.0])))
        assert alone[0, :3].tolist() == fitted.transform({"country": self.CODES, "b": OTHER})[0, :3].tolist()

    def test_among_zones_it_is_north_america(self):
        zones = np.array(["APAC", "EMEA", "LATAM", "NA"] * 10, dtype=object)
        assert Preparation().fit({"zone": zones, "a": OTHER[:40]}).resolved()["categories"] == {
            "zone": "4 levels, one of them NA"
        }

    def test_elsewhere_it_is_a_gap_and_the_paragraph_says_so(self):
        table = read_table(csv(grade=column("NA", "A1", "B2"), b=OTHER))
        fitted = Preparation().fit(table)
        assert "grade (20, 20 of them written NA: --na level, na='level' in Python, makes it a level" in (
            fitted.paragraph()
        )
        assert fitted.resolved()["gaps_spelled_na"] == {"grade": 20}
        assert "grade=NA" in Preparation(na="level").fit(table).features
        assert fitted.features == Preparation(na="gap").fit(table).features

    def test_the_option_makes_it_a_gap(self):
        assert "country=NA" not in Preparation(na="gap").fit({"country": self.CODES, "b": OTHER}).features
        with pytest.raises(InvalidParameter, match="na must be one of"):
            Preparation(na="yes")

    def test_numbers_have_none(self):
        table = read_table(csv(a=[*["NA"] * 5, *range(55)], b=OTHER))
        assert [its.kind for its in table.columns()] == ["number", "number"]
        fitted = Preparation(keep="a").fit(table)
        new = read_table(csv(a=["NA", "NA"], b=[0.0, 0.1]))
        with pytest.warns(TableWarning, match="column 'a' has no value in 2 rows"):
            assert fitted.transform(new).shape == (2, 2)

    def test_a_spreadsheet_has_it_too(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("openpyxl")
        numbers = np.where(np.arange(60) == 3, "NA", OTHER.astype(object))
        frame = pandas.DataFrame({"country": self.CODES, "a": numbers, "b": OTHER})
        frame.to_excel(tmp_path / "t.xlsx", index=False)
        table = read_table(tmp_path / "t.xlsx")
        assert [its.kind for its in table.columns()] == ["text", "number", "number"]
        assert "country=NA" in Preparation().fit(table).features

    def test_pieces_read_it_as_the_whole(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes(csv(country=self.CODES, b=OTHER).getvalue())
        parts = Preparation().fit_blocks(table_chunks(str(path), rows=20))
        assert parts.features == Preparation().fit(read_table(path)).features


class TestNone:
    USE = column("None", "Some", "Freq")

    def test_beside_other_levels_it_is_one(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("openpyxl")
        pandas.DataFrame({"use": self.USE, "b": OTHER}).to_excel(tmp_path / "t.xlsx", index=False)
        (tmp_path / "t.csv").write_bytes(csv(use=self.USE, b=OTHER).getvalue())
        tables = [read_table(tmp_path / name) for name in ("t.xlsx", "t.csv")]
        for table in (*tables, {"use": self.USE, "b": OTHER}):
            fitted = quiet(Preparation().fit, table)
            assert fitted.features[:3] == ("use=Freq", "use=None", "use=Some")
            assert (fitted.transform(table)[self.USE == "None", 1] > 0).all()
            assert (
                "use: 3 levels, one of them None, which --na gap, na='gap' in Python, makes a gap."
                in fitted.paragraph()
            )
        gap = Preparation(na="gap").fit(tables[1])
        assert gap.features[0] == "use=Some"
        assert "use (20, 20 of them written None: --na level" in gap.paragraph()
        assert [row[0] for row in tables[0].cells()] == self.USE.tolist()  # as --with-data writes them

    def test_pieces_and_saved_preparations_read_it_as_the_whole(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes(csv(use=self.USE, b=OTHER).getvalue())
        fitted = Preparation().fit_blocks(table_chunks(str(path), rows=20))
        whole = Preparation().fit(read_table(path))
        assert fitted.features == whole.features
        new = read_table(csv(use=["None"], b=[0.0]))
        np.testing.assert_allclose(quiet(fitted.transform, new), whole.transform(new), rtol=1e-9)

    @pytest.mark.parametrize("others", [["1,5", "2,5"], ["2024-01-02", "2024-02-03"], [f"town {i}" for i in range(25)]])
    def test_beside_numbers_dates_and_many_levels_it_is_a_gap(self, others):
        cells = np.array(["None", *others] * 60, dtype=object)[:60]
        assert "None" not in "".join(Preparation().fit({"a": cells, "b": OTHER}).features)

    @pytest.mark.parametrize("word", ["None", "?", "NA", "N/A", "n.a.", "NULL", "-", ".", "#DIV/0!", "#VALUE!"])
    def test_beside_numbers_and_dates_every_word_is_a_gap_also_above_all_of_them(self, word):
        numbers = np.where(np.arange(60) < 20, word, OTHER.astype(object))
        dates = np.array([word if i % 3 == 0 else f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(60)])
        table = read_table(csv(n=numbers, d=dates, b=OTHER))
        fitted = quiet(Preparation().fit, table)
        assert fitted.features == ("n", "d", "b")
        assert "Gaps in n (20); d (20) take the value of" in fitted.paragraph()
        shuffled = np.random.default_rng(1).permutation(60)
        same = Preparation().fit({"n": numbers[shuffled], "d": dates[shuffled], "b": OTHER[shuffled]})
        assert same.features == fitted.features

    @pytest.mark.parametrize("word", ["?", "-", "None", "."])
    def test_signs_are_levels_of_what_is_said_to_be_a_category(self, word):
        table = read_table(csv(grade=column(word, "x", "y"), b=OTHER))
        assert f"grade={word}" in Preparation(as_category="grade").fit(table).features
        assert f"grade={word}" in Preparation(na="level").fit(table).features
        assert f"grade={word}" not in Preparation(as_category="grade", na="gap").fit(table).features
        if word != "None":
            assert f"grade (20, 20 of them written {word}: --na level" in Preparation().fit(table).paragraph()

    def test_several_words(self):
        table = read_table(csv(grade=column("?", "n/a", "x", "y"), b=OTHER))
        assert "30 of them written ? or n/a: --na level, na='level' in Python, makes them levels" in (
            Preparation().fit(table).paragraph()
        )
        assert (
            "4 levels, 2 of them ? and n/a, which --na gap makes gaps" in Preparation(na="level").fit(table).paragraph()
        )


class TestBlankRows:
    TABLE = {"a": np.where(np.arange(60) == 7, np.nan, OTHER), "b": column("x", "y"), "id": np.arange(60)}

    def test_they_are_told_at_the_fit_and_later(self):
        table = {**self.TABLE, "b": np.where(np.arange(60) == 7, None, self.TABLE["b"])}
        message = r"1 row without any value in the columns that are used \(row 8\): the label is that of the means"
        with pytest.warns(TableWarning, match=message):
            fitted = Preparation().fit(table)
        assert "1 row without any value, whose label says nothing" in fitted.paragraph()
        assert fitted.resolved()["rows_without_values"] == 1
        with pytest.warns(TableWarning, match=message) as caught:
            assert np.isfinite(fitted.transform(table)).all()
        assert len(caught) == 1

    def test_one_value_is_enough(self):
        fitted = quiet(Preparation().fit, self.TABLE)
        quiet(fitted.transform, self.TABLE)


class TestNewLevels:
    FITTED = Preparation().fit({"town": column("Ulm", "Bonn", "Köln"), "b": OTHER})

    def rows(self, *towns):
        return {"town": np.array(towns, dtype=object), "b": OTHER[: len(towns)]}

    def test_all_in_another_case_are_refused(self):
        with pytest.raises(TableError, match=r"column 'town': every level is written otherwise .* 'ulm' for 'Ulm'"):
            self.FITTED.transform(self.rows("ulm", "BONN", None))

    def test_some_get_a_hint(self):
        with pytest.warns(TableWarning, match=r"1 cell is a level .* row 2: 'bonn' \(the fit has 'Bonn' for 'bonn'\)"):
            self.FITTED.transform(self.rows("Ulm", "bonn"))

    def test_none_of_the_fit_is_a_warning_of_its_own(self):
        with pytest.warns(TableWarning, match=r"column 'town': no level is one of the fit, .* nothing .*'Rom', 'Pisa'"):
            self.FITTED.transform(self.rows("Rom", "Pisa", "Rom"))

    def test_beside_rare_levels_too(self):
        towns = np.array([*["Ulm", "Bonn"] * 140, *(f"t{i}" for i in range(20))], dtype=object)
        fitted = Preparation().fit({"town": towns})
        assert "town=(other)" in fitted.features
        quiet(fitted.transform, {"town": np.array(["Rom", "t3"], dtype=object)})
        with pytest.warns(TableWarning, match="written otherwise than a level of the fit .* 'ulm'"):
            fitted.transform({"town": np.array(["ulm", "Rom", "Bonn"], dtype=object)})
        with pytest.warns(TableWarning, match="no level is one of the fit"):
            fitted.transform({"town": np.array([f"n{i}" for i in range(12)], dtype=object)})

    def test_columns_of_one_kind_are_one_warning(self):
        fitted = Preparation().fit({"a": column("x", "y"), "b": column("x", "z"), "c": OTHER})
        rows = {"a": np.array(["x", "q"]), "b": np.array(["q", "z"]), "c": OTHER[:2]}
        with pytest.warns(TableWarning, match=r"in 2 columns cells are a level .*'a' \(1 cell.*'b' \(1 cell") as caught:
            fitted.transform(rows)
        assert len(caught) == 1


def test_long_names_are_short_in_messages():
    name = "x" * 500 + "end"
    fitted = Preparation().fit({name: column("1 %", "2 %", "4 %"), "b": OTHER})
    assert len(fitted.paragraph()) < 400
    with pytest.warns(TableWarning, match="…x*end") as caught:
        fitted.transform({name: column(1.0, 2.0), "b": OTHER})
    assert len(str(caught[0].message)) < 300
    with pytest.raises(TableError, match=r"lacks 1 .*…x*end") as error:
        fitted.transform({"b": OTHER})
    assert len(str(error.value)) < 200


class TestMostlyMissing:
    def test_it_is_told_with_what_leaves_it_out(self):
        holes = np.where(np.arange(60) % 5 < 3, np.nan, OTHER[::-1])
        table = {"a,b": holes, "b": OTHER, "vip": column("yes", None, None)}
        with pytest.warns(TableWarning) as caught:
            Preparation().fit(table)
        assert [str(one.message) for one in caught] == [
            "more than half of the cells are missing: 'a,b' (36 of 60); --drop '\"a,b\"' (drop=['a,b'] in Python) "
            "leaves such columns out"
        ]
        half = np.where(np.arange(60) % 2, np.nan, OTHER[::-1])
        quiet(Preparation().fit, {"a": half, "b": OTHER})


@pytest.mark.parametrize("name", ["index", "Idx", "Unnamed: 0", "row_id"])
def test_a_counter_that_begins_anew_is_an_identifier_by_its_name(name):
    table = {name: np.tile(np.arange(1, 21), 3), "b": OTHER}
    assert Preparation().fit(table).left_out == {name: "an identifier, by its name: it counts the rows"}
    blocks = [{key: values[part] for key, values in table.items()} for part in (slice(25), slice(25, 60))]
    assert Preparation().fit_blocks(blocks).left_out.keys() == {name}
    assert Preparation().fit({"hour": table[name], "b": OTHER}).left_out == {}
    assert Preparation().fit({name: RNG.permutation(table[name]), "b": OTHER}).left_out == {}


@pytest.mark.parametrize(
    ("levels", "form", "ranked", "kind", "sentence"),
    [
        ([10, 20, 30], "pandas", False, "category", "3 levels, by the type of the column"),
        ([1.5, 2.5, 3.5], "pandas", False, "category", "3 levels, by the type of the column"),
        (["2024-01-01", "2024-02-01", "2024-03-01"], "polars", False, "category", "by the type of the column"),
        ([30, 10, 20], "pandas", True, "ordered", "3 levels in order, by the type of the column"),
        ([10, 20, 30], "pandas", True, "ordered", "Ordered levels that are numbers: code"),
    ],
)
def test_a_categorical_column_is_a_category_whatever_its_levels_look_like(levels, form, ranked, kind, sentence):
    cells = [levels[i % 3] for i in range(59)]
    if form == "pandas":
        code = pd.Categorical([*cells, None], categories=levels, ordered=ranked)
        frame = pd.DataFrame({"code": code, "b": OTHER})
    else:
        frame = pl.DataFrame({"code": pl.Series([*cells, None], dtype=pl.Categorical), "b": OTHER})
    fitted = quiet(Preparation().fit, frame)
    assert fitted.kinds_of_codes == (kind, "auto")
    assert sentence in fitted.paragraph()
    if kind == "category":  # the same levels as plain numbers or texts
        plain = {"code": np.array(cells), "b": OTHER[:59]}
        np.testing.assert_array_equal(fitted.transform(plain), fitted.transform(frame[:59]))
    as_number = Preparation(as_date="code") if isinstance(levels[0], str) else Preparation(as_number="code")
    assert quiet(as_number.fit, frame).kinds_of_codes == ("number", "auto")


def test_a_categorical_column_of_distinct_numbers_is_left_out_with_what_reads_it():
    frame = pd.DataFrame({"code": pd.Categorical(OTHER), "b": OTHER})
    assert "as a category, which is its type; --as-number" in quiet(Preparation().fit, frame).left_out["code"]


@pytest.mark.parametrize("option", ["as_category", "as_ordered"])
def test_levels_that_the_user_asked_for_are_not_doubted(option):
    sizes = column("1 low", "2 mid", "3 high")
    assert quiet(Preparation(**{option: "size"}).fit, {"size": sizes, "b": OTHER}).features[0].startswith("size=")
