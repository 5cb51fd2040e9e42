"""Laws of the NMF solver, and the textbook updates it must equal."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import InvalidData
from clusterkit.families.factors import nmf, updates
from clusterkit.families.factors.nmf import Nmf
from clusterkit.families.factors.updates import RowUpdate
from clusterkit.families.means.rows_kmeans import RowsKMeans
from clusterkit.families.shared.codecs import Argmax
from clusterkit.families.shared.scaling import Identity
from clusterkit.fitting.fit import fit
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import KernelSpace, build_space
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit.samples.limits import listening
from clusterkit.samples.transform import IdentityMap
from clusterkit.testing.laws.solver import PASS_LAWS
from clusterkit_campaign.oracles import nmf as oracle

OF_LABELS = {"sums_and_finish_equal_solve", "sums_know_the_objective"}
ITERATING_LAWS = [law for law in PASS_LAWS if law.name not in OF_LABELS]
"""The laws of solvers by passes that learn from no labels."""


@st.composite
def nonnegative(draw):
    """Nonnegative matrices with zeros, zero rows and columns, duplicates, and a scale."""
    n, L = draw(st.integers(2, 40)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.random((n, L)) * (rng.random((n, L)) < draw(st.sampled_from([0.2, 0.6, 1.0])))
    if draw(st.booleans()):
        X[0] = 0.0
    if draw(st.booleans()):
        X[-1] = X[n // 2]
    if draw(st.booleans()):
        X[:, 0] = 0.0
    return X * draw(st.sampled_from([1e-6, 1.0, 1e5]))


def space_of(X, storage="dense"):
    return build_space(X, IdentityMap(X.shape[1]), storage=storage)


def solve(X, k, seed=0, storage="dense", **parameters):
    space = space_of(X, storage)
    solver = Nmf(**parameters)
    prepared = solver.prepare(space, Task(len(X), k), np.random.default_rng(9))
    outcome = prepared.solve(None, None, np.random.default_rng(seed))
    return outcome, prepared.objective(None, outcome)


def blobs(n=90, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(3), n // 3)
    parts = rng.random((3, 12)) * (rng.random((3, 12)) < 0.4) + 0.02
    return parts[truth] * (0.5 + rng.random((n, 1))) + 0.05 * rng.random((n, 12)), truth


@given(X=nonnegative(), k=st.integers(1, 5), seed=st.integers(0, 99))
def test_equals_the_textbook_updates(X, k, seed):
    V = X.T
    if V.mean() == 0:
        return
    delta = 1e-12
    W, B, history = oracle.iterate(V, *oracle.start(V, k, np.random.default_rng(seed)), 8, delta * V.mean())
    B = oracle.averaged(B.T, X).T
    history[-1] = oracle.objective(V, W, B)
    outcome, value = solve(X, k, seed, max_iter=8, tol=0, delta=delta)
    np.testing.assert_allclose(outcome.rows, B.T, rtol=1e-6, atol=1e-9 * B.max())
    np.testing.assert_allclose(outcome.extend.basis, W, rtol=1e-6, atol=1e-9 * W.max())
    np.testing.assert_allclose(outcome.status.history, history, rtol=1e-9, atol=1e-13 * np.sum(V**2))
    assert value[0] == outcome.status.history[-1]


@given(X=nonnegative(), k=st.integers(1, 6), delta=st.sampled_from([0.0, 1e-12, 1e-3, 10.0]))
def test_objective_never_rises_and_factors_stay_finite_and_nonnegative(X, k, delta):
    outcome, _ = solve(X, k, max_iter=60, tol=0, delta=delta)
    history = np.array(outcome.status.history)
    assert np.all(history[1:] <= history[:-1] * (1 + 1e-10) + 1e-14 * np.sum(X**2))
    for factor in (outcome.rows, outcome.extend.basis, outcome.scale):
        assert np.all(np.isfinite(factor))
        assert np.all(factor >= 0)
    np.testing.assert_allclose(
        outcome.status.history[-1],
        0.5 * np.sum((X - outcome.rows @ outcome.extend.basis.T) ** 2),
        rtol=1e-9,
        atol=1e-13 * np.sum(X**2),
    )


@given(X=nonnegative(), k=st.integers(1, 5), seed=st.integers(0, 99))
def test_hals_equals_plain_coordinate_descent(X, k, seed):
    V = X.T
    if V.mean() == 0:
        return
    n, L = X.shape
    passes = [min(nmf.HALS_MAX_PASSES, 1 + int(nmf.HALS_EFFORT * (1 + length / k))) for length in (L, n)]
    W, B, history = oracle.iterate_hals(V, *oracle.start(V, k, np.random.default_rng(seed)), 3, *passes, nmf.HALS_STOP)
    B = oracle.averaged(B.T, X).T
    history[-1] = oracle.objective(V, W, B)
    outcome, _ = solve(X, k, seed, max_iter=3, tol=0, update="hals")
    np.testing.assert_allclose(outcome.status.history, history, rtol=1e-6, atol=1e-12 * np.sum(V**2))
    np.testing.assert_allclose(
        outcome.rows @ outcome.extend.basis.T, (W @ B).T, rtol=1e-4, atol=1e-6 * max(V.max(), (W @ B).max())
    )


@pytest.mark.parametrize("seed", range(5))
def test_hals_is_ahead_of_multiplicative_updates(seed):
    X = np.random.default_rng(seed).random((80, 30))
    for iterations in (5, 20):
        (_, slow), (_, fast) = (
            solve(X, 4, seed, max_iter=iterations, tol=0, update=u) for u in ("multiplicative", "hals")
        )
        assert fast[0] < slow[0]


UPDATES = st.builds(RowUpdate, st.just("multiplicative"), delta=st.sampled_from([0.0, 1e-12, 1e-3, 10.0])) | st.builds(
    RowUpdate, st.just("hals"), max_passes=st.integers(1, 4)
)


@given(X=nonnegative(), k=st.integers(1, 6), update=UPDATES, seed=st.integers(0, 99))
def test_half_a_step_never_raises_the_objective(X, k, update, seed):
    rng = np.random.default_rng(seed)
    A, W = (rng.random((m, k)) * (rng.random((m, k)) < 0.7) for m in X.shape)
    before, old = np.sum((X - A @ W.T) ** 2), A.copy()
    moved = update.advance(A, X @ W, W.T @ W)
    assert np.sum((X - A @ W.T) ** 2) <= before * (1 + 1e-10) + 1e-14 * np.sum(X**2)
    assert np.all(A >= 0)
    np.testing.assert_allclose(moved, np.sum((A - old) ** 2), rtol=1e-9, atol=1e-30)


@given(update=UPDATES, k=st.integers(1, 5), seed=st.integers(0, 99))
def test_an_exact_factorisation_stays(update, k, seed):
    rng = np.random.default_rng(seed)
    A, W = rng.random((20, k)) * (rng.random((20, k)) < 0.7), rng.random((9, k))
    old = A.copy()
    update.advance(A, A @ W.T @ W, W.T @ W)
    np.testing.assert_allclose(A @ W.T, old @ W.T, atol=1e-10)


@pytest.mark.parametrize("s", [1e-3, 100.0])
def test_the_default_delta_hardly_disturbs_the_scaling(s):
    X, _ = blobs()
    (plain, F), (scaled, G) = solve(X, 3, max_iter=50, tol=0), solve(s * X, 3, max_iter=50, tol=0)
    np.testing.assert_allclose(G, s**2 * F, rtol=1e-8)
    np.testing.assert_allclose(scaled.rows, np.sqrt(s) * plain.rows, rtol=1e-6)


def test_zero_sample_and_zero_matrix():
    X, _ = blobs()
    X[3] = 0
    outcome, _ = solve(X, 3)
    assert np.all(outcome.rows[3] < 1e-8)
    outcome, value = solve(np.zeros((5, 3)), 2)
    assert not outcome.rows.any()
    assert not outcome.extend(np.ones((2, 3))).any()
    assert value[0] == 0
    assert outcome.status.converged


@pytest.mark.parametrize("update", ["multiplicative", "hals"])
def test_the_number_of_threads_changes_no_bit(monkeypatch, update):
    X = np.random.default_rng(0).random((1300, 40))  # three jobs in each block
    single, _ = solve(X, 3, max_iter=5, tol=0, update=update)
    monkeypatch.setattr(updates, "available", lambda: 3)
    monkeypatch.setattr(updates, "THREADED_PRODUCTS", 0)
    several, _ = solve(X, 3, max_iter=5, tol=0, update=update)
    assert np.array_equal(single.rows, several.rows)
    assert np.array_equal(single.extend.basis, several.extend.basis)
    assert single.status == several.status


@pytest.mark.parametrize("k", [31, 40])
def test_many_columns_equal_the_textbook_too(k):
    X = np.random.default_rng(0).random((130, 67))
    W, B, history = oracle.iterate(X.T, *oracle.start(X.T, k, np.random.default_rng(1)), 5, 1e-12 * X.mean())
    outcome, _ = solve(X, k, 1, max_iter=5, tol=0)
    np.testing.assert_allclose(outcome.rows, B.T, rtol=1e-6)
    np.testing.assert_allclose(outcome.extend.basis, W, rtol=1e-6)
    np.testing.assert_allclose(outcome.status.history, history, rtol=1e-9)


@pytest.mark.parametrize("update", ["multiplicative", "hals"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_equals_dense(update, dtype):
    rng = np.random.default_rng(0)
    X = (rng.random((400, 30)) * (rng.random((400, 30)) < 0.1)).astype(dtype)
    outcomes = []
    for points in (X, SparseRows.of(X)):
        prepared = Nmf(update=update, max_iter=20, tol=0).prepare(space_of(points), Task(400, 3), None)
        outcomes.append(prepared.solve(None, None, np.random.default_rng(1)))
    dense, sparse = outcomes
    assert sparse.rows.dtype == dtype
    rounding = {"rtol": 1e-8, "atol": 1e-10} if dtype == np.float64 else {"rtol": 1e-3, "atol": 1e-4}
    np.testing.assert_allclose(sparse.rows, dense.rows, **rounding)
    np.testing.assert_allclose(sparse.status.history, dense.status.history, rtol=1e-5)
    np.testing.assert_allclose(sparse.extend(SparseRows.of(X)), dense.extend(X), **rounding)


def test_a_kernel_matrix_is_factorised_like_features():
    X, _ = blobs()
    space = KernelSpace(X, Gaussian(2.0))
    K = space.gram()
    prepared = Nmf(max_iter=40, tol=0).prepare(space, Task(len(X), 3), None)
    outcome = prepared.solve(None, None, np.random.default_rng(4))
    W, B, history = oracle.iterate(K, *oracle.start(K, 3, np.random.default_rng(4)), 40, 1e-12 * K.mean())
    np.testing.assert_allclose(outcome.rows, B.T, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(outcome.extend.basis, W, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(outcome.status.history, history, rtol=1e-9)
    # a sample is folded in by its row of the kernel matrix, whoever asks with it
    np.testing.assert_allclose(outcome.extend(X[5:7]), outcome.extend(X)[5:7], rtol=1e-9)
    from scipy.optimize import nnls

    best = np.array([nnls(W, row)[0] for row in K])
    residual = [np.sum((K - A @ W.T) ** 2) for A in (best, outcome.extend(X))]
    assert residual[1] <= residual[0] * 1.01


def test_a_kernel_with_negative_values_is_refused():
    X = np.random.default_rng(0).normal(size=(9, 2))
    with pytest.raises(InvalidData, match=r"solver 'nmf' needs a nonnegative kernel, its smallest .*'rbf'"):
        Nmf().prepare(KernelSpace(X, Linear()), Task(9, 2), None)


def test_normalize_keeps_the_product_and_makes_columns_comparable():
    X, _ = blobs()
    plain, _ = solve(X, 3)
    unit, _ = solve(X, 3, normalize=True)
    np.testing.assert_allclose(np.linalg.norm(unit.extend.basis, axis=0), 1)
    np.testing.assert_allclose(unit.rows @ unit.extend.basis.T, plain.rows @ plain.extend.basis.T)
    np.testing.assert_allclose(unit.rows * unit.scale, plain.rows * plain.scale)


def test_fold_in_approaches_the_best_rows_and_depends_on_its_own_row_alone():
    X, _ = blobs()
    outcome, _ = solve(X, 3, tol=0, max_iter=2000)
    W = outcome.extend.basis
    rows = outcome.extend(X)
    from scipy.optimize import nnls

    best = np.array([nnls(W, x)[0] for x in X])
    residual = [np.sum((X - A @ W.T) ** 2) for A in (best, rows)]
    assert residual[1] <= residual[0] * 1.01
    np.testing.assert_allclose(outcome.extend(X[7:9]), rows[7:9], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(outcome.extend.columns(slice(1, 3))(X), rows[:, 1:])
    assert np.all(outcome.extend(-X) == 0)
    assert np.array_equal(pickle.loads(pickle.dumps(outcome.extend))(X), rows)
    assert outcome.extend(X[:0]).shape == (0, 3)


def test_negative_features_are_refused():
    X, _ = blobs()
    with pytest.raises(InvalidData, match=r"solver 'nmf' .* smallest is -3\.5\. .*'minmax'.*'elm'.*'rbf'"):
        solve(np.where(X.max() == X, -3.5, X), 2)


def test_stops_by_tolerance_or_says_why_not():
    X, _ = blobs()
    done, _ = solve(X, 3, tol=1e-3)
    assert done.status.converged
    assert "tolerance" in done.status.reason
    assert done.status.n_iter == len(done.status.history) < 500
    cut, _ = solve(X, 3, tol=0, max_iter=4)
    assert not cut.status.converged
    assert "max_iter = 4" in cut.status.reason


def test_interrupt_keeps_the_factors_so_far():
    X, _ = blobs()

    def stop(report):
        assert report.stage == "nmf"
        if report.iteration == 5:
            raise KeyboardInterrupt

    with listening(stop):
        outcome, value = solve(X, 3)
    same, expected = solve(X, 3, max_iter=5, tol=0)
    assert "interrupted after 5" in outcome.status.reason
    assert np.array_equal(outcome.rows, same.rows)
    assert value == expected


def test_clusters_parts_and_repeats_for_a_seed():
    X, truth = blobs()
    for labeler in (RowsKMeans(), Argmax()):
        composition = Composition(Identity(), Nmf(normalize=True), labeler, None, None, 3, n_init=3)
        first, second = (fit(composition, X, Seeds(5)) for _ in range(2))
        assert np.array_equal(first.labels, second.labels)
        assert len(set(zip(first.labels, truth, strict=True))) == 3
        assert first.objective == min(first.objectives)
        assert not first.exact
        assert np.mean(first.predict(X) == first.labels) > 0.95
        clone = pickle.loads(pickle.dumps(first.predict))
        assert np.array_equal(clone(X), first.predict(X))


@pytest.mark.parametrize("law", ITERATING_LAWS, ids=lambda law: law.name)
def test_rows_solved_from_the_basis_obey_the_laws_of_iterations(law):
    stage = Nmf(update="anls", max_iter=20)
    assert law.applies(stage)
    law(stage)


def test_rows_solved_from_the_basis_end_near_coordinate_descent():
    rng = np.random.default_rng(0)
    X = rng.random((200, 3)) @ rng.random((3, 12)) + 0.05 * rng.random((200, 12))
    (rows, value), (_, other) = (solve(X, 3, 1, update=update, max_iter=300) for update in ("anls", "hals"))
    assert value[0] == pytest.approx(other[0], rel=0.05)
    assert np.all(np.diff(rows.status.history) <= 1e-9 * rows.status.history[0])
    assert rows.exact_on_training
    np.testing.assert_allclose(rows.extend(X), rows.rows, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(rows.extend.basis, axis=0), 1.0)
