"""The confidence in a choice: what raises it, and who counts as a witness."""

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit import Auto, recipe
from clusterkit.criteria.confidence import Evidence, structure_confidence, witnesses
from clusterkit.criteria.one_cluster import OneCluster, dip_p_value

EVIDENCE = st.builds(
    Evidence,
    st.floats(0.0, 1.0),
    st.floats(0.0, 3.0),
    st.floats(-1.0, 1.0),
    st.integers(2, 50),
    st.none() | st.integers(0, 2),
)


def test_two_groups_of_ten_values_are_not_one_mode():
    groups = np.concatenate([np.linspace(0.0, 1.0, 10), np.linspace(10.0, 11.0, 10)])
    assert dip_p_value(groups) < 0.01 < 0.5 < dip_p_value(np.linspace(0.0, 1.0, 20))


@given(EVIDENCE, st.booleans())
def test_is_a_probability_that_evidence_raises(evidence, known):
    value = structure_confidence(evidence, known=known)
    assert 0.0 < value < 1.0
    for name in ("stability", "margin", "separation"):
        more = attrs.evolve(evidence, **{name: getattr(evidence, name) + 0.5})
        assert structure_confidence(more, known=known) > value
    if evidence.witnesses is not None:
        more = attrs.evolve(evidence, witnesses=evidence.witnesses + 1)
        assert structure_confidence(more, known=known) > value


def test_witnesses_are_methods_that_agree():
    similarity = np.array([1.0, 0.95, 0.92, 0.3, 0.99, 0.5])
    methods, finders = ["a", "a", "b", "c", "d", "e"], [False, False, False, False, True, True]
    assert witnesses(similarity, methods, finders, known=True) == 3
    assert witnesses(similarity, methods, finders, known=False) == 1
    assert witnesses(similarity[:3], methods[:3], finders[:3], known=True) is None
    many = [str(i) for i in range(12)]
    assert witnesses(np.ones(12), many, [True] * 12, known=True) == 7
    assert witnesses(np.ones(12), many, [True] * 12, known=False) == 2


def test_a_single_candidate_has_none():
    X = np.random.default_rng(0).standard_normal((60, 2))
    assert np.isnan(Auto(3, pool=("kmeans",), random_state=0).fit(X).confidence_)
    assert np.isnan(recipe("kmeans", n_clusters=(3, 3), random_state=0).fit(X).confidence_)


def cloud(kind, n, d, rng):
    """A single Gaussian, a uniform cube or ball, or two equal Gaussians six standard deviations apart."""
    if kind == "cube":
        return rng.random((n, d))
    X = rng.standard_normal((n, d))
    if kind == "ball":
        return X / np.linalg.norm(X, axis=1, keepdims=True) * rng.random((n, 1)) ** (1 / d)
    if kind == "two":
        X[: n // 2, 0] += 6.0
    return X


@pytest.mark.parametrize(
    ("n", "d"), [(100, 2), *(pytest.param(*c, marks=pytest.mark.deep) for c in [(100, 20), (300, 5)])]
)
@pytest.mark.parametrize("kind", ["gaussian", "cube", "ball", "two"])
def test_one_cluster_is_flagged_and_two_are_not(kind, n, d):
    """Of 6 draws all, but for one: the rates of a hundred draws are those of tests/benchmarks/auto.py, ``one``."""
    several = [
        OneCluster.of(cloud(kind, n, d, np.random.default_rng([s, n, d])), np.random.default_rng(s)).several
        for s in range(6)
    ]
    assert sum(several) >= 5 if kind == "two" else sum(several) <= 1
