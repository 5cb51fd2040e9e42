"""k clusters by k - 1 cuts in the hierarchy of a tree: each cuts one child off from the node in which it merges."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.labelings import by_appearance
from clusterkit.core.outcomes import Tree
from clusterkit.core.stages import Labeling
from clusterkit.labelers.trees._prediction import NearestRow

if TYPE_CHECKING:
    from clusterkit.numerics.spanning_trees.hierarchy_jit import Hierarchy

__all__ = ["cut_labeling", "warn_of_few"]


def cut_labeling(outcome: Tree, tree: Hierarchy, trunk: Indices, keys: tuple[Array, ...], k: int, name: str) -> Labeling:
    """Labels of k clusters, numbered by first appearance.

    Parameters
    ----------
    outcome : Tree
    tree : Hierarchy
        Of the outcome.
    trunk : ndarray of shape (nodes,)
        The child of each node that the others are cut off from.
    keys : tuple of ndarray of shape (nodes,)
        The cuts with the largest keys are made, the first key first; of equal ones that of the larger child, then of
        the one with the lowest row. A cut whose last key is not above 0 is never made.
    k : int
    name : str
        Of the labeler, for the warning.
    """
    from clusterkit.numerics.distinct_rows_jit import distinct_rows
    from clusterkit.numerics.spanning_trees.hierarchy_jit import cut_off

    n = len(outcome.rows)
    allowed = keys[-1] > 0
    allowed[-1] = False
    allowed[trunk[n:]] = False
    _, inverse = distinct_rows(outcome.rows)
    allowed[:n] &= np.bincount(inverse)[inverse] == 1  # equal rows are siblings, and must stay together
    places = np.flatnonzero(allowed)
    if len(places) > k - 1 > 0:
        # only what can be among the largest by the first key is sorted
        least = np.partition(keys[0][places], len(places) - k + 1)[len(places) - k + 1]
        places = places[keys[0][places] >= least]
    order = np.lexsort((tree.first[places], -tree.size[places], *(-key[places] for key in reversed(keys))))
    cuts = np.zeros(len(tree.parent), bool)
    cuts[places[order[: k - 1]]] = True
    labels = by_appearance(cut_off(tree, cuts, n))
    warn_of_few(int(labels.max()) + 1, k, name)
    return Labeling(labels, NearestRow.of(outcome, labels))


def warn_of_few(clusters: int, k: int, name: str) -> None:
    """Warn if there are fewer clusters than asked for, which many equal rows can cause."""
    if clusters < k:
        warnings.warn(
            f"labeler '{name}': equal samples, or samples at equal distances, allow {clusters} clusters only, so that "
            f"fewer labels are used than n_clusters={k}",
            ClusterkitWarning,
            stacklevel=3,
        )
