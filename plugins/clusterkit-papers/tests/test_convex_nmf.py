"""Laws of convex NMF, and the textbook updates it must equal."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from clusterkit_papers.elm.convex_nmf import ConvexNmf
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import InvalidData, InvalidParameter
from clusterkit.families.means.rows_kmeans import RowsKMeans
from clusterkit.families.shared.codecs import Argmax
from clusterkit.families.shared.rbf import Rbf
from clusterkit.fitting.fit import fit
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit.samples.limits import listening
from clusterkit_campaign.oracles import nmf as oracle


@st.composite
def kernels(draw):
    """Gaussian kernels of any width, and linear ones of nonnegative samples with zeros and duplicates."""
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.random((n, d)) * (rng.random((n, d)) < draw(st.sampled_from([0.3, 1.0])))
    if draw(st.booleans()):
        X[-1] = X[n // 2]
    kernel = draw(st.sampled_from([Gaussian(0.01), Gaussian(1.0), Gaussian(100.0), Linear()]))
    return KernelSpace(X, kernel)


def solve(space, k, seed=0, **parameters):
    prepared = ConvexNmf(**parameters).prepare(space, Task(space.n, k), None)
    outcome = prepared.solve(None, None, np.random.default_rng(seed))
    return outcome, prepared.objective(None, outcome)


def moons(n=120):
    rng = np.random.default_rng(0)
    angle = np.pi * rng.random(n)
    truth = np.arange(n) % 2
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(truth, 1, -1)[:, None] + truth[:, None] * [1.0, -0.5]
    return X + 0.05 * rng.normal(size=(n, 2)), truth


@given(space=kernels(), k=st.integers(1, 5), seed=st.integers(0, 99))
def test_equals_the_textbook_updates(space, k, seed):
    K = space.gram()
    if not K.any():
        return
    R, A, history = oracle.iterate_convex(
        K, *oracle.start_convex(K, k, np.random.default_rng(seed)), 6, 1e-12 * K.mean()
    )
    R = oracle.averaged(R, space.points)
    history[-1] = 0.5 * np.trace((np.eye(len(K)) - R @ A.T) @ K @ (np.eye(len(K)) - A @ R.T))
    outcome, value = solve(space, k, seed, max_iter=6, tol=0)
    np.testing.assert_allclose(outcome.rows, R, rtol=1e-6, atol=1e-9 * R.max())
    np.testing.assert_allclose(outcome.extend.basis, A, rtol=1e-6, atol=1e-9 * A.max())
    np.testing.assert_allclose(outcome.status.history, history, rtol=1e-8, atol=1e-12 * K.trace())
    assert value[0] == outcome.status.history[-1]


@given(space=kernels(), k=st.integers(1, 6), delta=st.sampled_from([0.0, 1e-12, 1e-3, 10.0]))
def test_objective_never_rises_and_factors_stay_finite_and_nonnegative(space, k, delta):
    outcome, _ = solve(space, k, max_iter=60, tol=0, delta=delta)
    history = np.array(outcome.status.history)
    assert np.all(history[1:] <= history[:-1] * (1 + 1e-10) + 1e-13 * space.gram().trace())
    for factor in (outcome.rows, outcome.extend.basis, outcome.scale):
        assert np.all(np.isfinite(factor))
        assert np.all(factor >= 0)


@given(space=kernels(), power=st.integers(-6, 6))
def test_scaling_the_kernel_scales_the_objective_and_leaves_the_factors(space, power):
    if not isinstance(space.kernel, Linear):
        return
    s = 2.0**power
    (plain, F), (scaled, G) = (
        solve(KernelSpace(X, Linear()), 2, max_iter=15, tol=0) for X in (space.points, s * space.points)
    )
    np.testing.assert_allclose(G, s**2 * F, rtol=1e-9, atol=1e-13 * s**2 * space.gram().trace())
    np.testing.assert_allclose(scaled.rows, plain.rows, rtol=1e-9)


def test_a_basis_of_well_separated_clusters_is_their_means():
    X = np.repeat(np.eye(3) * 9, 10, axis=0)
    outcome, value = solve(KernelSpace(X, Gaussian(1.0)), 3, tol=1e-8)
    assert value[0] < 1e-6
    assert len(set(outcome.rows.argmax(axis=1)[::10])) == 3


def test_a_kernel_of_zeros():
    outcome, value = solve(KernelSpace(np.zeros((5, 2)), Linear()), 2)
    assert not outcome.rows.any()
    assert not outcome.extend(np.ones((2, 2))).any()
    assert value[0] == 0
    assert outcome.status.converged


def test_fold_in_approaches_the_best_rows_and_depends_on_its_own_row_alone():
    X, _ = moons()
    space = KernelSpace(X, Gaussian(4.0))
    outcome, _ = solve(space, 3, tol=0, max_iter=1500)
    K, A, rows = space.gram(), outcome.extend.basis, outcome.extend(X)
    error = [0.5 * np.trace(K - 2 * R @ A.T @ K + R @ A.T @ K @ A @ R.T) for R in (outcome.rows, rows)]
    assert error[1] <= error[0] * 1.001
    np.testing.assert_allclose(outcome.extend(X[7:9]), rows[7:9], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(outcome.extend.columns(slice(1, 3))(X), rows[:, 1:])
    assert np.array_equal(pickle.loads(pickle.dumps(outcome.extend))(X), rows)


def test_float32():
    X, _ = moons(700)
    space = KernelSpace(X.astype(np.float32), Gaussian(4.0))
    outcome, _ = solve(space, 2, max_iter=20, tol=0)
    assert outcome.rows.dtype == outcome.extend(X).dtype == np.float64
    double, _ = solve(KernelSpace(X, Gaussian(4.0)), 2, max_iter=20, tol=0)
    np.testing.assert_allclose(outcome.status.history, double.status.history, rtol=1e-4)


def test_stops_by_tolerance_or_says_why_not():
    space = KernelSpace(moons()[0], Gaussian(4.0))
    done, _ = solve(space, 2, tol=1e-2)
    assert done.status.converged
    assert "tolerance" in done.status.reason
    cut, _ = solve(space, 2, tol=0, max_iter=4)
    assert not cut.status.converged
    assert "max_iter = 4" in cut.status.reason


def test_interrupt_keeps_the_factors_so_far():
    space = KernelSpace(moons()[0], Gaussian(4.0))

    def stop(report):
        assert report.stage == "convex_nmf"
        if report.iteration == 5:
            raise KeyboardInterrupt

    with listening(stop):
        outcome, value = solve(space, 3)
    same, expected = solve(space, 3, max_iter=5, tol=0)
    assert "interrupted after 5" in outcome.status.reason
    assert np.array_equal(outcome.rows, same.rows)
    assert value == expected


def test_a_kernel_with_negative_values_is_refused():
    X = np.random.default_rng(0).normal(size=(9, 2))
    with pytest.raises(InvalidData, match="solver 'convex_nmf' needs a nonnegative kernel"):
        ConvexNmf().prepare(KernelSpace(X, Linear()), Task(9, 2), None)


@pytest.mark.parametrize("wrong", [{"max_iter": 0}, {"tol": -1.0}, {"delta": -1.0}])
def test_parameters_are_checked(wrong):
    with pytest.raises(InvalidParameter, match="solver 'convex_nmf'"):
        ConvexNmf(**wrong)


@pytest.mark.parametrize("labeler", [RowsKMeans(), Argmax()])
def test_clusters_and_predicts(labeler):
    rng = np.random.default_rng(0)
    truth = np.arange(90) % 2
    X = rng.normal(size=(90, 2)) + 5.0 * truth[:, None]
    composition = Composition(Rbf(gamma=0.1), ConvexNmf(), labeler, None, None, 2, n_init=2)
    first, second = (fit(composition, X, Seeds(5)) for _ in range(2))
    assert np.array_equal(first.labels, second.labels)
    assert max(np.mean(first.labels == truth), np.mean(first.labels != truth)) > 0.9
    assert not first.exact
    assert np.mean(first.predict(X) == first.labels) > 0.95
