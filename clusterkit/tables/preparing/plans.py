"""Plans: what a preparation does with one column, its fitted values, and how new cells become features.

`Donors` are hot-deck donor rows: few rows that the fit keeps, of which the one that is most similar in the other
columns fills a gap. `Watch` is the observer of a preparation that reads new rows, and `refuse_none` and
`refuse_both_orders` refuse cells that show that a column is another one than that of the fit.

`other_size` compares the typical size of new numbers with that of the fit, to find another unit. Logarithms are
compared, in which another unit is a shift: columns such as incomes have a few values that carry the mean, and columns
around zero a mean of nothing.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Self, final

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array, Indices, Mask
from clusterkit.errors import TableError
from clusterkit.numerics.shapes import array
from clusterkit.tables.cells.measures import UnitConversion
from clusterkit.tables.cells.moments import Sizes
from clusterkit.tables.cells.parsing import DAY_FIRST, is_slashed, only_order
from clusterkit.tables.cells.readings import Reading, as_hours, as_levels, as_numbers, as_seconds
from clusterkit.tables.cells.times import CLOCKS
from clusterkit.tables.reading.frames import NA, Column


def refuse_none(reading: Reading, column: Column, what: str, unread: int) -> None:
    """Raise an error if not one filled cell can be read: the column is another one than that of the fit."""
    if not unread and reading.unread.any() and np.isnan(reading.values).all():
        row = int(np.flatnonzero(reading.unread)[0])
        cell = column.cell(row)
        open_order = what == "date" and is_slashed(cell)
        hint = ", which leaves day and month open; write it as 2024-12-31" if open_order else ""
        raise TableError(
            f"column {column.name!r} has no {what}, though it had some in the fit: {column.row(row)} has {cell!r}{hint}"
        )


def refuse_both_orders(reading: Reading, column: Column) -> None:
    """Raise an error if some dates written with slashes put the day first, and others the month.

    Dates that leave the order open, such as 2/3/2024, could only be guessed.
    """
    if column.kind != "text":
        return
    orders = {int(i): only_order(column.values[i]) for i in np.flatnonzero(reading.unread)}
    odd = next((i for i, order in orders.items() if order is not None), None)
    if odd is None:
        return
    texts = enumerate(column.values)
    other = next((i for i, text in texts if text is not None and only_order(text) not in (None, orders[odd])), None)
    first, second = ("day", "month") if orders[odd] == DAY_FIRST else ("month", "day")
    before = "the dates before it" if other is None else f"{column.values[other]!r} in {column.row(other)}"
    raise TableError(
        f"column {column.name!r}: {column.values[odd][:40]!r} in {column.row(odd)} has the {first} before the "
        f"{second}, unlike {before}, so that dates such as 2/3/2024 cannot be told; write them as 2024-12-31"
    )


class Observer:
    """Observer of the cells that a preparation reads in new rows; this one ignores them."""

    def odd(self, what: str, cells: NDArray[np.bool_], column: Column, done: str) -> None:
        """Called with cells of a kind that a fit did not have.

        Parameters
        ----------
        what : str
            Kind of the cells, for a message.
        cells : ndarray of shape (n,), bool
        column : Column
        done : str
            How the cells are read, for a message.
        """

    def numbers(self, plan: NumberColumn, column: Column, values: NDArray[np.float64]) -> None:
        """Called with the numbers of a column before scaling, nan for gaps and cells that are no numbers."""

    def levels(self, plan: CategoryColumn, column: Column, new: NDArray[np.bool_]) -> None:
        """Called with the mask of the cells of a category that have none of its levels."""


FLAG = 0.5
"""The value of a column of 0 and 1: rows that differ in it are as far apart as numbers that differ by half a standard
deviation. With more, categories decide every clustering, because their values leave gaps between them and those of
numbers do not; Huang (1998, Extensions to the k-means algorithm for clustering large data sets with categorical values,
Data Mining and Knowledge Discovery 2) weighs a mismatch by less than the spread of the numbers for the same reason."""

SMALLEST, LARGEST = -745.0, math.log(np.finfo(float).max)
"""Bounds of the logarithms of floats, the least ones of which have few digits."""

ROOT = math.sqrt(2.0)
"""Rows of different levels differ in two of the columns of 0 and 1; divided by this, they are as far apart as in a
single column."""

CLOCK = 24.0
"""Hours of a day."""

HOURS: Mapping[str, float] = {"hour": CLOCK, "weekday": 7 * 24.0, "month": 365.2425 * 24}
"""Period of each part of a date, in hours."""


def _finite(instance: object, attribute: attrs.Attribute[float], value: float) -> None:
    if not math.isfinite(value):
        raise ValueError(f"{attribute.name} must be finite, got {value}")


def _is_decimal(instance: object, attribute: attrs.Attribute[str], value: str) -> None:
    if value not in (".", ","):
        raise ValueError(f"{attribute.name} must be '.' or ',', got {value[:40]!r}")


@attrs.frozen
class ColumnPlan:
    """A column with the decision how it becomes features.

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

    @property
    @abstractmethod
    def coded(self) -> tuple[tuple[str, str], ...]:
        """Name and kind of the columns that it becomes for methods of mixed columns; see the feature map `columns`."""

    @abstractmethod
    def write_codes(self, column: Column, out: Array, observer: Observer) -> None:
        """Write numbers and codes of levels into `out`, (n, number of these columns), NaN in gaps."""

    @abstractmethod
    def write(self, column: Column, out: Array, observer: Observer) -> Mask:
        """Write the features of the cells into `out`, (n, number of features), and show them to an `Observer`.

        Returns the mask of the cells that are gaps, (n,); the features there are those of the plan's value for gaps.
        """


@final
@attrs.frozen
class LeftOut(ColumnPlan):
    """A column that is not used.

    Parameters
    ----------
    name : str
    reason : str
        Reason, as the end of a sentence.
    asked_for : bool, default False
        Whether the user left it out.
    kind : str, default ""
        Kind of the finding, see `clusterkit.tables.preparing.findings.WARNS`; empty where nobody is to be warned.
    """

    used: ClassVar[bool] = False

    reason: str
    asked_for: bool = False
    kind: str = ""

    @property
    def features(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def coded(self) -> tuple[tuple[str, str], ...]:
        """None."""
        return ()

    def write_codes(self, column: Column, out: Array, observer: Observer) -> None:
        """Write nothing."""

    def write(self, column: Column, out: Array, observer: Observer) -> Mask:
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
        Value that fills gaps.
    centre, factor : float
    decimal : {".", ","}
        Decimal mark of texts.
    flag : bool
        Whether there are two values only.
    gaps : int
        Gaps in the fit, with cells that were no numbers.
    unread : int
        Gaps that are cells which were no numbers.
    told_by : str
        A column whose values differ where this one has gaps; the gaps are then a feature too. Empty for none.
    unit : str
        Unit beside the numbers, such as kg, % or $; empty for none.
    clock : {"", "time of day", "duration"}
        Kind of the cells if they are no plain numbers; both kinds are counted in hours.
    begin : float
        The hour at which the day of times of day begins.
    circle : float
        Radius of the clock, on which times of day without a clear begin of the day become sine and cosine; 0 for
        others.
    weight : float
        Weight of the feature that indicates gaps.
    converted : tuple of str
        Other units of the fit that were converted.
    strange : tuple of str
        Marks that could not be converted to the unit; their cells were no numbers.
    bare : int
        Count of numbers of the fit without the unit.
    extremes : tuple of float
        Least and greatest number of the fit.
    few : int
        Count of the distinct whole numbers, where they are so few that they may be years or codes; else 0.
    ordered : bool
        Whether the frame says that they are ordered levels.
    digits : bool
        Whether times of day are written as numbers without a colon, such as 517.
    infinite : int
        Gaps that are infinite numbers.
    size : tuple of float
        Mean and standard deviation of the logarithms of the absolute values in the fit, zeros apart; empty where there
        are none.
    sphere : {"", "latitude", "longitude"}
        Whether the numbers are degrees of places, which become points on a sphere together with those of `partner`.
        Gaps of longitudes are filled by the middle of them all, from which methods of mixed columns count them.
    partner : str
        The column with the other half of the places.
    radius : float
        Radius of the sphere.
    """

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
    weight: float = attrs.field(default=FLAG, validator=_finite)
    converted: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()
    bare: int = 0
    extremes: tuple[float, ...] = ()
    circle: float = attrs.field(default=0.0, validator=_finite)
    size: tuple[float, ...] = ()
    infinite: int = 0
    digits: bool = False
    few: int = 0
    ordered: bool = False
    sphere: str = attrs.field(default="", validator=attrs.validators.in_(("", "latitude", "longitude")))
    partner: str = ""
    radius: float = attrs.field(default=1.0, validator=_finite)

    def __attrs_post_init__(self) -> None:
        if len(self.extremes) not in (0, 2) or not all(map(math.isfinite, self.extremes)):
            raise ValueError("the extremes of a column are two finite numbers")
        if len(self.size) not in (0, 2) or not all(SMALLEST < number < LARGEST for number in self.size):
            raise ValueError("the size of a column is two numbers, logarithms of floats")

    @property
    def measure(self) -> UnitConversion:
        """Conversion of texts to numbers."""
        return UnitConversion.of(self.unit, frozenset(self.strange), self.converted)

    @property
    def features(self) -> tuple[str, ...]:
        """The column, its sine and cosine or coordinates on a sphere, and an indicator of its gaps if it has one."""
        if self.sphere:
            axes = ("z",) if self.sphere == "latitude" else ("x", "y")
            return (*(f"{self.name} ({axis})" for axis in axes), *_gap_feature(self))
        names = tuple(f"{self.name} ({wave})" for wave in ("sin", "cos")) if self.circle else (self.name,)
        return (*names, *_gap_feature(self))

    def read(self, column: Column) -> Reading:
        """The cells of a column as the numbers of this one."""
        if self.clock:
            return as_hours(column, self.clock, self.begin, digits=self.digits)
        return as_numbers(column, self.decimal, self.measure)

    @property
    def coded(self) -> tuple[tuple[str, str], ...]:
        """The numbers as they are, which may be levels; of a clock its sine and cosine."""
        if self.sphere:
            return ((self.name, "number"),)
        kind = "number" if self.circle else "ordered" if self.ordered else "auto"
        return tuple((name, kind) for name in self.features[: 2 if self.circle else 1])

    def write_codes(self, column: Column, out: Array, observer: Observer) -> None:
        """Write the numbers."""
        x = self._observed(column, observer)
        x = np.where(np.isinf(x), np.nan, x)
        if self.sphere == "longitude":
            out[:, 0] = (x - self.fill + 180.0) % 360.0 - 180.0 + self.fill
        elif self.circle:
            out[:, 0], out[:, 1] = np.sin(2 * np.pi * x / CLOCK), np.cos(2 * np.pi * x / CLOCK)
        else:
            out[:, 0] = x

    def _observed(self, column: Column, observer: Observer) -> NDArray[np.float64]:
        """The numbers, nan in gaps; an observer sees them."""
        reading = self.read(column)
        what = self.clock or "number"
        observer.numbers(self, column, reading.values)
        refuse_none(reading, column, what, self.unread)
        observer.odd(f"no {what}", reading.unread, column, "counted as a gap")
        if column.kind == "number":
            observer.odd("infinite", np.isinf(column.values), column, "counted as a gap")
        return reading.values

    def write(self, column: Column, out: Array, observer: Observer) -> Mask:
        """Write the scaled numbers."""
        x = self._observed(column, observer)
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
        Levels with a feature of their own.
    rare : int
        Number of further levels, which share one feature; 0 where there are none.
    fill : int
        Index of the level that fills gaps: the most frequent one.
    gaps : int
    told_by : str
        Column whose values differ where this one has gaps, see `NumberColumn`.
    weight : float
        Weight of a column of 0 and 1, for two levels or for gaps; rows of two different levels are as far apart.
    na : int
        Gaps of the fit that have a text, such as NA or None.
    spelled : tuple of str
        Texts of these gaps; empty where an older model does not store them, and there they are NA.
    words : tuple of str
        Texts that are levels here and gaps in other columns; NA is one if it is among the levels.
    or_gap : bool
        Whether the feature is the presence of the only level.
    infinite : int
        Gaps that are infinite numbers.
    ranks : tuple of int
        Place of each level in an order that the frame says; () for none. Rare levels have no place.
    by_type : bool
        Whether the type of the column in its data frame made a category of what looks like numbers, dates or times.
    """

    levels: tuple[str, ...]
    rare: int
    fill: int
    gaps: int = 0
    told_by: str = ""
    weight: float = attrs.field(default=FLAG, validator=_finite)
    na: int = 0
    or_gap: bool = False
    infinite: int = 0
    spelled: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    by_type: bool = False

    def __attrs_post_init__(self) -> None:
        if self.or_gap and self.n_groups != 1:
            raise ValueError("a category of one level or a gap has one level")
        if len(set(self.levels)) < len(self.levels) or self.rare < 0 or self.n_groups < 1:
            raise ValueError("the levels of a category must differ")
        if self.ranks and len(set(self.ranks)) != len(self.levels):
            raise ValueError("each level of an ordered category has a place of its own")
        if not 0 <= self.fill < self.n_groups:
            raise ValueError(f"there is no level number {self.fill}")

    @property
    def n_groups(self) -> int:
        """Number of the levels, the rare ones together counted as one."""
        return len(self.levels) + (self.rare > 0)

    def worded(self, column: Column) -> Column:
        """A column with texts where they are levels of this plan, and gaps in other columns."""
        return column.with_words({*self.words, NA} if NA in self.levels else self.words)

    @property
    def features(self) -> tuple[str, ...]:
        """A feature for each level; the second level alone if there are two."""
        groups = [f"{self.name}={level}" for level in self.levels]
        if self.rare:
            groups.append(f"{self.name}=(other)")
        return (*(groups[1:] if len(groups) == 2 else groups), *_gap_feature(self))

    @property
    def coded(self) -> tuple[tuple[str, str], ...]:
        """The column as a category, or as ordered levels."""
        return ((self.name, "ordered" if self.ranks else "category"),)

    def write_codes(self, column: Column, out: Array, observer: Observer) -> None:
        """Write the number of each level, or its place in their order.

        Rare levels share one number, and have no place; levels that the fit did not see are gaps.
        """
        places, gaps, unknown = self._places(column, observer)
        if self.or_gap:
            out[:, 0] = ~(gaps | unknown)
            return
        if self.ranks:
            places = np.array([*self.ranks, -1])[places]
            out[:, 0] = np.where(gaps | unknown, np.nan, places)
            return
        out[:, 0] = np.where(gaps | unknown, np.nan, places)
        if self.rare:
            out[unknown, 0] = len(self.levels)

    def _places(self, column: Column, observer: Observer) -> tuple[Indices, Mask, Mask]:
        """The number of the level of each cell, that of `fill` in gaps, and the masks of gaps and of unknown levels."""
        numbers = {level: i for i, level in enumerate(self.levels)}
        column = self.worded(column)
        texts = as_levels(column)
        gaps = column.missing()
        places = np.array([numbers.get(text, -1) for text in texts], dtype=np.intp)
        places[gaps] = self.fill
        unknown = places < 0
        observer.levels(self, column, unknown)
        return places, gaps, unknown

    def write(self, column: Column, out: Array, observer: Observer) -> Mask:
        """Write the indicators of the level of each cell; returns the cells whose level was filled in."""
        places, gaps, unknown = self._places(column, observer)
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
    """A column of dates: the time since the mean date, and periodic parts, each on a circle.

    Parameters
    ----------
    name : str
    fill, centre, factor : float
        Values of `NumberColumn`, for seconds since 1970.
    form : str
        Form of the texts.
    parts : tuple of str
        Names in `HOURS`.
    gaps, unread : int
    told_by : str
        Column whose values differ where this one has gaps, see `NumberColumn`.
    both_orders : bool
        Whether dates between slashes had both orders of day and month in the fit; `form` is that of most, and the
        others count as gaps.
    weight : float
        Weight of the feature that indicates gaps. Its square is the mean squared distance of two random rows on the
        circle of a part.
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
    weight: float = attrs.field(default=FLAG, validator=_finite)

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

    @property
    def coded(self) -> tuple[tuple[str, str], ...]:
        """The elapsed time, and sine and cosine of each part."""
        return tuple((name, "number") for name in self.features[: 1 + 2 * len(self.parts)])

    def write_codes(self, column: Column, out: Array, observer: Observer) -> None:
        """Write days since the mean date, and sine and cosine of the parts."""
        reading = self._observed(column, observer)
        out[:, 0] = (reading.values - self.centre) / 86400.0
        for i, part in enumerate(self.parts):
            angle = 2 * np.pi * (reading.values / 3600.0 % HOURS[part]) / HOURS[part]
            out[:, 1 + 2 * i], out[:, 2 + 2 * i] = np.sin(angle), np.cos(angle)

    def _observed(self, column: Column, observer: Observer) -> Reading:
        """The cells as seconds; an observer sees them."""
        reading = self.read(column)
        if not self.both_orders:
            refuse_both_orders(reading, column)
        refuse_none(reading, column, "date", self.unread)
        observer.odd("no clear date", reading.unread, column, "counted as a gap")
        return reading

    def write(self, column: Column, out: Array, observer: Observer) -> Mask:
        """Write the elapsed time and the parts."""
        reading = self._observed(column, observer)
        gaps = np.isnan(reading.values)
        x = np.where(gaps, self.fill, reading.values)
        out[:, 0] = (x - self.centre) * self.factor
        for i, part in enumerate(self.parts):
            # the first of January 1970 was a Thursday; where a circle begins does not matter
            angle = 2 * np.pi * (x / 3600.0 % HOURS[part]) / HOURS[part]
            # with this radius two random rows are as far apart as two levels, in the mean of squares
            out[:, 1 + 2 * i] = np.where(gaps, 0.0, self.weight / ROOT * np.sin(angle))
            out[:, 2 + 2 * i] = np.where(gaps, 0.0, self.weight / ROOT * np.cos(angle))
        if self.told_by:
            out[:, -1] = self.weight * gaps
        return gaps


def _gap_feature(plan: NumberColumn | CategoryColumn | DateColumn) -> tuple[str, ...]:
    return (f"{plan.name} is a gap",) if plan.told_by else ()


GAP_CHOICES = ("similar", "typical")
"""Methods of filling gaps, the default first."""

MOST_DONORS = 500
"""Largest number of rows that are kept: enough to have some in every cluster of a few per cent, and few enough that a
million rows with gaps are compared with all of them within seconds."""

MOST_CELLS = 2_000_000
"""Largest number of features of all donors together: 16 MiB in every model."""

PAIRS = 2**20
"""Distances computed at a time: 8 MiB."""

EQUAL = attrs.cmp_using(eq=np.array_equal)
"""Comparison of fields that are arrays."""


@final
@attrs.frozen
class Donors:
    """Rows of the fit that lend their values to rows with gaps.

    Parameters
    ----------
    features : ndarray of shape (donors, features)
        Features of the donors, finite; where a donor has a gap itself, those of the most similar other one.
    has : ndarray of shape (donors, used columns), bool
        Whether a donor has a value in a column, and can lend it.

    Notes
    -----
    Nearest-neighbour hot-deck imputation (Chen & Shao 2000, Nearest neighbor imputation for survey data, Journal of
    Official Statistics 16; Andridge & Little 2010, A review of hot deck imputation for survey non-response,
    International Statistical Review 78), with donors that are fixed by the fit, so that a row gets the same values
    whatever other rows come with it.
    """

    features: Array = attrs.field(validator=array("donors features"), eq=EQUAL, hash=False)
    has: Mask = attrs.field(validator=array("donors columns"), eq=EQUAL, hash=False)

    def __attrs_post_init__(self) -> None:
        if not len(self.features) or not np.isfinite(self.features).all():
            raise ValueError("donors must have finite features, and there must be one of them at least")

    def __len__(self) -> int:
        return len(self.features)

    @classmethod
    def among(cls, X: Array, gaps: Mask, plans: Sequence[ColumnPlan]) -> Self | None:
        """Donors among rows of a fit; None if no row has a value in a column that may have gaps.

        One half are the first rows, whatever gaps they have, because rows of one cluster may have more gaps than those
        of others; the other half are those with the fewest gaps among the rest. Those with fewer gaps are first.

        Parameters
        ----------
        X : ndarray of shape (n, features)
        gaps : ndarray of shape (n, used columns), bool
        plans : sequence of ColumnPlan
            Plans of the used columns.
        """
        rows = np.flatnonzero(~gaps[:, can_be_gap(plans)].all(axis=1))
        if not len(rows):
            return None
        most = max(1, min(MOST_DONORS, MOST_CELLS // X.shape[1]))
        first, rest = np.split(rows, [(most + 1) // 2])
        count = gaps.sum(axis=1)
        rest = rest[np.argsort(count[rest], kind="stable")][: most - len(first)]
        rows = np.sort(np.concatenate([first, rest]))
        rows = rows[np.argsort(count[rows], kind="stable")]
        has = ~gaps[rows]
        features = X[rows]
        cls(X[rows], has).fill(features, ~has, plans)
        return cls(features, has)

    def fill(self, X: Array, gaps: Mask, plans: Sequence[ColumnPlan]) -> None:
        """Write the features of donors where rows have gaps.

        A gap takes the features of the nearest donor that has the column, in the features of the columns that the row
        has; of equally near ones of the first. Several gaps of a row mostly have one donor. Features that say whether
        there is a gap are not compared and stay as they are, and so does a row without any value, and a gap in a column
        that no donor has.

        Parameters
        ----------
        X : ndarray of shape (n, features)
            Changed in place.
        gaps : ndarray of shape (n, used columns), bool
        plans : sequence of ColumnPlan
            Plans of the used columns.

        Notes
        -----
        O(m r d) for m rows with gaps, r donors and d features; at most `PAIRS` distances are held at once.
        """
        from scipy.spatial.distance import cdist

        features, fillable, lent = value_features(plans), can_be_gap(plans), self.has.any(axis=0)
        for rows in _alike(gaps):
            missing = gaps[rows[0]]
            lacking = np.flatnonzero(missing & lent)
            if missing[fillable].all() or not len(lacking):
                continue
            compared = np.concatenate([its for its, gap in zip(features, missing, strict=True) if not gap])
            written = np.concatenate([features[j] for j in lacking])
            place = np.repeat(np.arange(len(lacking)), [len(features[j]) for j in lacking])
            points, able = self.features[:, compared], self.has.T[lacking]
            step = max(1, PAIRS // able.size)
            for start in range(0, len(rows), step):
                part = rows[start : start + step]
                # each distance is a sum in the order of the features and not an entry of a matrix product, so that it
                # does not depend on the other rows
                distances = cdist(X[np.ix_(part, compared)], points, "sqeuclidean")
                nearest = np.where(able, distances[:, None], np.inf).argmin(axis=2)
                X[np.ix_(part, written)] = self.features[nearest[:, place], written]


def _alike(gaps: Mask) -> Iterator[Indices]:
    """Groups of rows with gaps in the same columns."""
    rows = np.flatnonzero(gaps.any(axis=1))
    if len(rows):
        bits = np.packbits(gaps[rows], axis=1)
        _, pattern = np.unique(bits.view(f"S{bits.shape[1]}").ravel(), return_inverse=True)
        order = np.argsort(pattern, kind="stable")
        yield from np.split(rows[order], np.flatnonzero(np.diff(pattern[order])) + 1)


def value_features(plans: Sequence[ColumnPlan]) -> list[Indices]:
    """Indices of the features of each column, (features,), without the indicator of gaps.

    Parameters
    ----------
    plans : sequence of ColumnPlan
        Plans of the used columns.
    """
    ends = np.cumsum([len(plan.features) for plan in plans])
    return [
        np.arange(end - len(plan.features), end - bool(getattr(plan, "told_by", "")))
        for plan, end in zip(plans, ends.tolist(), strict=True)
    ]


def can_be_gap(plans: Sequence[ColumnPlan]) -> Mask:
    """Mask of the columns that can have a gap: all but those of one level or a gap, where the gap is a level too."""
    return np.array([not (isinstance(plan, CategoryColumn) and plan.or_gap) for plan in plans], dtype=bool)


def has_gaps(plans: Sequence[ColumnPlan]) -> bool:
    """Whether columns have gaps to fill, and there is another one to compare rows by."""
    plain = [plan for plan, gap in zip(plans, can_be_gap(plans), strict=True) if plan.used and gap]
    return len(plain) > 1 and any(getattr(plan, "gaps", 0) for plan in plain)


FEWEST = 10
"""Smallest number of numbers for which a typical size is compared; with fewer only the extremes are."""

TIMES = 8.0
"""Factor above which typical sizes differ: ten, as from millimetres to centimetres, less what samples of some dozens of
rows vary."""

CERTAIN = 5.0
"""Smallest difference in standard errors, so that no random rows of a table differ."""

SPREADS = 1.0
"""Smallest difference in standard deviations of the fit: of two groups of equal number, either one alone does not
differ."""


def size_of(sizes: Sizes) -> tuple[float, ...]:
    """Mean and standard deviation of the logarithms of the sizes in a fit, as a plan stores them; empty without any."""
    return (sizes.mean, sizes.spread) if sizes.n else ()


def other_size(values: NDArray[np.float64], size: tuple[float, ...]) -> str:
    """The typical sizes of new numbers and of those of the fit, if they differ; "" if they do not.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite.
    size : tuple of float
        Mean and standard deviation from `size_of`.

    Examples
    --------
    >>> fit = np.array([800.0, 1200.0, 2000.0, 20_000.0, 3000.0, 2500.0, 1800.0, 1500.0, 2200.0, 2700.0])
    >>> other_size(100 * fit, size_of(Sizes.of(fit))), other_size(2 * fit, size_of(Sizes.of(fit)))
    ('typically 2.33e+05 here, 2.33e+03 in the fit', '')
    """
    sizes = Sizes.of(values) if size else Sizes()
    if sizes.n < FEWEST:
        return ""
    mean, spread = size
    least = max(math.log(TIMES), SPREADS * spread, CERTAIN * spread / math.sqrt(sizes.n))
    if abs(sizes.mean - mean) <= least:
        return ""
    return f"typically {math.exp(sizes.mean):.3g} here, {math.exp(mean):.3g} in the fit"
