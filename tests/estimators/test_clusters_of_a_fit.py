"""One set of clusters in labels, predictions and tables, whatever number was asked for; one cluster is a fit too."""

import warnings

import numpy as np
import pandas as pd
import pytest

import clusterkit
from clusterkit import Auto, load, recipe
from clusterkit.errors import ClusterkitWarning, InvalidData, InvalidParameter
from clusterkit.estimators import mixed_blocks
from clusterkit.testing import check_clusters
from clusterkit_campaign.fits import of_recipe

pytestmark = pytest.mark.filterwarnings("ignore::clusterkit.errors.ClusterkitWarning")

CORNERS = np.array([[1.0, 1.0, 0.5], [5.0, 1.0, 2.0], [1.0, 6.0, 3.0]])
THREE = CORNERS[np.random.default_rng(0).integers(0, 3, 60)]
"""Sixty rows at three points."""

RECIPES = {name: of_recipe(name) for name in clusterkit.recipes()}
DEAR = {"emmc-auto", "gmmc-sdp", "mmc", "mmc-multi"}


def _marked(names):
    return [pytest.param(name, marks=[pytest.mark.deep] if name in DEAR else []) for name in names]


def mixed(n, seed=0):
    """Three groups in two numbers and a category."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, n)
    return pd.DataFrame({"a": rng.normal(size=n) + 6 * z, "b": rng.normal(size=n), "c": np.array(list("xyz"))[z]})


class TestClustersWithoutRows:
    @pytest.mark.parametrize("name", _marked(name for name, each in RECIPES.items() if each.clusters == "given"))
    def test_more_clusters_than_distinct_rows_are_one_set(self, name):
        model = RECIPES[name].estimator(5).fit(THREE)
        check_clusters(model, THREE)

    def test_components_that_win_nowhere_are_in_no_table(self, tmp_path):
        frame, rng = mixed(36, 2), np.random.default_rng(1)
        with pytest.warns(ClusterkitWarning, match="nowhere the most"):
            model = recipe("mixture", n_clusters=24, random_state=0).fit(frame)
        assert 1 < model.n_clusters_ < 24
        check_clusters(model, frame)
        np.testing.assert_allclose(model.memberships_, model.predict_proba(frame), atol=1e-12)
        far = pd.DataFrame({"a": rng.uniform(-1e4, 1e4, 300), "b": rng.uniform(-30, 30, 300), "c": ["x"] * 300})
        shares, labels = model.predict_proba(far), model.predict(far)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        np.testing.assert_array_equal(shares.argmax(axis=1), labels)
        certainty = clusterkit.assign(model, far)["certainty"]
        np.testing.assert_array_equal(certainty, shares[np.arange(300), labels])
        model.save(tmp_path / "m.clusterkit")
        np.testing.assert_array_equal(load(tmp_path / "m.clusterkit").predict_proba(far), shares)

    @pytest.mark.parametrize("name", ["kmeans", "fuzzy-cmeans"])
    def test_rows_in_files_have_the_clusters_of_rows_in_memory(self, name, tmp_path):
        np.save(tmp_path / "rows.npy", THREE)
        here = recipe(name, n_clusters=5, random_state=0).fit(THREE)
        there = recipe(name, n_clusters=5, random_state=0).fit(clusterkit.open(tmp_path / "rows.npy"))
        check_clusters(there, THREE)
        assert there.n_clusters_ == here.n_clusters_ == 3
        np.testing.assert_allclose(there.transform(THREE), here.transform(THREE), atol=1e-7)

    def test_a_component_that_only_the_sample_has_is_dropped_with_all_rows(self, monkeypatch):
        frame = mixed(90)
        monkeypatch.setattr(mixed_blocks, "SAMPLE", 30)
        model = recipe("mixture", n_clusters=8, random_state=0)
        mixed_blocks.fit_blocks(model, lambda: iter([frame[:50], frame[50:]]))
        assert len(model.labels_) == 90
        check_clusters(model, frame)

    def test_numbers_that_seeds_name_stay_and_have_columns(self):
        seeds = np.full(60, -1)
        seeds[(CORNERS[0] == THREE).all(axis=1)] = 3
        model = recipe("kmeans", n_clusters=5, random_state=0).fit(THREE, seeds=seeds)
        assert (model.labels_[seeds == 3] == 3).all()
        np.testing.assert_array_equal(model.transform(THREE).argmin(axis=1), model.labels_)
        np.testing.assert_array_equal(model.predict(THREE), model.labels_)


class TestOneCluster:
    @pytest.mark.parametrize("name", _marked(name for name, each in RECIPES.items() if each.clusters != "found"))
    def test_it_has_what_two_have(self, name, tmp_path):
        subject, X = RECIPES[name], np.abs(np.random.default_rng(0).normal(size=(40, 3)))
        two = subject.estimator(2).fit(X)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            one = subject.estimator(2).set_params(n_clusters=1).fit(X)
        public = [each for each in dir(type(two)) if not each.startswith("_") and hasattr(two, each)]
        assert not [each for each in public if not hasattr(one, each)]
        assert one.n_clusters_ == 1
        check_clusters(one, X)
        if hasattr(one, "predict"):
            assert not one.predict(np.vstack([X, 1e6 * X])).any()
        one.save(tmp_path / "m.clusterkit")
        again = load(tmp_path / "m.clusterkit")
        assert again.objective_ == one.objective_ or np.isnan(one.objective_)

    @pytest.mark.parametrize("place", ["array", "float32", "frame", "file", "weights"])
    def test_its_values_are_the_mean_and_the_sum_of_squares(self, place, tmp_path):
        X = np.random.default_rng(0).normal([0.0, 30.0, -5.0], size=(70, 3))
        X = X.astype(np.float32 if place == "float32" else np.float64)
        weights = np.random.default_rng(1).integers(1, 5, 70) if place == "weights" else np.ones(70)
        np.save(tmp_path / "rows.npy", X)
        rows = {"frame": pd.DataFrame(X, columns=["a", "b", "c"]), "file": clusterkit.open(tmp_path / "rows.npy")}
        more = {"sample_weight": weights} if place == "weights" else {}
        exact = X.astype(np.float64)
        mean = np.average(exact, axis=0, weights=weights)
        total = (weights * ((exact - mean) ** 2).sum(axis=1)).sum()
        for name in ("kmeans", "fuzzy-cmeans"):
            model = recipe(name, n_clusters=1, featuremap="identity", random_state=0).fit(rows.get(place, X), **more)
            assert model.objective_ == pytest.approx(total, rel=1e-6)
            np.testing.assert_allclose(model.cluster_centers_, [mean], rtol=1e-5)
            assert model.transform(X).shape == (70, 1)
        assert hasattr(model, "predict_proba")

    def test_the_elbow_begins_at_one(self):
        X = np.random.default_rng(0).normal(size=(50, 3))
        inertia = [recipe("kmeans", n_clusters=k, random_state=0).fit(X).inertia_ for k in range(1, 9)]
        assert inertia[0] == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())
        assert (np.diff(inertia) < 0).all()

    def test_links_go_on(self):
        X = np.random.default_rng(0).normal(size=(50, 3))
        linked = recipe("kmeans", n_clusters=1, random_state=0).fit(X, links=[(0, 1, 1)], seeds=[0] + [-1] * 49)
        assert linked.inertia_ == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())

    def test_values_that_overflow_are_refused_as_for_two(self):
        with pytest.raises(InvalidData, match="overflow float64"):
            recipe("kmeans", n_clusters=1).fit(np.array([[1e200], [2.0]]))

    def test_auto_fits_it_by_a_method_with_scores(self):
        X = np.random.default_rng(0).normal(size=(50, 3))
        model = Auto(1, random_state=0).fit(X)
        np.testing.assert_allclose(model.cluster_centers_, [X.mean(axis=0)])
        assert model.transform(X).shape == (50, 1)

    def test_a_range_of_mixture_begins_at_one_on_tables(self):
        frame = mixed(120)
        noise = frame.assign(a=frame.b * 2 + np.random.default_rng(5).normal(size=120), c="x")
        for table, k in ((frame, 3), (noise, 1)):
            model = recipe("mixture", n_clusters=(1, 3), random_state=0).fit(table)
            values = model.resolved_["solver"]["criterion_of_number"]
            assert model.n_clusters_ == k == max(values, key=values.get)
            assert model.predict_proba(table).shape == (120, k)
        for method, rows in (("mixture", frame[["a", "b"]].to_numpy()), ("kmeans", frame)):
            with pytest.raises(InvalidParameter, match="compared with several by recipe 'mixture' on a table"):
                recipe(method, n_clusters=(1, 3)).fit(rows)
