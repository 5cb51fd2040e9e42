"""The most stable clusters of a condensed hierarchy: how HDBSCAN reads a spanning tree."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Rng
from clusterkit.core.labelings import NOISE, by_appearance
from clusterkit.core.outcomes import Outcome, Tree
from clusterkit.core.params import flag, integer
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeler, Labeling, Task
from clusterkit.labelers.trees._prediction import NearestRow

__all__ = ["ExcessOfMass"]


@final
@attrs.frozen
class ExcessOfMass(Labeler[Tree]):
    """Finds the clusters of largest excess of mass, their number and the noise, at one density for each cluster.

    Choose it for an unknown number of clusters of any shape and of different densities, with noise. As the height of
    the tree falls, λ = 1 / height grows and clusters lose rows; a group of at least `min_cluster_size` rows that
    separates from another one is a new cluster. Chosen are the clusters, none within another, whose stabilities
    ``Σ (λ at which a row leaves - λ at which the cluster began)`` have the largest sum. The sweeps over the hierarchy
    are in numerics/spanning_trees/excess_of_mass_jit.py.

    Parameters
    ----------
    min_cluster_size : int, default 15
        Fewest rows of a cluster.
    allow_single_cluster : bool, default False
        Whether all rows together may be the one cluster that is chosen; rows that leave it before its densest part ends
        are noise. Without it, data without a split are all noise.

    Notes
    -----
    Rows of no cluster are noise, label -1. ``probabilities_`` are λ at which a row leaves its cluster, over the largest
    such λ of the cluster; ``memberships_`` hold them in a table. ``outlier_scores_`` are the GLOSH scores, from 0 to 1,
    of noise as well. Clusters are numbered by first appearance. A new row gets the label of the sample that is nearest
    by mutual reachability, or is noise if that distance is above the height at which the cluster of the sample began.
    All merges of one height count as one, so that the order of the samples makes no difference. O(n) after the tree.

    References
    ----------
    Campello, Moulavi, Zimek, Sander (2015), Hierarchical density estimates for data clustering, visualization, and
    outlier detection, ACM Transactions on Knowledge Discovery from Data 10(1): rule, algorithm 2; scores, section 6.
    McInnes, Healy (2017), Accelerated hierarchical density based clustering, ICDM workshops: the condensed hierarchy.
    """

    name: ClassVar[str] = "excess_of_mass"
    consumes: ClassVar[type[Outcome]] = Tree
    finds_k: ClassVar[bool] = True

    min_cluster_size: int = integer(15, at_least=2)
    allow_single_cluster: bool = flag(False)

    def label(self, outcome: Tree, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the chosen clusters, noise -1, with probabilities and outlier scores."""
        from clusterkit.numerics.spanning_trees.excess_of_mass_jit import excess_of_mass
        from clusterkit.numerics.spanning_trees.hierarchy_jit import hierarchy

        n = len(outcome.rows)
        tree = hierarchy(outcome.merges, outcome.heights)
        extracted = excess_of_mass(tree, n, self.min_cluster_size, self.allow_single_cluster)
        labels = by_appearance(extracted.owner)
        k = int(labels.max()) + 1
        births = np.zeros(k)
        inside = labels != NOISE
        births[labels[inside]] = extracted.birth[extracted.owner[inside]]
        farthest = np.divide(1.0, births, out=np.full(k, np.inf), where=births > 0)
        return Labeling(
            labels,
            NearestRow.of(outcome, labels, farthest),
            probabilities=extracted.probability,
            outlier_scores=extracted.outlier_score,
            facts={"clusters": k, "noise": int(n - inside.sum()), **({} if k else {"reason": self._why_none(n)})},
        )

    def _why_none(self, n: int) -> str:
        """Why n rows are all noise."""
        least = self.min_cluster_size
        single = self.allow_single_cluster
        if n < (least if single else 2 * least):
            needed = f"a cluster has {least} rows" if single else f"two clusters have {2 * least} rows"
            return f"{needed} or more by labeler__min_cluster_size={least}; a smaller number may show clusters"
        return (
            f"no groups of labeler__min_cluster_size={least} rows separate; a smaller number, or fewer "
            "solver__n_neighbors, may show some, and labeler__allow_single_cluster=True makes all of them one"
        )
