"""The hierarchy of a fitted spanning tree, in the forms that other packages read.

`linkage_matrix` gives all merges to ``scipy.cluster.hierarchy``, `condensed_tree` a frame of the clusters that hold
enough rows, as the package hdbscan has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._typing import Array
from clusterkit.contracts.outcomes import Tree
from clusterkit.contracts.params import check_count
from clusterkit.errors import InvalidParameter
from clusterkit.profiles.raw_table import as_frame

__all__ = ["condensed_tree", "linkage_matrix", "tree_of"]


def tree_of(model: object, caller: str) -> Tree:
    """The spanning tree of a fitted model.

    Raises
    ------
    InvalidParameter
        If it has none.
    """
    tree = getattr(model, "outcome_", None)
    if not isinstance(tree, Tree):
        raise InvalidParameter(
            f"{caller}: this {type(model).__name__} has no spanning tree; recipes 'hdbscan', 'genie', 'mass-cut' and "
            "'single-linkage' have one after fit, and 'auto' where it chose one of them"
        )
    return tree


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

    tree = tree_of(model, "linkage_matrix")
    nodes = binary_hierarchy(tree.merges, tree.heights)
    n = len(tree.heights) + 1
    children = np.argsort(nodes.parent[: 2 * n - 2], kind="stable").reshape(-1, 2)
    return np.column_stack([children, nodes.height[n:], nodes.size[n:]]).astype(np.float64)


def condensed_tree(model: object, min_cluster_size: int | None = None, library: str | None = None) -> object:
    """The clusters of a spanning tree that hold enough rows, with the rows that leave each, as a data frame.

    Parameters
    ----------
    model : fitted estimator
        As in `linkage_matrix`.
    min_cluster_size : int, optional
        Least rows of a cluster. Default: that of the labeler of the fit, or 5 where it has none.
    library : {"pandas", "polars", "pyarrow"}, optional
        Default: the first that is installed.

    Returns
    -------
    data frame
        ``parent``, ``child``, ``lambda_val`` and ``child_size``, as ``condensed_tree_.to_pandas()`` of the package
        hdbscan: clusters are numbered from n, the root, and rows from 0; lambda is one over the height at which the
        child leaves (Campello, Moulavi, Sander 2013), infinite for equal rows.

    Raises
    ------
    InvalidParameter, ImportError
        If the model has no spanning tree, or no library of data frames is installed.
    """
    from clusterkit.families.trees.hierarchy_jit import condense, hierarchy

    tree = tree_of(model, "condensed_tree")
    if min_cluster_size is None:
        estimator: Any = model
        min_cluster_size = estimator.get_params().get("labeler__min_cluster_size", 5)
    least = check_count("min_cluster_size", min_cluster_size, at_least=2)
    n = len(tree.heights) + 1
    condensed = condense(hierarchy(tree.merges, tree.heights), n, least)
    of_clusters = np.arange(1, len(condensed.above))
    parent = n + np.concatenate([condensed.above[1:], condensed.cluster[:n]]).astype(np.int64)
    child = np.concatenate([n + of_clusters, np.arange(n)])
    leaves = np.concatenate([condensed.birth[1:], condensed.fall[:n]])
    size = np.concatenate([condensed.size[1:], np.ones(n)]).astype(np.int64)
    order = np.lexsort((child, parent))
    columns = {"parent": parent, "child": child, "lambda_val": leaves, "child_size": size}
    return as_frame({name: values[order].tolist() for name, values in columns.items()}, library)
