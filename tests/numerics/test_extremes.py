"""The extremes of columns, against those of numpy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.numerics.sparse_rows import column_extremes


@given(
    n=st.integers(1, 3000),
    d=st.integers(1, 600),
    seed=st.integers(0, 99),
    odd=st.booleans(),
    order=st.sampled_from("CF"),
    kind=st.sampled_from([np.float32, np.float64]),
)
def test_extremes_are_those_of_numpy(n, d, seed, odd, order, kind):
    rng = np.random.default_rng(seed)
    X = np.asarray(rng.normal(size=(n, d)), dtype=kind, order=order)
    if odd:
        X[rng.integers(n), rng.integers(d)] = np.nan
    low, high = column_extremes(X)
    assert np.array_equal(low, X.min(axis=0), equal_nan=True)
    assert np.array_equal(high, X.max(axis=0), equal_nan=True)
    assert low.dtype == high.dtype == kind
