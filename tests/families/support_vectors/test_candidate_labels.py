"""Labels by candidate edges: tests of single segments against the plain version, components against all pairs."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from clusterkit.contracts import Task
from clusterkit.contracts.outcomes import FunctionDomain, KernelDomain
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.level_sets import many_widths
from clusterkit.families.support_vectors.level_sets._many_widths_jit import (
    CLOSE,
    LEFT_OUT,
    inside_rows,
    join_candidates,
)
from clusterkit.families.support_vectors.level_sets.many_widths import CandidateLabels
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit.samples.limits import metered
from clusterkit_campaign.oracles.domains import joined_components, sums_on_segment

M = 20
"""Points tested on a segment."""


def case(seed, n, d, near, octaves):
    """Points in groups, a domain of some of them with random weights, and its labels by candidates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 4.0 * rng.integers(0, 2, size=(n, 1))
    centres = np.sort(rng.choice(n, max(1, n // 2), replace=False))
    weights = rng.dirichlet(np.ones(len(centres)))
    kernel = Gaussian(2.0**octaves)
    values = kernel(X, X[centres]) @ weights
    domain = KernelDomain(X[centres], weights, kernel, level=float(np.quantile(values, 0.4)) * 0.999)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many_widths, "NEAR", near)
        label = CandidateLabels.of(X, lambda _: pytest.fail("of another kind"), n_segment_points=M, smallest=3)
    return X, domain, centres, weights, label


def drawn(parameters):
    """A case whose level does not underflow in single precision: others are left to the complete graph."""
    made = case(*parameters)
    assume(made[1].level > 1e-20)
    return made


cases = st.tuples(
    st.integers(0, 2**16), st.integers(2, 60), st.integers(1, 6), st.sampled_from([3, 20, 128]), st.integers(-6, 6)
)


@given(cases)
def test_a_segment_is_decided_as_by_all_terms(parameters):
    """Up to what the lists may leave out, and rounding in single precision."""
    X, domain, centres, weights, label = drawn(parameters)
    run = label._run(domain)[0]
    D = np.square(X[:, None] - X).sum(axis=2)
    slack = 2 * LEFT_OUT + CLOSE + 1e-6 * domain.kernel.gamma * D.max()
    everywhere = np.ones(len(X), dtype=bool)
    rng = np.random.default_rng(parameters[0])
    for i, j in rng.integers(0, len(X), size=(10, 2)):
        lowest = sums_on_segment(D, i, j, centres, weights, domain.kernel.gamma, M).min() / domain.level
        if i == j or abs(lowest - 1.0) <= slack:
            continue
        parent = np.arange(len(X))
        terms = join_candidates(np.array([[i, j]]), parent, everywhere, label.lists, run)
        assert (parent[i] == parent[j]) == (lowest > 1.0)
        assert terms > 0


@given(cases)
def test_points_are_inside_as_by_all_terms(parameters):
    X, domain, _, _, label = drawn(parameters)
    run, weights = label._run(domain)
    values, is_inside = np.empty(len(X)), np.empty(len(X), dtype=bool)
    inside_rows(label.distinct.rows, weights, label.lists, run, values, is_inside)
    exact = domain.value(X)
    clear = np.abs(exact - domain.level) > 1e-7 * domain.level
    assert (is_inside == (exact >= domain.level))[clear].all()
    far = np.abs(exact - domain.level) > 1e-3 * domain.level
    rounding = 1e-6 * (1.0 + domain.kernel.gamma * np.square(X[:, None] - X).sum(axis=2).max())
    assert np.allclose(values[far], exact[far], rtol=rounding, atol=LEFT_OUT * domain.level)


@given(cases)
def test_the_components_are_those_of_the_complete_graph_or_finer(parameters):
    X, domain, _, _, label = drawn(parameters)
    D = np.square(X[:, None] - X).sum(axis=2)
    slack = 2 * LEFT_OUT + CLOSE + 1e-6 * domain.kernel.gamma * D.max()
    inside = domain.value(X) >= domain.level * (1.0 - 1e-7)
    pairs = np.stack(np.triu_indices(len(X), 1), axis=1)
    exact = joined_components(
        pairs, inside,
        lambda i, j: sums_on_segment(D, i, j, *_sum_of(X, domain), M).min() >= domain.level * (1.0 - slack),
    )  # fmt: skip
    labels = label(domain)
    for number in np.unique(labels[labels >= 0]):
        assert len(np.unique(exact[labels == number])) == 1


def _sum_of(X, domain):
    centres = np.array([int(np.flatnonzero((centre == X).all(axis=1))[0]) for centre in domain.centres])
    return centres, domain.weights, domain.kernel.gamma


@pytest.mark.parametrize("gamma", [0.02, 0.5, 3.0])
def test_on_groups_the_components_are_mostly_those_of_the_complete_graph(gamma):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(150, 2)) + shift for shift in ([0, 0], [9, 0], [0, 9])])
    space = KernelSpace(X, Gaussian(gamma))
    weights = np.full(len(X), 1.0 / len(X))
    values = Gaussian(gamma)(X, X) @ weights
    domain = KernelDomain(X, weights, Gaussian(gamma), level=float(np.quantile(values, 0.2)))
    labeler = CompleteGraph()
    exact = labeler.label(domain, space, Task(len(X), None), rng).labels
    labels = labeler.candidate_labels(space, 10)(domain)
    assert ((labels >= 0) == (exact >= 0)).all()
    assert adjusted_rand_score(exact, labels) > 0.95


def test_equal_points_and_domains_of_other_kinds():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(20, 2)), 3, axis=0)
    space = KernelSpace(X, Gaussian(1.0))
    label = CompleteGraph().candidate_labels(space, 2)
    weights = np.full(20, 0.05)
    domain = KernelDomain(X[::3], weights, Gaussian(1.0), level=0.01)
    labels = label(domain)
    assert (labels.reshape(-1, 3) == labels[::3, None]).all()
    elsewhere = KernelDomain(X[::3] + 0.1, weights, Gaussian(1.0), level=0.01)
    linear = KernelDomain(X[::3], weights, Linear(), level=-1.0)
    function = FunctionDomain(lambda Y: np.ones(len(Y)), level=0.0, supports=None)
    for other in (elsewhere, linear, function):
        assert (label(other) == CompleteGraph().label(other, space, Task(len(X), None), rng).labels).all()


def test_its_work_is_counted():
    _, domain, _, _, label = case(0, 60, 2, 20, 0)
    with metered(None) as meter:
        label(domain)
    assert meter.spent >= 60 * 30
    with metered(100) as limited:
        label(domain)
    assert limited.passed
