"""Fits on a sample: the labels of all rows, predictions, and what is reported."""

import pickle

import numpy as np
import pytest
from oracles.devices import strict
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from clusterkit import ClusterkitWarning, recipe

BUDGET = 50_000_000
"""Enough for the search on 100 rows, too little for a fit of 6,000."""


def fitted(X, **parameters):
    model = recipe("svc", random_state=0, tuner__max_rows=100, tuner__max_work=BUDGET, **parameters)
    with pytest.warns(ClusterkitWarning, match="label of the nearest"):
        return model.fit(X)


def blobs(n=6000, d=3):
    return make_blobs(n, d, centers=4, random_state=3)


def test_all_rows_are_labelled_and_the_fit_says_how():
    X, y = blobs()
    model = fitted(X)
    assert model.labels_.shape == (len(X),)
    assert adjusted_rand_score(y, model.labels_) > 0.99
    facts = model.resolved_["tuner"]
    assert facts["fitted_rows"] == facts["rows"] == 100
    assert facts["ended"] == "all widths tried"
    assert model.space_.n == 100
    assert model.resolved_["labeler"]["min_cluster_size"] == round(5 * len(X) / 100)


@pytest.mark.parametrize("scaled", [False, True])
def test_predictions_repeat_the_labels(scaled):
    X, _ = blobs()
    parameters = {"featuremap": ["zscore", "rbf"]} if scaled else {}
    model = fitted(X * [1.0, 100.0, 1.0] if scaled else X, **parameters)
    X = X * [1.0, 100.0, 1.0] if scaled else X
    assert model.exact_on_training_
    assert (model.predict(X) == model.labels_).all()
    assert (pickle.loads(pickle.dumps(model)).predict(X[:50]) == model.labels_[:50]).all()


def test_equal_rows_have_equal_labels_and_the_seed_decides():
    X, _ = blobs(3000)
    X = np.concatenate([X, X])
    model = fitted(X)
    assert (model.labels_[:3000] == model.labels_[3000:]).all()
    assert (fitted(X).labels_ == model.labels_).all()


def test_rows_far_from_the_sample_are_counted():
    X, _ = blobs()
    plain = fitted(X).resolved_["tuner"]["far_rows"]
    X = X.copy()
    X[:3] += 1000.0  # of which the sample has none
    assert fitted(X).resolved_["tuner"]["far_rows"] == plain + 3


def test_rows_far_from_the_sample_are_the_same_on_a_device():
    X, _ = blobs()
    nearest = fitted(X / 64.0).predictor_  # distances below 1, whose squares are smaller than they are
    new = np.concatenate([X / 64.0, X[:5] + 3.0])
    labels, far = nearest.labels_and_far(new)
    there, far_there = nearest.labels_and_far(strict(new))
    assert 5 <= far.sum() < len(new)
    np.testing.assert_array_equal(far_there, far)
    np.testing.assert_array_equal(there, labels)


def test_a_larger_budget_fits_all_rows():
    X, _ = blobs(600)
    model = recipe("svc", random_state=0, tuner__max_rows=200).fit(X)
    assert "fitted_rows" not in model.resolved_["tuner"]
    assert model.space_.n == 600
