"""From basins and the components of their equilibria to labels: outliers, small components, new samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.core import shapes
from clusterkit.core.kernel_products import left_with, rows_at
from clusterkit.core.labelings import NOISE, by_appearance
from clusterkit.core.namespaces import BlockFunction, is_device_array, to_host
from clusterkit.core.outcomes import KernelDomain
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeling
from clusterkit.core.transform import Transform
from clusterkit.labelers._outliers_and_prediction import OUTLIERS
from clusterkit.level_sets.distinct import DistinctRows, nearest_label
from clusterkit.level_sets.equilibria import Ascent, Basins
from clusterkit.level_sets.neighbours import nearest_rows

__all__ = ["BASIN_OUTLIERS", "BasinPredictor", "basin_labeling"]

BASIN_OUTLIERS = ("basin", *OUTLIERS)
"""The treatments of samples outside the domain: those of all labelers, and "basin", like any other sample."""


def basin_labeling(
    ascent: Ascent,
    basins: Basins,
    of_row: Indices,
    component: Labels,
    distinct: DistinctRows,
    domain: KernelDomain,
    space: Space,
    *,
    outliers: str,
    min_cluster_size: int,
    facts: Mapping[str, Any],
) -> Labeling:
    """Labels of the samples, and the function that labels new samples, which ascend to an equilibrium themselves.

    Parameters
    ----------
    ascent : Ascent
    basins : Basins
    of_row : ndarray of shape (u,)
        The equilibrium of each distinct row.
    component : ndarray of shape (M,)
        The component of each equilibrium, any numbers >= 0.
    distinct : DistinctRows
        The distinct points of `space`.
    domain : KernelDomain
    space : Space
    outliers : {"basin", "noise", "nearest", "singleton"}
    min_cluster_size : int
        The samples of components with fewer samples, outliers not counted, are outliers; with "basin" their label
        is -1.
    facts : mapping
        Statistics of the search, stored in the predictor.
    """
    clusters = component[of_row]
    count = int(component.max()) + 1
    if len(distinct.inverse) > 1:  # a single sample is a cluster, inside the domain or not
        if outliers != "basin":
            clusters[~(domain.value(distinct.rows) >= domain.level)] = NOISE
        inside = clusters >= 0
        sizes = np.bincount(clusters[inside], weights=distinct.counts[inside], minlength=count)
        clusters[inside] = np.where(sizes[clusters[inside]] >= min_cluster_size, clusters[inside], NOISE)
    resolved, outside = clusters.copy(), np.flatnonzero(clusters < 0)
    if outliers == "nearest":
        resolved[outside] = nearest_label(distinct.rows[outside], distinct.rows, clusters)
    elif outliers == "singleton":
        resolved[outside] = count + np.arange(len(outside))
    labels = by_appearance(resolved)
    in_cluster = np.flatnonzero(clusters >= 0)
    component_labels = np.full(count, NOISE, dtype=np.intp)
    component_labels[clusters[in_cluster]] = labels[in_cluster]
    equilibrium_labels = component_labels[component]
    # some equilibria have no samples: a new sample there gets the label of the nearest equilibrium that has some
    visited = np.zeros(len(component), dtype=bool)
    visited[of_row] = True
    points = basins.points
    equilibrium_labels[~visited] = equilibrium_labels[visited][nearest_rows(points[~visited], points[visited])]
    predict = BasinPredictor(
        space.coordinates,
        domain,
        ascent,
        basins,
        equilibrium_labels,
        distinct.rows,
        labels,
        in_cluster,
        outliers,
        dict(facts),
    )
    return Labeling(labels[distinct.inverse], predict)


@final
@attrs.frozen(eq=False)
class BasinPredictor(BlockFunction):
    """Labels new samples; a frozen callable, so that a fit can be pickled.

    A row equal to a training sample gets the label of that sample. Any other row ascends and gets the label of the
    equilibrium that it reaches, or of the nearest known equilibrium if that one is new.

    Parameters
    ----------
    coordinates : Transform
        Maps raw rows to the coordinates of `rows`.
    domain : KernelDomain
    ascent : Ascent
    basins : Basins
    equilibrium_labels : ndarray of shape (M,)
        Label of each equilibrium, -1 if its component is too small or has no samples but outliers.
    rows : ndarray of shape (u, d)
        Distinct training samples.
    labels : ndarray of shape (u,)
        Labels of `rows`.
    in_cluster : ndarray of int
        Indices of the rows that are no outliers.
    outliers : {"basin", "noise", "nearest", "singleton"}
        New outliers are -1 with "singleton".
    facts : mapping
        Statistics of the search: numbers of starts, steps, equilibria and more.
    """

    coordinates: Transform
    domain: KernelDomain
    ascent: Ascent
    basins: Basins
    equilibrium_labels: Labels = attrs.field(validator=shapes.shaped("M"))
    rows: Array = attrs.field(validator=shapes.shaped("u", "d"))
    labels: Labels = attrs.field(validator=shapes.shaped("u"))
    in_cluster: Indices = attrs.field(validator=shapes.shaped("c", below="u"))
    outliers: str
    facts: Mapping[str, Any]

    def __attrs_post_init__(self) -> None:
        M = len(self.basins.points)
        if len(self.equilibrium_labels) != M:
            raise ValueError(f"BasinPredictor: {len(self.equilibrium_labels)} labels of {M} equilibria")
        shapes.in_range(self.basins.balls.limits, 0, M, "BasinPredictor: a ball's limit")

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows, (p,); O(p I s d) for I steps of the ascent from a row."""
        from clusterkit.numerics.distinct_rows_jit import find_rows

        mapped = self.coordinates(Y)
        points = np.ascontiguousarray(to_host(mapped), dtype=np.float64)
        there = mapped if is_device_array(mapped) else points
        same = find_rows(self.rows, points) if len(points) else np.empty(0, dtype=np.intp)
        labels = self.labels[same]
        new = np.flatnonzero(same < 0)
        if not len(new):
            return left_with(there, labels)
        climbing = rows_at(there, new)
        new_labels = self.equilibrium_labels[self.equilibrium(climbing)]
        if self.outliers != "basin":
            new_labels[~(to_host(self.domain.value(climbing)) >= self.domain.level)] = NOISE
        if self.outliers == "nearest":
            outside = np.flatnonzero(new_labels < 0)
            cluster_labels = self.labels[self.in_cluster]
            new_labels[outside] = nearest_label(points[new[outside]], self.rows[self.in_cluster], cluster_labels)
        labels[new] = new_labels
        return left_with(there, labels)

    def equilibrium(self, points: Array) -> Indices:
        """Number of the equilibrium that each point (p, d) ascends to, or of the nearest known one."""
        balls = self.basins.balls
        ends, end_balls = self.ascent.limits(points, balls)
        numbers = np.empty(len(end_balls), dtype=np.intp)
        in_ball = end_balls >= 0
        numbers[in_ball] = balls.limits[end_balls[in_ball]]
        numbers[~in_ball] = nearest_rows(ends[~in_ball], self.basins.points)
        return numbers
