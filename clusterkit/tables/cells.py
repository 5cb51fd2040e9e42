"""What the text of a cell says: a number with a comma, thousands, a percent sign; a date in one of many forms."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable

__all__ = [
    "ANY", "DAY_FIRST", "MISSING", "MONTH_FIRST", "date_order", "decimal_mark", "is_code", "is_number", "is_slashed",
    "number", "seconds",
]  # fmt: skip

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "-", "--", ".", "#n/a", "<na>", "nat"})
"""Cells that mean a missing value, in lower case: those of UCI files, R, pandas, SQL and spreadsheets."""

SIGNS = "$€£¥"
"""Signs of currencies, which may stand before or behind a number."""

BLANKS = dict.fromkeys(map(ord, " \u00a0\u202f\u2009'’"))
"""What stands between thousands beside points and commas: blanks of four widths, apostrophes."""

GROUPED = {
    ".": re.compile(r"[+-]?(?=[.]?\d)(\d{1,3}(,\d{3})+|\d+)?(\.\d*)?([eE][+-]?\d+)?"),
    ",": re.compile(r"[+-]?(?=,?\d)(\d{1,3}(\.\d{3})+|\d+)?(,\d*)?([eE][+-]?\d+)?"),
}
"""A number, by the mark before its decimals."""

SPACED = re.compile(r"[+-]?\d{1,3}([ \u00a0\u202f\u2009'’]\d{3})+([.,]\d*)?")
"""A number whose thousands are apart."""

EVIDENCE = {
    ",": re.compile(r"[+-]?(0|\d{1,3}(\.\d{3})+|\d+(?=,(\d{1,2}$|\d{4,}$))),\d+\s*%?"),
    ".": re.compile(r"[+-]?(0|\d{1,3}(,\d{3})+|\d+(?=\.(\d{1,2}$|\d{4,}$)))\.\d+\s*%?"),
}
"""Numbers of which one mark alone can stand before the decimals: 1,234 may be either, 1,23 and 0,234 may not."""

CODE = re.compile(r"0\d+")
"""Digits that begin with a zero: a code, such as a postal code, and no number."""

LONGEST = 40
"""Characters of the longest cell that is tried as a number or a date."""


def is_number(cell: str) -> bool:
    """Whether a cell is a plain finite number. Python reads 1_000 as a number, but in a table it is a word."""
    try:
        return math.isfinite(float(cell)) and "_" not in cell
    except ValueError:
        return False


def is_code(text: str) -> bool:
    """Whether a text consists of digits after a zero.

    Examples
    --------
    >>> is_code("00501"), is_code("0"), is_code("0.5")
    (True, False, False)
    """
    return CODE.fullmatch(text) is not None


def number(text: str, decimal: str) -> float | None:
    """The number that a text stands for; None if it stands for none.

    Parameters
    ----------
    text : str
    decimal : {".", ","}
        What stands before the decimals; the other one stands between thousands.

    Examples
    --------
    >>> number("45,920", "."), number("1.234,5", ","), number("32.5 %", "."), number("€ 12", "."), number("e7", ".")
    (45920.0, 1234.5, 0.325, 12.0, None)
    """
    if decimal == ".":
        try:
            value = float(text)
        except ValueError:
            pass
        else:
            return value if math.isfinite(value) and "_" not in text else None
    if len(text) > LONGEST:
        return None
    bare = text.strip().replace("−", "-")
    share = bare.endswith("%")
    bare = bare.removesuffix("%").strip().strip(SIGNS).strip()
    if SPACED.fullmatch(bare):
        bare = bare.translate(BLANKS)
    if GROUPED[decimal].fullmatch(bare) is None:
        return None
    thousands = "," if decimal == "." else "."
    value = float(bare.replace(thousands, "").replace(decimal, "."))
    if not math.isfinite(value):
        return None
    return value / 100 if share else value


def decimal_mark(cells: Iterable[str]) -> str | None:
    """The mark before the decimals that cells show; None where they show none.

    Examples
    --------
    >>> decimal_mark(["1,5", "2,75"]), decimal_mark(["1,234"]), decimal_mark(["1,234.5", "x"])
    (',', None, '.')
    """
    votes = {",": 0, ".": 0}
    for cell in cells:
        for mark, form in EVIDENCE.items():
            votes[mark] += len(cell) <= LONGEST and form.fullmatch(cell.strip(f"{SIGNS} ")) is not None
    if votes[","] == votes["."]:
        return None
    return "," if votes[","] > votes["."] else "."


ANY, MONTH_FIRST, DAY_FIRST = "ISO", "%m/%d/%Y", "%d/%m/%Y"
"""The forms of dates. Every form that says itself which part is the day is read under all three names; they differ for
dates between slashes, of which the first reads none."""

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
"""Beginnings of the English names of months."""

LONG_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
"""The English names of months."""

CENTURY = 69
"""Years of two digits from this one on are of the twentieth century, as POSIX has it."""

TIME = r"(?:[ T](?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<fraction>\d{1,6}))?)?)?"
"""A time after a day."""

SLASHED = re.compile(r"(?P<first>\d{1,2})/(?P<next>\d{1,2})/(?P<year>\d{4}|\d\d)" + TIME)
"""A date of which nothing but its numbers tells the day from the month."""

CLEAR = tuple(
    re.compile(day + TIME)
    for day in (
        r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4}|\d\d)",
        r"(?P<day>\d{1,2})-(?P<month>\d{1,2})-(?P<year>\d{4})",
        r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",
        r"(?P<day>\d{1,2})[- ](?P<month>[A-Za-z]{3,9})[- ](?P<year>\d{4})",
        r"(?P<month>[A-Za-z]{3,9}) (?P<day>\d{1,2}), (?P<year>\d{4})",
    )
)
"""Dates that tell the day from the month by their form."""


def is_slashed(text: str) -> bool:
    """Whether a text has the form of a date between slashes."""
    return "/" in text and SLASHED.fullmatch(text) is not None


def date_order(texts: Iterable[str]) -> str | None:
    """The form that reads dates between slashes: `MONTH_FIRST`, `DAY_FIRST`, or `ANY` where there is none of them.

    None where the texts leave it open, because no day is above 12; and what more of them fit where they differ.

    Examples
    --------
    >>> date_order(["2/13/2024", "2024-02-03"]), date_order(["13/2/2024"]), date_order(["2/3/2024"]), date_order(["x"])
    ('%m/%d/%Y', '%d/%m/%Y', None, 'ISO')
    """
    votes = {MONTH_FIRST: 0, DAY_FIRST: 0}
    for text in texts:
        if is_slashed(text):
            for form in votes:
                votes[form] += seconds(text, form) is not None
    if votes[MONTH_FIRST] != votes[DAY_FIRST]:
        return max(votes, key=lambda form: votes[form])
    return None if votes[DAY_FIRST] else ANY


EPOCH = datetime.datetime(1970, 1, 1)
"""The moment from which seconds count."""


def seconds(text: str, form: str) -> float | None:
    """Seconds since 1970 of a date; None if it is none. A time zone is taken into account.

    Parameters
    ----------
    text : str
    form : {ANY, MONTH_FIRST, DAY_FIRST}
        What dates between slashes are; all other forms are read whatever it is.

    Examples
    --------
    >>> seconds("1970-01-02", ANY), seconds("2.1.1970", ANY), seconds("2/1/1970", DAY_FIRST), seconds("2/1/1970", ANY)
    (86400.0, 86400.0, 86400.0, None)
    """
    if not 6 <= len(text) <= LONGEST or text.isdigit() or not (text[0].isdigit() or text[-1].isdigit()):
        return None
    try:
        moment = _moment(text, form)
    except ValueError:
        return None
    if moment is None:
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return (moment - EPOCH).total_seconds()


def _moment(text: str, form: str) -> datetime.datetime | None:
    """The moment in time of a date; None, or a ValueError, for another text."""
    if "/" in text and (parts := SLASHED.fullmatch(text)) is not None:
        if form == ANY:
            return None
        day, month = (parts["next"], parts["first"]) if form == MONTH_FIRST else (parts["first"], parts["next"])
        return _made(parts, int(day), int(month))
    for pattern in CLEAR:
        if (parts := pattern.fullmatch(text)) is not None:
            return _made(parts, int(parts["day"]), _month(parts["month"]))
    return datetime.datetime.fromisoformat(text) if len(text) >= 8 else None


def _month(text: str) -> int:
    if text.isdigit():
        return int(text)
    name = text.lower()
    return 1 + (MONTHS.index(name) if len(name) == 3 else LONG_MONTHS.index(name))


def _made(parts: re.Match[str], day: int, month: int) -> datetime.datetime:
    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year += 1900 if year >= CENTURY else 2000
    hour, minute, second = (int(parts[name] or 0) for name in ("hour", "minute", "second"))
    return datetime.datetime(year, month, day, hour, minute, second, int((parts["fraction"] or "").ljust(6, "0")))
