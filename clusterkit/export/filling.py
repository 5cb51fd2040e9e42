"""Gaps that take the values of the most similar donors, as a part of a graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clusterkit._typing import Array
from clusterkit.core.row_graph import Node
from clusterkit.tables.donors import Donors, can_be_gap, value_features
from clusterkit.tables.plans import ColumnPlan

__all__ = ["filled"]

MOST_TERMS = 256
"""Features up to which distances are added up feature by feature, as `clusterkit.tables.donors` does, so that ties
between donors are the same ties; above it they are matrix products, which is a smaller graph."""


def filled(features: Node, gaps: Node, donors: Donors, plans: Sequence[ColumnPlan]) -> Node:
    """The features, with those of the most similar donor where there are gaps; see `Donors.fill`.

    Parameters
    ----------
    features : Node
        (m, features), with what is typical in gaps.
    gaps : Node
        (m, used columns): 1 for a gap, else 0.
    donors : Donors
    plans : sequence of ColumnPlan
        Of the used columns.
    """
    of_columns, fillable = value_features(plans), can_be_gap(plans)
    column_of = np.zeros(donors.features.shape[1], dtype=np.int64)
    is_value = np.zeros(donors.features.shape[1])
    for j, its in enumerate(of_columns):
        # the feature of gaps stands behind those of the values
        column_of[its[0] :], is_value[its] = j, 1.0
    missing = gaps.columns(column_of)  # by feature
    points = donors.features.astype(np.float64)
    distances = _distances(features, (1.0 - missing) * is_value, points)
    parts: list[Node] = []
    for j in range(len(plans)):
        width = np.flatnonzero(column_of == j)
        able = np.flatnonzero(donors.has[:, j])
        # a column that no donor has stays as it is
        near = distances.columns(able).argmin().entries(points[np.ix_(able, width)]) if len(able) else None
        parts.append(features.columns(width) if near is None else near)
    lent = parts[0].joined(*parts[1:])
    # and so does a row without any value
    some = gaps.columns(np.flatnonzero(fillable)).sum() < fillable.sum() - 0.5
    return (missing * is_value > 0.5).op("And", some).where(lent, features)


def _distances(features: Node, weights: Node, points: Array) -> Node:
    """Squared distances to the donors, (m, donors), in the features with weight 1."""
    used = range(points.shape[1])
    if len(used) > MOST_TERMS:
        centre = points.mean(axis=0)
        rows, points = features - centre, points - centre
        squares = weights @ np.square(points).T
        return (rows.square() * weights).sum() + squares - (rows * weights) @ (2.0 * points.T)
    terms = [(features.columns([j]) - points[None, :, j]).square() * weights.columns([j]) for j in used]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
