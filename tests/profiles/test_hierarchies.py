"""The hierarchy of a spanning tree as other packages read it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster import hierarchy

import clusterkit
from clusterkit.errors import InvalidParameter
from clusterkit.profiles import linkage_matrix


def test_all_merges_are_those_of_single_linkage():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = clusterkit.recipe("single-linkage", n_clusters=3).fit(X)
    np.testing.assert_allclose(linkage_matrix(model), hierarchy.linkage(X, "single"))


def test_a_model_without_a_tree_says_which_recipes_have_one():
    with pytest.raises(InvalidParameter, match="'genie'"):
        linkage_matrix(clusterkit.recipe("kmeans", n_clusters=2).fit([[0.0], [1.0], [5.0]]))
