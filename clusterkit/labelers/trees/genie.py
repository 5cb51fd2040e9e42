"""Genie: single linkage under a bound on the inequality of the cluster sizes."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Indices, Rng
from clusterkit.core.labelings import by_appearance
from clusterkit.core.outcomes import Outcome, Tree
from clusterkit.core.params import real
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeler, Labeling, Task
from clusterkit.labelers.trees._prediction import NearestRow

__all__ = ["Genie"]


@final
@attrs.frozen
class Genie(Labeler[Tree]):
    """Merges clusters along the edges of a spanning tree, the smallest ones first where sizes become too uneven.

    Choose it for k clusters of any shape whose sizes do not differ much. As in single linkage the shortest edge is
    taken, unless the Gini index of the m cluster sizes c is above `gini`::

        Σ_{i<j} |c_i - c_j| / ((m - 1) n) > gini

    Then the shortest edge with an end in a cluster of the smallest size is taken. The merges end at k clusters. The
    rule is in numerics/spanning_trees/genie_jit.py (`genie`).

    Parameters
    ----------
    gini : float, default 0.3
        The paper's threshold, from 0 to 1: 1 is single linkage, lower values give more even sizes.

    Notes
    -----
    The paper uses the Euclidean tree, ``n_neighbors=1`` of the solver `mst`. Unlike for the other labelers of trees,
    the labels depend on the order of the samples where distances tie, because edges of equal length must be taken one
    after the other: of equal ones that between the lowest rows. Equal samples are one cluster from the start, and a
    `ClusterkitWarning` tells if there are fewer distinct ones than clusters. Clusters are numbered by first
    appearance; new rows get the label of the nearest sample. O(n log n) after the tree.

    References
    ----------
    Gagolewski, Bartoszuk, Cena (2016), Genie: a new, fast, and outlier-resistant hierarchical clustering algorithm,
    Information Sciences 363.
    """

    name: ClassVar[str] = "genie"
    consumes: ClassVar[type[Outcome]] = Tree

    gini: float = real(0.3, at_least=0.0, at_most=1.0)

    def label(self, outcome: Tree, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the k clusters at which the merges end."""
        from clusterkit.numerics.distinct_rows_jit import distinct_rows
        from clusterkit.numerics.spanning_trees.genie_jit import genie

        if outcome.n_neighbors == 1 and outcome.heights.size and outcome.heights[0] > 0:
            first_equal: Indices = np.arange(len(outcome.rows))  # equal rows would be joined at height 0
        else:
            first, inverse = distinct_rows(outcome.rows)
            first_equal = first[inverse]
        labels = by_appearance(genie(outcome.merges, first_equal, task.k, self.gini))
        return Labeling(labels, NearestRow.of(outcome, labels))
