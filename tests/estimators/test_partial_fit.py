"""Batches of samples one after the other: the first is fitted, the others are added to its sums."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import clusterkit
from clusterkit import recipe
from clusterkit.errors import InvalidData, InvalidParameter

X, Y = make_blobs(600, 4, centers=3, cluster_std=1.0, random_state=1)
BATCHES = [slice(start, start + 150) for start in range(0, 600, 150)]
METHODS = {
    "kmeans": {"n_clusters": 3, "n_init": 3},
    "elm-kmeans": {"n_clusters": 3, "n_init": 1, "featuremap__n_hidden": 40},
    "emmc-multi": {"n_clusters": 3, "featuremap__n_hidden": 40},
    "emmc-single": {"n_clusters": 3, "balancer": "transport", "featuremap__n_hidden": 40},
    "emmc": {"n_clusters": 2, "featuremap__n_hidden": 40},
}


def model_of(name, **changes):
    return recipe(name, random_state=0, **{**METHODS[name], **changes})


@pytest.mark.parametrize("name", METHODS)
def test_batches_of_clear_clusters_give_the_clusters_of_the_whole(name):
    of_classes = X[METHODS[name]["n_clusters"] > Y]
    model, whole = model_of(name), model_of(name).fit(of_classes)
    batches = np.array_split(of_classes, 4)
    for batch in batches:
        assert model.partial_fit(batch) is model
        assert len(model.labels_) == len(batch)
    # one output for three clusters is the weakest of these methods, in one fit too
    assert clusterkit.metrics.clustering_accuracy(whole.labels_, model.predict(of_classes)) > 0.9
    assert len(model.history_) == 4
    assert model.stop_reason_ == "batch 4 added"
    if model.exact_on_training_:
        assert np.array_equal(model.predict(batches[-1]), model.labels_)


def test_the_centres_are_the_means_of_the_labels_that_the_batches_had():
    model, sums, sizes = model_of("kmeans"), np.zeros((3, 4)), np.zeros(3)
    for number, rows in enumerate(BATCHES):
        batch = X[rows]
        if number:
            labels = model.predict(batch)
        model.partial_fit(batch)
        if not number:
            labels = model.labels_
        np.add.at(sums, labels, batch)
        sizes += np.bincount(labels, minlength=3)
        np.testing.assert_allclose(model.cluster_centers_, sums / sizes[:, None])


def test_one_batch_is_a_fit():
    for name in METHODS:
        one, fitted = model_of(name).partial_fit(X), model_of(name).fit(X)
        assert np.array_equal(one.labels_, fitted.labels_)
        assert one.n_iter_ == fitted.n_iter_


def test_weights_of_a_batch_count_as_repeated_samples():
    weights = np.random.default_rng(0).integers(1, 4, 150)
    models = [model_of(name).partial_fit(X[:150]) for name in ("kmeans", "kmeans")]
    models[0].partial_fit(X[150:300], sample_weight=weights)
    models[1].partial_fit(np.repeat(X[150:300], weights, axis=0))
    np.testing.assert_allclose(models[0].cluster_centers_, models[1].cluster_centers_)


def test_k_means_comes_near_the_fit_of_all_samples():
    model = model_of("kmeans")
    for rows in BATCHES:
        model.partial_fit(X[rows])
    inertia = -KMeans(3, n_init=1, init=model.cluster_centers_, max_iter=1).fit(X).inertia_
    assert -inertia <= 1.02 * KMeans(3, n_init=5, random_state=0).fit(X).inertia_


def test_a_fit_forgets_the_batches_and_a_copy_goes_on(tmp_path):
    model = model_of("kmeans").partial_fit(X[:150])
    copied = pickle.loads(pickle.dumps(model))
    for each in (model, copied):
        each.partial_fit(X[150:300])
    assert np.array_equal(model.cluster_centers_, copied.cluster_centers_)
    model.save(tmp_path / "m.clusterkit")
    assert np.array_equal(clusterkit.load(tmp_path / "m.clusterkit").predict(X), model.predict(X))
    assert len(model.fit(X).partial_fit(X[:150]).history_) == 1
    assert not hasattr(clone(model), "labels_")


def test_another_number_of_columns_is_refused():
    with pytest.raises(ValueError, match="3 features"):
        model_of("kmeans").partial_fit(X).partial_fit(X[:, :3])


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        ("svc", {}, "tuner"),
        ("nmf", {"n_clusters": 2}, "solver 'nmf' needs all samples at once"),
        ("kernel-kmeans", {"n_clusters": 2}, "solver 'centroids' needs all samples at once here"),
        ("kmeans", {"n_clusters": "auto"}, "choice of n_clusters"),
        ("spectral", {"n_clusters": 2}, "featuremap 'graph' gives further samples other features"),
    ],
)
def test_methods_that_need_all_samples_have_no_partial_fit(name, changes, reason):
    model = recipe(name, **changes)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match=reason):
        model.partial_fit(X)


def test_a_loaded_model_and_changed_stages_do_not_start_over(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = recipe("kmeans", n_clusters=3, random_state=0).partial_fit(X[:100])
    model.save(tmp_path / "m.clusterkit")
    with pytest.raises(InvalidData, match="cannot go on with a loaded model"):
        clusterkit.load(tmp_path / "m.clusterkit").partial_fit(X[100:])
    with pytest.raises(InvalidParameter, match="n_clusters was changed since the first batch"):
        model.set_params(n_clusters=5).partial_fit(X[100:])
    assert clone(model).partial_fit(X).n_clusters_ == 5
