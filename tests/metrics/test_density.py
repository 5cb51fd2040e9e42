"""DBCV against its definitions, and what it does with noise, small clusters and copies."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_moons

from clusterkit.metrics import dbcv, disco
from clusterkit_campaign.oracles.measures import dbcv as naive
from clusterkit_campaign.oracles.measures import disco as naive_disco


@given(
    seed=st.integers(0, 10_000), n=st.integers(6, 30), d=st.integers(1, 4), k=st.integers(2, 4), squared=st.booleans()
)
def test_equals_the_definitions(seed, n, d, k, squared):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    labels = np.concatenate([[0, 0, 1, 1], rng.integers(-1, k, size=n - 4)])
    value = dbcv(X, labels, squared=squared)
    assert value == pytest.approx(naive(X, labels, squared), rel=1e-9, abs=1e-12)
    order = rng.permutation(n)
    assert dbcv(X[order], labels[order], squared=squared) == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert -1.0 <= value <= 1.0


def test_prefers_the_moons_to_halves():
    X, y = make_moons(200, noise=0.05, random_state=0)
    assert dbcv(X, y) > 0.5 > dbcv(X, X[:, 0] > 0.5)
    assert dbcv(X, y, squared=False) > dbcv(X, X[:, 0] > 0.5, squared=False)
    assert dbcv(X.astype(np.float32), y) == pytest.approx(dbcv(X, y), abs=1e-4)


def test_noise_is_counted_or_left_out():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [20.0], [21.0], [22.0], [23.0], [100.0], [101.0]])
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1, -1, -1])
    assert dbcv(X, y, noise="exclude") == pytest.approx(dbcv(X[:8], y[:8]))
    assert dbcv(X, y) == pytest.approx(0.8 * dbcv(X[:8], y[:8]))
    assert dbcv(X, y, noise="cluster") == pytest.approx(naive(X, np.where(y < 0, 2, y)))


def test_fewer_than_two_clusters_have_no_value():
    X = np.arange(6.0)[:, None]
    for labels in ([0] * 6, [-1] * 6, [0, 0, 0, 0, 0, 1], range(6)):
        assert math.isnan(dbcv(X, list(labels)))


def test_copies():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 3, axis=0)
    assert dbcv(X, [0, 0, 0, 1, 1, 1]) == 1.0
    assert dbcv(X, [0, 1, 0, 1, 0, 1]) == pytest.approx(naive(X, [0, 1, 0, 1, 0, 1]))
    assert dbcv(np.zeros((4, 2)), [0, 0, 1, 1]) == 0.0


def test_many_attributes_do_not_overflow():
    X = np.random.default_rng(0).normal(size=(40, 2000)) * 1e-3
    X[20:] += 1.0
    assert dbcv(X, np.repeat([0, 1], 20)) > 0.5


@given(seed=st.integers(0, 10_000), n=st.integers(2, 25), most=st.integers(0, 3), min_points=st.integers(1, 6))
def test_disco_is_its_definition_with_any_noise(seed, n, most, min_points):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)).round(seed % 3), rng.integers(-1, most, n)
    assert disco(X, y, min_points=min_points) == pytest.approx(naive_disco(X, y, min_points), abs=1e-9)
