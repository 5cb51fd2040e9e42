"""Labels by likely edges: no two components of the complete graph are joined, and few are divided."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from clusterkit.contracts import Task
from clusterkit.contracts.outcomes import FunctionDomain, KernelDomain
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit.samples.limits import metered


def case(seed, n, d, octaves):
    """Points in groups, some of them equal, and a domain of some of them with random weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 4.0 * rng.integers(0, 2, size=(n, 1))
    X = X[rng.integers(0, n, n)]
    weights = rng.dirichlet(np.ones(max(1, n // 2)))
    kernel = Gaussian(2.0**octaves)
    values = kernel(X, X[: len(weights)]) @ weights
    return KernelSpace(X, kernel), KernelDomain(X[: len(weights)], weights, kernel, level=np.quantile(values, 0.4))


def exact(domain, space):
    return CompleteGraph().label(domain, space, Task(space.n, None), np.random.default_rng(0)).labels


@given(st.integers(0, 2**16), st.integers(2, 60), st.integers(1, 6), st.integers(-6, 6))
def test_the_components_are_those_of_the_complete_graph_or_finer(seed, n, d, octaves):
    space, domain = case(seed, n, d, octaves)
    labels, complete = CompleteGraph().candidate_labels(space, 3)(domain), exact(domain, space)
    assert ((labels >= 0) == (complete >= 0)).all()
    for number in np.unique(labels[labels >= 0]):
        assert len(np.unique(complete[labels == number])) == 1
    _, first, inverse = np.unique(space.points, axis=0, return_index=True, return_inverse=True)
    assert (labels == labels[first][inverse.reshape(-1)]).all()


@pytest.mark.parametrize("gamma", [0.02, 0.5, 3.0])
def test_on_groups_the_components_are_mostly_those_of_the_complete_graph(gamma):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(150, 2)) + shift for shift in ([0, 0], [9, 0], [0, 9])])
    space = KernelSpace(X, Gaussian(gamma))
    weights = np.full(len(X), 1.0 / len(X))
    values = Gaussian(gamma)(X, X) @ weights
    domain = KernelDomain(X, weights, Gaussian(gamma), level=float(np.quantile(values, 0.2)))
    labels = CompleteGraph().candidate_labels(space, 10)(domain)
    assert adjusted_rand_score(exact(domain, space), labels) > 0.95


def test_domains_of_other_kinds_get_the_complete_graph():
    space, _ = case(0, 30, 2, 0)
    label = CompleteGraph().candidate_labels(space, 10)
    linear = KernelDomain(space.points[::3], np.full(10, 0.1), Linear(), level=-1.0)
    for other in (linear, FunctionDomain(lambda Y: np.ones(len(Y)), level=0.0, supports=None)):
        assert adjusted_rand_score(label(other), exact(other, space)) == 1.0


def test_its_work_is_counted():
    space, domain = case(0, 60, 2, 0)
    label = CompleteGraph().candidate_labels(space, 10)
    with metered(None) as meter:
        label(domain)
    assert meter.spent >= 60 * 10
    with metered(100) as limited:
        label(domain)
    assert limited.passed
