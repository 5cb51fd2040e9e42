"""Labels of many Gaussian domains of the same points, for searches over widths.

`CandidateLabels` uses candidate edges only. The components of the complete graph need a proof that no edge is missing,
which takes most of the time. Candidates are edges that are likely to join: to near neighbours, to near points of other
components, and between the nearest and the innermost points of large components. Each is tested like an edge of the
complete graph, so that the components can only be finer than those of the complete graph, mostly by a piece or two or
not at all. The final fit of a search must use the complete graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Mask
from clusterkit.contracts.outcomes import Domain
from clusterkit.families.support_vectors.level_sets._many_widths_jit import (
    FOREIGN,
    LEFT_OUT,
    Lists,
    RunArrays,
    foreign_edges,
    inside_rows,
    join_candidates,
    nearest_of_groups,
    scaled_distances,
)
from clusterkit.families.support_vectors.level_sets.neighbours import DistinctRows
from clusterkit.families.support_vectors.level_sets.segment_test import is_positive_gaussian
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.neighbour_graph import unique_pairs
from clusterkit.numerics.structures_jit import find_rows, roots
from clusterkit.numerics.threads import over_rows
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.limits import spend

SMALLEST_LEVEL = 1e-25
"""Lowest level, relative to the sum of the weights: terms that matter there must not underflow in single precision. A
domain that a solver makes of n rows has a level near 1 / n or above."""
NEAR = 128
"""Nearest points kept for each point: enough for the terms of short segments in all but the widest kernels."""
TRIED_FIRST = 8
"""Neighbours of each point that are tried first: they join most of a cluster."""
LOOKED_AT = 48
"""Neighbours of each point among which points of other components are looked for."""
ROUNDS = 3
"""Largest number of rounds of candidates; a round that joins nothing is the last."""
MOST_LARGE = 40
"""Largest number of large components whose pairs are tried: beyond that a partition is shattered."""
NEIGHBOURING = 8
"""Other large components, the nearest ones, that are tried from the nearest and the innermost points of each."""
NEAREST_LARGE = 3
"""Large components to whose nearest point segments from every point are tried, the nearest ones."""
MOST_LINE_TERMS = 20_000_000
"""Largest number of points times large components times centres up to which such segments are tried."""


@final
@attrs.frozen(eq=False)
class CandidateLabels:
    """Function that labels domains of the same points; quantities that depend on the points alone are computed once.

    Parameters
    ----------
    label_one : callable
        Labels of a domain of another kind: another kernel, or centres that are none of the points.
    n_segment_points : int
        Points tested on a segment.
    smallest : int
        Components of fewer samples will be dissolved: it decides which components count as large.
    distinct : DistinctRows
        The points without repetitions.
    lists : Lists
    first_edges : ndarray of shape (e, 2)
        Edges to the `TRIED_FIRST` nearest points, the shortest first.
    """

    label_one: Callable[[Domain], Labels]
    n_segment_points: int
    smallest: int
    distinct: DistinctRows
    lists: Lists
    first_edges: Indices

    @classmethod
    def of(
        cls, points: Array, label_one: Callable[[Domain], Labels], *, n_segment_points: int, smallest: int
    ) -> CandidateLabels:
        """The function for points (n, d); O(n² d) time, 4 n² bytes and as many again in between."""
        distinct = DistinctRows.of(points)
        rows = distinct.rows
        D = np.maximum(squared_distances(rows, rows), 0.0).astype(np.float32)
        D = np.maximum(D, D.T)
        np.fill_diagonal(D, 0.0)
        u = len(D)
        others = D.copy()
        np.fill_diagonal(others, np.inf)
        k = min(NEAR, u - 1)
        near = np.sort(np.argpartition(others, k - 1, axis=1)[:, :k], axis=1) if k else np.empty((u, 0), np.int64)
        order = np.argsort(np.take_along_axis(others, near, axis=1), axis=1, kind="stable")
        near = np.take_along_axis(near, order, axis=1)
        reach = np.full(u, np.inf) if k == u - 1 else np.sqrt(np.take_along_axis(D, near[:, -1:], axis=1)[:, 0])
        few = near[:, :TRIED_FIRST]
        pairs = np.stack([np.repeat(np.arange(u), few.shape[1]), few.reshape(-1)], axis=1)
        edges = unique_pairs(pairs, u)[0] if len(pairs) else pairs
        edges = edges[np.argsort(D[edges[:, 0], edges[:, 1]], kind="stable")]
        lists = Lists(D, np.ascontiguousarray(near, dtype=np.int64), reach.astype(np.float64))
        return cls(label_one, n_segment_points, smallest, distinct, lists, np.ascontiguousarray(edges, dtype=np.int64))

    def __call__(self, domain: Domain) -> Labels:
        """Component of each point, (n,), any numbers >= 0, -1 outside the domain."""
        run = self._run(domain)
        if run is None:
            return self.label_one(domain)
        arrays, weights = run
        u = len(self.lists.D)
        values, is_inside = np.empty(u), np.empty(u, dtype=bool)
        spend(inside_rows(self.distinct.rows, weights, self.lists, arrays, values, is_inside))
        parent = np.arange(u)
        self._join(self.first_edges, parent, is_inside, arrays)
        for _ in range(ROUNDS):
            if not self._round(parent, is_inside, values, arrays):
                break
        return np.where(is_inside, roots(parent), -1)[self.distinct.inverse]

    def _run(self, domain: Domain) -> tuple[RunArrays, Array] | None:
        """The domain, expressed by the points, and the weights of its centres; None if it is of another kind."""
        if not is_positive_gaussian(domain):
            return None
        assert isinstance(domain.kernel, Gaussian)
        centres = find_rows(self.distinct.rows, domain.centres)
        if (centres < 0).any():
            return None
        total = float(domain.weights.sum())
        weights, level, gamma = domain.weights / total, domain.level / total, float(domain.kernel.gamma)
        if level < SMALLEST_LEVEL:
            return None
        positive = weights > 0
        of_points = np.zeros(len(self.lists.D), dtype=np.float32)
        of_points[centres] = weights
        far = math.sqrt(max(0.0, -math.log(LEFT_OUT * level)) / gamma)
        centres, weights = centres[positive].astype(np.int64), weights[positive]
        E = np.empty((len(self.lists.D), len(centres)), dtype=np.float32)
        scaled_distances(self.lists.D, centres, np.float32(gamma), E)
        shares = weights.astype(np.float32)
        return RunArrays(gamma, level, self.n_segment_points, of_points, centres, E, shares, far), weights

    def _join(self, edges: Indices, parent: Indices, is_inside: Mask, run: RunArrays) -> None:
        spend(join_candidates(edges, parent, is_inside, self.lists, run))

    def _shortest_first(self, edges: Indices) -> Indices:
        return np.ascontiguousarray(edges[np.argsort(self.lists.D[edges[:, 0], edges[:, 1]], kind="stable")])

    def _round(self, parent: Indices, is_inside: Mask, values: Array, run: RunArrays) -> bool:
        """Try candidates between the components; whether any were joined and more than one is left."""
        component = roots(parent).copy()
        before = np.unique(component[is_inside])
        if len(before) < 2:
            return False
        edges = np.empty((FOREIGN * len(parent), 2), dtype=np.int64)
        count = foreign_edges(component, is_inside, self.lists.near[:, :LOOKED_AT], edges)
        self._join(self._shortest_first(edges[:count]), parent, is_inside, run)
        self._join_large(parent, is_inside, values, run)
        after = np.unique(roots(parent)[is_inside])
        return 1 < len(after) < len(before)

    def _join_large(self, parent: Indices, is_inside: Mask, values: Array, run: RunArrays) -> None:
        """Test the segments between nearest and innermost points of large components, then from every point to each."""
        component = roots(parent).copy()
        sizes = np.bincount(component[is_inside], weights=self.distinct.counts[is_inside], minlength=len(parent))
        large = np.flatnonzero(sizes >= max(2.0, self.smallest / 2.0))
        large = np.sort(large[np.argsort(-sizes[large], kind="stable")][:MOST_LARGE])
        if len(large) < 2:
            return
        number = np.full(len(parent), -1)
        number[large] = np.arange(len(large))
        rows = np.flatnonzero(is_inside & (number[component] >= 0))
        group = number[component[rows]]
        nearest = np.empty((len(rows), len(large)), dtype=np.int64)
        over_rows(partial(nearest_of_groups, self.lists.D, rows, group, nearest), len(rows), len(rows))
        a, c = np.nonzero(nearest >= 0)
        lines = np.stack([rows[a], nearest[a, c]], axis=1)
        order = np.argsort(self.lists.D[lines[:, 0], lines[:, 1]], kind="stable")
        lines, low, high = lines[order], np.minimum(group[a], c)[order], np.maximum(group[a], c)[order]
        # the shortest line of every two components, the shortest first; of these the first ones of each component
        first = np.sort(np.unique(low * len(large) + high, return_index=True)[1])
        ends = np.stack([low[first], high[first]], axis=1)
        rank = _rank_in_row(ends.reshape(-1), len(large)).reshape(-1, 2)
        first, ends = first[(rank < NEIGHBOURING).any(axis=1)], ends[(rank < NEIGHBOURING).any(axis=1)]
        self._join(np.ascontiguousarray(lines[first]), parent, is_inside, run)
        innermost = np.empty(len(large), dtype=np.int64)
        ascending = np.argsort(values[rows], kind="stable")
        innermost[group[ascending]] = rows[ascending]  # of several assignments the last one counts
        self._join(self._shortest_first(innermost[ends]), parent, is_inside, run)
        if len(rows) * len(large) * len(run.centres) <= MOST_LINE_TERMS:
            self._join(lines[_rank_in_row(lines[:, 0], len(parent)) < NEAREST_LARGE], parent, is_inside, run)


def _rank_in_row(rows: Indices, u: int) -> Indices:
    """Number of earlier entries with the same value as each entry, (e,)."""
    order = np.argsort(rows, kind="stable")
    counts = np.bincount(rows, minlength=u)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    rank = np.empty(len(rows), dtype=np.int64)
    rank[order] = np.arange(len(rows)) - first[rows[order]]
    return rank
