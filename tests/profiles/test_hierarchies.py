"""The hierarchy of a spanning tree as other packages read it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster import hierarchy

import clusterkit
from clusterkit.errors import InvalidParameter
from clusterkit.profiles import condensed_tree, linkage_matrix


def test_all_merges_are_those_of_single_linkage():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = clusterkit.recipe("single-linkage", n_clusters=3).fit(X)
    np.testing.assert_allclose(linkage_matrix(model), hierarchy.linkage(X, "single"))


def test_every_row_leaves_the_condensed_tree_once_and_large_clusters_are_in_it():
    pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0], [8, 0], [0, 9]], 30, axis=0) + rng.normal(size=(90, 2))
    model = clusterkit.recipe("hdbscan", labeler__min_cluster_size=12).fit(X)
    tree = condensed_tree(model)
    rows, clusters = tree[tree.child < 90], tree[tree.child >= 90]
    assert sorted(rows.child) == list(range(90))
    assert (clusters.child_size >= 12).all()
    sizes = sorted(clusters[~clusters.child.isin(clusters.parent)].child_size)
    assert sizes == [30, 30, 30]
    # a cluster holds the rows that leave it and those of the clusters that it ends in
    for line in clusters.itertuples():
        assert tree[tree.parent == line.child].child_size.sum() == line.child_size


def test_a_model_without_a_tree_says_which_recipes_have_one():
    with pytest.raises(InvalidParameter, match="'genie'"):
        linkage_matrix(clusterkit.recipe("kmeans", n_clusters=2).fit([[0.0], [1.0], [5.0]]))
