"""Distinct rows are counted as far as it takes."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from clusterkit.numerics.selection import n_distinct, sets_of_equal_rows
from clusterkit.numerics.sparse_rows import SparseRows


@given(
    X=arrays(float, st.tuples(st.integers(1, 60), st.integers(1, 2)), elements=st.integers(0, 3)),
    enough=st.integers(1, 9),
)
def test_the_number_is_exact_below_what_is_enough(X, enough):
    true = len(np.unique(X, axis=0))
    count = n_distinct(X, enough)
    assert count == true if true < enough else enough <= count <= true
    assert n_distinct(SparseRows.of(scipy.sparse.csr_array(X)), enough) == true


def test_no_more_samples_are_sorted_than_it_takes(monkeypatch):
    sorted_rows = []
    unique = np.unique
    monkeypatch.setattr(np, "unique", lambda X, axis: (sorted_rows.append(len(X)), unique(X, axis=axis))[1])
    assert n_distinct(np.arange(100_000.0)[:, None], 5) >= 5
    assert sorted_rows == [10]


@pytest.mark.parametrize("prime", [1099511628211, 0])
@given(X=arrays(float, st.tuples(st.integers(1, 30), st.integers(1, 2)), elements=st.integers(0, 9)))
def test_rows_are_in_one_set_where_they_are_equal(prime, X):
    """With the prime 0 all rows have one hash."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("clusterkit.numerics.selection.PRIME", np.uint64(prime))
        sets = sets_of_equal_rows(X)
    equal = (X[:, None] == X).all(axis=2)
    assert (sets is None) == (equal.sum() == len(X))
    assert sets is None or np.array_equal(sets[:, None] == sets, equal)
