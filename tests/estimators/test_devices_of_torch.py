"""Fits of tensors of torch on the CPU: another library than the one that simulates devices, where it is installed."""

import numpy as np
import pytest
from oracles.devices import COMPOSITIONS, blobs, model_of

from clusterkit.samples import devices
from clusterkit.samples.array_libraries import to_host

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("array_api_compat", reason="arrays of torch need array-api-compat")


@pytest.fixture(autouse=True)
def dispatch(monkeypatch):
    """As scikit-learn's array API dispatch, which needs a variable that is set before scipy is imported."""
    monkeypatch.setattr(devices, "dispatches", lambda: True)


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_labels_are_those_of_numpy_and_tensors(name):
    X = blobs()
    here, there = model_of(name).fit(X), model_of(name).fit(torch.asarray(X))
    assert isinstance(there.labels_, torch.Tensor)
    assert np.array_equal(to_host(there.labels_), here.labels_)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-8)
    predicted = there.predict(torch.asarray(X[:100]))
    assert isinstance(predicted, torch.Tensor)
    assert np.array_equal(to_host(predicted), here.predict(X[:100]))


@pytest.mark.parametrize("name", ["k-means", "EMMC", "factors"])
def test_objectives_of_float32_are_those_of_numpy(name):
    X = blobs(np.float32)
    here, there = model_of(name).fit(X), model_of(name).fit(torch.asarray(X))
    assert there.labels_.shape == here.labels_.shape
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-3)
