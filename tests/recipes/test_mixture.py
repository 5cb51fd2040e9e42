"""The recipe `mixture`: the likelihood of scikit-learn's EM, memberships, and predictions that repeat the labels."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from clusterkit import recipe
from clusterkit.errors import ClusterkitWarning, NeedsMemory

IRIS = load_iris().data


@pytest.mark.parametrize("covariance", ["full", "tied", "diag"])
def test_likelihood_is_that_of_scikit_learn(covariance):
    model = recipe("mixture", n_clusters=3, random_state=0, solver__covariance=covariance).fit(IRIS)
    X = StandardScaler().fit_transform(IRIS)
    peer = GaussianMixture(3, covariance_type=covariance, n_init=5, tol=1e-7, max_iter=500, random_state=0).fit(X)
    likelihood = model.outcome_.status.facts["log_likelihood"] / len(X)
    assert likelihood == pytest.approx(peer.score(X), abs=1e-4)
    assert -model.objective_ == pytest.approx(model.outcome_.status.facts["log_likelihood"])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_memberships_and_predictions(dtype):
    model = recipe("mixture", n_clusters=3, random_state=0).fit(IRIS.astype(dtype))
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.memberships_.argmax(axis=1), model.labels_)
    assert model.exact_on_training_
    np.testing.assert_array_equal(model.predict(IRIS.astype(dtype)), model.labels_)


def test_equal_rows_and_constant_columns():
    with pytest.warns(ClusterkitWarning, match="equal"):
        model = recipe("mixture", n_clusters=2, random_state=0).fit(np.ones((9, 2)))
    np.testing.assert_array_equal(model.memberships_, np.ones((9, 1)))  # the other cluster has no rows
    np.testing.assert_array_equal(model.outcome_.rows, model.memberships_)
    constant = np.column_stack([IRIS, np.full(len(IRIS), 3.0)])
    one, other = (recipe("mixture", n_clusters=3, random_state=0).fit(X) for X in (IRIS, constant))
    np.testing.assert_array_equal(one.labels_, other.labels_)


@pytest.mark.parametrize("name", ["mixture", "lapgmm"])
@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_covariances_without_room_are_refused_before_work(name, covariance, monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "20M")
    X = np.random.default_rng(0).normal(size=(20, 800))
    model = recipe(name, n_clusters=2, n_init=1, solver__covariance=covariance, random_state=0)
    with pytest.raises(NeedsMemory, match=r"800 x 800 covariance matrices of 2 .*solver__covariance='diag'"):
        model.fit(X)
    assert model.set_params(solver__covariance="diag").fit(X).labels_.shape == (20,)


def test_a_balancer_moves_the_rows_nearest_to_the_other_cluster():
    x = np.random.default_rng(0).normal(size=150)
    x[:100] += 60.0  # all probabilities are 0 or 1
    model = recipe("mixture", n_clusters=2, balancer="transport", random_state=0).fit(x[:, None])
    sizes = np.bincount(model.labels_)
    np.testing.assert_array_equal(sizes, [75, 75])
    np.testing.assert_array_equal(model.labels_[np.argsort(x)], np.repeat(model.labels_[[x.argmin(), x.argmax()]], 75))
    np.testing.assert_array_equal(model.predict(x[:, None]), model.labels_)
    assert set(np.unique(model.memberships_)) <= {0.0, 1.0}
