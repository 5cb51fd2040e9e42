"""From effects to words: which columns a cluster is high, low or in the middle in, and its name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from types import MappingProxyType
from typing import Literal

from clusterkit.core.wording import shortened

__all__ = ["PLAIN", "Position", "beyond_chance", "by_chance", "in_words", "name_of", "position_of", "strength_of"]

Position = Literal["high", "low", "medium", "more", "fewer", "same"]
"""Where a cluster is in a column: of a number high, low or medium; of a level of a category more or fewer rows have it
than elsewhere. "same": neither."""

CLEAR = 0.4
"""Least strength with which a column is in a name: an AUC of .7, which is the difference of the means of two normal
distributions by three quarters of a standard deviation. Below, too many rows of the cluster are on the other side."""

BESIDE = 2 / 3
"""A further column is named if it is at least this strong, relative to the strongest. A cluster that is far away in one
column leaves the others on one side of it, and of three clusters each of the others then has half its strength there:
this is well above a half, and below what a difference of three standard deviations has beside a complete one."""

MOST = 3
"""Most columns in a name."""

AROUND = 0.6
"""Least strength of the closeness with which a cluster counts as being in the middle: 80 % of the pairs have the row
of the cluster nearer to its median."""

AHEAD = 0.3
"""How much stronger closeness must be than the direction for the middle: a cluster at one end is close to its own
median too."""

TIMES: Mapping[str, str] = MappingProxyType({"high": "late", "low": "early"})
"""What people say of moments in time."""

PLAIN = "no column stands out"
"""Name of a cluster that no column distinguishes."""


def position_of(contrast: float, closeness: float, is_level: bool, least: float) -> Position:
    """Where a cluster is in a column.

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

    By the normal approximation of the statistic of Mann and Whitney, at the level .05 / p (Bonferroni).

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
    # of n - 1 degrees of freedom, since the spread is that of the others, and for each of the rows
    least = float(stdtrit(n - 1, 1 - 0.025 / (max(p, 1) * (n + 1))))
    return abs(value - mean) > least * spread * math.sqrt(1 + 1 / n)


def strength_of(position: Position, contrast: float, closeness: float) -> float:
    """How well the column alone tells the cluster from the rest, in [0, 1]: Cliff's delta of the pairs of rows."""
    if position == "medium":
        return 2 * closeness - 1
    return 0.0 if position == "same" else abs(2 * contrast - 1)


def in_words(position: Position, kind: str) -> str:
    """A position as people say it: moments in time are early and late, not low and high.

    Examples
    --------
    >>> in_words("high", "date"), in_words("high", "number"), in_words("medium", "date")
    ('late', 'high', 'medium')
    """
    return TIMES.get(position, position) if kind == "date" else position


def name_of(features: Sequence[tuple[str, str | None, str, float]]) -> str:
    """The name of a cluster.

    Parameters
    ----------
    features : sequence of (column, level, position, strength)
        The strongest first; the position as `in_words` says it.

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
