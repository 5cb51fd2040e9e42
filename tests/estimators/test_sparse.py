"""Sparse samples: taken where the map allows it, with the labels of their dense copy."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import make_blobs

from clusterkit import Pipeline, recipe
from clusterkit.errors import InvalidData, NeedsMemory

FORMATS = [scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array]


@pytest.fixture(scope="module")
def rows():
    X = make_blobs([40, 40], 5, random_state=0)[0]
    X[np.abs(X) < 2] = 0
    return X


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", FORMATS)
def test_a_kernel_takes_sparse_rows(rows, form, dtype):
    X = rows.astype(dtype)
    model = recipe("svc", featuremap__gamma=0.05, solver__nu=0.1).fit(form(X))
    dense = recipe("svc", featuremap__gamma=0.05, solver__nu=0.1).fit(X)
    np.testing.assert_array_equal(model.labels_, dense.labels_)
    np.testing.assert_array_equal(model.predict(form(X)), model.labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.space_.points.dtype == dtype
    assert model.space_.dtype == np.float64


def test_others_refuse_large_ones(rows, monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "3K")
    with pytest.raises(InvalidData, match="sparse samples"):
        recipe("emmc", n_clusters=2).fit(scipy.sparse.csr_matrix(rows))
    with pytest.raises(InvalidData, match="sparse samples"):
        Pipeline(featuremap=["zscore", "rbf"], solver="svdd").fit(scipy.sparse.csr_matrix(rows))


def test_samples_that_must_become_dense_are_refused_above_the_cap(monkeypatch):
    X = scipy.sparse.random(200, 1000, 0.01, format="csr", random_state=0)
    model = recipe("svc", tuner=None).fit(X)
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "1M")
    with pytest.raises(NeedsMemory, match=r"dense copy of the 200 x 1000 sparse samples needs 1,600,000 bytes.*parts"):
        model.predict(X)


def test_samples_that_stay_sparse_are_refused(monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "1.5M")
    X = scipy.sparse.random(200, 1000, 0.01, format="csr", random_state=0)
    with pytest.raises(InvalidData, match=r"'svdd' and labeler 'complete_graph' cannot work on 200 x 1000 sparse"):
        recipe("svc", tuner=None).fit(X)
    with pytest.raises(InvalidData, match="the tuner cannot work on 200 x 1000 sparse samples"):
        recipe("svc").fit(X)


def test_a_missing_value_in_sparse_rows_is_named():
    X = scipy.sparse.csr_matrix(np.array([[0.0, np.nan], [1.0, 2.0], [0.0, 3.0]]))
    with pytest.raises(ValueError, match="NaN"):
        recipe("svc").fit(X)
