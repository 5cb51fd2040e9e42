"""What a preparation does with one column: the fitted values, and how new cells become features."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Mask
from clusterkit.tables.clocks import CLOCKS
from clusterkit.tables.frames import NA, Column
from clusterkit.tables.measures import Measure
from clusterkit.tables.readings import Reading, as_hours, as_levels, as_numbers, as_seconds
from clusterkit.tables.refusals import refuse_both_orders, refuse_none
from clusterkit.tables.watch import Watch

__all__ = ["CLOCK", "FLAG", "HOURS", "CategoryColumn", "ColumnPlan", "DateColumn", "LeftOut", "NumberColumn"]

FLAG = 0.5
"""The value of a column of 0 and 1: rows that differ in it are as far apart as half a standard deviation of a number.
With more, categories decide every clustering, because their values leave gaps between them and those of numbers do not;
Huang (1998, Extensions to the k-means algorithm for clustering large data sets with categorical values, Data Mining and
Knowledge Discovery 2) weighs a mismatch by less than the spread of the numbers for the same reason."""

WEIGHT_BEFORE = 0.5
"""The weight in saved models that do not say it: what `FLAG` was then."""

ROOT = math.sqrt(2.0)
"""Of several levels, two of the columns of 0 and 1 differ; divided by this, rows of different levels are as far apart
as in a single column."""

CLOCK = 24.0
"""The hours of a day."""

HOURS: Mapping[str, float] = {"hour": CLOCK, "weekday": 7 * 24.0, "month": 365.2425 * 24}
"""The hours after which a part of a date begins anew."""


def _finite(instance: object, attribute: attrs.Attribute[float], value: float) -> None:
    if not math.isfinite(value):
        raise ValueError(f"{attribute.name} must be finite, got {value}")


def _is_decimal(instance: object, attribute: attrs.Attribute[str], value: str) -> None:
    if value not in (".", ","):
        raise ValueError(f"{attribute.name} must be '.' or ',', got {value[:40]!r}")


@attrs.frozen
class ColumnPlan:
    """A column, and what becomes of it.

    Parameters
    ----------
    name : str
    """

    used: ClassVar[bool] = True

    name: str

    @property
    @abstractmethod
    def features(self) -> tuple[str, ...]:
        """Names of the features that the column becomes."""

    @abstractmethod
    def write(self, column: Column, out: Array, watch: Watch) -> Mask:
        """Write the features of the cells into `out`, (n, number of features), and show them to a `Watch`.

        Returns which cells are gaps, (n,): what stands for one was written there.
        """


@final
@attrs.frozen
class LeftOut(ColumnPlan):
    """A column that is not used.

    Parameters
    ----------
    name : str
    reason : str
        Why; ends a sentence.
    asked_for : bool, default False
        Whether the user left it out.
    """

    used: ClassVar[bool] = False

    reason: str
    asked_for: bool = False

    @property
    def features(self) -> tuple[str, ...]:
        """None."""
        return ()

    def write(self, column: Column, out: Array, watch: Watch) -> Mask:
        """Write nothing."""
        return np.zeros(len(column.values), dtype=bool)


@final
@attrs.frozen
class NumberColumn(ColumnPlan):
    """A column of numbers: ``(x - centre) factor``, with a value for gaps.

    Parameters
    ----------
    name : str
    fill : float
        What stands for a gap.
    centre, factor : float
    decimal : {".", ","}
        The mark before the decimals of texts.
    flag : bool
        Whether there are two values only.
    gaps : int
        Gaps in the fit, with cells that were no numbers.
    unread : int
        Of these, cells that were no numbers.
    told_by : str
        A column whose values differ where this one has gaps; the gaps are then a feature too. Empty for none.
    unit : str
        The mark beside the numbers, such as kg, % or $; empty for none.
    clock : {"", "time of day", "duration"}
        What the cells are if they are no plain numbers; both are counted in hours.
    begin : float
        The hour from which the day of times of day is counted.
    circle : float
        Radius of the clock, on which times of day that have no hour to begin with become sine and cosine; 0 for others.
    weight : float
        Of the feature of the gaps.
    converted : tuple of str
        Other units of the fit that were converted.
    strange : tuple of str
        Marks beside cells of the fit that were not numbers for this reason.
    bare : int
        Numbers of the fit without the unit.
    extremes : tuple of float
        The least and the greatest number of the fit; empty where a model of schema 1 does not say them.
    forgetful : bool
        Whether marks are read as by schema 1: percentages as shares of 1, all currencies alike.
    few : int
        Number of the different whole numbers, where they are so few that they may be years or codes; else 0.
    digits : bool
        Whether times of day are written as numbers without a colon, such as 517.
    infinite : int
        Of the gaps, numbers that are infinite.
    size : tuple of float
        Mean and standard deviation of the logarithms of the absolute values in the fit, zeros apart; empty where there
        are none, or an older model does not say it.
    """

    saved_schema: ClassVar[int] = 2

    fill: float = attrs.field(validator=_finite)
    centre: float = attrs.field(default=0.0, validator=_finite)
    factor: float = attrs.field(default=1.0, validator=_finite)
    decimal: str = attrs.field(default=".", validator=_is_decimal)
    flag: bool = False
    gaps: int = 0
    unread: int = 0
    told_by: str = ""
    unit: str = ""
    clock: str = attrs.field(default="", validator=attrs.validators.in_(CLOCKS))
    begin: float = attrs.field(default=0.0, validator=_finite)
    weight: float = attrs.field(default=WEIGHT_BEFORE, validator=_finite)
    converted: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()
    bare: int = 0
    extremes: tuple[float, ...] = ()
    forgetful: bool = False
    circle: float = attrs.field(default=0.0, validator=_finite)
    size: tuple[float, ...] = ()
    infinite: int = 0
    digits: bool = False
    few: int = 0

    def __attrs_post_init__(self) -> None:
        if len(self.extremes) not in (0, 2) or not all(map(math.isfinite, self.extremes)):
            raise ValueError("the extremes of a column are two finite numbers")
        if len(self.size) not in (0, 2) or not all(map(math.isfinite, self.size)):
            raise ValueError("the size of a column is two finite numbers")

    @classmethod
    def migrated(cls, fields: Mapping[str, object], schema: int) -> Mapping[str, object]:
        """The fields of a file of schema 1, whose numbers go on being read as they were."""
        return {**fields, "forgetful": True}

    @property
    def measure(self) -> Measure:
        """How texts become numbers."""
        return Measure.of(self.unit, frozenset(self.strange), self.converted, forgetful=self.forgetful)

    @property
    def features(self) -> tuple[str, ...]:
        """The column, or its sine and cosine, and its gaps where they say something."""
        names = tuple(f"{self.name} ({wave})" for wave in ("sin", "cos")) if self.circle else (self.name,)
        return (*names, *_gap_feature(self))

    def read(self, column: Column) -> Reading:
        """The cells of a column as the numbers of this one."""
        if self.clock:
            return as_hours(column, self.clock, self.begin, digits=self.digits)
        return as_numbers(column, self.decimal, self.measure)

    def write(self, column: Column, out: Array, watch: Watch) -> Mask:
        """Write the scaled numbers."""
        reading = self.read(column)
        what = self.clock or "number"
        watch.numbers(self, column, reading.values)
        refuse_none(reading, column, what, self.unread)
        watch.odd(f"no {what}", reading.unread, column, "counted as a gap")
        if column.kind == "number":
            watch.odd("infinite", np.isinf(column.values), column, "counted as a gap")
        x = reading.values
        gaps = np.isnan(x)
        if self.circle:
            angle = 2 * np.pi * x / CLOCK
            out[:, 0] = np.where(gaps, 0.0, self.circle * np.sin(angle))
            out[:, 1] = np.where(gaps, 0.0, self.circle * np.cos(angle))
        else:
            x[gaps] = self.fill
            if self.centre or self.factor != 1.0:
                x -= self.centre
                x *= self.factor
            out[:, 0] = x
        if self.told_by:
            out[:, -1] = self.weight * gaps
        return gaps


@final
@attrs.frozen
class CategoryColumn(ColumnPlan):
    """A column of levels: a feature each, or one feature if there are two of them.

    Parameters
    ----------
    name : str
    levels : tuple of str
        The levels that are told apart.
    rare : int
        Number of further levels that count as one; 0 where there are none.
    fill : int
        Number of the level that stands for a gap: the most frequent one.
    gaps : int
    told_by : str
        As in `NumberColumn`.
    weight : float
        Of a column of 0 and 1, for two levels or for gaps; rows of two different levels are as far apart.
    na : int
        Gaps of the fit that have a text, such as NA or None.
    spelled : tuple of str
        These texts; empty where an older model does not say them, and there they are NA.
    words : tuple of str
        Texts that elsewhere are gaps, and levels here; NA is one if it is among the levels.
    or_gap : bool
        Whether the one level and the gaps are told apart.
    infinite : int
        Of the gaps, numbers that are infinite.
    """

    levels: tuple[str, ...]
    rare: int
    fill: int
    gaps: int = 0
    told_by: str = ""
    weight: float = attrs.field(default=WEIGHT_BEFORE, validator=_finite)
    na: int = 0
    or_gap: bool = False
    infinite: int = 0
    spelled: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        if self.or_gap and self.n_groups != 1:
            raise ValueError("a category of one level or a gap has one level")
        if len(set(self.levels)) < len(self.levels) or self.rare < 0 or self.n_groups < 1:
            raise ValueError("the levels of a category must differ")
        if not 0 <= self.fill < self.n_groups:
            raise ValueError(f"there is no level number {self.fill}")

    @property
    def n_groups(self) -> int:
        """Number of the levels, the rare ones together counted as one."""
        return len(self.levels) + (self.rare > 0)

    def worded(self, column: Column) -> Column:
        """A column with texts where they are levels of this one, though elsewhere they are gaps."""
        return column.with_words({*self.words, NA} if NA in self.levels else self.words)

    @property
    def features(self) -> tuple[str, ...]:
        """A feature for each level; the second level alone if there are two."""
        groups = [f"{self.name}={level}" for level in self.levels]
        if self.rare:
            groups.append(f"{self.name}=(other)")
        return (*(groups[1:] if len(groups) == 2 else groups), *_gap_feature(self))

    def write(self, column: Column, out: Array, watch: Watch) -> Mask:
        """Write the level of each cell."""
        numbers = {level: i for i, level in enumerate(self.levels)}
        column = self.worded(column)
        texts = as_levels(column)
        gaps = column.missing()
        places = np.array([numbers.get(text, -1) for text in texts])
        places[gaps] = self.fill
        unknown = places < 0
        watch.levels(self, column, unknown)
        places[unknown] = len(self.levels) if self.rare else self.fill  # rare ones of the fit, and new ones
        if self.or_gap:
            out[:, 0] = self.weight * ~(gaps | unknown)
        elif self.n_groups == 2:
            out[:, 0] = self.weight * (places == 1)
        else:
            out[:, : self.n_groups] = 0.0
            out[np.arange(len(places)), places] = self.weight / ROOT
        if self.told_by:
            out[:, -1] = self.weight * gaps
        return (gaps | unknown if not self.rare else gaps) & (not self.or_gap)


@final
@attrs.frozen
class DateColumn(ColumnPlan):
    """A column of dates: the time since the mean date, and parts that come again, each on a circle.

    Parameters
    ----------
    name : str
    fill, centre, factor : float
        As in `NumberColumn`, of seconds since 1970.
    form : str
        The form of texts.
    parts : tuple of str
        Names in `HOURS`.
    gaps : int
    unread : int
    told_by : str
        As in `NumberColumn`.
    both_orders : bool
        Whether dates between slashes had both orders of day and month in the fit; `form` is that of most, and the
        others count as gaps.
    weight : float
        Of the feature of the gaps; on average of the squares, random rows are as far apart on the circle of a part.
    """

    fill: float = attrs.field(validator=_finite)
    centre: float = attrs.field(validator=_finite)
    factor: float = attrs.field(validator=_finite)
    form: str
    parts: tuple[str, ...] = ()
    gaps: int = 0
    unread: int = 0
    told_by: str = ""
    both_orders: bool = False
    weight: float = attrs.field(default=WEIGHT_BEFORE, validator=_finite)

    def __attrs_post_init__(self) -> None:
        unknown = [part for part in self.parts if part not in HOURS]
        if unknown:
            raise ValueError(f"a date has no part {unknown[0][:40]!r}")

    @property
    def features(self) -> tuple[str, ...]:
        """The elapsed time, and sine and cosine of each part."""
        circles = [f"{self.name} {part} ({wave})" for part in self.parts for wave in ("sin", "cos")]
        return (self.name, *circles, *_gap_feature(self))

    def read(self, column: Column) -> Reading:
        """The cells of a column as seconds since 1970."""
        return as_seconds(column, self.form)

    def write(self, column: Column, out: Array, watch: Watch) -> Mask:
        """Write the elapsed time and the parts."""
        reading = self.read(column)
        if not self.both_orders:
            refuse_both_orders(reading, column)
        refuse_none(reading, column, "date", self.unread)
        watch.odd("no clear date", reading.unread, column, "counted as a gap")
        gaps = np.isnan(reading.values)
        x = np.where(gaps, self.fill, reading.values)
        out[:, 0] = (x - self.centre) * self.factor
        for i, part in enumerate(self.parts):
            # the first of January 1970 was a Thursday; where a circle begins does not matter
            angle = 2 * np.pi * (x / 3600.0 % HOURS[part]) / HOURS[part]
            # with this radius two random rows are as far apart as two levels, on average of the squares
            out[:, 1 + 2 * i] = np.where(gaps, 0.0, self.weight / ROOT * np.sin(angle))
            out[:, 2 + 2 * i] = np.where(gaps, 0.0, self.weight / ROOT * np.cos(angle))
        if self.told_by:
            out[:, -1] = self.weight * gaps
        return gaps


def _gap_feature(plan: NumberColumn | CategoryColumn | DateColumn) -> tuple[str, ...]:
    return (f"{plan.name} is a gap",) if plan.told_by else ()
