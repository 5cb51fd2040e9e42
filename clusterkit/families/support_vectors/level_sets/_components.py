"""Components of the complete graph of a Gaussian domain, without comparing all pairs.

Edges are tried first where they are likely inside: to nearest neighbours, then between the innermost points of the
components so far. Few components remain, and the rest is the proof that no further segment joins two of them, by
bounds over whole sets of segments. If a bound is too weak, the segments themselves are tested, so the components are
those of the plain test of all pairs, which is ``clusterkit_campaign/oracles/domains.py``. A segment is tested by
`first_outside` in _segments_jit.py.
"""

from __future__ import annotations

import math
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.families.support_vectors.level_sets._likely_edges import (
    Grouping,
    grouping_of,
    pairs_not_rejected,
)
from clusterkit.families.support_vectors.level_sets._rejection_jit import (
    DIMENSIONS,
    SPREAD,
    CellMap,
    reject_pairs,
    reject_pairs_mapped,
    sample_order,
)
from clusterkit.families.support_vectors.level_sets._segments_jit import (
    CentreDistances,
    ContourArrays,
    PointArrays,
    join_edges,
    join_edges_by_distances,
)
from clusterkit.families.support_vectors.level_sets._tree_jit import ComponentTree
from clusterkit.families.support_vectors.level_sets.neighbours import nearest_edges
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.gaussian_jit import Blocks, far_enough
from clusterkit.numerics.structures_jit import roots
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.limits import Report, notify, spend

NEIGHBOURS = 8
"""Neighbours of each point that are tried first: they join most of a cluster, and a search is up to 31 times as fast
(Abalone); more of them join few points more."""
INNERMOST_NEIGHBOURS = 16
"""Neighbours that are tried from the innermost point of each component, among these points: up to 2.2 times as fast on
12,000 rows of Shuttle, else mostly without effect."""

LEAF = 4
"""Largest number of points in a leaf of the tree: the 16 pairs of two leaves are tested one by one."""
MAPPED = 3000
"""Number of points from which the map of cells is worth its cost of some 20 ms: up to 1.7 times as fast on Moons and
Banana; below it bounds by the tree alone are, up to 9 times on blobs in three attributes."""
MANY = 16
"""Number of components from which the map of cells is made whatever the number of points."""
ALWAYS_PRODUCTS = 2e8
"""Pairs times centres up to which products of matrices are faster than bounds whatever the number of components: up to
17 times on Wine. Above it bounds are, 2 to 21 times on Banknote and Abalone."""
FEW_PRODUCTS, FEW_PRODUCTS_MAPPED = 3e10, 4e9
"""Pairs times centres up to which products of matrices are faster with at least `MANY` components: in dimensions
without a map of cells, and in those with one."""
BY_DISTANCES = 32
"""Number of attributes from which segments are tested by distances, up to 2.5 times as fast on Musk, and products of
matrices are preferred, 8 to 25 times as fast on Ionosphere."""
MOST_PRODUCTS = 1e12
"""Pairs times centres up to which products of matrices are used with `BY_DISTANCES` attributes or more."""
DISTANCE_BYTES = 2**30
"""Largest memory for the distances of the points to the centres, by which segments are tested."""
DISTANCE_MARGIN, DISTANCE_ROUNDING = 1e-9, 1e-14
"""Relative error of kernel sums from distances: the second times the largest squared length, at least the first."""
WORK = 50_000_000
"""Kernel values between two progress reports, which also let Ctrl-C through: some 50 ms."""


@final
@attrs.frozen(eq=False)
class Contour:
    """A Gaussian domain in coordinates in which the kernel is ``exp(-|x - y|²)``, with weights that sum to 1.

    Parameters
    ----------
    scale : float
        Factor of the coordinates.
    level : float
    n_segment_points : int
        Points tested on a segment.
    blocks : Blocks
        Centres and weights.
    """

    scale: float
    level: float
    n_segment_points: int
    blocks: Blocks

    @classmethod
    def of(cls, domain: KernelDomain, n_segment_points: int) -> Contour:
        """The contour of a domain whose kernel is Gaussian, whose weights are >= 0 and whose level is > 0."""
        assert isinstance(domain.kernel, Gaussian)
        scale, total = math.sqrt(domain.kernel.gamma), float(domain.weights.sum())
        level = domain.level / total
        centres = domain.centres.astype(np.float64, copy=False) * scale
        blocks = Blocks.of(centres, domain.weights / total, far_enough(level))
        return cls(scale, level, n_segment_points, blocks)

    @property
    def arrays(self) -> ContourArrays:
        """The argument `contour` of compiled functions."""
        return ContourArrays(self.n_segment_points, self.level, self.blocks.arrays)

    @property
    def budget(self) -> int:
        """Kernel sums between two progress reports."""
        return max(1, WORK // self.blocks.centres.size)


@attrs.define(eq=False)
class Components:
    """The search for components of points inside a contour.

    Parameters
    ----------
    contour : Contour
    points : ndarray of shape (u, d)
        Scaled, all inside, no two equal.
    values : ndarray of shape (u,)
        Kernel sum at each point.
    gradients : ndarray of shape (u, d)
        Gradient of the kernel sum at each point.
    parent : ndarray of shape (u,)
        Disjoint sets: points that are joined already.
    stage : str
        Name for progress reports.
    distances : CentreDistances, optional
        Distances of the points to the centres, by which segments are tested if there are many attributes.
    sums : int
        Number of kernel sums of tested segments and of the proof.
    """

    contour: Contour
    points: Array
    values: Array
    gradients: Array
    parent: Indices
    stage: str
    distances: CentreDistances | None = None
    sums: int = 0

    @classmethod
    def of(cls, contour: Contour, points: Array, stage: str) -> Components:
        """A search at its start: every point is a component."""
        values, gradients = contour.blocks.sums_gradients(points)
        spend(2 * len(points) * contour.blocks.weights.size)
        distances = None
        if points.shape[1] >= BY_DISTANCES and 8 * len(points) * contour.blocks.weights.size <= DISTANCE_BYTES:
            centres, weights = contour.blocks.unpacked()
            # the expanded form of squared distances loses some units of the last place of the squared lengths
            spread = float(np.square(points - centres.mean(axis=0)).sum(axis=1).max())
            margin = max(DISTANCE_MARGIN, DISTANCE_ROUNDING * spread)
            distances = CentreDistances(squared_distances(points, centres), weights, margin)
        return cls(contour, points, values, gradients, np.arange(len(points)), stage, distances)

    @property
    def samples(self) -> PointArrays:
        """The argument `samples` of compiled functions."""
        return PointArrays(self.points, self.values, self.gradients)

    def grouping(self) -> Grouping:
        """The components at the moment."""
        return grouping_of(roots(self.parent), self.values)

    def members(self) -> Labels:
        """Component of each point at the moment, (u,)."""
        return self.grouping().component

    def count(self) -> int:
        """Number of components at the moment."""
        return int(np.count_nonzero(roots(self.parent) == np.arange(len(self.parent))))

    def join(self, edges: Indices) -> None:
        """Test edges (e, 2) in their order, and join the ends of those inside."""
        contour, done = self.contour, 0
        while done < len(edges):
            if self.distances is None:
                done, sums = join_edges(edges, done, contour.budget, self.parent, self.samples, contour.arrays)
            else:
                budget, order = WORK // len(self.distances.weights), sample_order(contour.n_segment_points)
                done, sums = join_edges_by_distances(
                    edges, done, budget, self.parent, self.samples, contour.arrays, self.distances, order
                )
            self._count(sums)
            notify(Report(self.stage, done, len(edges)))

    def complete(self) -> None:
        """Join all components that segments inside join: likely edges first, then the proof that none is missing."""
        self.join(nearest_edges(self.points, NEIGHBOURS))
        if self.count() == 1:
            return
        by_products = self.suits_products()
        if not by_products:
            self.join_innermost()
        if self.count() > 1:
            self.reject_by_products() if by_products else self.certify()

    def join_innermost(self) -> None:
        """Try edges between the innermost points of components, until a round joins none."""
        before, innermost = 0, self.grouping().innermost
        while len(innermost) not in (1, before):
            before, inner = len(innermost), self.points[innermost]
            self.join(innermost[nearest_edges(inner, min(INNERMOST_NEIGHBOURS, before - 1))])
            innermost = self.grouping().innermost

    def suits_products(self) -> bool:
        """Whether products of matrices are faster than bounds: for few points, many components or many attributes."""
        u, d = self.points.shape
        work = u * u * self.contour.blocks.weights.size
        if d >= BY_DISTANCES:
            return work <= MOST_PRODUCTS
        most = FEW_PRODUCTS_MAPPED if d in DIMENSIONS else FEW_PRODUCTS
        return work <= ALWAYS_PRODUCTS or (work <= most and self.count() >= MANY)

    def reject_by_products(self) -> None:
        """Reject pairs by the sum at single sample points, and test the pairs that are left."""
        component, m = self.grouping().component, self.contour.n_segment_points
        positions = sample_order(m)[:SPREAD] / (m + 1)
        centres, weights = self.contour.blocks.unpacked()
        for edges in pairs_not_rejected(self.points, component, centres, weights, self.contour.level, positions):
            self.join(edges)
        notify(Report(self.stage, len(self.points), len(self.points)))

    def certify(self) -> None:
        """Reject all pairs of different components, by pairs of tree nodes, or join those that belong together."""
        tree = ComponentTree.of(self.points, roots(self.parent), LEAF)
        order = sample_order(self.contour.n_segment_points)
        stack = np.zeros((1024, 3), dtype=np.int64)
        stack[0, 2] = order[0]
        top, contour = 1, self.contour.arrays
        is_mapped = len(self.points) >= MAPPED or self.count() >= MANY
        is_mapped = is_mapped and self.points.shape[1] in DIMENSIONS
        cells = CellMap.of(self.points, contour).arrays if is_mapped else None
        while top:
            arguments = stack, top, self.contour.budget, tree.arrays, self.parent, self.samples, contour, order
            if cells is None:
                top, sums = reject_pairs(*arguments)
            else:
                top, sums = reject_pairs_mapped(*arguments, tree.boxes, cells)
            self._count(sums)
            notify(Report(self.stage, self.sums, None))

    def _count(self, sums: int) -> None:
        """Count kernel sums, each with as many kernel evaluations as there are centres."""
        self.sums += sums
        spend(sums * self.contour.blocks.weights.size)
