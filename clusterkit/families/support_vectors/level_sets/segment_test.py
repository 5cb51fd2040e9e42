"""The segment test: two points belong together if the straight segment between them stays inside a domain.

A segment is inside if its points at ``k / (m + 1)``, k = 1..m, all are. Gaussian kernel sums are evaluated by compiled
loops (`_segments_jit.py`), any other domain on blocks of points. The plain version in numpy is
``clusterkit_campaign/oracles/domains.py``.

Source: Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2, section 2.2.
"""

from __future__ import annotations

from typing import Protocol, TypeGuard, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Mask
from clusterkit.contracts.outcomes import Domain, KernelDomain
from clusterkit.families.support_vectors.level_sets._components import Components, Contour
from clusterkit.families.support_vectors.level_sets._segments_jit import connected
from clusterkit.numerics.threads import over_rows
from clusterkit.samples import memory
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.limits import Report, notify, spend
from clusterkit.samples.transform import block_plan

FIRST_BATCH, LARGEST_BATCH = 8, 4096
"""Segments tested at a time: a batch starts small, because a hit ends the search, and doubles up to the limit."""
SMALLEST_LEVEL = 1e-100
"""Lowest level, relative to the sum of the weights, for the compiled tests: squares of values must not underflow."""


def fractions(n_segment_points: int) -> Array:
    """Positions of the points on a segment of length 1, the middle first: it is the most likely to be outside.

    Examples
    --------
    >>> fractions(3).tolist()
    [0.5, 0.25, 0.75]
    """
    memory.require(32 * n_segment_points, f"the {n_segment_points} points of a segment", "Test fewer of them.")
    k = np.arange(1, n_segment_points + 1)
    return (k / (n_segment_points + 1))[np.argsort(np.abs(2 * k - (n_segment_points + 1)), kind="stable")]


def is_positive_gaussian(domain: Domain) -> TypeGuard[KernelDomain]:
    """Whether a domain is a level set of a Gaussian kernel sum with weights >= 0, at a level without underflow."""
    return (
        isinstance(domain, KernelDomain)
        and isinstance(domain.kernel, Gaussian)
        and bool(np.all(domain.weights >= 0))
        and bool(domain.level > SMALLEST_LEVEL * domain.weights.sum() > 0)
    )


class SegmentTest(Protocol):
    """Tests of points and segments against a domain. The answer for a point depends on that point alone."""

    def inside(self, Y: Array) -> Mask:
        """Whether the rows of Y (p, d) are inside, (p,)."""

    def connected(self, A: Array, B: Array) -> Mask:
        """Whether the segments from A[i] to B[i], both (p, d) and inside, stay inside, (p,); ends are not tested."""

    def search(self, points: Array, stage: str) -> ComponentSearch:
        """A search for components among `points` (u, d), all inside, no two equal; `stage` is its name in reports."""


class ComponentSearch(Protocol):
    """A search for components of points, whose segments inside the domain join them."""

    def complete(self) -> None:
        """Join any two components that a segment between two of their points joins."""

    def members(self) -> Labels:
        """Component of each point at the moment, (u,): any number >= 0 that its members share."""


def segment_test(domain: Domain, n_segment_points: int) -> SegmentTest:
    """The test of a domain with `n_segment_points` points on a segment."""
    if is_positive_gaussian(domain):
        return _GaussianTest(fractions(n_segment_points), Contour.of(domain, n_segment_points))
    return _BlockwiseTest(fractions(n_segment_points), domain)


@final
@attrs.frozen(eq=False)
class _GaussianTest:
    """Compiled loops over the kernel sum: O(s d) for a point, with s centres near enough to matter."""

    fractions: Array
    contour: Contour

    def inside(self, Y: Array) -> Mask:
        spend(len(Y) * self.contour.blocks.weights.size)
        return self.contour.blocks.sums(self._scaled(Y)) >= self.contour.level

    def connected(self, A: Array, B: Array) -> Mask:
        A, B = self._scaled(A), self._scaled(B)
        inside = np.zeros(len(A), dtype=bool)
        work = self.contour.blocks.centres.size * len(self.fractions)
        contour = self.contour.arrays
        over_rows(lambda start, stop: connected(A, B, start, stop, self.fractions, contour, inside), len(A), work)
        return inside

    def search(self, points: Array, stage: str) -> Components:
        return Components.of(self.contour, self._scaled(points), stage)

    def _scaled(self, Y: Array) -> Array:
        if Y.shape[1] != (d := self.contour.blocks.centres.shape[1]):  # compiled loops would read beyond the end
            raise ValueError(f"points of {Y.shape[1]} coordinates for a domain of {d}")
        return np.ascontiguousarray(Y, dtype=np.float64) * self.contour.scale


@final
@attrs.frozen(eq=False)
class _BlockwiseTest:
    """Values of any domain at blocks of points."""

    fractions: Array
    domain: Domain

    def inside(self, Y: Array) -> Mask:
        inside = np.zeros(len(Y), dtype=bool)
        for rows in block_plan(len(Y), Y.shape[1], np.float64):
            inside[rows] = self.domain.value(Y[rows]) >= self.domain.level
            spend(rows.stop - rows.start)  # in addition to the kernel evaluations that the domain counts
        return inside

    def connected(self, A: Array, B: Array) -> Mask:
        remaining = np.arange(len(A))
        for fraction in self.fractions:
            if not len(remaining):
                break
            Y = A[remaining] + fraction * (B[remaining] - A[remaining])
            remaining = remaining[self.inside(Y)]
        inside = np.zeros(len(A), dtype=bool)
        inside[remaining] = True
        return inside

    def search(self, points: Array, stage: str) -> _BlockwiseSearch:
        return _BlockwiseSearch(self, points, np.arange(len(points)), stage)


@final
@attrs.frozen(eq=False)
class _BlockwiseSearch:
    """A search that tests segments in batches, so that the domain is evaluated at many points at once.

    `component` (u,) numbers the component of each point.
    """

    test: _BlockwiseTest
    points: Array
    component: Labels
    stage: str

    def complete(self) -> None:
        points, component, n = self.points, self.component, len(self.points)
        report = max(1, n // 100)
        for i in range(1, n):
            # nearest first, in growing batches: an early hit makes the other points of that component superfluous
            todo = np.argsort(np.square(points[:i] - points[i]).sum(axis=1), kind="stable")
            todo = todo[component[todo] != component[i]]
            size = FIRST_BATCH
            while len(todo):
                batch, todo = todo[:size], todo[size:]
                hit = self.test.connected(points[batch], np.broadcast_to(points[i], (len(batch), points.shape[1])))
                if hit.any():
                    component[np.isin(component, component[batch[hit]])] = component[i]
                    todo = todo[component[todo] != component[i]]
                size = min(2 * size, LARGEST_BATCH)
            if i % report == 0 or i == n - 1:
                notify(Report(self.stage, i + 1, n))

    def members(self) -> Labels:
        return self.component
