"""`layout`, `paris` and `layers`, and the recipe `embeddings` that they make."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, roc_auc_score

from clusterkit import Pipeline, recipe
from clusterkit.contracts.labelings import by_appearance
from clusterkit.errors import ClusterkitWarning
from clusterkit.samples import EmbeddedSpace


def on_the_sphere(n=600, k=6, d=96, background=0, seed=0):
    """Directions around k others, with a length of their own, and a share of directions of their own."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(k, d)) / np.sqrt(d)
    y = np.concatenate([rng.integers(k, size=n), np.full(background, -1)])
    X = np.where(y[:, None] >= 0, centres[y], rng.normal(size=(len(y), d)) / np.sqrt(d))
    X = (X + 0.6 * rng.normal(size=X.shape) / np.sqrt(d)) * rng.uniform(0.1, 10.0, size=(len(y), 1))
    return X.astype(np.float32), y


@pytest.fixture(scope="module")
def sphere():
    X, y = on_the_sphere()
    return X, y, recipe("embeddings", random_state=0).fit(X)


def test_the_number_of_clusters_is_found_and_every_row_has_one(sphere):
    _, y, model = sphere
    assert model.n_clusters_ == 6
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.labels_.min() == 0
    assert model.resolved_["featuremap"]["neighbours"] == "exact"
    assert model.resolved_["labeler"]["clusters"] == 6


@pytest.mark.parametrize("code", [lambda X: X > 0, lambda X: (127 * X / np.abs(X).max()).astype(np.int8)])
def test_vectors_of_bits_and_bytes_are_vectors(sphere, code):
    X, y, _ = sphere
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert adjusted_rand_score(y, recipe("embeddings", random_state=0).fit(code(X)).labels_) > 0.99


def searched(method):
    """The recipe with a search of neighbours that is asked for."""
    return recipe("embeddings", featuremap=["unit", {"name": "layout", "neighbors_method": method}], random_state=0)


def test_a_sketch_may_be_asked_for(sphere):
    X, y, _ = sphere
    model = searched("sketch").fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.resolved_["featuremap"]["neighbours"] == "sketch"
    assert model.resolved_["featuremap"]["recall"] >= 0.95


def test_features_stay_float32_and_the_graph_is_kept(sphere):
    _, _, model = sphere
    assert isinstance(model.space_, EmbeddedSpace)
    assert model.space_.dtype == np.float32
    assert model.space_.graph is model.outcome_.graph
    lengths = np.linalg.norm(model.space_.points, axis=1)
    np.testing.assert_allclose(lengths, 1.0, rtol=1e-6)
    assert model.resolved_["featuremap"]["n_layouts"] == 6
    assert model.space_.width == 48  # of eight coordinates each


def test_the_graph_joins_rows_of_largest_cosine(sphere):
    X, _, model = sphere
    graph = model.space_.graph
    rows = X[graph.rows].astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = rows @ rows.T
    np.fill_diagonal(cosines, -1.0)
    largest = -np.sort(-cosines, axis=1)[:, : graph.index.shape[1]]
    np.testing.assert_allclose(np.take_along_axis(cosines, graph.index, axis=1), largest, atol=1e-6)


def test_a_row_equal_to_a_fitted_one_gets_its_label_and_new_ones_follow(sphere):
    X, _, model = sphere
    assert model.exact_on_training_
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    new, y = on_the_sphere(seed=0, n=600)
    rng = np.random.default_rng(9)
    new = new + 0.01 * np.abs(new).max() * rng.normal(size=new.shape).astype(np.float32) * 0.1
    assert adjusted_rand_score(y, model.predict(new)) > 0.95
    shares = model.predict_proba(new)
    assert shares.shape == (len(new), 6)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(new))


def test_layers_go_from_coarse_to_fine_and_one_of_them_is_chosen(sphere):
    _, _, model = sphere
    layers = model.layers_
    numbers = [layer.n_clusters for layer in layers]
    assert numbers == sorted(set(numbers))
    [chosen] = [layer for layer in layers if layer.chosen]
    np.testing.assert_array_equal(chosen.labels, model.labels_)
    assert chosen.stability == pytest.approx(1.0)
    assert all(0.0 <= layer.strength <= 1.0 for layer in layers)
    assert all(sum(layer.sizes.values()) == len(model.labels_) for layer in layers)
    with pytest.raises(AttributeError, match="no layers_ here: only methods that find clusters of several sizes"):
        recipe("kmeans", n_clusters=2).fit(np.eye(5)).layers_  # noqa: B018 (a property that raises)


def test_a_number_of_clusters_may_be_given(sphere):
    X, y, _ = sphere
    model = recipe("embeddings", n_clusters=6, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert recipe("embeddings", n_clusters=3, random_state=0).fit(X).n_clusters_ == 3


def test_background_is_told_by_its_score_or_left_out_as_noise():
    X, y = on_the_sphere(900, 5, background=100)
    model = recipe("embeddings", random_state=0).fit(X)
    assert roc_auc_score(y < 0, model.outlier_scores_) >= 0.95
    assert ((model.probabilities_ >= 0) & (model.probabilities_ <= 1)).all()
    covered, noise = (
        recipe("embeddings", random_state=0, labeler__outliers=how).fit(X) for how in ("nearest", "noise")
    )
    assert (covered.labels_ >= 0).all()
    left_out = noise.labels_ < 0
    assert noise.resolved_["labeler"]["noise"] == left_out.sum()
    assert (noise.probabilities_[left_out] == 0).all()
    assert left_out[y >= 0].mean() <= 0.05


@pytest.mark.parametrize(
    "X",
    [np.ones((30, 4)), np.eye(3), np.zeros((12, 5)), np.ones((1, 2))],
    ids=["equal rows", "three rows", "zeros", "one row"],
)
@pytest.mark.filterwarnings("ignore::clusterkit.ClusterkitWarning")
def test_degenerate_rows_have_clusters_too(X):
    model = recipe("embeddings", random_state=0).fit(X)
    assert model.labels_.min() >= 0
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_a_tree_of_the_features_themselves_needs_no_layout():
    X, y = on_the_sphere(400, 4)
    model = Pipeline("unit", "paris", "layers", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.resolved_["solver"] == {"neighbours": "exact", "components": 4}
    auto = Pipeline("unit", "paris", random_state=0).fit(X)
    np.testing.assert_array_equal(auto.labels_, model.labels_)


def test_other_solvers_read_the_layout():
    X, y = on_the_sphere(400, 4)
    model = Pipeline(["unit", "layout"], "centroids", "argmax", n_clusters=4, n_init=5, random_state=0).fit(X)
    assert not model.exact_on_training_
    assert adjusted_rand_score(y, model.labels_) == 1.0
    np.testing.assert_array_equal(by_appearance(model.predict(X)), by_appearance(model.labels_))


@pytest.mark.parametrize(("k", "d"), [(2, 50), (3, 2), (4, 5), (9, 50)])
def test_groups_of_equal_rows_are_the_clusters_with_the_number_or_without(k, d):
    turns = 2 * np.pi * np.arange(k) / k
    directions = (
        np.stack([np.cos(turns), np.sin(turns)], axis=1) if d == 2 else np.random.default_rng(k).normal(size=(k, d))
    )
    y = np.repeat(np.arange(k), [12, 30, *[17] * (k - 2)])
    X = (directions[y] * np.random.default_rng(0).uniform(1.0, 5.0, size=(len(y), 1))).astype(np.float32)
    for number in (None, k):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClusterkitWarning)
            model = recipe("embeddings", n_clusters=number, random_state=0).fit(X)
        assert adjusted_rand_score(y, model.labels_) == 1.0
        np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.resolved_["featuremap"]["distinct_rows"] == k


def test_ordinary_rows_between_groups_of_equal_ones_follow_their_nearest_group():
    rng = np.random.default_rng(0)
    levels = np.eye(5)[rng.integers(5, size=200)]
    few = np.eye(5)[rng.integers(5, size=60)] + 0.2 * rng.normal(size=(60, 5))
    model = recipe("embeddings", random_state=0).fit(np.concatenate([levels, few]))
    assert adjusted_rand_score([*levels.argmax(axis=1), *few.argmax(axis=1)], model.labels_) == 1.0


def test_documents_that_come_often_do_not_move_the_clusters_of_the_others(sphere):
    X, _, model = sphere
    often = np.concatenate([X, np.repeat(X[:3], 25, axis=0)])
    labels = recipe("embeddings", random_state=0).fit(often).labels_
    np.testing.assert_array_equal(labels[: len(X)], model.labels_)
    np.testing.assert_array_equal(labels[len(X) :], np.repeat(labels[:3], 25))


def test_parts_without_an_edge_between_them_join_their_nearest_where_fewer_clusters_are_asked_for():
    centres = np.zeros((4, 20))
    centres[[0, 1], 0] = centres[[2, 3], 2] = 1.0
    centres[1, 1] = centres[3, 3] = 0.2
    y = np.repeat(np.arange(4), 40)
    X = centres[y] + 1e-3 * np.random.default_rng(0).normal(size=(160, 20))
    assert adjusted_rand_score(y // 2, recipe("embeddings", n_clusters=2, random_state=0).fit(X).labels_) == 1.0


def test_two_distinct_rows_are_two_clusters_where_two_are_asked_for_and_else_few_equal_rows_are_warned_of():
    X = np.repeat(np.eye(3)[:2], 4, axis=0)
    with pytest.warns(ClusterkitWarning, match="8 of 8 in groups of at most 4.*metric='cosine' and n_clusters=2"):
        recipe("embeddings", random_state=0).fit(X)
    assert recipe("embeddings", n_clusters=2, random_state=0).fit(X).labels_.tolist() == [0] * 4 + [1] * 4


def test_angles_of_two_columns_are_warned_of():
    X, _ = make_blobs(60, centers=5, random_state=2)
    with pytest.warns(ClusterkitWarning, match="nothing but their angle.*'hdbscan'"):
        recipe("embeddings", random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recipe("embeddings", featuremap="layout", random_state=0).fit(X)
