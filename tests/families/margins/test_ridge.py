"""Laws of the solver `ridge`: primal, dual and kernel are one function, and the function is ridge regression."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.maps import mapped

from clusterkit.contracts import Task
from clusterkit.contracts.featuremap import Chain
from clusterkit.families.margins.ridge import Ridge
from clusterkit.families.shared.codecs import Argmax, Interval, Threshold
from clusterkit.families.shared.elm import Elm
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.shared.scaling import MinMax
from clusterkit.samples import KernelSpace, build_space, transform
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit.samples.transform import IdentityMap
from clusterkit_campaign.oracles import ridge as oracle

CODECS = [Threshold(), Interval(), Interval(rule="midpoint"), Argmax()]


def dense(H):
    return build_space(H, IdentityMap(H.shape[1]))


def solved(space, labels, k, codec=Argmax(), **parameters):  # noqa: B008 (frozen)
    """The preparation, the coded labels and the outcome of one iteration."""
    rng = np.random.default_rng(0)
    prepared = Ridge(**parameters).prepare(space, Task(space.n, k), rng)
    coded = codec.encode(labels, k)
    return prepared, coded, prepared.solve(coded, None, rng)


def close(F, G, tolerance=1e-8):
    """Agreement relative to the largest score."""
    np.testing.assert_allclose(F, G, rtol=0, atol=tolerance * np.abs(G).max())


@st.composite
def problem(draw):
    """Features (n, L), labels, a number of clusters, a codec, a moderate C."""
    n, L = draw(st.integers(2, 40)), draw(st.integers(1, 40))
    codec = draw(st.sampled_from(CODECS))
    k = 2 if codec.max_clusters == 2 else draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    H = rng.uniform(size=(n, L)) * draw(st.sampled_from([1.0, 1.0, 0.01]))
    return H, rng.integers(k, size=n), k, codec, 10.0 ** draw(st.floats(-3, 3))


@given(case=problem())
def test_features_and_linear_kernel_and_both_closed_forms_agree(case):
    H, labels, k, codec, C = case
    T = codec.codebook(k)[labels]
    _, _, outcome = solved(dense(H), labels, k, codec, C=C)
    _, _, kernel = solved(KernelSpace(H, Linear()), labels, k, codec, C=C)
    close(kernel.rows, outcome.rows)
    for B in (oracle.primal(H, T, C), oracle.dual(H, T, C)):
        close(outcome.rows, H @ B)
        close(outcome.extend.coefficients, B)
    close(outcome.rows, oracle.fitted(H, T, C))


@given(case=problem())
def test_objective_is_the_explicit_one_and_no_coefficients_have_a_lower_one(case):
    H, labels, k, codec, C = case
    T = codec.codebook(k)[labels]
    prepared, coded, outcome = solved(dense(H), labels, k, codec, C=C)
    B = outcome.extend.coefficients
    value = prepared.objective(coded, outcome)
    assert value.shape == (1,)
    np.testing.assert_allclose(value[0], oracle.objective(H, B, T, C), rtol=1e-9)
    for other in (1.001 * B, 0.999 * B, B + 1e-3 * np.random.default_rng(0).normal(size=B.shape)):
        assert value[0] <= oracle.objective(H, other, T, C)


@given(case=problem())
def test_kernel_objective_is_the_explicit_one(case):
    H, labels, k, codec, C = case
    space = KernelSpace(H, Gaussian(1.0 / H.var()))
    prepared, coded, outcome = solved(space, labels, k, codec, C=C)
    A, K, T = outcome.extend.coefficients, space.gram(), codec.codebook(k)[labels]
    explicit = 0.5 * np.sum(A * (K @ A)) + 0.5 * C * np.sum((K @ A - T) ** 2)
    np.testing.assert_allclose(prepared.objective(coded, outcome)[0], explicit, rtol=1e-8)
    np.testing.assert_allclose(outcome.extend(H), outcome.rows, rtol=0, atol=1e-10 * np.abs(A).sum())


@given(case=problem())
def test_scores_shrink(case):
    H, labels, k, codec, C = case
    T = codec.codebook(k)[labels]
    for space in (dense(H), KernelSpace(H, Gaussian(1.0 / H.var()))):
        rows = solved(space, labels, k, codec, C=C)[2].rows
        assert np.all(np.linalg.norm(rows, axis=0) < np.linalg.norm(T, axis=0) + 1e-300)


@given(case=problem())
def test_opposite_labels_give_exactly_opposite_scores(case):
    H, labels, _, _, C = case
    for space in (dense(H), KernelSpace(H, Gaussian(1.0 / H.var()))):
        F, G = (solved(space, y, 2, Threshold(), C=C)[2].rows for y in (labels % 2, 1 - labels % 2))
        np.testing.assert_array_equal(F, -G)


@given(case=problem(), share=st.floats(0.05, 0.95))
def test_degrees_of_freedom_are_reached(case, share):
    H, labels, k, codec, _ = case
    df = share * np.linalg.matrix_rank(H) / 2
    for space in (dense(H), KernelSpace(H, Linear())):
        prepared, _, outcome = solved(space, labels, k, codec, df=df)
        assert set(prepared.resolved) == {"C"}
        C = prepared.resolved["C"]
        np.testing.assert_allclose(oracle.degrees(H, C), df, atol=1e-6)
        close(outcome.rows, oracle.fitted(H, codec.codebook(k)[labels], C))


@pytest.mark.parametrize("shape", [(30, 12), (12, 30), (40, 1)])
@pytest.mark.parametrize("rank", [None, 4])
def test_degrees_above_half_the_rank_are_lowered_and_reported(shape, rank):
    rng = np.random.default_rng(0)
    H = (
        rng.normal(size=shape)
        if rank is None
        else rng.normal(size=(shape[0], rank)) @ rng.normal(size=(rank, shape[1]))
    )
    half = np.linalg.matrix_rank(H) / 2
    labels = np.arange(len(H)) % 2
    for space in (dense(H), KernelSpace(H, Linear())):
        prepared, _, outcome = solved(space, labels, 2, df=1000.0)
        assert prepared.resolved["df"] == half
        np.testing.assert_allclose(oracle.degrees(H, prepared.resolved["C"]), half, atol=1e-6)
        close(outcome.rows, oracle.fitted(H, Argmax().codebook(2)[labels], prepared.resolved["C"]))


def test_degrees_do_not_depend_on_scale():
    H = np.random.default_rng(0).uniform(size=(50, 20))
    small, large = (solved(dense(scale * H), np.arange(50) % 3, 3, df=5.0) for scale in (1e-3, 1e3))
    close(small[2].rows, large[2].rows)
    np.testing.assert_allclose(small[0].resolved["C"], 1e12 * large[0].resolved["C"], rtol=1e-8)


def test_C_wins_over_df_and_none_is_the_default():
    H = np.random.default_rng(0).uniform(size=(50, 40))
    labels = np.arange(50) % 2
    alone, both = solved(dense(H), labels, 2, C=3.0), solved(dense(H), labels, 2, C=3.0, df=2.0)
    assert alone[0].resolved == both[0].resolved == {}
    np.testing.assert_array_equal(alone[2].rows, both[2].rows)
    explicit, none = solved(dense(H), labels, 2, df=12.0), solved(dense(H), labels, 2, df=None)
    np.testing.assert_array_equal(explicit[2].rows, none[2].rows)


@pytest.mark.parametrize("C", [1e-10, 1e-100, 2.0**-10])
@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_tiny_C_tends_to_class_sums(C, shape):
    H = np.random.default_rng(0).uniform(size=shape)
    labels = np.arange(len(H)) % 3 // 2
    T = Threshold().codebook(2)[labels]
    for space in (dense(H), KernelSpace(H, Linear())):
        prepared, coded, outcome = solved(space, labels, 2, Threshold(), C=C)
        close(outcome.rows, oracle.fitted(H, T, C), 1e-12)
        if C < 1e-8:
            close(outcome.rows / C, H @ (H.T @ T), 1e-7)
            np.testing.assert_allclose(prepared.objective(coded, outcome) / C, len(H) / 2, rtol=1e-6)


@pytest.mark.parametrize("C", [1e15, 1e18])
def test_falls_back_where_cholesky_fails(C):
    rng = np.random.default_rng(0)
    H = rng.normal(size=(60, 8)) @ rng.normal(size=(8, 20))
    labels = rng.integers(3, size=60)
    prepared, _, outcome = solved(dense(H), labels, 3, C=C)
    assert prepared.resolved["factorisation"].startswith("eigenvectors")
    close(outcome.rows, oracle.fitted(H, np.eye(3)[labels], C), 1e-8)
    np.testing.assert_array_equal(outcome.extend(H), outcome.rows)


@pytest.mark.parametrize(("shape", "C"), [((60, 20), 1e30), ((40, 60), 1e12), ((40, 60), 1e18)])
def test_large_C_ignores_directions_without_data(shape, C):
    # directions whose eigenvalue is rounding error must not be multiplied by C, whichever factorisation is used
    rng = np.random.default_rng(0)
    H = rng.normal(size=(shape[0], 8)) @ rng.normal(size=(8, shape[1]))
    labels = rng.integers(2, size=shape[0])
    U = np.linalg.svd(H, full_matrices=False)[0][:, :8]
    T = Threshold().codebook(2)[labels]
    for space in (dense(H), KernelSpace(H, Linear())):
        _, _, outcome = solved(space, labels, 2, Threshold(), C=C)
        close(outcome.rows, U @ (U.T @ T), 1e-6)


@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_features_all_zero_score_zero(shape):
    space = dense(np.zeros(shape))
    prepared, coded, outcome = solved(space, np.arange(len(space.points)) % 2, 2)
    assert not outcome.rows.any()
    assert prepared.resolved["df"] == 0.0
    assert np.isfinite(prepared.objective(coded, outcome)).all()


@given(case=problem())
def test_float32_is_factored_in_float64(case):
    H, labels, k, codec, C = case
    single = H.astype(np.float32)
    prepared, _, outcome = solved(dense(single), labels, k, codec, C=C)
    factor = prepared.iterations.factor if H.shape[1] <= len(H) else prepared.factor
    assert factor.matrix.dtype == np.float64
    assert outcome.rows.dtype == np.float32
    np.testing.assert_array_equal(outcome.extend(single), outcome.rows)
    # rounding of the two products, H'A and H B, where A = C (T - F)
    T = codec.codebook(k)[labels]
    F = oracle.fitted(single.astype(np.float64), T, C)
    size = np.abs(H) @ np.abs(oracle.primal(single.astype(np.float64), T, C))
    if H.shape[1] > len(H):
        size = size + C * np.abs(H) @ (np.abs(H).T @ np.abs(T - F))
    else:  # the primal solves for H'T, whose terms may cancel
        inverse = np.linalg.inv(H.T @ H + np.eye(H.shape[1]) / C)
        size = size + np.abs(H) @ np.abs(inverse) @ (np.abs(H).T @ np.abs(T))
    assert np.all(np.abs(outcome.rows - F) <= 1e-6 * (size + np.abs(F)))


MAPS = {
    "elm": Elm(n_hidden=30),
    "wide": Elm(n_hidden=300),
    "streamed": Elm(n_hidden=30, storage="streamed"),
    "wide, streamed": Elm(n_hidden=300, storage="streamed"),
    "sigmoid": Elm(n_hidden=30, activation="sigmoid"),
    "minmax": MinMax(),
    "chain": Chain((MinMax(), Elm(n_hidden=30))),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("block", [transform.BLOCK_BYTES, 1])
def test_extension_gives_the_rows_bit_for_bit(monkeypatch, name, dtype, block):
    monkeypatch.setattr(transform, "BLOCK_BYTES", block)
    X = np.random.default_rng(0).normal(size=(210, 6)).astype(dtype)
    space = mapped(MAPS[name], X, 1)
    for codec, k in ((Threshold(), 2), (Argmax(), 4)):
        _, _, outcome = solved(space, np.arange(210) % k, k, codec)
        np.testing.assert_array_equal(outcome.extend(X), outcome.rows)


@pytest.mark.parametrize("L", [30, 300])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_streamed_equals_dense_bit_for_bit(monkeypatch, L, dtype):
    monkeypatch.setattr(transform, "BLOCK_BYTES", 1)  # blocks of 64 rows
    X = np.random.default_rng(0).normal(size=(210, 6)).astype(dtype)
    spaces = [mapped(Elm(n_hidden=L, storage=s), X, 1) for s in ("dense", "streamed")]
    one, two = (solved(space, np.arange(210) % 3, 3)[2] for space in spaces)
    np.testing.assert_array_equal(one.rows, two.rows)
    np.testing.assert_array_equal(one.extend.coefficients, two.extend.coefficients)


def test_kernel_of_float32():
    X = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32)
    labels = np.arange(40) % 2
    _, _, single = solved(mapped(Rbf(), X, 0), labels, 2, C=10.0)
    _, _, double = solved(
        mapped(Rbf(), X.astype(np.float64), 0),
        labels,
        2,
        C=10.0,
    )
    close(single.rows, double.rows, 1e-4)
    close(single.extend(X), single.rows, 1e-4)
