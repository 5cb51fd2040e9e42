"""Fits, predictions and kernel sums with PyTorch on the processor: the labels of numpy. Skipped without PyTorch."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

import clusterkit
from clusterkit import recipe
from clusterkit.errors import InvalidData, InvalidParameter
from clusterkit.samples import devices
from clusterkit.samples.array_libraries import array_namespace, host_dtype, to_host
from clusterkit.samples.devices import Device
from clusterkit.samples.transform import device_plan
from clusterkit.testing.compare import small_blocks, small_groups

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("array_api_compat", reason="arrays of PyTorch need array-api-compat")

DEVICE = "torch:cpu"

METHODS = {
    "k-means": ("kmeans", {"n_init": 1}),
    "k-means of principal components": (
        "cmeans",
        {"n_init": 1, "featuremap": ["zscore", {"name": "pca", "n_components": 3}]},
    ),
    "EMMC": ("emmc-multi", {"balancer": None, "featuremap__n_hidden": 40}),
    "EMMC of sigmoid nodes": ("emmc-multi", {"featuremap__n_hidden": 40, "featuremap__activation": "sigmoid"}),
    "EMMC of equal clusters": ("emmc-multi", {"balancer": "transport", "featuremap__n_hidden": 40}),
    "EMMC with one output": ("emmc-single", {"featuremap__n_hidden": 40}),
    "EMMC by sign": ("emmc", {"n_clusters": 2, "featuremap__n_hidden": 40, "featuremap__activation": "radbas"}),
    "fuzzy c-means": ("fuzzy-cmeans", {"n_init": 1, "solver__fuzzifier": 1.7}),
    "factorisation": (
        "elm-nmf",
        {"solver__update": "anls", "solver__max_iter": 4, "labeler": "argmax", "featuremap__n_hidden": 15},
    ),
}


def blobs(dtype=np.float64, n=700):
    return make_blobs(n, 5, centers=4, cluster_std=2.0, random_state=0)[0].astype(dtype)


def model_of(name):
    method, changes = METHODS[name]
    return recipe(method, **{"n_clusters": 4, "random_state": 3, **changes})


@pytest.fixture
def dispatch(monkeypatch):
    monkeypatch.setattr(devices, "dispatches", lambda: True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", METHODS)
def test_labels_are_those_of_numpy(name, dtype):
    X = blobs(dtype)
    here = model_of(name).fit(X)
    with clusterkit.config(device=DEVICE):
        there = model_of(name).fit(X)
        predicted = there.predict(X[:100])
    assert isinstance(there.labels_, np.ndarray)
    assert np.array_equal(there.labels_, here.labels_)
    assert np.array_equal(predicted, here.predict(X[:100]))
    assert there.n_iter_ == here.n_iter_


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["k-means", "EMMC", "EMMC of equal clusters", "fuzzy c-means"])
def test_passes_over_files_are_those_of_numpy(name, weighted, tmp_path):
    np.save(tmp_path / "x.npy", blobs())
    weights = np.arange(700.0) % 3 + 1.0 if weighted and "equal" not in name else None
    with small_groups(150), small_blocks():
        here = model_of(name).fit(clusterkit.open(tmp_path / "x.npy"), sample_weight=weights)
        with clusterkit.config(device=DEVICE):
            there = model_of(name).fit(clusterkit.open(tmp_path / "x.npy"), sample_weight=weights)
    assert np.array_equal(there.labels_, here.labels_)


@pytest.mark.parametrize("name", METHODS)
def test_answers_are_tensors(dispatch, name):
    X = blobs(np.float32)
    here, there = model_of(name).fit(X), model_of(name).fit(torch.asarray(X))
    assert isinstance(there.labels_, torch.Tensor)
    assert there.labels_.dtype == torch.int64
    assert np.array_equal(there.labels_.numpy(), here.labels_)
    assert np.array_equal(there.predict(torch.asarray(X)).numpy(), here.predict(X))
    for method in ("transform", "decision_function"):
        if hasattr(here, method):
            values = getattr(there, method)(torch.asarray(X))
            assert isinstance(values, torch.Tensor)
            np.testing.assert_allclose(values.numpy(), getattr(here, method)(X), rtol=2e-3, atol=2e-3)
    assert there.n_clusters_ == here.n_clusters_


@pytest.mark.parametrize(
    "samples",
    [
        lambda X: torch.asarray(X.copy()).requires_grad_(),
        lambda X: torch.asarray(np.ascontiguousarray(X.T)).T,
        lambda X: torch.asarray(np.concatenate([X, X]))[: len(X)],
        lambda X: torch.asarray(np.repeat(X, 2, axis=0))[::2],
    ],
    ids=["with a gradient", "transposed", "a part", "every other row"],
)
def test_tensors_of_all_kinds(dispatch, samples):
    X = blobs()
    expected = model_of("k-means").fit(X).labels_
    assert np.array_equal(to_host(model_of("k-means").fit(samples(X)).labels_), expected)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int32", "uint8", "bool"])
def test_other_types_become_float64(dispatch, dtype):
    X = torch.asarray(np.maximum(blobs(), 0.0)).to(getattr(torch, dtype))  # of a negative number bytes make anything
    expected = model_of("k-means").fit(X.to(torch.float64).numpy()).labels_
    assert np.array_equal(to_host(model_of("k-means").fit(X).labels_), expected)


def test_kernel_sums_and_ascents():
    X, more = (make_moons(n, noise=0.05, random_state=n)[0] for n in (200, 600))
    model = recipe("svc", random_state=0).fit(X)
    expected = model.predict(more)
    with clusterkit.config(device=DEVICE):
        assert np.array_equal(model.predict(more), expected)


def test_places_and_types_have_the_names_of_the_library():
    X = torch.zeros((2, 3), dtype=torch.float32)
    assert Device.of(X) == Device("torch", "cpu")
    assert host_dtype(X) == np.float32
    assert host_dtype(X.to(torch.int64)) == np.int64
    assert Device.of(array_namespace(X).zeros(3, device=X.device)) == Device("torch", "cpu")
    assert [rows.stop for rows in device_plan(10, 3, host_dtype(X))] == [10]


def test_a_device_that_is_not_there_is_said():
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(InvalidParameter, match=r"there is no device 'torch:cuda:0' here\. torch says"):
        clusterkit.config(device="torch:cuda:0")


class TestRefusals:
    def test_sparse_tensors(self, dispatch):
        for X in (torch.eye(20).to_sparse(), torch.eye(20).to_sparse_csr()):
            with pytest.raises(InvalidData, match=r"X has the layout torch\.sparse_"):
                recipe("kmeans", n_clusters=2).fit(X)
