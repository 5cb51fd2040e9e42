"""Labels renumbered by first appearance, against a loop."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.contracts.labelings import by_appearance


@given(
    labels=st.lists(st.integers(-1, 12), max_size=40)
    | st.lists(st.integers(-1, 10**15), max_size=40)
    | st.lists(st.sampled_from([-1, 120, 127, 3]), max_size=40)
)
def test_labels_are_numbered_in_the_order_of_appearance_however_far_apart_they_are(labels):
    numbers: dict[int, int] = {}
    expected = [-1 if label == -1 else numbers.setdefault(label, len(numbers)) for label in labels]
    assert by_appearance(np.array(labels, dtype=np.int64)).tolist() == expected
    if labels and max(labels) <= 127:
        assert by_appearance(np.array(labels, dtype=np.int8)).tolist() == expected
