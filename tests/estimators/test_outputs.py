"""Attributes and methods that users of scikit-learn expect of a clusterer: they are there where they mean something."""

import logging

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import OneHotEncoder

from clusterkit import Auto, Pipeline, profile, recipe, representatives


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs([50, 40, 30], centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    return X * [1.0, 5.0], y


class TestCentres:
    @pytest.mark.parametrize("maps", ["identity", "zscore", "minmax", ["minmax", "zscore"]])
    def test_they_are_the_means_of_the_clusters_in_the_units_of_the_columns(self, blobs, maps):
        model = recipe("kmeans", n_clusters=3, featuremap=maps, random_state=0).fit(blobs[0])
        expected = [blobs[0][model.labels_ == label].mean(axis=0) for label in range(3)]
        np.testing.assert_allclose(model.cluster_centers_, expected, rtol=1e-9, atol=1e-9)
        assert model.n_clusters_ == 3

    @pytest.mark.parametrize("name", ["emmc", "svc", "genie"])
    def test_others_say_that_they_have_none(self, blobs, name):
        model = recipe(name, random_state=0, **({} if name == "svc" else {"n_clusters": 3})).fit(blobs[0] / [1, 5])
        assert not hasattr(model, "cluster_centers_")
        assert model.n_clusters_ == len(set(model.labels_.tolist()) - {-1})


class TestTransform:
    def test_distances_to_the_means(self, blobs):
        X, _ = blobs
        model = recipe("kmeans", n_clusters=3, random_state=0).fit(X)
        expected = np.linalg.norm(X[:, None] - model.cluster_centers_[None], axis=2)
        np.testing.assert_allclose(model.transform(X), expected, atol=1e-5)
        np.testing.assert_array_equal(model.transform(X).argmin(axis=1), model.predict(X))

    def test_the_type_of_the_table_can_be_chosen(self, blobs):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(blobs[0], columns=["a", "b"])
        model = recipe("kmeans", n_clusters=3, random_state=0).set_output(transform="pandas").fit(frame)
        assert list(model.transform(frame).columns) == ["pipeline0", "pipeline1", "pipeline2"]

    @pytest.mark.parametrize("name", ["svc", "genie", "ncut"])
    def test_it_is_missing_where_nothing_extends_to_new_rows(self, name):
        assert not hasattr(recipe(name), "transform")


class TestDecisionFunction:
    def test_of_a_domain_it_is_positive_inside(self, blobs):
        X = blobs[0] / [1, 5]
        model = recipe("svc", random_state=0).fit(X)
        np.testing.assert_allclose(model.decision_function(X), -model.outlier_scores_)
        assert (model.decision_function(X + 1e3) < 0).all()

    def test_of_scores_the_largest_is_the_label(self, blobs):
        model = recipe("emmc", n_clusters=3, balancer=None, random_state=0).fit(blobs[0] / [1, 5])
        np.testing.assert_array_equal(
            model.decision_function(blobs[0] / [1, 5]).argmax(axis=1), model.predict(blobs[0] / [1, 5])
        )
        two = recipe("emmc", n_clusters=2, balancer=None, random_state=0).fit(blobs[0][:90] / [1, 5])
        assert two.decision_function(blobs[0][:5] / [1, 5]).shape == (5,)

    def test_a_tree_has_none(self):
        assert not hasattr(recipe("genie"), "decision_function")


class TestScore:
    def test_it_is_silhouette_without_classes_and_rand_index_with_them(self, blobs):
        X, y = blobs
        model = recipe("kmeans", n_clusters=3, random_state=0).fit(X)
        assert model.score(X) == pytest.approx(silhouette_score(X, model.predict(X)))
        assert model.score(X, y) == pytest.approx(adjusted_rand_score(y, model.predict(X)))

    def test_a_grid_search_needs_no_scoring(self, blobs):
        X = blobs[0] / [1, 5]
        search = GridSearchCV(recipe("kmeans", random_state=0), {"n_clusters": [2, 3, 5]}, cv=2).fit(X)
        assert search.best_params_ == {"n_clusters": 3}

    def test_auto_has_it_after_the_fit(self, blobs):
        model = Auto(pool=["kmeans"], n_clusters=3, random_state=0).fit(blobs[0] / [1, 5])
        assert model.score(blobs[0] / [1, 5], blobs[1]) == 1.0
        assert model.n_clusters_ == 3


class TestSmallSparseSamples:
    @pytest.mark.filterwarnings("ignore:the clusters restate")
    def test_the_output_of_an_encoder_is_made_dense(self):
        words = np.random.default_rng(0).choice(["a", "b", "c"], size=(60, 3))
        X = OneHotEncoder().fit_transform(words)
        assert scipy.sparse.issparse(X)
        for model in (recipe("kmeans", n_clusters=2, random_state=0), Auto(2, pool=["kmeans"], random_state=0)):
            model.fit(X)
            np.testing.assert_array_equal(model.predict(X), model.predict(X.toarray()))


def test_wide_data_are_transformed_too():
    X = np.random.default_rng(0).normal(size=(12, 40)) + 9 * (np.arange(12) % 2)[:, None]
    model = Auto(n_clusters=2, pool=["kmeans"], random_state=0).fit(X)
    np.testing.assert_array_equal(model.transform(X).argmin(axis=1), model.labels_)


class TestTelling:
    def test_the_recipe_is_in_both_representations(self):
        model = recipe("svc")
        assert repr(model).startswith("# recipe 'svc'")
        assert "recipe <b>svc</b>" in model._repr_html_()
        assert "recipe <b>svc</b>" in model._repr_mimebundle_()["text/html"]
        assert "recipe" not in Pipeline()._repr_html_().split("<style>")[0]

    def test_fits_are_logged(self, blobs, caplog):
        with caplog.at_level(logging.INFO, logger="clusterkit"):
            recipe("kmeans", n_clusters=3, random_state=0).fit(blobs[0])
        assert [record.getMessage()[:33] for record in caplog.records] == ["kmeans: 3 clusters of 120 rows af"]
        caplog.clear()
        with caplog.at_level(logging.DEBUG, logger="clusterkit"):
            recipe("emmc", n_clusters=3, random_state=0).fit(blobs[0])
        assert {record.levelname for record in caplog.records} == {"INFO", "DEBUG"}


@pytest.mark.parametrize("name", ["kmeans", "kernel-kmeans", "emmc", "itersvm", "mixture"])
@pytest.mark.parametrize(("dtype", "bound"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_a_row_alone_has_the_label_of_the_batch_unless_two_clusters_tie(name, dtype, bound):
    """Rows of a grid lie halfway between centres, where the rounding of a product decides."""
    grid = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2).astype(dtype)
    model = recipe(name, n_clusters=2, random_state=0).fit(grid)
    rows = np.concatenate([grid, grid + dtype(0.5), (grid + dtype(1)) / dtype(3)])
    alone = np.concatenate([model.predict(row[None]) for row in rows])
    scores = model.decision_function(rows)
    scores = np.stack([scores, -scores], axis=1) if scores.ndim == 1 else scores
    differ = alone != model.predict(rows)
    gap = np.ptp(scores, axis=1)
    assert (gap[differ] <= bound * np.abs(scores).max()).all()
    assert np.mean(differ) < 0.1


@pytest.mark.parametrize("method", ["kmeans", "genie", "hdbscan", "mixture", "spectral"])
def test_what_every_answer_offers_is_the_same_and_what_it_lacks_is_told(method):
    X = make_blobs([40, 40], centers=[[0, 100], [9, 900]], cluster_std=[1, 1], random_state=0)[0]
    model = Auto(n_clusters=2, pool=[method], random_state=0).fit(X)
    assert model.predict(X).shape == (80,)
    inside = {f.column: f.inside for f in profile(model, X, names=["a", "b"]).clusters[0].features}
    assert inside["b"] == pytest.approx(np.mean(X[model.labels_ == 0, 1]), abs=5)
    assert len(representatives(model, X, 1)) == 2
    for name in ("cluster_centers_", "memberships_", "transform", "decision_function"):
        if not hasattr(model, name):
            with pytest.raises(AttributeError, match=rf"no {name} here: .* Of any clustering"):
                getattr(model, name)


@pytest.mark.parametrize("name", ["mixture", "lapgmm", "fuzzy-cmeans"])
def test_memberships_of_new_rows_are_probabilities(name):
    X = np.r_[np.random.default_rng(0).normal(0, 1, (40, 2)), np.random.default_rng(1).normal(5, 1, (40, 2))]
    model = recipe(name, n_clusters=2, random_state=0)
    assert not hasattr(model, "predict_proba")
    degrees = model.fit(X).predict_proba(X[:7])
    np.testing.assert_allclose(degrees.sum(axis=1), 1.0)
    assert np.array_equal(degrees.argmax(axis=1), model.predict(X[:7]))
    assert not hasattr(recipe("kmeans", n_clusters=2, random_state=0).fit(X), "predict_proba")
    # k-means of the degrees has clusters of its own
    assert not hasattr(model.set_params(labeler="rows_kmeans").fit(X), "predict_proba")
