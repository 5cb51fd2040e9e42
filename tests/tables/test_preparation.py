"""What becomes of the columns of a table, that the same becomes of new rows, and that sums add up over blocks."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from sklearn.base import clone

from clusterkit import Auto, recipe
from clusterkit.errors import IncompatibleStages, InvalidParameter
from clusterkit.estimators.preparing import fit_prepared
from clusterkit.saving import Content, pack, unpack
from clusterkit.tables import Preparation, TableError, TableWarning

N = 300


@pytest.fixture
def table():
    """A column of every kind."""
    rng = np.random.default_rng(0)
    income = rng.normal(40_000, 9_000, N)
    income[:25] -= 30_000
    age = rng.normal(40, 10, N)
    age[:25] = np.nan
    town = rng.choice(np.array(["Ulm", "Bonn", "Köln"], dtype=object), N, p=[0.2, 0.3, 0.5])
    town[::40] = None
    return {
        "customer_id": np.arange(1000, 1000 + N),
        "age": age,
        "income": income,
        "town": town,
        "vip": rng.random(N) < 0.3,
        "since": np.datetime64("2020-01-01", "us") + 86_400_000_000 * rng.integers(0, 1500, N),
        "shop": np.datetime64("2024-01-01T09:00", "us")
        + 60_000_000 * (rng.integers(0, 90, N) * 1440 + rng.integers(0, 120, N)),
        "note": np.array([" ".join(rng.choice(list("abcdefgh"), 6)) for _ in range(N)], dtype=object),
        "constant": np.ones(N),
        "empty": np.full(N, np.nan),
        "margin": np.array([f"{x:.1f} %" for x in 100 * rng.random(N)], dtype=object),
        "price": np.array([f"{x:,.2f} €" for x in 5000 * rng.random(N)], dtype=object),
    }


@pytest.fixture
def fitted(table):
    return Preparation().fit(table)


def test_every_kind(table, fitted):
    assert fitted.left_out == {
        "customer_id": "an identifier: the numbers from 1000 to 1299, each once",
        "note": "free text",
        "constant": "always 1",
        "empty": "empty",
    }
    assert fitted.features == (
        "age", "age is a gap", "income", "town=Köln", "town=Bonn", "town=Ulm", "vip", "since", "shop",
        "shop hour (sin)", "shop hour (cos)", "margin", "price",
    )  # fmt: skip
    X = dict(zip(fitted.features, fitted.transform(table).T, strict=True))
    for name in ("income", "since", "margin", "price"):
        assert X[name].mean() == pytest.approx(0, abs=1e-12)
        assert X[name].std() == pytest.approx(1)
    assert set(X["age"][:25]) <= set(X["age"][25:])
    assert set(X["age is a gap"][:25]) == {0.5}
    assert not X["age is a gap"][25:].any()
    np.testing.assert_allclose(X["vip"], 0.5 * table["vip"])
    of_towns = {town: X[f"town={town}"] > 0 for town in ("Ulm", "Bonn", "Köln")}
    named = np.array([town is not None for town in table["town"]])
    for town, its in of_towns.items():
        np.testing.assert_array_equal(its[named], table["town"][named] == town)
    assert (sum(its.astype(int) for its in of_towns.values()) == 1).all()


def test_what_is_typical_fills_gaps_where_asked_for(table):
    fitted = Preparation(gaps="typical").fit(table)
    X = dict(zip(fitted.features, fitted.transform(table).T, strict=True))
    assert set(X["age"][:25]) == {0.0}
    np.testing.assert_array_equal(X["town=Ulm"] > 0, table["town"] == "Ulm")
    np.testing.assert_array_equal(X["town=Köln"] > 0, [town in ("Köln", None) for town in table["town"]])
    assert "'Köln', the most frequent level" in fitted.paragraph()


@pytest.mark.parametrize(("rare", "frequent"), [(1.0, 2.0), (2.0, 1.0)])
def test_a_gap_of_two_values_is_the_more_frequent_one(rare, frequent):
    cells = np.array([rare] * 3 + [frequent] * 6 + [np.nan])
    table = {"a": cells, "b": np.linspace(0.0, 1.0, 10)}
    X = Preparation(gaps="typical", scale="none").fit(table).transform(table)
    assert X[-1, 0] == X[-2, 0] != X[0, 0]


def test_levels_are_as_far_apart_as_truth_values(table, fitted):
    X = fitted.transform(table)
    levels = X[:, [fitted.features.index(f"town={town}") for town in ("Ulm", "Bonn", "Köln")]]
    distances = np.linalg.norm(levels[:, None] - levels[None], axis=2)
    assert set(np.round(distances, 12).ravel()) == {0.0, 0.5}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_data_frames_agree(table, fitted, library):
    module = pytest.importorskip(library)
    frame = module.table(table) if library == "pyarrow" else module.DataFrame(table)
    again = Preparation().fit(frame)
    assert again.plans == fitted.plans
    np.testing.assert_array_equal(again.transform(frame), fitted.transform(table))


@pytest.mark.parametrize("cuts", [(100, 200), (1,), (299,)])
def test_blocks_add_up(table, fitted, cuts):
    parts = np.split(np.arange(N), cuts)
    blocks = [{name: values[rows] for name, values in table.items()} for rows in parts]
    again = Preparation().fit_blocks(iter(blocks))
    assert again.features == fitted.features
    assert again.left_out == fitted.left_out
    np.testing.assert_allclose(again.transform(table), fitted.transform(table), rtol=1e-9, atol=1e-9)


def test_columns_are_found_by_name(table, fitted):
    X = fitted.transform(table)
    shuffled = {name: table[name] for name in sorted(table, reverse=True)} | {"new": np.zeros(N)}
    del shuffled["note"], shuffled["customer_id"]
    np.testing.assert_array_equal(fitted.transform(shuffled), X)
    del shuffled["age"], shuffled["town"]
    with pytest.raises(TableError, match="lacks 2 of the 8 columns that the model uses: age, town"):
        fitted.transform(shuffled)


def test_columns_without_names(table, fitted):
    X = fitted.transform(table)
    everything = {f"x{j}": values for j, values in enumerate(table.values())}
    np.testing.assert_array_equal(fitted.transform(everything, by_position=True), X)
    used = {f"x{j}": table[name] for j, name in enumerate(fitted.used)}
    np.testing.assert_array_equal(fitted.transform(used, by_position=True), X)
    used.popitem()
    either = "all 12 of the fit in their order, or only the 8 that it uses: "
    with pytest.raises(TableError, match=f"have 7 columns without names; the model takes {either}{fitted.used[0]}, "):
        fitted.transform(used, by_position=True)
    with pytest.raises(TableError, match=f"have 3 columns without names; the model takes {either}"):
        fitted.transform(np.zeros((2, 3)))


class TestOddCells:
    @pytest.fixture
    def fitted(self, table):
        return Preparation().fit({name: table[name] for name in ("income", "town", "since", "margin")})

    def test_levels_that_the_fit_did_not_see(self, table, fitted):
        other = {**table, "town": np.where(np.arange(N) == 7, "Kiel", table["town"])}
        with pytest.warns(TableWarning, match="column 'town': 1 cell is a level that the fit did not see and count"):
            X = fitted.transform(other)
        gap = {**table, "town": np.where(np.arange(N) == 7, None, table["town"])}
        np.testing.assert_array_equal(X, fitted.transform(gap))

    def test_among_rare_levels_there_is_room_for_new_ones(self, table):
        town = table["town"].copy()
        town[:2], town[2:4] = "Kiel", "Rom"
        rare = Preparation().fit({"town": town, "income": table["income"]})
        assert rare.features[:4] == ("town=Köln", "town=Bonn", "town=Ulm", "town=(other)")
        new = {"town": np.array(["Kiel", "Oslo"], dtype=object), "income": np.zeros(2)}
        X = rare.transform(new)
        np.testing.assert_array_equal(X[0], X[1])

    def test_words_among_numbers(self, table, fitted):
        margin = table["margin"].copy()
        margin[3] = "unknown"
        with pytest.warns(TableWarning, match=r"column 'margin': 1 cell is no number and .* row 4: 'unknown'"):
            fitted.transform({**table, "margin": margin})
        with_word = Preparation().fit({"margin": margin})
        assert "1 of them cells that cannot be read" in with_word.paragraph()

    def test_another_kind_of_column(self, table, fitted):
        with pytest.raises(
            TableError, match="column 'margin' has no number, though it had some in the fit: row 1 has 'a"
        ):
            fitted.transform({**table, "margin": np.full(N, "a", dtype=object)})
        with pytest.raises(TableError, match="column 'since' has no date, though it had some in the fit"):
            fitted.transform({**table, "since": np.arange(N)})

    @pytest.mark.parametrize("hole", [np.nan, np.inf])
    def test_a_column_without_a_value(self, table, hole):
        table = {"income": np.nan_to_num(table["income"]), "margin": table["margin"]}
        fitted = Preparation().fit(table)
        with pytest.warns(
            TableWarning, match=f"column 'income' has no value in {N} rows: every .* the mean of the fit"
        ):
            fitted.transform({**table, "income": np.full(N, hole)})
        one = {"income": np.array([hole]), "margin": table["margin"][:1]}
        with pytest.warns(TableWarning, match="column 'income' has no value in 1 row: every cell is missing"):
            fitted.transform(one)

    def test_gaps_that_the_fit_makes_likely_are_not_told(self, recwarn):
        holes = np.where(np.arange(20) % 3, np.arange(20.0) ** 2, np.nan)
        fitted = Preparation().fit({"a": holes, "b": np.arange(20.0) ** 3})
        fitted.transform({"a": np.array([np.nan]), "b": np.ones(1)})
        assert not recwarn
        with pytest.warns(TableWarning, match="no value in 20 rows"):
            fitted.transform({"a": np.full(20, np.nan), "b": np.ones(20)})

    def test_no_row(self, table, fitted):
        with pytest.raises(TableError, match=r"Found table with 0 sample\(s\) \(shape=\(0, 4\)\)"):
            fitted.transform({name: values[:0] for name, values in table.items()})

    def test_complex_numbers(self, table, fitted):
        X = {"z": np.arange(N) + 1j, "a": np.arange(N) ** 2.0}
        pandas = pytest.importorskip("pandas")
        for form in (X, pandas.DataFrame(X)):
            with pytest.raises(TableError, match="column 'z' has complex numbers"):
                Preparation().fit(form)
            assert Preparation(drop="z").fit(form).used == ("a",)
        with pytest.raises(TableError, match="column 'margin' has no number"):
            fitted.transform({**table, "margin": X["z"]})

    def test_numbers_as_texts(self, table, fitted):
        texts = {**table, "income": np.array([repr(x) for x in table["income"].tolist()], dtype=object)}
        np.testing.assert_array_equal(fitted.transform(texts), fitted.transform(table))


class TestOverrides:
    def test_uses(self, table):
        zips = np.random.default_rng(1).choice([10_115, 20_095, 80_331], N)
        changed = Preparation(as_category="zip", keep=["customer_id"], drop=["since", "shop"]).fit(
            {**table, "zip": zips}
        )
        assert {"zip=10115", "zip=20095", "zip=80331", "customer_id"} <= set(changed.features)
        assert changed.left_out["since"] == "as you asked"

    def test_texts_as_dates_and_numbers(self):
        table = {
            "a": np.array(["1", "2", "x", "y", "z"], dtype=object),
            "b": np.array(["1.2.2024"] * 4 + ["?"], dtype=object),
        }
        assert Preparation(as_number="a", keep="b").fit(table).features == ("a", "b")
        assert Preparation(as_number="a", as_date="b").fit(table).features == ("a", "b")

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"as_number": "note"}, "column 'note' cannot be used as numbers: no cell is one"),
            ({"as_date": "town"}, "column 'town' cannot be used as dates: no cell is one"),
            ({"as_category": "note"}, "column 'note' has no level with 1 % of the rows: no category"),
            ({"keep": "hight"}, "no column named 'hight'"),
            ({"drop": ("age", "income")}, ""),
            ({"weights": {"hight": 2}}, "no column named 'hight'"),
        ],
    )
    def test_what_does_not_suit(self, table, parameters, message):
        if message:
            with pytest.raises(TableError, match=message):
                Preparation(**parameters).fit(table)
        else:
            assert "age" not in Preparation(**parameters).fit(table).used

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"scale": "zscor"}, "scale must be one of .*, got 'zscor'"),
            ({"sphere": 1}, "sphere must be True or False, got 1"),
            ({"decimal": ";"}, "decimal must be"),
            ({"drop": [3]}, "drop must be names of columns"),
            ({"weights": {"a": -1}}, "weights must be numbers of at least 0"),
            ({"drop": "a", "as_date": "a"}, "column 'a' has two uses"),
        ],
    )
    def test_wrong_parameters(self, parameters, message):
        with pytest.raises(InvalidParameter, match=message):
            Preparation(**parameters)

    @pytest.mark.parametrize(("scale", "low", "high"), [("none", 1, 90), ("minmax", 0, 1), ("spread", 0.0, 20.0)])
    def test_scales(self, table, scale, low, high):
        X = Preparation(scale=scale).fit({"age": table["age"], "income": table["income"]}).transform(table)
        ages = X[np.isfinite(table["age"]), 0]
        assert low <= ages.min() < ages.max() <= high


class TestUnits:
    def test_comparable_numbers_stay(self):
        X = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 3.0, 9.0]
        fitted = Preparation().fit({f"x{j}": X[:, j] for j in range(3)})
        assert fitted.scale == "none"
        np.testing.assert_array_equal(fitted.transform(X), X)

    def test_single_precision_stays(self):
        X = np.random.default_rng(0).normal(size=(50, 2)).astype(np.float32)
        assert Preparation().fit({"a": X[:, 0], "b": X[:, 1]}).transform(X).dtype == np.float32

    def test_a_shared_range_is_one_unit(self):
        X = np.random.default_rng(0).integers(0, 17, size=(200, 9)).astype(float)
        X[:, 0] = np.where(np.arange(200) == 3, 1.0, 0.0)
        X[:2, 1:] = [[0.0], [16.0]]
        assert Preparation().fit({f"x{j}": X[:, j] for j in range(9)}).scale == "none"

    def test_two_values_are_no_number_of_standard_deviations(self):
        """A rare flag in units of its standard deviation would be farther from the rest than any cluster."""
        flag = (np.arange(200) == 3).astype(float)
        fitted = Preparation().fit({"flag": flag, "a": np.linspace(0, 1, 200), "b": np.linspace(0, 99, 200) ** 1.5})
        assert fitted.scale == "zscore"
        assert set(fitted.transform({"flag": flag, "a": flag, "b": flag})[:, 0]) == {0.0, 0.5}


class TestWhatIsLeft:
    def test_numbers_alone_are_used_whatever_they_look_like(self):
        assert Preparation().fit({"id": np.arange(30)}).used == ("id",)

    def test_constants_are_nothing_to_cluster(self):
        table = {"a": np.ones(9), "b": np.zeros(9, dtype=bool), "c": np.full(9, "x")}
        with pytest.raises(TableError, match=r"no column is left to cluster: a \(always 1\); b \(always 0\); c \("):
            Preparation().fit(table)
        assert Preparation().fit({**table, "id": np.arange(9)}).used == ("id",)
        assert Preparation(keep="a").fit(table).used == ("a",)

    def test_numbers_that_floats_do_not_tell_apart_are_not_said_to_be_equal(self):
        fitted = Preparation().fit({"id": 2**60 + np.arange(20), "a": np.arange(20.0) ** 2})
        assert fitted.left_out["id"] == "always 1.15292e+18 or so: whole numbers above 2^53 are not told apart"

    def test_two_values_far_apart_have_a_spread(self):
        table = {"a": np.arange(60.0) ** 2, "v": np.repeat([0, 1e9], 30)}
        assert Preparation().fit(table).scale == "zscore"
        assert ", those of two values apart," in Preparation().fit(table | {"v": np.repeat([0, 1], 30)}).reason

    @pytest.mark.filterwarnings("error")
    def test_numbers_without_a_sum(self):
        with pytest.raises(TableError, match=r"column 'a' has numbers that are too large to add up: 1e[+]308"):
            Preparation().fit({"a": np.array([1e308, -1e308, 3.0]), "b": np.arange(3.0)})
        with pytest.raises(TableError, match=r"'a' has numbers that are too close together, from 1e-300 to 3e-300"):
            Preparation().fit({"a": np.array([1e-300, 2e-300, 3e-300]), "b": np.arange(3.0)})

    def test_nothing(self):
        words = np.array([f"word {i}" for i in range(30)], dtype=object)
        with pytest.raises(TableError, match=r"no column is left to cluster: w \(an identifier: 30 different values"):
            Preparation().fit({"w": words})
        with pytest.raises(TableError, match="no row"):
            Preparation().fit({"w": np.zeros(0)})


class TestSaving:
    def round_trip(self, value):
        packed = pack(value)
        return unpack(Content({**packed.tree()}, packed.tensors), "file")

    def test_the_same_object(self, table, fitted):
        again = self.round_trip(fitted)
        assert again == fitted
        np.testing.assert_array_equal(again.transform(table), fitted.transform(table))

    def test_what_a_file_must_not_hold(self, fitted):
        category = next(plan for plan in fitted.plans if plan.name == "town")
        date = next(plan for plan in fitted.plans if plan.name == "shop")
        number = next(plan for plan in fitted.plans if plan.name == "income")
        for plan, change in (
            (category, {"fill": 3}), (category, {"levels": ("a", "a")}), (date, {"parts": ("century",)}),
            (number, {"factor": float("nan")}), (number, {"decimal": ";"}),
        ):  # fmt: skip
            with pytest.raises(ValueError, match=r"must|there is no|has no"):
                attrs.evolve(plan, **change)
        with pytest.raises(ValueError, match="other than 0 to 1 gaps"):
            self.round_trip(attrs.evolve(fitted, rows=1))


def test_the_paragraph_names_every_decision(fitted):
    text = fitted.paragraph(options=True)
    for words in (
        "8 of 12 columns used (5 numbers, 1 category, 2 dates), as 13 features", "town: 3 levels",
        "shop: elapsed time, hour", "customer_id (an identifier", "constant (always 1)",
        "they are a feature too, because income differs there",
        "town (8) take the value of the most similar of 300 kept rows",
        "numbers divided by their standard deviations", "--as-category",
    ):  # fmt: skip
        assert words in text
    facts = fitted.resolved()
    assert facts["categories"] == {"town": "3 levels"}
    assert facts["left_out"] == fitted.left_out


@pytest.mark.parametrize("as_text", [False, True])
def test_few_whole_numbers_are_named_because_they_may_be_years_or_codes(as_text):
    rng = np.random.default_rng(0)
    few = {"year": rng.choice([2007, 2008, 2009], 90), "pclass": rng.choice([1, 2, 3, 8], 90)}
    table = {name: values.astype(str) if as_text else values for name, values in few.items()}
    table |= {"kids": rng.integers(0, 12, 90), "share": rng.choice([0.5, 1, 2], 90), "mass": rng.normal(size=90)}
    fitted = Preparation().fit(table)
    assert (
        "Few whole numbers, used as numbers though they may be years or codes: year (3 from 2007 to 2009); pclass (4 "
        "from 1 to 8); --as-category makes levels of them." in fitted.paragraph()
    )
    blocks = [{name: values[part] for name, values in table.items()} for part in (slice(5), slice(5, 90))]
    assert Preparation().fit_blocks(blocks).resolved()["few_whole_numbers"] == fitted.resolved()["few_whole_numbers"]
    assert "Few" not in Preparation(as_category=("year", "pclass")).fit(table).paragraph()


class TestNothingButTexts:
    TEXTS = np.array([f"the {i}th sentence of a long story about the word {i % 7}" for i in range(60)], dtype=object)

    @pytest.mark.parametrize("more", [{}, {"id": np.arange(60)}])
    def test_free_text_alone_says_what_to_do(self, more):
        with pytest.raises(
            TableError, match=r"text \(free text\).*compute an embedding of each text .*TfidfVectorizer"
        ):
            Preparation().fit({"text": self.TEXTS, **more})

    def test_lists_alone_too(self):
        lists = np.empty(60, dtype=object)
        lists[:] = [[i, 2 * i] for i in range(60)]
        with pytest.raises(TableError, match=r"x \(its cells are lists or objects\)\. Of lists .*numpy\.vstack"):
            Preparation().fit({"x": lists})


class TestWeights:
    def test_a_weight_counts_all_that_a_column_becomes(self, table):
        table |= {"lat": np.linspace(40, 50, N), "lon": np.linspace(0, 9, N)}
        table["note"] = np.array([*["red apple tree"] * 150, *["blue river boat"] * 150]) + [f" {i}" for i in range(N)]
        plain = Preparation(gaps="typical").fit(table)
        for name in {*plain.used} - {"lon"}:
            fitted = attrs.evolve(plain.preparation, weights={name: 4}).fit(table)
            mine = [name in each or (name == "lat" and "lon" in each) for each in plain.features]
            np.testing.assert_allclose(
                fitted.transform(table), plain.transform(table) * np.where(mine, 2, 1), atol=1e-9
            )
        with pytest.raises(InvalidParameter, match="'lon' is half of a place, whose weight is that of 'lat'"):
            Preparation(weights={"lon": 4}).fit(table)
        none = attrs.evolve(plain.preparation, weights={"age": 0, "town": 1}).fit(table)
        np.testing.assert_array_equal(
            none.transform(table), Preparation(gaps="typical", drop="age").fit(table).transform(table)
        )

    def test_columns_of_an_array(self):
        X = np.random.default_rng(0).normal(size=(90, 3)) + np.repeat(np.eye(3) * 3, 30, axis=0)
        model = recipe("kmeans", n_clusters=3, random_state=0)
        repeated = clone(model).fit_predict(X[:, [0, 2, 2]])
        model.set_params(featuremap={"name": "weighted", "weights": np.array([1, 0, 2])})
        np.testing.assert_array_equal(model.fit(X).predict(X), repeated)
        with pytest.raises(InvalidParameter, match="weights has 3 numbers, and the samples have 2 columns"):
            model.fit(X[:, :2])

    def test_methods_that_scale_each_column_refuse_them(self, table):
        for name in ("mixture", "lapgmm"):
            with pytest.raises(IncompatibleStages, match="weights of columns count in distances"):
                fit_prepared(recipe(name, n_clusters=2), table, Preparation(weights={"age": 2}))
        for weights in ({}, {"age": 2}):
            auto = Auto(2, preparation=Preparation(drop="note", weights=weights), random_state=0).fit(table)
            assert auto.preparation_.coded is not bool(weights)
