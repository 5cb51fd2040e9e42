"""Single linkage: the k clusters that the highest merges of a spanning tree join."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Rng
from clusterkit.core.outcomes import Outcome, Tree
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeler, Labeling, Task
from clusterkit.labelers.trees._cuts import cut_labeling

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
        from clusterkit.numerics.spanning_trees.hierarchy_jit import hierarchy, trunks

        tree = hierarchy(outcome.merges, outcome.heights)
        trunk = trunks(tree, -tree.size.astype(np.float64))
        merged_at = np.append(tree.height[tree.parent[:-1]], 0.0)
        return cut_labeling(outcome, tree, trunk, (merged_at,), task.k, self.name)
