"""The label of the nearest labelled row, against a table of all distances."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.numerics.nearest_jit import LabelledGroups


@st.composite
def labelled_rows(draw):
    """Rows in some clouds with their labels, mixed up to a degree, and rows to label."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d, k, n = draw(st.integers(1, 8)), draw(st.integers(1, 4)), draw(st.integers(1, 300))
    middles = draw(st.sampled_from([0.0, 3.0, 20.0])) * rng.normal(size=(k, d))
    labels = rng.integers(k, size=n)
    rows = middles[labels] + rng.normal(size=(n, d))
    Y = np.concatenate([rows[: n // 2], middles[rng.integers(k, size=50)] + 2.0 * rng.normal(size=(50, d))])
    return rows, labels, Y, draw(st.sampled_from([0.0, 0.5, 2.0, np.inf]))


@given(case=labelled_rows())
def test_labels_are_those_of_the_nearest_rows(case):
    rows, labels, Y, reach = case
    answer, far = LabelledGroups.of(rows, labels).label(Y, reach)
    distances = np.sqrt(((Y[:, None] - rows) ** 2).sum(axis=2))
    nearest = distances.min(axis=1)
    for i, label in enumerate(answer):
        assert distances[i, labels == label].min() <= nearest[i] * (1 + 1e-7) + 1e-12
    assert np.array_equal(far[np.abs(nearest - reach) > 1e-7], (nearest > reach)[np.abs(nearest - reach) > 1e-7])


@given(case=labelled_rows())
def test_a_row_gets_its_label_wherever_it_stands(case):
    rows, labels, Y, reach = case
    groups = LabelledGroups.of(rows, labels)
    whole = groups.label(Y, reach)
    parts = [groups.label(Y[i : i + 7], reach) for i in range(0, len(Y), 7)]
    for several, one in zip(zip(*parts, strict=True), whole, strict=True):
        assert np.array_equal(np.concatenate(several), one)
