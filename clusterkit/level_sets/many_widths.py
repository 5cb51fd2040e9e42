"""Labels of many Gaussian domains of the same points by the complete graph, for searches over widths and bounds.

The distances of all points are sufficient: ``|x(λ) - x_s|² = (1-λ) d_is + λ d_js - λ(1-λ) d_ij`` on the segment from
x_i to x_j. They, and the distance of one point of every segment to the nearest of all points, are computed once, since
they depend on no width. A kernel sum with weights that sum to 1 is at most ``exp(-γ r²)`` at a point that has no centre
within r, which rejects most segments of a narrow kernel. The rest is rejected by products of matrices or tested. The
components are those of the plain test of all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Mask
from clusterkit.core import memory
from clusterkit.core.kernel import Gaussian
from clusterkit.core.labelings import NOISE, by_appearance
from clusterkit.core.outcomes import Domain
from clusterkit.level_sets._many_widths_jit import (
    DistanceContour,
    SegmentBounds,
    bounded_pairs,
    distances,
    join_segments,
    least_distances,
    spanning_tree,
    undecided_pairs,
    values_at,
)
from clusterkit.level_sets.distinct import DistinctRows, nearest_label
from clusterkit.level_sets.segment_test import fractions, is_positive_gaussian
from clusterkit.numerics.disjoint_jit import roots
from clusterkit.numerics.distinct_rows_jit import find_rows
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.numerics.threads import over_rows

__all__ = ["LabelsOfDomains", "labels_of_domains"]

MOST_POINTS = 4000
"""Number of points beyond which the bounds for all segments, u³ / 2 steps, cost more than they save."""

LARGEST_EXPONENT = 40.0
"""Largest exponent of the factor of a segment: a larger factor would multiply what single precision rounds to 0."""

LARGEST_SPREAD = 1e8
"""Largest squared distance in units of the width: rounding changes exponents by some 1e-16 of it."""

MARGIN, SINGLE = 1e-6, 1e-3
"""Relative margins of bounds, and of sums in single precision: sums so close to the level are computed exactly."""

TIE = 1e-9
"""Relative difference up to which squared distances are equal but for rounding."""

PRODUCTS = 60.0
"""Cost of a kernel value of a tested segment, in kernel values inside a product of matrices."""

MOST_SEGMENTS = 15
"""Segments per point that are tested one by one; if more remain, bounds over whole sets of them are faster."""

ROWS = 128
"""Rows of a product of matrices: bounds the memory of a block of sums."""


def labels_of_domains(
    points: Array,
    label_one: Callable[[Domain], Labels],
    *,
    n_segment_points: int,
    outliers: str,
    min_cluster_size: int | None,
) -> Callable[[Domain], Labels]:
    """A function that labels domains of the same points like the complete graph.

    Parameters
    ----------
    points : ndarray of shape (n, d), or sparse rows
    label_one : callable
        Labels any single domain. It is called for domains of another kind (another kernel, centres that are none of
        the points), and is returned itself if the points are sparse, more than 4,000, or their distances exceed the
        memory cap.
    n_segment_points : int
        Points tested on a segment.
    outliers : {"noise", "nearest", "singleton"}
    min_cluster_size : int or None
        As in the labeler; None is 1.

    Returns
    -------
    callable
        Maps a domain to the labels of the points, (n,), numbered by first appearance, noise -1.

    Notes
    -----
    O(u² d + u³) time for u distinct points, some milliseconds for 200 points and seconds for 2,000; 16 u² bytes.
    """
    if isinstance(points, SparseRows) or len(points) > MOST_POINTS or 16 * len(points) ** 2 > memory.cap():
        return label_one
    distinct = DistinctRows.of(points)
    D = distances(np.ascontiguousarray(distinct.rows))
    u, position = len(D), fractions(n_segment_points)[0]
    least = np.zeros((u, u))
    over_rows(lambda start, stop: least_distances(D, position, start, stop, least), u, max(1, u * u // 4))
    spanning = spanning_tree(D, np.arange(u))
    return LabelsOfDomains(label_one, n_segment_points, outliers, min_cluster_size or 1, distinct, D, least, spanning)


class _RemainingPairs(NamedTuple):
    """Pairs of different components that no bound rejects.

    Parameters
    ----------
    pairs : ndarray of shape (e, 2)
    too_many : bool
        Whether they are so many that bounds over whole sets of segments are faster than testing them one by one:
        long segments in narrow kernels of few attributes.
    """

    pairs: Indices
    too_many: bool


@final
@attrs.frozen(eq=False)
class LabelsOfDomains:
    """The function that `labels_of_domains` returns.

    Parameters
    ----------
    label_one : callable
        Labels of a domain of another kind.
    n_segment_points : int
    outliers : {"noise", "nearest", "singleton"}
    min_cluster_size : int
    distinct : DistinctRows
        The points without repetitions.
    D : ndarray of shape (u, u)
        Their squared distances.
    least : ndarray of shape (u, u)
        Below the diagonal, the squared distance from one point of each segment to the nearest of all points.
    spanning : ndarray of shape (u - 1, 2)
        Minimum spanning tree of all points.
    """

    label_one: Callable[[Domain], Labels]
    n_segment_points: int
    outliers: str
    min_cluster_size: int
    distinct: DistinctRows
    D: Array
    least: Array
    spanning: Indices

    def __call__(self, domain: Domain) -> Labels:
        """Labels of the points, (n,), numbered by first appearance; -1 is noise."""
        contour = self._contour(domain)
        if contour is None:
            return self.label_one(domain)
        inside = values_at(contour.E, contour.weights) >= contour.level
        if len(self.distinct.inverse) == 1:
            inside[:] = True
        parent, rows = np.arange(len(self.D)), np.flatnonzero(inside)
        if len(rows) >= 2:
            join_segments(self.spanning if len(rows) == len(self.D) else spanning_tree(self.D, rows), parent, contour)
            component = roots(parent).copy()
            if (component[rows] != component[rows[0]]).any():
                remaining = self._remaining_pairs(component, rows, contour)
                if remaining.too_many:
                    return self.label_one(domain)
                i, j = remaining.pairs.T
                join_segments(remaining.pairs[np.argsort(self.D[i, j], kind="stable")], parent, contour)
        return self._labels(inside, roots(parent))

    def _contour(self, domain: Domain) -> DistanceContour | None:
        """The domain in terms of distances; None if it is of another kind."""
        if not is_positive_gaussian(domain) or isinstance(domain.centres, SparseRows):
            return None
        assert isinstance(domain.kernel, Gaussian)
        gamma = float(domain.kernel.gamma)
        if not gamma * float(self.D.max()) < LARGEST_SPREAD:
            return None
        centres = find_rows(self.distinct.rows, domain.centres)
        if (centres < 0).any():
            return None
        total = float(domain.weights.sum())
        E = gamma * self.D[:, centres]
        return DistanceContour(gamma, self.D, E, domain.weights / total, domain.level / total, self.n_segment_points)

    def _remaining_pairs(self, component: Labels, rows: Indices, contour: DistanceContour) -> _RemainingPairs:
        """Pairs of the points `rows` inside whose segments have to be tested."""
        gamma, position = contour.gamma, fractions(self.n_segment_points)[0]
        # a point of a segment without a centre within this squared distance is outside
        limit = max(0.0, -math.log(contour.level)) / gamma * (1.0 + MARGIN)
        sizes = np.bincount(component[rows], minlength=len(self.D))
        in_largest = component[rows] == np.argmax(sizes)
        small, large = rows[~in_largest], rows[in_largest]
        most = int(len(small) * (len(large) + len(small) / 2) / PRODUCTS) + 1
        pairs: Indices = np.empty((most, 2), dtype=np.int64)
        bounds = SegmentBounds(component, self.least, limit, self.D)
        long = LARGEST_EXPONENT / (gamma * position * (1.0 - position))
        count, long_count = bounded_pairs(bounds, rows, long, pairs)
        largest_count = MOST_SEGMENTS * len(rows)
        if long_count > largest_count:
            return _RemainingPairs(pairs[:0], too_many=True)
        pairs = self._by_products(small, large, bounds, contour) if count > most else pairs[:count]
        return _RemainingPairs(pairs, too_many=len(pairs) > largest_count)

    def _by_products(self, small: Indices, large: Indices, bounds: SegmentBounds, contour: DistanceContour) -> Indices:
        """Pairs that neither the bound nor the sum at one point of their segment rejects, (e, 2).

        Every pair of different components has an end outside the largest one, in `small`.
        """
        position, pairs = fractions(self.n_segment_points)[0], []
        # blocks leave out the rows of earlier blocks at the other end, so that every pair occurs once
        columns = np.concatenate([small, large])
        B = np.exp(np.float32(-position) * contour.E[columns].astype(np.float32)).T
        reach = contour.gamma * position * (1.0 - position)
        low = contour.level * (1.0 - SINGLE)
        for start in range(0, len(small), ROWS):
            rows = small[start : start + ROWS]
            A = np.exp(np.float32(position - 1.0) * contour.E[rows].astype(np.float32))
            A = A * contour.weights.astype(np.float32)
            sums = A @ B[:, start:]
            pairs.append(undecided_pairs(sums, rows, columns[start:], bounds, reach, low, LARGEST_EXPONENT))
        return np.concatenate(pairs)

    def _labels(self, inside: Mask, component: Labels) -> Labels:
        """Labels as `domain_labeling` of the labelers makes them; `component` is used for points inside only."""
        clusters = np.where(inside, component, NOISE)
        sizes = np.bincount(clusters[inside], weights=self.distinct.counts[inside], minlength=len(clusters))
        if len(self.distinct.inverse) > 1:
            clusters[inside & (sizes[component] < self.min_cluster_size)] = NOISE
        outside, labelled = np.flatnonzero(clusters < 0), np.flatnonzero(clusters >= 0)
        if len(outside) and self.outliers == "nearest":
            if len(labelled):
                clusters[outside] = self._nearest(outside, labelled, clusters)
            else:
                clusters[:] = 0
        elif len(outside) and self.outliers == "singleton":
            clusters[outside] = len(clusters) + np.arange(len(outside))
        return by_appearance(clusters)[self.distinct.inverse].astype(np.intp, copy=False)

    def _nearest(self, outside: Indices, labelled: Indices, clusters: Labels) -> Labels:
        """Cluster of the nearest labelled point; ties within rounding are decided as in the labelers."""
        D = self.D[np.ix_(outside, labelled)]
        least = D.min(axis=1)
        nearest = clusters[labelled[np.argmin(D, axis=1)]]
        tied = np.flatnonzero((least[:, None] * (1.0 + TIE) >= D).sum(axis=1) > 1)
        rows = self.distinct.rows
        nearest[tied] = nearest_label(rows[outside[tied]], rows, clusters)
        return nearest
