"""Memberships and outlier scores of an estimator: present only for methods that have them."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

from clusterkit import Pipeline, load, recipe

X, _ = make_blobs([40, 40, 3], centers=[[0, 0], [8, 0], [4, 20]], shuffle=False, random_state=0)


def test_memberships_of_fuzzy_c_means():
    model = recipe("fuzzy-cmeans", n_clusters=3, random_state=0).fit(X)
    assert model.memberships_.shape == (len(X), 3)
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1.0)
    assert np.array_equal(model.memberships_.argmax(axis=1), model.labels_)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).memberships_, model.memberships_)
    assert not hasattr(model, "outlier_scores_")


def test_a_balancer_changes_labels_but_not_memberships():
    model = recipe("fuzzy-cmeans", n_clusters=2, random_state=0)
    free = model.fit(X).memberships_
    even = clone(model).set_params(balancer="transport").fit(X)
    assert np.array_equal(even.memberships_, free)
    assert not np.array_equal(even.labels_, free.argmax(axis=1))


@pytest.mark.parametrize("name", ["svc", "psvc", "fsvc", "sgd-lmsvc"])
def test_outlier_scores_are_above_0_outside_the_domain(name):
    parameters = {"tuner": None} if name == "svc" else {}
    if name in ("svc", "psvc"):
        parameters["labeler__outliers"] = "noise"
    model = recipe(name, random_state=0, featuremap__gamma=0.5, **parameters).fit(X)
    assert model.outlier_scores_.shape == (len(X),)
    assert model.outlier_scores_ is model.outlier_scores_  # computed once
    outside = model.outcome_.value(X) < model.outcome_.level
    assert np.array_equal(model.outlier_scores_ > 0, outside)
    if name == "psvc":
        assert np.array_equal(model.labels_ == -1, outside)
        assert 0 < outside.sum() < len(X)


def test_methods_without_them_say_which_methods_have_them():
    model = recipe("kmeans", n_clusters=2, random_state=0)
    for name in ("memberships_", "outlier_scores_"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=f"no {name} before the fit"):
            getattr(model, name)
    model.fit(X)
    with pytest.raises(AttributeError, match="no memberships_ here: only methods with degrees of membership"):
        _ = model.memberships_
    with pytest.raises(AttributeError, match="no outlier_scores_ here: only methods whose outcome is a domain"):
        _ = model.outlier_scores_


@pytest.mark.parametrize("name", ["kmeans", "mixture", "lapgmm", "fuzzy-cmeans"])
def test_centres_are_means_in_the_units_of_the_columns(name, tmp_path):
    wide = X * [1000.0, 0.01] + [5.0, -7.0]
    model = recipe(name, n_clusters=3, random_state=0, featuremap="minmax").fit(wide)
    means = np.array([wide[model.labels_ == j].mean(axis=0) for j in range(3)])
    assert (np.abs(model.cluster_centers_ - means) < 0.02 * np.ptp(wide, axis=0)).all()
    model.save(tmp_path / "m.clusterkit")
    np.testing.assert_array_equal(load(tmp_path / "m.clusterkit").cluster_centers_, model.cluster_centers_)
    with pytest.raises(AttributeError, match="no cluster_centers_ here: only methods with means"):
        _ = recipe("genie", n_clusters=3).fit(X).cluster_centers_


def test_a_second_fit_forgets_the_arrays_of_the_first():
    model = Pipeline("identity", "fuzzy_cmeans", "argmax", balancer=None, n_clusters=2, random_state=0).fit(X)
    assert hasattr(model, "memberships_")
    assert not hasattr(model.set_params(solver="centroids").fit(X), "memberships_")


def test_k_means_has_the_inertia_of_scikit_learn():
    from sklearn.cluster import KMeans

    X, _ = make_blobs(90, random_state=0)
    model = recipe("kmeans", n_clusters=3, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(KMeans(3, n_init=10, random_state=0).fit(X).inertia_)
    for other in ("mixture", "fuzzy-cmeans", "hdbscan"):
        number = {} if other == "hdbscan" else {"n_clusters": 3}
        with pytest.raises(AttributeError, match="no inertia_ here"):
            _ = recipe(other, random_state=0, **number).fit(X).inertia_
