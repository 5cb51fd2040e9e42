"""A column as numbers, as levels or as moments in time, whatever its cells are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit.tables.cells import parsing
from clusterkit.tables.cells.measures import PLAIN, UnitConversion
from clusterkit.tables.cells.parsing import day_of_digits
from clusterkit.tables.cells.times import DURATION, clock_text, hours_of_digits, reader
from clusterkit.tables.reading.frames import Column

NATIVE = "as they are"
"""The form of dates that came as dates."""

ORDERS = (parsing.MONTH_FIRST, parsing.DAY_FIRST)
"""The orders of day and month between slashes."""

MICRO = 1e6
"""Microseconds in a second."""


@attrs.frozen(eq=False)
class Reading:
    """A column, read in one way.

    Parameters
    ----------
    values : ndarray of shape (n,), float64
        nan where there is a gap or a cell that cannot be read.
    unread : ndarray of shape (n,), bool
        The cells that are filled and cannot be read.
    """

    values: NDArray[np.float64]
    unread: NDArray[np.bool_]


def as_numbers(column: Column, default: str, measure: UnitConversion | None = None) -> Reading:
    """The cells as numbers.

    The mark before the decimals of texts is that of the column, where its table shows it; else the one with which more
    cells are numbers.

    Parameters
    ----------
    column : Column
    default : {".", ","}
        The mark where both read as many.
    measure : UnitConversion, optional
        Reads texts with units beside the numbers. By default such texts are no numbers, and %, $ and their like are
        ignored.
    """
    gaps = column.missing()
    if column.kind in ("number", "truth"):
        values = column.values.astype(np.float64)
        values[gaps] = np.nan
        return Reading(values, np.zeros(len(values), dtype=bool))
    if column.kind != "text":
        return _nothing(column)
    mark = column.decimal or default
    read = parsing.number if measure is None else measure.number
    reading = _of_texts(column, lambda text: read(text, mark))
    if column.decimal is None and column.offset is None and reading.unread.any():
        other = "," if mark == "." else "."
        by_other = _of_texts(column, lambda text: read(text, other))
        if by_other.unread.sum() < reading.unread.sum():
            return by_other
    return reading


def marks_of(column: Column, measure: UnitConversion = PLAIN) -> Counter[str]:
    """How many numbers have which mark beside them, by a measure; those without one do not count.

    Examples
    --------
    >>> marks_of(Column("n", "text", np.array(["1 kg", "2", "3 %", "four"], dtype=object)))
    Counter({'kg': 1, '%': 1})
    """
    marks: Counter[str] = Counter()
    if column.kind == "text":
        for text, count in Counter(text for text in column.values if text is not None).items():
            bare, mark = measure.split(text)
            decimals = (column.decimal,) if column.decimal else (".", ",")
            if mark and any(parsing.number(bare, decimal) is not None for decimal in decimals):
                marks[mark] += count
    return marks


def as_seconds(column: Column, default: str) -> Reading:
    """The cells as seconds since 1970, whatever the form of their texts. Days of eight digits may be numbers or texts.

    The order of day and month between slashes is that of the column, where its table shows it; else what its dates
    show; else the default.

    Parameters
    ----------
    column : Column
    default : str
        One of `ORDERS`, or else dates between slashes that leave the order open are not read.
    """
    gaps = column.missing()
    if column.kind == "date":
        values = column.values.astype("datetime64[us]").astype(np.int64) / MICRO
        return Reading(np.where(gaps, np.nan, values), np.zeros(len(gaps), dtype=bool))
    if column.kind == "number" and not column.duration:
        return _of_texts(column, day_of_digits)
    if column.kind != "text":
        return _nothing(column)
    form = _order_of(column, default)
    return _of_texts(column, lambda text: seconds_of_text(text, form))


def seconds_of_text(text: str, form: str) -> float | None:
    """Seconds since 1970 of a date or of a day of eight digits; see `clusterkit.tables.cells.parsing.seconds`."""
    if text.isdecimal():
        return day_of_digits(float(text)) if len(text) == 8 else None
    return parsing.seconds(text, form)


def as_hours(column: Column, clock: str, begin: float, *, digits: bool = False) -> Reading:
    """The cells as hours: times of day or durations.

    Parameters
    ----------
    column : Column
    clock : {TIME, DURATION}
        Kind of the texts (`clusterkit.tables.cells.times`).
    begin : float
        The hour from which the day is counted; times of day before it are of the next day.
    digits : bool, default False
        Whether numbers such as 517 are times of day too.
    """
    if column.duration and clock == DURATION:
        return Reading(column.values.astype(np.float64) / 3600.0, np.zeros(len(column.values), dtype=bool))
    if digits and column.kind == "number" and not column.duration:
        gaps = column.missing()
        values = hours_of_digits(np.where(gaps, np.nan, column.values.astype(np.float64)))
        return Reading(np.where(values < begin, values + 24.0, values), ~gaps & np.isnan(values))
    if column.kind != "text":
        return _nothing(column)
    return _of_texts(column, reader(clock, begin, digits=digits))


def _order_of(column: Column, default: str) -> str:
    """The order of day and month in the texts of a column."""
    if column.order is not None:
        return column.order
    if column.offset is not None and default in ORDERS:
        return default
    shown = parsing.date_order(Counter(text for text in column.values if text is not None))
    return shown or (default if default in ORDERS else parsing.ANY)


def settled(column: Column, mark: str, form: str, measure: UnitConversion = PLAIN) -> Column:
    """The column with the mark before decimals, and the order of day and month, in which all of its texts are read.

    So that a part of its rows is read as the whole.

    Parameters
    ----------
    column : Column
    mark, form : str
        Decimal mark for `as_numbers`, and form of dates for `as_seconds`.
    measure : UnitConversion

    Examples
    --------
    >>> column = Column("n", "text", np.array(["1,5", "1,234"], dtype=object))
    >>> settled(column, ".", NATIVE).decimal
    ','
    """
    if column.kind != "text" or column.offset is not None:
        return column
    other = "," if mark == "." else "."
    unread = {
        each: int(as_numbers(attrs.evolve(column, decimal=each), each, measure).unread.sum()) for each in (mark, other)
    }
    best = other if unread[other] < unread[mark] else mark
    order = _order_of(column, form)
    return attrs.evolve(column, decimal=column.decimal or best, order=order if order in ORDERS else None, offset=0)


def as_levels(column: Column) -> NDArray[np.object_]:
    """The cells as texts; None for a gap.

    A whole number has no decimals, a truth value is True or False, a duration is written as 1:23:45.

    Examples
    --------
    >>> as_levels(Column("n", "number", np.array([3.0, 2.5, np.nan]))).tolist()
    ['3', '2.5', None]
    """
    levels = np.empty(len(column.values), dtype=object)
    gaps = column.missing()
    if column.duration:
        texts = [clock_text(value) for value in _floats(column, gaps)]
    elif column.kind == "number":
        texts = [f"{value:.0f}" if value.is_integer() else repr(value) for value in _floats(column, gaps)]
    elif column.kind == "truth":
        texts = [str(bool(value)) for value in _floats(column, gaps)]
    else:
        texts = [str(value) for value in column.values[~gaps]]
    levels[~gaps] = texts
    return levels


def _nothing(column: Column) -> Reading:
    """The reading of a column of another kind, of which no cell can be read."""
    return Reading(np.full(len(column.values), np.nan), ~column.missing())


def _floats(column: Column, gaps: NDArray[np.bool_]) -> list[float]:
    values: list[float] = column.values[~gaps].astype(np.float64).tolist()
    return values


def _of_texts(column: Column, read: Callable[[Any], float | None]) -> Reading:
    """Read texts or numbers, each distinct one once."""
    known: dict[object, float] = {}
    values = np.empty(len(column.values))
    for i, text in enumerate(column.values):
        if text is None or text != text:
            values[i] = np.nan
            continue
        value = known.get(text)
        if value is None:
            number = read(text)
            value = known[text] = np.nan if number is None else number
        values[i] = value
    filled = ~column.missing()
    return Reading(values, filled & np.isnan(values))
