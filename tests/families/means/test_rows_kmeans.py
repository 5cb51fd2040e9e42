"""k-means on the rows of an embedding."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.contracts import Task
from clusterkit.contracts.outcomes import Embedding, Ending, LinearRows, Scores, Status
from clusterkit.families.means.rows_kmeans import RowsKMeans
from clusterkit.samples import build_space
from clusterkit.samples.transform import IdentityMap
from clusterkit_campaign.oracles import means as oracle


def label(rows, k, seed=0, status=None):
    space = build_space(rows, IdentityMap(rows.shape[1]))
    outcome = Embedding(rows, LinearRows(space.transform, np.eye(rows.shape[1])), status=status)
    return RowsKMeans(n_init=3).label(outcome, space, Task(len(rows), k), np.random.default_rng(seed))


@given(
    n=st.integers(2, 50),
    r=st.integers(1, 8),
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_fixed_point_of_lloyd_that_predicts_itself(n, r, seed, dtype):
    rows = np.random.default_rng(seed).normal(size=(n, r)).astype(dtype)
    k = min(n, 4)
    labeling = label(rows, k, seed)
    assert np.array_equal(labeling.predict(rows), labeling.labels)
    assert labeling.exact
    assert labeling.costs is None
    _, first = np.unique(labeling.labels, return_index=True)
    assert np.all(np.diff(first) > 0), "numbered by first appearance"
    D = oracle.distances(rows.astype(float), labeling.labels, k)
    assert np.all(D[np.arange(n), labeling.labels] <= D.min(axis=1) + 1e-5)
    assert np.array_equal(label(rows, k, seed).labels, labeling.labels)


@pytest.mark.parametrize("rows", [np.zeros((9, 3)), np.repeat(np.eye(2), [4, 5], axis=0)])
def test_fewer_distinct_rows_than_clusters_are_a_label_each(rows):
    """Of labels that are fewer than was asked for the fit warns, whatever the labeler."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labeling = label(rows, 4)
    distinct = len(np.unique(rows, axis=0))
    assert sorted(set(labeling.labels)) == list(range(distinct))
    assert np.array_equal(labeling.predict(rows), labeling.labels)


def test_transductive_and_inexact_embeddings():
    rows = np.random.default_rng(0).normal(size=(20, 2))
    outcome = Scores(rows, None)
    labeling = RowsKMeans().label(outcome, build_space(rows, IdentityMap(2)), Task(20, 2), np.random.default_rng(0))
    assert labeling.predict is None
    assert not label(rows, 2, status=Status(1, Ending.CONVERGED, "", predicts_labels=False)).exact
