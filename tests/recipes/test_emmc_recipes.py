"""The recipes of extreme maximum margin clustering: balance, objective, prediction, degenerate data."""

from __future__ import annotations

from typing import ClassVar, Literal

import attrs
import numpy as np
import pytest
from oracles.emmc_loop import blobs, falls, gap

from clusterkit import Pipeline, recipe
from clusterkit.contracts import Partitioner
from clusterkit.errors import ClusterkitWarning
from clusterkit.families.shared.codecs import Argmax, Interval
from clusterkit.metrics import clustering_accuracy
from clusterkit_campaign.oracles import ridge as oracle

RECIPES = {
    "emmc": {},
    "emmc-single": {},
    "emmc-multi": {},
    "emmc-paper": {"featuremap__n_hidden": 50},
}


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize(("n", "k", "slack"), [(60, 2, 0.03), (61, 2, 0), (60, 3, 0.15), (61, 4, 1), (60, 3, 0)])
def test_every_recipe_respects_the_band(name, n, k, slack):
    for seed in range(2):
        X = blobs(n, k, seed)
        model = recipe(name, n_clusters=k, random_state=seed, balancer__slack=slack, **RECIPES[name]).fit(X)
        rows = slack if isinstance(slack, int) else slack * n
        rows = rows if n % k == 0 else max(rows, 1)
        assert gap(model.labels_, k) <= rows
        assert np.bincount(model.labels_, minlength=k).min() >= (n - (k - 1) * rows) / k > 0


@pytest.mark.parametrize("init", ["random", "kmeans", "kmeans_mapped"])
def test_two_class_objective_falls_in_the_recipe(init):
    for seed in range(5):
        model = recipe("emmc", n_clusters=2, init=init, balancer__slack=0, random_state=seed).fit(blobs(80, 2, seed))
        assert falls(model.history_ if init == "random" else model.history_[1:])
        assert model.converged_
        assert len(model.history_) == model.n_iter_
        assert model.objective_ == model.history_[-1]


@pytest.mark.parametrize("name", RECIPES)
def test_prediction_is_the_rule_without_balance(name):
    X = blobs(60, 3, 1)
    model = recipe(name, n_clusters=3, random_state=0, **RECIPES[name]).fit(X)
    codec = {"emmc-single": Interval(), "emmc-paper": Interval("signed")}.get(name, Argmax())
    unbalanced = codec.decode(model.outcome_.rows, 3)
    np.testing.assert_array_equal(model.predict(X), unbalanced)
    assert model.exact_on_training_ == np.array_equal(unbalanced, model.labels_)
    np.testing.assert_array_equal(model.predict(X[::-1]), unbalanced[::-1])


@pytest.mark.parametrize(
    ("name", "k", "n"), [("emmc", 2, 20), ("emmc", 3, 21), ("emmc-single", 2, 20), ("emmc-multi", 3, 21)]
)
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_equal_rows_are_split_by_index_with_a_warning(name, k, n, value):
    with pytest.warns(ClusterkitWarning, match=f"all {n} samples are equal"):
        model = recipe(name, n_clusters=k, random_state=0, balancer__slack=0).fit(np.full((n, 5), value))
    assert gap(model.labels_, k) == 0
    assert np.count_nonzero(np.diff(model.labels_)) == k - 1


@pytest.mark.parametrize("name", RECIPES)
def test_as_many_rows_as_clusters(name):
    labels = recipe(name, n_clusters=4, random_state=0, **RECIPES[name]).fit_predict(blobs(4, 4, 0))
    assert sorted(labels) == [0, 1, 2, 3]


@pytest.mark.parametrize("name", RECIPES)
def test_one_cluster(name):
    model = recipe(name, n_clusters=1, **RECIPES[name]).fit(blobs(9, 2, 0))
    assert not model.labels_.any()
    assert not model.predict(blobs(5, 2, 1)).any()


@pytest.mark.parametrize("name", ["emmc", "emmc-single", "emmc-multi"])
def test_odd_rows_with_zero_slack(name):
    model = recipe(name, n_clusters=2, random_state=0, balancer__slack=0).fit(blobs(21, 2, 0))
    assert model.resolved_["balancer"] == {"slack": 1}
    assert sorted(np.bincount(model.labels_)) == [10, 11]


def test_the_default_complexity_is_reported():
    model = recipe("emmc", n_clusters=2, random_state=0).fit(blobs(80, 2, 0))
    H = model.space_.rows()
    np.testing.assert_allclose(oracle.degrees(H, model.resolved_["solver"]["C"]), 12.0, atol=1e-6)
    assert model.resolved_["featuremap"] == {"n_hidden": 80}
    assert model.resolved_["labeler"] == {"name": "threshold"}
    assert model.n_iter_ < 100


@pytest.mark.parametrize("k", [2, 3])
def test_the_published_recipe_has_one_output_and_codes_two_clusters_by_its_sign(k):
    model = recipe("emmc-paper", n_clusters=k, random_state=0, featuremap__n_hidden=50).fit(blobs(60, k, 0))
    assert model.outcome_.rows.shape == (60, 1)
    if k == 2:
        np.testing.assert_array_equal(model.predict(blobs(60, k, 0)), model.outcome_.rows[:, 0] > 0)


@pytest.mark.parametrize("name", ["emmc", "emmc-multi", "emmc-single", "emmc-paper"])
def test_the_start_sees_attributes_as_the_map_scales_them(name):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 60)
    clusters = 4.0 * truth[:, None] + rng.normal(size=(120, 3))
    X = np.concatenate([clusters, rng.uniform(-1.0, 1.0, size=(120, 1))], axis=1)
    model = recipe(name, n_clusters=2, random_state=0).fit(X)
    assert clustering_accuracy(truth, model.labels_) == 1.0
    # powers of 2: the scaled attributes are the same to the last bit
    other_units = recipe(name, n_clusters=2, random_state=0).fit(X * np.array([1.0, 0.5, 2.0, 2.0**20]))
    np.testing.assert_array_equal(other_units.labels_, model.labels_)


def test_the_start_sees_what_the_maps_before_the_last_one_make():
    seen = []

    @attrs.frozen
    class Witness(Partitioner):
        name: ClassVar[str] = "witness"
        sees: ClassVar[Literal["input", "space"]] = "input"

        def start(self, samples, task, rng):
            seen.append(samples.points)
            return np.arange(task.n) % task.k

    X = blobs(40, 2, 0) * np.array([1.0, 50.0, 0.1])
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = {
        "zscore": (["zscore", {"name": "rbf", "gamma": 0.1}], "svr", scaled),
        "its own": ("elm", "ridge", 2.0 * (X - X.min(axis=0)) / np.ptp(X, axis=0) - 1.0),
        "none": ({"name": "elm", "scale": None}, "ridge", X),
        "alone": ("zscore", "ridge", scaled),
    }
    for featuremap, solver, points in expected.values():
        Pipeline(featuremap, solver, init=Witness(), n_clusters=2, random_state=0).fit(X)
        np.testing.assert_allclose(seen[-1], points, atol=1e-12)
