"""The compiled exponential and kernel sums against numpy, and their independence of blocks and threads."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit._jit import njit
from clusterkit.numerics.gaussian_jit import CENTRES, fast_exp, gaussian_block, gaussian_sums
from clusterkit.numerics.threads import over_rows, undivided


@njit(fastmath=True)
def _inlined(x, out):
    for i in range(len(x)):
        out[i] = fast_exp(x[i])


@pytest.mark.parametrize(("dtype", "least"), [(np.float64, -708.0), (np.float32, -87.0)])
def test_the_exponential_survives_inlining_into_fastmath(dtype, least):
    x = np.concatenate([np.linspace(least, 0, 200_001), -np.geomspace(1e-30, 700, 1000)]).clip(least).astype(dtype)
    out = np.empty_like(x)
    _inlined(x, out)
    exact = np.exp(x.astype(np.float64))
    # fastmath joins the two parts of ln 2 again: half a bit of the argument, as in any exp of a rounded argument
    assert np.all(np.abs(out - exact) / exact < np.finfo(dtype).eps * (16 + np.abs(x)))
    _inlined(np.full(3, -1e30, dtype), out[:3])
    assert np.all(out[:3] <= np.exp(least) * 1.001)
    assert np.all(out[:3] >= 0)
    _inlined(np.zeros(1, dtype), out[:1])
    assert out[0] == 1.0


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d = draw(st.integers(1, 11))
    p, s = draw(st.integers(1, 40)), draw(st.sampled_from([1, 2, 7, CENTRES - 1, CENTRES, CENTRES + 1, 600]))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    Y, centres = (rng.normal(size=(rows, d)).astype(dtype) for rows in (p, s))
    return Y, centres, rng.normal(size=s), draw(st.floats(1e-3, 50))


@given(problem=problems())
def test_sums_and_blocks_agree_with_numpy(problem):
    Y, centres, weights, gamma = problem
    tolerance = 1e-12 if Y.dtype == np.float64 else 2e-4
    difference = centres[None].astype(np.float64) - Y[:, None].astype(np.float64)
    K = np.exp(-np.float64(Y.dtype.type(gamma)) * np.square(difference).sum(axis=2))
    scale = np.abs(weights).sum()
    np.testing.assert_allclose(gaussian_block(Y, centres, gamma), K, atol=tolerance)
    np.testing.assert_allclose(gaussian_sums(Y, centres, weights, gamma), K @ weights, atol=tolerance * scale)


@given(problem=problems(), seed=st.integers(0, 99))
def test_a_value_depends_on_its_point_alone(problem, seed):
    Y, centres, weights, gamma = problem
    order = np.random.default_rng(seed).permutation(len(Y))
    whole = gaussian_sums(Y, centres, weights, gamma)
    np.testing.assert_array_equal(gaussian_sums(Y[order], centres, weights, gamma), whole[order])
    big = np.tile(Y, (2_500_000 // (len(Y) * centres.size) + 1, 1))[:200_000]
    if seed < 3:
        for threads in (1, 2, 3):
            values = gaussian_sums(big, centres, weights, gamma, threads)
            np.testing.assert_array_equal(values, np.resize(whole, len(values)))


@pytest.mark.parametrize("threads", [1, 2, None])
@pytest.mark.parametrize("n", [0, 1, 5, 1000])
def test_chunks_cover_every_row_once(n, threads):
    seen = np.zeros(n, dtype=int)

    def count(start, stop):
        seen[start:stop] += 1

    over_rows(count, n, 1_000_000, threads)
    assert (seen == 1).all()


def test_a_thread_among_others_keeps_its_work():
    workers = set()

    def note(start, stop):
        workers.add(threading.get_ident())

    with undivided():
        over_rows(note, 100, 1_000_000, 2)
    assert workers == {threading.get_ident()}


def test_an_error_in_a_chunk_reaches_the_caller():
    def fail(start, stop):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        over_rows(fail, 100, 1_000_000, 2)
