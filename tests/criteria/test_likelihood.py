"""The integrated completed likelihood of labels against a product of predictions, one row after the other."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_t

from clusterkit.criteria.likelihood import HELD, MOST_COORDINATES, MOST_DIMENSIONS, PRIOR_WEIGHT, CompletedLikelihood


def predicted(Z, flags, labels):
    """The same by the chain rule: each row, its cluster and its flags are predicted from the rows before it."""
    n, p = Z.shape
    k = labels.max() + 1
    scale, total = k ** (-2.0 / p) if p else 1.0, 0.0
    for i in range(n):
        before = np.flatnonzero(labels[:i] == labels[i])
        m = len(before)
        total += math.log((m + 1) / (i + k))
        for value, column in zip(flags[i], flags[before].T, strict=True):
            total += math.log(((column == value).sum() + 1) / (m + 2))
        if p:
            weight, freedom = PRIOR_WEIGHT + m, p + 2 + m - p + 1
            mean = Z[before].sum(axis=0) / weight
            spread = scale * np.eye(p) + Z[before].T @ Z[before] - weight * np.outer(mean, mean)
            shape = spread * (weight + 1) / (weight * freedom)
            total += multivariate_t(mean, shape, df=freedom).logpdf(Z[i])
    return total / n


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_the_likelihood_is_a_product_of_predictions(seed):
    rng = np.random.default_rng(seed)
    n, d, f, k = (int(rng.integers(*ends)) for ends in ((8, 30), (1, 4), (0, 3), (1, 5)))
    labels = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    X = rng.standard_normal((n, d)) + 5.0 * rng.integers(2) * labels[:, None]
    flags = rng.random((n, f)) < 0.5
    flags[:2] = [[True] * f, [False] * f]
    likelihood = CompletedLikelihood.of(np.column_stack([X, 2.5 * flags]))
    assert likelihood.coordinates.shape == (n, d)
    np.testing.assert_array_equal(likelihood.flags, flags)
    assert likelihood(labels) == pytest.approx(predicted(likelihood.coordinates, flags, labels), rel=1e-8)


def test_coordinates_are_the_leading_components_with_unit_variance():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 12)) * np.arange(1, 13) @ np.linalg.qr(rng.standard_normal((12, 12)))[0]
    Z = CompletedLikelihood.of(X).coordinates
    assert Z.shape == (200, MOST_COORDINATES)
    np.testing.assert_allclose(Z.T @ Z / 200, np.eye(MOST_COORDINATES), atol=1e-10)
    _, sizes, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    expected = (X - X.mean(axis=0)) @ axes[:MOST_COORDINATES].T / sizes[:MOST_COORDINATES] * np.sqrt(200)
    np.testing.assert_allclose(np.abs(Z), np.abs(expected), atol=1e-8)


def test_the_likelihood_does_not_depend_on_units_of_the_whole_or_directions():
    rng = np.random.default_rng(2)
    labels = rng.integers(3, size=90)
    X = rng.standard_normal((90, 4)) + 2.0 * labels[:, None]
    turned = 100.0 + 7.0 * X @ np.linalg.qr(rng.standard_normal((4, 4)))[0]
    assert CompletedLikelihood.of(turned)(labels) == pytest.approx(CompletedLikelihood.of(X)(labels), abs=1e-9)


def test_a_small_cluster_in_many_attributes_has_no_infinite_likelihood():
    # the covariance of twenty rows in 64 attributes is singular: by densities no division is more likely
    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1], 150)
    X = rng.standard_normal((300, 64)) * np.linspace(0.01, 1.0, 64) + 3.0 * truth[:, None]
    few = np.zeros(300, dtype=int)
    few[rng.choice(300, 20, replace=False)] = 1
    likelihood = CompletedLikelihood.of(X)
    assert likelihood(truth) > likelihood(few) + 0.5


def test_a_column_of_two_values_has_probabilities_and_no_density():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2, 3], 50)
    X = 6.0 * np.eye(4)[truth] + rng.normal(size=(200, 4))
    flags = rng.random((200, 2)) < 0.5
    by_flags = 2 * flags[:, 0] + flags[:, 1]
    for weight in (1e-3, 1.0):
        likelihood = CompletedLikelihood.of(np.column_stack([X, weight * flags]))
        assert likelihood(truth) > likelihood(by_flags) + 1.0


@pytest.mark.parametrize("X", [np.ones((5, 3)), np.arange(6.0)[:, None] > 2], ids=["equal rows", "one flag"])
def test_rows_without_coordinates(X):
    likelihood = CompletedLikelihood.of(np.asarray(X, dtype=float))
    assert likelihood.coordinates.shape == (len(X), 0)
    assert np.isfinite(likelihood(np.arange(len(X)) % 2))


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_dimension_counts_principal_components(seed):
    rng = np.random.default_rng(seed)
    n, d = (int(rng.integers(*ends)) for ends in ((2, 40), (1, 12)))
    X = rng.standard_normal((n, d)) * np.exp(-rng.uniform(0, 1.5) * np.arange(d)) + rng.normal()
    shares = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    expected = 1 + int((np.cumsum(shares) < HELD * shares.sum()).sum())
    assert CompletedLikelihood.of(X).dimension == min(MOST_DIMENSIONS, expected)


def test_a_thin_sheet_in_many_attributes_has_two_dimensions():
    rng = np.random.default_rng(0)
    sheet = rng.standard_normal((200, 2)) @ np.linalg.qr(rng.standard_normal((9, 2)))[0].T
    assert CompletedLikelihood.of(sheet + 0.02 * rng.standard_normal((200, 9))).dimension == 2
    assert CompletedLikelihood.of(rng.standard_normal((200, 9))).dimension == 5
    assert CompletedLikelihood.of(np.ones((5, 3))).dimension == 0
