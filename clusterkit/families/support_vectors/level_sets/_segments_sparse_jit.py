"""The segment test of a Gaussian domain among sparse rows: from distances alone, as in `join_edges_by_distances`.

Sparse rows are not centred, and the points on a segment between them are not computed: ``|x(λ) - x_s|² = (1-λ) d_is +
λ d_js - λ(1-λ) d_ij`` is all that is used. The answer for a segment depends on its two ends only, not on their order or
on the caller.
"""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices, Labels, Mask
from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.families.support_vectors.level_sets._likely_edges import (
    Grouping,
    grouping_of,
    join_components,
    join_neighbours,
    pairs_not_rejected,
)
from clusterkit.families.support_vectors.level_sets._rejection_jit import SPREAD, sample_order
from clusterkit.families.support_vectors.level_sets._segments_jit import segment_sum
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.numerics.structures_jit import find, join, roots
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.limits import Report, notify, spend

__all__ = ["SparseGaussianTest"]

DISTANCE_BYTES = 2**29
"""Most memory for the distances of the points to the centres that a search stores; beyond it they are recomputed, in up
to 1.2 times the time."""
BATCH = 2048
"""Rows or edges whose distances to the centres are in memory at a time."""


@final
@attrs.frozen(eq=False)
class SparseGaussianTest:
    """The test of a domain whose centres are sparse rows; coordinates are scaled so that gamma is 1.

    Parameters
    ----------
    n_segment_points : int
        Points tested on a segment.
    scale : float
        Factor of the coordinates.
    level : float
    centres : SparseRows of shape (s, d)
        Scaled.
    weights : ndarray of shape (s,)
        Weights of the centres, with sum 1.
    """

    n_segment_points: int
    scale: float
    level: float
    centres: SparseRows
    weights: Array

    @classmethod
    def of(cls, domain: KernelDomain, n_segment_points: int) -> SparseGaussianTest:
        """The test of a domain with a Gaussian kernel and weights >= 0."""
        assert isinstance(domain.kernel, Gaussian)
        gamma, total = domain.kernel.gamma, float(domain.weights.sum())
        positive = np.flatnonzero(domain.weights)
        centres: Any = domain.centres
        scale = float(np.sqrt(gamma))
        centres = centres[positive].astype(np.float64, copy=False).scaled(scale)
        return cls(n_segment_points, scale, domain.level / total, centres, domain.weights[positive] / total)

    def inside(self, Y: Any) -> Mask:
        """Whether the rows of Y (p, d) are inside, (p,)."""
        return self.values(self.scaled(Y)) >= self.level

    def values(self, Y: SparseRows) -> Array:
        """The kernel sum at scaled rows, (p,)."""
        values = np.empty(len(Y))
        for start in range(0, len(Y), BATCH):
            rows = slice(start, start + BATCH)
            values[rows] = np.exp(-self.distances(Y[rows])) @ self.weights
        return values

    def distances(self, Y: SparseRows) -> Array:
        """Squared distances of scaled rows to the centres, (p, s)."""
        spend(len(Y) * len(self.weights))
        return np.ascontiguousarray(squared_distances(Y, self.centres))

    def connected(self, A: Any, B: Any) -> Mask:
        """Whether the segments from A[i] to B[i], both (p, d) and inside, stay inside, (p,)."""
        A, B = self.scaled(A), self.scaled(B)
        inside = np.zeros(len(A), dtype=bool)
        for start in range(0, len(A), BATCH):
            rows = slice(start, start + BATCH)
            one, other = A[rows], B[rows]
            between = _paired(one, other)
            _test(self.distances(one), self.distances(other), between, self.weights, self.level, self.positions,
                  inside[rows])  # fmt: skip
        return inside

    def search(self, points: Any, stage: str) -> _SparseComponents:
        """A search for components among `points` (u, d), all inside, no two equal."""
        points = self.scaled(points)
        distances = None
        if 8 * len(points) * len(self.weights) <= DISTANCE_BYTES:
            distances = self.distances(points)
            batches = range(0, len(distances), BATCH)
            values = np.concatenate([np.exp(-distances[i : i + BATCH]) @ self.weights for i in batches])
        else:
            values = self.values(points)
        return _SparseComponents(self, points, values, np.arange(len(points)), stage, distances)

    @property
    def positions(self) -> Array:
        """Positions of the points on a segment of length 1 in the sequence in which they are tested."""
        return sample_order(self.n_segment_points) / (self.n_segment_points + 1)

    def scaled(self, Y: Any) -> SparseRows:
        """Rows in the coordinates of the centres."""
        Y = Y if isinstance(Y, SparseRows) else SparseRows.of(Y)
        return Y.astype(np.float64, copy=False).scaled(self.scale)


@final
@attrs.frozen(eq=False)
class _SparseComponents:
    """A search among scaled points.

    `parent` (u,) are disjoint sets of joined points; `distances` (u, s) to the centres are None if they are too large.
    """

    test: SparseGaussianTest
    points: SparseRows
    values: Array
    parent: Indices
    stage: str
    distances: Array | None

    def grouping(self) -> Grouping:
        return grouping_of(roots(self.parent), self.values)

    def members(self) -> Labels:
        return self.grouping().component

    def join(self, edges: Indices) -> None:
        test = self.test
        for start in range(0, len(edges), BATCH):
            batch = np.sort(edges[start : start + BATCH], axis=1)
            root = roots(self.parent)
            batch = batch[root[batch[:, 0]] != root[batch[:, 1]]]
            if len(batch):
                between = _paired(self.points[batch[:, 0]], self.points[batch[:, 1]])
                if self.distances is None:
                    ends, rows = np.unique(batch, return_inverse=True)
                    distances, rows = test.distances(self.points[ends]), rows.reshape(batch.shape)
                else:
                    distances, rows = self.distances, batch
                _join(batch, rows, between, distances, test.weights, test.level, test.positions, self.parent)
                spend(len(batch) * len(test.positions) * len(test.weights))
            notify(Report(self.stage, min(start + BATCH, len(edges)), len(edges)))

    def complete(self) -> None:
        join_neighbours(self)
        join_components(self)
        component, sizes, _ = self.grouping()
        if len(sizes) == 1:
            return
        test = self.test
        positions = test.positions[:SPREAD]
        remaining = pairs_not_rejected(self.points, component, test.centres, test.weights, test.level, positions)  # type: ignore[arg-type]
        for edges in remaining:
            self.join(edges)
            notify(Report(self.stage, int(edges[:, 0].max()), len(self.points)))


def _paired(A: SparseRows, B: SparseRows) -> Array:
    """Squared distance of every row to the same row of another matrix."""
    return np.maximum(A.squares() + B.squares() - 2.0 * A.paired_products(B), 0.0)


@njit
def _stays(one: Any, other: Any, between: Any, weights: Any, level: Any, positions: Any) -> Any:
    """Whether a segment stays inside, from the distances of its ends to the centres, (s,), and to each other."""
    for position in positions:  # noqa: SIM110 (compiled)
        if segment_sum(position, between, one, other, weights) < level:
            return False
    return True


@njit
def _test(one: Any, other: Any, between: Any, weights: Any, level: Any, positions: Any, inside: Any) -> None:
    """Write to `inside` (p,) whether the segments stay inside."""
    for e in range(len(inside)):
        inside[e] = _stays(one[e], other[e], between[e], weights, level, positions)


@njit
def _join(
    edges: Any, rows: Any, between: Any, distances: Any, weights: Any, level: Any, positions: Any, parent: Any
) -> None:
    """Join the ends of edges (e, 2) whose segments stay inside; `rows` (e, 2) are the ends' rows of `distances`."""
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        if find(parent, i) != find(parent, j) and _stays(
            distances[rows[e, 0]], distances[rows[e, 1]], between[e], weights, level, positions
        ):
            join(parent, i, j)
