"""What the text of a cell says: a number with a comma, thousands, a percent sign; a date in one of many forms."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Sequence

__all__ = ["MISSING", "date_forms", "decimal_mark", "is_code", "is_number", "number", "seconds"]

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


DAYS = (
    "%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%Y/%m/%d", "%d-%m-%Y",
    "%d-%b-%Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%Y.%m.%d",
)  # fmt: skip
"""Forms of days; where several fit all cells, the first one is taken."""

TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S", " %H:%M:%S.%f")
"""Forms of times after a day."""

ISO = "ISO"
"""The form of dates that stands for all of ISO 8601."""

TRIED = 50
"""Cells on which the forms of dates are tried before all cells are read."""

FITS = 0.5
"""Share of the tried cells that a form must fit to be counted on all cells."""


def date_forms(texts: Sequence[str]) -> list[str]:
    """The forms of dates that at least half of the first texts have, in the order of preference.

    Examples
    --------
    >>> date_forms(["2024-03-01", "2024-03-15 12:00"]), date_forms(["1.2.2024"]), date_forms(["north"])
    (['ISO'], ['%d.%m.%Y'], [])
    """
    some = [text for text in texts[:TRIED] if len(text) <= LONGEST]
    if not any(sum(letter.isdigit() for letter in text) >= 4 for text in some):
        return []
    forms = [ISO, *(day + time for time in TIMES for day in DAYS)]
    return [form for form in forms if sum(seconds(text, form) is not None for text in some) > FITS * len(texts[:TRIED])]


EPOCH = datetime.datetime(1970, 1, 1)
"""The moment from which seconds count."""


def seconds(text: str, form: str) -> float | None:
    """Seconds since 1970 of a date in a form; None if it does not have this form. A time zone is taken into account.

    Examples
    --------
    >>> seconds("1970-01-02", "ISO"), seconds("2.1.1970", "%d.%m.%Y"), seconds("soon", "ISO")
    (86400.0, 86400.0, None)
    """
    try:
        if form == ISO:
            if len(text) < 8 or text.isdigit():
                return None
            moment = datetime.datetime.fromisoformat(text)
        else:
            moment = datetime.datetime.strptime(text, form)
    except ValueError:
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return (moment - EPOCH).total_seconds()
