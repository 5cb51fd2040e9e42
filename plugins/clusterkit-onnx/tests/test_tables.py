"""The preparation of a table is a part of the exported model."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from clusterkit_onnx import NotExportable, to_onnx
from clusterkit_onnx.columns import MOST_TERMS, PreparedColumns
from clusterkit_onnx.graph import Graph

import clusterkit
from clusterkit import Auto, Pipeline, recipe
from clusterkit.estimators.preparing import fit_prepared
from clusterkit.tables import Preparation, TableWarning

pytestmark = pytest.mark.filterwarnings("ignore::clusterkit.ClusterkitWarning")


def table(n, seed):
    """A column of every kind, with gaps that say something and a rare level."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    income = rng.normal(30_000 + 40_000 * group, 6_000)
    age = rng.normal(35 + 20 * group, 4)
    age[income < np.quantile(income, 0.15)] = np.nan
    town = rng.choice(np.array(["Ulm", "Bonn", "Köln", "Au", "Hof"], dtype=object), n, p=[0.2, 0.3, 0.49, 0.005, 0.005])
    town[::40] = None
    return {
        "customer_id": np.arange(n) + 1000,
        "town": town,
        "age": age,
        "income": income,
        "vip": rng.random(n) < 0.3,
        "sex": rng.choice(np.array(["f", "m"], dtype=object), n),
        "since": np.datetime64("2020-01-01", "us") + 86_400_000_000 * rng.integers(0, 1500, n),
        "shop": np.datetime64("2024-01-01T09:00", "us") + 60_000_000 * rng.integers(0, 90, n) * 1440
        + 60_000_000 * rng.integers(0, 120, n),
    }  # fmt: skip


def inputs(columns, exported):
    """The columns of a table as the inputs of an exported model, by its metadata."""
    metadata = {entry.key: entry.value for entry in exported.metadata_props}
    dates = json.loads(metadata.get("dates", "[]"))
    numbers = []
    for name in json.loads(metadata.get("columns", "[]")):
        values = columns[name]
        if name in dates:
            seconds = values.astype("datetime64[us]").astype(np.int64) / 1e6
            values = np.where(np.isnat(values), np.nan, seconds)
        numbers.append(np.asarray(values, dtype=np.float64))
    named = {"rows": np.stack(numbers, axis=1)} if numbers else {}
    levels = [
        np.array(["" if text is None else str(text) for text in columns[name]], dtype=object)
        for name in json.loads(metadata.get("levels", "[]"))
    ]
    return named | ({"levels": np.stack(levels, axis=1)} if levels else {})


@pytest.fixture(scope="module")
def model():
    fitted = recipe("kmeans", n_clusters=2, random_state=0)
    fit_prepared(fitted, table(400, 0))
    return fitted


def test_every_kind_of_column(model, run):
    assert {"age is a gap", "town=(other)", "sex=m", "shop hour (cos)"} <= set(model.preparation_.features)
    exported = to_onnx(model)
    new = table(10_000, 1)
    new["town"][5::50] = "Rom"  # not in the fit
    new["income"][::90] = np.nan
    new["since"][3::70] = np.datetime64("NaT")
    new["age"][1::200] = np.inf
    np.testing.assert_array_equal(run(exported, **inputs(new, exported))["labels"], model.predict(new))
    old = table(400, 0)
    np.testing.assert_array_equal(run(exported, **inputs(old, exported))["labels"], model.labels_)


def test_a_level_that_the_fit_did_not_see(model, run):
    exported = to_onnx(model)
    new = table(200, 2)
    new["sex"][:] = "x"
    with pytest.warns(TableWarning, match="no level is one of the fit"):
        expected = model.predict(new)
    np.testing.assert_array_equal(run(exported, **inputs(new, exported))["labels"], expected)


def test_a_column_that_is_called_as_a_level_of_another(run):
    rng = np.random.default_rng(0)
    columns = {
        "plan": rng.choice(np.array(["a", "b", "c"], dtype=object), 60),
        "plan=a": rng.normal(scale=0.1, size=60),
    }
    fitted = recipe("kmeans", n_clusters=3, random_state=0)
    fit_prepared(fitted, columns, Preparation(scale="none"))
    exported = to_onnx(fitted)
    np.testing.assert_array_equal(run(exported, **inputs(columns, exported))["labels"], fitted.labels_)


def test_one_level_or_a_gap(run):
    """A gap, and a level that the fit did not see, are both not the level."""
    vip = np.array(["yes", None] * 50, dtype=object)
    fitted = recipe("kmeans", n_clusters=2, random_state=0)
    fit_prepared(fitted, {"vip": vip, "age": np.where(np.arange(100) % 2, 1.0, 1.2) + np.arange(100) / 1e4})
    exported = to_onnx(fitted)
    new = {"vip": np.array(["yes", "no", None, "yes"], dtype=object), "age": np.array([1.1, 1.1, 1.1, 1.0])}
    with pytest.warns(TableWarning, match="column 'vip': 1 cell"):
        expected = fitted.predict(new)
    assert expected[0] != expected[1] == expected[2]
    np.testing.assert_array_equal(run(exported, **inputs(new, exported))["labels"], expected)


def test_what_the_metadata_say(model):
    exported = to_onnx(model)
    assert (exported.producer_name, exported.producer_version) == ("clusterkit", clusterkit.__version__)
    metadata = {entry.key: entry.value for entry in exported.metadata_props}
    assert metadata["recipe"] == "kmeans"
    assert json.loads(metadata["columns"]) == ["age", "income", "vip", "since", "shop"]
    assert json.loads(metadata["levels"]) == ["town", "sex"]
    assert json.loads(metadata["dates"]) == ["since", "shop"]
    assert [value.name for value in exported.graph.input] == ["rows", "levels"]


def test_the_part_after_the_preparation(model, run):
    exported = to_onnx(model, preparation=False)
    metadata = {entry.key: entry.value for entry in exported.metadata_props}
    assert json.loads(metadata["columns"]) == list(model.preparation_.features)
    new = table(500, 3)
    rows = model.preparation_.transform(new)
    np.testing.assert_array_equal(run(exported, rows=rows)["labels"], model.predict(new))


def test_moments_need_float64(model):
    with pytest.raises(NotExportable, match="column 'since' has moments in seconds since 1970"):
        to_onnx(model, dtype="float32")


@pytest.mark.parametrize("scale", ["none", "minmax", "spread"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_numbers_alone(scale, dtype, run):
    names = ("age", "income")
    model = recipe("emmc", n_clusters=2, random_state=0)
    columns = {name: values.astype(dtype) for name, values in table(300, 0).items() if name in names}
    fit_prepared(model, columns, Preparation(scale=scale))
    assert model.preparation_.narrow == (dtype == "float32")
    exported = to_onnx(model)
    new = {name: values for name, values in table(2000, 4).items() if name in names}
    labels = run(exported, **inputs(new, exported))["labels"]
    assert np.mean(labels != model.predict(new)) <= (0.0 if dtype == "float64" else 0.002)


def test_categories_alone(run):
    rng = np.random.default_rng(0)
    columns = {
        "colour": rng.choice(np.array(["red", "green", "blue"], dtype=object), 200),
        "shape": rng.choice(np.array(["round", "square"], dtype=object), 200),
        "zip": rng.choice(np.array([89073.0, 53111.0, 50667.0]), 200),
    }
    model = recipe("kmeans", n_clusters=3, random_state=0)
    fit_prepared(model, columns, Preparation(as_category=["zip"]))
    exported = to_onnx(model)
    assert [value.name for value in exported.graph.input] == ["levels"]
    texts = {**columns, "zip": np.array([f"{value:.0f}" for value in columns["zip"]], dtype=object)}
    np.testing.assert_array_equal(run(exported, **inputs(texts, exported))["labels"], model.labels_)


def test_names_of_a_data_frame_without_preparation(run):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": np.r_[np.zeros(10), np.ones(10)], "b": np.arange(20.0) / 20})
    model = recipe("kmeans", n_clusters=2, random_state=0).fit(frame)
    metadata = {entry.key: entry.value for entry in to_onnx(model).metadata_props}
    assert json.loads(metadata["columns"]) == ["a", "b"]


def test_auto_of_a_table(run):
    pandas = pytest.importorskip("pandas")
    names = ("age", "income", "sex")
    frame = pandas.DataFrame({name: values for name, values in table(200, 0).items() if name in names})
    model = Auto(pool=["kmeans", "genie"], random_state=0).fit(frame)
    exported = to_onnx(model)
    new = {name: values for name, values in table(1000, 5).items() if name in names}
    np.testing.assert_array_equal(run(exported, **inputs(new, exported))["labels"], model.predict(new))


class TestGapsTakenFromSimilarRows:
    def model_and_new(self, n, d, share, seed=0):
        """A fit to numbers and levels with gaps at random, and new rows; few different values make many ties."""
        rng = np.random.default_rng(seed)

        def columns(m):
            group = rng.integers(0, 2, m)
            X = rng.integers(0, 3, (m, d)) + 3.0 * group[:, None]
            X[:, 0] += rng.normal(size=m)
            X[rng.random(X.shape) < share] = np.nan
            town = np.array(["Ulm", "Bonn", "Köln"], dtype=object)[rng.integers(0, 3, m)]
            town[rng.random(m) < share] = None
            vip = np.array(["yes", None], dtype=object)[rng.integers(0, 2, m)]
            sex = np.array(["f", "m"], dtype=object)[group]
            return {"town": town, **{f"x{j}": X[:, j] for j in range(d)}, "vip": vip, "sex": sex}

        model = recipe("kmeans", n_clusters=2, random_state=0)
        fit_prepared(model, columns(n))
        return model, columns(10_000)

    @pytest.mark.parametrize(("d", "share"), [(4, 0.1), pytest.param(8, 0.4, marks=pytest.mark.deep)])
    def test_features_are_equal(self, d, share, run):
        model, new = self.model_and_new(400, d, share)
        fitted = model.preparation_
        new["sex"][::30] = "x"  # not in the fit
        for name in new:
            if name != "vip":
                new[name][3] = None  # a row without a value
        exported = to_onnx(model)
        with pytest.warns(TableWarning, match="a level that the fit did not see"):
            expected = model.predict(new)
        np.testing.assert_array_equal(run(exported, **inputs(new, exported))["labels"], expected)

        graph = Graph(np.dtype(np.float64))
        prepared = PreparedColumns.of(fitted)
        graph.report("features", prepared.features(graph))
        rows = run(graph.model(graph.reports["features"].argmin()), **inputs(new, exported))["features"]
        np.testing.assert_array_equal(rows, fitted.transform(new, quiet=True))

    def test_many_features(self, run):
        """Distances are matrix products above a number of features."""
        model, new = self.model_and_new(60, MOST_TERMS + 4, 0.05)
        new = {name: values[:300] for name, values in new.items()}
        exported = to_onnx(model)
        np.testing.assert_array_equal(run(exported, **inputs(new, exported))["labels"], model.predict(new))

    def test_single_precision(self, run):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 3)).astype(np.float32) + 4 * (np.arange(300) % 2)[:, None].astype(np.float32)
        X[rng.random(X.shape) < 0.1] = np.nan
        columns = {f"x{j}": X[:, j] for j in range(3)}
        model = recipe("kmeans", n_clusters=2, random_state=0)
        fit_prepared(model, columns)
        assert model.preparation_.donors.features.dtype == np.float32
        exported = to_onnx(model)
        np.testing.assert_array_equal(run(exported, **inputs(columns, exported))["labels"], model.labels_)


def test_times_before_the_day_begins_are_of_the_next_one(run):
    rng = np.random.default_rng(0)
    hours = (23.5 + 0.7 * rng.normal(size=100)) % 24
    hours = np.floor(60 * hours) / 60
    texts = np.array([f"{int(hour):02d}:{round(60 * (hour % 1)):02d}" for hour in hours], dtype=object)
    model = recipe("kmeans", n_clusters=2, random_state=0)
    fit_prepared(model, {"time": texts})
    assert model.preparation_.plans[0].begin > 0
    labels = run(to_onnx(model), rows=hours[:, None])["labels"]
    np.testing.assert_array_equal(labels, model.labels_)
    assert len(set(labels[hours < 2])) == 1


def test_times_all_around_the_clock(run):
    rng = np.random.default_rng(0)
    hours = rng.integers(0, 24 * 60, 600) / 60
    texts = np.array([f"{int(hour)}:{round(60 * (hour % 1)):02d}" for hour in hours], dtype=object)
    texts[::50] = None
    model = recipe("kmeans", n_clusters=3, random_state=0)
    fit_prepared(model, {"x": rng.normal(size=600), "time": texts})
    assert model.preparation_.features == ("x", "time (sin)", "time (cos)")
    exported = to_onnx(model)
    rows = {"x": rng.normal(size=600), "time": np.where(np.arange(600) % 50, hours, np.nan)}
    np.testing.assert_array_equal(
        run(exported, **inputs(rows, exported))["labels"], model.predict({"x": rows["x"], "time": texts})
    )


def mixed(n, seed):
    """Three clusters, with a category that shifts numbers, counts, ordered levels, an atom, and gaps."""
    rng = np.random.default_rng(seed)
    y, site = rng.integers(3, size=n), rng.integers(2, size=n)
    frame = pd.DataFrame(table(n, seed)).drop(columns=["customer_id", "town"])
    frame["length"] = 5.0 * y + rng.standard_normal(n) + 6.0 * site
    frame["width"] = frame["length"] + 4.0 * (y == 1) + rng.standard_normal(n)
    frame["site"] = np.array(["north", "south"])[site]
    frame["sales"] = rng.poisson(np.array([1.0, 5.0, 12.0])[y])
    frame["grade"] = pd.Categorical(np.array(["low", "mid", "high"])[y], ["low", "mid", "high"], ordered=True)
    frame["rain"] = np.where(rng.random(n) < 0.4, 0.0, np.exp(rng.standard_normal(n) + y))
    return frame.mask(rng.random(frame.shape) < 0.08)


def named_columns(frame):
    """The columns of `mixed` as `inputs` takes them."""
    columns = {name: frame[name].to_numpy() for name in frame}
    for name in ("sex", "site", "vip", "grade"):
        columns[name] = frame[name].astype(object).where(frame[name].notna(), None).to_numpy()
    columns["vip"] = np.array([np.nan if value is None else float(value) for value in columns["vip"]])
    return columns


@pytest.mark.parametrize("covariance", ["diag", "tied", "full"])
def test_a_mixture_takes_texts_and_integrates_gaps_out(covariance, run):
    model = Pipeline("columns", {"name": "mixed_mixture", "covariance": covariance}, n_clusters=3, random_state=0)
    model.fit(mixed(240, 0))
    assert {part.form for part in model.space_.columns.levels} == {"free", "ordered", "count"}
    new = mixed(200, 1)
    new.loc[5:9, "site"] = "never seen"
    exported = to_onnx(model)
    outputs = run(exported, **inputs(named_columns(new), exported))
    np.testing.assert_allclose(outputs["scores"], model.predict_proba(new), atol=1e-9)
    np.testing.assert_array_equal(outputs["labels"], model.predict(new))
    rows = model.preparation_.transform(new, quiet=True)
    alone = run(to_onnx(model, preparation=False), rows=rows)
    np.testing.assert_allclose(alone["scores"], outputs["scores"], atol=1e-9)


def test_covariances_of_many_numbers_are_refused(monkeypatch):
    monkeypatch.setattr("clusterkit_onnx.conversions.mixtures.MOST_ELIMINATED", 1)
    X = np.random.default_rng(0).standard_normal((60, 3)) + 9.0 * (np.arange(60) % 2)[:, None]
    model = Pipeline("columns", {"name": "mixed_mixture", "covariance": "tied", "roles": False}, n_clusters=2).fit(X)
    with pytest.raises(NotExportable, match="3 relevant numbers with covariances are too many for ONNX"):
        to_onnx(model)
