"""Components of the complete graph of a Gaussian domain, without comparing all pairs.

Edges are looked for where they are likely: nearest neighbours, then the innermost samples of the components found
so far. That leaves few components, and what remains is the proof that no further line joins two of them, by bounds
over whole sets of lines. Where a bound is not enough the lines themselves are tested, so the components are those
of the plain test of all pairs. The plain test is ``tests/oracles/complete_graph.py``.
"""

from __future__ import annotations

import math
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.kernel import Gaussian
from clusterkit.core.outcomes import KernelDomain
from clusterkit.core.progress import Report, tell
from clusterkit.level_sets._likely_edges import join_components, join_neighbours, members_of
from clusterkit.level_sets._reject_by_cells_jit import DIMENSIONS, CellMap, reject_pairs_mapped
from clusterkit.level_sets._reject_by_products import pairs_not_rejected
from clusterkit.level_sets._reject_by_tree_jit import reject_pairs, sample_order
from clusterkit.level_sets._segments_by_distance_jit import join_edges_by_distances
from clusterkit.level_sets._segments_jit import join_edges
from clusterkit.level_sets._tree_jit import Tree
from clusterkit.numerics.disjoint_jit import roots
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.near_jit import Blocks, far_enough

__all__ = ["Components", "Contour"]

LEAF = 4
# A map of cells costs some 20 ms: fewer samples are faster without it.
MAPPED = 3000
# Pairs times centres up to which products of matrices reject faster than bounds: always, with many components (where
# there is no map, or one), with many attributes.
MANY, ALWAYS_PRODUCTS, FEW_PRODUCTS, FEW_PRODUCTS_MAPPED, MOST_PRODUCTS = 16, 2e8, 3e10, 4e9, 1e12
# Attributes from which lines are tested by distances, if those take at most so many bytes.
BY_DISTANCES, DISTANCE_BYTES = 32, 2**30
# Kernel values between two looks at the keyboard, some 50 ms.
WORK = 50_000_000


@final
@attrs.frozen(eq=False)
class Contour:
    """A Gaussian domain in coordinates where the kernel is ``exp(-|x - y|²)`` and the weights sum to 1.

    Parameters
    ----------
    scale : float
        Factor of the coordinates.
    level : float
    m : int
        Samples a line.
    blocks : Blocks
        Centres and weights.
    """

    scale: float
    level: float
    m: int
    blocks: Blocks

    @classmethod
    def of(cls, domain: KernelDomain, m: int) -> Contour:
        """The contour of a domain whose kernel is Gaussian, whose weights are >= 0 and whose level is > 0."""
        assert isinstance(domain.kernel, Gaussian)
        scale, total = math.sqrt(domain.kernel.gamma), float(domain.weights.sum())
        level = domain.level / total
        centres = domain.centres.astype(np.float64, copy=False) * scale
        return cls(scale, level, m, Blocks.of(centres, domain.weights / total, far_enough(level)))

    @property
    def domain(self) -> tuple[Any, ...]:
        """What compiled functions take."""
        return self.m, self.level, self.blocks.arrays

    @property
    def budget(self) -> int:
        """Kernel sums between two looks at the keyboard."""
        return max(1, WORK // self.blocks.centres.size)


@attrs.define(eq=False)
class Components:
    """The search: samples inside, and which of them are joined already.

    Parameters
    ----------
    contour : Contour
    points : ndarray of shape (u, d)
        Scaled, all inside, no two equal.
    values : ndarray of shape (u,)
    gradients : ndarray of shape (u, d)
    parent : ndarray of shape (u,)
        Disjoint sets.
    stage : str
        Whom progress is reported for.
    distances : tuple, optional
        Squared distances of the points to the centres (u, s), weights (s,), and the relative margin for their
        rounding: with many attributes lines are tested by them.
    sums : int
        Kernel sums that the proof took.
    """

    contour: Contour
    points: Array
    values: Array
    gradients: Array
    parent: Array
    stage: str
    distances: tuple[Array, Array, float] | None = None
    sums: int = 0

    @classmethod
    def of(cls, contour: Contour, points: Array, stage: str) -> Components:
        """Nothing joined yet."""
        values, gradients = contour.blocks.sums_gradients(points)
        distances = None
        if points.shape[1] >= BY_DISTANCES and 8 * len(points) * contour.blocks.weights.size <= DISTANCE_BYTES:
            centres, weights = contour.blocks.unpacked()
            # the expanded form loses some units of the last place of the squared lengths
            spread = float(np.square(points - centres.mean(axis=0)).sum(axis=1).max())
            distances = squared_distances(points, centres), weights, max(1e-9, 1e-14 * spread)
        return cls(contour, points, values, gradients, np.arange(len(points)), stage, distances)

    @property
    def samples(self) -> tuple[Array, Array, Array]:
        """What compiled functions take."""
        return self.points, self.values, self.gradients

    def members(self) -> tuple[Array, Array, Array]:
        """Component 0..c-1 of each point, sizes, and the innermost point of each component."""
        return members_of(roots(self.parent), self.values)

    def count(self) -> int:
        """Components at the moment."""
        return len(np.unique(roots(self.parent)))

    def join(self, edges: Array) -> None:
        """Try edges (e, 2) in their order."""
        done = 0
        while done < len(edges):
            if self.distances is None:
                done = join_edges(edges, done, self.contour.budget, self.parent, self.samples, self.contour.domain)
            else:
                distances, weights, margin = self.distances
                done = join_edges_by_distances(
                    edges, done, WORK // len(weights), self.parent, self.samples, self.contour.domain, distances,
                    weights, sample_order(self.contour.m), margin,
                )  # fmt: skip
            tell(Report(self.stage, done, len(edges)))

    def complete(self) -> None:
        """Join all that lines inside join: edges first, then the proof that none is missing."""
        join_neighbours(self)
        if self.count() == 1:
            return
        by_products = self.suits_products()
        if not by_products:
            join_components(self)
        if self.count() > 1:
            self.reject_by_products() if by_products else self.certify()

    def suits_products(self) -> bool:
        """Whether there are so few samples, so many components or attributes that products of matrices beat bounds."""
        u, d = self.points.shape
        work = u * u * self.contour.blocks.weights.size
        if d >= BY_DISTANCES:
            return work <= MOST_PRODUCTS
        most = FEW_PRODUCTS_MAPPED if d in DIMENSIONS else FEW_PRODUCTS
        return work <= ALWAYS_PRODUCTS or (work <= most and self.count() >= MANY)

    def reject_by_products(self) -> None:
        """Reject pairs by one sample each, and test those that are left."""
        component, _, _ = self.members()
        positions = sample_order(self.contour.m)[:5] / (self.contour.m + 1)
        centres, weights = self.contour.blocks.unpacked()
        for edges in pairs_not_rejected(self.points, component, centres, weights, self.contour.level, positions):
            self.join(edges)
        tell(Report(self.stage, len(self.points), len(self.points)))

    def certify(self) -> None:
        """Reject what is left, pair of sets by pair of sets, or find the lines that are missing."""
        tree = Tree.of(self.points, roots(self.parent), LEAF)
        tried = sample_order(self.contour.m)
        stack = np.zeros((1024, 3), dtype=np.int64)
        stack[0, 2] = tried[0]
        top, domain = 1, self.contour.domain
        worth_it = len(self.points) >= MAPPED or self.count() >= MANY
        mapped = worth_it and self.points.shape[1] in DIMENSIONS
        cells = CellMap.of(self.points, domain).arrays if mapped else None
        while top:
            if cells is None:
                top, sums = reject_pairs(
                    stack, top, self.contour.budget, tree.arrays, self.parent, self.samples, domain, tried
                )
            else:
                boxes = tree.low, tree.high
                top, sums = reject_pairs_mapped(
                    stack, top, self.contour.budget, tree.arrays, boxes, self.parent, self.samples, domain, tried, cells
                )
            self.sums += sums
            tell(Report(self.stage, self.sums, None))
