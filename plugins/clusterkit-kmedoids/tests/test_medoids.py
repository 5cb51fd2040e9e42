"""The conformance kit, and the objective against all choices of medoids and against the definition."""

from itertools import combinations

import numpy as np
import pytest
from clusterkit_kmedoids.swaps_jit import first_medoids, swap_round
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from clusterkit import load, recipe
from clusterkit.testing import parametrize_with_laws


@parametrize_with_laws(distribution="clusterkit-kmedoids")
def test_laws(law):
    law()


@given(seed=st.integers(0, 2**31), k=st.integers(2, 4), weighted=st.booleans())
def test_no_swap_of_the_answer_is_better(seed, k, weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 2)).round(1)
    w = rng.integers(0, 4, 25).astype(float) + (not weighted)
    model = recipe("k-medoids", n_clusters=k).fit(X, sample_weight=w if weighted else None)
    w = w if weighted else np.ones(25)
    D, chosen = cdist(X, X), model.resolved_["solver"]["medoids"]

    def total(medoids):
        return w @ D[:, medoids].min(axis=1)

    assert model.objective_ == pytest.approx(total(chosen))
    swapped = [total([*chosen[:j], c, *chosen[j + 1 :]]) for j in range(k) for c in range(25)]
    assert total(chosen) <= min(swapped) + 1e-9
    assert total(chosen) <= 1.3 * min(total(list(each)) for each in combinations(range(25), k)) + 1e-9


def test_a_matrix_a_metric_and_coordinates_give_the_same_clusters(tmp_path):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(2, 90, 3)) + np.repeat([[0, 0, 0], [9, 0, 0], [0, 9, 0]], 30, axis=0)
    for metric, plain in (("euclidean", {}), ("manhattan", {"featuremap": "distances"})):
        name = {"manhattan": "cityblock"}.get(metric, metric)
        model = recipe("k-medoids", n_clusters=3, **plain).fit(X)
        matrix = recipe("k-medoids", n_clusters=3, metric="precomputed").fit(cdist(X, X, name))
        np.testing.assert_array_equal(model.labels_, matrix.labels_)
        np.testing.assert_array_equal(model.predict(new), matrix.predict(cdist(new, X, name)))
        model.save(tmp_path / metric)
        np.testing.assert_array_equal(load(tmp_path / metric).predict(new), model.predict(new))
        assert sorted(np.bincount(model.labels_)) == [30, 30, 30]


def test_swaps_leave_a_bad_beginning():
    X = np.repeat([[0.0], [1.0], [100.0], [101.0]], 5, axis=0)
    D, medoids = cdist(X, X), np.array([0, 5])
    state = np.zeros(20, np.int64), np.empty(20), np.empty(20)
    assert swap_round(D, np.ones(20), medoids, *state, 1e-9) > 0
    assert state[1].sum() == 10.0
    assert state[1].sum() == D[:, first_medoids(D, np.ones(20), 2)].min(axis=1).sum()
