"""Sizes of clusters, counted piece by piece."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.contracts import labelings
from clusterkit.contracts.labelings import cluster_sizes


@given(st.lists(st.integers(-1, 6), max_size=40), st.integers(1, 50))
def test_sizes_do_not_depend_on_the_pieces_and_noise_is_no_cluster(labels, counted):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(labelings, "COUNTED", counted)
        sizes = cluster_sizes(np.array(labels, dtype=np.intp))
    assert sizes == {label: labels.count(label) for label in set(labels) - {-1}}
    assert list(sizes) == sorted(sizes)
