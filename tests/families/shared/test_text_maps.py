"""log-tf-idf and PCA, dense and sparse, alone and chained."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from oracles.maps import mapped
from sklearn.decomposition import PCA

from clusterkit import Pipeline
from clusterkit.errors import InvalidData
from clusterkit.families.shared.log_tfidf import LogTfIdf
from clusterkit.families.shared.pca import Pca
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import DenseSpace, SparseSpace


def counts(seed, n, d, density=0.4):
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 6, (n, d)) * (rng.random((n, d)) < density)
    X[n // 2] = 0
    return X.astype(np.float64)


cases = st.builds(counts, st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 12))


def weighted(X):
    """The formula, number by number."""
    H = np.zeros(X.shape)
    n = len(X)
    for i, j in np.argwhere(X > 0):
        H[i, j] = (1 + np.log(X[i, j])) * np.log(n / sum(1 for value in X[:, j] if value > 0))
    for i in range(n):
        if (length := np.sqrt(sum(h * h for h in H[i]))) > 0:
            H[i] /= length
    return H


@given(cases, st.sampled_from([np.float64, np.float32]), st.booleans())
def test_log_tfidf_is_the_formula(X, dtype, sparse):
    rows = SparseRows.of(X.astype(dtype)) if sparse else X.astype(dtype)
    space = mapped(LogTfIdf(), rows, 0)
    assert isinstance(space, SparseSpace if sparse else DenseSpace)
    H = space.rows()
    assert H.dtype == dtype
    H = H.toarray() if sparse else H
    np.testing.assert_allclose(H, weighted(X), atol=1e-6 if dtype is np.float32 else 1e-13)
    assert np.all(H >= 0)


def test_log_tfidf_wants_counts():
    with pytest.raises(InvalidData, match=r"'log_tfidf' needs counts, the smallest value is -1"):
        mapped(LogTfIdf(), np.array([[1.0, -1.0]]), 0)


@given(cases, st.integers(1, 14), st.booleans(), st.booleans())
def test_pca_is_the_singular_value_decomposition(X, r, center, sparse):
    space = mapped(Pca(n_components=r, center=center), SparseRows.of(X) if sparse else X, 1)
    H = space.rows()
    r = min(r, *X.shape)
    assert H.shape == (len(X), r)
    centred = X - X.mean(axis=0) * center
    values = np.linalg.svd(centred, compute_uv=False)
    # coordinates are orthogonal and as long as the singular values say, so what they leave out is as small as can be
    np.testing.assert_allclose(H.T @ H, np.diag(values[:r] ** 2), atol=1e-6 * max(1.0, values[0] ** 2))
    axes = space.transform(np.eye(X.shape[1])) - space.transform(np.zeros((1, X.shape[1])))
    np.testing.assert_allclose(axes.T @ axes, np.eye(r), atol=1e-8)


@pytest.mark.parametrize("sparse", [False, True])
def test_pca_coordinates_are_those_of_scikit_learn(sparse):
    X = counts(0, 60, 30)
    space = mapped(Pca(n_components=5), SparseRows.of(X) if sparse else X, 0)
    peer = PCA(5, svd_solver="full").fit_transform(X)
    H = space.rows()
    np.testing.assert_allclose(np.abs(H), np.abs(peer), atol=1e-8)
    np.testing.assert_allclose(space.at(X), H, atol=1e-10)


@pytest.mark.parametrize("center", [True, False])
def test_constant_sparse_rows_have_coordinates(center):
    X = SparseRows.of(np.ones((30, 20)) if center else np.zeros((30, 20)))
    assert not mapped(Pca(n_components=3, center=center), X, 0).rows().any()


def documents(n=120):
    rng = np.random.default_rng(3)
    X = np.zeros((n, 200))
    for i in range(n):
        words = np.concatenate([rng.choice(60, 20, replace=False) + 60 * (i % 3), 180 + rng.choice(20, 5)])
        X[i, words] = rng.integers(1, 4, 25)
    return X


@pytest.mark.parametrize("form", [scipy.sparse.csr_matrix, scipy.sparse.coo_array, np.asarray])
@pytest.mark.parametrize(
    "stages",
    [
        {"featuremap": ["log_tfidf", {"name": "pca", "n_components": 10}], "solver": "centroids", "init": "seeds"},
        {"featuremap": ["log_tfidf", {"name": "pca", "n_components": 10}, "elm"], "solver": "ridge"},
        {"featuremap": "log_tfidf", "solver": "nmf"},
        {"featuremap": "identity", "solver": "nmf"},
        {"featuremap": ["log_tfidf", "rbf"], "solver": "nmf"},
    ],
)
def test_documents_are_clustered_whatever_their_form(form, stages):
    from sklearn.metrics import adjusted_rand_score

    X = form(documents())
    model = Pipeline(**stages, n_clusters=3, random_state=0).fit(X)
    assert adjusted_rand_score(np.arange(120) % 3, model.labels_) > 0.95
    assert model.predict(X).shape == (120,)


def test_a_chain_that_takes_no_sparse_features_is_named_above_the_cap(monkeypatch):
    X = scipy.sparse.csr_matrix(documents())
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "100K")
    with pytest.raises(InvalidData, match=r"featuremap 'chain' must be dense here.*'pca'"):
        Pipeline(["log_tfidf", "zscore"], "centroids", n_clusters=3).fit(X)


def test_few_sparse_samples_are_made_dense():
    X = scipy.sparse.csr_matrix(documents())
    one, other = (Pipeline("identity", "centroids", init="random", n_clusters=3, random_state=0) for _ in range(2))
    np.testing.assert_array_equal(one.fit(X).labels_, other.fit(X.toarray()).labels_)
