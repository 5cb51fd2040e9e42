"""Whole months and quarters, and days written as eight digits, as moments in time."""

from __future__ import annotations

import datetime
import math
import re

__all__ = ["DIGITS", "DIGIT_DAYS", "day_of_digits", "first_of_month", "month_number"]

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
"""Beginnings of the English names of months."""

LONG_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
"""The English names of months."""

WHOLE_MONTHS = tuple(
    map(
        re.compile,
        (
            r"(?P<year>\d{4})[-/](?P<month>\d{1,2})",
            r"(?P<month>\d{1,2})[-/](?P<year>\d{4})",
            r"(?P<month>[A-Za-z]{3,9})[-/ ](?P<year>\d{4})",
            r"(?P<year>\d{4})[-/ ](?P<month>[A-Za-z]{3,9})",
            r"(?P<year>\d{4})[- ]?Q(?P<quarter>[1-4])",
            r"Q(?P<quarter>[1-4])[-/ ]?(?P<year>\d{4})",
        ),
    )
)
"""Months and quarters, which stand for their first day."""

LONGEST_MONTH = len("September 2020")
"""Characters of the longest month."""

YEARS = (1800, 2200)
"""Years that a month may be of: 4711-12 is no month, but the number of a part."""

DIGITS = "%Y%m%d"
"""The form of days written as eight digits. They are numbers as well, so that no single cell tells."""

DIGIT_DAYS = (19000101, 21001231)
"""The first and the last of such days. Three or four in a hundred numbers between them are days by chance."""

EPOCH = datetime.datetime(1970, 1, 1)
"""The moment from which seconds count."""


def month_number(text: str) -> int:
    """The number of a month, from 1, from its number or its English name.

    Raises
    ------
    ValueError
        If it has no such name.

    Examples
    --------
    >>> month_number("02"), month_number("Feb"), month_number("FEBRUARY")
    (2, 2, 2)
    """
    if text.isdigit():
        return int(text)
    name = text.lower()
    return 1 + (MONTHS.index(name) if len(name) == 3 else LONG_MONTHS.index(name))


def first_of_month(text: str) -> datetime.datetime | None:
    """The first day of a month or quarter; None, or a ValueError, for another text.

    Examples
    --------
    >>> [first_of_month(text).strftime("%d.%m.%Y") for text in ("2020-02", "02/2020", "Feb 2020", "2020Q2")]
    ['01.02.2020', '01.02.2020', '01.02.2020', '01.04.2020']
    >>> first_of_month("4711-02")
    """
    if len(text) > LONGEST_MONTH:
        return None
    for pattern in WHOLE_MONTHS:
        if (parts := pattern.fullmatch(text)) is not None:
            named = parts.groupdict()
            year = int(named["year"])
            month = month_number(named["month"]) if "month" in named else 3 * int(named["quarter"]) - 2
            return datetime.datetime(year, month, 1) if YEARS[0] <= year <= YEARS[1] else None
    return None


def day_of_digits(value: float) -> float | None:
    """Seconds since 1970 of a day that is written as eight digits; None for a number that is none.

    Examples
    --------
    >>> day_of_digits(19700102.0), day_of_digits(19701301.0), day_of_digits(19700230.0), day_of_digits(47110102.0)
    (86400.0, None, None, None)
    """
    if not DIGIT_DAYS[0] <= value <= DIGIT_DAYS[1] or value != math.floor(value):
        return None
    number = int(value)
    try:
        moment = datetime.datetime(number // 10000, number // 100 % 100, number % 100)
    except ValueError:
        return None
    return (moment - EPOCH).total_seconds()
