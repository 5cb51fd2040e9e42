"""A short rule for each cluster: at most three conditions on the columns, with precision and recall."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Mask
from clusterkit.profiles.measures import Measure

__all__ = ["Condition", "Rule", "rule_for", "short_between"]

DEPTH = 3
"""Most conditions of a rule: more are not read."""

LEAF = 0.01
"""Least share of the rows in a leaf of the tree: smaller ones describe single rows. A smaller cluster makes a leaf."""

SIMPLER = 0.01
"""How much F1 a rule with fewer conditions may have less and is preferred."""


@final
@attrs.frozen
class Condition:
    """One condition of a rule.

    Parameters
    ----------
    column : str
    level : str or None
        The level that a category has to have, or not; None for numbers.
    above, at_most : float or None
        A number has to be above the first, and at most the second.
    is_level : bool
        Whether the level is the one to have.
    is_date : bool
        Whether the numbers are seconds since 1970.
    """

    column: str
    level: str | None = None
    above: float | None = None
    at_most: float | None = None
    is_level: bool = True
    is_date: bool = False

    @property
    def text(self) -> str:
        """The condition in words."""
        if self.level is not None:
            return f"{self.column} is {'' if self.is_level else 'not '}{self.level}"
        above = None if self.above is None else _written(self.above, self.is_date)
        at_most = None if self.at_most is None else _written(self.at_most, self.is_date)
        if above is None:
            return f"{self.column} ≤ {at_most}"
        return f"{self.column} > {above}" if at_most is None else f"{above} < {self.column} ≤ {at_most}"


@final
@attrs.frozen
class Rule:
    """Conditions that hold together, for one cluster.

    Parameters
    ----------
    conditions : tuple of Condition
    precision : float
        Share of the rows that fulfil the rule which are in the cluster.
    recall : float
        Share of the rows of the cluster which fulfil the rule.
    """

    conditions: tuple[Condition, ...]
    precision: float
    recall: float

    @property
    def text(self) -> str:
        """The rule in words."""
        return " and ".join(condition.text for condition in self.conditions)


def rule_for(measures: list[Measure], inside: Mask, weights: Array) -> Rule | None:
    """The best rule of at most three conditions, by F1; None if nothing can be said.

    A decision tree (Breiman, Friedman, Olshen, Stone 1984) of depth 3 with at least 1 % of the rows in each leaf, or as
    many as the cluster has, separates the cluster from the rest, both sides weighted equally; each of its nodes is a
    candidate. Precision and recall are those of the rule as it is written, with rounded numbers, on the rows that it
    was made of; a condition on a missing cell does not hold.

    Parameters
    ----------
    measures : list of Measure
    inside : ndarray of shape (m,)
    weights : ndarray of shape (m,)

    Returns
    -------
    Rule or None

    Notes
    -----
    O(p m log m) for m rows and p measures.
    """
    if not measures or inside.all() or not inside.any():
        return None
    from sklearn.tree import DecisionTreeClassifier

    table = np.column_stack([_filled(measure.values) for measure in measures]).astype(np.float32)
    balance = np.where(inside, 0.5 / weights[inside].sum(), 0.5 / weights[~inside].sum()) * weights
    least = max(1, min(math.ceil(LEAF * len(table)), int(inside.sum())))
    tree = DecisionTreeClassifier(max_depth=DEPTH, min_samples_leaf=least, random_state=0)
    fitted: Any = tree.fit(table, inside, sample_weight=balance * len(table)).tree_
    best: tuple[float, Rule] | None = None
    for path in _paths(fitted):
        conditions = _conditions(path, measures)
        holds = np.logical_and.reduce([_holds(condition, measures) for condition in conditions])
        hit = float(weights[inside & holds].sum())
        if hit == 0:
            continue
        rule = Rule(conditions, hit / float(weights[holds].sum()), hit / float(weights[inside].sum()))
        value = 2 * rule.precision * rule.recall / (rule.precision + rule.recall) - SIMPLER * len(conditions)
        if best is None or value > best[0]:
            best = value, rule
    return None if best is None else best[1]


def short_between(low: float, high: float) -> float:
    """The number with the fewest digits in ``[low, high)``, near the middle.

    A threshold there separates the same values as the middle does.

    Examples
    --------
    >>> short_between(2.4499, 2.5501), short_between(1.9, 3.0), short_between(12345.6, 12345.7)
    (2.5, 2.0, 12345.65)
    """
    middle = low + (high - low) / 2
    if not (math.isfinite(middle) and low < high):
        return low
    scale = math.floor(math.log10(max(abs(low), abs(high), 1e-300)))
    for digits in range(1, 17):
        value = round(middle, digits - 1 - scale)
        if low <= value < high:
            return value
    return low


def _paths(tree: Any) -> list[list[tuple[int, float, bool]]]:
    """For every node below the root the conditions (column, threshold, above) on the way to it."""
    paths: list[list[tuple[int, float, bool]]] = []
    waiting: list[tuple[int, list[tuple[int, float, bool]]]] = [(0, [])]
    while waiting:
        node, path = waiting.pop()
        if path:
            paths.append(path)
        if tree.children_left[node] >= 0:
            column, threshold = int(tree.feature[node]), float(tree.threshold[node])
            waiting.append((tree.children_left[node], [*path, (column, threshold, False)]))
            waiting.append((tree.children_right[node], [*path, (column, threshold, True)]))
    return paths


def _conditions(path: list[tuple[int, float, bool]], measures: list[Measure]) -> tuple[Condition, ...]:
    """The conditions of a path, one for each column, with short numbers."""
    bounds: dict[int, tuple[float, float]] = {}
    for column, threshold, above in path:
        low, high = bounds.get(column, (-math.inf, math.inf))
        bounds[column] = (max(low, threshold), high) if above else (low, min(high, threshold))
    conditions = []
    for column, (low, high) in bounds.items():
        measure = measures[column]
        name, level = measure.key
        if level is not None:
            conditions.append(Condition(name, level, is_level=low > -math.inf))
            continue
        more_than, at_most = (_short(measure.values, bound) if math.isfinite(bound) else None for bound in (low, high))
        conditions.append(Condition(name, None, more_than, at_most, is_date=measure.column.kind == "date"))
    return tuple(conditions)


def _short(values: Array, threshold: float) -> float:
    """A short number that splits the values where the threshold of the tree, in single precision, does."""
    values = values[~np.isnan(values)]
    lower = values[values.astype(np.float32) <= threshold]
    upper = values[values.astype(np.float32) > threshold]
    if not len(lower) or not len(upper):
        return threshold
    return short_between(float(lower.max()), float(upper.min()))


def _holds(condition: Condition, measures: list[Measure]) -> Mask:
    measure = next(one for one in measures if one.key == (condition.column, condition.level))
    if condition.level is not None:
        return (measure.values == 1) == condition.is_level
    holds: Mask = ~np.isnan(measure.values)
    with np.errstate(invalid="ignore"):
        if condition.above is not None:
            holds &= measure.values > condition.above
        if condition.at_most is not None:
            holds &= measure.values <= condition.at_most
    return holds


def _filled(values: Array) -> Array:
    """The values with the median where they are missing; that they are is a measure of its own."""
    missing = np.isnan(values)
    return np.where(missing, np.nanmedian(values), values) if missing.any() else values


def _written(value: float, is_date: bool) -> str:
    if is_date:
        return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d")
    return f"{value:.12g}"
