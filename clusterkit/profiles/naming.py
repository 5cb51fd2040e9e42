"""Words for effects: a name for each cluster, and a short rule.

A name says in which columns a cluster is high, low or in the middle. A rule has at most three conditions on the
columns, with precision and recall.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from statistics import NormalDist
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Mask
from clusterkit.errors import InvalidParameter, shortened
from clusterkit.profiles.measures import Measure

if TYPE_CHECKING:
    from clusterkit.profiles.documents import Topic
    from clusterkit.profiles.profiling import ClusterProfile

Described = TypeVar("Described", "Topic", "ClusterProfile")
"""What a function can name."""

Position = Literal["high", "low", "medium", "more", "fewer", "same"]
"""Position of a cluster in a column: of a number high, low or medium; of a level of a category more or fewer rows have
it than in the other clusters. "same": neither."""

CLEAR = 0.4
"""Smallest strength of a column in a name: an AUC of .7, which is the difference of the means of two normal
distributions by three quarters of a standard deviation. Below, too many rows of the cluster are on the other side."""

BESIDE = 2 / 3
"""A further column is named if it is at least this strong, relative to the strongest. A cluster that is far away in one
column leaves the others on one side of it, and of three clusters each of the others then has half its strength there:
this is well above a half, and below what a difference of three standard deviations has beside a complete one."""

MOST = 3
"""Largest number of columns in a name."""

AROUND = 0.6
"""Smallest strength of the closeness for the position "medium": in 80 % of the pairs the row of the cluster is nearer
to its median."""

AHEAD = 0.3
"""Smallest excess of closeness over the direction for the position "medium": a cluster at one end is close to its own
median too."""

TIMES: Mapping[str, str] = MappingProxyType({"high": "late", "low": "early"})
"""Words for positions of moments in time."""

PLAIN = "no column stands out"
"""Name of a cluster that no column distinguishes."""


def position_of(contrast: float, closeness: float, is_level: bool, least: float) -> Position:
    """Position of a cluster in a column.

    Parameters
    ----------
    contrast, closeness : float
        See `clusterkit.profiles.effects.Effects`; nan where a side has no cell, which is "same".
    is_level : bool
        Whether the column is the indicator of a level.
    least : float
        Strength that chance reaches; see `by_chance`.

    Examples
    --------
    >>> position_of(0.95, 0.9, False, 0.3), position_of(0.5, 0.97, False, 0.3)
    ('high', 'medium')
    """
    direction, around = 2 * contrast - 1, 2 * closeness - 1
    if not is_level and around >= max(AROUND, least) and around - abs(direction) >= AHEAD:
        return "medium"
    if math.isnan(contrast) or abs(direction) <= least:
        return "same"
    if is_level:
        return "more" if direction > 0 else "fewer"
    return "high" if direction > 0 else "low"


def by_chance(n_inside: float, n_outside: float, p: int) -> float:
    """Strength that one of p columns without a difference exceeds with a probability of about 5 %.

    From the normal approximation of the statistic of Mann and Whitney, at the level .05 / p (Bonferroni).

    Parameters
    ----------
    n_inside, n_outside : float
        Rows on both sides; effective numbers where rows have weights.
    p : int

    Examples
    --------
    >>> round(by_chance(50, 100, 20), 2), round(by_chance(50, 100, 5000), 2)
    (0.3, 0.44)
    """
    if n_inside <= 0 or n_outside <= 0:
        return 1.0
    error = math.sqrt((n_inside + n_outside + 1) / (12 * n_inside * n_outside))
    return 2 * error * NormalDist().inv_cdf(1 - 0.025 / max(p, 1))


def beyond_chance(value: float, mean: float, spread: float, n: int, p: int) -> bool:
    """Whether a single value is farther from n others than the farthest of them would be by chance.

    Ranks cannot show it: the largest of any values is larger than all others. This is the test of Grubbs (1950), of
    which the level is .05 / p for p columns (Bonferroni).

    Parameters
    ----------
    value, mean, spread : float
        The value, and the mean and the standard deviation of the others.
    n : int
        Number of the others.
    p : int
        Number of columns.

    Examples
    --------
    >>> beyond_chance(9.0, 0.0, 1.0, 80, 2), beyond_chance(3.0, 0.0, 1.0, 80, 2), beyond_chance(9.0, 0.0, 1.0, 2, 2)
    (True, False, False)
    """
    from scipy.special import stdtrit

    if n < 2 or not all(map(math.isfinite, (value, mean, spread))):
        return False
    # Student's t has n - 1 degrees of freedom, since the spread is that of the others; the level is shared by all rows
    least = float(stdtrit(n - 1, 1 - 0.025 / (max(p, 1) * (n + 1))))
    return abs(value - mean) > least * spread * math.sqrt(1 + 1 / n)


def strength_of(position: Position, contrast: float, closeness: float) -> float:
    """How well the column alone tells the cluster from the rest, in [0, 1]: Cliff's delta of the pairs of rows."""
    if position == "medium":
        return 2 * closeness - 1
    return 0.0 if position == "same" else abs(2 * contrast - 1)


def in_words(position: Position, kind: str) -> str:
    """A position in words: moments in time are early and late, not low and high.

    Examples
    --------
    >>> in_words("high", "date"), in_words("high", "number"), in_words("medium", "date")
    ('late', 'high', 'medium')
    """
    return TIMES.get(position, position) if kind == "date" else position


class ByLabel(Generic[Described]):
    """Clusters that are found by their labels."""

    clusters: tuple[Described, ...]

    def __getitem__(self, label: int) -> Described:
        """What is known of a cluster, by its label."""
        for one in self.clusters:
            if one.label == label:
                return one
        raise KeyError(f"no cluster {label}; there are {', '.join(str(one.label) for one in self.clusters) or 'none'}")


def names_of_fit(model: object) -> Mapping[int, str]:
    """The names that the method `rename` of a model gave to its clusters; none where it was not called."""
    names: Mapping[int, str] = vars(model).get("_names") or {} if hasattr(model, "__dict__") else {}
    return names


def called(label: int, names: Mapping[int, str]) -> str:
    """What a cluster is called in sentences and pictures: its name from `names_of_fit`, or its number."""
    return "noise" if label < 0 else names.get(label) or f"cluster {label}"


def naming_of_fit(model: object) -> Callable[..., str] | None:
    """The function that gives clusters the names of `names_of_fit`; None where there are none."""
    names = names_of_fit(model)
    return (lambda cluster: names.get(cluster.label, cluster.name)) if names else None


def with_name(cluster: Described, naming: Callable[[Described], str] | None) -> Described:
    """A topic, or the profile of a cluster, with the name that a function gives it; without a function as it is.

    Raises
    ------
    InvalidParameter
        If the function is none, or does not return a text.
    """
    if naming is None:
        return cluster
    if not callable(naming):
        raise InvalidParameter(f"naming must be a function of a topic or cluster, or None; got {naming!r:.80}")
    name: object = naming(cluster)
    if not isinstance(name, str):
        raise InvalidParameter(f"naming must return a text, and returned {name!r:.80} for cluster {cluster.label}")
    return attrs.evolve(cluster, name=name)


def name_of(features: Sequence[tuple[str, str | None, str, float]]) -> str:
    """The name of a cluster.

    Parameters
    ----------
    features : sequence of (column, level, position, strength)
        Strongest first; the position in the words of `in_words`.

    Examples
    --------
    >>> name_of([("f3", None, "high", 0.9), ("f7", None, "low", 0.8), ("f1", None, "high", 0.2)])
    'high f3, low f7'
    >>> name_of([("city", "Paris", "more", 0.7)])
    'city is Paris'
    """
    words: list[str] = []
    used: set[str] = set()
    strongest = features[0][3] if features else 0.0
    for column, level, position, strength in features:
        if strength < max(CLEAR, BESIDE * strongest) or len(words) == MOST:
            break
        if column in used:  # further levels of one category say the same again
            continue
        used.add(column)
        if level is None:
            words.append(f"{position} {shortened(column)}")
        else:
            words.append(f"{shortened(column)} is {'' if position == 'more' else 'not '}{shortened(level)}")
    return ", ".join(words) or PLAIN


DEPTH = 3
"""Largest number of conditions of a rule: nobody reads more."""

LEAF = 0.01
"""Smallest share of the rows in a leaf of the tree: smaller ones describe single rows. A smaller cluster makes a
leaf."""

LARGEST = 1e30
"""Number above which a column is divided by its largest one for the tree, whose numbers go to 3e38."""

SIMPLER = 0.01
"""Loss of F1 up to which a rule with fewer conditions is preferred."""


@final
@attrs.frozen
class Condition:
    """One condition of a rule.

    Parameters
    ----------
    column : str
    level : str or None
        Level of a category; None for numbers.
    above, at_most : float or None
        The number must be above the first, and at most the second.
    is_level : bool
        Whether the category must have the level, or must not.
    is_date : bool
        Whether the numbers are seconds since 1970.
    begin : float or None
        Hour at which the day begins, where the numbers are times of day; those past midnight may be 24 and more.
    """

    column: str
    level: str | None = None
    above: float | None = None
    at_most: float | None = None
    is_level: bool = True
    is_date: bool = False
    begin: float | None = None

    @property
    def text(self) -> str:
        """The condition in words."""
        if self.level is not None:
            return f"{self.column} is {'' if self.is_level else 'not '}{self.level}"
        # on a clock each number is above each other one, so that the begin of the day is said
        bounds = [self.begin if bound is None else bound for bound in (self.above, self.at_most)]
        above, at_most = (None if bound is None else self._written(bound) for bound in bounds)
        if above is None:
            return f"{self.column} ≤ {at_most}"
        return f"{self.column} > {above}" if at_most is None else f"{above} < {self.column} ≤ {at_most}"

    def _written(self, value: float) -> str:
        if not self.is_date and self.begin is None:
            return f"{value:.12g}"
        moment = datetime.fromtimestamp(value if self.is_date else 3600 * value, UTC)
        return moment.strftime("%Y-%m-%d" if self.is_date else "%H:%M:%S").removesuffix(":00")


@final
@attrs.frozen
class Rule:
    """Conditions for one cluster, which a row must fulfil together.

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

    table = np.column_stack([_single(_filled(measure.values)) for measure in measures])
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

    The result separates the same values as the middle does.

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
    """Conditions (column, threshold, above) on the way to every node below the root."""
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
        is_date, begin = measure.column.kind == "date", measure.column.begin
        conditions.append(Condition(name, None, more_than, at_most, is_date=is_date, begin=begin))
    return tuple(conditions)


def _single(values: Array) -> Array:
    """Values in single precision, as the tree takes them; large ones by another unit, which keeps their order."""
    largest = np.nanmax(np.abs(values), initial=0.0)
    return (values / largest if largest > LARGEST else values).astype(np.float32)


def _short(values: Array, threshold: float) -> float:
    """A short number that splits the values like the threshold of the tree, which is in single precision."""
    values = values[~np.isnan(values)]
    lower = values[_single(values) <= threshold]
    upper = values[_single(values) > threshold]
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
    """The values with missing ones replaced by the median; whether a value is missing is a measure of its own."""
    missing = np.isnan(values)
    return np.where(missing, np.nanmedian(values), values) if missing.any() else values
