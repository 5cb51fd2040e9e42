"""Rows that stand for clusters, and methods side by side."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

import clusterkit
from clusterkit.errors import ClusterkitWarning, InvalidData, InvalidParameter, UnknownName


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([60, 80, 40], centers=[[0, 0], [8, 0], [0, 8]], random_state=0)


class TestRepresentatives:
    def test_the_first_is_the_medoid(self, blobs):
        X, y = blobs
        spread = X.std(axis=0)
        for label, rows in clusterkit.representatives(y, X).items():
            members = np.flatnonzero(y == label)
            points = X[members] / spread
            sums = np.linalg.norm(points[:, None] - points[None], axis=2).sum(axis=1)
            assert rows[0] == members[np.argmin(sums)]
            assert len(set(rows.tolist())) == 3
            assert set(rows.tolist()) <= set(members.tolist())

    def test_the_second_stands_for_those_that_are_far_from_the_first(self):
        rows = clusterkit.representatives([0] * 7, [[0.0], [1.0], [2.0], [3.0], [20.0], [21.0], [22.0]], n=2)
        assert rows[0].tolist() == [3, 5]

    def test_small_clusters_give_all_rows_and_noise_none(self):
        rows = clusterkit.representatives([0, 0, -1, 1], [[0.0], [1.0], [50.0], [9.0]])
        assert {label: sorted(index.tolist()) for label, index in rows.items()} == {0: [0, 1], 1: [3]}

    @pytest.mark.parametrize("name", ["kmeans", "emmc", "svc", "ncut", "genie"])
    def test_in_the_space_of_the_model(self, blobs, name):
        X, _ = blobs
        changes = {} if name == "svc" else {"n_clusters": 3}
        model = clusterkit.recipe(name, random_state=0, **changes).fit(X)
        for label, rows in clusterkit.representatives(model, X, n=2).items():
            assert (model.labels_[rows] == label).all()

    def test_a_raw_table_beside_the_model(self, blobs):
        pandas = pytest.importorskip("pandas")
        X, _ = blobs
        model = clusterkit.recipe("kmeans", n_clusters=3, random_state=0).fit(X)
        frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "word": np.where(X[:, 0] > 4, "right", "left")})
        assert set(clusterkit.representatives(model, frame)) == {0, 1, 2}


class TestCompare:
    def test_numbers_are_those_of_the_definitions(self, blobs):
        X, y = blobs
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        table = clusterkit.compare({"recipe": "kmeans", "classes": y}, X, n_clusters=3)
        first, second = table.methods
        assert first.silhouette == pytest.approx(silhouette_score(X, first.labels))
        assert table.agreement[0, 1] == pytest.approx(adjusted_rand_score(y, first.labels))
        assert first.sizes == {label: int((first.labels == label).sum()) for label in range(3)}
        assert first.stability > 0.95
        assert first.seconds > 0
        assert np.isnan(second.stability)
        assert table.to_frame().shape == (2, 11)
        [noisy] = clusterkit.compare({"noisy": np.r_[-1, -1, y[2:]]}, X).methods
        assert noisy.silhouette == pytest.approx(silhouette_score(X[2:], y[2:]))

    def test_fitted_models_are_not_fitted_again_and_others_stay_as_they_are(self, blobs):
        X, _ = blobs
        fitted = clusterkit.recipe("kmeans", n_clusters=2, random_state=0).fit(X)
        fresh = clusterkit.recipe("kmeans", n_clusters=3, random_state=0)
        table = clusterkit.compare({"fitted": fitted, "fresh": fresh, "mixture": GaussianMixture(3, random_state=0)}, X)
        assert table["fitted"].model is fitted
        assert len(fitted.labels_) == len(X)
        assert not hasattr(fresh, "labels_")
        assert [method.n_clusters for method in table.methods] == [2, 3, 3]

    def test_failures_do_not_end_the_others(self, blobs):
        X, _ = blobs
        with pytest.warns(ClusterkitWarning, match="compare: needs k could not be fitted: n_clusters is needed"):
            table = clusterkit.compare({"needs k": "kmeans", "finds k": "hdbscan"}, X)
        assert list(table.failed) == ["needs k"]
        assert [method.name for method in table.methods] == ["finds k"]

    @pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
    def test_failures_have_a_row_that_says_why(self, blobs, library):
        pytest.importorskip(library)
        X, y = blobs
        with pytest.warns(ClusterkitWarning, match="compare: .* could not be fitted"):
            table = clusterkit.compare(
                {"too many": clusterkit.recipe("kmeans", n_clusters=9999), "known": y, "needs k": "kmeans"}, X
            )
        frame = table.to_frame(library)
        names, reasons = (
            list(frame[name]) if library != "pyarrow" else frame[name].to_pylist() for name in ("method", "failed")
        )
        assert names == ["known", "too many", "needs k"]
        assert not isinstance(reasons[0], str)
        assert "n_samples" in reasons[1]
        assert "n_clusters is needed" in reasons[2]
        assert "failed" not in clusterkit.compare({"known": y}, X).to_frame("pandas").columns

    @pytest.mark.parametrize(
        ("methods", "error", "words"),
        [
            ({"k": "kmens"}, UnknownName, "'k': no recipe named 'kmens'. Did you mean 'kmeans'"),
            ("kmeans", InvalidParameter, "such as {'kmeans': 'kmeans', 'mine': model}, got a str"),
            (GaussianMixture(2), InvalidParameter, "got a GaussianMixture"),
            ({}, InvalidParameter, "got an empty dict"),
            ({"m": GaussianMixture}, InvalidParameter, "is the class GaussianMixture; make an estimator of it"),
            ({"s": StandardScaler()}, InvalidParameter, "is a StandardScaler, which finds no clusters"),
            ({"n": None}, InvalidParameter, "compare: 'n': needs a fitted model or an array"),
        ],
    )
    def test_what_is_no_method_is_one_clear_error(self, blobs, methods, error, words):
        with pytest.raises(error) as caught:
            clusterkit.compare(methods, blobs[0])
        assert words in str(caught.value)

    def test_models_of_another_table_are_refused(self, blobs):
        X, _ = blobs
        narrow = clusterkit.recipe("kmeans", n_clusters=3, random_state=0).fit(X[:, :1])
        with pytest.raises(InvalidData, match="'narrow' was fitted to 1 column, and X has 2; pass the rows"):
            clusterkit.compare({"kmeans": "kmeans", "narrow": narrow}, X, n_clusters=3)
        short = clusterkit.recipe("kmeans", n_clusters=3, random_state=0).fit(X[:-5])
        with pytest.raises(InvalidData, match=f"'short' was fitted to {len(X) - 5} rows, and X has {len(X)}"):
            clusterkit.compare({"short": short}, X)
        with pytest.raises(InvalidData, match=r"compare: 'labels': X has .* rows"):
            clusterkit.compare({"labels": short.labels_}, X)
        with pytest.raises(InvalidParameter, match="n_clusters must be an integer >= 1"):
            clusterkit.compare({"kmeans": "kmeans"}, X, n_clusters=0)


class TestPrinted:
    """Outcomes are tables when they are printed, in a notebook and in a terminal."""

    def test_a_comparison(self, blobs):
        X, y = blobs
        with pytest.warns(ClusterkitWarning, match="could not be fitted"):
            table = clusterkit.compare({"known": y, "one\x1b[31m": y * 0, "needs k": "kmeans"}, X, max_rows=50)
        text = str(table)
        assert repr(table) == text
        lines = text.splitlines()
        assert lines[0].split()[:4] == ["method", "clusters", "noise", "silhouette"]
        assert lines[1].split()[:3] == ["known", "3", "0"]
        assert r"one\x1b[31m" in lines[2]
        assert "\x1b" not in text
        assert "array(" not in text
        assert [line for line in lines if line.startswith("needs k could not be fitted: ")]
        assert lines[-1] == f"indices of 50 of {len(X)} rows"

    def test_a_profile(self, blobs):
        X, y = blobs
        profile = clusterkit.profile(y, X)
        assert repr(profile) == str(profile)
        assert str(profile).startswith("3 clusters of ")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_of_a_table_are_compared_as_the_model_prepared_them(blobs, library):
    module = pytest.importorskip(library)
    X = blobs[0] * [1.0, 1e4]
    frame = module.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    model = clusterkit.Auto(n_clusters=3, pool=["kmeans"], random_state=0).fit(frame)
    prepared = clusterkit.representatives(model.labels_, model.preparation_.transform(frame))
    rows = clusterkit.representatives(model, frame)
    assert {label: index.tolist() for label, index in rows.items()} == {
        label: index.tolist() for label, index in prepared.items()
    }


def test_recipes_and_indices_compare_rows_by_the_metric():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = (np.eye(3, 5)[y] + 0.05 * rng.normal(size=(60, 5))) * rng.uniform(1, 100, size=(60, 1))
    methods = {"k-means": "kmeans", "known": y}
    by_cosine = clusterkit.compare(methods, X, n_clusters=3, metric="cosine")
    assert by_cosine.agreement[0, 1] == 1.0
    assert by_cosine["known"].silhouette > 0.8 > clusterkit.compare({"known": y}, X)["known"].silhouette
    with pytest.raises(InvalidParameter, match=r"metric must be one of .*'cosine'.*, got 'angle'"):
        clusterkit.compare(methods, X, metric="angle")
    with pytest.raises(InvalidData, match=r"metric='cosine' compares rows of numbers, and column 'a' has none"):
        clusterkit.compare({"known": [0, 1]}, {"a": ["x", "y"]}, metric="cosine")


class TestQueries:
    """A lazy frame stands for a table that is not there yet: one line says what to do."""

    @pytest.fixture
    def query(self):
        polars = pytest.importorskip("polars")
        return polars.DataFrame({"a": [1.0, 2.0, 9.0], "b": [3.0, 1.0, 2.0]}).lazy()

    def test_every_function_says_collect(self, query):
        model = clusterkit.Auto(n_clusters=2, pool=["kmeans"], random_state=0).fit(query.collect())
        calls = (
            lambda: clusterkit.profile([0, 0, 1], query),
            lambda: model.predict(query),
            lambda: clusterkit.Auto().fit(query),
            lambda: clusterkit.recipe("kmeans", n_clusters=2).fit(query),
        )
        for call in calls:
            with pytest.raises(InvalidData, match=r"LazyFrame.*query that .*\.collect\(\)") as caught:
                call()
            assert "\n" not in str(caught.value)

    def test_frames_with_equal_names(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(np.arange(12.0).reshape(4, 3), columns=["a", "b", "b"])
        profile = clusterkit.profile([0, 0, 1, 1], frame)
        assert {feature.column for feature in profile[0].features} == {"a", "b", "b.2"}


@pytest.mark.parametrize("as_mapping", [False, True])
def test_tables_of_more_than_numbers_are_prepared_as_auto_does(as_mapping):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    far = np.repeat([0.0, 9.0], 20)
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, 40)
    holes = np.where(np.arange(40) == 3, np.nan, rng.normal(size=40) + far)
    columns = {"a": rng.normal(size=40) + far, "town": np.array(["x", "y"] * 20), "day": days, "b": holes}
    table = columns if as_mapping else pandas.DataFrame(columns)
    rivals = {"kmeans": "kmeans", "sklearn": KMeans(2, n_init=3, random_state=0)}
    comparison = clusterkit.compare(rivals, table, n_clusters=2)
    assert comparison.failed == {}
    assert comparison.agreement[0, 1] == 1.0
    assert all(np.isfinite(method.stability) for method in comparison.methods)
    model = comparison["kmeans"].model
    np.testing.assert_array_equal(model.predict(table), comparison["kmeans"].labels)
    best = clusterkit.search("kmeans", {"n_clusters": [2, 3]}, table, random_state=0).best_estimator
    np.testing.assert_array_equal(best.predict(table), best.labels_)
    assert best.preparation_.used == model.preparation_.used == ("a", "town", "day", "b")


@pytest.fixture(scope="module")
def mixed_table():
    """Three groups in two numbers and a category, a site that shifts the numbers, and years that say nothing."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y, site = np.arange(180) % 3, rng.integers(2, size=180)
    X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[y] + rng.standard_normal((180, 2)) + 8.0 * site[:, None]
    kind = np.where(rng.random(180) < 0.8, y, rng.integers(3, size=180))
    frame = pandas.DataFrame(
        {
            "length": X[:, 0], "weight": X[:, 1], "kind": np.array(["a", "b", "c"])[kind],
            "site": np.array(["north", "south"])[site], "year": 2007 + rng.integers(3, size=180),
        }
    )  # fmt: skip
    return frame, y


def test_the_columns_of_a_table_have_roles_and_judge_clusterings(mixed_table):
    frame, y = mixed_table
    years = frame["year"].to_numpy() - 2007
    comparison = clusterkit.compare({"mixture": "mixture", "groups": y, "years": years}, frame, n_clusters=3)
    mixture, groups, of_years = comparison.methods
    assert comparison.agreement[0, 1] > 0.9
    assert mixture.model.column_roles_["site"] == "covariate"
    assert groups.evidence > 0.5 > 0.0 > of_years.evidence
    assert "evidence" in str(comparison)
    assert "evidence" not in str(clusterkit.compare({"groups": y}, frame[["length", "weight"]].to_numpy()))
    some = clusterkit.compare({"left out": np.where(y == 0, -1, y)}, frame)["left out"]
    assert some.evidence == pytest.approx(groups.evidence)  # leaving rows out gains nothing


def test_a_profile_has_roles_of_a_fit_or_of_labels(mixed_table):
    frame, y = mixed_table
    summary = clusterkit.profile(y, frame)
    assert summary.roles["site"] == "covariate"
    assert summary.roles["year"] == "irrelevant"
    assert summary.gains["kind"] > 0.2 > summary.gains["year"]
    assert "covariate: site" in str(summary)
    roles = {(row["column"], row["role"]) for row in summary.to_frame("polars").to_dicts()}
    assert {("site", "covariate"), ("year", "irrelevant")} <= roles
    model = clusterkit.recipe("mixture", n_clusters=3, random_state=0).fit(frame)
    assert clusterkit.profile(model, frame).roles == model.column_roles_
    assert clusterkit.profile(np.zeros(180, dtype=int), frame).roles == {}


def test_a_search_fits_tables_as_they_are_and_judges_by_the_evidence_of_the_columns(mixed_table):
    frame, _ = mixed_table
    candidates = clusterkit.search("mixture", {"n_clusters": [2, 3, 4]}, frame, random_state=0)
    assert (candidates.score, candidates.best_params) == ("evidence", {"n_clusters": 3})
    assert candidates.best_estimator.column_roles_["site"] == "covariate"
    np.testing.assert_array_equal(candidates.best_estimator.predict(frame), candidates.best_labels)
    with pytest.raises(InvalidParameter, match="noise='singletons' is not for score='evidence'"):
        clusterkit.search("mixture", {"n_clusters": [2]}, frame, "evidence", noise="singletons")
