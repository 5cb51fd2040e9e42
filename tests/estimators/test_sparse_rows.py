"""Sparse samples that are never made dense: the answers are those of the dense copy."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from clusterkit import Pipeline
from clusterkit.errors import InvalidData
from clusterkit.estimators import samples
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.selection import distinct_rows
from clusterkit.numerics.sparse_rows import SparseRows


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
def test_distinct_rows_are_those_of_dense_ones(X):
    rows = SparseRows.of(X)
    for one, other in zip(distinct_rows(rows), distinct_rows(X), strict=True):
        np.testing.assert_array_equal(one, other)


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


@pytest.mark.parametrize(
    ("slots", "blamed"),
    [
        ({}, "solver 'svdd' and labeler 'complete_graph'"),
        ({"solver": "lmsvc"}, "solver 'lmsvc' and labeler 'complete_graph'"),
        ({"solver": "ridge", "labeler": "threshold"}, "solver 'ridge'"),
    ],
)
def test_what_needs_coordinates_says_so(never_densified, slots, blamed):
    from clusterkit import Pipeline

    X = scipy.sparse.csr_matrix(counts(0, 40, 30))
    stages = {"featuremap": "rbf", "solver": "svdd", "labeler": "complete_graph", "balancer": None, "init": "kmeans"}
    stages |= slots
    with pytest.raises(InvalidData, match=f"{blamed} cannot work on 40 x 30 sparse samples.*'pca'"):
        Pipeline(**stages).fit(X)


def test_a_space_takes_sparse_rows_as_they_are():
    S = scipy.sparse.csr_matrix(np.random.default_rng(0).poisson(0.3, (60, 20)).astype(float))
    model = Pipeline({"name": "pca", "n_components": 3}, "centroids", n_clusters=3, random_state=0).fit(S)
    np.testing.assert_allclose(model.space_.at(S[:5]), model.space_.rows(np.arange(5)), atol=1e-10)
