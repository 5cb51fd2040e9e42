"""Laws of the lowest points of kernel sums on segments, checked against many points of each segment."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.families.support_vectors.level_sets.equilibria import Ascent
from clusterkit.families.support_vectors.level_sets.saddles import EXCESS, UNDERFLOW, lowest_on_segments
from clusterkit.samples.kernels import Gaussian

UNEVEN = KernelDomain(np.array([[-1.1875], [0.0], [2.0]]), np.array([0.5, 1.0, 3.5]), Gaussian(3.0), level=0.0)
"""Of five even points on the segment from the first centre to the last, the lowest is far from the lower dip."""

VALUES = Ascent.values


@st.composite
def sums(draw):
    s, d = draw(st.integers(2, 9)), draw(st.integers(1, 3))
    centres = draw(hnp.arrays(float, (s, d), elements=st.floats(-2, 2, width=16)))
    weights = draw(hnp.arrays(float, s, elements=st.floats(0.25, 2, width=16)))
    return KernelDomain(centres, weights, Gaussian(draw(st.sampled_from([0.5, 3.0, 30.0, 300.0]))), level=0.0)


def values_along(ascent, a, b, count):
    return ascent.values(a + np.linspace(0.0, 1.0, count)[:, None] * (b - a))


@given(sums(), st.integers(1, 20))
@example(UNEVEN, 3)
def test_no_point_of_a_segment_is_lower(domain, n_segment_points):
    ascent = Ascent.of(domain, "transition", tol=1e-7, merge=1e-3, max_iter=10_000)
    centres = ascent.scaled(domain.centres)
    i, j = np.triu_indices(len(centres), 1)
    lowest, values = lowest_on_segments(ascent, centres[i], centres[j], n_segment_points)
    np.testing.assert_allclose(ascent.values(lowest), values, rtol=1e-9)
    for a, b, value in zip(centres[i], centres[j], values, strict=True):
        # EXCESS, and what the last refinement leaves at a kink
        assert value <= (1.0 + 10.0 * EXCESS) * values_along(ascent, a, b, 4001).min() + UNDERFLOW


def test_the_lower_of_two_dips_is_found_from_few_points():
    ascent = Ascent.of(UNEVEN, "transition", tol=1e-7, merge=1e-3, max_iter=10_000)
    a, b = ascent.scaled(UNEVEN.centres[[0, 2]])
    even = values_along(ascent, a, b, 5)
    assert np.argmin(even) == 0  # the interval beside it holds the other dip
    lowest, values = lowest_on_segments(ascent, a[None], b[None], 3)
    assert values == pytest.approx([values_along(ascent, a, b, 100_001).min()], rel=1e-5)
    assert ascent.unscaled(lowest) == pytest.approx(np.array([[0.8746]]), abs=1e-3)


def test_nothing_is_searched_below_a_value_that_underflows(monkeypatch):
    domain = KernelDomain(np.array([[-1.0], [1.0]]), np.ones(2), Gaussian(1e6), level=0.0)
    ascent = Ascent.of(domain, "transition", tol=1e-7, merge=1e-3, max_iter=10_000)
    a, b = ascent.scaled(domain.centres)
    points = []
    monkeypatch.setattr(Ascent, "values", lambda self, x: points.append(len(x)) or VALUES(self, x))
    assert lowest_on_segments(ascent, a[None], b[None], 20)[1] < UNDERFLOW
    assert sum(points) == 20 + 4 + 3 * 11


def test_the_order_of_segments_does_not_matter():
    rng = np.random.default_rng(0)
    domain = KernelDomain(rng.normal(size=(60, 2)), np.ones(60), Gaussian(8.0), level=0.0)
    ascent = Ascent.of(domain, "transition", tol=1e-7, merge=1e-3, max_iter=10_000)
    starts, ends = ascent.scaled(rng.normal(size=(40, 2))), ascent.scaled(rng.normal(size=(40, 2)))
    lowest, values = lowest_on_segments(ascent, starts, ends, 5)
    order = rng.permutation(40)
    permuted = lowest_on_segments(ascent, starts[order], ends[order], 5)
    assert permuted[0].tolist() == lowest[order].tolist()
    assert permuted[1].tolist() == values[order].tolist()
