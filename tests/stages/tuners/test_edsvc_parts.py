"""What edsvc computes with: the agreement of a partition with an ensemble, and the labels of many domains."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.edsvc import plain_anmi
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_mutual_info_score

from clusterkit.contracts import Task
from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.labelers.graphs import CompleteGraph
from clusterkit.metrics import anmi
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian
from clusterkit.solvers.one_class.svdd import Svdd
from clusterkit.tuners.edsvc_candidates import Agreement

LABELER = CompleteGraph(outliers="nearest")

partitions = st.integers(2, 14).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 4), min_size=n, max_size=n), min_size=2, max_size=5)
)


@given(partitions)
def test_agreement_is_the_mean_over_the_members(rows):
    labels, members = np.array(rows[0]), np.array(rows[1:])
    agreement = Agreement(members, "nmi")
    assert agreement.score(labels) == pytest.approx(plain_anmi(labels, members), abs=1e-12)
    assert agreement.score(labels) == pytest.approx(anmi(labels, members), abs=1e-12)
    other = Agreement(7 - members[::-1], "nmi")  # other names, another order
    assert other.score(labels) == pytest.approx(agreement.score(labels), abs=1e-12)  # ties are scores that near
    assert len(agreement) == 1


@given(partitions)
def test_adjusted_agreement_is_that_of_scikit_learn(rows):
    labels, members = np.array(rows[0]), np.array(rows[1:])
    expected = np.mean([adjusted_mutual_info_score(member, labels, average_method="geometric") for member in members])
    if len(set(rows[0])) < len(rows[0]):  # every sample alone: all is chance, and nothing is left to agree by
        assert Agreement(members, "ami").score(labels) == pytest.approx(expected, abs=1e-9)


def test_singletons_score_by_chance():
    members = np.arange(60).reshape(1, 60) % 3
    assert Agreement(members, "nmi").singletons() == pytest.approx(math.sqrt(math.log(3) / math.log(60)))
    assert Agreement(members, "ami").singletons() == pytest.approx(0.0, abs=1e-9)


@given(
    st.integers(0, 10_000),
    st.integers(1, 40),
    st.integers(1, 12),
    st.floats(-2, 3),
    st.floats(0.0, 1.0),
    st.sampled_from(["noise", "nearest", "singleton"]),
    st.sampled_from([None, 3]),
    st.sampled_from([1, 2, 20]),
)
def test_labels_of_many_domains_are_those_of_one(seed, n, d, width, share, outliers, least, m):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3.0 * rng.integers(0, 2, size=(n, 1))
    X[rng.integers(0, n, n // 4)] = X[0]
    labeler = CompleteGraph(n_segment_points=m, outliers=outliers, min_cluster_size=least)
    space = KernelSpace(X, Gaussian(1.0))
    labels_of = labeler.labels_of_domains(space)
    for gamma in (10.0**width / d, 3.0 * 10.0**width / d):
        wide = space.rescaled(gamma)
        C = min(1.0, 1.0 / (max(share, 1e-3) * n))
        outcome = Svdd(C=C).prepare(wide, Task(n, None), rng).solve(None, None, rng)
        plain = labeler.label(outcome, wide, Task(n, None), rng).labels
        np.testing.assert_array_equal(labels_of(outcome), plain)


def test_domains_of_another_kind_are_labelled_one_by_one():
    X, _ = make_blobs(30, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    space = KernelSpace(X, Gaussian(0.5))
    labels_of = LABELER.labels_of_domains(space)
    centres = np.array([[0.0, 0.0], [8.0, 0.0]])  # none of the samples
    domain = KernelDomain(centres, np.array([0.5, 0.5]), Gaussian(0.5), level=0.2)
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(labels_of(domain), LABELER.label(domain, space, Task(30, None), rng).labels)
    wide = make_blobs(400, centers=4, n_features=8, random_state=0)[0]
    many = KernelSpace(wide, Gaussian(0.5))
    outcome = Svdd(C=0.01).prepare(many, Task(400, None), rng).solve(None, None, rng)
    plain = LABELER.label(outcome, many, Task(400, None), rng).labels
    np.testing.assert_array_equal(LABELER.labels_of_domains(many)(outcome), plain)
