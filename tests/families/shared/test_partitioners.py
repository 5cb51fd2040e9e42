"""Initial labels: within range, repeatable, and what each start promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.maps import mapped

from clusterkit.contracts import Task
from clusterkit.errors import NeedsMemory
from clusterkit.families.means.starts import KMeans, KMeansMapped, Seeded
from clusterkit.families.shared.elm import Elm
from clusterkit.families.shared.random import Random
from clusterkit.samples import DenseSpace, KernelSpace, build_space, identity_space, transform
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit.samples.transform import IdentityMap
from clusterkit.testing.compare import small_groups

WEIGHTINGS = ["uniform", "kmeans++"]


def spaces(X):
    return [build_space(X, IdentityMap(X.shape[1])), KernelSpace(X, Gaussian(0.5)), KernelSpace(X, Linear())]


def seeds_of(space, k, seed, weighting):
    return Seeded(weighting).start(space, Task(space.n, k), np.random.default_rng(seed))


@given(n=st.integers(1, 60), k=st.integers(1, 9), seed=st.integers(0, 99))
def test_random_parts_differ_by_at_most_one(n, k, seed):
    X = np.zeros((n, 2))
    labels = Random().start(identity_space(X), Task(len(X), k), np.random.default_rng(seed))
    sizes = np.bincount(labels, minlength=k)
    assert len(sizes) == k
    assert sizes.max() - sizes.min() <= 1


@given(n=st.integers(1, 60), k=st.integers(1, 9), seed=st.integers(0, 99))
def test_leftover_rows_go_to_the_last_part_as_printed(n, k, seed):
    labels = Random("last").start(identity_space(np.zeros((n, 2))), Task(n, k), np.random.default_rng(seed))
    sizes = np.bincount(labels, minlength=k)
    if n >= k:
        assert sizes.tolist() == [n // k] * (k - 1) + [n - (k - 1) * (n // k)]
    else:
        assert sizes.max() == 1
    assert len(sizes) == k


@given(
    n=st.integers(1, 40),
    distinct=st.integers(1, 12),
    d=st.integers(1, 6),
    seed=st.integers(0, 2**32 - 1),
    weighting=st.sampled_from(WEIGHTINGS),
    offset=st.sampled_from([0.0, 1e4]),
)
def test_seeds_are_distinct_in_value_and_nearest(n, distinct, d, seed, weighting, offset):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(distinct, d)) + offset)[rng.integers(distinct, size=n)]
    k = int(rng.integers(1, n + 1))
    values = len(np.unique(X, axis=0))
    for space in spaces(X):
        if offset and isinstance(space, KernelSpace):
            continue  # its inner products have lost the differences already
        labels = seeds_of(space, k, seed, weighting)
        assert labels.shape == (n,)
        assert sorted(set(labels)) == list(range(k)), "every part has its seed"
        assert np.array_equal(labels, seeds_of(space, k, seed, weighting))
        if k == 1:
            continue
        if k >= values:  # every distinct value is a seed, so no part mixes values
            assert all(len(np.unique(X[labels == j], axis=0)) == 1 for j in range(k))
        else:  # duplicates share a label
            assert all(len(set(labels[np.all(x == X, axis=1)])) == 1 for x in X)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_some_choice_of_seeds_explains_the_labels(weighting):
    X = np.random.default_rng(0).normal(size=(12, 2)) + 1e5
    labels = seeds_of(build_space(X, IdentityMap(2)), 3, 4, weighting)
    D = np.sum((X[:, None] - X[None]) ** 2, axis=-1)
    parts = [np.flatnonzero(labels == j) for j in range(3)]
    assert any(
        np.array_equal(np.argmin(D[:, [a, b, c]], axis=1), labels) for a in parts[0] for b in parts[1] for c in parts[2]
    )


def test_weights_reach_far_clusters():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(300, 2)), rng.normal(size=(3, 2)) + 1e3, rng.normal(size=(3, 2)) - 1e3])
    for space in (build_space(X, IdentityMap(2)), KernelSpace(X, Linear())):
        parts = [np.bincount(seeds_of(space, 3, seed, "kmeans++"), minlength=3) for seed in range(10)]
        assert sum(sorted(sizes) == [3, 3, 300] for sizes in parts) >= 9


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_streamed_seeds_equal_dense_ones(monkeypatch, weighting):
    monkeypatch.setattr(transform, "BLOCK_BYTES", 1)
    X = np.random.default_rng(0).normal(size=(200, 3))
    dense = mapped(Elm(n_hidden=20, storage="dense"), X, 1)
    streamed = build_space(dense.points, dense.mapping, storage="streamed")
    assert np.array_equal(seeds_of(dense, 5, 2, weighting), seeds_of(streamed, 5, 2, weighting))


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_points_with_equal_features_are_one_value(weighting):
    X = np.concatenate([np.full((20, 1), 1e3) + np.arange(20.0)[:, None], [[0.0]]])
    with pytest.warns(UserWarning, match="vanish"):
        space = mapped(Elm(n_hidden=8, centers="uniform", width=1.0, scale=None), X, 0)
    labels = seeds_of(space, 2, 0, weighting)
    assert sorted(np.bincount(labels)) == [1, 20]


@pytest.mark.parametrize("stage", [KMeans(), KMeansMapped()])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kmeans_starts_find_blobs(stage, dtype):
    truth = np.repeat([0, 1, 2], 15)
    X = (10.0 * np.eye(3)[truth] + np.random.default_rng(0).normal(size=(45, 3))).astype(dtype)
    samples = identity_space(X)
    labels = stage.start(samples, Task(len(X), 3), np.random.default_rng(0))
    assert np.array_equal(labels, truth)
    constant = np.ones_like(X)
    samples = identity_space(constant)
    assert not stage.start(samples, Task(len(X), 4), np.random.default_rng(0)).any()


def test_kmeans_mapped_respects_the_memory_cap(monkeypatch):
    space = mapped(Elm(n_hidden=50, storage="streamed"), np.random.default_rng(0).random((99, 2)), 0)
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "10K")
    with pytest.raises(NeedsMemory, match="99 x 50 feature matrix"):
        KMeansMapped().start(space, Task(space.n, 3), np.random.default_rng(0))


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 8))
def test_more_trials_take_the_best_of_the_seeds_drawn(seed, k):
    X = np.random.default_rng(seed).normal(size=(60, 3))
    for space in spaces(X):
        rng = np.random.default_rng(seed)
        K = space.outer() if isinstance(space, DenseSpace) else space.gram()
        D = np.diag(K)[:, None] - 2 * K + np.diag(K)
        chosen = [int(rng.integers(60))]
        for _ in range(k - 1):
            nearest = D[:, chosen].min(axis=1)
            drawn = np.searchsorted(np.cumsum(nearest), rng.random(5) * nearest.sum(), side="right")
            chosen.append(min(drawn, key=lambda i: np.minimum(nearest, D[:, i]).sum()))
        labels = Seeded("kmeans++", trials=5).start(space, Task(space.n, k), np.random.default_rng(seed))
        assert np.array_equal(labels, D[:, chosen].argmin(axis=1))


@pytest.mark.parametrize("k", [4, 12])
@pytest.mark.parametrize("trials", [1, 3])
def test_compiled_draws_are_those_of_small_data(monkeypatch, k, trials):
    """Nine distinct values: with twelve seeds nothing is left to draw."""
    X = np.random.default_rng(0).integers(3, size=(80, 2)).astype(float)
    stage, space = Seeded("kmeans++", trials=trials), spaces(X)[0]
    plain = [stage.start(space, Task(80, k), np.random.default_rng(seed)) for seed in range(5)]
    monkeypatch.setattr("clusterkit.families.means.starts.LEAST_WORK", 0)
    compiled = [stage.start(space, Task(80, k), np.random.default_rng(seed)) for seed in range(5)]
    np.testing.assert_array_equal(compiled, plain)


def test_groups_of_rows_are_shuffled_differently():
    with small_groups(50):
        labels = Random().start(identity_space(np.zeros((100, 1))), Task(100, 2), np.random.default_rng(0))
        one, other = np.split(labels, 2)
    assert (np.bincount(one) == np.bincount(other)).all()
    assert (one != other).any()
