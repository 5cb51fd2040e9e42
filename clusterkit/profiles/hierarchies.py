"""The merges of a fitted spanning tree, in the form that scipy reads."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Array
from clusterkit.contracts.outcomes import Tree
from clusterkit.errors import InvalidParameter


def linkage_matrix(model: object) -> Array:
    """All merges of a spanning tree as scipy's linkage matrix.

    Parameters
    ----------
    model : fitted estimator
        Of the recipes 'hdbscan', 'genie', 'mass-cut' or 'single-linkage', or any with the solver 'mst'.

    Returns
    -------
    ndarray of shape (n - 1, 4)
        Two clusters, the height at which they merge, and the number of rows of both, by ascending height; the merge in
        line i is cluster n + i. Heights are distances by mutual reachability where the solver has `n_neighbors` > 1.

    Raises
    ------
    InvalidParameter
        If the model has no spanning tree.

    Examples
    --------
    >>> import clusterkit
    >>> from clusterkit.profiles import linkage_matrix
    >>> model = clusterkit.recipe("single-linkage", n_clusters=2).fit([[0.0], [1.0], [5.0]])
    >>> linkage_matrix(model).tolist()
    [[0.0, 1.0, 1.0, 2.0], [2.0, 3.0, 4.0, 3.0]]
    """
    from clusterkit.families.trees.hierarchy_jit import binary_hierarchy

    tree = getattr(model, "outcome_", None)
    if not isinstance(tree, Tree):
        raise InvalidParameter(
            f"linkage_matrix: this {type(model).__name__} has no spanning tree; recipes 'hdbscan', 'genie', 'mass-cut' "
            "and 'single-linkage' have one after fit, and 'auto' where it chose one of them"
        )
    nodes = binary_hierarchy(tree.merges, tree.heights)
    n = len(tree.heights) + 1
    children = np.argsort(nodes.parent[: 2 * n - 2], kind="stable").reshape(-1, 2)
    return np.column_stack([children, nodes.height[n:], nodes.size[n:]]).astype(np.float64)
