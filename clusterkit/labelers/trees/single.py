"""Single linkage: the k clusters that the highest merges of a spanning tree join."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Rng
from clusterkit.core.labelings import by_appearance
from clusterkit.core.outcomes import Outcome, Tree
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeler, Labeling, Task
from clusterkit.labelers.trees._prediction import NearestRow

__all__ = ["Single"]


@final
@attrs.frozen
class Single(Labeler[Tree]):
    """Cuts the k - 1 highest merges of a spanning tree: single linkage, or robust single linkage with core distances.

    Choose it where clusters are separated by gaps wider than any gap inside them, and there are no outliers: an outlier
    becomes a cluster of its own. `mass_cut` reads the same tree with regard to sizes.

    Notes
    -----
    Where more than two clusters merge at one height, the smallest of them stay with the largest one until the others
    are cut off, of equal sizes those that begin later. So there are always k clusters, except where equal samples
    would be separated: then a `ClusterkitWarning` says how many there are. Clusters are numbered by first appearance.
    New rows get the label of the sample that is nearest by mutual reachability. O(n) after the tree.

    References
    ----------
    Gower, Ross (1969), Minimum spanning trees and single linkage cluster analysis, Applied Statistics 18(1).
    Chaudhuri, Dasgupta (2010), Rates of convergence for the cluster tree, NIPS: core distances.
    """

    name: ClassVar[str] = "single"
    consumes: ClassVar[type[Outcome]] = Tree

    def label(self, outcome: Tree, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the k clusters of the highest merges."""
        from clusterkit.numerics.distinct_rows_jit import distinct_rows
        from clusterkit.numerics.spanning_trees.hierarchy_jit import cut_off, hierarchy, trunks

        tree, n = hierarchy(outcome.merges, outcome.heights), len(outcome.rows)
        merged_at = np.append(tree.height[tree.parent[:-1]], 0.0)
        allowed = merged_at > 0
        allowed[trunks(tree)[n:]] = False
        _, inverse = distinct_rows(outcome.rows)
        allowed[:n] &= np.bincount(inverse)[inverse] == 1  # equal rows are siblings, and must stay together
        places = np.flatnonzero(allowed)
        if 0 < task.k - 1 < len(places):  # only what can be among the highest is sorted
            places = places[merged_at[places] >= np.partition(merged_at[places], 1 - task.k)[1 - task.k]]
        order = np.lexsort((tree.first[places], -tree.size[places], -merged_at[places]))
        cuts = np.zeros(len(tree.parent), bool)
        cuts[places[order[: task.k - 1]]] = True
        labels = by_appearance(cut_off(tree, cuts, n))
        return Labeling(labels, NearestRow.of(outcome, labels))
