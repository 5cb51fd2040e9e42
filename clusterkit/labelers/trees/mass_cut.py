"""The mass cut: the k clusters that end at the merges of largest mass."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core.outcomes import Outcome, Tree
from clusterkit.core.params import integer
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeler, Labeling, Task
from clusterkit.labelers.trees._cuts import cut_labeling

if TYPE_CHECKING:
    from clusterkit.numerics.spanning_trees.hierarchy_jit import Hierarchy

__all__ = ["MassCut"]

LEAST_SIDE = 5
"""A side of fewer rows is no cluster, however few rows there are in all."""


@final
@attrs.frozen
class MassCut(Labeler[Tree]):
    """Cuts the k - 1 merges of largest mass in a spanning tree of mutual reachability.

    Choose it for k clusters of any shape and of different densities, where outliers must not become clusters. Each
    cluster of the hierarchy is born at the least core distance of its rows. Where clusters merge at height w, the one
    born first goes on and each other one ends, with the mass::

        ln(w / birth) √(rows of the smaller side)

    of the cut between it and the rest. Merges with fewer than ``max(5, √n / 2)`` rows on a side count for nothing.

    Parameters
    ----------
    min_side : int or None, default None
        Fewest rows on a side of a cut. None: ``max(5, round(√n / 2))``.

    Notes
    -----
    No sample is noise: outliers follow the tree. If fewer than k - 1 merges have large enough sides, the others follow
    by their mass; equal samples are never separated, and a `ClusterkitWarning` says how many clusters there are then.
    Core distances of 0 (equal samples, or ``n_neighbors=1``) count as the smallest positive one, or as the smallest
    height if there is none. The exponents, and 5 neighbours for the core distances, were chosen on 28 shapes in the
    plane and space, eight further named shapes, and generated data. Clusters are numbered by first appearance; new rows
    get the label of the sample that is nearest by mutual reachability. O(n log n) after the tree.
    """

    name: ClassVar[str] = "mass_cut"
    consumes: ClassVar[type[Outcome]] = Tree

    min_side: int | None = integer(None, at_least=1, optional=True)

    def label(self, outcome: Tree, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the k clusters that the cuts of largest mass leave."""
        from clusterkit.numerics.spanning_trees.hierarchy_jit import hierarchy, least_below, trunks

        tree = hierarchy(outcome.merges, outcome.heights)
        birth = least_below(tree, floored(outcome.core_distances, outcome.heights))
        n = len(outcome.rows)
        least = max(LEAST_SIDE, round(math.sqrt(n) / 2)) if self.min_side is None else self.min_side
        mass, side = masses(tree, birth)
        return cut_labeling(outcome, tree, trunks(tree, birth), (mass * (side >= least), mass), task.k, self.name)


def floored(core: Array, heights: Array) -> Array:
    """Core distances with the smallest positive one, or height, in place of 0."""
    for lengths in (core, heights):
        positive = lengths[lengths > 0]
        if len(positive):
            return np.maximum(core, positive.min())
    return core


def masses(tree: Hierarchy, birth: Array) -> tuple[Array, Array]:
    """Mass of the cut between each node and the rest of its parent, and the rows of the smaller side; 0 for the root."""
    parent = tree.parent[:-1]
    side = np.minimum(tree.size[:-1], tree.size[parent] - tree.size[:-1])
    # a cluster is not born after it merges, but for roundings and for core distances that were 0
    lasted = np.maximum(tree.height[parent], birth[:-1]) / np.where(birth[:-1] > 0, birth[:-1], 1.0)
    mass = np.log(np.where(birth[:-1] > 0, lasted, 1.0)) * np.sqrt(side)
    return np.append(mass, 0.0), np.append(side, 0)
