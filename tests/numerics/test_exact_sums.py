"""Class sums on grids: no order changes a bit, and they are as close as sums of numbers can be."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.families.means._loops_jit import add_rows, grids, move_rows


@st.composite
def labelled_rows(draw):
    """Rows of very different magnitudes, with labels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, k = draw(st.integers(1, 200)), draw(st.integers(1, 6)), draw(st.integers(1, 5))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    magnitudes = 10.0 ** rng.uniform(-draw(st.integers(0, 12)), 0, size=(n, d))
    H = (rng.normal(size=(n, d)) * magnitudes + draw(st.sampled_from([0.0, 1000.0]))).astype(dtype)
    return H, rng.integers(k, size=n), k, rng


def sums_of(H, labels, k, limits):
    """Both tables."""
    tables = np.zeros((2, k, H.shape[1]))
    add_rows(H, labels, *limits, *tables)
    return tables


@given(case=labelled_rows(), more=st.integers(0, 1_000_000))
def test_no_order_changes_a_bit_and_moved_rows_leave_nothing_behind(case, more):
    H, labels, k, rng = case
    limits = grids(float(np.abs(H).max()), len(H) + more)
    tables = sums_of(H, labels, k, limits)
    order = rng.permutation(len(H))
    assert np.array_equal(tables, sums_of(H[order], labels[order], k, limits))
    cut = rng.integers(len(H) + 1)
    assert np.array_equal(tables, sums_of(H[:cut], labels[:cut], k, limits) + sums_of(H[cut:], labels[cut:], k, limits))
    others = rng.integers(k, size=len(H))
    move_rows(H, order, labels[order], others[order], *limits, *tables)
    assert np.array_equal(tables, sums_of(H, others, k, limits))


@given(case=labelled_rows())
def test_sums_are_exact_up_to_the_fine_grid(case):
    H, labels, k, _ = case
    largest = float(np.abs(H).max())
    high, low = sums_of(H, labels, k, grids(largest, len(H)))
    for j in range(k):
        for c in range(H.shape[1]):
            exact = sum((Fraction(float(value)) for value in H[labels == j, c]), Fraction(0))
            error = abs(Fraction(high[j, c]) + Fraction(low[j, c]) - exact)
            # each of the numbers is rounded once, to the fine grid; as many as these keep 88 bits or more
            assert error <= len(H) * Fraction(largest) * Fraction(1, 2**86)
