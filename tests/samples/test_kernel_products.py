"""Kernel values by matrix products are those of the compiled loops, wherever the rows lie."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.devices import DEVICES, strict
from oracles.domains import labeled

from clusterkit.contracts.outcomes import FunctionDomain, KernelDomain
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import kernels
from clusterkit.samples.array_libraries import has_array_api, to_host
from clusterkit.samples.kernels import Gaussian, Linear


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def rows_around(centres, count, rng):
    """Rows of the extent of the centres, some of them nearly centres, and one far away."""
    spread = np.ptp(centres, axis=0)
    apart = centres.mean(axis=0) + spread * rng.normal(size=(count, centres.shape[1]))
    return np.concatenate([apart, centres[:5] + 1e-3 * spread, centres[:5], np.full((1, centres.shape[1]), 1e200)])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("d", "extent"), [(1, 3.0), (2, 30.0), (5, 1e4), (20, 1.0), (100, 0.3), (600, 0.1)])
def test_kernel_sums_are_those_of_the_compiled_loops(d, extent, device, rng):
    centres, weights = extent * rng.normal(size=(70, d)) + 1e3, rng.normal(size=70)
    kernel, Y = Gaussian(0.4), rows_around(centres, 200, rng)
    sums = kernel.weighted_sum(strict(Y, device), centres, weights)
    assert sums.device == strict(Y, device).device
    expected = kernel.weighted_sum(Y, centres, weights)
    # coordinates near 1000 are rounded before anything is subtracted; what is subtracted then is exact on both ways
    np.testing.assert_allclose(to_host(sums), expected, rtol=0, atol=1e-12 * np.abs(weights).sum())


@given(labeled())
def test_values_of_any_domain_are_those_of_the_compiled_loops(case):
    domain, X = case
    values = to_host(domain.value(strict(X)))
    np.testing.assert_allclose(values, domain.value(X), rtol=1e-12, atol=1e-300)
    assert has_array_api(domain)


@given(labeled(), st.integers(1, 40))
def test_chunks_of_any_size_give_the_same_sums(case, chunk):
    domain, X = case
    whole = to_host(domain.value(strict(X)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "CHUNK", chunk)
        np.testing.assert_allclose(to_host(domain.value(strict(X))), whole, rtol=1e-12)


def test_no_rows_have_no_sums(rng):
    centres = rng.normal(size=(4, 3))
    assert Gaussian(1.0).weighted_sum(strict(np.empty((0, 3))), centres, np.ones(4)).shape == (0,)


def test_rows_of_another_width_are_refused(rng):
    with pytest.raises(ValueError, match="2 coordinates and of 3"):
        Gaussian(1.0).weighted_sum(strict(np.ones((2, 2))), np.ones((4, 3)), np.ones(4))


def test_float32_rows_are_summed_in_float64(rng):
    centres, weights = rng.normal(size=(30, 4)), rng.random(30)
    Y = rng.normal(size=(50, 4)).astype(np.float32)
    sums = to_host(Gaussian(1.0).weighted_sum(strict(Y), centres, weights))
    np.testing.assert_allclose(sums, Gaussian(1.0).weighted_sum(Y.astype(np.float64), centres, weights), rtol=1e-13)


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Linear()])
def test_kernels_give_the_values_of_numpy(kernel, rng):
    A, B, weights = rng.normal(size=(9, 6)), rng.normal(size=(7, 6)), rng.normal(size=7)
    there = strict(A)
    np.testing.assert_allclose(to_host(kernel(there, B)), kernel(A, B), rtol=1e-13)
    np.testing.assert_allclose(to_host(kernel.diag(there)), kernel.diag(A), rtol=1e-13)
    sums = kernel.weighted_sum(there, B, weights)
    np.testing.assert_allclose(to_host(sums), kernel.weighted_sum(A, B, weights), rtol=1e-13)


def test_domains_of_sparse_centres_and_of_unknown_functions_have_no_mark():
    from scipy.sparse import csr_array

    centres = SparseRows.of(csr_array(np.eye(3)))
    assert not has_array_api(KernelDomain(centres, np.ones(3), Gaussian(1.0), level=0.5))
    assert not has_array_api(FunctionDomain(np.sum, level=0.5))
