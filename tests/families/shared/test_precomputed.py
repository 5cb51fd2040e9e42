"""A matrix in place of coordinates, or made of them: the same clusters, one error for each wrong matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV

from clusterkit import Auto, explain, load, recipe, search
from clusterkit.errors import IncompatibleStages, InvalidData, InvalidParameter
from clusterkit.families.shared.precomputed import METRICS

X, y = make_blobs(120, centers=3, random_state=0, cluster_std=1.2)
NEW = X[:30] + 0.1
D, D_NEW = cdist(X, X), cdist(NEW, X)
GAMMA = 0.3
K, K_NEW = np.exp(-GAMMA * D**2), np.exp(-GAMMA * D_NEW**2)


def distances(name="hdbscan", **parameters):
    return recipe(name, metric="precomputed", **parameters)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("hdbscan", {}),
        ("hdbscan", {"labeler__outliers": "nearest"}),
        ("genie", {"n_clusters": 3}),
        ("mass-cut", {"n_clusters": 3}),
        ("single-linkage", {"n_clusters": 3}),
    ],
)
@pytest.mark.parametrize("links", [None, [(0, 5, 1), (1, 8, -1)]])
def test_trees_of_distances_are_those_of_coordinates(name, parameters, links):
    plain, model = recipe(name, **parameters).fit(X, links=links), distances(name, **parameters).fit(D, links=links)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.predict(D_NEW), plain.predict(NEW))
    assert model.resolved_["featuremap"] == {"matrix": "distances"}


@pytest.mark.parametrize("factor", [1e200, 1e300, 1e-200])
def test_distances_beyond_the_range_of_squares_give_the_same_tree(factor):
    plain, model = (distances("genie", n_clusters=3).fit(M) for M in (D, factor * D))
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.predict(factor * D_NEW), plain.predict(D_NEW))
    np.testing.assert_array_equal(distances().fit(factor * D).labels_, distances().fit(D).labels_)


@pytest.mark.parametrize(
    ("name", "M", "message"),
    [
        ("genie", 1e306 * D, "sums of distances above 9e[+]304 overflow float64"),
        ("kernel-kmeans", 1e200 * K, "products of kernel values above 3e[+]152 overflow float64"),
    ],
)
def test_the_reason_why_values_are_too_large_is_what_is_made_of_them(name, M, message):
    with pytest.raises(InvalidData, match=message):
        distances(name, n_clusters=3).fit(M)


@given(seed=st.integers(0, 2**31), metric=st.sampled_from(METRICS))
def test_single_linkage_by_any_metric_is_that_of_scipy(seed, metric):
    rows = np.random.default_rng(seed).integers(0, 3, size=(30, 5)) + np.eye(5)[0] / 2  # some equal, none all equal
    seen = rows.astype(bool) if metric in ("dice", "jaccard") else rows
    tree = linkage(seen, "single", {"manhattan": "cityblock"}.get(metric, metric))
    height = tree[seed % 29, 2] + 1e-9
    model = recipe("single-linkage", featuremap="distances", featuremap__metric=metric)
    model.set_params(labeler__distance_threshold=height).fit(rows)
    assert adjusted_rand_score(fcluster(tree, height, "distance"), model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(rows), model.labels_)


def test_rows_are_explained_by_their_columns_and_those_without_a_distance_are_refused():
    model = recipe("single-linkage", featuremap="distances", n_clusters=2).fit(np.repeat([[0, 1, 1], [9, 1, 1]], 9, 0))
    assert explain(model, [[1, 1, 1]])[0].columns[0].column == "x0"
    with pytest.raises(InvalidData, match="row 3 has no distance by metric='correlation'"):
        recipe("hdbscan", featuremap="distances", featuremap__metric="correlation").fit([*np.eye(3), [1, 1, 1]])


@pytest.mark.parametrize("name", ["kernel-kmeans", "kmeans", "kernel-nmf", "gmmc", "ncut"])
def test_kernel_methods_on_a_matrix_are_those_on_its_kernel(name):
    parameters = {"n_clusters": 2, "random_state": 0}
    plain = recipe(name, featuremap="rbf", featuremap__gamma=GAMMA, **parameters).fit(X)
    model = distances(name, **parameters).fit(K)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    if hasattr(plain, "predict"):
        np.testing.assert_array_equal(model.predict(K_NEW), plain.predict(NEW))


def test_the_neighbours_of_ncut_are_those_of_the_largest_values():
    plain = recipe("ncut", featuremap="rbf", featuremap__gamma=GAMMA, solver__n_neighbors=7, n_clusters=3).fit(X)
    np.testing.assert_array_equal(distances("ncut", solver__n_neighbors=7, n_clusters=3).fit(K).labels_, plain.labels_)


@pytest.mark.parametrize(("model", "M"), [(distances(), D), (distances("kernel-kmeans", n_clusters=3), K)])
def test_a_saved_model_predicts(model, M, tmp_path):
    model.fit(M).save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(M[:20]), model.labels_[:20])


def test_a_cross_validation_cuts_rows_and_columns():
    grid = {"labeler__gini": [0.3, 0.8]}
    scores = [
        GridSearchCV(model, grid, scoring="adjusted_rand_score", cv=2).fit(rows, y).cv_results_["mean_test_score"]
        for model, rows in ((recipe("genie", n_clusters=3), X), (distances("genie", n_clusters=3), D))
    ]
    np.testing.assert_array_equal(*scores)


def changed(M, i, j, value):
    M = M.copy()
    M[i, j] = value
    return M


@pytest.mark.parametrize(
    ("M", "message"),
    [
        (X, "has a row and a column for each sample, and this one has the shape 120 x 2"),
        (changed(D, 3, 4, 99.0), "is symmetric, and the value of rows 3 and 4 is 99 in one half"),
        (changed(D, 3, 3, 0.5), "the distance of row 3 to itself is 0.5. Set it to 0"),
        (changed(D, 3, 4, -1.0), "has no negative values, and rows 3 and 4 have -1"),
        (changed(D, 3, 4, np.nan), "X has NaN in 1 of 120 rows, in column 5"),
        (K, "It looks like similarities"),
        (csr_array(D), "must be a dense matrix: what a sparse one leaves out would be 0"),
    ],
)
def test_a_matrix_that_holds_no_distances_is_refused(M, message):
    with pytest.raises(InvalidData, match=message):
        distances().fit(M)


@pytest.mark.parametrize(
    ("M", "message"), [(D, "It looks like distances"), (-K, "no negative values on the diagonal, and row 0 has -1")]
)
def test_a_matrix_that_holds_no_kernel_is_refused(M, message):
    with pytest.raises(InvalidData, match=message):
        distances("kernel-kmeans", n_clusters=2).fit(M)


def test_rounding_of_a_matrix_is_evened_out():
    noise = 1e-12 * np.random.default_rng(0).normal(size=D.shape)
    np.fill_diagonal(noise, 0.0)
    np.testing.assert_array_equal(distances().fit(np.abs(D + noise)).labels_, distances().fit(D).labels_)


def test_new_rows_are_values_between_them_and_the_rows_of_the_fit():
    model = distances("genie", n_clusters=3).fit(D)
    with pytest.raises(InvalidData, match="new rows are the distances between them and the 120 rows of the fit"):
        model.predict(X)
    with pytest.raises(InvalidData, match="distances of new rows are not negative, and there is -1"):
        model.predict(changed(D_NEW, 2, 2, -1.0))
    with pytest.raises(InvalidData, match="score without y compares the distances between new rows"):
        model.score(D)


@pytest.mark.parametrize(
    ("fit", "error", "message"),
    [
        (lambda: Auto(metric="precomputed").fit(D), InvalidParameter, "recipes take distances: genie, hdbscan, "),
        (lambda: distances("svc").fit(K), IncompatibleStages, "solver 'svdd' works on coordinates. These recipes take"),
        (lambda: distances("spectral", n_clusters=2).fit(K), IncompatibleStages, "featuremap 'graph' maps coordinates"),
        (lambda: recipe("svc", featuremap={"name": "precomputed", "matrix": "kernel"}).fit(K), IncompatibleStages,
         "'precomputed' has no coordinates, and the region that solver 'svdd' finds lies among them"),
        (lambda: recipe("hdbscan", featuremap=["zscore", "precomputed"]).fit(D), IncompatibleStages, "so stands alone"),
        (lambda: distances(solver__edges=15).fit(D), InvalidParameter, "edges=15 searches neighbours among"),
        (lambda: distances("genie", n_clusters="auto").fit(D), InvalidParameter, "compares numbers by coordinates"),
        (lambda: search(distances("genie"), {"n_clusters": [2, 3]}, D), InvalidParameter, "search compares candidates"),
    ],
)  # fmt: skip
def test_what_needs_coordinates_says_what_takes_a_matrix(fit, error, message):
    with pytest.raises(error, match=message):
        fit()
