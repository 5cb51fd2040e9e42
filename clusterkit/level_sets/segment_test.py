"""The segment test: two points belong together if the straight line between them stays inside a domain.

A line is inside if its samples at ``k / (m + 1)``, k = 1..m, all are. Gaussian kernel sums run in compiled loops,
any other domain on blocks of sampled points. The numpy twin is ``tests/oracles/complete_graph.py``.

Source: Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2, section 2.2.
"""

from __future__ import annotations

from typing import Protocol, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.kernel import Gaussian
from clusterkit.core.outcomes import Domain, KernelDomain
from clusterkit.core.progress import Report, tell
from clusterkit.core.transform import block_plan
from clusterkit.level_sets._components import Components, Contour
from clusterkit.level_sets._likely_edges import LinkedSearch
from clusterkit.level_sets._segments_jit import connected
from clusterkit.level_sets.neighbours import nearest_rows
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.numerics.threads import over_rows

__all__ = ["SegmentTest", "nearest_rows", "segment_test"]

BATCH = 8
SMALLEST_LEVEL = 1e-100
LARGEST_BATCH = 4096


def fractions(m: int) -> Array:
    """Positions of the samples on the unit line, the middle first: it fails most often."""
    k = np.arange(1, m + 1)
    return (k / (m + 1))[np.argsort(np.abs(2 * k - (m + 1)), kind="stable")]


class SegmentTest(Protocol):
    """What can be asked of a domain. Every answer about a point depends on that point alone."""

    def inside(self, Y: Array) -> Array:
        """Whether the rows of Y (p, d) are inside, (p,)."""

    def connected(self, A: Array, B: Array) -> Array:
        """Whether the lines from A[i] to B[i], both (p, d) and inside, stay inside, (p,); ends are not tested."""

    def search(self, points: Array, stage: str) -> Search:
        """A search for components among `points` (u, d), all inside, no two equal; `stage` reports progress."""


class Search(Protocol):
    """Components under way."""

    def join(self, edges: Array) -> None:
        """Test edges (e, 2) in their order and join their ends; ends that are joined already are skipped."""

    def complete(self) -> None:
        """Join whatever any line between two of the points joins."""

    def members(self) -> Array:
        """Component of each point so far, (u,): any number >= 0 that its members share."""


def segment_test(domain: Domain, m: int) -> SegmentTest:
    """The test of a domain with m samples a line."""
    if (
        isinstance(domain, KernelDomain)
        and isinstance(domain.kernel, Gaussian)
        and np.all(domain.weights >= 0)
        # squares of values near the level must not underflow
        and domain.level > SMALLEST_LEVEL * domain.weights.sum() > 0
    ):
        if isinstance(domain.centres, SparseRows):
            from clusterkit.level_sets._segment_test_sparse_jit import SparseGaussianTest

            return SparseGaussianTest.of(domain, m)
        return _GaussianTest(fractions(m), Contour.of(domain, m))
    return _AnyTest(fractions(m), domain)


@final
@attrs.frozen(eq=False)
class _GaussianTest:
    """Compiled loops over the kernel sum: O(s d) a sample for s centres near enough to matter."""

    fractions: Array
    contour: Contour

    def inside(self, Y: Array) -> Array:
        return self.contour.blocks.sums(self._scaled(Y)) >= self.contour.level

    def connected(self, A: Array, B: Array) -> Array:
        A, B = self._scaled(A), self._scaled(B)
        result = np.zeros(len(A), dtype=bool)
        work = self.contour.blocks.centres.size * len(self.fractions)
        domain = self.contour.domain
        over_rows(lambda start, stop: connected(A, B, start, stop, self.fractions, domain, result), len(A), work)
        return result

    def search(self, points: Array, stage: str) -> LinkedSearch:
        return LinkedSearch(Components.of(self.contour, self._scaled(points), stage))

    def _scaled(self, Y: Array) -> Array:
        return np.ascontiguousarray(Y, dtype=np.float64) * self.contour.scale


@final
@attrs.frozen(eq=False)
class _AnyTest:
    """Values of the domain at blocks of points."""

    fractions: Array
    domain: Domain

    def inside(self, Y: Array) -> Array:
        result = np.zeros(len(Y), dtype=bool)
        for rows in block_plan(len(Y), Y.shape[1], np.float64):
            result[rows] = self.domain.value(Y[rows]) >= self.domain.level
        return result

    def connected(self, A: Array, B: Array) -> Array:
        alive = np.arange(len(A))
        for position in self.fractions:
            if not len(alive):
                break
            Y = A[alive] + position * (B[alive] - A[alive])
            alive = alive[self.inside(Y)]
        result = np.zeros(len(A), dtype=bool)
        result[alive] = True
        return result

    def search(self, points: Array, stage: str) -> _AnySearch:
        return _AnySearch(self, points, np.arange(len(points)), stage)


@final
@attrs.frozen(eq=False)
class _AnySearch:
    """Batches of lines, so that the domain is asked for many points at once."""

    test: _AnyTest
    points: Array
    part: Array
    stage: str

    def join(self, edges: Array) -> None:
        done = 0
        while done < len(edges):
            batch = edges[done : done + LARGEST_BATCH]
            done += len(batch)
            batch = batch[self.part[batch[:, 0]] != self.part[batch[:, 1]]]
            for i, j in batch[self.test.connected(self.points[batch[:, 0]], self.points[batch[:, 1]])]:
                if self.part[i] != self.part[j]:
                    self.part[self.part == self.part[j]] = self.part[i]
            tell(Report(self.stage, done, len(edges)))

    def complete(self) -> None:
        points, part, n = self.points, self.part, len(self.points)
        report = max(1, n // 100)
        for i in range(1, n):
            # Nearest first, in growing batches: an early hit spares the rest of that component.
            todo = np.argsort(np.square(points[:i] - points[i]).sum(axis=1), kind="stable")
            todo = todo[part[todo] != part[i]]
            size = BATCH
            while len(todo):
                batch, todo = todo[:size], todo[size:]
                hit = self.test.connected(points[batch], np.broadcast_to(points[i], (len(batch), points.shape[1])))
                if hit.any():
                    part[np.isin(part, part[batch[hit]])] = part[i]
                    todo = todo[part[todo] != part[i]]
                size = min(2 * size, LARGEST_BATCH)
            if i % report == 0 or i == n - 1:
                tell(Report(self.stage, i + 1, n))

    def members(self) -> Array:
        return self.part
