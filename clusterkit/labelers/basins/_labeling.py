"""From basins and the components of their equilibria to labels: outliers, small components, new samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core.outcomes import KernelDomain
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeling
from clusterkit.core.transform import Transform
from clusterkit.labelers._outliers_and_prediction import OUTLIERS, DistinctRows, first_appearance
from clusterkit.level_sets.equilibria import Ascent, Basins

__all__ = ["BASIN_OUTLIERS", "BasinPredictor", "basin_labeling"]

BASIN_OUTLIERS = ("basin", *OUTLIERS)
"""What becomes of samples outside the domain: "basin" treats them like any other."""


def basin_labeling(
    ascent: Ascent,
    basins: Basins,
    of_row: Array,
    component: Array,
    distinct: DistinctRows,
    domain: KernelDomain,
    space: Space,
    *,
    outliers: str,
    min_cluster_size: int,
    facts: Mapping[str, Any],
) -> Labeling:
    """Labels and their extension to new samples, which ascend to an equilibrium themselves.

    Parameters
    ----------
    ascent : Ascent
    basins : Basins
    of_row : ndarray of shape (u,)
        The equilibrium of each distinct row.
    component : ndarray of shape (M,)
        The component of each equilibrium, any numbers >= 0.
    distinct : DistinctRows
        Of the points of `space`.
    domain : KernelDomain
    space : Space
    outliers : {"basin", "noise", "nearest", "singleton"}
    min_cluster_size : int
        Components with fewer samples, outliers not counted, are outliers; with "basin" their label is -1.
    facts : mapping
        Kept with the predictor.
    """
    raw = component[of_row]
    if len(distinct.inverse) > 1:  # a single sample is a cluster, whatever it is like
        if outliers != "basin":
            raw[~(domain.value(distinct.rows) >= domain.level)] = -1
        found = raw >= 0
        size = np.bincount(raw[found], weights=distinct.counts[found], minlength=int(component.max()) + 1)
        raw[found] = np.where(size[raw[found]] >= min_cluster_size, raw[found], -1)
    kept = np.flatnonzero(raw >= 0)
    resolved, outside = raw.copy(), np.flatnonzero(raw < 0)
    if outliers == "nearest":
        resolved[outside] = raw[kept[_nearest(distinct.rows[outside], distinct.rows[kept])]] if len(kept) else 0
    elif outliers == "singleton":
        resolved[outside] = int(component.max()) + 1 + np.arange(len(outside))
    number = first_appearance(resolved)
    labels = np.full(len(raw), -1, dtype=np.intp)
    labels[resolved >= 0] = number[resolved[resolved >= 0]]
    own = np.full(len(component), -1, dtype=np.intp)
    alive = np.isin(component, raw[kept])
    own[alive] = number[component[alive]]
    # nobody went to some equilibria: a new sample that does gets the label of the nearest one that has samples
    visited = np.zeros(len(component), dtype=bool)
    visited[of_row] = True
    points = basins.points
    own[~visited] = own[visited][_nearest(points[~visited], points[visited])]
    predict = BasinPredictor(
        space.coordinates, domain, ascent, basins, own, distinct.rows, labels, kept, outliers, dict(facts)
    )
    return Labeling(labels[distinct.inverse], predict)


def _nearest(Y: Array, points: Array) -> Array:
    from clusterkit.level_sets.segment_test import nearest_rows

    return nearest_rows(Y, points)


@final
@attrs.frozen(eq=False)
class BasinPredictor:
    """Labels of new samples; a frozen callable, so that a fit pickles.

    A row equal to a training sample gets that one's label. Any other ascends; it gets the label of the equilibrium it
    reaches, or of the nearest known one if that is new.

    Parameters
    ----------
    coordinates : Transform
        Raw rows to the coordinates of `rows`.
    domain : KernelDomain
    ascent : Ascent
    basins : Basins
    own : ndarray of shape (M,)
        Label of each equilibrium, -1 if its component is too small or holds outliers only.
    rows : ndarray of shape (u, d)
        Distinct training samples.
    labels : ndarray of shape (u,)
    kept : ndarray
        Which of them are no outliers.
    outliers : {"basin", "noise", "nearest", "singleton"}
        New outliers are -1 with "singleton".
    facts : mapping
        How the labeling went: starts, steps, equilibria and more.
    """

    coordinates: Transform
    domain: KernelDomain
    ascent: Ascent
    basins: Basins
    own: Labels
    rows: Array
    labels: Labels
    kept: Array
    outliers: str
    facts: Mapping[str, Any]

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows, (p,); O(p I s d) for I steps a row."""
        from clusterkit.numerics.distinct_rows_jit import find_rows

        points = np.ascontiguousarray(self.coordinates(Y), dtype=np.float64)
        if not len(points):
            return np.empty(0, dtype=np.intp)
        same = find_rows(self.rows, points)
        labels = self.labels[same]
        new = np.flatnonzero(same < 0)
        if not len(new):
            return labels
        fresh = self.own[self.equilibrium(points[new])]
        if self.outliers != "basin":
            fresh[~(self.domain.value(points[new]) >= self.domain.level)] = -1
        if self.outliers == "nearest":
            out = np.flatnonzero(fresh < 0)
            nearest = self.labels[self.kept]
            fresh[out] = nearest[_nearest(points[new[out]], self.rows[self.kept])] if len(nearest) else 0
        labels[new] = fresh
        return labels

    def equilibrium(self, points: Array) -> Array:
        """Number of the equilibrium that each point (p, d) ascends to, or of the nearest one."""
        balls = self.basins.balls
        ends, _, caught, _ = self.ascent.climb(self.ascent.scaled(points), balls)
        found = np.empty(len(points), dtype=np.intp)
        hit = caught >= 0
        found[hit] = balls.limits[caught[hit]]
        found[~hit] = _nearest(ends[~hit], self.basins.points)
        return found
