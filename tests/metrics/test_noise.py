"""What becomes of noise in the external metrics: nothing but the same metric of rewritten labels."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.metrics import (
    adjusted_rand,
    anmi,
    clustering_accuracy,
    contingency,
    nmi,
    purity,
    purity_by_class,
    rand_index,
)

METRICS = [clustering_accuracy, rand_index, adjusted_rand, purity, purity_by_class, nmi]
SYMMETRIC = [clustering_accuracy, rand_index, adjusted_rand, nmi]
MODES = ["cluster", "singletons", "exclude"]
ROUNDING = 1e-12


@st.composite
def labellings(draw, max_size=25):
    """Classes and clusters, -1 among both."""
    n = draw(st.integers(1, max_size))
    side = st.lists(st.integers(-1, 3), min_size=n, max_size=n)
    return draw(side), draw(side)


def rewritten(true, pred, noise):
    """The same without noise labels: -1 named 99, or each its own name, or the samples dropped."""
    if noise == "exclude":
        pairs = [(t, p) for t, p in zip(true, pred, strict=True) if p != -1]
        return [t for t, _ in pairs], [p for _, p in pairs]
    name = {"cluster": lambda i: 99, "singletons": lambda i: 100 + i}[noise]
    return list(true), [name(i) if p == -1 else p for i, p in enumerate(pred)]


@pytest.mark.parametrize("noise", MODES)
@pytest.mark.parametrize("metric", METRICS)
@given(pair=labellings())
def test_equals_the_metric_of_rewritten_labels(metric, noise, pair):
    true, pred = rewritten(*pair, noise)
    value = metric(*pair, noise=noise)
    if not pred:
        assert math.isnan(value)
        return
    assert value == pytest.approx(metric(true, pred), abs=ROUNDING)
    if metric in SYMMETRIC:
        assert value == pytest.approx(metric(pred, true), abs=ROUNDING)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("classes", [[-1, -1, 1, 1], [-1.0, -1.0, 1.0, 1.0]])
def test_a_class_named_minus_one_is_a_class(metric, classes):
    for noise in MODES:
        assert metric(classes, [0, 0, 1, 1], noise=noise) == 1.0


@pytest.mark.parametrize(
    "pred",
    [
        [0, -1, -1],
        [0.0, -1.0, -1.0],
        np.array([0, -1, -1], dtype=np.int8),
        np.array([0, -1, -1.0], dtype=object),
        np.array([0, -1, -1], dtype=np.float32),
        (2**70, -1, -1),
    ],
    ids=["int", "float", "int8", "object", "float32", "big"],
)
def test_what_noise_is(pred):
    true = [0, 0, 1]
    for metric in METRICS:
        assert metric(true, pred, noise="exclude") == 1.0
        assert metric(true, pred, noise="singletons") == pytest.approx(metric(true, [0, 1, 2]))
        assert metric(true, pred) == pytest.approx(metric(true, [0, 1, 1]))


@pytest.mark.parametrize(
    "pred",
    [["0", "-1", "-1"], np.array(["0", "-1", "-1"]), [False, True, True], np.array([0, 255, 255], dtype=np.uint8)],
    ids=["strings", "array of strings", "bools", "unsigned"],
)
def test_what_noise_is_not(pred):
    for noise in MODES:
        assert rand_index([0, 1, 1], pred, noise=noise) == 1.0


def test_singletons_are_columns_before_the_others():
    table = contingency(["a", "a", "b", "b"], [7, -1, 3, -1], noise="singletons")
    assert table.clusters.tolist() == [-1, -1, 3, 7]
    assert table.to_array().tolist() == [[1, 0, 0, 1], [0, 1, 1, 0]]


def test_excluding_everything_leaves_an_empty_table():
    table = contingency(["a", "b"], [-1, -1], noise="exclude")
    assert table.is_empty
    assert table.n_samples == 0
    assert table.shape == (0, 0)


@pytest.mark.parametrize("metric", [*METRICS, contingency])
def test_unknown_mode(metric):
    with pytest.raises(ValueError, match="noise='drop' is not one of exclude, singletons, cluster"):
        metric([0, 1], [0, 1], noise="drop")


@pytest.mark.parametrize("noise", MODES)
@pytest.mark.parametrize("average", ["arithmetic", "geometric", "min", "max"])
@given(
    rows=st.integers(1, 12).flatmap(
        lambda n: st.lists(st.lists(st.integers(-1, 3), min_size=n, max_size=n), min_size=2, max_size=5)
    ),
    seed=st.integers(0, 99),
)
def test_anmi_is_the_mean_of_nmi(noise, average, rows, seed):
    chosen, *ensemble = rows
    value = anmi(chosen, ensemble, average=average, noise=noise)
    each = [nmi(member, chosen, average=average, noise=noise) for member in ensemble]
    assert value == pytest.approx(sum(each) / len(each), abs=ROUNDING, nan_ok=True)
    order = np.random.default_rng(seed).permutation(len(ensemble))
    again = anmi(chosen, np.array(ensemble)[order], average=average, noise=noise)
    assert again == value or (math.isnan(again) and math.isnan(value))


def test_anmi_of_copies_is_one_and_its_default_is_geometric():
    assert anmi([0, 0, 1, 2], [["b", "b", "a", "c"]] * 3) == 1.0
    assert anmi([0, 0, 1, 1], iter([[0, 0, 1, 2]])) == nmi([0, 0, 1, 2], [0, 0, 1, 1], average="geometric")


@pytest.mark.parametrize(
    ("labels", "ensemble", "changes", "message"),
    [
        ([0, 1], [], {}, "ensemble has no member"),
        ([0, 1], [[0, 1], [0]], {}, r"ensemble\[1\] has 1 labels but labels has 2"),
        ([0, 1], [[0, 1], [0, None]], {}, r"ensemble\[1\]\[1\] is None"),
        ([0, 1], [0, 1], {}, r"ensemble\[0\] must be one-dimensional"),
        ([], [[0]], {}, "labels is empty"),
        ([0, 1], [[0, 1]], {"average": "mean"}, "average='mean' is not one of"),
        ([0, 1], [[0, 1]], {"noise": "drop"}, "noise='drop' is not one of"),
    ],
)
def test_what_anmi_refuses(labels, ensemble, changes, message):
    with pytest.raises(ValueError, match=message):
        anmi(labels, ensemble, **changes)
