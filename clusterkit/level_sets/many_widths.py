"""The complete graph of many Gaussian domains of the same points, as a search over widths and bounds needs it.

The distances of all points say everything: ``|x(λ) - x_s|² = (1-λ) d_is + λ d_js - λ(1-λ) d_ij`` on the line from x_i
to x_j. They, and for one sample of every line the distance to the nearest of all points, are computed once; they
depend on no width. Weights that sum to 1 give at most ``exp(-γ r²)`` where no centre is within r,
which rejects most lines of a narrow kernel at a glance. What is left is rejected by products of matrices or by the
samples themselves. The components are those of the plain test of all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core import memory
from clusterkit.core.kernel import Gaussian
from clusterkit.core.outcomes import Domain, KernelDomain
from clusterkit.labelers._outliers_and_prediction import DistinctRows, _nearest_kept, first_appearance
from clusterkit.level_sets._many_widths_jit import (
    bounded_pairs,
    distances,
    join_lines,
    least_distances,
    tree,
    undecided_pairs,
    values_at,
)
from clusterkit.level_sets.segment_test import SMALLEST_LEVEL, fractions
from clusterkit.numerics.disjoint_jit import roots
from clusterkit.numerics.distinct_rows_jit import find_rows
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.numerics.threads import over_rows

__all__ = ["SamePoints"]

MOST_POINTS = 4000
"""Beyond this the bounds for all lines, u³ / 2 steps, cost more than they save."""

LARGEST_EXPONENT = 40.0
"""Above it the factor of a line would multiply what single precision has rounded to 0."""

LARGEST_SPREAD = 1e8
"""Largest squared distance in units of the width: rounding moves exponents by some 1e-16 of it."""

MARGIN, SINGLE = 1e-6, 1e-3
"""Relative; what lies this near below the level is left to the samples: bounds, and sums in single precision."""

TIED = 1e-9
"""Relative; squared distances this near are equal but for rounding."""

PRODUCTS = 60.0
"""A kernel value of a tested line in terms of one inside a product of matrices."""

LEFT = 15
"""Lines a point that are tested one by one; where more are left, bounds over whole sets of them are faster."""

ROWS = 128


@final
@attrs.frozen(eq=False)
class SamePoints:
    """Labels of domains, for points that stay.

    Parameters
    ----------
    otherwise : callable
        Labels of a domain that is not of the kind above: another kernel, centres that are none of the points.
    m : int
        Samples a line.
    outliers : {"noise", "nearest", "singleton"}
    min_cluster_size : int
    distinct : DistinctRows
        The points without repetitions.
    D : ndarray of shape (u, u)
        Squared distances.
    least : ndarray of shape (u, u)
        Below the diagonal, squared distances of one sample of each line to the nearest of all points.
    spanning : ndarray of shape (u - 1, 2)
        Minimum spanning tree of all points.
    """

    otherwise: Callable[[Domain], Labels]
    m: int
    outliers: str
    min_cluster_size: int
    distinct: DistinctRows
    D: Array
    least: Array
    spanning: Array

    @classmethod
    def of(
        cls,
        points: Array,
        otherwise: Callable[[Domain], Labels],
        *,
        m: int,
        outliers: str,
        min_cluster_size: int | None,
    ) -> Callable[[Domain], Labels]:
        """What labels domains of these points: `otherwise` itself where they are sparse, many or too many to keep.

        O(u² d + u³) time, some milliseconds for 200 points and seconds for 2,000; 16 u² bytes.
        """
        if isinstance(points, SparseRows) or len(points) > MOST_POINTS or 16 * len(points) ** 2 > memory.cap():
            return otherwise
        distinct = DistinctRows.of(points)
        D = distances(np.ascontiguousarray(distinct.rows))
        u, position = len(D), fractions(m)[0]
        least = np.zeros((u, u))
        over_rows(lambda start, stop: least_distances(D, position, start, stop, least), u, max(1, u * u // 4))
        return cls(otherwise, m, outliers, min_cluster_size or 1, distinct, D, least, tree(D, np.arange(u)))

    def __call__(self, domain: Domain) -> Labels:
        """Labels of the points, (n,), numbered by first appearance; -1 is noise."""
        if not (
            isinstance(domain, KernelDomain)
            and isinstance(domain.kernel, Gaussian)
            and not isinstance(domain.centres, SparseRows)
            and np.all(domain.weights >= 0)
            and domain.level > SMALLEST_LEVEL * domain.weights.sum() > 0
            and domain.kernel.gamma * float(self.D.max()) < LARGEST_SPREAD
        ):
            return self.otherwise(domain)
        centres = find_rows(self.distinct.rows, domain.centres)
        if (centres < 0).any():
            return self.otherwise(domain)
        gamma, total = float(domain.kernel.gamma), float(domain.weights.sum())
        weights, level = domain.weights / total, domain.level / total
        E = gamma * self.D[:, centres]
        inside = values_at(E, weights) >= level
        if len(self.distinct.inverse) == 1:
            inside[:] = True
        component = self._components(inside, gamma, weights, level, E)
        return self.otherwise(domain) if component is None else self._labels(inside, component)

    def _components(self, inside: Array, gamma: float, weights: Array, level: float, E: Array) -> Array | None:
        """A number for each point, the same for those that lines join; only of points inside is it of any use.

        None where too many lines are left to be tested one by one: long ones in narrow kernels of few attributes.
        """
        parent, rows = np.arange(len(E)), np.flatnonzero(inside)
        line = (gamma, self.D, E, weights, level, self.m)
        if len(rows) < 2:
            return parent
        join_lines(self.spanning if len(rows) == len(E) else tree(self.D, rows), parent, *line)
        component = roots(parent).copy()
        if (component[rows] == component[rows[0]]).all():
            return component
        # beyond the limit no centre is near enough at one sample
        limit = max(0.0, -math.log(level)) / gamma * (1.0 + MARGIN)
        sizes = np.bincount(component[rows], minlength=len(E))
        in_largest = component[rows] == np.argmax(sizes)
        small, large = rows[~in_largest], rows[in_largest]
        most = int(len(small) * (len(large) + len(small) / 2) / PRODUCTS) + 1
        pairs = np.empty((most, 2), dtype=np.int64)
        position = fractions(self.m)[0]
        long = LARGEST_EXPONENT / (gamma * position * (1.0 - position))
        found, far = bounded_pairs(component, rows, self.least, limit, self.D, long, pairs)
        if far > LEFT * len(rows):
            return None
        if found > most:
            pairs = self._by_products(small, large, component, limit, gamma, E, weights, level)
        else:
            pairs = pairs[:found]
        if len(pairs) > LEFT * len(rows):
            return None
        join_lines(pairs[np.argsort(self.D[pairs[:, 0], pairs[:, 1]], kind="stable")], parent, *line)
        return roots(parent)

    def _by_products(
        self,
        small: Array,
        large: Array,
        component: Array,
        limit: float,
        gamma: float,
        E: Array,
        weights: Array,
        level: float,
    ) -> Array:
        """Pairs that neither the bound nor the sum at one sample of their line rejects, (e, 2).

        Every pair of different components has an end outside the largest one, in `small`.
        """
        position, found = fractions(self.m)[0], []
        # blocks drop the rows before them from the other end, so that a pair is looked at once
        columns = np.concatenate([small, large])
        B = np.exp(np.float32(-position) * E[columns].astype(np.float32)).T
        reach = gamma * position * (1.0 - position)
        for start in range(0, len(small), ROWS):
            some = small[start : start + ROWS]
            A = np.exp(np.float32(position - 1.0) * E[some].astype(np.float32)) * weights.astype(np.float32)
            sums = A @ B[:, start:]
            bounds = (component, self.least, limit, self.D, reach, level * (1.0 - SINGLE), LARGEST_EXPONENT)
            found.append(undecided_pairs(sums, some, columns[start:], *bounds))
        return np.concatenate(found)

    def _labels(self, inside: Array, component: Array) -> Labels:
        """As `domain_labeling` makes them."""
        kept = np.where(inside, component, -1)
        table = np.bincount(kept[inside], weights=self.distinct.counts[inside], minlength=len(kept))
        if len(self.distinct.inverse) > 1:
            kept[inside & (table[component] < self.min_cluster_size)] = -1
        outside, within = np.flatnonzero(kept < 0), np.flatnonzero(kept >= 0)
        if len(outside) and self.outliers == "nearest":
            if len(within):
                kept[outside] = self._nearest(outside, within, kept)
            else:
                kept[:] = 0
        elif len(outside) and self.outliers == "singleton":
            kept[outside] = len(kept) + np.arange(len(outside))
        number = np.append(first_appearance(kept), -1)
        return number[kept][self.distinct.inverse].astype(np.intp, copy=False)

    def _nearest(self, outside: Array, within: Array, kept: Array) -> Array:
        """Label of the nearest point that has one; where rounding decides, that of the labeler."""
        D = self.D[np.ix_(outside, within)]
        least = D.min(axis=1)
        found = kept[within[np.argmin(D, axis=1)]]
        tied = np.flatnonzero((least[:, None] * (1.0 + TIED) >= D).sum(axis=1) > 1)
        rows = self.distinct.rows
        found[tied] = _nearest_kept(rows[outside[tied]], rows, kept)
        return found
