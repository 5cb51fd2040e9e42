"""Marks of more than one part beside a number: a thousand or a million of something, $1.2k, and rates, 12 €/kg.

The letters K, M and B right behind digits, as in 12M, are magnitudes in one table and part of a code or a house number
in another. Alone they decide nothing; `with_letters` says what the cells of the whole column show.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from clusterkit.tables.cells.moments import Moments
from clusterkit.tables.cells.parsing import CURRENCIES, SIGNS

COUNTS: Mapping[str, float] = MappingProxyType(
    {
        "": 1.0, "k": 1e3, "Tsd": 1e3, "thousand": 1e3, "M": 1e6, "Mio": 1e6, "mn": 1e6, "million": 1e6,
        "bn": 1e9, "Mrd": 1e9, "billion": 1e9,
    }
)  # fmt: skip
"""Sizes of the words for thousands, millions and billions."""

OPEN: Mapping[str, str] = MappingProxyType({"K": "k", "M": "M", "B": "bn"})
"""Letters right behind digits, and what they are if they are magnitudes."""

BEHIND = "?"
"""Appended, in the sums of a column, to a letter right behind the digits, which may belong to a code: 12M, not 12 M."""

SHORT: Mapping[str, str] = MappingProxyType({"k": "k", "m": "M", "mm": "M", "mn": "M", "b": "bn", "bn": "bn"})
"""Magnitudes meant by short words beside a currency, in lower case: no currency is measured in metres."""

WORDS: Mapping[str, str] = MappingProxyType(
    {**{word.lower(): word for word in COUNTS if len(word) > 1}, "millions": "million", "billions": "billion"}
)
"""Words for magnitudes that mean nothing else, in lower case."""

ENOUGH = 0.5
"""Share of the numbers of a column that must have a magnitude for letters right behind digits to be some: of house
numbers, few have a letter."""

TAIL = re.compile(r"(?P<bare>.*\d)\s*(?P<word>[^\W\d_]{1,9})\.?", re.DOTALL)
"""A number and a word, perhaps with the point of an abbreviation."""

CURRENCY = rf"(?P<sign>[{re.escape(SIGNS)}])|(?P<code>{'|'.join((*CURRENCIES, 'Euro', 'EURO'))})\b"
"""A currency, as its sign or its code."""

AMOUNT = r"[+-]?(?P<digits>\d[\d.,\u00a0\u202f\u2009'’]*)"
"""A number with marks before its decimals and between its thousands."""

PER = r"(?P<per>(?:100\s?)?[^\W\d_]{1,10}[²³23]?)"
"""Denominator of a rate: h, kg, m², 100 km."""

RATES = (
    re.compile(rf"(?:{CURRENCY})\s*(?P<bare>{AMOUNT})\s*/\s*{PER}"),
    re.compile(rf"(?P<bare>{AMOUNT})\s*(?:{CURRENCY})\s*/\s*{PER}"),
    re.compile(rf"(?P<bare>{AMOUNT})\s*(?P<unit>[^\W\d_]{{1,6}})\s*/\s*{PER}"),
)
"""Rates: $5/h, 12 €/kg, 7 l/100 km."""

NAMES: Mapping[str, str] = MappingProxyType(
    {
        "EUR": "€", "EURO": "€", "USD": "$", "GBP": "£", "INR": "₹", "KRW": "₩", "RUB": "₽", "TRY": "₺", "UAH": "₴",
        "NGN": "₦", "PHP": "₱", "VND": "₫", "ILS": "₪", "THB": "฿",
    }
)  # fmt: skip
"""Codes of currencies that have a sign."""


def magnitude(text: str) -> tuple[str, str] | None:
    """A number without its magnitude, and the magnitude, with the sign of its currency before it; None if it has none.

    A letter right behind the digits and without a currency is told from others by a question mark.

    Examples
    --------
    >>> magnitude("$1.2k"), magnitude("3,4 Mio. €"), magnitude("2bn"), magnitude("12M"), magnitude("12 m")
    (('$1.2', '$k'), ('3,4 €', '€Mio'), ('2', 'bn'), ('12', 'M?'), None)
    """
    if text[-1].isdecimal():
        return None
    sign = "" if text.isascii() and "$" not in text else next((sign for sign in SIGNS if sign in text), "")
    code = ""
    if not sign and (text.startswith(CURRENCIES) or text.endswith(CURRENCIES)):
        code = next(code for code in CURRENCIES if text.startswith(code) or text.endswith(code))
    if sign or code:
        rest = text.removesuffix(sign or code).rstrip()
        parts = TAIL.fullmatch(rest)
        if parts is None:
            return None
        word = parts["word"].lower()
        size = SHORT.get(word) or WORDS.get(word, "")
        behind = f" {sign or code}" if len(rest) < len(text) else ""
        return (parts["bare"] + behind, NAMES.get(code, sign or code) + size) if size else None
    parts = TAIL.fullmatch(text)
    if parts is None:
        return None
    word = parts["word"].lower()
    if word in WORDS:
        return parts["bare"], WORDS[word]
    if parts["word"] in OPEN and text == parts["bare"] + parts["word"]:
        return parts["bare"], parts["word"] + BEHIND
    return None


def rate(text: str) -> tuple[str, str] | None:
    """A number without the two units of a rate, and these as one; None if it is none.

    Examples
    --------
    >>> rate("12 €/kg"), rate("$5 / h"), rate("12 EUR/m²"), rate("7,5 l/100 km"), rate("80 km/h"), rate("3/4")
    (('12', '€/kg'), ('5', '$/h'), ('12', '€/m²'), ('7,5', 'l/100km'), ('80', 'km/h'), None)
    """
    for pattern in RATES:
        parts = pattern.fullmatch(text)
        if parts is not None:
            groups = parts.groupdict()
            code = groups.get("code") or ""
            unit = groups.get("unit") or groups.get("sign") or NAMES.get(code.upper(), code)
            return parts["bare"], f"{unit}/{parts['per'].replace(' ', '')}"
    return None


def with_letters(parts: Mapping[str, Moments]) -> dict[str, Moments]:
    """The sums of numbers by the mark beside them, letters right behind digits being what the column shows.

    Letters are magnitudes if at least two magnitudes are there and either half of the numbers have one or a number with
    a letter has decimals. A single letter is a unit if every number has it and some have decimals. Otherwise, the cells
    are no numbers.

    Examples
    --------
    >>> import numpy as np
    >>> one, two = Moments.of(np.array([12.0])), Moments.of(np.array([1.5]))
    >>> list(with_letters({"": one, "B?": one})), list(with_letters({"": one, "K?": one, "M?": two}))
    ([''], ['', 'k', 'M'])
    """
    behind = {mark: mark.removesuffix(BEHIND) for mark in parts if mark.endswith(BEHIND) and len(mark) > 1}
    if not behind:
        return dict(parts)
    others = {mark: its for mark, its in parts.items() if mark not in behind}
    marked = {COUNTS[OPEN[letter]] for letter in behind.values()}
    marked |= {COUNTS[mark] for mark in others if mark and mark in COUNTS}
    number = sum(its.n for mark, its in parts.items() if mark in behind or (mark and mark in COUNTS))
    decimals = not all(parts[mark].whole for mark in behind)
    plain = others.get("", Moments()).n
    if len(marked) > 1 and (decimals or number >= ENOUGH * (number + plain)):
        names = {mark: OPEN[letter] for mark, letter in behind.items()}
    elif len(marked) == 1 and not plain and (decimals or set(others) & set(OPEN.values())):
        names = {mark: OPEN[letter] if OPEN[letter] in others else letter for mark, letter in behind.items()}
    else:
        names = {}
    for mark, name in names.items():
        others[name] = others.get(name, Moments()) + parts[mark]
    return others
