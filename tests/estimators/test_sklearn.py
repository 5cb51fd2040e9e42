"""Every recipe is a scikit-learn estimator."""

import io

import joblib
import numpy as np
import pytest
from oracles.recipes import EACH_CLASS, NAMES, OF_EACH_CLASS, small
from scikit_learn_checks import SETS_K, run_checks
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clusterkit import Pipeline, recipe
from clusterkit.drivers.compose import resolve

TAGS_OF_CLASSIFIERS = "the check asks a clusterer that has predict_proba for the tags of a classifier"
FINDS_K = "the checks set n_clusters, which this recipe finds; the same checks run without that parameter below"
TWO = "check_clustering sets three clusters, this recipe makes two"


class FindsK(Pipeline):
    """A pipeline without the parameter n_clusters, so that the checks cannot set it."""

    def __init__(self, featuremap="rbf", solver="svdd", labeler="complete_graph", random_state=None):
        super().__init__(featuremap, solver, labeler, random_state=random_state)
        del self.n_clusters, self.balancer, self.init, self.tuner, self.n_init, self.max_iter, self.verbose, self.metric

    balancer = init = "auto"
    tuner, n_init, max_iter, verbose, metric = None, 1, 100, False, "euclidean"


def expected(estimator) -> dict[str, str]:
    if isinstance(estimator, FindsK):
        return {}
    labeler = getattr(estimator, "labeler", "auto")
    labeler = resolve("labeler", "argmax" if labeler == "auto" else labeler)
    if labeler.name == "layers" or getattr(estimator, "_recipe", "") in ("fuzzy-cmeans", "lapgmm", "mixture"):
        return dict.fromkeys(("check_estimator_sparse_array", "check_estimator_sparse_matrix"), TAGS_OF_CLASSIFIERS)
    if labeler.finds_k:
        return dict.fromkeys(SETS_K, FINDS_K)
    return {"check_clustering": TWO} if labeler.max_clusters == 2 else {}


REPEATED = {"check_estimator_sparse_matrix"}
"""What shows the same as another check: sparse matrices go where sparse arrays go."""


# some checks fit without a seed: on so few rows a tuner may then choose a kernel that tells no rows apart, and a
# mixture may end with a component that is nowhere the most likely
@pytest.mark.filterwarnings("ignore:with gamma.*numerically")
@pytest.mark.filterwarnings("ignore:tuner 'svc_auto'. no partition qualified")
@pytest.mark.filterwarnings("ignore:solver 'lapgmm'.*components are nowhere the most likely")
@pytest.mark.filterwarnings("ignore:featuremap 'unit'. [0-9]+ of .* rows have no direction")
@pytest.mark.filterwarnings("ignore:rows of 2 columns that are scaled to length 1")
@pytest.mark.parametrize("name", ["without n_clusters", *EACH_CLASS])
def test_scikit_learn_checks(name):
    estimator = small(name) if name in NAMES else FindsK()
    run_checks(estimator, expected(estimator), REPEATED if name in OF_EACH_CLASS else ())


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([30, 30], n_features=3, random_state=1, cluster_std=0.6)


@pytest.mark.parametrize("name", NAMES)
class TestEveryRecipe:
    def test_clone_keeps_parameters_and_ends_a_pipeline_of_scikit_learn(self, name, blobs):
        model = small(name)
        assert repr(clone(model).get_params(deep=False)) == repr(model.get_params(deep=False))
        labels = make_pipeline(StandardScaler(), model).fit_predict(blobs[0])
        assert labels.shape == (60,)

    def test_describes_its_fit_and_predicts_the_same_after_dumping_and_loading(self, name, blobs):
        X, _ = blobs
        fitted = small(name).fit(X)
        assert fitted.n_iter_ >= 1
        assert fitted.converged_ in (True, False)
        assert fitted.stop_reason_
        assert fitted.history_.ndim == 1
        assert fitted.n_features_in_ == 3
        assert set(fitted.resolved_) <= {"auto", "featuremap", "solver", "labeler", "balancer", "tuner"}
        file = io.BytesIO()
        joblib.dump(fitted, file)
        file.seek(0)
        loaded = joblib.load(file)
        np.testing.assert_array_equal(loaded.labels_, fitted.labels_)
        if fitted._why_not_inductive() is None:
            np.testing.assert_array_equal(loaded.predict(X[::2] + 0.01), fitted.predict(X[::2] + 0.01))
        np.testing.assert_allclose(loaded.space_.coordinates(X), fitted.space_.coordinates(X))


def test_grid_search_over_stages_and_their_parameters(blobs):
    X, y = blobs
    grid = {"solver__C": [0.1, 10.0], "featuremap__n_hidden": [5, 20], "labeler": ["threshold", "argmax"]}
    search = GridSearchCV(recipe("emmc", n_clusters=2, random_state=0), grid, scoring="adjusted_rand_score", cv=2)
    search.fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_estimator_.solver.C in (0.1, 10.0)


@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.deep)])
def test_grid_search_over_solvers(blobs, n_jobs):
    X, y = blobs
    grid = [{"solver": ["ridge", "centroids"], "labeler": ["argmax"]}]
    model = Pipeline(n_clusters=2, random_state=0)
    search = GridSearchCV(model, grid, scoring="adjusted_rand_score", cv=2, n_jobs=n_jobs)
    assert search.fit(X, y).best_score_ > 0.9


def test_data_frames_give_feature_names():
    pandas = pytest.importorskip("pandas")
    X = make_blobs([20, 20], n_features=2, random_state=0)[0]
    frame = pandas.DataFrame(X, columns=["a", "b"])
    model = recipe("kmeans", n_clusters=2, random_state=0).fit(frame)
    assert list(model.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "c"}))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_in_another_order_are_refused_as_by_scikit_learn(library):
    from sklearn.cluster import KMeans

    module = pytest.importorskip(library)
    X = make_blobs([20, 20], n_features=2, random_state=0)[0]
    frame = module.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    messages = []
    for model in (recipe("kmeans", n_clusters=2, random_state=0), KMeans(2)):
        with pytest.raises(ValueError, match="in the same order") as caught:
            model.fit(frame).predict(frame[["b", "a"]])
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_float32_stays_float32(blobs):
    X = blobs[0].astype(np.float32)
    model = recipe("emmc", n_clusters=2, random_state=0).fit(X)
    assert model.space_.dtype == np.float32
    assert model.space_.at(X).dtype == np.float32
    np.testing.assert_array_equal(model.labels_, recipe("emmc", n_clusters=2, random_state=0).fit(blobs[0]).labels_)
