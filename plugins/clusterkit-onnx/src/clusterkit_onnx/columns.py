"""The preparation of a table as a part of the graph: numbers and moments in one input, texts in another.

`filled` gives gaps the values of the most similar hot-deck donor rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.tables import FittedPreparation
from clusterkit.tables.preparing.places import places
from clusterkit.tables.preparing.plans import (
    CLOCK,
    HOURS,
    ROOT,
    CategoryColumn,
    ColumnPlan,
    DateColumn,
    Donors,
    NumberColumn,
    can_be_gap,
    value_features,
)
from clusterkit_onnx.graph import Graph
from clusterkit_onnx.nodes import Node, NotExportable

__all__ = ["PreparedColumns", "filled"]

MOST_TERMS = 256
"""Features up to which distances are added up feature by feature, as `clusterkit.tables.preparing.plans` does, so that
ties between donors are the same ties; above it they are matrix products, which is a smaller graph."""


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
        Plans of the used columns.
    """
    of_columns, fillable = value_features(plans), can_be_gap(plans)
    column_of = np.zeros(donors.features.shape[1], dtype=np.int64)
    is_value = np.zeros(donors.features.shape[1])
    for j, its in enumerate(of_columns):
        # the feature of gaps stands behind those of the values
        column_of[its[0] :], is_value[its] = j, 1.0
    missing = gaps.columns(column_of)  # gaps by feature, (m, features)
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


GAP = ""
"""The text that means a gap: ONNX has no missing text as numbers have nan."""


@final
@attrs.frozen(eq=False)
class PreparedColumns:
    """The columns of a table that an exported model takes.

    Parameters
    ----------
    numbers : tuple of NumberColumn or DateColumn
        Plans in the order of the input ``rows``.
    levels : tuple of CategoryColumn
        Plans in the order of the input ``levels``.
    fitted : FittedPreparation
    """

    numbers: tuple[NumberColumn | DateColumn, ...]
    levels: tuple[CategoryColumn, ...]
    fitted: FittedPreparation

    @classmethod
    def of(cls, fitted: FittedPreparation) -> PreparedColumns:
        """The columns of a preparation, in the order of its table."""
        numbers = tuple(plan for plan in fitted.plans if isinstance(plan, NumberColumn | DateColumn))
        levels = tuple(plan for plan in fitted.plans if isinstance(plan, CategoryColumn))
        return cls(numbers, levels, fitted)

    @property
    def dates(self) -> tuple[str, ...]:
        """Names of the columns of moments, in seconds since the beginning of 1970."""
        return tuple(plan.name for plan in self.numbers if isinstance(plan, DateColumn))

    @property
    def hours(self) -> tuple[str, ...]:
        """Names of the columns of times of day, since midnight, and of durations, in hours."""
        return tuple(plan.name for plan in self.numbers if isinstance(plan, NumberColumn) and plan.clock)

    def features(self, graph: Graph) -> Node:
        """The features of the rows of the inputs, which are added to the graph.

        Raises
        ------
        NotExportable
            If there are dates, and the graph is of single precision.
        """
        self._refuse_moments(graph)
        parts: list[Node] = []
        names: list[tuple[str, str]] = []  # a level of one column may be called as another column is
        gaps: list[Node] = []  # 1 for a gap: of all numbers, then of each category
        if self.numbers:
            gaps.append(self._numbers(graph, parts, names))
        if self.levels:
            texts = graph.input("levels", len(self.levels), str)
            for j, plan in enumerate(self.levels):
                _level(graph, texts.columns([j]), plan, parts)
                names += _named(plan, *plan.features)
                if self.fitted.donors is not None:
                    gaps.append(_gaps_of_level(graph, texts.columns([j]), plan))
        ordered = [name for plan in self.fitted.plans for name in _named(plan, *plan.features)]
        features = _joined(parts).columns([names.index(name) for name in ordered])
        if self.fitted.narrow:
            features = features.rounded(np.dtype(np.float32))
        if self.fitted.donors is None:
            return features
        used = [plan for plan in self.fitted.plans if plan.used]
        inputs = [plan.name for plan in (*self.numbers, *self.levels)]
        order = [inputs.index(plan.name) for plan in used]
        return filled(features, _joined(gaps).columns(order), self.fitted.donors, used)

    def codes(self, graph: Graph) -> Node:
        """The columns of numbers and codes for methods of mixed columns, NaN in gaps, of the rows of the inputs."""
        self._refuse_moments(graph)
        parts: dict[str, list[Node]] = {}
        gap = np.array([[np.nan]])
        if self.numbers:
            rows = self._in_hours(graph.input("rows", len(self.numbers)))
            missing = (rows - rows).equals(0.0).op("Not")
            for j, plan in enumerate(self.numbers):
                x, gaps = rows.columns([j]), missing.columns([j])
                if isinstance(plan, NumberColumn):
                    turned = [gaps.where(gap, part) for part in _circle(x / CLOCK)]
                    parts[plan.name] = turned if plan.circle else [gaps.where(gap, x)]
                    continue
                of_plan = [(x - plan.centre) / 86400.0]
                for part in plan.parts:
                    of_plan += _circle(x / (3600.0 * HOURS[part]))
                parts[plan.name] = [gaps.where(gap, node) for node in of_plan]
        if self.levels:
            texts = graph.input("levels", len(self.levels), str)
            parts |= {plan.name: [_code(graph, texts.columns([j]), plan)] for j, plan in enumerate(self.levels)}
        return _joined([node for plan in self.fitted.plans for node in parts.get(plan.name, ())])

    def _refuse_moments(self, graph: Graph) -> None:
        if self.dates and graph.precision != np.float64:
            raise NotExportable(
                f"column {self.dates[0]!r} has moments in seconds since 1970, for which float32 has too few digits; "
                "export it with dtype='float64'"
            )

    def _in_hours(self, rows: Node) -> Node:
        """Times of day before the day begins as those of the next one."""
        begins = np.array([getattr(plan, "begin", 0.0) for plan in self.numbers], dtype=np.float64)
        return rows + (rows < begins).as_type(np.float64) * (24.0 * (begins != 0.0)) if begins.any() else rows

    def _numbers(self, graph: Graph, parts: list[Node], names: list[tuple[str, str]]) -> Node:
        """Features of numbers and moments: all columns at once, then their gaps, then the parts of dates.

        Returns the gaps, (m, columns): 1 for a gap, else 0.
        """
        rows = graph.input("rows", len(self.numbers))
        gaps = (rows - rows).equals(0.0).op("Not")  # nan, and infinite numbers, which count as gaps too
        fill, centre, factor = (
            np.array([getattr(plan, name) for plan in self.numbers], dtype=np.float64)
            for name in ("fill", "centre", "factor")
        )
        filled = gaps.where(fill, self._in_hours(rows))
        parts.append((filled - centre) * factor)
        # names that no feature has are left out at the end: times around the clock have sine and cosine instead
        turned = [bool(getattr(plan, "circle", 0.0) or getattr(plan, "sphere", "")) for plan in self.numbers]
        names += [(plan.name, "" if on else plan.features[0]) for plan, on in zip(self.numbers, turned, strict=True)]
        flagged = [j for j, plan in enumerate(self.numbers) if plan.told_by]
        if flagged:
            weights = np.array([self.numbers[j].weight for j in flagged])
            parts.append(gaps.as_type(np.float64).columns(flagged) * weights)
            names += [(self.numbers[j].name, self.numbers[j].features[-1]) for j in flagged]
        at = {plan.name: j for j, plan in enumerate(self.numbers)}
        for latitude, longitude in places(self.numbers):
            halves = [filled.columns([at[plan.name]]) * (math.pi / 180.0) for plan in (latitude, longitude)]
            parts += _on_sphere(halves[0], halves[1], latitude.radius)
            names += [*_named(longitude, *longitude.features[:2]), *_named(latitude, latitude.features[0])]
        for j, plan in enumerate(self.numbers):
            if isinstance(plan, NumberColumn):
                if plan.circle:
                    parts += _on_circle(gaps.columns([j]), filled.columns([j]) / CLOCK, plan.circle)
                    names += _named(plan, *plan.features[:2])
                continue
            for i, part in enumerate(plan.parts):
                turns = filled.columns([j]) / (3600.0 * HOURS[part])
                parts += _on_circle(gaps.columns([j]), turns, plan.weight / ROOT)
                names += _named(plan, *plan.features[1 + 2 * i : 3 + 2 * i])
        known = gaps.as_type(np.float64)
        columns = [known.columns([j]) for j in range(len(self.numbers))]
        for pair in places(self.numbers):  # a place lacks both halves where it lacks one
            j, i = (at[plan.name] for plan in pair)
            columns[j] = columns[i] = columns[j].maximum(columns[i])
        return _joined(columns) if places(self.numbers) else known


def _joined(parts: Sequence[Node]) -> Node:
    return parts[0].joined(*parts[1:]) if len(parts) > 1 else parts[0]


def _on_circle(gaps: Node, turns: Node, radius: float) -> list[Node]:
    """Sine and cosine of turns, 0 for gaps."""
    return [gaps.where(0.0, part * radius) for part in _circle(turns)]


def _circle(turns: Node) -> list[Node]:
    """Sine and cosine of turns."""
    angle = (turns - turns.op("Floor")) * (2 * np.pi)
    # older runtimes have no cosine of float64
    return [(angle + ahead).op("Sin") for ahead in (0.0, np.pi / 2)]


def _code(graph: Graph, texts: Node, plan: CategoryColumn) -> Node:
    """Codes of a category, NaN in gaps, from its texts (rows, 1)."""
    places = list(plan.ranks) or list(range(len(plan.levels)))
    if plan.or_gap:
        return graph.look_up(texts, list(plan.levels), [1 for _ in places], 0).as_type(np.float64)
    gap = [] if GAP in plan.levels else [GAP]
    other = len(plan.levels) if plan.rare and not plan.ranks else -1
    codes = graph.look_up(texts, [*plan.levels, *gap], [*places, *(-1 for _ in gap)], other).as_type(np.float64)
    return (codes < -0.5).where(np.array([[np.nan]]), codes)


def _on_sphere(latitude: Node, longitude: Node, radius: float) -> list[Node]:
    """The coordinates x, y and z of places, from angles."""
    across = (latitude + math.pi / 2).op("Sin") * radius  # older runtimes have no cosine of float64
    return [across * (longitude + math.pi / 2).op("Sin"), across * longitude.op("Sin"), latitude.op("Sin") * radius]


def _named(plan: ColumnPlan, *features: str) -> list[tuple[str, str]]:
    return [(plan.name, feature) for feature in features]


def _level(graph: Graph, texts: Node, plan: CategoryColumn, parts: list[Node]) -> None:
    """Features of a category, from its texts (rows, 1)."""
    gap = [] if GAP in plan.levels else [GAP]
    of_gap = -1 if plan.or_gap else plan.fill
    values = [*range(len(plan.levels)), *(of_gap for _ in gap)]
    other = len(plan.levels) if plan.rare else of_gap
    places = graph.look_up(texts, [*plan.levels, *gap], values, other)
    if plan.or_gap:
        parts.append(places.equals(np.array([[0]])).as_type(np.float64) * plan.weight)
    elif plan.n_groups == 2:
        parts.append(places.equals(np.array([[1]])).as_type(np.float64) * plan.weight)
    else:
        parts.append(places.equals(np.arange(plan.n_groups)[None]).as_type(np.float64) * (plan.weight / ROOT))
    if plan.told_by:
        parts.append(graph.look_up(texts, gap, [1 for _ in gap], 0).as_type(np.float64) * plan.weight)


def _gaps_of_level(graph: Graph, texts: Node, plan: CategoryColumn) -> Node:
    """Indicator (rows, 1) of gaps: 1 for a gap, and for an unknown text if rare levels have no group; else 0."""
    if plan.or_gap:
        return graph.look_up(texts, list(plan.levels), [0 for _ in plan.levels], 0).as_type(np.float64)
    gap = [] if GAP in plan.levels else [GAP]
    values = [*(0 for _ in plan.levels), *(1 for _ in gap)]
    return graph.look_up(texts, [*plan.levels, *gap], values, 0 if plan.rare else 1).as_type(np.float64)
