"""The warning about columns in different units: once a fit, for who called it, and only where nothing scales."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from clusterkit import Auto, ConsensusClustering, Pipeline, compare, recipe, search
from clusterkit.errors import UnitsWarning
from clusterkit.numerics.distances import differing_units


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return np.repeat([[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]], 20, axis=0) + rng.normal(size=(40, 3))


@pytest.fixture
def mixed(X):
    return X * [1.0, 500.0, 0.01]


def of(action):
    """The warnings about units, with the file that they are attributed to."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [each for each in caught if issubclass(each.category, UnitsWarning)]


@pytest.mark.parametrize(
    "model",
    [
        recipe("kmeans", n_clusters=2),
        recipe("svc"),
        recipe("kmeans", n_clusters=2, featuremap="pca"),
        recipe("emmc-multistart", n_clusters=2, n_maps=2, featuremap__scale=None, featuremap__width=1e-6),
        Auto(n_clusters=2, pool=["kmeans"]),
        ConsensusClustering(n_members=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_columns_and_remedy_are_named(model, mixed):
    for action in (lambda: model.fit(mixed), lambda: model.fit_predict(mixed)):
        [warning] = of(action)
        assert warning.filename == __file__
        text = str(warning.message)
        assert "the standard deviation of column 2 is 2.3" in text
        assert "that of column 3 0.04" in text
        assert "columns 3, 1 hardly count" in text
        assert "scale them" in text


def test_names_of_a_data_frame(mixed):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(mixed, columns=["age", "income", "share"])
    with pytest.warns(UnitsWarning, match="columns share, age hardly count"):
        recipe("kmeans", n_clusters=2).fit(frame)


@pytest.mark.parametrize(
    "model",
    [
        recipe("emmc", n_clusters=2),
        recipe("kmeans", n_clusters=2, featuremap="minmax"),
        recipe("kmeans", n_clusters=2, featuremap=["zscore", "pca"]),
        recipe("kernel-kmeans", n_clusters=2, featuremap=["zscore", "rbf"]),
    ],
    ids=["emmc", "minmax", "zscore and pca", "zscore and kernel"],
)
def test_compositions_that_scale_are_silent(model, mixed):
    assert of(lambda: model.fit(mixed)) == []


def test_comparable_columns_are_silent(X):
    for data in (X, X * [1.0, 9.0, 3.0], X[:, :1], np.c_[X, np.ones(40)], X.astype(np.float32)):
        assert of(lambda data=data: recipe("kmeans", n_clusters=2).fit(data)) == []


def test_a_search_and_a_comparison_warn_once(mixed):
    for score in ("silhouette", "auto"):
        [warning] = of(lambda score=score: search("kmeans", {"n_clusters": [2, 3]}, mixed, score, random_state=0))
        assert warning.filename == __file__
    assert of(lambda: search("emmc", {"n_clusters": [2, 3]}, mixed, "silhouette", random_state=0)) == []
    [warning] = of(lambda: compare({"a": "kmeans", "b": "cmeans"}, mixed, n_clusters=2, random_state=0))
    assert warning.filename == __file__
    assert "featuremap=['zscore', ...]" in str(warning.message)
    assert of(lambda: compare({"a": "emmc", "b": np.zeros(40, int)}, mixed, n_clusters=2, random_state=0)) == []
    [warning] = of(lambda: compare({"auto": Auto(n_clusters=2, pool=["kmeans"])}, mixed, random_state=0))
    assert "pass a data frame" in str(warning.message)


def test_fits_inside_the_library_are_silent(mixed):
    assert len(of(lambda: Pipeline(init="kmeans", n_clusters=2, featuremap="identity", balancer=None).fit(mixed))) == 1
    assert (
        len(
            of(
                lambda: recipe("emmc", n_clusters=2, init="cmeans", featuremap__scale=None, featuremap__width=1e-6).fit(
                    mixed
                )
            )
        )
        == 1
    )


def test_a_grid_search_warns_once(mixed):
    grid = GridSearchCV(recipe("kmeans", n_clusters=2), {"n_init": [1, 2]}, scoring="adjusted_rand_score", cv=2)
    assert len(of(lambda: grid.fit(mixed, np.repeat([0, 1], 20)))) == 1


def test_pixels_are_in_one_unit():
    from sklearn.datasets import load_digits

    assert of(lambda: recipe("kmeans", n_clusters=3, random_state=0).fit(load_digits().data[:300])) == []


@pytest.mark.parametrize(
    ("low", "high", "spread", "pair"),
    [
        ([0, 0], [1, 11], [0.1, 1.1], (1, 0)),
        ([0, 0], [1, 11], [0.1, 0.9], None),
        ([0, 5], [1, 5], [0.1, 0.0], None),
        ([0, 0, 0], [16, 16, 1], [5.0, 4.0, 0.01], None),
        ([0, 0, 0, 1], [16, 9, 1, 2], [5.0, 4.0, 0.01, 0.3], (0, 2)),
    ],
)
def test_which_columns_differ(low, high, spread, pair):
    assert differing_units(*(np.array(values, dtype=float) for values in (low, high, spread))) == pair


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_few_rows_of_one_unit_show_no_others(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 120))
    model = recipe("kmeans", n_clusters=1)
    assert not of(lambda: model.fit(X))
    assert not of(lambda: recipe("embeddings").fit(X))
    assert of(lambda: model.fit(X[:, :2] * [1.0, 1e5]))
