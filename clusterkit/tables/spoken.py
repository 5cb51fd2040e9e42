"""Durations in words: 5h 10min, 2 days 3 hours, 45 min."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["spoken_hours"]

UNITS: Mapping[str, float] = MappingProxyType(
    dict.fromkeys(("w", "wk", "wks", "week", "weeks", "woche", "wochen"), 168.0)
    | dict.fromkeys(("d", "day", "days", "tag", "tage", "tagen"), 24.0)
    | dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "std", "stunde", "stunden"), 1.0)
    | dict.fromkeys(("m", "min", "mins", "minute", "minutes", "minuten"), 1 / 60)
    | dict.fromkeys(("s", "sec", "secs", "second", "seconds", "sek", "sekunde", "sekunden"), 1 / 3600)
)
"""Hours of each unit, in lower case. Months and years have no fixed length."""

PART = re.compile(r"(?P<number>\d{1,7}(?:[.,]\d{1,6})?)\s*(?P<unit>[^\W\d_]{1,8})\.?")
"""A number and its unit."""

BETWEEN = re.compile(r"\s*(?:,|and|und|\+)?\s*")
"""What may stand between two parts."""


def spoken_hours(text: str) -> tuple[float, bool] | None:
    """The hours of a duration in words, and whether it has several units; None if it is none.

    Units come from the longest to the shortest, each at most once.

    Examples
    --------
    >>> spoken_hours("5h 10min"), spoken_hours("2d 3h"), spoken_hours("45 min"), spoken_hours("1 hour and 30 minutes")
    ((5.166666666666667, True), (51.0, True), (0.75, False), (1.5, True))
    >>> spoken_hours("10min 5h"), spoken_hours("5 kg"), spoken_hours("5h ago")
    (None, None, None)
    """
    bare = text.lstrip("+-").lstrip()
    if not bare[:1].isdecimal() or bare[-1].isdecimal() or len(text) > len(bare) + 1:
        return None
    total, last, at, parts = 0.0, float("inf"), 0, 0
    while at < len(bare):
        part = PART.match(bare, at)
        size = UNITS.get(part["unit"].lower()) if part is not None else None
        if part is None or size is None or size >= last:
            return None
        total += float(part["number"].replace(",", ".")) * size
        last, at, parts = size, part.end(), parts + 1
        if at < len(bare):
            between = BETWEEN.match(bare, at)
            at = at if between is None else between.end()
    return (-total if text.startswith("-") else total), parts > 1
