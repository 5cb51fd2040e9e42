"""Rows that stand for clusters, and methods side by side."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.mixture import GaussianMixture

import clusterkit
from clusterkit.core.errors import InvalidData, InvalidParameter


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([60, 80, 40], centers=[[0, 0], [8, 0], [0, 8]], random_state=0)


class TestRepresentatives:
    def test_the_first_is_the_medoid(self, blobs):
        X, y = blobs
        spread = X.std(axis=0)
        for label, rows in clusterkit.representatives(y, X).items():
            members = np.flatnonzero(y == label)
            points = X[members] / spread
            sums = np.linalg.norm(points[:, None] - points[None], axis=2).sum(axis=1)
            assert rows[0] == members[np.argmin(sums)]
            assert len(set(rows.tolist())) == 3
            assert set(rows.tolist()) <= set(members.tolist())

    def test_small_clusters_give_all_rows_and_noise_none(self):
        rows = clusterkit.representatives([0, 0, -1, 1], [[0.0], [1.0], [50.0], [9.0]])
        assert {label: sorted(index.tolist()) for label, index in rows.items()} == {0: [0, 1], 1: [3]}

    @pytest.mark.parametrize("name", ["kmeans", "emmc", "svc", "ncut", "genie"])
    def test_in_the_space_of_the_model(self, blobs, name):
        X, _ = blobs
        changes = {} if name == "svc" else {"n_clusters": 3}
        model = clusterkit.recipe(name, random_state=0, **changes).fit(X)
        for label, rows in clusterkit.representatives(model, X, n=2).items():
            assert (model.labels_[rows] == label).all()

    def test_a_raw_table_beside_the_model(self, blobs):
        pandas = pytest.importorskip("pandas")
        X, _ = blobs
        model = clusterkit.recipe("kmeans", n_clusters=3, random_state=0).fit(X)
        frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "word": np.where(X[:, 0] > 4, "right", "left")})
        assert set(clusterkit.representatives(model, frame)) == {0, 1, 2}


class TestCompare:
    def test_numbers_are_those_of_the_definitions(self, blobs):
        X, y = blobs
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        found = clusterkit.compare({"recipe": "kmeans", "classes": y}, X, n_clusters=3)
        first, second = found.methods
        assert first.silhouette == pytest.approx(silhouette_score(X, first.labels))
        assert found.agreement[0, 1] == pytest.approx(adjusted_rand_score(y, first.labels))
        assert first.sizes == {label: int((first.labels == label).sum()) for label in range(3)}
        assert first.stability > 0.95
        assert first.seconds > 0
        assert np.isnan(second.stability)
        assert found.to_frame().shape == (2, 10)

    def test_fitted_models_are_not_fitted_again_and_others_stay_as_they_are(self, blobs):
        X, _ = blobs
        fitted = clusterkit.recipe("kmeans", n_clusters=2, random_state=0).fit(X)
        fresh = clusterkit.recipe("kmeans", n_clusters=3, random_state=0)
        found = clusterkit.compare({"fitted": fitted, "fresh": fresh, "mixture": GaussianMixture(3, random_state=0)}, X)
        assert found["fitted"].model is fitted
        assert not hasattr(fresh, "labels_")
        assert [method.n_clusters for method in found.methods] == [2, 3, 3]

    def test_failures_do_not_end_the_others(self, blobs):
        X, _ = blobs
        found = clusterkit.compare({"needs k": "kmeans", "finds k": "hdbscan"}, X)
        assert list(found.failed) == ["needs k"]
        assert [method.name for method in found.methods] == ["finds k"]

    def test_errors(self, blobs):
        X, y = blobs
        with pytest.raises(InvalidParameter, match="mapping"):
            clusterkit.compare({}, X)
        with pytest.raises(InvalidData, match="rows"):
            clusterkit.compare({"short": y[:-1]}, X)
