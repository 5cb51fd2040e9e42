"""The labelers of trees, against their definitions, scikit-learn's HDBSCAN, and themselves on rows in another order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import trees as oracle
from sklearn.cluster import HDBSCAN, AgglomerativeClustering
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from clusterkit import Pipeline, recipe
from clusterkit.contracts.labelings import by_appearance
from clusterkit.errors import ClusterkitWarning, IncompatibleStages, NeedsMemory
from clusterkit.families.trees.hierarchy_jit import genie
from clusterkit.numerics.spanning_trees.tree import minimum_spanning_tree, tree_of_neighbours

INVARIANT = ("single", "mass_cut", "excess_of_mass")
"""Labelers that read merges of equal height as one."""


def fit(X, labeler, k=None, n_neighbors=5, **parameters):
    stages = {"name": "mst", "n_neighbors": n_neighbors}, {"name": labeler, **parameters}
    return Pipeline("identity", *stages, n_clusters=k).fit(X)


@st.composite
def tables(draw, kinds=("cloud", "blobs", "lattice", "repeated")):
    n, d = draw(st.integers(6, 120)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    kind = draw(st.sampled_from(kinds))
    if kind == "blobs":
        X += 8 * rng.integers(0, 3, size=(n, 1))
    elif kind == "lattice":
        X = rng.integers(0, 6, size=(n, d)).astype(float)
    elif kind == "repeated":
        X = X[rng.integers(0, max(1, n // 2), size=n)]
    return X


@given(X=tables(("cloud", "blobs")), k=st.integers(1, 6), seed=st.integers(0, 99))
def test_single_linkage_is_that_of_scikit_learn_by_number_and_by_height(X, k, seed):
    height = np.append(minimum_spanning_tree(X).weights, 1e9)[len(X) - k]
    theirs = AgglomerativeClustering(k, linkage="single").fit(X).labels_
    for number, parameters in ((k, {}), (None, {"distance_threshold": height})):
        np.testing.assert_array_equal(fit(X, "single", number, 1, **parameters).labels_, by_appearance(theirs))
    pair = np.random.default_rng(seed).choice(len(X), 2, replace=False)
    linked = recipe("single-linkage", labeler__distance_threshold=1e9).fit(X, links=[(*pair, -1)])
    assert np.ptp(linked.labels_[pair]) == 1  # rows that are apart are so at any height


@given(X=tables(("cloud", "blobs")), k=st.integers(1, 8), gini=st.sampled_from([0.0, 0.1, 0.3, 0.7, 1.0]))
def test_genie_is_the_rule_of_the_paper(X, k, gini):
    tree = minimum_spanning_tree(X)
    labels = genie(tree.edges, np.arange(len(X)), k, gini)
    np.testing.assert_array_equal(by_appearance(labels), by_appearance(oracle.genie(tree.edges, len(X), k, gini)))


@given(
    X=tables(),
    labeler=st.sampled_from(INVARIANT),
    k=st.integers(2, 5),
    n_neighbors=st.sampled_from([1, 2, 5]),
    seed=st.integers(0, 99),
)
@pytest.mark.filterwarnings("ignore::clusterkit.errors.ClusterkitWarning")
def test_the_order_of_rows_does_not_matter(X, labeler, k, n_neighbors, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    number, parameters = (None, {"min_cluster_size": 4}) if labeler == "excess_of_mass" else (k, {})
    one = fit(X, labeler, number, n_neighbors, **parameters)
    other = fit(X[order], labeler, number, n_neighbors, **parameters)
    if labeler == "excess_of_mass":
        np.testing.assert_array_equal(by_appearance(one.labels_[order]), by_appearance(other.labels_))
        np.testing.assert_allclose(one.probabilities_[order], other.probabilities_)
        np.testing.assert_allclose(one.outlier_scores_[order], other.outlier_scores_)
    elif len(np.unique(X)) == X.size:  # cuts of equal height and size are taken in the order of the rows
        np.testing.assert_array_equal(by_appearance(one.labels_[order]), by_appearance(other.labels_))


@pytest.mark.parametrize(("n_neighbors", "size"), [(5, 15), (15, 15), (2, 5)])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_clusters_of_scikit_learn(n_neighbors, size, seed):
    moons = make_moons(400, noise=0.08, random_state=seed)[0]
    blobs = make_blobs(500, 3, centers=6, cluster_std=[0.3, 0.5, 1, 1, 1.5, 2], random_state=seed)[0]
    for X in (moons, blobs, np.random.default_rng(seed).uniform(size=(300, 2))):
        theirs = HDBSCAN(min_cluster_size=size, min_samples=n_neighbors, copy=True).fit(X)
        ours = fit(X, "excess_of_mass", None, n_neighbors, min_cluster_size=size)
        both = (theirs.labels_ >= 0) & (ours.labels_ >= 0)
        assert adjusted_rand_score(theirs.labels_[both], ours.labels_[both]) == 1.0
        # a row that joins two clusters at the height of their merge is noise here; theirs puts it into one of them
        assert not ((theirs.labels_ < 0) & (ours.labels_ >= 0)).any()
        assert np.sum((theirs.labels_ >= 0) & (ours.labels_ < 0)) <= 2 * len(np.unique(theirs.labels_))
        assert np.mean(np.abs(theirs.probabilities_ - _relative(theirs, ours))[both] < 1e-9) >= 0.95


def _relative(theirs, ours):
    """Our probabilities in each cluster relative to the same largest density as theirs, which may be up to 10 % lower.

    Rows that join at equal heights come in any order in scikit-learn, and one of them gives a cluster its largest
    density; with version 1.6 that changes all probabilities of one of these clusters by one factor.
    """
    probabilities = ours.probabilities_.copy()
    for cluster in range(ours.labels_.max() + 1):
        rows = ours.labels_ == cluster
        below = rows & (theirs.probabilities_ < 1) & (theirs.probabilities_ > 0) & (ours.probabilities_ > 0)
        factor = np.median(theirs.probabilities_[below] / ours.probabilities_[below]) if below.any() else 1.0
        assert 0.9 < factor < 1.1
        probabilities[rows] = np.minimum(1.0, factor * ours.probabilities_[rows])
    return probabilities


def test_noise_scores_and_memberships():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(80, 2)), rng.normal(size=(80, 2)) + 12, [[40.0, -30.0], [50.0, 50.0]]])
    model = recipe("hdbscan").fit(X)
    assert model.labels_[-2:].tolist() == [-1, -1]
    assert model.labels_.max() == 1
    np.testing.assert_array_equal(model.memberships_.sum(axis=1), model.probabilities_)
    assert (model.probabilities_[model.labels_ < 0] == 0).all()
    assert model.outlier_scores_[-2:].min() > np.median(model.outlier_scores_)
    assert model.predict(np.array([[0.0, 0.1], [12.0, 12.1], [40.0, -31.0], [500.0, 0.0]])).tolist() == [0, 1, -1, -1]


@given(X=tables(), outliers=st.sampled_from(["noise", "nearest"]), seed=st.integers(0, 99))
@pytest.mark.filterwarnings("ignore::clusterkit.errors.ClusterkitWarning")
def test_new_rows_have_the_degrees_of_the_fit_in_the_cluster_of_their_label_alone(X, outliers, seed):
    model = fit(X, "excess_of_mass", min_cluster_size=4, outliers=outliers)
    np.testing.assert_array_equal(model.predict_proba(X), model.memberships_)
    new = X + np.random.default_rng(seed).normal(size=X.shape)
    degrees, labels = model.predict_proba(new), model.predict(new)
    rows, clusters = degrees.nonzero()
    np.testing.assert_array_equal(clusters, labels[rows])


def test_only_hdbscan_has_probabilities():
    model = recipe("mass-cut", n_clusters=2).fit(make_moons(60, random_state=0)[0])
    for name in ("probabilities_", "memberships_", "outlier_scores_", "predict_proba"):
        assert not hasattr(model, name)


def test_a_single_cluster_only_where_it_is_allowed():
    X = np.random.default_rng(3).normal(size=(60, 2))
    with pytest.warns(ClusterkitWarning, match="all 60 rows are noise, label -1: no groups of"):
        assert (fit(X, "excess_of_mass", min_cluster_size=25).labels_ == -1).all()


@pytest.mark.parametrize("case", ["equal rows and one far away", "cloud", "cloud in noise", "square"])
def test_a_single_cluster_has_the_noise_of_scikit_learn(case):
    rng = np.random.default_rng(0)
    X = {
        "equal rows and one far away": np.vstack([np.zeros((30, 2)), [[9.0, 9.0]]]),
        "cloud": rng.normal(size=(200, 2)),
        "cloud in noise": np.vstack([rng.normal(size=(200, 2)), rng.uniform(-20, 20, (5, 2))]),
        "square": rng.uniform(size=(300, 2)),
    }[case]
    theirs = HDBSCAN(min_cluster_size=15, min_samples=5, allow_single_cluster=True, copy=True).fit(X)
    ours = recipe("hdbscan", labeler__allow_single_cluster=True).fit(X)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert 0 < np.sum(ours.labels_ < 0) < len(X)
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)
    assert ours.predict(np.full((1, 2), 1e3)).tolist() == [-1]
    assert (ours.probabilities_[ours.labels_ < 0] == 0).all()


def test_too_few_rows_for_two_clusters_are_noise_with_a_warning():
    X = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.warns(ClusterkitWarning, match="all 10 rows are noise, label -1: two clusters have 30 rows or more by"):
        assert (recipe("hdbscan").fit(X).labels_ == -1).all()
    with pytest.warns(ClusterkitWarning, match="all 10 rows are noise, label -1: a cluster has 15 rows or more by"):
        assert (recipe("hdbscan", labeler__allow_single_cluster=True).fit(X).labels_ == -1).all()


def with_an_outlier(far):
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(60, 2)), rng.normal(size=(30, 2)) * 0.3 + [6, 0], [[far, far]]]
    return np.concatenate(rows), np.repeat([0, 1], [60, 30])


def test_the_mass_cut_is_not_misled_by_an_outlier():
    X, truth = with_an_outlier(40.0)
    assert adjusted_rand_score(truth, recipe("mass-cut", n_clusters=2).fit(X).labels_[:-1]) == 1.0
    assert adjusted_rand_score(truth, recipe("single-linkage", n_clusters=2).fit(X).labels_[:-1]) < 0.5


def test_of_merges_at_one_height_the_cluster_that_begins_earlier_is_cut_off():
    X = np.array([0.0, 1.0, 10.0, 11.0, 20.0, 21.0])[:, None]
    model = Pipeline("identity", {"name": "mst", "n_neighbors": 1}, "single", n_clusters=2).fit(X)
    assert model.labels_.tolist() == [0, 0, 1, 1, 0, 0]


def test_an_edge_with_few_rows_on_a_side_is_cut_last_however_large_its_mass():
    X, truth = with_an_outlier(1e60)
    labels = Pipeline("identity", {"name": "mst", "n_neighbors": 1}, "mass_cut", n_clusters=2).fit(X).labels_
    assert adjusted_rand_score(truth, labels[:-1]) == 1.0


@pytest.mark.parametrize("name", ["mass-cut", "genie", "single-linkage"])
def test_more_clusters_than_distinct_rows_are_told(name):
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]], 4, axis=0)
    with pytest.warns(ClusterkitWarning, match="3 of the 6 clusters that were asked for have rows"):
        labels = recipe(name, n_clusters=6).fit(X).labels_
    assert all(len(set(group)) == 1 for group in labels.reshape(3, 4))


@pytest.mark.parametrize("labeler", [*INVARIANT, "genie"])
def test_new_rows_and_the_samples_themselves(labeler):
    X, truth = make_blobs(700, 2, centers=[[0, 0], [20, 0], [0, 20]], random_state=0)
    model = fit(X, labeler, None if labeler == "excess_of_mass" else 3)
    assert adjusted_rand_score(truth, model.labels_) > 0.98
    assert model.exact_on_training_
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    new, belongs = make_blobs(200, 2, centers=[[0, 0], [20, 0], [0, 20]], cluster_std=0.5, random_state=1)
    assert adjusted_rand_score(belongs, model.predict(new)) > 0.98


def test_a_mapped_row_alone_has_the_label_of_the_same_row_among_others():
    """The map of one row rounds otherwise than that of many, and a new row counts one neighbour more."""
    for seed in range(30):
        X = np.random.default_rng(seed).normal(size=(20, 3)) ** 2 + np.repeat([[0.0], [5.0]], 10, axis=0)
        model = Pipeline(featuremap="pca", solver="mst", labeler="single", n_clusters=2).fit(X)
        assert [model.predict(row[None])[0] for row in X] == list(model.labels_)


def test_auto_labelers_of_a_tree():
    X = make_moons(100, random_state=0)[0]
    assert Pipeline("identity", "mst").fit(X).resolved_["labeler"]["name"] == "excess_of_mass"
    assert Pipeline("identity", "mst", n_clusters=2).fit(X).resolved_["labeler"]["name"] == "mass_cut"


def test_what_does_not_fit_is_refused():
    X = make_moons(100, random_state=0)[0]
    with pytest.raises(IncompatibleStages, match="reads Tree"):
        Pipeline("identity", "centroids", "single", n_clusters=2).fit(X)
    with pytest.raises(IncompatibleStages, match="excess_of_mass"):
        recipe("hdbscan", n_clusters=2).fit(X)


def test_too_many_rows_for_the_memory_cap_are_refused_before_any_work(monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "100K")
    with pytest.raises(NeedsMemory, match="spanning tree"):
        recipe("hdbscan").fit(np.random.default_rng(0).normal(size=(2000, 3)))


def test_core_distances_reach_no_further_than_the_samples():
    X = np.random.default_rng(0).normal(size=(8, 2))
    with pytest.warns(ClusterkitWarning, match="n_neighbors=50 is more than the 8 rows"):
        model = fit(X, "single", 2, n_neighbors=50)
    assert model.resolved_["solver"]["n_neighbors"] == 8
    assert model.outcome_.n_neighbors == 8


@given(seed=st.integers(0, 2**31 - 1), n_neighbors=st.integers(1, 6))
def test_the_tree_of_all_neighbours_is_the_tree_of_all_pairs(seed, n_neighbors):
    X = np.random.default_rng(seed).normal(size=(40, 6))
    tree, facts = tree_of_neighbours(X, n_neighbors, 39, np.random.default_rng(0))
    exact = minimum_spanning_tree(X, n_neighbors)
    assert facts == {"neighbours": "exact", "components": 1}
    np.testing.assert_allclose(tree.core_distances, exact.core_distances)
    np.testing.assert_allclose(tree.weights, exact.weights)


def test_hdbscan_and_genie_run_on_the_edges_to_few_neighbours():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=400)
    X = (5 * np.eye(4, 64)[y] + 0.2 * rng.normal(size=(400, 64))).astype(np.float32)
    X[:20] = X[20]  # equal rows
    y[:20] = y[20]
    model = recipe("hdbscan", solver__edges=10, metric="cosine").fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert model.resolved_["solver"] == {"neighbours": "exact", "components": 4}
    for name in ("genie", "mass-cut"):
        model = recipe(name, n_clusters=4, solver__edges=10, metric="cosine").fit(X)
        assert adjusted_rand_score(y, model.labels_) == 1.0
        np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_clusters_that_genie_cuts_are_told_with_the_recipe_that_finds_them():
    """The data of genieclust's issue 91; of even sizes nothing is said."""
    sizes, centers = (1000, 100, 100), [(0, 0), (8, 8), (-8, 8)]
    X, y = make_blobs(sizes, centers=centers, cluster_std=0.3, random_state=4)
    with pytest.warns(ClusterkitWarning, match="clusters of 1000, 100, 100 rows, .*'mass-cut'"):
        labels = recipe("genie", n_clusters=3).fit(X).labels_
    assert adjusted_rand_score(y, labels) < 0.2
    assert adjusted_rand_score(y, recipe("mass-cut", n_clusters=3).fit(X).labels_) == 1.0
    recipe("genie", n_clusters=3).fit(make_blobs((100, 100, 100), centers=centers, random_state=4)[0])
