"""Weights that fade: cells against the definition, and what a fit that has converged promises."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.contracts import Task
from clusterkit.families.equal.drift import DriftRule, find_parts
from clusterkit.families.equal.equal import Equal
from clusterkit.families.equal.fade import Cells, fade_weights, find_even_parts
from clusterkit.samples import build_space
from clusterkit.samples.transform import IdentityMap
from clusterkit.testing.pytest_plugin import share_of_examples
from clusterkit_campaign.oracles import balance as oracle


def mixture(n, d, components, seed):
    """Round groups of different widths and shares, with gaps between them."""
    rng = np.random.default_rng(seed)
    centres, widths = rng.uniform(-10, 10, (components, d)), rng.uniform(0.2, 1.0, components)
    group = rng.choice(components, n, p=rng.dirichlet(np.full(components, 2.0)))
    return centres[group] + rng.normal(size=(n, d)) * widths[group, None]


@given(n=st.integers(5, 60), d=st.integers(1, 4), m=st.integers(2, 5), seed=st.integers(0, 2**32 - 1))
def test_cells_are_those_of_the_definition(n, d, m, seed):
    rng = np.random.default_rng(seed)
    X, centres, weights = rng.normal(size=(n, d)), rng.normal(size=(m, d)), rng.normal(size=m)
    cells = Cells.of(X, centres, weights)
    first, second, gap = oracle.weighted_cells(X, centres, weights)
    np.testing.assert_array_equal(cells.first, first)
    np.testing.assert_array_equal(cells.second, second)
    np.testing.assert_allclose(cells.gap, gap, atol=1e-12)
    np.testing.assert_array_equal(cells.sizes, np.bincount(first, minlength=m))


@share_of_examples(0.4)
@given(d=st.sampled_from([1, 2, 5]), m=st.integers(2, 7), components=st.integers(1, 6), seed=st.integers(0, 999))
def test_a_fit_that_has_converged_has_sizes_within_the_tolerance(d, m, components, seed):
    X = mixture(600, d, components, seed)
    solver = Equal(max_iter=60, restarts=0)
    prepared = solver.prepare(build_space(X, IdentityMap(d)), Task(len(X), m), np.random.default_rng(9))
    outcome = prepared.solve(None, None, np.random.default_rng(seed))
    D = ((X[:, None] - outcome.extend.centres) ** 2).sum(axis=2)
    off = np.abs(np.bincount(np.argmin(D, axis=1), minlength=m) - len(X) // m).max()
    assert off == outcome.status.objective
    assert outcome.status.converged == (off < max(len(X) // (50 * m), 2 if len(X) % m else 1))
    assert not outcome.extend.offsets.any()


@share_of_examples(0.4)
@given(m=st.integers(3, 8), seed=st.integers(0, 999))
def test_fading_never_makes_sizes_less_even(m, seed):
    X = mixture(500, 2, 5, seed)
    rule = DriftRule(max_iter=40, restarts=0, fade=True)
    drifted = find_parts(X, m, rule, np.random.default_rng(seed))
    faded = find_even_parts(X, m, rule, np.random.default_rng(seed))
    assert faded.imbalance <= drifted.imbalance
    assert faded.imbalances[faded.iteration - 1] == faded.imbalance
    strict = find_even_parts(X, m, DriftRule(max_iter=40, fade=True, strict=True), np.random.default_rng(seed))
    assert len(strict.imbalances) <= 40


def test_dense_groups_are_divided_evenly_where_drifting_does_not():
    """Ten parts of eight groups with gaps; drifting ends hundreds of rows off."""
    X = mixture(8000, 2, 8, 1)
    drifted = find_parts(X, 10, DriftRule(max_iter=2000, restarts=0), np.random.default_rng(100))
    cells = fade_weights(X, drifted.centres, 16)
    assert drifted.imbalance > 80
    assert cells.imbalance < 16
    assert not cells.weights.any()
