"""How a composition is written, changed and inspected."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import clusterkit
from clusterkit import Pipeline, recipe
from clusterkit.contracts.featuremap import Chain
from clusterkit.families.margins.ridge import Ridge
from clusterkit.families.shared.elm import Elm
from clusterkit.metrics import clustering_accuracy


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([30, 30], n_features=2, random_state=1, cluster_std=0.6)


def fitted(**changes):
    return Pipeline(**{"n_clusters": 2, "random_state": 0, **changes})


class TestSlots:
    def test_a_name_a_dict_and_a_stage_mean_the_same(self, blobs):
        X, _ = blobs
        spellings = ["elm", {"name": "elm"}, Elm(), ["elm"]]
        labels = [fitted(featuremap=spelling).fit(X).labels_ for spelling in spellings]
        for other in labels[1:]:
            np.testing.assert_array_equal(labels[0], other)

    def test_the_line_of_the_readme_works_on_raw_data(self):
        X, y = make_blobs([60, 60], n_features=2, random_state=3, cluster_std=1.0)
        X = X * [1000.0, 0.01] + [5000.0, 3.0]
        labels = Pipeline(featuremap="elm", solver="ridge", labeler="threshold", random_state=0).fit_predict(X)
        assert clustering_accuracy(y, labels) > 0.5

    def test_a_list_of_maps_is_a_chain(self, blobs):
        model = fitted(featuremap=["zscore", "rbf"]).fit(blobs[0])
        assert type(model.space_).__name__ == "KernelSpace"
        np.testing.assert_allclose(model.space_.points.mean(axis=0), 0, atol=1e-9)
        np.testing.assert_array_equal(model.predict(blobs[0][:5]), model.labels_[:5])

    def test_nested_parameters_of_a_chain_find_their_map(self):
        model = Pipeline(featuremap=["minmax", "elm"]).set_params(featuremap__n_hidden=7)
        assert isinstance(model.featuremap, Chain)
        assert model.featuremap.maps[1].n_hidden == 7
        model.set_params(featuremap__minmax__limits=(-1.0, 1.0))
        assert model.featuremap.maps[0].limits == (-1.0, 1.0)

    def test_setting_a_parameter_replaces_the_spec(self):
        model = Pipeline(solver="ridge")
        before = Ridge()
        model.set_params(solver__C=3.0)
        assert model.solver == Ridge(C=3.0)
        assert before.C is None

    def test_a_slot_is_set_before_its_parameters(self):
        model = Pipeline(solver="centroids").set_params(solver__C=3.0, solver="ridge")
        assert model.solver == Ridge(C=3.0)

    def test_get_params_lists_those_of_stages(self):
        params = Pipeline(featuremap=["minmax", "rbf"]).get_params()
        assert params["solver__df"] == 12.0
        assert params["featuremap__rbf__gamma"] is None
        assert params["balancer__slack"] == 0.03

    def test_a_balancer_left_to_the_solver_can_be_tuned(self, blobs):
        model = fitted(balancer="auto").set_params(balancer__slack=0)
        assert model.fit(blobs[0]).labels_.sum() == 30

    def test_kmeans_stays_kmeans(self):
        X = make_blobs([50, 10], random_state=0, cluster_std=0.3)[0]
        assert sorted(np.bincount(recipe("kmeans", n_clusters=2, random_state=0).fit(X).labels_)) == [10, 50]
        balanced = recipe("kmeans", n_clusters=2, random_state=0, balancer="band", balancer__slack=0).fit(X)
        assert sorted(np.bincount(balanced.labels_)) == [30, 30]

    def test_a_recipe_can_start_another_one(self, blobs):
        X, y = blobs
        model = fitted(init="nmf").fit(X)
        assert clustering_accuracy(y, model.labels_) > 0.95


class TestResult:
    def test_one_stream_for_each_slot(self, blobs):
        """Another solver leaves the random draw of the map as it was."""
        X, _ = blobs
        ridge = fitted(solver="ridge", labeler="argmax").fit(X)
        centroids = fitted(solver="centroids", labeler="argmax").fit(X)
        np.testing.assert_array_equal(ridge.space_.at(X), centroids.space_.at(X))

    def test_resolved_parameters_are_reported_and_params_stay(self, blobs):
        model = fitted().fit(blobs[0])
        assert model.resolved_["solver"]["C"] > 0
        assert model.resolved_["labeler"] == {"name": "threshold"}
        assert model.get_params()["solver__C"] is None

    def test_exact_on_training_tells_the_truth(self):
        X, _ = make_blobs([80, 20], random_state=0, cluster_std=0.4)
        seen = set()
        for slack in (0, 0.03, 0.9):
            model = fitted().set_params(balancer__slack=slack).fit(X)
            same = np.array_equal(model.predict(X), model.labels_)
            assert same or not model.exact_on_training_
            seen.add(model.exact_on_training_)
        assert seen == {True, False}

    def test_exact_on_training_tells_the_truth_among_ties_of_a_kernel(self):
        rng = np.random.default_rng(0)
        for seed in range(10):
            X = rng.integers(0, 3, size=(30, 2)).astype(float)
            model = Pipeline(["minmax", "rbf"], "ridge", "argmax", n_clusters=15, init="random", random_state=seed)
            model.fit(X)
            assert np.array_equal(model.predict(X), model.labels_) or not model.exact_on_training_

    def test_svc_describes_its_domain(self, blobs):
        X, _ = blobs
        domain = recipe("svc", featuremap__gamma=1.0).fit(X).outcome_
        assert domain.centres.shape[1] == 2
        assert len(domain.weights) == len(domain.centres)
        np.testing.assert_allclose(domain.weights.sum(), 1.0)
        assert 0 < domain.level < 1
        assert domain.kernel.gamma == 1.0

    @pytest.mark.parametrize("name", ["emmc", "kernel-kmeans", "svc"])
    def test_what_becomes_of_the_data_afterwards_does_not_matter(self, name, blobs):
        X = blobs[0].copy()
        model = recipe(name, **({} if name == "svc" else {"n_clusters": 2}), random_state=0).fit(X)
        before = model.predict(blobs[0])
        X[:] = 0.0
        np.testing.assert_array_equal(model.predict(blobs[0]), before)

    def test_labels_are_read_only(self, blobs):
        labels = fitted().fit(blobs[0]).labels_
        with pytest.raises(ValueError, match="read-only"):
            labels[0] = 5

    def test_refitting_forgets_the_old_fit(self, blobs):
        model = fitted(featuremap="rbf").fit(blobs[0])
        model.set_params(featuremap="elm").fit(blobs[0])
        assert type(model.space_).__name__ == "DenseSpace"


def test_recipes_carry_their_citation():
    for name, entry in clusterkit.recipes().items():
        assert entry.name == name
        assert any(character.isdigit() for character in entry.citation), name
        assert entry.title
        assert entry.use_when


@pytest.mark.parametrize("n", [5000, pytest.param(200_000, marks=pytest.mark.deep)])
def test_streamed_and_dense_labels_are_equal_on_many_rows(n):
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=n)
    X = (rng.normal(size=(n, 20)) + 0.8 * truth[:, None]).astype(np.float32)
    models = [
        recipe(
            "emmc",
            n_clusters=2,
            featuremap={"name": "elm", "n_hidden": 300, "storage": storage},
            init="random",
            max_iter=4,
            random_state=0,
        ).fit(X)
        for storage in ("dense", "streamed")
    ]
    assert [type(model.space_).__name__ for model in models] == ["DenseSpace", "StreamedSpace"]
    np.testing.assert_array_equal(models[0].labels_, models[1].labels_)
    np.testing.assert_array_equal(models[0].history_, models[1].history_)
