"""The law of saving over every recipe of the catalogue, those of installed plugins too; new ones need no line here."""

import numpy as np
import pytest
from clusterkit_min_max import MinMaxModularSVC
from scipy.sparse import random_array
from sklearn.base import clone

from clusterkit import ConsensusClustering, Pipeline, load, recipe, recipes
from clusterkit.errors import BrokenPlugin
from clusterkit.testing import check_recipe_saves, check_saving
from clusterkit.testing.compare import two_groups

pytestmark = pytest.mark.filterwarnings("ignore::clusterkit.ClusterkitWarning")


SINGLE = {"auto", "emmc", "hdbscan", "kmeans", "mixture", "nmf", "svc"}
"""Recipes that are saved with single precision in every run, one of each kind of space and outcome."""


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, "float64") for name in sorted(recipes())),
        *(pytest.param(n, "float32", marks=[] if n in SINGLE else [pytest.mark.deep]) for n in sorted(recipes())),
    ],
)
def test_what_a_recipe_leaves_behind_can_be_saved(name, dtype):
    try:
        check_recipe_saves(name, two_groups(dtype=dtype))
    except BrokenPlugin as lacking:
        pytest.skip(str(lacking))


SPARSE = {
    "features": Pipeline("log_tfidf", "nmf", "rows_kmeans", n_clusters=2, random_state=0),
    "a kernel": Pipeline("rbf", "svdd", "complete_graph", random_state=0),
    "made dense": Pipeline(["log_tfidf", "pca"], "ridge", "threshold", n_clusters=2, random_state=0),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("model", SPARSE.values(), ids=SPARSE)
def test_sparse_samples(model, dtype, tmp_path):
    X = random_array((30, 40), density=0.2, rng=np.random.default_rng(0), dtype=dtype, format="csr")
    X.data = np.ceil(9 * X.data)
    model = clone(model).fit(X)
    model.save(tmp_path / "m.clusterkit")
    again = load(tmp_path / "m.clusterkit")
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict(X[::2] * 1.5), model.predict(X[::2] * 1.5))


@pytest.mark.parametrize("storage", ["dense", "streamed"])
def test_a_space_computes_its_features_when_they_are_needed(storage, tmp_path):
    X = two_groups()
    model = recipe("emmc", n_clusters=2, featuremap__storage=storage, random_state=0).fit(X)
    model.save(tmp_path / "m.clusterkit")
    space = load(tmp_path / "m.clusterkit").space_
    assert type(space) is type(model.space_)
    np.testing.assert_array_equal(space.rows(), model.space_.rows())
    np.testing.assert_array_equal(space.take(np.arange(3)).rows(), model.space_.take(np.arange(3)).rows())


@pytest.mark.parametrize("base", ["cmeans", Pipeline("identity", "centroids", "argmax", init="seeds")])
def test_a_consensus(base):
    X = two_groups()
    check_saving(ConsensusClustering(base=base, n_members=3, random_state=0).fit(X), X)


@pytest.mark.parametrize("classes", [[0, 1], ["left", "right"], [True, False], [3, 1, 2]])
@pytest.mark.parametrize("method", ["row_break", "alpha_beta", "shared", "approximate"])
def test_a_min_max_modular_classifier(classes, method, tmp_path):
    X = two_groups()
    y = np.array(classes)[np.arange(len(X)) * len(classes) // len(X)]
    model = MinMaxModularSVC(predict_method=method, random_state=0).fit(X, y)
    model.save(tmp_path / "m.clusterkit")
    again = load(tmp_path / "m.clusterkit")
    assert again.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(again.decision_function(X + 0.3), model.decision_function(X + 0.3))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("k", [1, 24])
def test_as_few_and_as_many_clusters_as_there_can_be(k):
    X = two_groups()
    check_saving(recipe("kmeans", n_clusters=k, random_state=0).fit(X), X)
