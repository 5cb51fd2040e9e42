"""The mass cut: a spanning tree without the edges that end the longest-lived clusters."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Rng
from clusterkit.core.labelings import by_appearance
from clusterkit.core.outcomes import Outcome, Tree
from clusterkit.core.params import integer
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeler, Labeling, Task
from clusterkit.labelers.trees._prediction import NearestRow
from clusterkit.numerics.spanning_trees.mass import births, edge_masses, least_side, nearest_first

__all__ = ["MassCut"]


@final
@attrs.frozen
class MassCut(Labeler[Tree]):
    """Drops the k - 1 edges of largest mass from a spanning tree of mutual reachability; clusters are what remains.

    Choose it for k clusters of any shape and of different densities, where outliers must not become clusters. Each
    cluster of the hierarchy is born at the least core distance of its rows. Where two clusters merge at height w, the
    one born later ends there, and the edge between them has the mass::

        ln(w / birth) √(rows of the smaller cluster)

    Edges with fewer than ``max(5, √n / 2)`` rows on a side count for nothing. The sweep over the edges is in
    numerics/spanning_trees/mass_jit.py (`persistence`).

    Parameters
    ----------
    min_side : int or None, default None
        Fewest rows on a side of a cut. None: ``max(5, round(√n / 2))``.

    Notes
    -----
    No sample is noise: outliers follow the edges of the tree. If fewer than k - 1 edges have large enough sides, the
    others follow by their mass, and those without mass by their height; equal samples are never separated, and a
    `ClusterkitWarning` says how many clusters there are then. Core distances of 0 (equal samples, or
    ``n_neighbors=1``) count as the smallest positive one, or as the smallest height if there is none. Merges of
    equal height come in the order of the distance between their two samples, so that the order of the samples matters
    only where distances tie as well.

    The exponent 1/2 and the neighbours of the recipe were chosen on 28 shapes in the plane and space, eight further
    named shapes, and generated data. Clusters are numbered by first appearance; new rows get the label of the sample
    that is nearest by mutual reachability. O(n log n) after the tree.
    """

    name: ClassVar[str] = "mass_cut"
    consumes: ClassVar[type[Outcome]] = Tree

    min_side: int | None = integer(None, at_least=1, optional=True)

    def label(self, outcome: Tree, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the k clusters that the cuts of largest mass leave."""
        from clusterkit.numerics.spanning_trees.mass_jit import components

        n, heights = len(outcome.rows), outcome.heights
        merges = outcome.merges[nearest_first(outcome.rows, outcome.merges, heights)]
        mass, side = edge_masses(merges, heights, births(outcome.core_distances, heights))
        least = least_side(n) if self.min_side is None else self.min_side
        # a distance of 0 between different samples is one whose square is below the smallest number
        apart = (outcome.rows[merges[:, 0]] != outcome.rows[merges[:, 1]]).any(axis=1) & (heights > 0)
        # the last merges first among equal ones, those with small sides later, and those of equal samples never
        order = np.lexsort((np.arange(n - 1), mass, side >= least, apart))[::-1][: task.k - 1]
        dropped = np.zeros(n - 1, bool)
        dropped[order] = apart[order]
        labels = by_appearance(components(merges, dropped))
        return Labeling(labels, NearestRow.of(outcome, labels))
