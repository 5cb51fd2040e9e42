"""Compactness and the Davies-Bouldin index: definitions, scikit-learn, invariances, blocks."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import davies_bouldin_score

from clusterkit.metrics import compactness, davies_bouldin
from clusterkit_campaign.oracles.measures import compactness_by_pairs, davies_bouldin_by_clusters

MODES = ["exclude", "singletons", "cluster"]


def squared_compactness(X, labels, **options):
    return compactness(X, labels, squared=True, **options)


INDICES = [compactness, squared_compactness, davies_bouldin]


@st.composite
def clusterings(draw, max_size=25, noise=True):
    """Random rows, some of them duplicates, and labels."""
    n, d = draw(st.integers(1, max_size)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d))
    if draw(st.booleans()):
        X = X[rng.integers(n, size=n)]
    return X, rng.integers(-1 if noise else 0, draw(st.integers(1, 5)), size=n)


def rewritten(X, labels, noise):
    if noise == "exclude":
        return X[labels != -1], labels[labels != -1]
    fresh = 100 + np.arange(len(labels)) if noise == "singletons" else 99
    return X, np.where(labels == -1, fresh, labels)


def separated(X, labels):
    """Whether no two centroids are so close that rounding decides."""
    centroids = np.array([X[labels == label].mean(axis=0) for label in np.unique(labels)])
    distances = np.linalg.norm(centroids[:, None] - centroids, axis=2)
    return bool((distances[~np.eye(len(centroids), dtype=bool)] > 1e-6).all())


@pytest.mark.parametrize("noise", MODES)
@given(clustering=clusterings())
def test_compactness_equals_all_pairs(noise, clustering):
    X, labels = rewritten(*clustering, noise)
    for squared in (False, True):
        value = compactness(*clustering, squared=squared, noise=noise)
        if len(labels) == 0:
            assert math.isnan(value)
        else:
            assert value == pytest.approx(compactness_by_pairs(X, labels, squared), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("noise", MODES)
@given(clustering=clusterings())
def test_davies_bouldin_equals_the_definition_and_scikit_learn(noise, clustering):
    X, labels = rewritten(*clustering, noise)
    value = davies_bouldin(*clustering, noise=noise)
    n_clusters = len(np.unique(labels))
    if n_clusters < 2:
        assert math.isnan(value)
        return
    assume(separated(X, labels))
    assert value == pytest.approx(davies_bouldin_by_clusters(X, labels), rel=1e-10)
    if n_clusters < len(labels):  # scikit-learn refuses n clusters, and its distances lose half of the digits
        assert value == pytest.approx(davies_bouldin_score(X, labels), rel=1e-6, abs=1e-6)


@given(clustering=clusterings(noise=False))
def test_blocks_change_nothing(clustering):
    whole = [index(*clustering) for index in INDICES]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("clusterkit.metrics.internal.BLOCK_DISTANCES", 1)
        assert [index(*clustering) for index in INDICES] == pytest.approx(whole, rel=1e-12, nan_ok=True)


def test_singletons_contribute_nothing():
    X = [[0.0, 0.0], [3.0, 4.0], [9.0, 9.0]]
    assert compactness(X, [0, 1, 2]) == 0.0
    assert compactness(X, [0, 0, 1]) == pytest.approx(5.0 * 2 / 3)
    assert compactness(X, [0, 0, 1], squared=True) == pytest.approx(25.0 * 2 / 3)
    assert davies_bouldin(X, [0, 1, 2]) == 0.0


def test_one_cluster_or_none():
    X = [[0.0], [1.0], [2.0]]
    assert math.isnan(davies_bouldin(X, [4, 4, 4]))
    assert math.isnan(davies_bouldin(X, [0, 0, -1]))
    for index in INDICES:
        assert math.isnan(index(X, [-1, -1, -1]))
    assert compactness(X, [-1, -1, -1], noise="cluster") == pytest.approx(4 / 3)
    assert compactness(X, [-1, -1, -1], noise="singletons") == 0.0
    assert davies_bouldin(X, [-1, -1, -1], noise="singletons") == 0.0


@pytest.mark.parametrize("offset", [0.0, 1 / 3, 1e6])
def test_coincident_centroids(offset):
    cross = np.array([[1.0, 0.0], [-1.0, 0.0], [0.1, 0.3], [-0.1, -0.3], [0.0, 0.0]]) + offset
    assert davies_bouldin(cross, [0, 0, 1, 1, 1]) == math.inf
    assert davies_bouldin(cross, [0, 0, 1, 1, 2]) == math.inf
    same = np.full((4, 3), 0.1 + offset)
    assert davies_bouldin(same, [0, 0, 1, 1]) == 0.0
    far = np.append(same, [[5.0, 5.0, 5.0 + offset]], axis=0)
    assert davies_bouldin(far, [0, 0, 1, 1, 2]) == 0.0


@pytest.mark.parametrize("index", INDICES)
def test_far_from_the_origin(index):
    rng = np.random.default_rng(0)
    X, labels = rng.integers(0, 64, size=(60, 3)) / 8.0, np.arange(60) % 4
    assert index(X + 2.0**30, labels) == pytest.approx(index(X, labels), rel=1e-9)


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, bool])
def test_types_of_data(index, dtype):
    X = np.random.default_rng(0).integers(0, 2, size=(30, 4)).astype(dtype)
    labels = np.arange(30) % 3
    assert index(X, labels) == index(X.astype(np.float64), labels)
    assert index(X.tolist(), labels.astype(str)) == pytest.approx(index(X, labels), rel=1e-12)


def test_memory_stays_far_below_all_pairs():
    import tracemalloc

    X = np.random.default_rng(0).normal(size=(6000, 2))
    tracemalloc.start()
    try:
        assert 1.7 < compactness(X, np.zeros(6000)) < 1.85  # the mean distance of two is sqrt(pi)
        assert davies_bouldin(X, np.arange(6000)) == 0.0
        assert tracemalloc.get_traced_memory()[1] < 60e6  # all pairs would take 288 MB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize(
    ("X", "labels", "message"),
    [
        ([1.0, 2.0], [0, 1], r"X must be of shape \(n, d\), got shape \(2,\)"),
        ([[1.0], [2.0, 3.0]], [0, 1], "X must be a matrix of numbers"),
        ([[1.0], [math.nan]], [0, 1], r"X\[1, 0\] is nan"),
        ([[1.0, math.inf]], [0], r"X\[0, 1\] is inf"),
        ([["a"]], [0], "X has values of type <U1"),
        ([[1.0], [2.0]], [0], "X has 2 samples but labels has 1"),
        ([[1.0]], [None], r"labels\[0\] is None"),
        (np.empty((0, 2)), [], "labels is empty"),
    ],
)
def test_what_is_refused(index, X, labels, message):
    with pytest.raises(ValueError, match=message):
        index(X, labels)


@pytest.mark.parametrize("index", INDICES)
def test_unknown_mode(index):
    with pytest.raises(ValueError, match="noise='drop' is not one of exclude, singletons, cluster"):
        index([[0.0]], [0], noise="drop")
