"""Sparse samples that are never made dense: the answers are those of the dense copy."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from clusterkit import Pipeline, recipe
from clusterkit.errors import ClusterkitWarning, InvalidData
from clusterkit.estimators import samples
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.selection import distinct_rows
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.numerics.structures_jit import find_rows


@pytest.fixture
def never_densified(monkeypatch):
    """No sparse samples are made dense."""
    monkeypatch.setattr(samples, "MOST_BYTES", 0)


def counts(seed, n, d, density=0.3, top=4):
    """Term counts with repeated and empty rows."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, top + 1, (n, d)) * (rng.random((n, d)) < density)
    X[rng.integers(n, size=n // 5)] = X[0]
    X[n // 2] = 0
    return X.astype(np.float64)


def topics(seed, n=150):
    """Documents of three vocabularies, some of them mixed."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, 60))
    for i in range(n):
        words = rng.choice(15, rng.integers(9, 15), replace=False) + 20 * rng.integers(3)
        X[i, words] = rng.integers(1, 3, len(words))
        if rng.random() < 0.2:
            X[i, rng.choice(60, 8)] += rng.integers(1, 4, 8)
    X[n // 2], X[:5] = 0, X[7]
    return X


cases = st.builds(counts, st.integers(0, 10**6), st.integers(2, 30), st.integers(1, 40))


@given(cases, st.sampled_from([np.float64, np.float32]))
def test_distances_are_those_of_the_dense_rows(X, dtype):
    rows = SparseRows.of(X.astype(dtype))
    D = np.square(X[:, None] - X[None]).sum(axis=2)
    for A, B in ((rows, rows), (rows, X.astype(dtype)), (X.astype(dtype), rows)):
        distances = squared_distances(A, B)
        assert distances.dtype == np.float64
        np.testing.assert_allclose(distances, D, atol=1e-10)


@given(cases)
def test_rows_are_found_as_among_dense_ones(X):
    rows, half = SparseRows.of(X), X[::2]
    for one, other in zip(distinct_rows(rows), distinct_rows(X), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(find_rows(SparseRows.of(half), rows), find_rows(half, X))


@given(cases)
def test_sums_and_extremes(X):
    rows = SparseRows.of(X)
    np.testing.assert_allclose(rows.squares(), np.square(X).sum(axis=1))
    np.testing.assert_allclose(rows.mean(axis=0), X.mean(axis=0))
    assert rows.variance() == pytest.approx(X.var(), abs=1e-12)
    low, high = rows.extremes()
    np.testing.assert_array_equal(low, X.min(axis=0))
    np.testing.assert_array_equal(high, X.max(axis=0))
    assert rows.min() == X.min()


@given(cases)
def test_isometric_coordinates_keep_distances(X):
    rows = SparseRows.of(X)
    flat = rows.isometric()
    assert flat.shape[1] <= len(X)
    np.testing.assert_allclose(squared_distances(flat, flat), squared_distances(X, X), atol=1e-7)


@pytest.mark.parametrize("gamma", [0.02, 0.1, 0.12, 0.2])
@pytest.mark.parametrize("outliers", ["noise", "nearest", "singleton"])
def test_the_complete_graph_is_that_of_the_dense_copy(never_densified, gamma, outliers):
    X = topics(1)
    parameters = {
        "featuremap__gamma": gamma, "solver__nu": 0.3, "labeler__outliers": outliers, "labeler__min_cluster_size": 1,
    }  # fmt: skip
    dense = recipe("svc", tuner=None, **parameters).fit(X)
    model = recipe("svc", tuner=None, **parameters).fit(scipy.sparse.csr_matrix(X))
    assert isinstance(model.space_.points, SparseRows)
    np.testing.assert_array_equal(model.labels_, dense.labels_)
    new = np.concatenate([topics(100, 60), X[:60] + (np.arange(60) == 7)])
    np.testing.assert_array_equal(model.predict(scipy.sparse.csr_matrix(new)), dense.predict(new))
    np.testing.assert_array_equal(model.predict(new), dense.predict(new))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    if outliers == "noise":
        # so that this is about something: several clusters with narrow kernels, noise with wide ones
        assert (model.labels_.max() >= 1) == (gamma > 0.05)
        assert (model.labels_.min() == -1) == (gamma < 0.05)


@given(cases, st.sampled_from([0.02, 0.1, 0.3]), st.sampled_from([0.1, 0.5]))
def test_any_dense_copy_has_the_same_complete_graph(X, gamma, nu):
    parameters = {"featuremap__gamma": gamma, "solver__nu": max(nu, 1.0 / len(X)), "labeler__outliers": "noise"}
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusterkitWarning)  # all rows equal
        patch.setattr(samples, "MOST_BYTES", 0)
        model = recipe("svc", tuner=None, **parameters).fit(scipy.sparse.csr_matrix(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusterkitWarning)
        dense = recipe("svc", tuner=None, **parameters).fit(X)
    np.testing.assert_array_equal(model.labels_, dense.labels_)


def test_the_tuner_chooses_as_for_the_dense_copy(never_densified):
    rng = np.random.default_rng(0)
    X = np.zeros((120, 60))
    for i in range(120):  # two vocabularies
        X[i, rng.choice(30, 12, replace=False) + 30 * (i % 2)] = 1.0
    model = recipe("svc", random_state=0).fit(scipy.sparse.csr_matrix(X))
    dense = recipe("svc", random_state=0).fit(X)
    assert model.resolved_["featuremap"]["gamma"] == pytest.approx(dense.resolved_["featuremap"]["gamma"], rel=1e-9)
    np.testing.assert_array_equal(model.labels_, dense.labels_)
    np.testing.assert_array_equal(model.labels_, np.arange(120) % 2)


def test_large_working_sets_and_samples(never_densified):
    X = counts(3, 1800, 30, 0.3, 6)
    parameters = {"featuremap__gamma": 0.02, "solver__C": 0.01}
    X = np.unique(X, axis=0)
    model = recipe("svc", tuner=None, **parameters).fit(scipy.sparse.csr_matrix(X))
    dense = recipe("svc", tuner=None, **parameters).fit(X)
    assert model.objective_ == pytest.approx(dense.objective_, rel=1e-5)


@pytest.mark.parametrize(
    ("slots", "blamed"),
    [
        ({"labeler": "equilibrium"}, "labeler 'equilibrium'"),
        ({"solver": "lmsvc"}, "solver 'lmsvc'"),
        ({"solver": "ridge", "labeler": "threshold"}, "solver 'ridge'"),
    ],
)
def test_what_needs_coordinates_says_so(never_densified, slots, blamed):
    from clusterkit import Pipeline

    X = scipy.sparse.csr_matrix(counts(0, 40, 30))
    stages = {"featuremap": "rbf", "solver": "svdd", "balancer": None, "init": "kmeans", **slots}
    with pytest.raises(InvalidData, match=f"{blamed} cannot work on 40 x 30 sparse samples.*'pca'"):
        Pipeline(**stages).fit(X)


def test_a_space_takes_sparse_rows_as_they_are():
    S = scipy.sparse.csr_matrix(np.random.default_rng(0).poisson(0.3, (60, 20)).astype(float))
    model = Pipeline({"name": "pca", "n_components": 3}, "centroids", n_clusters=3, random_state=0).fit(S)
    np.testing.assert_allclose(model.space_.at(S[:5]), model.space_.rows(np.arange(5)), atol=1e-10)
