"""The default score of a search, which compares the candidates with each other: numbers, spaces, equals and ties."""

import numpy as np
import pytest
from oracles.scripted_clusterer import HALVES, ONE, SHATTERED, THIRDS, ScriptedClusterer, three_blobs
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from clusterkit import Pipeline, recipe, search
from clusterkit.errors import InvalidData, InvalidParameter


@pytest.fixture(scope="module")
def blobs():
    return three_blobs()


class TestDefaultCriterion:
    """The score "auto", which compares the candidates with each other."""

    KMEANS = Pipeline("identity", "centroids", "argmax", init="seeds", n_init=3)

    @pytest.mark.parametrize("maps", ["identity", "zscore", ["minmax"]])
    def test_three_blobs_are_three(self, blobs, maps):
        comparison = search(self.KMEANS, {"featuremap": [maps], "n_clusters": [2, 3, 4, 5, 6]}, blobs, random_state=0)
        assert comparison.score == "auto"
        assert comparison.best_params["n_clusters"] == 3
        assert comparison.facts["criterion"] == "unknown number"
        assert comparison.facts["perhaps_one_cluster"] is False
        assert comparison.facts["confidence"] > 0.5
        assert comparison.ties == []
        assert np.array_equal(comparison.best_estimator.labels_, comparison.best_labels)

    def test_is_that_of_auto(self, blobs):
        """One k-means after the other as a search, and as the number of clusters that a recipe finds."""
        model = recipe("kmeans", n_clusters=(2, 6), random_state=0).fit(blobs)
        comparison = search("kmeans", {"n_clusters": [2, 3, 4, 5, 6]}, blobs, random_state=0)
        curve = model.resolved_["auto"]["score_of_number"]
        assert [k for k, _ in curve] == [2, 3, 4, 5, 6]
        # the subsamples of the stability differ, which is worth half of its range at most
        assert np.abs(np.array([score for _, score in curve]) - comparison.scores).max() < 0.5

    def test_one_number_has_its_own_criterion(self, blobs):
        comparison = search(ScriptedClusterer(), {"labels": [tuple(np.arange(150) % 3), THIRDS]}, blobs)
        assert comparison.best_index == 1
        assert comparison.facts["criterion"] == "known number"
        assert "second_n_clusters" not in comparison.facts

    def test_maps_are_compared_in_one_space(self):
        from sklearn.datasets import load_wine

        X, y = load_wine(return_X_y=True)
        grid = {"featuremap": ["identity", "zscore", "minmax"], "n_clusters": [2, 3, 4, 5]}
        comparison = search(self.KMEANS, grid, X, random_state=0)
        assert comparison.best_params["featuremap"] != "identity"
        assert adjusted_rand_score(y, comparison.best_labels) > 0.8
        assert comparison.facts["compared_in"].startswith("the input with all attributes scaled")
        units = search(self.KMEANS, grid, X * np.geomspace(1e-3, 1e3, 13), random_state=0)
        scaled = [i for i, candidate in enumerate(units.candidates) if candidate.params["featuremap"] != "identity"]
        assert units.scores[scaled] == pytest.approx(comparison.scores[scaled], abs=0.3)

    def test_maps_that_scale_alike_keep_their_space(self, blobs):
        base = Pipeline(["zscore", "rbf"], labeler="argmax", n_clusters=3)
        grid = {"featuremap__rbf__gamma": [0.1, 1.0], "featuremap": [["zscore", "rbf"]]}
        comparison = search(base, grid, blobs, random_state=0)
        assert comparison.facts["compared_in"] == "the input as the feature map scales it"

    def test_equal_clusters_count_once(self, blobs):
        renamed = tuple(2 - np.array(THIRDS))
        comparison = search(ScriptedClusterer(), {"labels": [HALVES, THIRDS, renamed]}, blobs, random_state=0)
        assert comparison.scores[1] == comparison.scores[2]
        assert comparison.distinct == [0, 1]
        assert comparison.best_index == 1
        assert comparison.ties == []
        without = search(ScriptedClusterer(), {"labels": [HALVES, THIRDS]}, blobs, random_state=0)
        assert without.scores == pytest.approx(comparison.scores[:2])

    def test_a_tie_is_told(self):
        """Four equal corners of a square make two pairs in two ways that no score can tell apart."""
        rng = np.random.default_rng(0)
        cloud = rng.standard_normal((20, 2))
        # symmetric under the exchange of the axes, bit for bit
        cloud = np.concatenate([cloud, cloud[:, ::-1]])
        X = np.concatenate([cloud + corner for corner in ([0, 0], [0, 16], [16, 0], [16, 16])])
        across, up = np.repeat([0, 0, 1, 1], 40), np.repeat([0, 1, 0, 1], 40)
        comparison = search(ScriptedClusterer(), {"labels": [tuple(across), tuple(up)]}, X, "silhouette")
        assert comparison.ties == [1]
        assert comparison.best_index == 0
        equal = search(ScriptedClusterer(), {"labels": [tuple(across), tuple(1 - across)]}, X, "silhouette")
        assert equal.ties == []

    def test_noise_follows_the_tree(self, blobs):
        noisy = np.array(THIRDS)
        noisy[::7] = -1
        comparison = search(ScriptedClusterer(), {"labels": [tuple(noisy), THIRDS, HALVES]}, blobs)
        assert comparison.best_index in (0, 1)
        assert comparison.table[0]["n_noise"] == 22
        with pytest.raises(InvalidParameter, match="noise= is for the other scores"):
            search(ScriptedClusterer(THIRDS), {}, blobs, noise="exclude")

    def test_what_has_no_clusters_has_no_score(self, blobs):
        grid = {"labels": [ONE, THIRDS, SHATTERED, (-1,) * 150]}
        for exclude in (True, False):
            comparison = search(ScriptedClusterer(), grid, blobs, exclude=exclude)
            assert comparison.best_index == 1
            assert comparison.candidates[0].reason == "one cluster"
            assert np.isnan(comparison.scores[[0, 3]]).all()
        with pytest.raises(InvalidParameter, match="every one of 1 candidates was excluded"):
            search(ScriptedClusterer(ONE), {}, blobs)

    def test_workers_and_interrupts(self, blobs):
        grid = {"n_clusters": [2, 3, 4]}
        one = search("kmeans", grid, blobs, random_state=0)
        two = search("kmeans", grid, blobs, random_state=0, n_jobs=2)
        assert np.array_equal(one.scores, two.scores)
        assert one.facts == two.facts
        stopped = [{"labels": [HALVES, THIRDS]}, {"stop": ["interrupt"], "labels": [THIRDS]}, {"labels": [ONE]}]
        comparison = search(ScriptedClusterer(), stopped, blobs)
        assert comparison.interrupted
        assert comparison.best_index == 1
        assert not hasattr(comparison.best_estimator, "labels_")

    def test_many_samples_are_compared_by_a_sample(self):
        X, y = make_blobs([2000] * 3, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
        comparison = search("kmeans", {"n_clusters": [2, 3, 4], "n_init": [1]}, X, random_state=0)
        assert comparison.facts["rows_compared"] == 5000
        assert adjusted_rand_score(y, comparison.best_labels) > 0.99

    def test_sparse_samples_are_refused(self, blobs):
        from scipy.sparse import csr_matrix

        with pytest.raises(InvalidData, match="score='auto' needs dense samples"):
            search("kmeans", {"n_clusters": [2, 3]}, csr_matrix(blobs))
