"""Laws of the codecs `threshold`, `argmax` and `interval`."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.contracts import Task
from clusterkit.contracts.outcomes import Scores
from clusterkit.errors import InvalidParameter
from clusterkit.families.shared.codecs import Argmax, Interval, Threshold

RULES = ["nearest", "signed", "midpoint", "paper"]
CODECS = [Threshold(), Argmax(), *(Interval(rule=rule) for rule in RULES)]
score = st.floats(-1e6, 1e6)


def most(codec):
    return codec.max_clusters or 7


@given(codec=st.sampled_from(CODECS), data=st.data())
def test_decoding_the_targets_gives_the_labels(codec, data):
    k = data.draw(st.integers(1, most(codec)))
    labels = np.array(data.draw(st.lists(st.lists(st.integers(0, k - 1), min_size=6, max_size=6), min_size=1)))
    coded = codec.encode(labels, k)
    T = coded.targets()
    assert (coded.starts, coded.n) == labels.shape
    assert T.shape == (6, coded.starts * coded.q)
    for start, y in enumerate(labels):
        part = T[:, start * coded.q : (start + 1) * coded.q]
        np.testing.assert_array_equal(part, coded.start(start).targets())
        np.testing.assert_array_equal(codec.decode(part, k), y)
    np.testing.assert_array_equal(coded.sizes().sum(axis=1), 6)
    np.testing.assert_array_equal(coded.block(slice(2, 5)), T[2:5])


@given(
    codec=st.sampled_from([Threshold(), Argmax(), Interval(), Interval(rule="signed"), Interval(rule="midpoint")]),
    data=st.data(),
)
def test_the_cheapest_label_is_the_nearest_target(codec, data):
    k = data.draw(st.integers(2, most(codec)))
    F = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1))).normal(size=(20, codec.codebook(k).shape[1])) * k
    distances = np.sum((F[:, None] - codec.codebook(k)[None]) ** 2, axis=2)
    np.testing.assert_array_equal(codec.decode(F, k), np.argmin(distances, axis=1))
    # differences of costs are those of squared errors, up to one factor
    costs = codec.costs(F, k) - codec.costs(F, k)[:, :1]
    factor = 1 if isinstance(codec, Interval) else 2
    np.testing.assert_allclose(factor * costs, distances - distances[:, :1], atol=1e-12 * k * k)


@given(
    f=st.one_of(score, st.integers(-3, 12).map(float), st.integers(-6, 24).map(lambda i: i / 2)), k=st.integers(1, 9)
)
def test_interval_rules_as_specified(f, k):
    F = np.array([[f]])
    paper = min(max(math.ceil(f), 1), k)  # i - 1 < f <= i; f <= 0 is the first, f > k the last
    assert Interval(rule="paper").decode(F, k) + 1 == paper
    assert Interval(rule="midpoint").decode(F, k) + 1 == paper
    nearest = min(max(math.ceil(f - 0.5), 1), k) if abs(f) < 1e3 else (1 if f < 0 else k)
    assert Interval(rule="nearest").decode(F, k) + 1 == nearest
    assert Interval(rule="signed").decode(F, k) + 1 == ((2 if f > 0 else 1) if k == 2 else nearest)


@pytest.mark.parametrize(("rule", "targets"), [
    ("nearest", [1.0, 2.0, 3.0]),
    ("signed", [1.0, 2.0, 3.0]),
    ("midpoint", [0.5, 1.5, 2.5]),
    ("paper", [1.0, 2.0, 3.0]),
])  # fmt: skip
def test_interval_targets(rule, targets):
    np.testing.assert_array_equal(Interval(rule=rule).codebook(3)[:, 0], targets)


def test_one_ulp_decides():
    for boundary in (1.0, 2.0, 3.0):
        F = np.nextafter(boundary, [[-np.inf], [np.inf]])
        for rule, at in (("paper", boundary), ("midpoint", boundary)):
            np.testing.assert_array_equal(Interval(rule=rule).decode(F, 4), [at - 1, at])
        F = np.nextafter(boundary + 0.5, [[-np.inf], [np.inf]])
        np.testing.assert_array_equal(Interval().decode(F, 4), [boundary - 1, boundary])


def test_threshold_of_zero_is_the_first_label():
    F = np.array([[-1.0], [-0.0], [0.0], [5e-324], [1.0]])
    np.testing.assert_array_equal(Threshold().decode(F, 2), [0, 0, 0, 1, 1])
    np.testing.assert_array_equal(Threshold().codebook(2), [[-1.0], [1.0]])


def test_argmax_of_equals_is_the_first():
    np.testing.assert_array_equal(Argmax().decode(np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 2.0]]), 3), [0, 1])


@pytest.mark.parametrize("codec", CODECS)
def test_labelling_reads_costs_and_predicts_by_the_extension(codec):
    k = 2
    rows = np.random.default_rng(0).normal(size=(9, codec.codebook(k).shape[1]))
    labeling = codec.label(Scores(rows, lambda Y: Y), None, Task(9, k), None)
    np.testing.assert_array_equal(labeling.labels, codec.decode(rows, k))
    np.testing.assert_array_equal(labeling.costs, codec.costs(rows, k))
    np.testing.assert_array_equal(labeling.predict(rows[:4]), labeling.labels[:4])
    assert labeling.exact
    assert codec.label(Scores(rows, None), None, Task(9, k), None).predict is None
    scaled = codec.label(Scores(rows, None, scale=np.full(rows.shape[1], -1.0)), None, Task(9, k), None)
    np.testing.assert_array_equal(scaled.labels, codec.decode(-rows, k))


def test_unknown_rule():
    with pytest.raises(
        InvalidParameter, match="labeler 'interval': rule must be one of 'nearest', 'signed', 'midpoint', 'paper'"
    ):
        Interval(rule="floor")
