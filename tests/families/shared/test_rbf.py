"""Laws of the feature map `rbf`: which width wins, and an accurate kernel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.maps import mapped

from clusterkit.families.shared.rbf import Rbf
from clusterkit.samples.kernels import Gaussian


def fit(X, **parameters):
    return mapped(Rbf(**parameters), X, 0)


def squared(X):
    Y = X.astype(np.longdouble)
    return np.sum((Y[:, None] - Y[None]) ** 2, axis=2)


@st.composite
def data(draw):
    """Rows of low or high dimension, far from the origin or not."""
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.normal(size=(n, d)) + draw(st.sampled_from([0.0, 0.0, 1e6]))


@given(X=data(), gamma=st.sampled_from([0.01, 0.5, 20.0]), seed=st.integers(0, 99))
def test_kernel_is_the_formula(X, gamma, seed):
    space = fit(X, gamma=gamma)
    exact = np.exp(-gamma * squared(X)).astype(np.float64)
    K = space.gram()
    np.testing.assert_allclose(K, exact, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(np.diag(K), 1.0)
    np.testing.assert_array_equal(space.diag(), 1.0)
    assert np.all((K >= 0) & (K <= 1))
    assert np.linalg.eigvalsh(K).min() > -1e-12 * len(X)
    index = np.random.default_rng(seed).integers(len(X), size=5)
    fresh = fit(X, gamma=gamma)
    for columns in (fresh.columns(index), space.columns(index), fresh.cross(X[index]).T):
        np.testing.assert_allclose(columns, exact[:, index], rtol=0, atol=1e-12)
    np.testing.assert_allclose(fresh.take(index).gram(), exact[np.ix_(index, index)], rtol=0, atol=1e-12)


@given(X=data())
def test_the_default_width_is_one_over_d_times_the_variance(X):
    space = fit(X)
    variance = X.astype(np.longdouble).var()
    np.testing.assert_allclose(space.kernel.gamma, float(1 / (X.shape[1] * variance)), rtol=1e-8)
    assert space.resolved == {"gamma": space.kernel.gamma}


@given(X=data(), fraction=st.sampled_from([0.1, 0.5, 1.0]))
def test_the_fraction_is_of_the_largest_pairwise_distance(X, fraction):
    space = fit(X, sigma_fraction=fraction)
    sigma = fraction * float(np.sqrt(squared(X).max()))
    np.testing.assert_allclose(space.resolved["sigma"], sigma, rtol=1e-9)
    np.testing.assert_allclose(space.resolved["gamma"], 1 / (2 * sigma**2), rtol=1e-9)
    assert space.kernel == Gaussian(space.resolved["gamma"])


def test_precedence():
    X = np.random.default_rng(0).normal(size=(12, 3))
    every = fit(X, gamma=0.7, sigma=2.0, sigma_fraction=0.5)
    assert every.kernel.gamma == 0.7
    assert every.resolved == {}
    two = fit(X, sigma=2.0, sigma_fraction=0.5)
    assert two.kernel.gamma == 1 / 8
    assert two.resolved == {"gamma": 1 / 8}
    assert set(fit(X, sigma_fraction=0.5).resolved) == {"sigma", "gamma"}


def test_largest_distance_over_several_blocks(monkeypatch):
    from clusterkit.samples import transform

    monkeypatch.setattr(transform, "BLOCK_BYTES", 1)
    X = np.random.default_rng(0).normal(size=(300, 6))
    X[[70, 250]] = [[9.0] * 6, [-9.0] * 6]
    np.testing.assert_allclose(fit(X, sigma_fraction=1.0).resolved["sigma"], np.linalg.norm(X[70] - X[250]))


@pytest.mark.parametrize("d", [2, 8])
def test_float32(d):
    X = (np.random.default_rng(0).normal(size=(50, d)) * 50 + 1e4).astype(np.float32)
    space = fit(X)
    K = space.gram()
    assert space.points.dtype == np.float32
    assert K.dtype == space.cross(X[:3]).dtype == space.dtype == np.float64
    np.testing.assert_allclose(K, np.exp(-space.kernel.gamma * squared(X.astype(float))), atol=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 / 3])
@pytest.mark.parametrize("parameters", [{}, {"sigma_fraction": 0.3}])
def test_equal_rows_have_kernel_one(value, parameters):
    space = fit(np.full((30, 7), value), **parameters)
    assert np.isfinite(space.kernel.gamma)
    np.testing.assert_array_equal(space.gram(), 1.0)


@pytest.mark.parametrize("parameters", [{"sigma": 1e-200}, {"sigma_fraction": 1e-200}])
def test_a_width_too_small_to_square_is_the_identity_or_an_error_that_names_it(parameters):
    X = np.arange(4.0)[:, None]
    try:
        space = fit(X, **parameters)
    except ValueError as error:
        assert "rbf" in str(error)  # noqa: PT017
    else:
        np.testing.assert_array_equal(space.gram(), np.eye(4))
