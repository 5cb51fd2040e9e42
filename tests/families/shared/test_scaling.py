"""Laws of `identity`, `minmax`, `zscore`, `unit`, and of chains of maps; the metric that puts one in front."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from oracles.maps import mapped
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score

from clusterkit import recipe
from clusterkit.contracts import Task
from clusterkit.contracts.featuremap import Chain
from clusterkit.errors import ClusterkitWarning, InvalidData, InvalidParameter, UnknownName
from clusterkit.families.shared.elm import Elm
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.shared.scaling import Identity, MinMax, Unit, ZScore
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import DenseSpace, KernelSpace
from clusterkit.testing.compare import small_groups

MAPS = [Identity(), MinMax(), MinMax(limits=(-1.0, 1.0)), ZScore(), Chain((ZScore(), MinMax(limits=(-3, 2))))]
finite = st.floats(-1e9, 1e9).filter(lambda x: x == 0 or abs(x) > 1e-9)


def fit(featuremap, X):
    return mapped(featuremap, X, 0)


def data(dtype=np.float64):
    """Rows with constants, duplicates and very different attributes."""
    shape = st.tuples(st.integers(1, 12), st.integers(1, 4))
    return arrays(np.float64, shape, elements=finite).map(lambda X: X.astype(dtype))


@given(X=data(), limits=st.sampled_from([(0.0, 1.0), (-1.0, 1.0), (0.0, 5.0), (2.0, 3.0), (-4.0, 0.0)]))
def test_minmax_reaches_its_limits_and_keeps_the_order(X, limits):
    low, high = limits
    H = fit(MinMax(limits=limits), X).rows()
    varies = np.ptp(X, axis=0) > 0
    np.testing.assert_array_equal(H.min(axis=0)[varies], low)
    np.testing.assert_allclose(H.max(axis=0)[varies], high, atol=1e-12)
    assert np.all(H[:, ~varies] == (low if low == 0 else (low + high) / 2))
    for before, after in zip(X.T, H.T, strict=True):
        assert np.all(np.diff(after[np.argsort(before)]) >= 0)


@given(X=data())
def test_zscore_has_mean_zero_and_deviation_one(X):
    H = fit(ZScore(), X).rows()
    varies = np.ptp(X, axis=0) > 1e-6 * np.abs(X).max(axis=0)
    np.testing.assert_allclose(H.mean(axis=0)[varies], 0.0, atol=1e-8)
    np.testing.assert_allclose(H.std(axis=0)[varies], 1.0, atol=1e-8)
    assert not H[:, np.ptp(X, axis=0) == 0].any()


@given(X=data(np.float32), which=st.sampled_from(range(len(MAPS))))
def test_float32_stays_and_is_computed_in_float64(X, which):
    single, double = fit(MAPS[which], X).rows(), fit(MAPS[which], X.astype(np.float64)).rows()
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, rtol=1e-5, atol=1e-5)


def test_identity_copies_nothing():
    X = np.random.default_rng(0).normal(size=(9, 3))
    space = fit(Identity(), X)
    assert isinstance(space, DenseSpace)
    assert np.shares_memory(next(space.blocks())[1], X)
    np.testing.assert_array_equal(space.at(2 * X), 2 * X)


def test_new_data_are_not_clipped():
    space = fit(MinMax(), np.array([[0.0], [2.0]]))
    np.testing.assert_array_equal(space.at(np.array([[-2.0], [6.0]])), [[-1.0], [3.0]])


@pytest.mark.parametrize("value", [0.1, 1e6 / 3, 1e100, -7.7])
@pytest.mark.parametrize("n", [7, 1000])
def test_constants_that_do_not_average_exactly(value, n):
    X = np.full((n, 2), value)
    assert not fit(ZScore(), X).rows().any()
    assert not fit(ZScore(), np.full((n, 2), value, dtype=np.float32) if abs(value) < 1e30 else X).rows().any()
    assert not fit(MinMax(), X).rows().any()
    assert not fit(MinMax(limits=(-1, 1)), X).rows().any()
    assert np.all(fit(MinMax(limits=(1, 3)), X).rows() == 2)


@pytest.mark.parametrize("offset", [1e6, -1e6])
@pytest.mark.parametrize("featuremap", [MinMax(), MinMax(limits=(-1, 1)), ZScore()])
def test_accurate_far_from_the_origin(offset, featuremap):
    X = np.random.default_rng(0).normal(size=(500, 3)) + offset
    Y = X.astype(np.longdouble)
    if isinstance(featuremap, ZScore):
        exact = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    else:
        low, high = featuremap.limits
        exact = (Y - Y.min(axis=0)) / np.ptp(Y, axis=0) * (high - low) + low
    np.testing.assert_allclose(fit(featuremap, X).rows(), exact.astype(np.float64), atol=1e-8)


@pytest.mark.parametrize("featuremap", [MinMax(), ZScore(), Elm(n_hidden=5)])
def test_a_spread_near_the_smallest_number_is_harmless(featuremap):
    X = np.array([[0.0, 1.0], [1e-310, 2.0], [3e-310, 5.0], [2e-310, 4.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.all(np.isfinite(fit(featuremap, X).rows()))


@given(X=data())
def test_chain_is_one_map_after_the_other(X):
    chain = Chain((ZScore(), MinMax(limits=(-1, 1)), Identity()))
    space = fit(chain, X)
    first = fit(ZScore(), X)
    np.testing.assert_array_equal(space.rows(), fit(MinMax(limits=(-1, 1)), first.rows()).rows())
    np.testing.assert_array_equal(space.at(X), space.rows())


def test_chain_into_features_and_kernels():
    X = np.random.default_rng(0).normal(size=(40, 3)) * [1.0, 100.0, 0.01]
    chain = Chain((MinMax(limits=(-1, 1)), Elm(scale=None, n_hidden=11)))
    space, direct = fit(chain, X), fit(Elm(n_hidden=11), X)
    assert chain.gives is Elm.gives
    np.testing.assert_allclose(space.rows(), direct.rows(), atol=1e-14)
    np.testing.assert_allclose(space.at(X[:5]), direct.rows()[:5], atol=1e-13)
    kernel = fit(Chain((ZScore(), Rbf(gamma=0.5))), X)
    assert isinstance(kernel, KernelSpace)
    np.testing.assert_array_equal(kernel.points, fit(ZScore(), X).rows())
    np.testing.assert_allclose(kernel.cross(X), kernel.gram(), atol=1e-14)


def test_chain_reports_what_its_maps_decided():
    X = np.random.default_rng(0).normal(size=(40, 3))
    assert fit(Chain((MinMax(), Elm())), X).resolved == {"n_hidden": 40}
    assert set(fit(Chain((MinMax(), Rbf())), X).resolved) == {"gamma"}


def test_chain_errors():
    X = np.random.default_rng(0).normal(size=(8, 3))
    with pytest.raises(TypeError, match="only the last map of a chain may give a kernel"):
        fit(Chain((Rbf(), MinMax())), X)
    chain = Chain((ZScore(), MinMax(), Elm()))
    assert (chain.owner("limits"), chain.owner("width")) == (1, 2)
    with pytest.raises(UnknownName, match=r"has a parameter 'widht'. Did you mean 'width'"):
        chain.owner("widht")


@pytest.mark.parametrize("limits", [(1.0, 0.0), (1.0, 1.0), 3, (0.0, float("nan")), (0.0, float("inf"))])
def test_limits_out_of_range(limits):
    with pytest.raises(InvalidParameter, match=r"featuremap 'minmax': limits must be a pair \(low, high\)"):
        MinMax(limits=limits)


@pytest.mark.parametrize("n", [7, 12])
def test_the_deviation_by_passes_is_that_in_memory(n):
    X = np.random.default_rng(n).normal(size=(n, 2))
    with small_groups(5):
        H = ZScore().space_of(X, Task(n, 2), np.random.default_rng(0)).rows()
    np.testing.assert_allclose(H, (X - X.mean(axis=0)) / X.std(axis=0), rtol=1e-12)


@given(X=data(), centre=st.booleans())
def test_unit_rows_have_length_one_and_order_distances_as_cosines(X, centre):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusterkitWarning)
        H = fit(Unit(center=centre), X).rows()
    rows = X - X.mean(axis=0) if centre else X
    lengths = np.linalg.norm(H, axis=1)
    some = np.abs(rows).max(axis=1) > 1e-6 * np.abs(X).max()
    np.testing.assert_allclose(lengths[some], 1.0, rtol=1e-12)
    cosines = (rows @ rows.T)[some][:, some] / np.outer(*[np.linalg.norm(rows[some], axis=1)] * 2)
    np.testing.assert_allclose((H @ H.T)[some][:, some], cosines, atol=1e-6)


@pytest.mark.parametrize("size", [1e-200, 1e-40, 1.0, 1e100])
def test_the_size_of_a_row_makes_no_difference_to_its_direction(size):
    X = np.array([[3.0, 4.0], [-5.0, 12.0]])
    np.testing.assert_allclose(fit(Unit(), X * size).rows(), [[0.6, 0.8], [-5 / 13, 12 / 13]], rtol=1e-15)


def test_sparse_rows_of_length_one_are_the_dense_ones():
    X = np.array([[0.0, 3.0, 4.0], [0.0, 0.0, 0.0], [1e-180, 0.0, 1e-180]])
    with pytest.warns(ClusterkitWarning, match="1 of 3 rows have no direction"):
        sparse = fit(Unit(), SparseRows.of(csr_array(X))).rows()
    with pytest.warns(ClusterkitWarning):
        np.testing.assert_allclose(sparse.toarray(), fit(Unit(), X).rows(), rtol=1e-15)
    with pytest.raises(InvalidData, match="center=True makes sparse rows dense"):
        fit(Unit(center=True), SparseRows.of(csr_array(X)))


def test_rows_without_a_direction_are_named_and_counted():
    X = np.array([[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]])
    with pytest.warns(ClusterkitWarning, match="2 of 3 rows have no direction, they are 0"):
        space = fit(Unit(), X)
    assert space.resolved == {"zero_rows": 2}
    np.testing.assert_array_equal(space.rows()[[0, 2]], 0.0)
    with pytest.warns(ClusterkitWarning, match="equal to the mean"):
        assert fit(Unit(center=True), np.ones((3, 2))).resolved == {"zero_rows": 3}


def test_the_metric_cosine_is_the_map_unit_in_front():
    rng = np.random.default_rng(0)
    X = np.repeat(np.eye(2), 20, axis=0) + 0.1 * rng.normal(size=(40, 2))
    X *= rng.uniform(0.1, 100, size=(40, 1))
    by_metric, written = (
        recipe("kmeans", n_clusters=2, random_state=0, **how).fit(X)
        for how in ({"metric": "cosine"}, {"featuremap": "unit"})
    )
    np.testing.assert_array_equal(by_metric.labels_, np.repeat([0, 1], 20) ^ by_metric.labels_[0])
    np.testing.assert_array_equal(by_metric.labels_, written.labels_)
    np.testing.assert_array_equal(by_metric.predict(7 * X), by_metric.labels_)
    chain = recipe("elm-kmeans", n_clusters=2, metric="cosine").composition().featuremap
    assert [part.name for part in chain.maps] == ["unit", "elm"]
    again = recipe("kmeans", n_clusters=2, featuremap=["unit", "elm"], metric="cosine").composition().featuremap
    assert [part.name for part in again.maps] == ["unit", "elm"]


@pytest.mark.parametrize(("name", "k"), [("hdbscan", None), ("spectral", 3)])
@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_directions_that_are_equal_up_to_rounding_are_one(name, k, d, dtype):
    """Among 300 rows of five columns `hdbscan` found 9 clusters, of which each was a set of equal roundings."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 20 if d == 2 else 100)
    X = (rng.normal(size=(3, d))[y] * rng.uniform(0.5, 2.0, size=(len(y), 1))).astype(dtype)
    model = recipe(name, n_clusters=k, metric="cosine", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("metric", ["cosin", None, 3])
def test_an_unknown_metric_is_refused_with_the_choices(metric):
    with pytest.raises(InvalidParameter, match=r"metric must be one of .*'cosine'.*, got"):
        recipe("kmeans", n_clusters=2, metric=metric).fit(np.eye(4))
