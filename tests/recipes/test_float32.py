import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import clusterkit
from clusterkit import recipe
from clusterkit.contracts.seeds import Seeds
from clusterkit.fitting.fit import fit
from clusterkit.fitting.samples import EngineSamples
from clusterkit.samples.device_engine import DeviceEngine
from clusterkit.samples.engines import LocalEngine
from clusterkit.samples.rows import SlicedRows
from clusterkit.testing.compare import DEVICE, small_groups

pytestmark = [
    pytest.mark.filterwarnings("ignore:columns are in different units"),
    pytest.mark.filterwarnings("ignore:with gamma = .* numerically constant"),
]


def far_rows(n: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Three narrow clusters, and three rows so far away that their squares leave float32 no digit for the others."""
    rng, classes = np.random.default_rng(0), np.r_[np.repeat([0, 1, 2], n), 3, 3, 3]
    X = rng.normal(0.0, 0.01, (3 * n, 8)) + np.eye(8)[2 * classes[:-3]] * 0.05
    return np.vstack([X, np.full((3, 8), 300.0)]).astype(np.float32), classes


def far_apart(n: int = 100, d: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Clusters at -1000, 1000 and 1001."""
    rng, classes = np.random.default_rng(0), np.repeat([0, 1, 2], n)
    X = rng.normal(0.0, 0.1, (3 * n, d))
    X[:, 0] += np.array([-1000.0, 1000.0, 1001.0])[classes]
    return X.astype(np.float32), classes


def metres(n: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Clusters some metres wide, as coordinates of a map: the distance from the origin is a million times as large."""
    rng, classes = np.random.default_rng(0), np.repeat([0, 1, 2], n)
    X = np.array([5e5, 5.8e6]) + np.array([[0, 0], [30, 0], [0, 40]])[classes] + rng.normal(0.0, 2.0, (3 * n, 2))
    return X.astype(np.float32), classes


TABLES = {"far rows": far_rows, "far apart": far_apart, "six columns": lambda: far_apart(d=6), "metres": metres}
PLACES = {"by passes": LocalEngine(), "on a device": DeviceEngine(DEVICE)}


def same_fit(narrow, wide):
    """Whether a model of float32 rows has the labels and the objective of one of float64 rows."""
    assert adjusted_rand_score(narrow.labels_, wide.labels_) == 1.0
    assert narrow.objective_ == pytest.approx(wide.objective_, rel=1e-5)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", ["kmeans", "fuzzy-cmeans", "kernel-kmeans", "equal-clustering"])
def test_float32_rows_are_clustered_as_in_float64(name, table):
    X, classes = TABLES[table]()
    k = int(classes.max()) + 1
    models = [recipe(name, n_clusters=k, random_state=0).fit(rows) for rows in (X, X.astype(float))]
    same_fit(*models)
    assert np.array_equal(models[0].predict(X), models[0].labels_)


@pytest.mark.parametrize("table", TABLES)
def test_kmeans_of_float32_finds_the_clusters_and_the_sum_of_squares(table):
    X, classes = TABLES[table]()
    model = recipe("kmeans", n_clusters=int(classes.max()) + 1, random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, classes) == 1.0
    groups = [X[model.labels_ == label].astype(float) for label in range(int(classes.max()) + 1)]
    exact = sum(((rows - rows.mean(axis=0)) ** 2).sum() for rows in groups)
    assert model.inertia_ == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("table", ["far rows", "far apart", "metres"])
@pytest.mark.parametrize("name", ["kmeans", "fuzzy-cmeans"])
def test_float32_rows_outside_memory_are_clustered_as_in_float64(name, table, place):
    if place == "on a device":
        pytest.importorskip("array_api_strict", reason="array-api-strict simulates devices")
    X, classes = TABLES[table]()
    composition = recipe(name, n_clusters=int(classes.max()) + 1, n_init=4, random_state=0).composition()
    with small_groups(128):  # starts and sums are those of many rows
        narrow = fit(composition, EngineSamples(SlicedRows(X), PLACES[place]), Seeds.of(0))
        wide = fit(composition, X.astype(float), Seeds.of(0))
    assert adjusted_rand_score(narrow.labels, wide.labels) == 1.0
    assert narrow.objective == pytest.approx(wide.objective, rel=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_with_a_code_for_missing_values_hide_no_cluster(dtype):
    """An allowance for rounding from the farthest row would count all distances of the others as 0."""
    rng, classes = np.random.default_rng(0), np.repeat([0, 1, 2, 3], [100, 100, 100, 3])
    X = rng.normal(size=(303, 2)) + np.array([[0, 0], [20, 0], [0, 20], [-99_999_999, -99_999_999]])[classes]
    model = recipe("kmeans", n_clusters=4, random_state=0).fit(X.astype(dtype))
    assert adjusted_rand_score(model.labels_, classes) == 1.0
    weights = np.where(classes == 3, 0.5, 2.0)
    assert adjusted_rand_score(model.fit(X.astype(dtype), sample_weight=weights).labels_, classes) == 1.0


def test_sizes_are_balanced_by_float64_distances_of_float32_rows():
    X, _ = far_apart(d=6)
    models = [
        recipe("kmeans", n_clusters=3, balancer="transport", n_init=2, random_state=0).fit(rows)
        for rows in (X, X.astype(float))
    ]
    same_fit(*models)


def test_files_of_float32_have_the_labels_of_memory(tmp_path):
    X, classes = far_rows()
    np.save(tmp_path / "x.npy", X)
    with small_groups(128):
        model = recipe("kmeans", n_clusters=4, random_state=0).fit(clusterkit.open(tmp_path / "x.npy"))
    assert adjusted_rand_score(model.labels_, classes) == 1.0
