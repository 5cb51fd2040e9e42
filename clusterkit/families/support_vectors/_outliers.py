"""From the components of a domain to labels: numbering, outliers, small components and new samples.

Every labeler of domains finds components in its own way and leaves the rest to `domain_labeling`.
"""

from __future__ import annotations

import warnings
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Mask
from clusterkit.contracts import Labeling
from clusterkit.contracts.labelings import NOISE, by_appearance
from clusterkit.contracts.outcomes import Domain
from clusterkit.errors import ClusterkitWarning
from clusterkit.families.support_vectors.level_sets.neighbours import DistinctRows, nearest_label
from clusterkit.numerics.selection import are_few
from clusterkit.numerics.shapes import array, scalar
from clusterkit.samples import Space
from clusterkit.samples.array_libraries import BlockFunction, to_host
from clusterkit.samples.kernels import left_with
from clusterkit.samples.transform import Transform

MOST_POINTS = 100_000
"""Largest number of points that a segment may be tested at: thousands of times the usual number, and still a small
array for each thread."""

OUTLIERS = ("noise", "nearest", "singleton")
"""The treatments of samples outside every component: label -1, the nearest cluster's label, or a cluster each."""

_UNKNOWN = -2
"""Marks rows whose label is still to be found, within `DomainPredictor`: any number below -1, which is noise."""


def domain_labeling(
    components: Labels,
    distinct: DistinctRows,
    domain: Domain,
    space: Space,
    *,
    n_segment_points: int,
    outliers: str,
    min_cluster_size: int | None,
    interrupted: bool = False,
) -> Labeling:
    """Labels of the samples, and the function that extends them to new samples.

    Parameters
    ----------
    components : ndarray of shape (u,)
        Component of every distinct row, any numbers 0 <= number < u; -1 outside the domain.
    distinct : DistinctRows
        The distinct points of `space`.
    domain : Domain
    space : Space
    n_segment_points : int
        Points tested on a segment from a new sample to a training sample.
    outliers : {"noise", "nearest", "singleton"}
    min_cluster_size : int or None
        The samples of components with fewer samples are outliers; None sets no minimum.
    interrupted : bool
        Whether Ctrl-C ended the search for components.

    Returns
    -------
    Labeling
        Clusters numbered by first appearance, noise -1. Not exact for "singleton" if there are outliers: nothing
        shows that a new sample is one of them.
    """
    inside = components >= 0
    sizes = np.bincount(components[inside], weights=distinct.counts[inside], minlength=1)
    # A single sample is a cluster whatever the minimum size: there is nothing else it could be.
    large = sizes >= ((min_cluster_size or 1) if len(distinct.inverse) > 1 else 1)
    clusters = np.full(len(components), NOISE, dtype=np.intp)
    clusters[inside] = np.where(large[components[inside]], components[inside], NOISE)

    labels = by_appearance(outliers_resolved(clusters, distinct, outliers, len(sizes)))
    cluster_labels = np.where(clusters >= 0, labels, NOISE)
    predict = DomainPredictor(
        space.coordinates,
        domain,
        n_segment_points,
        distinct.rows,
        inside,
        cluster_labels,
        cluster_labels if outliers == "singleton" else labels,
        outliers == "nearest",
    )
    exact = outliers != "singleton" or bool(np.all(clusters >= 0))
    return Labeling(labels[distinct.inverse], predict, exact=exact, interrupted=interrupted)


def outliers_resolved(clusters: Labels, distinct: DistinctRows, outliers: str, count: int) -> Labels:
    """The cluster of every distinct row once those outside, which are below 0, are treated as `outliers` says.

    Parameters
    ----------
    clusters : ndarray of shape (u,)
        Cluster of each distinct row, below `count`; below 0 outside.
    distinct : DistinctRows
    outliers : {"basin", "noise", "nearest", "singleton"}
        Other values than "nearest" and "singleton" leave the rows outside as they are.
    count : int
        The first number that "singleton" may give.
    """
    resolved, outside = clusters.copy(), np.flatnonzero(clusters < 0)
    if outliers == "nearest":
        resolved[outside] = nearest_label(distinct.rows[outside], distinct.rows, clusters)
        if are_few(len(distinct.rows), len(distinct.inverse)):
            warn_of_equal_rows(resolved, outside, distinct, outliers)
    elif outliers == "singleton":
        resolved[outside] = count + np.arange(len(outside))
    return resolved


def warn_of_equal_rows(labels: Labels, outside: Indices, distinct: DistinctRows, outliers: str) -> None:
    """Say that several equal rows outside of the domain share a cluster with other rows.

    To be called where the rows lie at few points, each of which is a cluster to a reader.

    Parameters
    ----------
    labels : ndarray of shape (u,)
        Final label of each distinct row.
    outside : ndarray of shape (o,)
        Numbers of the distinct rows outside of the domain.
    distinct : DistinctRows
    outliers : str
        The treatment that gave them their labels.
    """
    outside = outside[(distinct.counts[outside] > 1) & (labels[outside] >= 0)]
    piles = distinct.counts[outside[np.bincount(labels[labels >= 0])[labels[outside]] > 1]]
    if len(piles):
        warnings.warn(
            f"{len(piles)} of the {len(distinct.rows)} points at which the rows lie, with {int(piles.sum())} equal "
            f"rows, lie outside of the domain, and outliers={outliers!r} gave them to the cluster of another point: "
            "lower the outlier fraction of the solver, or see them with outliers='singleton'",
            ClusterkitWarning,
            stacklevel=4,
        )


@final
@attrs.frozen(eq=False)
class DomainPredictor(BlockFunction):
    """Labels new samples; a frozen callable, so that a fit can be pickled.

    A sample inside the domain gets the label of the nearest training sample that a segment inside the domain
    connects it to; all others are outliers. A row equal to a training sample gets the label of that sample without
    any test, so that rounding cannot make the two differ.

    Parameters
    ----------
    coordinates : Transform
        Maps raw rows to the coordinates of `rows`.
    domain : Domain
    n_segment_points : int
        Points tested on a segment.
    rows : ndarray of shape (u, d)
        Distinct training samples.
    inside : ndarray of shape (u,), bool
        Whether each training sample is inside the domain.
    cluster_labels : ndarray of shape (u,)
        Label of the component of each training sample, -1 for outliers.
    known : ndarray of shape (u,)
        Label that a row equal to the training sample gets.
    nearest : bool
        Whether outliers get the label of the nearest training sample in a component, instead of -1.
    """

    coordinates: Transform
    domain: Domain
    n_segment_points: int = attrs.field(validator=scalar(least=1))
    rows: Array = attrs.field(validator=array("u d"))
    inside: Mask = attrs.field(validator=array("u"))
    cluster_labels: Labels = attrs.field(validator=array("u", least=NOISE, most="u"))
    known: Labels = attrs.field(validator=array("u", least=NOISE, most="u"))
    nearest: bool

    def check_saved(self) -> None:
        """Raise ValueError unless the domain is in the coordinates of the rows."""
        supports = self.domain.supports
        if supports is not None and supports.shape[1] != self.rows.shape[1]:
            raise ValueError("DomainPredictor: the domain is not in the coordinates of the rows")

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows, (p,).

        O(p n_segment_points s) with s the number of support vectors if most rows are connected to their nearest
        candidate.
        """
        mapped = self.coordinates(Y)
        points = np.ascontiguousarray(to_host(mapped), dtype=np.float64)
        if not len(points):
            return left_with(mapped, np.empty(0, dtype=np.intp))
        labels = self._known(points)
        new = np.flatnonzero(labels == _UNKNOWN)
        if len(new):
            labels[new] = self._component(points[new])
            if self.nearest:
                outside = new[labels[new] < 0]
                labels[outside] = nearest_label(points[outside], self.rows, self.cluster_labels)
        return left_with(mapped, labels)

    def _known(self, points: Array) -> Labels:
        """Labels of the rows that equal a training sample, `_UNKNOWN` for all others."""
        from clusterkit.numerics.structures_jit import find_rows

        where = find_rows(self.rows, points)
        return np.where(where >= 0, self.known[where], _UNKNOWN)

    def _component(self, points: Array) -> Labels:
        """Label of the component that each row is connected to, -1 if there is none."""
        from clusterkit.families.support_vectors.level_sets.neighbours import nearest_rows
        from clusterkit.families.support_vectors.level_sets.segment_test import (
            FIRST_BATCH,
            LARGEST_BATCH,
            segment_test,
        )

        labels = np.full(len(points), NOISE, dtype=np.intp)
        rows, row_labels = self.rows[self.inside], self.cluster_labels[self.inside]
        if not len(rows):
            return labels
        test = segment_test(self.domain, self.n_segment_points)
        candidates = np.flatnonzero(test.inside(points))
        near = points[candidates]
        first = nearest_rows(near, rows)
        hit = test.connected(near, rows[first])
        labels[candidates[hit]] = row_labels[first[hit]]
        for i in candidates[~hit]:
            # the other rows, nearest first, in growing batches
            order = np.argsort(np.square(rows - (point := points[i : i + 1])).sum(axis=1), kind="stable")[1:]
            size = FIRST_BATCH
            while len(order):
                batch, order = order[:size], order[size:]
                connected = test.connected(point[np.zeros(len(batch), dtype=np.intp)], rows[batch])
                if connected.any():
                    labels[i] = row_labels[batch[np.argmax(connected)]]
                    break
                size = min(2 * size, LARGEST_BATCH)
        return labels
