"""The segment test: two points belong together if the straight line between them stays inside a domain.

A line is inside if its samples at ``k / (m + 1)``, k = 1..m, all are. Gaussian kernel sums run in compiled loops,
any other domain on blocks of sampled points. The numpy twin is ``tests/oracles/complete_graph.py``.

Source: Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2, section 2.2.
"""

from __future__ import annotations

import math
from typing import Any, Protocol, final

import attrs
import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array
from clusterkit.core.kernel import Gaussian
from clusterkit.core.outcomes import Domain, KernelDomain
from clusterkit.core.progress import Report, tell
from clusterkit.core.transform import block_plan

__all__ = ["SegmentTest", "nearest_rows", "segment_test"]

BLOCK_WORK = 20_000_000
BATCH = 8
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

    def components(self, points: Array, stage: str) -> Array:
        """Component of each row of `points` (u, d), all inside, (u,): any number that its members share."""


def segment_test(domain: Domain, m: int) -> SegmentTest:
    """The test of a domain with m samples a line."""
    if isinstance(domain, KernelDomain) and isinstance(domain.kernel, Gaussian):
        centres = np.ascontiguousarray(domain.centres, dtype=np.float64)
        weights = np.ascontiguousarray(domain.weights, dtype=np.float64)
        return _GaussianTest(fractions(m), centres, weights, float(domain.kernel.gamma), float(domain.level))
    return _AnyTest(fractions(m), domain)


@final
@attrs.frozen(eq=False)
class _GaussianTest:
    """Compiled loops over the kernel sum: O(s d) a sample for s centres."""

    fractions: Array
    centres: Array
    weights: Array
    gamma: float
    level: float

    def inside(self, Y: Array) -> Array:
        return _inside(Y, self.centres, self.weights, self.gamma, self.level)

    def connected(self, A: Array, B: Array) -> Array:
        return _connected(A, B, self.fractions, self.centres, self.weights, self.gamma, self.level)

    def components(self, points: Array, stage: str) -> Array:
        n = len(points)
        parent = np.arange(n)
        # Rows a block: enough work to hide the call, little enough for Ctrl-C.
        block = max(1, BLOCK_WORK // max(1, n * self.centres.size))
        for first in range(0, n, block):
            last = min(n, first + block)
            _join_rows(points, first, last, parent, self.fractions, self.centres, self.weights, self.gamma, self.level)
            tell(Report(stage, last, n))
        return _roots(parent)


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

    def components(self, points: Array, stage: str) -> Array:
        n = len(points)
        part = np.arange(n)
        report = max(1, n // 100)
        for i in range(1, n):
            # Nearest first, in growing batches: an early hit spares the rest of that component.
            todo = np.argsort(np.square(points[:i] - points[i]).sum(axis=1), kind="stable")
            size = BATCH
            while len(todo):
                batch, todo = todo[:size], todo[size:]
                hit = self.connected(points[batch], np.broadcast_to(points[i], (len(batch), points.shape[1])))
                if hit.any():
                    part[np.isin(part, part[batch[hit]])] = i
                    todo = todo[part[todo] != i]
                size = min(2 * size, LARGEST_BATCH)
            if i % report == 0 or i == n - 1:
                tell(Report(stage, i + 1, n))
        return part


def nearest_rows(Y: Array, points: Array) -> Array:
    """Index of the row of `points` (u, d) nearest to each row of Y (p, d), ties the smallest; O(p u d)."""
    return _nearest(np.ascontiguousarray(Y, dtype=np.float64), np.ascontiguousarray(points, dtype=np.float64))


@njit
def _nearest(Y: Any, points: Any) -> Any:
    found = np.zeros(len(Y), dtype=np.int64)
    for i in range(len(Y)):
        least = math.inf
        for j in range(len(points)):
            distance = 0.0
            for c in range(Y.shape[1]):
                difference = Y[i, c] - points[j, c]
                distance += difference * difference
            if distance < least:
                least, found[i] = distance, j
    return found


@njit
def _value(y: Any, centres: Any, weights: Any, gamma: Any) -> Any:
    """``Σ weights_s exp(-gamma |centres_s - y|²)``, one order of additions for every caller."""
    total = 0.0
    for s in range(len(weights)):
        distance = 0.0
        for c in range(len(y)):
            difference = y[c] - centres[s, c]
            distance += difference * difference
        total += weights[s] * math.exp(-gamma * distance)
    return total


@njit
def _inside(Y: Any, centres: Any, weights: Any, gamma: Any, level: Any) -> Any:
    result = np.zeros(len(Y), dtype=np.bool_)
    for i in range(len(Y)):
        result[i] = _value(Y[i], centres, weights, gamma) >= level
    return result


@njit
def _line(a: Any, b: Any, y: Any, fractions: Any, centres: Any, weights: Any, gamma: Any, level: Any) -> Any:
    """Whether the samples between a and b are inside; y is work space. Stops at the first that is not."""
    for position in fractions:
        for c in range(len(a)):
            y[c] = a[c] + position * (b[c] - a[c])
        if _value(y, centres, weights, gamma) < level:
            return False
    return True


@njit
def _connected(A: Any, B: Any, fractions: Any, centres: Any, weights: Any, gamma: Any, level: Any) -> Any:
    result = np.zeros(len(A), dtype=np.bool_)
    y = np.empty(A.shape[1])
    for i in range(len(A)):
        result[i] = _line(A[i], B[i], y, fractions, centres, weights, gamma, level)
    return result


@njit
def _find(parent: Any, i: Any) -> Any:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit
def _roots(parent: Any) -> Any:
    for i in range(len(parent)):
        parent[i] = _find(parent, i)
    return parent


@njit
def _join_rows(
    points: Any, first: Any, last: Any, parent: Any, fractions: Any, centres: Any, weights: Any, gamma: Any,
    level: Any,
) -> Any:  # fmt: skip
    """Join rows first..last-1 with all rows before them; pairs that are joined already need no test."""
    y = np.empty(points.shape[1])
    for i in range(first, last):
        for j in range(i):
            a, b = _find(parent, i), _find(parent, j)
            if a != b and _line(points[i], points[j], y, fractions, centres, weights, gamma, level):
                parent[max(a, b)] = min(a, b)
