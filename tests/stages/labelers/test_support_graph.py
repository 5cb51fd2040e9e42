"""The support vector graph against all its lines, and against the complete graph that it refines."""

from __future__ import annotations

import pickle

import attrs
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.outcomes import FunctionDomain, KernelDomain
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import IncompatibleStages, InvalidParameter
from clusterkit.featuremaps.elm import Elm
from clusterkit.featuremaps.rbf import Rbf
from clusterkit.featuremaps.scaling import Identity
from clusterkit.fitting.fit import bind, fit
from clusterkit.labelers.graphs import CompleteGraph, SupportGraph
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit.samples.limits import listening
from clusterkit.solvers.one_class.lmsvc import Lmsvc
from clusterkit.solvers.one_class.subsampled import Subsampled
from clusterkit.solvers.one_class.svdd import Svdd
from clusterkit.testing import laws_of
from clusterkit.testing.contract import LAWS as CONTRACT
from clusterkit_campaign.oracles import domains as plain
from clusterkit_campaign.oracles.domains import canonical

pytestmark = pytest.mark.filterwarnings(r"ignore:\d+ of the \d+ points at which the rows lie")

POLICIES = ("noise", "nearest", "singleton")


@st.composite
def contours(draw, max_n=24):
    """Samples, some of them equal, and a kernel sum over a few of them and over other centres."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, max_n)), draw(st.integers(1, 5))
    X = rng.normal(size=(n, d)) + 2.0 * rng.integers(3, size=(n, 1))
    if draw(st.booleans()):
        X = np.round(X)
    centres = np.concatenate([X[rng.integers(n, size=draw(st.integers(0, 6)))], rng.normal(size=(2, d))])
    weights = rng.random(len(centres)) * (rng.random(len(centres)) < 0.8)
    weights[-1] += 0.1
    domain = KernelDomain(centres, weights, Gaussian(draw(st.sampled_from([0.1, 0.5, 2.0]))), level=0.0)
    values = domain.value(X)
    level = values.min() + draw(st.floats(-0.1, 1.0)) * (values.max() - values.min())
    # a little lower: no sample lies on the contour
    return X, attrs.evolve(domain, level=float(level) * (1.0 - 1e-7))


def as_function(domain):
    return FunctionDomain(domain.value, level=domain.level, supports=domain.supports)


def label(labeler, domain, X):
    return labeler.label(domain, KernelSpace(X, Gaussian(1.0)), Task(len(X), None), np.random.default_rng(0))


def refines(fine, coarse):
    labelled = fine >= 0
    pairs = np.unique(np.stack([fine[labelled], coarse[labelled]], axis=1), axis=0)
    return np.array_equal(labelled, coarse >= 0) and len(np.unique(pairs[:, 0])) == len(pairs)


@given(contours(), st.booleans(), st.sampled_from([1, 4, 20]))
def test_labels_of_the_plain_version(contour, attach, m):
    X, domain = contour
    expected, _, margin = plain.support_graph(domain.value, domain.level, X, domain.supports, m, attach)
    assume(margin > 1e-10)
    for region in (domain, as_function(domain)):
        labeling = label(SupportGraph(n_segment_points=m, attach=attach), region, X)
        assert labeling.labels.tolist() == expected.tolist()
        assert labeling.predict(X).tolist() == expected.tolist()


@given(contours())
def test_it_refines_the_complete_graph_but_for_what_is_attached(contour):
    X, domain = contour
    _, attached, margin = plain.support_graph(domain.value, domain.level, X, domain.supports)
    assume(margin > 1e-10)
    whole = label(CompleteGraph(), domain, X).labels
    assert refines(label(SupportGraph(attach=False), domain, X).labels, whole)
    assert refines(label(SupportGraph(), domain, X).labels[~attached], whole[~attached])


@given(contours())
def test_with_all_samples_as_supports_it_is_the_complete_graph(contour):
    X, domain = contour
    whole = label(CompleteGraph(), domain, X).labels
    region = attrs.evolve(as_function(domain), supports=X)
    assert label(SupportGraph(), region, X).labels.tolist() == whole.tolist()


@pytest.mark.hypothesis
@pytest.mark.parametrize(
    "stage", [SupportGraph(attach=False), SupportGraph(outliers="nearest", n_segment_points=3)], ids=repr
)
def test_settings_keep_the_laws(stage):
    for name, check in laws_of(stage):
        if name not in {law.name for law in CONTRACT}:
            check()


@given(contours(), st.sampled_from(POLICIES), st.integers(0, 2**32 - 1))
def test_permutations_and_duplicates(contour, policy, seed):
    X, domain = contour
    order = np.random.default_rng(seed).permutation(len(X))
    labeler = SupportGraph(outliers=policy, attach=False)
    labels = label(labeler, domain, X).labels
    if policy != "nearest":
        assert label(labeler, domain, X[order]).labels.tolist() == canonical(labels[order]).tolist()
    twice = label(SupportGraph(outliers=policy), domain, np.repeat(X, 2, axis=0)).labels
    assert twice[::2].tolist() == twice[1::2].tolist()


@pytest.mark.parametrize("d", [2, 5, 12])
def test_more_supports_than_the_first_rounds_take(d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, d)) + 4.0 * rng.integers(3, size=(150, 1))
    domain = KernelDomain(X[::2], np.full(75, 1 / 75), Gaussian(6.0 / d), level=0.0)
    for share in (0.05, 0.2, 0.5):
        domain = attrs.evolve(domain, level=float(np.quantile(domain.value(X), share)))
        expected, _, margin = plain.support_graph(domain.value, domain.level, X, domain.supports)
        assert margin > 1e-10
        assert expected.max() >= 1
        for region in (domain, as_function(domain)):
            assert label(SupportGraph(), region, X).labels.tolist() == expected.tolist()


def test_a_sample_that_sees_no_support_is_attached():
    """A domain like a U with its supports at the tops: from the middle of the bottom neither is seen."""

    def depth(Y):
        return -np.abs(np.stack([Y[:, 0], Y[:, 0] - 3.0, Y[:, 1]])).min(axis=0)

    X = np.array([[0.0, 3.0], [0.0, 0.0], [2.0, 0.0], [3.0, 0.0], [3.0, 3.0]])
    region = FunctionDomain(depth, level=-0.1, supports=X[[0, 4]])
    assert label(CompleteGraph(), region, X).labels.tolist() == [0, 0, 0, 0, 0]
    assert label(SupportGraph(attach=False), region, X).labels.tolist() == [0, 0, 1, 2, 2]
    assert label(SupportGraph(), region, X).labels.tolist() == [0, 0, 1, 1, 1]
    # alone but a support, and as near to two: the first
    assert label(SupportGraph(), region, X[[0, 4]]).labels.tolist() == [0, 1]
    X[2, 0] = 1.5
    assert label(SupportGraph(), region, X).labels.tolist() == [0, 0, 0, 1, 1]
    # without a support inside nothing is joined or attached
    assert label(SupportGraph(), attrs.evolve(region, supports=X[:0]), X).labels.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("policy", POLICIES)
def test_one_sample_and_all_outliers(policy):
    domain = KernelDomain(np.array([[9.0]]), np.array([1.0]), Gaussian(1.0), level=0.5)
    alone = label(SupportGraph(outliers=policy), domain, np.array([[1.0]]))
    assert alone.labels.tolist() == alone.predict(np.array([[1.0]])).tolist() == [0]
    expected = {"noise": [-1, -1, -1], "nearest": [0, 0, 0], "singleton": [0, 1, 0]}[policy]
    assert label(SupportGraph(outliers=policy), domain, np.array([[1.0], [2.0], [1.0]])).labels.tolist() == expected


def test_two_moons():
    X, y = make_moons(400, noise=0.05, random_state=0)
    run = fit(Composition(Rbf(gamma=32.0), Svdd(), SupportGraph()), X, Seeds(0))
    assert adjusted_rand_score(y, run.labels) == 1.0
    assert np.array_equal(pickle.loads(pickle.dumps(run.predict))(X), run.labels)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", [Svdd(nu=0.2), Lmsvc(C=2.0, step_tol=0.1), Subsampled(fraction=0.5)])
@pytest.mark.parametrize("featuremap", [Identity(), Elm(n_hidden=30), Rbf(gamma=0.5)])
def test_every_solver_tells_its_supports(featuremap, solver, dtype):
    X = np.random.default_rng(2).normal(size=(60, 5)).astype(dtype)
    c = Composition(featuremap, solver, SupportGraph(outliers="nearest"))
    bound = bind(c, X, Seeds(0))
    domain = bound.prepared.solve(None, None, np.random.default_rng(0))
    assert 0 < len(domain.supports) < 60
    known = set(map(tuple, bound.space.points.tolist()))
    assert all(tuple(row) in known for row in domain.supports.tolist())
    assert domain.support_counts.n_support == len(domain.supports)
    run = fit(c, X, Seeds(0))
    assert run.exact
    assert np.array_equal(run.predict(X), run.labels)


def test_another_kernel():
    X = np.random.default_rng(3).normal(size=(40, 2))
    domain = Svdd(nu=0.1).prepare(KernelSpace(X, Linear()), Task(40, None), None).solve(None, None, None)
    assert isinstance(domain, FunctionDomain)
    expected, _, margin = plain.support_graph(domain.value, domain.level, X, domain.supports)
    assert margin > 1e-10
    assert label(SupportGraph(), domain, X).labels.tolist() == expected.tolist()


def test_a_domain_that_knows_no_supports():
    region = FunctionDomain(lambda Y: Y[:, 0], level=0.0)
    words = r"labeler 'support_graph' needs a domain with support vectors, and this FunctionDomain has none; use"
    with pytest.raises(IncompatibleStages, match=words):
        label(SupportGraph(), region, np.array([[1.0], [2.0]]))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_segment_points": 0}, r"labeler 'support_graph': n_segment_points must be an integer >= 1, got 0"),
        ({"attach": "yes"}, r"attach must be True or False, got 'yes'"),
    ],
)
def test_messages(parameters, words):
    with pytest.raises(InvalidParameter, match=words):
        SupportGraph(**parameters)


@pytest.mark.parametrize("function", [False, True])
def test_an_interrupt_keeps_what_is_joined(function):
    X = np.random.default_rng(0).normal(size=(200, 2))
    domain = KernelDomain(X[:50], np.full(50, 1 / 50), Gaussian(1.0), level=1e-3)
    region = as_function(domain) if function else domain

    def stop(report):
        assert report.stage == "support_graph"
        raise KeyboardInterrupt

    with listening(stop):
        labeling = label(SupportGraph(), region, X)
    assert labeling.interrupted
    assert refines(labeling.labels, label(CompleteGraph(), region, X).labels)
