"""The kernels of Triton for k-means, by its interpreter, against the functions of the array API."""

from __future__ import annotations

import numpy as np
import pytest

from clusterkit import config, recipe
from clusterkit.errors import InvalidParameter
from clusterkit.samples import devices
from clusterkit.samples.transform import IdentityMap, Transform
from clusterkit.solvers.means import _class_means
from clusterkit.solvers.means._geometry import CentredFeatures, NearestMeans, Radii
from clusterkit.testing.compare import put

ERROR = 1e-6


def nearness(C, dtype):
    d, k = C.shape
    return NearestMeans(Transform((IdentityMap(d),), np.dtype(dtype)), np.full(d, 3.0), C, np.zeros(k), ERROR)


def case(dtype, n=150, d=35, k=20):
    """Rows with some on a centre, and a centre that there is twice."""
    rng = np.random.default_rng(0)
    X, C = (rng.normal(size=(n, d)) + 3.0).astype(dtype), rng.normal(size=(d, k)).astype(dtype)
    C[:, 0], X[:5], C[:, 3] = 0.0, 3.0, C[:, 1]
    return X, C


@pytest.fixture
def tensors(monkeypatch):
    """Torch, with Triton's interpreter in place of its compiler."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("array_api_compat", reason="arrays of torch need array-api-compat")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    pytest.importorskip("triton", reason="Triton is not installed")
    monkeypatch.setattr(devices, "dispatches", lambda: True)
    return torch


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_labels_scores_gaps_and_sums_are_those_of_the_array_api(tensors, dtype):
    from clusterkit.solvers.means import _fused

    X, C = case(dtype)
    function, H = nearness(C, dtype), tensors.asarray(X)
    labels, best, gap = _fused.nearest_two(H, *function.sent(H), ERROR)
    plain, scores = function.nearest(H)
    assert tensors.equal(labels, plain)
    assert not labels[:5].any()
    largest = tensors.topk(function.on(H), 2, dim=1)[0]
    digits = 1e-4 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(best, scores, atol=digits)
    np.testing.assert_allclose(gap, largest[:, 0] - largest[:, 1], atol=digits + 2 * ERROR)
    sums, sizes = _fused.class_sums(H, labels, C.shape[1])
    expected = np.zeros(C.T.shape)
    np.add.at(expected, labels.numpy(), X.astype(np.float64))
    np.testing.assert_allclose(sums, expected, atol=digits * len(X))
    assert sizes.tolist() == np.bincount(labels, minlength=C.shape[1]).tolist()


def test_a_fit_by_fused_kernels_has_the_labels_of_a_plain_one(tensors):
    X = tensors.asarray(case(np.float64, 100, 3)[0])
    fits = []
    for kernels in ("plain", "fused"):
        with config(kernels=kernels):
            fits.append(recipe("kmeans", n_clusters=4, n_init=1, max_iter=3, random_state=0).fit(X))
    assert tensors.equal(fits[0].labels_, fits[1].labels_)
    assert fits[1].objective_ == pytest.approx(fits[0].objective_, rel=1e-12)


@pytest.mark.parametrize("same", [True, False])
def test_a_fit_takes_them_by_itself_only_where_the_labels_are_the_same(monkeypatch, same):
    _, C = case(np.float64)
    function = nearness(C, np.float64)
    about = CentredFeatures(function.transform, np.full(35, 3.0), Radii(1.0, 1.0, 300.0))

    class Tensor:
        """As much of a tensor on a graphics processor as the choice looks at."""

        __module__ = "torch"
        device = type("Place", (), {"type": "cuda"})
        __getitem__ = lambda self, at: self  # noqa: E731 (a method in one line)

    class Fused:
        nearest_two = staticmethod(lambda H, *rest: (np.array([1, 2 if same else 0]),))
        class_sums = staticmethod(lambda *rest: None)

    monkeypatch.setattr(_class_means, "import_module", lambda name: Fused)
    monkeypatch.setattr(NearestMeans, "sent", lambda self, H: ())
    monkeypatch.setattr(NearestMeans, "nearest", lambda self, H: (np.array([1, 2]),))
    for _ in range(2):  # the second block needs no trial
        assert _class_means._fused_for(Tensor(), function, about) is (Fused if same else None)
    with config(kernels="plain"):
        assert _class_means._fused_for(Tensor(), function, about) is None


def test_kernels_that_cannot_be_had_are_refused():
    X, C = case(np.float64)
    function = nearness(C, np.float64)
    about = CentredFeatures(function.transform, np.full(35, 3.0), Radii(1.0, 1.0, 300.0))
    with pytest.raises(InvalidParameter, match=r"kernels must be one of 'auto', 'fused', 'plain', got 'fast'"):
        config(kernels="fast")
    pytest.importorskip("array_api_strict", reason="array-api-strict simulates the devices")
    with config(kernels="fused"), pytest.raises(InvalidParameter, match="are for tensors of PyTorch, got Array"):
        _class_means._fused_for(put(X), function, about)
