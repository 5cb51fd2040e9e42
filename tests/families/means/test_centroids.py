"""Laws of k-means and kernel k-means, against plain loops."""

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import ClusterkitWarning, NeedsMemory
from clusterkit.families.means import _hamerly
from clusterkit.families.means.fuzzy_cmeans import FuzzyCMeans
from clusterkit.families.means.kmeans import Centroids
from clusterkit.families.means.starts import Seeded
from clusterkit.families.shared.codecs import Argmax
from clusterkit.families.shared.elm import Elm
from clusterkit.families.shared.random import Random
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.shared.scaling import Identity
from clusterkit.fitting.fit import fit
from clusterkit.samples import KernelSpace, build_space, transform
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.transform import IdentityMap
from clusterkit_campaign.oracles import means as oracle


def dense(X):
    return build_space(X, IdentityMap(X.shape[1]))


def noise_of(space):
    return Centroids().prepare(space, Task(space.n, 2), np.random.default_rng(0)).geometry.noise


def solve_once(space, labels, k):
    """One iteration: the outcome and its objective."""
    prepared = Centroids().prepare(space, Task(space.n, k), np.random.default_rng(0))
    coded = Argmax().encode(labels, k)
    outcome = prepared.solve(coded, None, np.random.default_rng(0))
    return outcome, prepared.objective(coded, outcome)


@st.composite
def problem(draw):
    """Rows without near-ties, a number of clusters, and labels that may leave classes empty."""
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 7))
    k = draw(st.integers(2, min(n, 6)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d)) * draw(st.sampled_from([1e-3, 1.0, 1e4])) + draw(st.sampled_from([0.0, 50.0]))
    used = draw(st.integers(1, k))
    return X, rng.permutation(k)[:used][rng.integers(used, size=n)], k


# the two rows of a class tie, and the one that seems farther has the smaller rounding error
TIE = [[1564.973078207384, -523.2975275578607], [-935.927379629554, 210.3212427430288]]
TIE += [[-119.42751648564752, 535.6483783350378], [-534.278643673197, 1066.4847946802267]]


@given(case=problem())
@example(case=(np.array(TIE), np.array([2, 1, 2, 1]), 3))
def test_distances_equal_the_oracle_with_empty_classes(case):
    X, labels, k = case
    outcome, value = solve_once(dense(X), labels, k)
    D = oracle.distances(X, labels, k, noise_of(dense(X)))
    atol = 1e-13 * (np.sum(X**2, axis=1).max() + D.max())
    np.testing.assert_allclose(-outcome.rows, D, rtol=1e-9, atol=atol)
    np.testing.assert_allclose(value, oracle.objective(X, labels), rtol=1e-9, atol=len(X) * atol)
    np.testing.assert_array_equal(outcome.extend(X), outcome.rows)


@given(case=problem(), width=st.sampled_from([0.01, 0.1, 0.5]))  # narrower: all distances nearly tie
def test_kernel_distances_equal_the_oracle_with_empty_classes(case, width):
    X, labels, k = case
    space = KernelSpace(X, Gaussian(width / X.var()))
    outcome, value = solve_once(space, labels, k)
    D = oracle.kernel_distances(space.gram(), labels, k, noise_of(space))
    np.testing.assert_allclose(-outcome.rows, D, atol=1e-13)
    np.testing.assert_allclose(value, oracle.kernel_objective(space.gram(), labels), atol=1e-12)
    np.testing.assert_allclose(outcome.extend(X), outcome.rows, atol=1e-12)


@given(case=problem(), seed=st.integers(0, 99))
def test_fit_equals_lloyd_and_is_monotone(case, seed):
    X, _, k = case
    fitted = fit(Composition(Identity(), Centroids(), Argmax(), None, Seeded(), k), X, Seeds(seed))
    start = Seeded().start(dense(X), Task(len(X), k), Seeds(seed).stream("init"))
    labels, history = oracle.lloyd(X, start, k, noise_of(dense(X)))
    assert np.array_equal(fitted.labels, labels)
    atol = 1e-12 * len(X) * np.sum(X**2, axis=1).max()
    np.testing.assert_allclose(fitted.history, history, rtol=1e-9, atol=atol)
    history = np.array(fitted.history)
    assert np.all(history[1:] <= history[:-1] * (1 + 1e-10) + atol)
    # each centre the mean of its class, each sample at its nearest centre
    D = oracle.distances(X, fitted.labels, k)
    assert np.all(D[np.arange(len(X)), fitted.labels] <= D.min(axis=1) + atol)
    assert fitted.exact
    assert np.array_equal(fitted.predict(X), fitted.labels)


@pytest.mark.filterwarnings("ignore:with gamma.*numerically")
@given(case=problem(), width=st.sampled_from([0.01, 0.3, 3.0, 1e6]), seed=st.integers(0, 99))
def test_kernel_fit_is_monotone_and_predicts_its_labels(case, width, seed):
    X, _, k = case
    featuremap = Rbf(gamma=width / X.var())
    fitted = fit(Composition(featuremap, Centroids(), Argmax(), None, Seeded(), k), X, Seeds(seed))
    history = np.array(fitted.history)
    assert np.all(history[1:] <= history[:-1] + 1e-12 * len(X))
    assert np.array_equal(fitted.predict(X), fitted.labels)
    clone = pickle.loads(pickle.dumps(fitted.predict))
    assert np.array_equal(clone(X), fitted.labels)


def test_identity_kernel_keeps_every_partition():
    labels = np.arange(12) % 3
    outcome, _ = solve_once(KernelSpace(np.arange(12.0)[:, None], Gaussian(1e3)), labels, 3)
    assert np.array_equal(np.argmax(outcome.rows, axis=1), labels)
    np.testing.assert_allclose(-outcome.rows[0], [0.75, 1.25, 1.25])


MAPS = (Identity(), Elm(n_hidden=20))
STAGES = [
    *product((*MAPS, Rbf()), (Centroids(),), (Seeded(), Random())),
    *product(MAPS, (FuzzyCMeans(),), (None,)),
]
"""Feature map, solver and start of k-means and of fuzzy c-means, which answer odd samples alike."""


@pytest.mark.parametrize(("featuremap", "solver", "init"), STAGES)
def test_as_many_clusters_as_samples(featuremap, solver, init):
    X = np.random.default_rng(0).normal(size=(15, 3))
    if not isinstance(init, Random):
        fitted = fit(Composition(featuremap, solver, Argmax(), None, init, 15), X, Seeds(0))
        assert fitted.objective < 1e-12
        assert len(np.unique(fitted.labels)) == 15


@pytest.mark.parametrize("offset", [1e6, -1e6])
def test_large_offset_does_not_blur(offset):
    rng = np.random.default_rng(3)
    truth = np.repeat(np.arange(4), 50)
    X = rng.normal(scale=0.2, size=(200, 3)) + rng.normal(size=(4, 3))[truth] * 2
    plain, value = solve_once(dense(X), truth, 4)
    moved, same = solve_once(dense(X + offset), truth, 4)
    np.testing.assert_allclose(moved.rows, plain.rows, atol=1e-7)
    np.testing.assert_allclose(same, value, rtol=1e-8)
    np.testing.assert_allclose(same, oracle.objective(X, truth), rtol=1e-8)
    np.testing.assert_array_equal(moved.extend(X + offset), moved.rows)


@pytest.mark.parametrize(("featuremap", "solver", "init"), STAGES)
def test_constant_data_end_with_zeros(featuremap, solver, init):
    for value, dtype in product((0.0, 0.1, 1e6 / 3), (np.float64, np.float32)):
        X = np.full((151, 5), value, dtype=dtype)
        with pytest.warns(ClusterkitWarning, match="all 151 samples are equal"):
            fitted = fit(Composition(featuremap, solver, Argmax(), None, init, 4), X, Seeds(0))
        assert fitted.converged
        assert not fitted.labels.any()
        assert not fitted.predict(X).any()
        assert np.all(np.isfinite(fitted.outcome.rows))
        if isinstance(solver, FuzzyCMeans):
            np.testing.assert_array_equal(fitted.outcome.rows, np.ones((151, 1)))  # the other three have no rows


@pytest.mark.parametrize(("featuremap", "solver", "init"), STAGES)
def test_fewer_distinct_rows_than_clusters_keep_duplicates_together(featuremap, solver, init):
    values = np.random.default_rng(0).normal(size=(3, 6)) + 10
    which = np.random.default_rng(1).integers(3, size=40)
    for seed in range(5):
        fitted = fit(Composition(featuremap, solver, Argmax(), None, init, 6), values[which], Seeds(seed))
        if isinstance(solver, Centroids):
            assert fitted.missing_clusters == "only 3 distinct samples for n_clusters=6: 3 clusters stay empty"
        assert fitted.converged
        assert fitted.objective < 1e-9
        assert len(set(zip(fitted.labels, which, strict=True))) == 3
        assert np.array_equal(fitted.predict(values[which]), fitted.labels)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_streamed_equals_dense(monkeypatch, dtype):
    monkeypatch.setattr(transform, "BLOCK_BYTES", 1)  # blocks of 64 rows
    monkeypatch.setattr(_hamerly, "GATHERED_BYTES", 1)  # pieces of 64 rows gathered from them
    X = np.random.default_rng(0).normal(size=(210, 4)).astype(dtype)
    fits = [
        fit(
            Composition(Elm(n_hidden=37, storage=storage), Centroids(), Argmax(), None, Seeded(), 5, n_init=3),
            X,
            Seeds(1),
        )
        for storage in ("dense", "streamed")
    ]
    assert np.array_equal(fits[0].labels, fits[1].labels)
    assert np.array_equal(fits[0].outcome.rows, fits[1].outcome.rows)
    assert fits[0].history == fits[1].history
    for one in fits:
        assert one.outcome.rows.dtype == np.float64
        assert np.array_equal(one.predict(X), one.labels)


def test_float32_kernel():
    X = np.random.default_rng(0).normal(size=(80, 6)).astype(np.float32)
    fitted = fit(Composition(Rbf(), Centroids(), Argmax(), None, Seeded(), 3), X, Seeds(1))
    assert fitted.outcome.rows.dtype == np.float64
    assert np.array_equal(fitted.predict(X), fitted.labels)


def test_columns_of_the_extension():
    X = np.random.default_rng(0).normal(size=(30, 3))
    for space in (dense(X), KernelSpace(X, Gaussian(0.5))):
        outcome, _ = solve_once(space, np.arange(30) % 4, 4)
        np.testing.assert_allclose(outcome.extend.columns(slice(1, 3))(X), outcome.rows[:, 1:3], atol=1e-12)
        assert outcome.extend(X[:0]).shape == (0, 4)


def test_kernel_matrix_respects_the_memory_cap(monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "10K")
    X = np.random.default_rng(0).normal(size=(80, 6))
    with pytest.raises(NeedsMemory, match="80 x 80 kernel matrix"):
        fit(Composition(Rbf(), Centroids(), Argmax(), None, Seeded(), 3), X, Seeds(1))


def test_more_starts_are_no_worse():
    X = np.random.default_rng(0).normal(size=(120, 2))
    one, ten = (
        fit(Composition(Identity(), Centroids(), Argmax(), None, Seeded(), 6, n_init=n), X, Seeds(0)) for n in (1, 10)
    )
    assert ten.objective <= one.objective
    np.testing.assert_allclose(ten.objective, oracle.objective(X, ten.labels))
