"""Random streams: one a slot, all from one seed, none disturbed by another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit import Pipeline
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import InvalidParameter
from clusterkit.testing.compositions import samples

KEYS = st.lists(st.one_of(st.text(min_size=1, max_size=8), st.integers(0, 2**31)), min_size=1, max_size=3)


@given(seed=st.integers(0, 2**63), keys=KEYS)
def test_equal_keys_give_equal_streams(seed, keys):
    one, other = Seeds.of(seed).stream(*keys), Seeds.of(seed).stream(*keys)
    assert one.integers(2**62, size=3).tolist() == other.integers(2**62, size=3).tolist()


@given(seed=st.integers(0, 2**63), first=KEYS, second=KEYS)
def test_other_keys_or_seeds_give_other_streams(seed, first, second):
    seeds = Seeds.of(seed)
    drawn = seeds.stream(*first).integers(2**62)
    if first != second:
        assert drawn != seeds.stream(*second).integers(2**62)
    assert drawn != Seeds.of(seed + 1).stream(*first).integers(2**62)


@given(seed=st.integers(0, 2**31), keys=KEYS)
def test_a_child_is_a_longer_key(seed, keys):
    seeds = Seeds.of(seed)
    one, other = seeds.child("map", 3).stream(*keys), seeds.stream("map", 3, *keys)
    assert one.integers(2**62) == other.integers(2**62)


def test_drawing_from_one_stream_leaves_the_others():
    seeds = Seeds.of(0)
    expected = seeds.stream("solver").integers(2**62)
    seeds.stream("featuremap").standard_normal(10_000)
    assert seeds.stream("solver").integers(2**62) == expected


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_are_advanced(make):
    state = make(0)
    first, second = Seeds.of(state), Seeds.of(state)
    assert first != second
    assert Seeds.of(make(0)) == first


def test_none_is_fresh_each_time_and_numpy_integers_are_integers():
    assert Seeds.of(None) != Seeds.of(None)
    assert Seeds.of(np.int64(7)) == Seeds.of(7)
    np.random.seed(3)  # noqa: NPY002 (scikit-learn's spelling of the global stream)
    first = Seeds.of(np.random)
    assert first != Seeds.of(np.random)


@pytest.mark.parametrize("wrong", [-1, 1.5, "0", True, [1]])
def test_anything_else_is_refused_with_the_value(wrong):
    with pytest.raises(InvalidParameter) as caught:
        Seeds.of(wrong)
    assert "random_state must be a non-negative integer" in str(caught.value)
    assert f"got {wrong!r}" in str(caught.value)


def test_an_integer_fits_libraries_of_31_bits():
    assert all(0 <= Seeds.of(seed).integer("init") < 2**31 for seed in range(200))


def test_another_solver_leaves_the_random_map_as_it_is():
    X = samples()
    maps = [
        Pipeline(solver=solver, labeler=labeler, n_clusters=2, init="random", random_state=5).fit(X).space_.mapping
        for solver, labeler in [("ridge", "threshold"), ("centroids", "argmax"), ("nmf", "rows_kmeans")]
    ]
    for other in maps[1:]:
        np.testing.assert_array_equal(other.centers, maps[0].centers)
        np.testing.assert_array_equal(other.widths, maps[0].widths)
