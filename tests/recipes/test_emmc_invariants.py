"""Invariants of extreme maximum margin clustering (specification 2.9) in the loop, numbered as there.

The fifth and the sixth, other numbers of clusters and other orders of rows, hold for the plain version, which
test_emmc_plain.py compares with the loop.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.emmc_loop import SEED, blobs, falls, gap, loop, problem
from oracles.maps import mapped

from clusterkit.families.shared.band import Band
from clusterkit.families.shared.codecs import Argmax, Interval, Threshold
from clusterkit.families.shared.elm import Elm
from clusterkit.fitting.starting import along_principal_axis
from clusterkit.samples import KernelSpace, build_space
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit.samples.transform import IdentityMap
from clusterkit_campaign.oracles import balance
from clusterkit_campaign.oracles import ridge as oracle


def agree(one, two):
    """Same labels; where a cycle ends the loop, labels equally good."""
    assert one.n_iter == two.n_iter
    assert one.reason == two.reason
    if one.converged:
        np.testing.assert_array_equal(one.labels, two.labels)
    np.testing.assert_allclose(one.objective, two.objective, rtol=1e-6)


# 1


@given(case=problem())
def test_the_loop_respects_the_band_from_any_start(case):
    space, labels, k, slack, C = case
    codecs = [(Argmax(), Band), (Interval(), Band), (Interval(rule="paper"), Band)]
    for codec, balancer in codecs + ([(Threshold(), Band)] if k == 2 else []):
        fit = loop(space, labels, k, codec, balancer(slack=slack), C=C)
        assert gap(fit.labels, k) <= (slack if space.n % k == 0 else max(slack, 1))


# 2


@given(case=problem(clusters=(2, 2)))
def test_two_class_objective_falls_once_feasible(case):
    space, labels, _, slack, C = case
    fit = loop(space, labels, 2, Threshold(), Band(slack=slack), C=C)
    feasible = gap(labels, 2) <= max(slack, space.n % 2)
    assert falls(fit.history if feasible else fit.history[1:])
    assert fit.converged


# 3


@given(case=problem(), codec=st.sampled_from([Argmax(), Interval(), Interval(rule="midpoint")]))
def test_unbalanced_objective_falls_and_the_loop_ends(case, codec):
    space, labels, k, _, C = case
    fit = loop(space, labels, k, codec, C=C)
    assert falls(fit.history)
    assert fit.converged
    assert fit.exact
    np.testing.assert_array_equal(fit.predict(space.points), fit.labels)


# 4


@given(case=problem())
def test_features_and_their_kernel_give_the_same_labels(case):
    space, labels, k, slack, C = case
    H = space.rows()
    for balancer in (None, Band(slack=slack)):
        one, two = (
            loop(s, labels, k, Argmax(), balancer, C=C)
            for s in (build_space(H, IdentityMap(H.shape[1])), KernelSpace(H, Linear()))
        )
        agree(one, two)
        np.testing.assert_allclose(one.history, two.history, rtol=1e-6)


# 7


@given(case=problem(clusters=(2, 2)))
def test_two_outputs_are_one_signed_output(case):
    space, labels, _, slack, C = case
    for balancer in (None, Band(slack=slack)):
        signed = loop(space, labels, 2, Threshold(), balancer, C=C)
        onehot = loop(space, labels, 2, Argmax(), balancer, C=C)
        if len(set(signed.labels)) == 1:  # a cluster without rows has no output
            assert not onehot.labels.any()
            continue
        np.testing.assert_array_equal(signed.labels, onehot.labels)
        difference = onehot.outcome.rows @ [-1.0, 1.0]
        np.testing.assert_allclose(difference, signed.outcome.rows[:, 0], atol=1e-10)


# 8


@given(case=problem(clusters=(2, 2)))
def test_tiny_C_decides_by_the_sign_of_the_class_sums(case):
    space, labels, _, _, _ = case
    H = space.rows()
    f = H @ (H.T @ (2.0 * labels - 1))
    assume(np.abs(f).min() > 1e-6)
    fit = loop(space, labels, 2, Threshold(), C=1e-12)
    visited, _ = oracle.emmc_path(
        H, labels, np.array([[-1.0], [1.0]]), lambda F: (F[:, 0] > 0).astype(int), keep, 1e-12
    )
    np.testing.assert_array_equal(visited[1], f > 0)
    np.testing.assert_array_equal(fit.labels, visited[-1])


# 9


def keep(F, labels):
    """No repair."""
    return labels


def literal(codec, k, slack, n):
    """Decoding and repair of a codec as the specification writes them."""
    if codec == Threshold():
        most = max(slack, n % 2)
        return (lambda F: (F[:, 0] > 0).astype(int)), (lambda F, y: balance.two_class(F[:, 0], most))
    if codec == Argmax():
        return (lambda F: np.argmax(F, axis=1)), (lambda F, y: balance.pairwise(y, k, slack, balance.regret(F))[0])
    half = 0.5 if codec.rule == "nearest" else 0.0
    return (
        lambda F: np.clip(np.ceil(F[:, 0] - half), 1, k).astype(int) - 1,
        lambda F, y: balance.pairwise(y, k, slack, balance.single_output(F[:, 0]))[0],
    )


@given(
    case=problem(),
    codec=st.sampled_from([Threshold(), Argmax(), Interval(), Interval(rule="midpoint"), Interval(rule="paper")]),
    balanced=st.booleans(),
)
def test_one_factorisation_equals_one_in_every_iteration(case, codec, balanced):
    space, labels, k, slack, C = case
    assume(k == 2 or codec != Threshold())
    fit = loop(space, labels, k, codec, Band(slack=slack) if balanced else None, C=C)
    decode, repair = literal(codec, k, slack, space.n)
    start = along_principal_axis(space, labels, k) if isinstance(codec, Interval) else labels
    visited, values = oracle.emmc_path(space.rows(), start, codec.codebook(k), decode, repair if balanced else keep, C)
    np.testing.assert_allclose(fit.history, values, rtol=1e-7)
    assert fit.converged == np.array_equal(visited[-1], visited[-2])
    # without convergence: the best labels that were read, the start being no candidate
    candidates = [visited[-1]]
    if not fit.converged and len(values) > 1:
        lowest = min(values[1:]) * (1 + 1e-9)
        candidates = [y for y, value in zip(visited[1:], values[1:], strict=False) if value <= lowest]
    if isinstance(codec, Argmax):  # clusters without rows are left out
        candidates = [np.unique(y, return_inverse=True)[1] for y in candidates]
    assert any(np.array_equal(fit.labels, y) for y in candidates)


# the numbering of single outputs


@given(case=problem(clusters=(2, 4)), seed=SEED)
def test_the_canonical_order_makes_the_numbering_of_the_start_irrelevant(case, seed):
    space, labels, k, slack, C = case
    number = np.random.default_rng(seed).permutation(k)
    one, two = (loop(space, y, k, Interval(), Band(slack=slack), C=C) for y in (labels, number[labels]))
    np.testing.assert_array_equal(one.labels, two.labels)


@given(case=problem(clusters=(2, 2)), seed=SEED)
def test_the_canonical_order_of_two_clusters(case, seed):
    space, labels, _, _, _ = case
    order = np.random.default_rng(seed).permutation(space.n)
    for where in (space, KernelSpace(space.points, Gaussian(0.5))):
        one, two = (along_principal_axis(where, y, 2) for y in (labels, 1 - labels))
        np.testing.assert_array_equal(one, two)
        if 2 * labels.sum() != space.n:  # of equal sizes the first to appear decides
            np.testing.assert_array_equal(along_principal_axis(where.take(order), labels[order], 2), one[order])


@given(case=problem())
def test_the_canonical_order_keeps_the_partition(case):
    space, labels, k, _, _ = case
    ordered = along_principal_axis(space, labels, k)
    assert len(set(zip(ordered, labels, strict=True))) == k
    H = space.rows()
    means = np.stack([H[ordered == j].mean(axis=0) for j in range(k)])
    axis = np.linalg.svd(means - means.mean(axis=0))[2][0]
    steps = np.diff(means @ axis)
    assert np.all(steps > 0) or np.all(steps < 0)


@pytest.mark.parametrize("codec", [Threshold(), Argmax()])
@pytest.mark.parametrize("slack", [30, 40, 1.0])
def test_a_void_constraint_allows_one_class_for_all(codec, slack):
    space = mapped(Elm(n_hidden=20), blobs(30, 2, 0), 0)
    fit = loop(space, np.zeros(30, dtype=int), 2, codec, Band(slack=slack), C=10.0)
    assert not fit.labels.any()
    assert (fit.converged, fit.n_iter) == (True, 1)
