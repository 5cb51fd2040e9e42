"""The search for components without all pairs gives the components of all pairs, on contours of every kind.

The contours need not come from any solver. Most have their level near the least value of some line between samples,
where components are about to merge and short cuts have the least room.
"""

from collections import Counter
from contextlib import ExitStack
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import make_moons

from clusterkit.contracts import Task
from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.level_sets import _components as search
from clusterkit.families.support_vectors.level_sets import _rejection_jit as dual
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian
from clusterkit.testing.pytest_plugin import deep
from clusterkit_campaign.oracles import domains as plain

MARGIN = 1e-10
"""Relative difference from the level up to which values are ties."""
LEAST = 1e-100
"""Levels below it, relative to the sum of the weights, are for another test: squares of values underflow."""


def moons(rng, n, d):
    X = make_moons(n, noise=rng.uniform(0.02, 0.2), random_state=int(rng.integers(2**31)))[0]
    return np.concatenate([X, 0.1 * rng.normal(size=(n, d - 2))], axis=1) if d > 2 else X


def rings(rng, n, d):
    directions = rng.normal(size=(n, max(2, d)))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions * (rng.integers(1, 4, size=n) + 0.1 * rng.normal(size=n))[:, None]


def blobs(rng, n, d):
    k = rng.integers(2, 5)
    return rng.uniform(-3, 3, size=(k, d))[rng.integers(k, size=n)] + rng.uniform(0.1, 1.0) * rng.normal(size=(n, d))


def uniform(rng, n, d):
    return rng.random((n, min(d, 3)))


def lattice(rng, n, d):
    return rng.integers(0, 4, size=(n, d)).astype(float)


def triplicated(rng, n, d):
    return np.repeat(blobs(rng, -(-n // 3), d), 3, axis=0)[:n]


def collinear(rng, n, d):
    return rng.normal(size=(n, 1)) * rng.normal(size=d) + rng.normal(size=d)


def offset(rng, n, d):
    return blobs(rng, n, d) + 1000.0


PATTERNS = (moons, rings, blobs, uniform, lattice, triplicated, collinear, offset)


def merge_heights(X, value, m):
    """Levels at which components of the complete graph merge, the last ones first."""
    i, j = np.triu_indices(len(X), 1)
    least = np.minimum(value(X)[i], value(X)[j])
    for k in range(1, m + 1):
        least = np.minimum(least, value(X[i] + k / (m + 1) * (X[j] - X[i])))
    part, heights = np.arange(len(X)), []
    for edge in np.argsort(-least):
        one, other = part == part[i[edge]], part == part[j[edge]]
        if part[i[edge]] != part[j[edge]]:
            part[other] = part[i[edge]]
            # a sample alone may merge at its own value: above that it is outside
            if min(one.sum(), other.sum()) > 1:
                heights.append(least[edge])
    return heights[::-1] or [least.max()]


def instance(seed, pattern, n, d, m, merging):
    """Samples, domain; `merging`: the level near the least value of a line between two samples."""
    rng = np.random.default_rng(seed)
    X = pattern(rng, n, d)
    n = len(X)
    s = min(n, int(rng.integers(1, 41)))
    centres = X[rng.choice(n, s, replace=False)] + rng.choice([0.0, 0.05]) * rng.normal(size=(s, X.shape[1]))
    weights = rng.random(s) ** rng.choice([1.0, 4.0]) + 1e-6
    spread = float(np.square(X - X.mean(axis=0)).sum(axis=1).mean()) or 1.0
    gamma = 10.0 ** rng.uniform(-6, 6) if rng.random() < 0.2 else 10.0 ** rng.uniform(0.0, 2.5) / spread
    values = plain.kernel_sum(X, centres, weights, gamma)
    level = values.min() + rng.uniform(-0.1, 1.1) * (values.max() - values.min())
    if merging and n > 1:
        some = X[rng.choice(n, min(n, 30), replace=False)]
        heights = merge_heights(some, lambda Y: plain.kernel_sum(Y, centres, weights, gamma), m)
        # just above or below the height at which two of the last components of some samples merge
        level = heights[rng.integers(min(len(heights), 4))] * (
            1.0 + rng.choice([-1, 1, 1]) * 10.0 ** rng.uniform(-7, -0.5)
        )
    return X, KernelDomain(centres, weights, Gaussian(gamma), level=max(float(level), LEAST * weights.sum()))


@st.composite
def instances(draw, max_n=300):
    pattern, m = draw(st.sampled_from(PATTERNS)), draw(st.sampled_from([1, 2, 4, 19, 20, 33]))
    seed = draw(st.integers(0, 2**32 - 1))
    # of drawn sizes most are small
    n = draw(st.one_of(st.integers(1, 12), st.just(int(np.random.default_rng([seed, 1]).integers(13, max_n + 1)))))
    merging = draw(st.sampled_from([True, True, True, False]))
    X, domain = instance(seed, pattern, n, draw(st.integers(1, 9)), m, merging)
    return X, domain, m


def labels_of(X, domain, m):
    space = KernelSpace(X, domain.kernel)
    return CompleteGraph(n_segment_points=m).label(domain, space, Task(len(X), None), np.random.default_rng(0)).labels


def check(X, domain, m):
    expected, margin = plain.complete_graph_of_sum(
        X, domain.centres, domain.weights, domain.kernel.gamma, domain.level, m
    )
    assume(margin > MARGIN)
    assert labels_of(X, domain, m).tolist() == expected.tolist()


def uncompiled(function):
    """The Python function of a compiled one; the function itself where compilation is switched off."""
    return getattr(function, "py_func", function)


class Weakened:
    """A search without some of its short cuts, so that the proof has to find the joins that they would have found.

    Constants of compiled functions are frozen; the functions that drive the proof are run by Python instead.
    """

    def __init__(self, *, edges=True, leaf=search.LEAF, mapped=False, products=False, **constants):
        self.edges, self.leaf, self.mapped, self.products, self.constants = edges, leaf, mapped, products, constants
        self.calls = Counter()

    def counted(self, name):
        function = getattr(dual, name)

        def count(*arguments):
            self.calls[name] += 1
            return function(*arguments)

        return count

    def __enter__(self):
        self.stack = ExitStack()

        def patch(owner, name, value):
            self.stack.enter_context(mock.patch.object(owner, name, value))

        patch(search, "LEAF", self.leaf)
        patch(search, "MAPPED", 0 if self.mapped else 10**9)
        for name in ("ALWAYS_PRODUCTS", "FEW_PRODUCTS", "FEW_PRODUCTS_MAPPED"):
            patch(search, name, 10**12 if self.products else 0)
        certify = search.Components.certify

        def counted(components):
            self.calls["certify"] += 1
            certify(components)

        patch(search.Components, "certify", counted)
        if not self.edges:
            patch(search, "nearest_edges", lambda points, k: np.empty((0, 2), dtype=np.int64))
            patch(search.Components, "join_innermost", lambda components: None)
        if self.constants:
            for name in ("_is_skipped", "_reject_by_expansion"):
                patch(dual, name, uncompiled(getattr(dual, name)))
            for name in ("_pairs_left", "_test_pair", "expansion", "is_outside"):
                patch(dual, name, self.counted(name))
            for name, value in self.constants.items():
                patch(dual, name, value)
            patch(search, "reject_pairs", uncompiled(dual.reject_pairs))
        return self

    def __exit__(self, *error):
        return self.stack.__exit__(*error)


@given(instances())
def test_components_of_all_pairs(case):
    check(*case)


@given(instances(max_n=200), st.sampled_from([1, 2, 4, 20]), st.booleans())
def test_the_proof_alone_finds_all_components(case, leaf, mapped):
    with Weakened(edges=False, leaf=leaf, mapped=mapped):
        check(*case)


@given(instances(), st.booleans(), st.booleans())
def test_products_give_the_same(case, edges, by_distances):
    with Weakened(edges=edges, products=True), mock.patch.object(search, "BY_DISTANCES", 1 if by_distances else 32):
        check(*case)


@given(instances())
def test_the_map_of_cells_gives_the_same(case):
    X, domain, m = case
    with Weakened(mapped=True):
        check(X[:, :3], KernelDomain(domain.centres[:, :3], domain.weights, domain.kernel, level=domain.level), m)


@given(
    instances(max_n=80),
    st.sampled_from([0, 1, 8]),
    st.sampled_from([2, 32]),
    st.sampled_from([0, 4, 64]),
    st.booleans(),
)
def test_whatever_is_expanded_or_tested_one_by_one(case, few, block, tested, edges):
    reach = 5.0 if few == 0 else dual.EXPANSION_REACH
    with Weakened(edges=edges, leaf=2, FEW=few, BLOCK=block, TESTED=tested, EXPANSION_REACH=reach):
        check(*case)


@pytest.mark.parametrize("mapped", [False, True])
def test_a_level_next_to_nothing(mapped):
    X = np.array([[0.0, 0.0], [40.0, 0.0], [1000.0, 0.0]])
    domain = KernelDomain(X, np.ones(3), Gaussian(1.0), level=1e-290)
    with Weakened(mapped=mapped):
        assert labels_of(X, domain, 1).tolist() == [0, 0, 1]


@pytest.mark.hypothesis
@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_instances_reach_the_proof(pattern):
    """Otherwise the tests above would say little: how many come to the proof, and to its expansions."""
    reached, several, tries = Counter(), 0, 60 if deep() else 20
    for seed in range(tries):
        m = [1, 2, 4, 19, 20, 33][seed % 6]
        X, domain = instance(seed, pattern, 150 + 10 * (seed % 16), 1 + seed % 9, m, True)
        with Weakened(FEW=dual.FEW) as weakened:
            several += labels_of(X, domain, m).max() > 0
        reached.update({name: 1 for name, count in weakened.calls.items() if count})
    print(pattern.__name__, tries, several, dict(reached))
    assert reached["certify"] >= 0.25 * tries
    if pattern not in (lattice, collinear):
        assert reached["_pairs_left"] >= 0.1 * tries
