"""Marks beside numbers: %, currencies and units are remembered, converted where that is sure, never lost silently."""

from __future__ import annotations

import io
import warnings

import attrs
import numpy as np
import pytest

from clusterkit import load, recipe
from clusterkit.estimators.preparing import fit_prepared
from clusterkit.tables import Preparation, TableError, TableWarning, read_table

RNG = np.random.default_rng(0)
SHARES = np.round(np.r_[RNG.normal(10, 1, 30), RNG.normal(40, 1, 30)], 1)
"""A share in percent, with two groups."""

OTHER = np.round(RNG.normal(size=60), 2)


def texts(form, values=SHARES):
    return np.array([form.format(value) for value in values], dtype=object)


def quiet(call, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call(*arguments)


class TestMarksAreNumbersAsWritten:
    @pytest.mark.parametrize("form", ["{}%", "$ {}", "{} EUR", "{} kg", "{}kg", "{} km/h", "{}°C", "{} months"])
    def test_the_mark_changes_neither_numbers_nor_units(self, form):
        plain = Preparation().fit({"a": SHARES, "b": OTHER})
        marked = quiet(Preparation().fit, {"a": texts(form), "b": OTHER})
        assert (marked.scale, marked.reason) == (plain.scale, plain.reason)
        assert marked.scale == "zscore"
        np.testing.assert_allclose(
            marked.transform({"a": texts(form), "b": OTHER}), plain.transform({"a": SHARES, "b": OTHER})
        )

    def test_words_name_the_marks(self):
        fitted = Preparation().fit({"share": texts("{} %"), "price": texts("${}"), "weight": texts("{} kg")})
        assert "Units beside numbers: share (%); price ($); weight (kg)." in fitted.paragraph()
        assert fitted.resolved()["units"] == {"share": "%", "price": "$", "weight": "kg"}

    def test_a_read_file(self):
        rows = "\n".join(["a;b", *(f"{a} %;{b}" for a, b in zip(SHARES, OTHER, strict=True))])
        table = read_table(io.BytesIO(rows.encode()))
        np.testing.assert_array_equal(table.numbers()[:, 0], SHARES)
        mixed = rows.replace("%", "$", 3)
        with pytest.raises(TableError, match="column 'a' have several marks"):
            read_table(io.BytesIO(mixed.encode())).numbers()


class TestMissingMarks:
    @pytest.mark.parametrize(("form", "unit"), [("{} %", "%"), ("${}", "$"), ("{} kg", "kg"), ("{} pcs", "pcs")])
    def test_new_rows_without_the_mark_are_read_with_a_warning(self, form, unit):
        fitted = Preparation(scale="none").fit({"a": texts(form), "b": OTHER})
        expected = quiet(fitted.transform, {"a": texts(form), "b": OTHER})
        for values in (SHARES, texts("{}")):
            with pytest.warns(TableWarning, match=rf"column 'a': numbers without .* 60 of 60 .*{unit}") as caught:
                np.testing.assert_array_equal(fitted.transform({"a": values, "b": OTHER}), expected)
            assert len(caught) == 1

    @pytest.mark.parametrize(("form", "factor"), [("{} %", 0.01), ("{} kg", 1000.0), ("€ {}", 0.001)])
    def test_of_another_size_they_are_refused(self, form, factor):
        fitted = Preparation().fit({"a": texts(form), "b": OTHER})
        with pytest.raises(TableError, match=r"column 'a': the numbers have no .* are of another size: .* in the fit"):
            fitted.transform({"a": SHARES * factor, "b": OTHER})

    def test_shares_of_one_are_refused_though_the_fit_has_zero_percent(self):
        shares = np.r_[0.0, SHARES]
        fitted = Preparation().fit({"a": texts("{} %", shares)})
        with pytest.raises(TableError, match="no %"):
            fitted.transform({"a": shares / 100})
        with pytest.warns(TableWarning, match="without %"):
            fitted.transform({"a": np.array([0.5, 12.0])})

    def test_marks_that_the_fit_has_not(self):
        fitted = Preparation(scale="none").fit({"a": SHARES})
        with pytest.warns(TableWarning, match="numbers with a mark that the fit has not .* 60 with %"):
            assert fitted.transform({"a": texts("{} %")})[0, 0] == SHARES[0]
        with pytest.raises(TableError, match="have g, which they have not in the fit"):
            fitted.transform({"a": texts("{} g", SHARES * 1000)})
        both = np.where(np.arange(60) % 2, texts("{} €"), texts("{} $"))
        with pytest.raises(TableError, match="several marks"):
            fitted.transform({"a": both})

    def test_several_columns_are_one_warning(self):
        columns = {name: texts(form) for name, form in (("a", "{} %"), ("b", "{} kg"), ("c", "${}"))}
        fitted = Preparation().fit(columns)
        with pytest.warns(TableWarning, match=r"in 3 columns numbers without .*'a' \(60.*; 'b' .*; 'c' ") as caught:
            fitted.transform(dict.fromkeys(columns, SHARES))
        assert len(caught) == 1

    def test_a_fit_with_some_marks_says_so_and_repeats_its_rows(self):
        some = np.where(np.arange(60) % 3, texts("{} %"), texts("{}"))
        with pytest.warns(TableWarning, match=r"without the unit of their column .* 'a' \(20 of 60 without %\)"):
            fitted = Preparation(scale="none").fit({"a": some})
        np.testing.assert_array_equal(quiet(fitted.transform, {"a": some})[:, 0], SHARES)
        assert fitted.resolved()["without_unit"] == {"a": 20}
        assert "a (%, and 20 without)" in fitted.paragraph()

    def test_a_fit_with_numbers_of_two_sizes_leaves_the_column_out(self):
        some = np.where(np.arange(60) % 3, texts("{} %"), texts("{:.3f}", SHARES / 100))
        left_out = Preparation().fit({"a": some, "b": OTHER}).left_out
        assert "40 numbers with %, from " in left_out["a"]
        assert "20 without, from 0.0" in left_out["a"]


class TestSeveralUnits:
    def test_units_of_one_dimension_are_converted(self):
        mixed = np.where(np.arange(60) % 3, texts("{} kg"), texts("{:.0f} g", SHARES * 1000))
        fitted = quiet(Preparation(scale="none").fit, {"w": mixed})
        np.testing.assert_allclose(quiet(fitted.transform, {"w": mixed})[:, 0], SHARES)
        assert "w (kg, from g too)" in fitted.paragraph()
        assert fitted.resolved()["units_converted"] == {"w": ["g"]}
        one = Preparation(scale="none").fit({"w": texts("{} kg")})
        np.testing.assert_allclose(quiet(one.transform, {"w": mixed})[:, 0], SHARES)
        np.testing.assert_allclose(quiet(one.transform, {"w": texts("{:.6f} t", SHARES / 1000)})[:, 0], SHARES)

    def test_blocks_in_other_units_add_up(self):
        gaps = np.where(np.arange(60) % 2, OTHER, np.nan)
        kilos, grams = ({"w": texts("{} kg"), "b": gaps}, {"w": texts("{:.0f} g", SHARES * 1000), "b": gaps})
        parts = Preparation(scale="zscore").fit_blocks([kilos, kilos, grams])
        whole = {name: np.concatenate([kilos[name], kilos[name], grams[name]]) for name in kilos}
        fitted = Preparation(scale="zscore").fit(whole)
        assert parts.features == fitted.features
        np.testing.assert_allclose(parts.transform(whole), fitted.transform(whole))

    def test_thousands(self):
        mixed = np.array(["900", "1.2k", "3.4 k", "800", "1.1 M"], dtype=object)
        fitted = Preparation(scale="none", keep="n").fit({"n": mixed})
        assert quiet(fitted.transform, {"n": mixed})[:, 0].tolist() == [900.0, 1200.0, 3400.0, 800.0, 1.1e6]

    @pytest.mark.parametrize("forms", [("${}", "{} JPY"), ("{} kg", "{} cm"), ("{} °C", "{} °F"), ("{} %", "€{}")])
    def test_others_are_left_out_by_name(self, forms):
        mixed = np.where(np.arange(60) % 2, texts(forms[0]), texts(forms[1]))
        with pytest.warns(TableWarning, match=r"not used as such: 'price' \(.*; --as-number takes"):
            fitted = Preparation().fit({"price": mixed, "b": OTHER})
        assert fitted.left_out["price"].startswith("its numbers are in units that cannot be added up: ")
        assert fitted.left_out["price"].count("(30)") == 2
        with pytest.warns(TableWarning, match="cannot be converted into that of their column count as gaps: 'price'"):
            asked_for = Preparation(as_number="price", scale="none").fit({"price": mixed, "b": OTHER})
        assert asked_for.plans[0].unread == 30
        np.testing.assert_array_equal(
            asked_for.transform({"price": mixed, "b": OTHER}),
            asked_for.transform({"price": mixed, "b": OTHER}, quiet=True),
        )

    def test_another_unit_in_new_rows_is_refused(self):
        fitted = Preparation().fit({"price": texts("${}")})
        with pytest.raises(TableError, match=r"column 'price' is in \$ in the fit, and € cannot .* row 1 has '.* €'"):
            fitted.transform({"price": texts("{} €")})
        one = texts("${}")
        one[3] = "5 €"
        with pytest.warns(TableWarning, match="column 'price': 1 cell is no number and .* row 4: '5 €'"):
            fitted.transform({"price": one})

    def test_measured_columns_are_no_identifiers(self):
        counts = np.array([f"{i} kg" for i in range(60)], dtype=object)
        assert Preparation().fit({"no": counts, "b": OTHER}).used == ("no", "b")

    def test_few_amounts_are_levels(self):
        terms = np.array(["6 months", "1 year", "2 years"] * 20, dtype=object)
        assert Preparation().fit({"term": terms, "b": OTHER}).resolved()["categories"] == {"term": "3 levels"}

    def test_singular_and_plural_are_one_unit(self):
        terms = np.array(["1 month", "36 months", "60 Months"] * 20, dtype=object)
        assert Preparation(scale="none").fit({"term": terms}).transform({"term": terms})[:3, 0].tolist() == [1, 36, 60]

    def test_streets_are_no_units(self):
        streets = np.array([f"{i} {'abcdefghijklmnopqrstuvwxyz'[i % 26]}street" for i in range(60)], dtype=object)
        assert "units" not in Preparation().fit({"street": streets, "b": OTHER}).left_out["street"]


class TestSize:
    def test_numbers_of_another_size_are_told_once(self):
        fitted = Preparation().fit({"height": SHARES / 20, "width": SHARES, "b": OTHER})
        rows = {"height": SHARES * 5, "width": SHARES * 1000, "b": OTHER}
        with pytest.warns(
            TableWarning, match=r"in 2 columns numbers are of another size .*'height'.*'width'"
        ) as caught:
            fitted.transform(rows)
        assert len(caught) == 1
        quiet(fitted.transform, {"height": SHARES / 15, "width": SHARES * 3, "b": OTHER})
        quiet(fitted.transform, {"height": np.zeros(3), "width": np.full(3, 44.0), "b": OTHER[:3]})

    def test_small_ones_too(self):
        fitted = Preparation().fit({"a": SHARES, "b": OTHER})
        with pytest.warns(TableWarning, match="column 'a': numbers are of another size .* in the fit; they may be in"):
            fitted.transform({"a": SHARES / 1000, "b": OTHER})


class TestTypicalSize:
    """A column that spans more than a factor of ten hides another unit from its extremes, not from its logarithms."""

    @pytest.mark.parametrize("times", [100.0, 0.01])
    @pytest.mark.parametrize("draw", ["lognormal", "normal", "integers"])
    def test_another_unit_is_told(self, draw, times):
        rng = np.random.default_rng(0)
        column = {"lognormal": np.exp(rng.normal(8, 1.5, 300)), "normal": rng.normal(size=300),
                  "integers": rng.integers(0, 2000, 300)}[draw]  # fmt: skip
        fitted = Preparation().fit({"a": column, "b": rng.normal(size=300)})
        new = {"a": column[:40] * times, "b": rng.normal(size=40)}
        with pytest.warns(TableWarning, match="column 'a': numbers are of another size .*typically .*; they may be"):
            fitted.transform(new)
        quiet(fitted.transform, {**new, "a": column[:40]})

    @pytest.mark.parametrize("spread", [0.5, 1.0, 2.0, 3.0])
    def test_random_rows_of_the_fit_are_not(self, spread):
        rng = np.random.default_rng(1)
        columns = {f"c{j}": np.exp(rng.normal(3, spread, 400)) for j in range(5)}
        columns["zero"] = rng.normal(size=400) * np.exp(rng.normal(0, spread, 400))
        fitted = Preparation().fit(columns)
        for size in (1, 5, 10, 12, 30, 200):
            for _ in range(40):
                rows = rng.choice(400, size, replace=False)
                quiet(fitted.transform, {name: column[rows] for name, column in columns.items()})

    def test_one_of_two_groups_is_not(self):
        rng = np.random.default_rng(2)
        column = np.exp(np.repeat([0.0, 7.0], 100) + rng.normal(0, 0.3, 200))
        fitted = Preparation().fit({"a": column, "b": rng.normal(size=200)})
        quiet(fitted.transform, {"a": column[:100], "b": np.zeros(100)})

    def test_a_saved_model_tells_it_and_an_older_one_does_not(self, tmp_path):
        rng = np.random.default_rng(4)
        table = {"a": np.exp(rng.normal(8, 1.5, 100)), "b": rng.normal(size=100)}
        model = recipe("kmeans", n_clusters=2, random_state=0)
        fit_prepared(model, table)
        model.save(tmp_path / "m.clusterkit")
        again = load(tmp_path / "m.clusterkit").preparation_
        assert again.plans[0].size == model.preparation_.plans[0].size
        new = {**table, "a": table["a"] * 100}
        with pytest.warns(TableWarning, match="column 'a': numbers are of another size"):
            again.transform(new)
        older = attrs.evolve(again, plans=tuple(attrs.evolve(plan, size=()) for plan in again.plans))
        quiet(older.transform, new)

    def test_pieces_and_the_whole_have_one_size(self):
        rng = np.random.default_rng(3)
        table = {"a": np.exp(rng.normal(5, 2, 200)), "b": rng.normal(size=200)}
        parts = [{name: column[i : i + 30] for name, column in table.items()} for i in range(0, 200, 30)]
        whole, pieces = Preparation().fit(table), Preparation().fit_blocks(parts)
        np.testing.assert_allclose(whole.plans[0].size, pieces.plans[0].size, rtol=1e-12)
        logs = np.log(table["a"])
        np.testing.assert_allclose(whole.plans[0].size, (logs.mean(), logs.std()), rtol=1e-12)


def test_a_percent_column_does_not_hide_the_others():
    """With shares of one the column of groups had a hundredth of the spread, and the groups were lost."""
    from sklearn.metrics import adjusted_rand_score

    model = recipe("kmeans", n_clusters=2, random_state=0)
    fit_prepared(model, {"share": texts("{} %"), "b": OTHER})
    assert adjusted_rand_score(np.repeat([0, 1], 30), model.labels_) == 1.0
