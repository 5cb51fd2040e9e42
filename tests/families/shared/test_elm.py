"""Laws of the feature map `elm`: ranges, rows on their own, seeds, storage, accuracy far from the origin."""

import warnings

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.maps import mapped

from clusterkit.errors import ClusterkitWarning, NeedsMemory
from clusterkit.families.shared.elm import Elm, RidgeNodes
from clusterkit.samples import DenseSpace, StreamedSpace

SEED = st.integers(0, 2**32 - 1)
KINDS = {
    "data": Elm(n_hidden=17),
    "uniform": Elm(n_hidden=17, centers="uniform"),
    "sigmoid": Elm(n_hidden=17, activation="sigmoid"),
    "radbas": Elm(n_hidden=17, activation="radbas"),
    "raw": Elm(n_hidden=17, scale=None),
    "raw sigmoid": Elm(n_hidden=17, activation="sigmoid", scale=None),
}
kinds = st.sampled_from(sorted(KINDS))


def fit(featuremap, X, seed=0):
    return mapped(featuremap, X, seed)


@st.composite
def data(draw, rows=(2, 40)):
    """Rows of moderate size, of low or high dimension."""
    n, d = draw(st.integers(*rows)), draw(st.integers(1, 9))
    return np.random.default_rng(draw(SEED)).normal(size=(n, d))


def formula(space, X):
    """The features by definition, in extended precision, and the scale of errors of the expanded square."""
    nodes = space.mapping
    Y = X.astype(np.longdouble)
    if nodes.scaling is not None:
        s = nodes.scaling
        Y = (Y - s.shift.astype(np.longdouble)) * s.factor.astype(np.longdouble) + s.offset.astype(np.longdouble)
    if hasattr(nodes, "weights"):
        Z = Y @ nodes.weights.T.astype(np.longdouble) + nodes.biases
        H = np.exp(-(Z**2)) if isinstance(nodes, RidgeNodes) else 1 / (1 + np.exp(-Z))
        return H, 1 + np.abs(Y) @ np.abs(nodes.weights.T) + np.abs(nodes.biases)
    A = nodes.centers.astype(np.longdouble)
    D = np.sum((Y[:, None] - A[None]) ** 2, axis=2)
    o = np.median(A, axis=0)
    size = np.sum((Y - o) ** 2, axis=1)[:, None] + np.sum((A - o) ** 2, axis=1)
    return np.exp(-nodes.widths * D), 1 + nodes.widths * size


@given(X=data(), kind=kinds, seed=SEED)
def test_features_are_the_formula_and_in_range(X, kind, seed):
    space = fit(KINDS[kind], X, seed)
    H = space.rows()
    exact, size = formula(space, X)
    assert H.shape == exact.shape == (len(X), 17)
    assert np.all(np.abs(H - exact) <= 1e-14 * size)
    assert np.all((H > 0) & (H < 1 if "sigmoid" in kind else H <= 1))


@given(X=data(), kind=kinds, seed=SEED)
def test_float32(X, kind, seed):
    X = X.astype(np.float32)
    space = fit(KINDS[kind], X, seed)
    H = space.rows()
    exact, size = formula(space, X)
    assert H.dtype == space.at(X[:1]).dtype == np.float32
    assert np.all(np.abs(H - exact) <= 2e-6 * size)


@given(X=data(), seed=SEED, scale=st.sampled_from(["minmax", None]))
def test_one_at_the_centres_which_are_all_rows_once(X, seed, scale):
    space = fit(Elm(scale=scale), X, seed)
    assert space.width == len(X)
    assert space.resolved["n_hidden"] == len(X)
    np.testing.assert_allclose(space.rows().max(axis=1), 1.0, atol=1e-12)
    if scale is None:
        np.testing.assert_array_equal(np.sort(space.mapping.centers, axis=0), np.sort(X, axis=0))
        np.testing.assert_allclose(np.diag(space.at(space.mapping.centers)), 1.0, atol=1e-12)


@given(X=data(), L=st.integers(1, 60), width=st.sampled_from([0.1, 0.5, 3.0]), seed=SEED)
def test_centres_are_rows_and_widths_follow_the_median(X, L, width, seed):
    nodes = fit(Elm(n_hidden=L, width=width, scale=None), X, seed).mapping
    assert all(np.any(np.all(center == X, axis=1)) for center in nodes.centers)
    distances = [np.linalg.norm(X[i] - X[j]) for i in range(len(X)) for j in range(i)]
    most = width / np.median(distances) ** 2
    # half-way between the two middle distances, squared before or after
    slack = np.quantile(distances, 0.5, method="lower") / np.quantile(distances, 0.5, method="higher")
    assert np.all((nodes.widths > 0) & (nodes.widths <= most / slack**2))
    if L > 40:
        assert nodes.widths.max() > 0.7 * most * slack**2
        assert nodes.widths.min() < 0.3 * most


@given(X=data(), L=st.integers(30, 60), width=st.sampled_from([0.5, 1.0, 2.0]), seed=SEED)
def test_published_distributions(X, L, width, seed):
    gaussian = fit(Elm(n_hidden=L, centers="uniform", width=width), X, seed).mapping
    assert np.all(np.abs(gaussian.centers) <= 1)
    assert np.all((gaussian.widths > 0) & (gaussian.widths <= width))
    assert gaussian.widths.max() > 0.7 * width
    sums = [fit(Elm(n_hidden=L, activation=kind, width=width), X, seed).mapping for kind in ("sigmoid", "radbas")]
    for nodes in sums:
        assert np.all(np.abs(nodes.weights) <= width)
        assert np.all((nodes.biases >= 0) & (nodes.biases <= width))
    for values in (gaussian.centers, *(nodes.weights / width for nodes in sums)):
        assert values.min() < -0.3
        assert values.max() > 0.3


@given(X=data(), seed=SEED, value=st.sampled_from([0.0, 0.1, -3e5]))
def test_a_constant_attribute_is_harmless(X, seed, value):
    wider = np.concatenate([X, np.full((len(X), 1), value)], axis=1)
    for scale in ("minmax", None):
        plain = fit(Elm(n_hidden=20, scale=scale), X, seed).rows()
        np.testing.assert_allclose(fit(Elm(n_hidden=20, scale=scale), wider, seed).rows(), plain, atol=1e-8)


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e6])
@pytest.mark.parametrize("d", [3, 9])
@pytest.mark.parametrize("scale", ["minmax", None])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_accurate_far_from_the_origin(offset, d, scale, dtype):
    X = (np.random.default_rng(0).normal(size=(150, d)) * (1 if dtype == np.float64 else 50) + offset).astype(dtype)
    space = fit(Elm(n_hidden=60, scale=scale), X)
    exact, size = formula(space, X)
    assert np.all(np.abs(space.rows() - exact) <= 8 * np.finfo(dtype).eps * size)
    assert size.max() < 100  # so the bound says something


def test_storage_follows_the_memory_cap(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 7))
    assert isinstance(fit(Elm(n_hidden=20), X), DenseSpace)
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "64K")
    space = fit(Elm(n_hidden=20), X)
    assert isinstance(space, StreamedSpace)
    assert space.resolved["storage"] == "streamed"


def test_number_of_nodes():
    X = np.random.default_rng(0).normal(size=(1100, 2))
    assert fit(Elm(), X).resolved == {"n_hidden": 1000}
    assert fit(Elm(), X[:30]).width == 30
    assert fit(Elm(n_hidden=7), X).resolved == {}
    assert fit(Elm(n_hidden=1), X).rows().shape == (1100, 1)


def test_unscaled_images_warn_of_underflow():
    X = np.random.default_rng(0).uniform(0, 255, size=(50, 30))
    with pytest.warns(
        ClusterkitWarning, match=r"featuremap 'elm': \d+ % of the features vanish and \d+ of 50 rows tri"
    ):
        fit(Elm(n_hidden=20, centers="uniform", scale=None), X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(Elm(n_hidden=20), X)
        fit(Elm(n_hidden=20, scale=None), X)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 / 3])
@pytest.mark.parametrize("kind", ["data", "uniform", "sigmoid", "radbas", "raw"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equal_rows_have_equal_features(value, kind, dtype):
    H = fit(KINDS[kind], np.full((40, 6), value, dtype=dtype)).rows()
    assert np.all(np.isfinite(H))
    assert np.all(np.ptp(H, axis=0) <= 1e-6)


def test_rounding_errors_between_equal_rows_are_no_distances():
    for seed in range(24):
        rng = np.random.default_rng(seed)
        X = np.concatenate([np.tile(rng.normal(size=(1, 5)), (260, 1)), rng.normal(size=(40, 5))])
        space = fit(Elm(n_hidden=10, width=1.0), X)
        scaled = space.mapping.scaling(X)
        D = np.sum((scaled[:, None] - scaled[None]) ** 2, axis=2)
        assert space.mapping.widths.max() <= 1.001 / np.median(D[D > 0])


def test_single_precision_sees_the_same_of_groups_beside_far_rows():
    X = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    X = np.concatenate([X, [[1e6, 2e6], [-3e6, 1e6]]], dtype=np.float32)
    one, other = (fit(Elm(), X.astype(kind)).rows()[:60] for kind in (np.float32, np.float64))
    np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_nodes_that_do_not_fit_into_memory_are_refused_with_their_size(kind):
    from clusterkit.contracts import Task

    huge = attrs.evolve(KINDS[kind], n_hidden=2**31 - 1)
    with pytest.raises(NeedsMemory, match=r"2,147,483,647 nodes needs .* Use fewer nodes"):
        huge.space_of(np.arange(12.0).reshape(6, 2), Task(6, 2), np.random.default_rng(0))


def test_nodes_far_from_their_hyperplanes_are_0_without_an_overflow():
    X = np.repeat([[15.0], [22.0]], 4, axis=0)
    with np.errstate(all="raise", under="ignore"), pytest.warns(ClusterkitWarning, match="of the features vanish"):
        features = fit(Elm(n_hidden=9, activation="radbas", width=1e300), X, 0).at(X)
    assert np.isin(features, (0.0, 1.0)).all()
