"""k-means||: centres that do not depend on how the rows lie, and as good a start as k-means++."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from clusterkit.families.means._kmeans_parallel import scattered_centres
from clusterkit.samples import build_space
from clusterkit.samples.engines import LocalEngine
from clusterkit.samples.rows import SlicedRows
from clusterkit.samples.rows_space import RowsSpace
from clusterkit.samples.transform import IdentityMap
from clusterkit.testing.compare import same_bits, small_blocks, small_groups

SETS = range(10)
"""Data sets that the starts are compared on."""


def data(seed):
    """Blobs that overlap more from set to set, of other numbers of attributes and clusters."""
    k = 5 + 2 * seed
    X, _ = make_blobs(1500, 2 + seed, centers=k, cluster_std=1.0 + 0.4 * seed, random_state=seed)
    return X, k


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.deep) for s in SETS if s != 0)])
def test_k_means_ends_as_low_from_these_centres_as_from_those_of_scikit_learn(seed):
    X, k = data(seed)
    centres = scattered_centres(build_space(X, IdentityMap(X.shape[1])), k, np.random.default_rng(seed))
    inertia = KMeans(k, init=centres, n_init=1).fit(X).inertia_
    plain = np.mean([KMeans(k, init="k-means++", n_init=1, random_state=start).fit(X).inertia_ for start in range(10)])
    assert inertia <= 1.05 * plain


@pytest.mark.parametrize(
    ("dtype", "seed", "weighted"), [(np.float32, 0, False), (np.float32, 7, True), (np.float64, 7, True)]
)
def test_readers_change_no_bit_of_the_centres(dtype, seed, weighted, monkeypatch):
    monkeypatch.setattr("clusterkit.families.means._kmeans_parallel.RANGE", 210)  # several ranges, of no whole blocks
    X, k = data(seed)
    X = X.astype(dtype)
    d = X.shape[1]

    weights = np.random.default_rng(seed).uniform(0.5, 2.0, len(X)) if weighted else None

    def centres(space):
        return scattered_centres(space, k, np.random.default_rng(seed), weights=weights)

    with small_groups(400), small_blocks():
        expected = centres(build_space(X, IdentityMap(d)))
        same_bits(centres(build_space(X, IdentityMap(d), storage="streamed")), expected, "centres of streamed features")
        rows = RowsSpace.of(SlicedRows(X), LocalEngine(), IdentityMap(d))
        same_bits(centres(rows), expected, "centres of rows that are read")


@given(distinct=st.integers(1, 6), k=st.integers(1, 9), seed=st.integers(0, 2**16))
def test_fewer_distinct_rows_than_centres(distinct, k, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(distinct, 3)) * 10.0
    X = values[rng.integers(0, distinct, 60)]
    centres = scattered_centres(build_space(X, IdentityMap(3)), k, rng)
    assert centres.shape == (k, 3)
    assert np.isfinite(centres).all()
    present = np.unique(X, axis=0)
    nearest = np.square(present[:, None] - centres[None]).sum(axis=2).min(axis=1)
    if k >= len(present):
        assert (nearest < 1e-18).all(), "every distinct row is a centre"
