"""Statistics of a table from which a preparation is decided: counts and sums that add up over blocks of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypedDict

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit.errors import TableError
from clusterkit.tables.cells import parsing
from clusterkit.tables.cells.magnitudes import with_letters
from clusterkit.tables.cells.measures import UnitConversion, factor, split_open, unit_among
from clusterkit.tables.cells.moments import Moments
from clusterkit.tables.cells.parsing import DIGIT_DAYS
from clusterkit.tables.cells.readings import NATIVE, ORDERS, as_numbers, as_seconds, seconds_of_text
from clusterkit.tables.cells.text_counts import add, add_by_mark, on_circles
from clusterkit.tables.cells.times import ClockSums
from clusterkit.tables.reading.frames import Column

MOST_LEVELS = 10_000
"""Distinct texts of a column up to which each is counted; with more it is no category."""

MOST_PAIRED = 100
"""Columns up to which gaps of one are compared with values of another: the sums of all pairs are a square of this
side."""

FEWEST_CODES = 0.01
"""Share of whole numbers that begin with a zero, from which those of one length are codes; fewer may be slips."""

NUMBER = "number with "
"""Beginning of the name of a reading of texts as numbers; the decimal mark follows, and the mark beside the number."""

DATES = (parsing.ANY, *ORDERS)
"""Names of the readings as dates: those that are clear, then those between slashes in both orders."""

NOTHING = Moments()
"""The sums of no values."""

FEWEST_DAYS = 10
"""Different numbers that must all be days for them to be days written as eight digits: one alone may be one by chance,
and so may the few prices of a shop."""


YEARS = (1900.0, 2100.0)
"""Whole numbers that may be years."""

MOST_CODES = 10
"""Different whole numbers up to which a column may be one of codes, grades or counts."""

FEWEST_EACH = 3
"""Rows for each of these numbers, on average."""

MOST_FEW = 30
"""Different whole numbers up to which a column may be one of years or codes."""

LOOKED_AT = 1000
"""Cells that are checked first: most columns show among them more than these distinct numbers, and their mark."""

HIGHEST_TIME = 2400.0
"""The end of a day as a number without a colon."""

TIME_DIGITS = 4
"""Digits of a time without a colon where the hour has a zero before it."""


class UnitsOfPlan(TypedDict):
    """The fields of `clusterkit.tables.preparing.plans.NumberColumn` about marks beside numbers."""

    unit: str
    converted: tuple[str, ...]
    strange: tuple[str, ...]
    bare: int


@attrs.frozen(eq=False)
class ColumnSums:
    """Counts and sums of one column.

    Parameters
    ----------
    name : str
    kind : str
        Kind of the cells, see `Column`; "empty" where all cells are gaps.
    rows, gaps : int
    moments : Moments
        Moments of numbers and truth values, and of dates in seconds.
    narrow : bool
        Whether the numbers are of single precision.
    levels : mapping of str to int, or None
        Rows of each distinct text; None if they are more than `MOST_LEVELS`.
    letters, words, codes : int
        Counts over all texts; codes are digits after a zero.
    readings : mapping of str to Moments
        Moments of texts read as numbers, by decimal mark and the mark beside them (kg), and read as dates: those that
        tell the day from the month, and those between slashes in both orders.
    circles : mapping of str to ndarray of shape (parts of a date + 1, 2)
        Sums of ``exp(i a)`` and ``exp(2 i a)`` over these dates, where a is the angle of a part of the date. The last
        row counts dates at the beginning of a month, which may be whole months without a meaningful weekday, and of a
        day, which may be days without an hour.
    decimal, order : str or None
        Decimal mark, and order of day and month, see `Column`.
    open_number : str
        A text that is one number with a point before the decimals and another one with a comma; empty for none.
    mark_shown : bool
        Whether there are numbers that show the decimal mark: numbers with one reading only, or whole numbers of four
        digits or more without a separator of thousands.
    shown : mapping of str to str
        Example of a date with slashes that has this order of day and month alone, by order.
    spelled : mapping of str to int
        Number of gaps with a text, such as NA or None, by the text.
    words_of_gaps : tuple of str
        Texts of gaps that are levels (`clusterkit.tables.preparing.decisions.with_words`).
    clock : ClockSums
        Sums of times of day and durations.
    digits : ClockSums
        Sums of numbers that are all times of day without a colon, such as 517 and 2359, or may be.
    steps : int
        Count of numbers that are greater by one than the number before.
    few : frozenset of float
        The distinct numbers, if they are at most `MOST_FEW`; some of them if they are more.
    infinite : int
        Number of infinite numbers, which are gaps; of texts, which are none until the column is one of numbers.
    days : frozenset of str
        Different days written as eight digits, at most `FEWEST_DAYS` of them.
    ranked : tuple of str
        All levels in their order, see `Column`.
    categorical : bool
        Whether the data frame or the user makes the column a category, see `Column`.
    """

    name: str
    kind: str
    rows: int
    gaps: int
    moments: Moments = NOTHING
    narrow: bool = False
    levels: Mapping[str, int] | None = attrs.field(factory=dict)
    letters: int = 0
    words: int = 0
    codes: int = 0
    readings: Mapping[str, Moments] = attrs.field(factory=dict)
    circles: Mapping[str, NDArray[np.complex128]] = attrs.field(factory=dict)
    decimal: str | None = None
    order: str | None = None
    open_number: str = ""
    mark_shown: bool = False
    shown: Mapping[str, str] = attrs.field(factory=dict)
    spelled: Mapping[str, int] = attrs.field(factory=dict)
    clock: ClockSums = attrs.field(factory=ClockSums)
    days: frozenset[str] = frozenset()
    words_of_gaps: tuple[str, ...] = ()
    infinite: int = 0
    digits: ClockSums = attrs.field(factory=ClockSums)
    steps: int = 0
    few: frozenset[float] = frozenset()
    ranked: tuple[str, ...] = ()
    categorical: bool = False

    @property
    def filled(self) -> int:
        """Number of cells that are no gaps."""
        return self.rows - self.gaps

    @property
    def finite(self) -> int:
        """Number of cells that are neither gaps nor infinite numbers."""
        return self.filled - (self.infinite if self.kind == "text" else 0)

    @property
    def are_codes(self) -> bool:
        """Whether whole numbers are codes, such as postal ones.

        Most of them begin with a zero, or some do and all have one length.
        """
        if self.codes <= self.filled / 2 and self.levels is not None and self.codes >= FEWEST_CODES * self.filled:
            return self.codes > 0 and len({len(level) for level in self.levels}) == 1
        return self.codes > self.filled / 2

    @property
    def are_days(self) -> bool:
        """Whether all numbers are days written as eight digits, and there are many of them."""
        return len(self.days) >= FEWEST_DAYS and self.as_date()[1].n >= max(self.as_number()[1].n, 1)

    @classmethod
    def of(cls, column: Column) -> ColumnSums:
        """The sums of a column."""
        missing = column.missing()
        rows, gaps = len(missing), int(missing.sum())
        infinite = int(np.isinf(column.values).sum()) if column.kind == "number" else 0
        if rows == gaps:
            return cls(column.name, "empty", rows, gaps, spelled=column.spelled(), infinite=infinite)
        if column.kind in ("number", "truth"):
            narrow = column.values.dtype == np.float32
            moments = Moments.of(column.values[~missing])
            of_numbers = cls(column.name, column.kind, rows, gaps, moments, narrow, infinite=infinite)
            return of_numbers._with_times(column)
        if column.kind == "date":
            seconds = as_seconds(column, NATIVE).values[~missing]
            circles = {NATIVE: on_circles(seconds, np.ones(len(seconds)))}
            return cls(column.name, "date", rows, gaps, Moments.of(seconds), circles=circles)
        if column.kind in ("complex", "other"):
            return cls(column.name, column.kind, rows, gaps)
        return cls._of_texts(column, rows, gaps)

    def _with_times(self, column: Column) -> ColumnSums:
        """The sums of numbers, with those of durations, or of days if all numbers may be days."""
        its = self.moments
        if column.duration:
            return attrs.evolve(self, clock=ClockSums(lasting=its.times(1 / 3600.0), native=True))
        if its.whole and column.kind == "number":
            numbers = column.values[~column.missing()].astype(np.float64, copy=False)
            with np.errstate(over="ignore"):
                steps = int((np.diff(numbers) == 1.0).sum())
            self = attrs.evolve(self, steps=steps, digits=_of_digits(numbers, None), few=_few(numbers))
        if not its.whole or its.low < DIGIT_DAYS[0] or its.high > DIGIT_DAYS[1]:
            return self
        seconds = as_seconds(column, NATIVE).values
        seconds = seconds[np.isfinite(seconds)]
        days = np.unique(column.values[~column.missing()])[:FEWEST_DAYS]
        ones = np.ones(len(seconds))
        circles = {parsing.ANY: on_circles(seconds, ones)}
        some = frozenset(f"{day:.0f}" for day in days)
        return attrs.evolve(
            self,
            readings={parsing.ANY: Moments.of(seconds)},
            circles=circles,
            days=some,
        )

    @classmethod
    def _of_texts(cls, column: Column, rows: int, gaps: int) -> ColumnSums:
        levels = Counter(text for text in column.values if text is not None)
        distinct = list(levels)
        counts = np.array(list(levels.values()))
        readings: dict[str, Moments] = {}
        circles: dict[str, NDArray[np.complex128]] = {}
        open_number, mark_shown, shown = "", False, dict[str, str]()
        letters = int(sum(len(text) * n for text, n in levels.items()))
        short = letters <= parsing.LONGEST * sum(levels.values())
        if short:
            parts = [split_open(text) for text in distinct]
            bare = [text for text, _ in parts]
            by_mark = {mark: [parsing.number(text, mark) for text in bare] for mark in (".", ",")}
            beside = [mark for _, mark in parts]
            for mark, numbers in by_mark.items():
                add_by_mark(readings, NUMBER + mark, numbers, beside, counts)
            for text, point, comma in zip(bare, by_mark["."], by_mark[","], strict=True):
                if point == comma:
                    continue
                if point is None or comma is None or parsing.in_dollars(text):
                    mark_shown = True
                else:
                    open_number = open_number or text
            mark_shown = mark_shown or any(map(parsing.is_undivided, bare))
            slashed = np.array([parsing.is_slashed(text) for text in distinct])
            for form in DATES:
                if form == parsing.ANY or slashed.any():
                    chosen = np.flatnonzero(slashed == (form != parsing.ANY))
                    values = [seconds_of_text(distinct[i], form) for i in chosen]
                    add(readings, form, values, counts[chosen])
                    legible = np.array([value is not None for value in values], dtype=bool)
                    known = np.array([value for value in values if value is not None])
                    circles[form] = on_circles(known, counts[chosen][legible])
            for i in np.flatnonzero(slashed):
                order = parsing.only_order(distinct[i]) if len(shown) < len(ORDERS) else None
                if order is not None:
                    shown.setdefault(order, distinct[i])
        return cls(
            column.name, "text", rows, gaps, levels=dict(levels) if len(levels) <= MOST_LEVELS else None,
            digits=_of_digits(np.array(distinct, dtype=np.float64), counts) if _are_codes(distinct) else ClockSums(),
            letters=letters, words=int(sum(len(text.split()) * n for text, n in levels.items())),
            codes=sum(n for text, n in levels.items() if parsing.is_code(text)), readings=readings, circles=circles,
            decimal=column.decimal, order=column.order, open_number=open_number, mark_shown=mark_shown, shown=shown,
            spelled=column.spelled(), clock=ClockSums.of_texts(levels) if short else ClockSums(),
            days=frozenset(sorted(filter(_is_day, distinct))[:FEWEST_DAYS] if short else ()),
            infinite=sum(n for text, n in levels.items() if short and parsing.is_infinite(text)), ranked=column.ranked,
            categorical=column.categorical,
        )  # fmt: skip

    def __add__(self, other: ColumnSums) -> ColumnSums:
        """The sums of both blocks of rows."""
        rows, gaps, infinite = self.rows + other.rows, self.gaps + other.gaps, self.infinite + other.infinite
        if "empty" in (self.kind, other.kind):
            filled = other if self.kind == "empty" else self
            spelled = dict(Counter(self.spelled) + Counter(other.spelled))
            infinite = filled.infinite if filled.kind == "text" else infinite
            return attrs.evolve(filled, rows=rows, gaps=gaps, spelled=spelled, infinite=infinite)
        if self.kind != other.kind:
            raise TableError(
                f"column {self.name!r} is of kind {self.kind} in some rows and of kind {other.kind} in others"
            )
        levels: Mapping[str, int] | None = None
        if self.levels is not None and other.levels is not None:
            both = Counter(self.levels) + Counter(other.levels)
            levels = dict(both) if len(both) <= MOST_LEVELS else None
        names = dict.fromkeys([*self.readings, *other.readings])
        readings = {key: self.readings.get(key, Moments()) + other.readings.get(key, Moments()) for key in names}
        turns = {
            form: np.add(self.circles.get(form, 0.0), other.circles.get(form, 0.0))
            for form in dict.fromkeys([*self.circles, *other.circles])
        }
        return ColumnSums(
            self.name, self.kind, rows, gaps, self.moments + other.moments, self.narrow and other.narrow, levels,
            self.letters + other.letters, self.words + other.words, self.codes + other.codes, readings, turns,
            self.decimal or other.decimal, self.order or other.order, self.open_number or other.open_number,
            self.mark_shown or other.mark_shown, {**other.shown, **self.shown},
            dict(Counter(self.spelled) + Counter(other.spelled)),
            self.clock + other.clock, frozenset(sorted(self.days | other.days)[:FEWEST_DAYS]),
            infinite=infinite, digits=self._digits(other), steps=self.steps + other.steps,
            few=frozenset(sorted(self.few | other.few)[: MOST_FEW + 1]),
            ranked=self.ranked if self.ranked == other.ranked else (),
            categorical=self.categorical and other.categorical,
        )  # fmt: skip

    def _digits(self, other: ColumnSums) -> ClockSums:
        """The sums of both blocks of rows as times without a colon; empty where one of them has other numbers."""
        return self.digits + other.digits if self.digits.n and other.digits.n else ClockSums()

    def as_number(self) -> tuple[str, Moments]:
        """The decimal mark of texts, and the sums of the numbers.

        The mark is that of the column, or the one with which most texts are numbers; the point where it makes no
        difference.
        """
        if self.kind != "text":
            return ".", self.moments if self.kind != "date" else Moments()
        mark, measure = self.mark, self.measure
        parts = [(measure.factor(beside), moments) for beside, moments in self.by_mark(mark).items()]
        return mark, sum((its.times(by) for by, its in parts if by is not None), Moments())

    @property
    def mark(self) -> str:
        """The decimal mark of texts: that of the column, or the one with which most texts are numbers."""
        return self.decimal or max(".,", key=self.by_decimal.__getitem__)

    @property
    def by_decimal(self) -> dict[str, int]:
        """How many texts are numbers with each decimal mark."""
        return {mark: sum(its.n for its in self.by_mark(mark).values()) for mark in ".,"}

    def by_mark(self, mark: str) -> dict[str, Moments]:
        """The sums of the texts that are numbers with this decimal mark, by the unit beside them."""
        start = NUMBER + mark
        return with_letters({key[len(start) :]: its for key, its in self.readings.items() if key.startswith(start)})

    @property
    def measure(self) -> UnitConversion:
        """The unit of the numbers in texts, and the marks that cannot be converted to it."""
        counts = {beside: its.n for beside, its in self.by_mark(self.mark).items()}
        unit = unit_among(counts)
        strange = frozenset(beside for beside in counts if beside and factor(beside, unit) is None)
        return UnitConversion.of(unit, strange, counts)

    def units(self, mark: str) -> UnitsOfPlan:
        """Fields of a number column's plan about the units beside the numbers, for this decimal mark."""
        measure, parts = self.measure, self.by_mark(mark)
        bare = parts.pop("", NOTHING).n if measure.unit else 0
        converted = sorted(its for its in parts if its and its not in {measure.unit, *measure.strange})
        return {
            "unit": measure.unit, "converted": tuple(converted), "strange": tuple(sorted(measure.strange)),
            "bare": bare,
        }  # fmt: skip

    @property
    def few_whole(self) -> int:
        """Count of the distinct whole numbers, where they are few and may be years or codes; else 0."""
        mark, numbers = self.as_number()
        if not numbers.whole:
            return 0
        of_texts = {self.measure.number(text, mark) for text in self.levels or ()} - {None}
        n = len(of_texts if self.kind == "text" else self.few)
        years = YEARS[0] <= numbers.low and numbers.high <= YEARS[1]
        most = MOST_FEW if years else MOST_CODES
        return n if 2 < n <= most and n * FEWEST_EACH <= numbers.n else 0

    def leaves_decimals_open(self) -> bool:
        """Whether the texts are other numbers with a decimal point than with a comma, and nothing shows which."""
        return self.decimal is None and bool(self.open_number) and not self.mark_shown

    def as_date(self) -> tuple[str, Moments]:
        """Form of dates with slashes, and the moments of all dates in seconds."""
        if self.kind == "date":
            return NATIVE, self.moments
        clear, month, day = (self.readings.get(form, NOTHING) for form in DATES)
        if not month.n and not day.n:
            return parsing.ANY, clear
        order = self.order or (parsing.DAY_FIRST if day.n > month.n else parsing.MONTH_FIRST)
        return order, clear + (day if order == parsing.DAY_FIRST else month)

    def leaves_order_open(self) -> str:
        """A date between slashes, if nothing tells whether its day or its month is first; else ""."""
        if self.order is not None or self.shown or self.as_date()[0] not in ORDERS:
            return ""
        return next((text for text in self.levels or () if parsing.is_slashed(text)), "2/3/2024")

    def date_circles(self) -> NDArray[np.complex128]:
        """The sums of all dates on the circles of their parts."""
        form = self.as_date()[0]
        parts = [self.circles[key] for key in dict.fromkeys((parsing.ANY, form)) if key in self.circles]
        return np.sum(parts, axis=0)

    def strange(self) -> str | None:
        """A text that is no date though others are; None if there is none, or if there are too many texts to store."""
        form = self.as_date()[0]
        return next((text for text in self.levels or () if seconds_of_text(text, form) is None), None)


def _of_digits(numbers: NDArray[np.float64], counts: NDArray[np.int_] | None) -> ClockSums:
    """The sums of numbers as times without a colon, where all of them may be such times."""
    return ClockSums.of_digits(numbers, counts) if len(numbers) and numbers.max() <= HIGHEST_TIME else ClockSums()


def _few(numbers: NDArray[np.float64]) -> frozenset[float]:
    """Different numbers, one more than `MOST_FEW` at most."""
    some = np.unique(numbers[:LOOKED_AT])
    if len(some) <= MOST_FEW < len(numbers):
        some = np.unique(numbers)
    return frozenset(some[: MOST_FEW + 1].tolist())


def _are_codes(texts: Sequence[str]) -> bool:
    """Whether all texts have four digits, as times of a clock without a colon."""
    return all(len(text) == TIME_DIGITS and text.isdecimal() and text.isascii() for text in texts)


def _is_day(text: str) -> bool:
    return len(text) == 8 and text.isdecimal() and seconds_of_text(text, parsing.ANY) is not None


@attrs.frozen(eq=False)
class TableSums:
    """Counts and sums of a table.

    Parameters
    ----------
    columns : tuple of ColumnSums
    rows : int
    pairs : ndarray of shape (2, p, p)
        Number of rows, and sum of the numbers of column k, over the rows with a gap in column j and a number in column
        k; p is 0 where the columns are more than `MOST_PAIRED`.
    """

    columns: tuple[ColumnSums, ...]
    rows: int
    pairs: NDArray[np.float64]

    @classmethod
    def of(cls, columns: Sequence[Column]) -> TableSums:
        """The sums of a block of rows."""
        sums = tuple(map(ColumnSums.of, columns))
        rows = len(columns[0].values)
        return cls(sums, rows, _pairs(columns, sums))

    def __add__(self, other: TableSums) -> TableSums:
        """The sums of both blocks of rows."""
        if [c.name for c in self.columns] != [c.name for c in other.columns]:
            raise TableError("blocks of one table must have the same columns")
        columns = tuple(a + b for a, b in zip(self.columns, other.columns, strict=True))
        pairs = self.pairs.copy() + other.pairs
        if self.pairs.shape[1]:
            for k, both in enumerate(columns):  # the sums of each block are in the unit of its column there
                parts = [(its.columns[k].measure.factor_to(both.measure), its.pairs[1, :, k]) for its in (self, other)]
                pairs[1, :, k] = sum(times * its for times, its in parts)
        return TableSums(columns, self.rows + other.rows, pairs)


def _pairs(columns: Sequence[Column], sums: Sequence[ColumnSums]) -> NDArray[np.float64]:
    """Rows with a gap in one column and a number in another, and the sums of these numbers."""
    p = len(columns)
    if p > MOST_PAIRED:
        return np.zeros((2, 0, 0))
    if not any(column.gaps for column in sums):
        return np.zeros((2, p, p))
    missing = np.column_stack([column.missing() for column in columns]).astype(np.float64)
    values = np.zeros_like(missing)
    legible = np.zeros_like(missing)
    for k, (column, its) in enumerate(zip(columns, sums, strict=True)):
        if column.kind in ("number", "truth") or its.readings:
            x = as_numbers(column, its.as_number()[0], its.measure).values
            usable = np.isfinite(x)
            values[usable, k], legible[usable, k] = x[usable], 1.0
    return np.stack([missing.T @ legible, missing.T @ values])
