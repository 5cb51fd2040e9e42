"""The preparation of a table as a part of a graph: numbers and moments in one input, texts in another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import attrs
import numpy as np

from clusterkit.core.errors import NotExportable
from clusterkit.core.row_graph import Node
from clusterkit.export.filling import filled
from clusterkit.export.graph import Graph
from clusterkit.tables import FittedPreparation
from clusterkit.tables.plans import CLOCK, HOURS, ROOT, CategoryColumn, ColumnPlan, DateColumn, NumberColumn

__all__ = ["PreparedColumns"]

GAP = ""
"""The text that stands for a gap: ONNX has no text that is missing, as numbers have nan."""


@final
@attrs.frozen(eq=False)
class PreparedColumns:
    """The columns of a table that an exported model takes.

    Parameters
    ----------
    numbers : tuple of NumberColumn or DateColumn
        In the order of the input ``rows``.
    levels : tuple of CategoryColumn
        In the order of the input ``levels``.
    fitted : FittedPreparation
    """

    numbers: tuple[NumberColumn | DateColumn, ...]
    levels: tuple[CategoryColumn, ...]
    fitted: FittedPreparation

    @classmethod
    def of(cls, fitted: FittedPreparation) -> PreparedColumns:
        """Those of a preparation, in the order of its table."""
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
        if self.dates and graph.precision != np.float64:
            raise NotExportable(
                f"column {self.dates[0]!r} has moments in seconds since 1970, for which float32 has too few digits; "
                "export it with dtype='float64'"
            )
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
        begins = np.array([getattr(plan, "begin", 0.0) for plan in self.numbers], dtype=np.float64)
        if begins.any():  # times of day before the day begins are of the next one
            rows = rows + (rows < begins).as_type(np.float64) * (24.0 * (begins != 0.0))
        filled = gaps.where(fill, rows)
        parts.append((filled - centre) * factor)
        # what no feature is called is left out at the end: times around the clock have sine and cosine instead
        names += [(plan.name, "" if getattr(plan, "circle", 0.0) else plan.features[0]) for plan in self.numbers]
        flagged = [j for j, plan in enumerate(self.numbers) if plan.told_by]
        if flagged:
            weights = np.array([self.numbers[j].weight for j in flagged])
            parts.append(gaps.as_type(np.float64).columns(flagged) * weights)
            names += [(self.numbers[j].name, self.numbers[j].features[-1]) for j in flagged]
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
        return gaps.as_type(np.float64)


def _joined(parts: Sequence[Node]) -> Node:
    return parts[0].joined(*parts[1:]) if len(parts) > 1 else parts[0]


def _on_circle(gaps: Node, turns: Node, radius: float) -> list[Node]:
    """Sine and cosine of turns, 0 for gaps."""
    angle = (turns - turns.op("Floor")) * (2 * np.pi)
    # older runtimes have no cosine of float64
    return [gaps.where(0.0, (angle + ahead).op("Sin") * radius) for ahead in (0.0, np.pi / 2)]


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
    """Which texts (rows, 1) are gaps: 1 for a gap, and for a text that is no level where there is no room for it."""
    if plan.or_gap:
        return graph.look_up(texts, list(plan.levels), [0 for _ in plan.levels], 0).as_type(np.float64)
    gap = [] if GAP in plan.levels else [GAP]
    values = [*(0 for _ in plan.levels), *(1 for _ in gap)]
    return graph.look_up(texts, [*plan.levels, *gap], values, 0 if plan.rare else 1).as_type(np.float64)
