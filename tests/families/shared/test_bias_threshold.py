"""Laws of the codec `bias_threshold`, against naive losses of every candidate."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import machines as oracle

from clusterkit.contracts import CostTable, Task
from clusterkit.contracts.outcomes import Scores
from clusterkit.errors import InvalidParameter
from clusterkit.families.shared.band import Band
from clusterkit.families.shared.codecs import BiasThreshold
from clusterkit.fitting.label_iterations import balanced_by
from clusterkit.numerics.losses import LOSSES, best_bias, loss_of

losses = st.sampled_from(LOSSES)


@st.composite
def scored(draw, most=40):
    """Scores, perhaps with ties or an offset, and sizes that label 0 may have."""
    n = draw(st.integers(2, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    g = rng.normal(size=n) * draw(st.sampled_from([0.01, 1.0, 30.0]))
    g = {"plain": g, "ties": np.round(2 * g) / 2, "offset": g + 1000.0}[
        draw(st.sampled_from(["plain", "ties", "offset"]))
    ]
    low = draw(st.integers(0, n // 2))
    return g, low, n - low


def task_of(n, low, high):
    return Task(n, 2, (np.full(2, low), np.full(2, high)))


def calibrated(g, low, high, **parameters):
    return BiasThreshold(**parameters).calibrate(g[:, None], task_of(len(g), low, high))


@given(case=scored(), loss=losses, epsilon=st.sampled_from([0.0, 0.1, 0.7]))
def test_the_bias_is_the_best_of_all_candidates(case, loss, epsilon):
    g, low, high = case
    codec = calibrated(g, low, high, loss=loss, epsilon=epsilon)
    labels = codec.decode(g[:, None], 2)
    candidates = oracle.candidates(g, low, high, loss, epsilon)
    if not candidates:  # one group of equal scores covers all sizes: it gets label 0 as a whole
        group = np.sort(g)[min(max(high, 1), len(g)) - 1]
        np.testing.assert_array_equal(labels, g > group)
        return
    best = min(candidates)[0]
    sizes = {k: value for value, k, _ in candidates}
    k = int(np.sum(labels == 0))
    assert k in sizes, f"{k} samples with label 0, allowed {sorted(sizes)}"
    tolerance = 1e-9 * (1.0 + float(np.abs(g - g.mean()).max()) ** 2) * len(g)
    assert sizes[k] <= best + tolerance
    # the lowest k of those as good
    assert all(sizes[other] > best - tolerance for other in sizes if other < k)
    assert all(sizes[other] > sizes[k] - tolerance for other in sizes)


@given(case=scored(most=9), loss=st.sampled_from(["laplacian", "square", "hinge"]))
def test_no_balanced_labelling_that_keeps_the_order_is_cheaper_at_its_bias(case, loss):
    g, low, high = case
    if len(np.unique(g)) < len(g):
        return
    codec = calibrated(g, low, high, loss=loss)
    chosen = codec.decode(g[:, None], 2)
    value = oracle.loss(g, codec.bias, 2.0 * chosen - 1.0, loss)
    ordered = np.argsort(g)
    for labels in product((0, 1), repeat=len(g)):
        y = np.array(labels)
        k = int(np.sum(y == 0))
        if not (max(low, 1) <= k <= min(high, len(g) - 1)) or np.any(np.diff(y[ordered]) < 0):
            continue
        b = -(g[ordered[k - 1]] + g[ordered[k]]) / 2.0
        assert value <= oracle.loss(g, b, 2.0 * y - 1.0, loss) + 1e-9 * (1 + np.abs(g).max() ** 2)


@given(case=scored(), loss=losses)
def test_without_ties_the_sizes_are_allowed(case, loss):
    g, low, high = case
    if len(np.unique(g)) < len(g):
        return
    sizes = np.bincount(calibrated(g, low, high, loss=loss).decode(g[:, None], 2), minlength=2)
    assert sizes.min() >= max(low, 1)
    assert sizes.max() <= high


@given(case=scored(), loss=losses)
def test_the_band_gives_the_sizes_that_ties_forbid(case, loss):
    g, _, _ = case
    band = Band(slack=1)
    task = Task(len(g), 2, band.bounds(len(g), 2))
    labeling = BiasThreshold(loss=loss).label(Scores(g[:, None], None), None, task, None)
    sizes = np.bincount(balanced_by(band, CostTable(labeling.costs, labeling.labels), task).labels, minlength=2)
    assert abs(sizes[0] - sizes[1]) <= 1


@given(case=scored(), loss=losses, epsilon=st.sampled_from([0.0, 0.3]))
def test_no_bias_is_better_than_the_best(case, loss, epsilon):
    g, low, _ = case
    y = np.where(np.arange(len(g)) < max(low, 1), -1.0, 1.0)
    b = best_bias(g, y, loss, epsilon)
    value = loss_of(g + b - y, y, loss, epsilon)
    np.testing.assert_allclose(value, oracle.loss(g, b, y, loss, epsilon), rtol=1e-9, atol=1e-9)
    centre = float(np.mean(y - g))
    for other in [*(y - g), *(y - g + epsilon), *(y - g - epsilon), *np.linspace(centre - 3, centre + 3, 25)]:
        assert value <= oracle.loss(g, other, y, loss, epsilon) + 1e-8 * (1 + np.abs(g).max())


def test_worked_example():
    # between 0.1 and 3: of the other cuts each leaves a sample 2 and more from its target
    g = np.array([0.0, 3.0, 0.1, 3.2])
    codec = calibrated(g, 1, 3)
    assert codec.bias == pytest.approx(-1.55)
    np.testing.assert_array_equal(codec.decode(g[:, None], 2), [0, 1, 0, 1])
    np.testing.assert_allclose(codec.costs(g[:, None], 2)[0], [-1.55, 1.55])


def test_a_tie_is_not_split():
    g = np.array([0.0, 1.0, 1.0, 1.0, 2.0])
    for loss in LOSSES:
        labels = calibrated(g, 2, 3, loss=loss).decode(g[:, None], 2)
        np.testing.assert_array_equal(labels, [0, 0, 0, 0, 1])  # infeasible: the balancer's business


def test_of_biases_whose_losses_differ_by_rounding_the_one_with_fewest_samples_of_label_0_is_taken():
    g = np.array([-1.3, -1.1, -0.4, -0.2, 0.2, 0.4, 1.1, 1.3])  # its own mirror, so every cut has a twin
    labels = calibrated(g, 1, 7, loss="hinge").decode(g[:, None], 2)
    np.testing.assert_array_equal(labels, [0, 1, 1, 1, 1, 1, 1, 1])


def test_neighbouring_floats_are_told_apart_in_single_precision():
    g = np.array([[-1.0], [1.0], [1.0 + 1e-4], [1.0 + 1e-4]], dtype=np.float32)
    codec = BiasThreshold().calibrate(g, task_of(4, 2, 2))
    np.testing.assert_array_equal(codec.decode(g, 2), [0, 0, 1, 1])


def test_no_bounds_mean_one_sample_at_least():
    g = np.array([[5.0], [5.1], [5.2], [9.0]])
    codec = BiasThreshold(loss="square").calibrate(g, Task(4, 2))
    np.testing.assert_array_equal(codec.decode(g, 2), [0, 0, 0, 1])


def test_a_fixed_bias_stays():
    g = np.array([[-3.0], [1.0], [4.0]])
    codec = BiasThreshold(bias=-2.0)
    assert codec.calibrate(g, task_of(3, 1, 2)) is codec
    np.testing.assert_array_equal(codec.decode(g, 2), [0, 0, 1])


def test_predicting_uses_the_bias_of_the_fit():
    rows = np.random.default_rng(0).normal(size=(9, 1)) + 3.0
    labeling = BiasThreshold().label(Scores(rows, lambda Y: Y), None, task_of(9, 4, 5), None)
    assert set(np.bincount(labeling.labels)) == {4, 5}
    np.testing.assert_array_equal(labeling.predict(rows), labeling.labels)
    np.testing.assert_array_equal(labeling.predict(rows[:3]), labeling.labels[:3])


def test_unknown_loss():
    with pytest.raises(InvalidParameter, match="labeler 'bias_threshold': loss must be one of 'hinge', 'laplacian'"):
        BiasThreshold(loss="huber")
