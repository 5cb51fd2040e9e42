"""The feature map `graph`: eigenvectors of the self-tuned graph, their extension, and everything degenerate."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from clusterkit import Pipeline, recipe
from clusterkit.contracts import Task
from clusterkit.errors import ClusterkitWarning, NeedsMemory
from clusterkit.families.graphs import spectral as module
from clusterkit.families.graphs.spectral import Graph

MOONS = make_moons(400, noise=0.05, random_state=0)


def fit(X, k=2, seed=0, **parameters):
    return Graph(**parameters).space_of(X, Task(len(X), k), np.random.default_rng(seed))


def dense_features(X, k, regularization=0.0):
    """Eigenvalues and D^(-1/2) U by brute force."""
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    order = np.argsort(D, axis=1, kind="stable")[:, 1:]
    s = np.sqrt(np.take_along_axis(D, order[:, 6:7], axis=1)[:, 0])
    near = np.zeros_like(D)
    np.put_along_axis(near, order[:, :10], 1.0, axis=1)
    W = np.exp(-D / np.outer(s, s)) * (near + near.T) / 2.0
    d = W.sum(axis=1)
    d = d + regularization * d.mean()
    values, U = np.linalg.eigh(W / np.sqrt(np.outer(d, d)))
    return values[::-1][:k], U[:, ::-1][:, :k] / np.sqrt(d)[:, None], d


@pytest.mark.parametrize("n", [120, 450])
@pytest.mark.parametrize("regularization", [0.0, 0.3])
def test_features_are_those_of_dense_eigenvectors(n, regularization):
    X = np.random.default_rng(n).normal(size=(n, 2))
    space = fit(X, 4, normalize=False, regularization=regularization)
    values, F, d = dense_features(X, 4, regularization)
    H = space.rows()
    assert np.all(values[:-1] - values[1:] > 1e-6), "the comparison needs simple eigenvalues"
    F = F * np.sqrt(d.sum())
    np.testing.assert_allclose(H, F * np.sign((H * F).sum(axis=0)), atol=1e-5 * np.abs(F).max())
    np.testing.assert_allclose((d[:, None] * H**2).sum(axis=0), d.sum(), rtol=1e-6)
    unit = fit(X, 4, regularization=regularization).rows()
    np.testing.assert_allclose(unit, H / np.linalg.norm(H, axis=1, keepdims=True), atol=1e-5)
    slow = fit(X, 4, normalize=False, regularization=regularization, diffusion_time=3.0).rows()
    np.testing.assert_allclose(slow, H * values**3, atol=1e-5)


def test_extension_is_the_nystrom_formula():
    X = np.random.default_rng(5).normal(size=(150, 2))
    space = fit(X, 3, normalize=False)
    Y = np.random.default_rng(6).normal(size=(20, 2))
    values = dense_features(X, 3)[0]
    H = space.rows()
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    s = np.sqrt(np.sort(D, axis=1)[:, 7])
    for y, features in zip(Y, space.at(Y), strict=True):
        gaps = ((X - y) ** 2).sum(axis=1)
        near = np.argsort(gaps)[:10]
        w = np.exp(-gaps[near] / (np.sqrt(np.sort(gaps)[6]) * s[near]))
        np.testing.assert_allclose(features, w @ H[near] / w.sum() / values, rtol=1e-6, atol=1e-6)


def test_training_rows_as_new_rows_nearly_keep_their_features_and_labels():
    X, y = MOONS
    space = fit(X)
    assert not Graph.exact_on_training
    assert np.abs(space.at(X) - space.rows()).max() < 0.2
    model = recipe("spectral", n_clusters=2, random_state=0).fit(X)
    assert not model.exact_on_training_
    assert (model.predict(X) == model.labels_).mean() > 0.98
    assert adjusted_rand_score(y, model.labels_) > 0.95
    chained = Pipeline(["graph", {"name": "elm", "n_hidden": 30}], "ridge", n_clusters=2, balancer=None, random_state=0)
    assert not chained.fit(X).exact_on_training_


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_that_are_equal_are_one_vertex(dtype):
    X = MOONS[0].astype(dtype)
    repeated = np.concatenate([X, X[:150], X[:3]])
    one, other = fit(X), fit(repeated)
    assert other.resolved["distinct_rows"] == len(X)
    np.testing.assert_array_equal(other.rows()[: len(X)], one.rows())
    np.testing.assert_array_equal(other.rows()[len(X) : len(X) + 150], one.rows()[:150])
    assert one.rows().dtype == dtype


def test_shift_and_unit_change_nothing():
    X = MOONS[0]
    one = fit(X).rows()
    for other in (X * 2.0**-300, X * 2.0**200, X + 2.0**10):
        np.testing.assert_allclose(fit(other).rows(), one, atol=1e-6)


def test_more_components_than_eigenvectors_are_joined():
    X, blob = make_blobs([100, 100, 100, 100], centers=[[0, 0], [9, 0], [30, 0], [39, 0]], random_state=0)
    space = fit(X, 2)
    assert space.resolved["components"] == 4
    H = space.rows()
    np.testing.assert_allclose(H @ H.T, (blob[:, None] // 2 == blob // 2).astype(float), atol=1e-12)
    assert adjusted_rand_score(blob // 2, recipe("spectral", n_clusters=2, random_state=0).fit(X).labels_) == 1.0


def test_outliers_get_the_features_of_what_is_nearest():
    X, y = make_blobs([100, 100], centers=[[0, 0], [12, 0]], random_state=0)
    far = np.array([[-2e4, 0.0], [2e4, 1.0], [2e4, -1.0]])
    model = recipe("spectral", n_clusters=2, random_state=0).fit(np.concatenate([X, far]))
    assert model.resolved_["featuremap"]["outliers"] == 3
    assert adjusted_rand_score([*y, 0, 1, 1], model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(far), model.labels_[-3:])


def test_number_of_eigenvectors():
    X, _ = make_blobs(600, centers=[[0, 0], [6, 0], [0, 6], [6, 6]], cluster_std=0.8, random_state=0)
    assert fit(X, 3).width == 3
    assert fit(X, 3, n_components=5).width == 5
    gap = fit(X, 3, n_components="gap")
    assert gap.width == gap.resolved["n_components"] == 4
    assert Graph().space_of(X, Task(600, None), np.random.default_rng(0)).width == 4
    few = fit(X[:5], 3, n_components=40)
    assert few.width == few.resolved["n_components"] == 5
    assert few.resolved["n_neighbors"] == 4


@pytest.mark.parametrize("n", [2, 3, 5, 12])
def test_few_rows(n):
    X = np.arange(n, dtype=float)[:, None] ** 2
    for scale in (1, 7):
        space = fit(X, 2, scale_neighbor=scale)
        assert np.isfinite(space.rows()).all()
        assert np.isfinite(space.at(X * 1.5)).all()


def test_vertices_that_no_weight_reaches():
    X = np.array([[0.0], [1e-9], [1.0]])
    space = fit(X, 2, scale_neighbor=1)
    assert space.resolved["components"] == 2
    H = space.rows()
    np.testing.assert_allclose(H[0], H[1])
    assert abs(H[0] @ H[2]) < 1e-9


def test_all_rows_equal():
    with pytest.warns(ClusterkitWarning, match="equal"):
        model = recipe("spectral", n_clusters=2, random_state=0).fit(np.ones((20, 3)))
    assert set(model.labels_) == {0}


def test_landmarks():
    X, y = make_moons(2000, noise=0.05, random_state=1)
    model = recipe("spectral", n_clusters=2, random_state=0, featuremap__landmarks=500).fit(X)
    assert model.resolved_["featuremap"]["landmarks"] == 500
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert "landmarks" not in fit(X[:100], landmarks=500).resolved


def test_landmarks_by_themselves_are_told(monkeypatch):
    monkeypatch.setattr(module, "MOST_VERTICES", 300)
    monkeypatch.setattr(module, "LANDMARKS", 200)
    with pytest.warns(ClusterkitWarning, match=r"400 distinct rows .* 200 random landmarks"):
        space = fit(MOONS[0])
    assert space.resolved["landmarks"] == 200
    assert "landmarks" not in fit(MOONS[0], landmarks="all").resolved


def test_a_large_residual_is_told(monkeypatch):
    monkeypatch.setattr(module, "RESIDUAL", 0.0)
    monkeypatch.setattr("clusterkit.numerics.eigenvectors.RESIDUAL", 0.0)
    with pytest.warns(ClusterkitWarning, match="residual"):
        space = fit(MOONS[0])
    assert space.resolved["residual"] > 0.0


def test_memory(monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "10K")
    with pytest.raises(NeedsMemory, match="neighbours"):
        fit(MOONS[0])


def test_sparse_and_dense_parts_are_joined_alike():
    rng = np.random.default_rng(0)
    X = np.concatenate([0.02 * rng.normal(size=(150, 2)), rng.normal(size=(150, 2)) + np.array([6, 0])])
    for name in ("spectral", "emmc-graph", "ncut"):
        model = recipe(name, n_clusters=2, random_state=0).fit(X)
        assert adjusted_rand_score(np.repeat([0, 1], 150), model.labels_) == 1.0, name
