"""The segment test of a Gaussian domain among sparse rows: from distances alone, as in `_distance_lines_jit`.

Sparse rows are not centred, and a sample of a line has no coordinates: ``|x(λ) - x_s|² = (1-λ) d_is + λ d_js -
λ(1-λ) d_ij`` is all there is. The answer for a line is the same whoever asks, and whichever end comes first.
"""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array
from clusterkit.core.outcomes import KernelDomain
from clusterkit.core.progress import Report, tell
from clusterkit.level_sets._likely_edges import LinkedSearch, join_components, join_neighbours, members_of
from clusterkit.level_sets._reject_by_products import pairs_not_rejected
from clusterkit.level_sets._reject_by_tree_jit import sample_order
from clusterkit.level_sets._segments_by_distance_jit import line_sum
from clusterkit.numerics.disjoint_jit import find, join, roots
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["SparseGaussianTest"]

DISTANCE_BYTES = 2**29
"""Of distances to the centres that a search keeps."""
BATCH = 2048


@final
@attrs.frozen(eq=False)
class SparseGaussianTest:
    """The test of a domain whose centres are sparse rows; coordinates are scaled so that gamma is 1.

    Parameters
    ----------
    m : int
        Samples a line.
    scale : float
        Factor of the coordinates.
    level : float
    centres : SparseRows of shape (s, d)
        Scaled.
    weights : ndarray of shape (s,)
        Sum 1.
    """

    m: int
    scale: float
    level: float
    centres: SparseRows
    weights: Array

    @classmethod
    def of(cls, domain: KernelDomain, m: int) -> SparseGaussianTest:
        """The test of a domain with a Gaussian kernel and weights >= 0."""
        gamma, total = domain.kernel.gamma, float(domain.weights.sum())  # type: ignore[attr-defined]
        kept = np.flatnonzero(domain.weights)
        centres: Any = domain.centres
        scale = float(np.sqrt(gamma))
        centres = centres[kept].astype(np.float64, copy=False).scaled(scale)
        return cls(m, scale, domain.level / total, centres, domain.weights[kept] / total)

    def inside(self, Y: Any) -> Array:
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
        return np.ascontiguousarray(squared_distances(Y, self.centres))

    def connected(self, A: Any, B: Any) -> Array:
        """Whether the lines from A[i] to B[i], both (p, d) and inside, stay inside, (p,)."""
        A, B = self.scaled(A), self.scaled(B)
        found = np.zeros(len(A), dtype=bool)
        for start in range(0, len(A), BATCH):
            rows = slice(start, start + BATCH)
            one, other = A[rows], B[rows]
            between = _paired(one, other)
            _test(self.distances(one), self.distances(other), between, self.weights, self.level, self.tried, self.m,
                  found[rows])  # fmt: skip
        return found

    def search(self, points: Any, stage: str) -> LinkedSearch:
        """A search for components among `points` (u, d), all inside, no two equal."""
        points = self.scaled(points)
        kept = None
        if 8 * len(points) * len(self.weights) <= DISTANCE_BYTES:
            kept = self.distances(points)
            values = np.concatenate([np.exp(-kept[i : i + BATCH]) @ self.weights for i in range(0, len(kept), BATCH)])
        else:
            values = self.values(points)
        return LinkedSearch(_Components(self, points, values, np.arange(len(points)), stage, kept))

    @property
    def tried(self) -> Array:
        """Samples of a line in the order they are tried."""
        return sample_order(self.m)

    def scaled(self, Y: Any) -> SparseRows:
        """Rows in the coordinates of the centres."""
        Y = Y if isinstance(Y, SparseRows) else SparseRows.of(Y)
        return Y.astype(np.float64, copy=False).scaled(self.scale)


@final
@attrs.frozen(eq=False)
class _Components:
    """Points, scaled, and which of them are joined already."""

    test: SparseGaussianTest
    points: SparseRows
    values: Array
    parent: Array
    stage: str
    kept: Array | None

    def members(self) -> tuple[Array, Array, Array]:
        return members_of(roots(self.parent), self.values)

    def join(self, edges: Array) -> None:
        test = self.test
        for start in range(0, len(edges), BATCH):
            part = np.sort(edges[start : start + BATCH], axis=1)
            root = roots(self.parent)
            part = part[root[part[:, 0]] != root[part[:, 1]]]
            if len(part):
                between = _paired(self.points[part[:, 0]], self.points[part[:, 1]])
                if self.kept is None:
                    used, local = np.unique(part, return_inverse=True)
                    distances, local = test.distances(self.points[used]), local.reshape(part.shape)
                else:
                    distances, local = self.kept, part
                _join(part, local, between, distances, test.weights, test.level, test.tried, test.m, self.parent)
            tell(Report(self.stage, min(start + BATCH, len(edges)), len(edges)))

    def complete(self) -> None:
        join_neighbours(self)
        join_components(self)
        component, sizes, _ = self.members()
        if len(sizes) == 1:
            return
        test = self.test
        positions = test.tried[:5] / (test.m + 1)
        left = pairs_not_rejected(self.points, component, test.centres, test.weights, test.level, positions)  # type: ignore[arg-type]
        for edges in left:
            self.join(edges)
            tell(Report(self.stage, int(edges[:, 0].max()), len(self.points)))


def _paired(A: SparseRows, B: SparseRows) -> Array:
    """Squared distance of every row to the same row of another matrix."""
    return np.maximum(A.squares() + B.squares() - 2.0 * A.paired_products(B), 0.0)


@njit
def _stays(one: Any, other: Any, between: Any, weights: Any, level: Any, tried: Any, m: Any) -> Any:
    for k in tried:  # noqa: SIM110 (compiled)
        if line_sum(k / (m + 1), between, one, other, weights) < level:
            return False
    return True


@njit
def _test(one: Any, other: Any, between: Any, weights: Any, level: Any, tried: Any, m: Any, found: Any) -> None:
    for e in range(len(found)):
        found[e] = _stays(one[e], other[e], between[e], weights, level, tried, m)


@njit
def _join(
    edges: Any, rows: Any, between: Any, distances: Any, weights: Any, level: Any, tried: Any, m: Any, parent: Any
) -> None:
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        if find(parent, i) != find(parent, j) and _stays(
            distances[rows[e, 0]], distances[rows[e, 1]], between[e], weights, level, tried, m
        ):
            join(parent, i, j)
