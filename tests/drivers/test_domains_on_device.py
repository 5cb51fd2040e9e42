"""Domains on a simulated device: predictions, and fits of few rows, are those of the host."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from clusterkit import ClusterkitWarning, Pipeline, recipe
from clusterkit.samples.devices import config
from clusterkit.samples.engines import LocalEngine

pytest.importorskip("array_api_strict", reason="array-api-strict simulates the devices")

DEVICE = "array_api_strict:device1"

LABELERS = (
    "complete_graph",
    {"name": "complete_graph", "outliers": "nearest"},
    {"name": "complete_graph", "outliers": "singleton"},
    "equilibrium",
    {"name": "equilibrium", "outliers": "noise"},
    {"name": "equilibrium", "outliers": "nearest"},
)


@pytest.fixture
def no_passes_on_the_host(monkeypatch):
    """Whatever falls back to the engine of the host fails."""

    def refuse(*_):
        pytest.fail("computed by the engine of the host")

    monkeypatch.setattr(LocalEngine, "reduce", refuse)
    monkeypatch.setattr(LocalEngine, "labels", refuse)


def moons(n, noise=0.08, seed=0):
    return make_moons(n, noise=noise, random_state=seed)[0]


def model_of(labeler, solver="svdd", featuremap=None, **parameters):
    kernel = {"name": "rbf", "gamma": 20.0} if featuremap is None else featuremap
    return Pipeline(featuremap=kernel, solver=solver, labeler=labeler, random_state=0, **parameters)


@pytest.mark.parametrize("solver", ["svdd", {"name": "svdd", "nu": 0.1}], ids=["all", "nu"])
@pytest.mark.parametrize("labeler", LABELERS, ids=str)
def test_predictions_of_a_domain_are_those_of_the_host(labeler, solver, no_passes_on_the_host):
    X = moons(300)  # with fewer rows the gap between the moons is no wider than those within them
    model = model_of(labeler, solver).fit(X)
    new = np.concatenate([moons(400, 0.15, 1), X[::7]])
    expected = model.predict(new)
    with config(device=DEVICE):
        labels = model.predict(new)
    assert isinstance(labels, np.ndarray)
    np.testing.assert_array_equal(labels, expected)
    assert len(np.unique(expected)) > 1


@pytest.mark.parametrize("recipe_name", ["svc", "psvc"])
def test_rows_that_are_no_more_than_a_sample_are_fitted_as_on_the_host(recipe_name, recwarn):
    X, new = moons(150), moons(200, 0.2, 3)
    host, there = recipe(recipe_name, random_state=0).fit(X), recipe(recipe_name, random_state=0)
    with config(device=DEVICE):
        there.fit(X)
        predicted = there.predict(new)
    np.testing.assert_array_equal(there.labels_, host.labels_)
    np.testing.assert_array_equal(predicted, host.predict(new))
    assert not [warning for warning in recwarn if issubclass(warning.category, ClusterkitWarning)]
