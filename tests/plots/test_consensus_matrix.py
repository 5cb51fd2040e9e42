"""The matrix of co-associations is the share of labellings, in the order of the clusters."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from clusterkit import ConsensusClustering, plots, recipe
from clusterkit.errors import InvalidData, InvalidParameter

MEMBERS = [[0, 0, 1, 1, 2, 2], [5, 5, 7, 7, 7, 7], [0, 1, 1, 1, 1, -1]]
LABELS = [1, 1, 0, 0, 0, 0]


def drawn(ax):
    [image] = ax.images
    return np.asarray(image.get_array())


def title(ax):
    return ax.get_title(loc="left")


def test_shares_of_the_labelings():
    """Clusters by size; sample 5 is noise to the third labelling, which then does not count."""
    ax = plots.consensus_matrix(MEMBERS, LABELS)
    shares = drawn(ax)
    third = 1 / 3
    plain = np.array(
        [
            [1, 2 * third, 0, 0, 0, 0],
            [2 * third, 1, third, third, third, 0],
            [0, third, 1, 1, 2 * third, 0.5],
            [0, third, 1, 1, 2 * third, 0.5],
            [0, third, 2 * third, 2 * third, 1, 1],
            [0, 0, 0.5, 0.5, 1, 1],
        ]
    )
    order = [2, 3, 4, 5, 0, 1]
    np.testing.assert_allclose(shares, plain[np.ix_(order, order)])
    assert title(ax) == "3 labellings of 6 samples, 2 clusters"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["cluster 0", "cluster 1"]
    assert len(ax.patches) == 2


def test_a_fitted_consensus_and_a_vote():
    X, y = make_blobs([20, 10], centers=[[0, 0], [9, 9]], random_state=0)
    model = ConsensusClustering(n_members=5, random_state=0).fit(X)
    by_model = plots.consensus_matrix(model)
    np.testing.assert_array_equal(drawn(by_model), drawn(plots.consensus_matrix(model.members_, model.labels_)))
    together = drawn(plots.consensus_matrix([y, y, 1 - y]))
    assert together[:20, :20].min() == together[20:, 20:].min() == 1.0
    assert together[:20, 20:].max() == 0.0


def test_likes_are_neighbours_within_a_cluster():
    """Two halves of one cluster that every other labelling separates, their samples in turn."""
    halves = np.arange(20) % 2
    ax = plots.consensus_matrix([np.zeros(20, dtype=int), halves], np.zeros(20, dtype=int))
    np.testing.assert_array_equal(drawn(ax), 0.5 + 0.5 * np.kron(np.eye(2), np.ones((10, 10))))


def test_many_samples_are_thinned_out_evenly():
    labels = np.repeat([0, 1, -1], [600, 300, 100])
    ax = plots.consensus_matrix([labels, labels], labels, max_rows=100, legend=False)
    assert drawn(ax).shape == (100, 100)
    assert title(ax) == "2 labellings of 1,000 samples, 100 drawn, 2 clusters"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["cluster 0", "cluster 1", "noise"]
    assert drawn(ax)[:60, :60].min() == 1.0
    assert not drawn(ax)[90:].any()  # nobody knows them


def test_refusals():
    with pytest.raises(InvalidData, match="different numbers of samples"):
        plots.consensus_matrix([[0, 1], [0, 1, 1]])
    with pytest.raises(InvalidData, match=r"got shape \(3,\)"):
        plots.consensus_matrix([0, 1, 1])
    with pytest.raises(InvalidData, match="float64"):
        plots.consensus_matrix([[0.5, 1.0]])
    with pytest.raises(InvalidParameter, match="fitted ConsensusClustering"):
        plots.consensus_matrix(recipe("kmeans", n_clusters=2))
    with pytest.raises(InvalidParameter, match="max_rows"):
        plots.consensus_matrix(MEMBERS, LABELS, max_rows=0)
    with pytest.raises(InvalidParameter, match="ax must be matplotlib axes"):
        plots.consensus_matrix(MEMBERS, LABELS, ax=3)
