"""From components of a domain to labels: numbering, outliers, small components and new samples.

Every labeler of domains finds components in its own way and leaves the rest to `domain_labeling`.
"""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core.outcomes import Domain
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeling
from clusterkit.core.transform import Transform
from clusterkit.numerics.sparse_rows import as_rows, distances_from

__all__ = ["OUTLIERS", "DistinctRows", "domain_labeling", "first_appearance"]

OUTLIERS = ("noise", "nearest", "singleton")
"""What becomes of samples outside every component."""

_UNKNOWN = -2


@final
@attrs.frozen(eq=False)
class DistinctRows:
    """The samples without repetitions, so that equal samples cannot get different labels.

    Parameters
    ----------
    rows : ndarray of shape (u, d), float64, or sparse rows
        In order of first appearance.
    inverse : ndarray of shape (n,)
        Which distinct row a sample is.
    counts : ndarray of shape (u,)
    """

    rows: Array
    inverse: Array
    counts: Array

    @classmethod
    def of(cls, points: Array) -> DistinctRows:
        """The distinct rows of `points` (n, d); O(n d)."""
        from clusterkit.numerics.distinct_rows_jit import distinct_rows

        points = as_rows(points, np.float64)
        first, inverse = distinct_rows(points)
        return cls(points[first], inverse, np.bincount(inverse, minlength=len(first)))


def first_appearance(raw: Array) -> Array:
    """New number of every id by first appearance, as a table indexed by id; ids < 0 are left out.

    Examples
    --------
    >>> import numpy as np
    >>> first_appearance(np.array([5, -1, 2, 5]))[[5, 2]].tolist()
    [0, 1]
    """
    ids, first = np.unique(raw[raw >= 0], return_index=True)
    table = np.full(int(ids.max()) + 1 if len(ids) else 0, -1, dtype=np.intp)
    table[ids[np.argsort(first)]] = np.arange(len(ids))
    return table


def domain_labeling(
    components: Array,
    distinct: DistinctRows,
    domain: Domain,
    space: Space,
    *,
    m: int,
    outliers: str,
    min_cluster_size: int | None,
    interrupted: bool = False,
) -> Labeling:
    """Labels and their extension to new samples.

    Parameters
    ----------
    components : ndarray of shape (u,)
        Component of every distinct row, any numbers 0 <= number < u; -1 outside the domain.
    distinct : DistinctRows
        Of the points of `space`.
    domain : Domain
    space : Space
    m : int
        Samples a segment, for new samples.
    outliers : {"noise", "nearest", "singleton"}
    min_cluster_size : int or None
        Components with fewer samples are outliers; None: no component is.
    interrupted : bool
        Whether Ctrl-C ended the search for components.

    Returns
    -------
    Labeling
        Clusters numbered by first appearance, noise -1. Not exact for "singleton" where there are outliers: a new
        sample cannot be told to be one of them.
    """
    found = components >= 0
    table = np.bincount(components[found], weights=distinct.counts[found], minlength=1)
    # A single sample is a cluster whatever the least size: there is nothing else it could be.
    large = table >= ((min_cluster_size or 1) if len(distinct.inverse) > 1 else 1)
    kept = np.full(len(components), -1, dtype=np.intp)
    kept[found] = np.where(large[components[found]], components[found], -1)

    raw, outside = kept.copy(), np.flatnonzero(kept < 0)
    if outliers == "nearest":
        raw[outside] = _nearest_kept(distinct.rows[outside], distinct.rows, kept)
    elif outliers == "singleton":
        raw[outside] = len(table) + np.arange(len(outside))
    number = first_appearance(raw)
    labels = _renumber(raw, number)
    own = _renumber(kept, number)
    predict = DomainPredictor(
        space.coordinates,
        domain,
        m,
        distinct.rows,
        found,
        own,
        own if outliers == "singleton" else labels,
        outliers == "nearest",
    )
    exact = outliers != "singleton" or not len(outside)
    return Labeling(labels[distinct.inverse], predict, exact=exact, interrupted=interrupted)


def _renumber(raw: Array, number: Array) -> Labels:
    result = np.full(len(raw), -1, dtype=np.intp)
    result[raw >= 0] = number[raw[raw >= 0]]
    return result


def _nearest_kept(Y: Array, rows: Array, labels: Array) -> Array:
    """Label of the nearest row that has one, for each row of Y; 0 where none has: all are one cluster."""
    from clusterkit.level_sets.neighbours import nearest_rows

    kept = np.flatnonzero(labels >= 0)
    if not len(kept):
        return np.zeros(len(Y), dtype=np.intp)
    return labels[kept[nearest_rows(Y, rows[kept])]]


@final
@attrs.frozen(eq=False)
class DomainPredictor:
    """Labels of new samples; a frozen callable, so that a fit pickles.

    A sample inside the domain gets the label of the nearest training sample that a segment inside the domain
    connects it to; all others are outliers. A row equal to a training sample gets that one's label without any
    test, so that rounding cannot make the two differ.

    Parameters
    ----------
    coordinates : Transform
        Raw rows to the coordinates of `rows`.
    domain : Domain
    m : int
        Samples a segment.
    rows : ndarray of shape (u, d)
        Distinct training samples.
    inside : ndarray of shape (u,)
        Which of them are inside the domain.
    own : ndarray of shape (u,)
        Label of the component they are in, -1 for outliers.
    known : ndarray of shape (u,)
        What a row equal to a training sample gets.
    nearest : bool
        Whether outliers get the label of the nearest training sample in a component, instead of -1.
    """

    coordinates: Transform
    domain: Domain
    m: int
    rows: Array
    inside: Array
    own: Labels
    known: Labels
    nearest: bool

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows, (p,); O(p m s) if most are connected to the nearest candidate, s as in `domain`."""
        points = as_rows(self.coordinates(Y), np.float64)
        if not len(points):
            return np.empty(0, dtype=np.intp)
        labels = self._known(points)
        new = np.flatnonzero(labels == _UNKNOWN)
        if len(new):
            labels[new] = self._component(points[new])
            if self.nearest:
                outside = new[labels[new] < 0]
                labels[outside] = _nearest_kept(points[outside], self.rows, self.own)
        return labels

    def _known(self, points: Array) -> Labels:
        """Labels of the rows that are training samples."""
        from clusterkit.numerics.distinct_rows_jit import find_rows

        where = find_rows(self.rows, points)
        return np.where(where >= 0, self.known[where], _UNKNOWN)

    def _component(self, points: Array) -> Labels:
        """Label of the component each row connects to, -1 if none."""
        from clusterkit.level_sets.segment_test import BATCH, LARGEST_BATCH, nearest_rows, segment_test

        labels = np.full(len(points), -1, dtype=np.intp)
        rows, own = self.rows[self.inside], self.own[self.inside]
        if not len(rows):
            return labels
        test = segment_test(self.domain, self.m)
        candidates = np.flatnonzero(test.inside(points))
        first = nearest_rows(points[candidates], rows)
        hit = test.connected(points[candidates], rows[first])
        labels[candidates[hit]] = own[first[hit]]
        for i in candidates[~hit]:
            order = np.argsort(distances_from(rows, point := points[i : i + 1]), kind="stable")[1:]
            size = BATCH
            while len(order):
                batch, order = order[:size], order[size:]
                connected = test.connected(point[np.zeros(len(batch), dtype=np.intp)], rows[batch])
                if connected.any():
                    labels[i] = own[batch[np.argmax(connected)]]
                    break
                size = min(2 * size, LARGEST_BATCH)
        return labels
