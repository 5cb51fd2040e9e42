"""Marks beside the number in a cell: %, a currency or a unit; which of them can be converted, and by which factor.

A column has one unit, and its `UnitConversion` reads new rows in it: 12 % and 0.12, or $ 5 and 5 €, are different
numbers, and 300 g are 0.3 kg.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from clusterkit.tables.cells.magnitudes import BEHIND, COUNTS, NAMES, OPEN, magnitude, rate
from clusterkit.tables.cells.parsing import (
    ARABIC,
    CURRENCIES,
    LONGEST,
    REMARK,
    SIGNS,
    UNIT,
    money,
    number,
    without_unit,
)

SIZES: Mapping[str, tuple[str, float]] = MappingProxyType(
    {
        "mg": ("mass", 1e-6), "g": ("mass", 1e-3), "kg": ("mass", 1.0), "t": ("mass", 1e3),
        "oz": ("mass", 0.45359237 / 16), "lb": ("mass", 0.45359237),
        "mm": ("length", 1e-3), "cm": ("length", 1e-2), "m": ("length", 1.0), "km": ("length", 1e3),
        "in": ("length", 0.0254), "ft": ("length", 0.3048), "mi": ("length", 1609.344),
        "ms": ("time", 1e-3), "s": ("time", 1.0), "min": ("time", 60.0), "h": ("time", 3600.0),
        "day": ("time", 86400.0), "week": ("time", 604800.0),
        "ml": ("volume", 1e-3), "cl": ("volume", 1e-2), "dl": ("volume", 0.1), "l": ("volume", 1.0),
        "%": ("share", 1.0), "‰": ("share", 0.1),
        **{word: ("count", size) for word, size in COUNTS.items()},
        **{
            sign + word: (sign, size)
            for sign in (*SIGNS, *(code for code in CURRENCIES if code not in NAMES))
            for word, size in COUNTS.items()
        },
    }
)  # fmt: skip
"""Dimension and size of the units that are converted into each other. Months and years have no fixed length, degrees no
common zero, and currencies no fixed rate. Bare numbers are counts, beside thousands (k) and millions, which there are
of currencies too."""

WORDS_FOR_UNITS = """
kg kgs kilogram kilograms kilo
g gram grams gr
t tonne tonnes
lb lbs
m meter metre meters metres
in inch inches
ft foot feet
mi mile miles
s sec secs second seconds
min mins minute minutes
h hr hrs hour hours
day d days
week weeks
l liter litre liters litres
% percent pct
Mio mio
€ eur euro euros
$ usd
£ gbp
"""
"""A mark and other words for it, in lower case, in each line."""

ALIASES: Mapping[str, str] = MappingProxyType(
    {word: line.split()[0] for line in WORDS_FOR_UNITS.strip().split("\n") for word in line.split()[1:]}
)
"""The mark that each of the other words means."""

DOLLARS = re.compile(rf"([+-]?)([A-Z]{{1,3}}[$]|Rs|Rp|kr|Fr|Kč|zł|{ARABIC})\.?\s*(?=-?\d)(?!-0\d)")
"""Dollars and other currencies with letters before their sign, such as US$ and R$, and those whose sign is a word."""

SHARES = "%‰"
"""Signs of shares of 100 and of 1,000."""

FEWEST_UNKNOWN = 0.5
"""Share of the numbers that must have a mark that is neither a known unit nor a currency for it to be the unit of the
column; fewer may be words."""

ALIKE = 10.0
"""Factor by which numbers must be larger than the largest, or smaller than the smallest, to be in another unit."""

WHOLE = 1.0
"""Largest share of a whole that is written without percent."""

IN_PERCENT = 10.0
"""Smallest maximum of a column in percent from which new rows up to `WHOLE` are taken for shares of 1."""


def split(text: str) -> tuple[str, str]:
    """A text without the mark beside its number, and the mark in one spelling; "" for none.

    Signs of currencies stay in the text, which `clusterkit.tables.cells.parsing.number` reads with them.

    Examples
    --------
    >>> split("12.5 kg"), split("32 %"), split("3 DAYS"), split("€ 12"), split("12 EUR"), split("4711DE"), split("7")
    (('12.5', 'kg'), ('32', '%'), ('3', 'day'), ('€ 12', '€'), ('12 EUR', '€'), ('4711DE', ''), ('7', ''))
    >>> split("US$ 12"), split("-R$5"), split("(3 %)"), split("-$5")
    (('12', '$'), ('-5', 'R$'), ('(3)', '%'), ('-$5', '$'))
    >>> split("$1.2k"), split("12 €/kg"), split("3.4 Mio"), split("12M")
    (('$1.2', '$k'), ('12', '€/kg'), ('3.4', 'Mio'), ('12M', ''))
    >>> split("₩1,200"), split("Rs. 5"), split("5 kr."), split("SGD 12"), split("12 kg [2]"), split("76 (+1)")
    (('₩1,200', '₩'), ('5', 'Rs'), ('5', 'kr'), ('SGD 12', 'SGD'), ('12', 'kg'), ('76', ''))
    """
    divided = "/" in text
    if text[-1:].isdecimal() and not divided and (text[0].isdecimal() or text.lstrip("+-.,")[:1].isdecimal()):
        return text, ""  # most cells
    if not 1 < len(text) <= LONGEST or not any(letter.isdecimal() for letter in text):
        return text, ""
    if text.startswith("(") and text.endswith(")"):  # bookkeepers write negative numbers so
        bare, mark = split(text[1:-1].strip())
        return f"({bare})", mark
    if text[-1] in "])":
        text = REMARK.sub("", text)
    if text[-1] in SHARES:
        return text[:-1].rstrip(), text[-1]
    parts = rate(text) if divided else magnitude(text)
    if parts is not None and not parts[1].endswith(BEHIND):
        return parts
    if (dollars := DOLLARS.match(text)) is not None:
        return dollars[1] + text[dollars.end() :], "$" if dollars[2] == "US$" else dollars[2]
    currency = money(text)
    if currency:
        return text, NAMES.get(currency, currency)
    if UNIT.fullmatch(text) is not None:
        unit = text[max(i for i, letter in enumerate(text) if letter.isdecimal()) + 1 :].strip()
        text, unit = text.removesuffix("."), unit.removesuffix(".")
        mark = _spelled(unit)
        if mark in SIGNS or mark in CURRENCIES:
            return without_unit(text, unit) + " " + unit.upper()[:3], mark
        return without_unit(text, unit), mark
    return text, ""


def split_open(text: str) -> tuple[str, str]:
    """Split like `split`, with letters right behind digits as marks too.

    Examples
    --------
    >>> split_open("12M"), split_open("12 kg")
    (('12', 'M?'), ('12', 'kg'))
    """
    parts = magnitude(text) if text[-1:] in OPEN and text[0] not in "(" and len(text) <= LONGEST else None
    return parts if parts is not None and parts[1].endswith(BEHIND) else split(text)


def _spelled(unit: str) -> str:
    """A mark in the one spelling of all that mean the same: in the singular, as in `SIZES`, or as a sign."""
    if unit in SIZES:
        return unit
    lower = unit.lower()
    if lower in ALIASES:
        return ALIASES[lower]
    if len(unit) > 1 and lower in SIZES:
        return lower
    if len(unit) > 3 and (unit.islower() or unit.istitle()):  # a word
        return lower.removesuffix("s")
    return unit


def factor(mark: str, unit: str) -> float | None:
    """Factor that converts numbers with a mark to a unit; None if there is no conversion.

    Examples
    --------
    >>> factor("g", "kg"), factor("kg", "kg"), factor("€", "$"), factor("k", "")
    (0.001, 1.0, None, 1000.0)
    """
    if mark == unit:
        return 1.0
    if mark not in SIZES or unit not in SIZES or SIZES[mark][0] != SIZES[unit][0]:
        return None
    return SIZES[mark][1] / SIZES[unit][1]


def unit_among(counts: Mapping[str, int]) -> str:
    """The unit of a column whose numbers have these marks, by how many have each; "" for none.

    It is the most frequent unit in the dimension that most marked numbers have. Where all marks are multiples of plain
    numbers, such as 1.2 k beside 900, or $1.2k beside $900, it is the plain unit. An unknown mark counts only if at
    least half of the numbers have it.

    Examples
    --------
    >>> unit_among({"kg": 3, "g": 2, "": 9}), unit_among({"k": 5, "": 1}), unit_among({"%": 1, "": 9})
    ('kg', '', '%')
    >>> unit_among({"apple": 1, "": 9}), unit_among({"$": 4, "€": 5})
    ('', '€')
    """
    total = sum(counts.values())
    groups: dict[str, dict[str, int]] = {}
    for mark, count in counts.items():
        sure = mark in SIZES or mark in SIGNS or mark in CURRENCIES or count >= FEWEST_UNKNOWN * total
        if mark and sure:
            groups.setdefault(SIZES[mark][0] if mark in SIZES else mark, {})[mark] = count
    if not groups or (set(groups) == {"count"} and counts.get("", 0)):
        return ""
    units = max(groups.values(), key=lambda its: (sum(its.values()), max(its)))
    plain = next((mark for mark in units if mark in SIGNS or mark in CURRENCIES), "")
    return plain or max(units, key=lambda mark: (units[mark], mark))


@final
@attrs.frozen
class UnitConversion:
    """Conversion of the texts of one column to numbers.

    Parameters
    ----------
    unit : str
        The mark beside the numbers; "" for none. Numbers without a mark are in this unit, and so are those with any
        mark where it is "", because a table either writes the mark or does not.
    strange : frozenset of str
        Marks that stood beside cells of the fit which counted as gaps, and do so again.
    letters : bool
        Whether K, M and B right behind digits are thousands, millions and billions, or the unit.

    Examples
    --------
    >>> UnitConversion("kg").number("300 g", "."), UnitConversion("%").number("12", ".")
    (0.3, 12.0)
    >>> UnitConversion("$").number("5 €", ".") is None
    True
    """

    unit: str = ""
    strange: frozenset[str] = frozenset()
    letters: bool = False

    @classmethod
    def of(cls, unit: str, strange: frozenset[str], converted: Iterable[str]) -> UnitConversion:
        """The conversion for a column of this unit, from texts with the units `converted`."""
        counts = any(mark and (mark in COUNTS or mark in OPEN) for mark in (unit, *converted))
        return cls(unit, strange, counts)

    def number(self, text: str, decimal: str) -> float | None:
        """The number in a text, converted to the unit; None if the text is no number."""
        bare, mark = self.split(text)
        value = number(bare, decimal)
        if value is None or mark in ("", self.unit):
            return value
        times = self.factor(mark)
        return None if times is None else value * times

    def split(self, text: str) -> tuple[str, str]:
        """A text without the mark beside its number, and the mark, as the function `split` has them."""
        if not self.letters:
            return split(text)
        bare, mark = split_open(text)
        if not mark.endswith(BEHIND):
            return bare, mark
        letter = mark.removesuffix(BEHIND)
        return bare, letter if letter == self.unit else OPEN[letter]

    def bare(self, text: str) -> str:
        """A text without the unit, so that its marks before decimals can be looked at."""
        return self.split(text)[0]

    def factor(self, mark: str) -> float | None:
        """Factor that converts numbers with a mark to the unit; None if there is no conversion."""
        if mark in self.strange:
            return None
        times = factor(mark, self.unit)
        return 1.0 if times is None and (not self.unit or not mark) else times

    def factor_to(self, other: UnitConversion) -> float:
        """Factor that converts numbers from this unit to another one; 1 where it is not known."""
        return factor(self.unit, other.unit) or 1.0


PLAIN = UnitConversion()
"""Conversion of numbers whose marks do not matter."""


def are_alike(values: ArrayLike, extremes: tuple[float, ...], unit: str = "", *, marked: bool = True) -> bool:
    """Whether new numbers may be in the unit of the fit.

    False if all numbers, zeros apart, are ten times as large as the largest number of the fit, or ten times as small as
    the smallest. Numbers without the percent sign of the fit are not alike either if all are at most 1.

    Parameters
    ----------
    values : array-like of shape (n,)
    extremes : tuple of float
        The least and the greatest number of the fit; empty where they are not known.
    unit : str
    marked : bool
        Whether the unit stands beside the numbers.

    Examples
    --------
    >>> are_alike([150.0, 190.0], (1.5, 2.0)), are_alike([0.0, 3.0], (1.5, 2.0))
    (False, True)
    >>> are_alike([0.1, 0.6], (0.0, 80.0), "%", marked=False), are_alike([0.1, 0.6], (0.0, 80.0), "%")
    (False, True)
    """
    sizes = np.abs(np.asarray(values, dtype=np.float64))
    sizes = sizes[sizes > 0.0]
    if not extremes or not len(sizes):
        return True
    low, high = extremes
    largest, smallest = max(-low, high), (0.0 if low <= 0.0 <= high else min(abs(low), abs(high)))
    if not marked and unit == "%" and sizes.max() <= WHOLE and largest >= IN_PERCENT:
        return False
    return bool(sizes.min() <= ALIKE * largest and ALIKE * sizes.max() >= smallest)
