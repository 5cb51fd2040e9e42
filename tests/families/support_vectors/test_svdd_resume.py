"""svdd from a previous outcome: another C, another width, other samples; the optimum is the same as without one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.contracts import Resumable, Task
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian
from clusterkit_campaign.oracles.one_class import gap, gram

TOL = 1e-8
RNG = np.random.default_rng(0)


def prepare(space, **parameters):
    return Svdd(**{"tol": TOL, **parameters}).prepare(space, Task(space.n, None), RNG)


@st.composite
def spaces(draw):
    n, d = draw(st.integers(2, 60)), draw(st.integers(1, 3))
    X = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).normal(size=(n, d))
    if draw(st.booleans()):
        X = np.round(X)  # equal samples
    return KernelSpace(X, Gaussian(10.0 ** draw(st.floats(-2, 2))))


def same(one, other, X):
    """Both optimal: the centres are within the root of the gap of each other."""
    assert one.status.history[0] == pytest.approx(other.status.history[0], abs=2 * TOL)
    assert one.value(X) == pytest.approx(other.value(X), abs=2 * np.sqrt(TOL))


@given(spaces(), st.floats(0, 1), st.floats(0, 1))
def test_another_C_from_a_previous_outcome(space, before, after):
    n = space.n
    old, new = (Svdd(C=(1 + t * (n - 1)) / n, tol=TOL) for t in (before, after))
    prepared = old.prepare(space, Task(n, None), RNG)
    assert isinstance(prepared, Resumable)
    previous = prepared.solve(None, None, RNG)
    resumed = prepared.resolve(new, previous)
    fresh = new.prepare(space, Task(n, None), RNG).solve(None, None, RNG)
    assert resumed.status.converged
    assert resumed.support_counts.bound == new.C
    same(resumed, fresh, space.points)


@given(spaces(), st.floats(-2, 2), st.floats(0, 1))
def test_another_width_from_a_previous_outcome(space, exponent, t):
    C = (1 + t * (space.n - 1)) / space.n
    previous = prepare(space, C=C).solve(None, None, RNG)
    other = space.rescaled(10.0**exponent)
    prepared = prepare(other, C=C)
    resumed, fresh = prepared.solve(None, previous, RNG), prepared.solve(None, None, RNG)
    assert resumed.status.converged
    same(resumed, fresh, space.points)
    beta = prepared.minimise(previous).beta
    assert gap(gram(space.points, 10.0**exponent), beta, np.full(space.n, min(C, 1.0))) <= TOL + 1e-12 * space.n


def test_a_solution_is_its_own_continuation():
    space = KernelSpace(np.random.default_rng(0).normal(size=(200, 2)), Gaussian(1.0))
    prepared = prepare(space, nu=0.1)
    first = prepared.solve(None, None, RNG)
    again = prepared.resolve(Svdd(nu=0.1, tol=TOL), first)
    assert again.status.n_iter == 0
    assert again.level == pytest.approx(first.level, abs=1e-12)


@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_an_outcome_of_other_samples_does_no_harm(shift):
    X = np.random.default_rng(0).normal(size=(100, 2))
    previous = prepare(KernelSpace(X[:80] + shift, Gaussian(1.0)), nu=0.2).solve(None, None, RNG)
    prepared = prepare(KernelSpace(X, Gaussian(1.0)), nu=0.1)
    same(prepared.solve(None, previous, RNG), prepared.solve(None, None, RNG), X)
