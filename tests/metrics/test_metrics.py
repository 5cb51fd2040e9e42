"""Laws every agreement metric obeys, and its values against oracles and scikit-learn."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import metrics as sk

from clusterkit.metrics import (
    adjusted_asymmetric_accuracy,
    adjusted_rand,
    clustering_accuracy,
    contingency,
    nmi,
    purity,
    purity_by_class,
    rand_index,
)
from clusterkit.metrics.classes import count_pairs, rand_from_pairs
from clusterkit_campaign.oracles.measures import (
    accuracy_by_enumeration,
    asymmetric_accuracy_by_enumeration,
    nmi_by_definition,
    purity_by_class_by_counting,
    purity_by_clusters,
    rand_index_by_pairs,
)

METRICS = [adjusted_asymmetric_accuracy, clustering_accuracy, rand_index, adjusted_rand, purity, purity_by_class, nmi]
SYMMETRIC = [clustering_accuracy, rand_index, adjusted_rand, nmi]
ROUNDING = 1e-12


@st.composite
def labellings(draw, kinds=5, max_size=25):
    """Two label vectors of one length; -1 is among the labels."""
    n = draw(st.integers(1, max_size))
    side = st.lists(st.integers(-1, kinds - 2), min_size=n, max_size=n)
    return draw(side), draw(side)


def renamed(labels, rng):
    """The same partition under other names, of another type."""
    names = np.array(["p", "q", "r", "s", "t", "u"])
    rng.shuffle(names)
    return [str(names[label + 1]) for label in labels]


@pytest.mark.parametrize("metric", METRICS)
@given(pair=labellings(), seed=st.integers(0, 99))
def test_identical_partitions_give_exactly_one(metric, pair, seed):
    true, _ = pair
    assert metric(true, renamed(true, np.random.default_rng(seed))) == 1.0


@pytest.mark.parametrize("metric", SYMMETRIC)
@given(pair=labellings())
def test_one_means_identical(metric, pair):
    true, pred = pair
    assume(not contingency(true, pred).is_bijection)
    assert metric(true, pred) < 1


@given(pair=labellings())
def test_ranges(pair):
    true, pred = pair
    k, j = contingency(true, pred).shape
    assert 1 / max(k, j) - ROUNDING <= clustering_accuracy(true, pred) <= 1
    assert 1 / k - ROUNDING <= purity(true, pred) <= 1
    assert 0 <= rand_index(true, pred) <= 1
    assert -0.5 <= adjusted_rand(true, pred) <= 1
    by_average = [nmi(true, pred, average=how) for how in ("max", "arithmetic", "geometric", "min")]
    assert 0 <= by_average[0] <= 1
    assert by_average[-1] <= 1
    assert all(low <= high + ROUNDING for low, high in pairwise(by_average))


@given(pair=labellings())
def test_purity_is_at_least_accuracy(pair):
    assert purity(*pair) >= clustering_accuracy(*pair)


@given(pair=labellings(kinds=2, max_size=60))
def test_two_clusters_rand_index_follows_from_accuracy(pair):
    true, pred = pair
    n = len(true)
    assume(n > 1)
    g = round(clustering_accuracy(true, pred) * n)
    expected = (g * (g - 1) + (n - g) * (n - g - 1)) / (n * (n - 1))
    assert rand_index(true, pred) == pytest.approx(expected, abs=ROUNDING)


@given(pair=labellings())
def test_against_oracles(pair):
    assert rand_index(*pair) == pytest.approx(rand_index_by_pairs(*pair), abs=ROUNDING)
    assert clustering_accuracy(*pair) == accuracy_by_enumeration(*pair)
    assert purity(*pair) == purity_by_clusters(*pair)
    expected = asymmetric_accuracy_by_enumeration(*pair)
    assert adjusted_asymmetric_accuracy(*pair) == pytest.approx(expected, abs=ROUNDING)
    assert nmi(*pair) == pytest.approx(nmi_by_definition(*pair), abs=ROUNDING)
    assert purity_by_class(*pair) == pytest.approx(purity_by_class_by_counting(*pair), abs=ROUNDING)


@given(labels=st.lists(st.integers(-1, 4), min_size=1, max_size=25))
def test_extremes_of_the_two_purities(labels):
    n, classes = len(labels), len(set(labels))
    assert purity_by_class(labels, [0] * n) == 1.0
    assert purity_by_class(labels, range(n)) == pytest.approx(classes / n, abs=ROUNDING)
    assert purity(labels, [0] * n) == max(map(labels.count, labels)) / n
    assert purity(labels, range(n)) == 1.0


@given(pair=labellings(kinds=8, max_size=60))
def test_against_scikit_learn(pair):
    true, pred = pair
    assert rand_index(true, pred) == pytest.approx(sk.rand_score(true, pred), abs=ROUNDING)
    assert adjusted_rand(true, pred) == pytest.approx(sk.adjusted_rand_score(true, pred), abs=1e-9)
    for how in ("arithmetic", "geometric", "min", "max"):
        expected = sk.normalized_mutual_info_score(true, pred, average_method=how)
        assert nmi(true, pred, average=how) == pytest.approx(expected, abs=1e-9)


@given(pair=labellings())
def test_coordinate_list_gives_the_same_values_as_the_dense_table(pair):
    dense = [metric(*pair) for metric in METRICS]  # sums of shares may be added in another order
    table = contingency(*pair)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("clusterkit.metrics.table.MAX_DENSE_CELLS", 0)
        sparse = contingency(*pair)
        np.testing.assert_allclose([metric(*pair) for metric in METRICS], dense, rtol=0, atol=ROUNDING)
        with pytest.raises(ValueError, match="too many cells"):
            sparse.to_array()
    for field in ("rows", "columns", "counts"):
        np.testing.assert_array_equal(getattr(sparse, field), getattr(table, field))


@given(pair=labellings())
def test_table_sums(pair):
    table = contingency(*pair)
    dense = table.to_array()
    assert dense.dtype == np.int64
    np.testing.assert_array_equal(dense, sk.cluster.contingency_matrix(*pair))
    np.testing.assert_array_equal(dense.sum(axis=1), table.class_sizes)
    np.testing.assert_array_equal(dense.sum(axis=0), table.cluster_sizes)
    assert dense.sum() == table.n_samples == len(pair[0])


def test_many_small_clusters_need_no_dense_table():
    n = 20_000  # a dense table would take 3.2 GB
    labels = np.arange(n)
    halves = labels // 2
    assert contingency(labels, halves).counts.size == n
    assert clustering_accuracy(labels, halves) == 0.5
    assert purity(labels, halves) == 0.5
    assert rand_index(labels, labels[::-1]) == 1.0


def test_pair_counts_do_not_overflow():
    big = 3_000_000_000  # big**2 fits int64, sums of two such squares do not
    table = contingency([0, 1, 0, 1], [0, 1, 1, 0])
    huge = type(table)(table.classes, table.clusters, table.rows, table.columns, table.counts * big)
    pairs = count_pairs(huge)
    n = 4 * big
    assert pairs.total == n * (n - 1) // 2
    assert pairs.both == 4 * (big * (big - 1) // 2)
    assert rand_from_pairs(pairs) == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("metric", METRICS)
def test_one_sample_is_perfect(metric):
    assert metric([7], ["x"]) == 1.0


def test_one_entropy_zero_gives_no_information():
    for how in ("arithmetic", "geometric", "min", "max"):
        assert nmi([0, 0, 0], [0, 1, 1], average=how) == 0.0
        assert nmi([0, 0, 0], [1, 1, 1], average=how) == 1.0


def test_noise_is_a_cluster_like_any_other():
    assert rand_index([0, 0, 1, 1], [0, 0, -1, -1]) == 1.0
    assert clustering_accuracy([0, 0, 1, 1], [0, 0, -1, 2]) == 0.75


@pytest.mark.parametrize(
    "labels",
    [
        [True, False, True],
        np.array([True, False, True]),
        ["b", "a", "b"],
        np.array(["b", "a", "b"], dtype=object),
        [1.0, 0.0, 1.0],
        np.array([1, 0, 1], dtype=np.uint8),
        (2**70, 0, 2**70),
        ["nan", "", "nan"],
    ],
)
def test_kinds_of_labels(labels):
    assert clustering_accuracy(labels, [5, 6, 5]) == 1.0


@pytest.mark.parametrize(
    ("true", "pred", "message"),
    [
        ([], [], "labels_true is empty"),
        ([0, 1], [0], "labels_true has 2 labels but labels_pred has 1"),
        ([[0, 1]], [0], r"labels_true must be one-dimensional, got shape \(1, 2\)"),
        (3, [0], r"labels_true must be one-dimensional, got shape \(\)"),
        ([[0], [0, 1]], [0, 1], "labels_true must be one-dimensional"),
        ([0.0, float("nan")], [0, 1], r"labels_true\[1\] is nan"),
        ([0, 1], [float("inf"), 0], r"labels_pred\[0\] is inf"),
        (["a", float("nan")], [0, 1], r"labels_true\[1\] is nan"),
        ([0, 1], [0, None], r"labels_pred\[1\] is None"),
        (["a", 1], [0, 1], "labels_true mixes strings with other values: 'a' and 1"),
        ([{}, {}], [0, 1], r"labels_true\[0\] is {}"),
        ([1j, 2j], [0, 1], "labels_true has values of type complex128"),
        (np.ma.array([0, 1], mask=[0, 1]), [0, 1], "labels_true has masked values"),
    ],
)
def test_what_is_no_label_vector(true, pred, message):
    for metric in METRICS:
        with pytest.raises(ValueError, match=message):
            metric(true, pred)


@pytest.mark.parametrize("dtype", ["Int64", "string", "object"])
def test_pandas(dtype):
    pandas = pytest.importorskip("pandas")
    labels = {"Int64": [1, 2], "string": ["a", "b"], "object": ["a", "b"]}[dtype]
    assert rand_index(pandas.Series(labels, dtype=dtype), [0, 1]) == 1.0
    with pytest.raises(ValueError, match=r"labels_true\[1\] is (nan|<NA>|None)"):
        rand_index(pandas.Series([labels[0], None], dtype=dtype), [0, 1])


def test_unknown_average():
    with pytest.raises(ValueError, match="average='mean' is not one of arithmetic, geometric, min, max"):
        nmi([0, 1], [0, 1], average="mean")
