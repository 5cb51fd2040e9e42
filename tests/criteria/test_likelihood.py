"""The completed likelihood of labels against the densities and probabilities of its definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from clusterkit.criteria.likelihood import FLOOR, HELD, completed_likelihood, spread_dimension


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_completed_likelihood_equals_the_densities(seed):
    rng = np.random.default_rng(seed)
    n, d, k = (int(rng.integers(*ends)) for ends in ((8, 40), (1, 4), (2, 5)))
    labels = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    X = rng.standard_normal((n, d)) + 5.0 * rng.integers(2) * labels[:, None]
    total = 0.0
    for c in range(k):
        rows = X[labels == c]
        floor = FLOOR * X.var(axis=0).mean() * np.eye(d)
        spread = (rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0)) / len(rows) + floor
        law = multivariate_normal(rows.mean(axis=0), spread)
        total += np.sum(np.log(len(rows) / n) + law.logpdf(rows))
    total -= 0.5 * (k - 1 + k * d + k * d * (d + 1) / 2) * math.log(n)
    assert completed_likelihood(X, labels) == pytest.approx(total / n, rel=1e-6)


def test_a_column_of_two_values_has_probabilities_and_no_density():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2, 3], 50)
    X = 6.0 * np.eye(4)[truth] + rng.normal(size=(200, 4))
    flags = rng.random((200, 2)) < 0.5
    by_flags = 2 * flags[:, 0] + flags[:, 1]
    for weight in (1e-3, 1.0):
        with_flags = np.column_stack([X, weight * flags])
        assert completed_likelihood(with_flags, truth) > completed_likelihood(with_flags, by_flags) + 1.0
    # the flags alone: the binary entropies of the clusters
    shares = np.array([[flags[truth == c, j].mean() for j in range(2)] for c in range(4)])
    entropy = -(shares * np.log(shares) + (1 - shares) * np.log(1 - shares)).sum(axis=1).mean()
    expected = math.log(1 / 4) - entropy - 0.5 * (3 + 4 * 2) * math.log(200) / 200
    assert completed_likelihood(3.0 * flags, truth) == pytest.approx(expected)


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_spread_dimension_counts_principal_components(seed):
    rng = np.random.default_rng(seed)
    n, d, most = (int(rng.integers(*ends)) for ends in ((2, 40), (1, 12), (1, 8)))
    X = rng.standard_normal((n, d)) * np.exp(-rng.uniform(0, 1.5) * np.arange(d)) + rng.normal()
    shares = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    expected = 1 + int((np.cumsum(shares) < HELD * shares.sum()).sum())
    assert spread_dimension(X, most) == min(most, expected)


def test_a_thin_sheet_in_many_attributes_has_two_dimensions():
    rng = np.random.default_rng(0)
    sheet = rng.standard_normal((200, 2)) @ np.linalg.qr(rng.standard_normal((9, 2)))[0].T
    assert spread_dimension(sheet + 0.02 * rng.standard_normal((200, 9)), 5) == 2
    assert spread_dimension(rng.standard_normal((200, 9)), 5) == 5
    assert spread_dimension(np.ones((5, 3)), 5) == 0
