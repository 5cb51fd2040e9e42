"""Times of day and durations: reading of their texts, and the sums that tell one from the other.

A time of day becomes hours since midnight. Where times lie on both sides of midnight, as those of a night shift do, the
day is counted from another hour without times instead, so that 23:50 and 0:10 stay neighbours. Durations may be in
words: 5h 10min, 2 days 3 hours, 45 min.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import final

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit.tables.cells.moments import Moments
from clusterkit.tables.cells.parsing import LONGEST

WORDS_FOR_UNITS = """
604800 w wk wks week weeks woche wochen
86400 d day days tag tage tagen
3600 h hr hrs hour hours std stunde stunden
60 m min mins minute minutes minuten
1 s sec secs second seconds sek sekunde sekunden
"""
"""The seconds of a unit, and the words for it, in each line."""

UNITS: Mapping[str, float] = MappingProxyType(
    {word: int(line.split()[0]) / 3600 for line in WORDS_FOR_UNITS.strip().split("\n") for word in line.split()[1:]}
)
"""Hours of each unit, in lower case. Months and years have no fixed length."""

PART = re.compile(r"(?P<number>\d{1,7}(?:[.,]\d{1,6})?)\s*(?P<unit>[^\W\d_]{1,8})\.?")
"""Pattern of a number and its unit."""

BETWEEN = re.compile(r"\s*(?:,|and|und|\+)?\s*")
"""Pattern of the text between two parts."""


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


TIME, DURATION = "time of day", "duration"
"""Kinds of a text such as 14:35."""

CLOCKS = ("", TIME, DURATION)
"""Kinds of a column of numbers: plain numbers, or hours of a time of day or of a duration."""

DAY = 24
"""Hours of a day."""

CLOCK = re.compile(
    r"(?P<sign>[+-])?(?P<hour>\d{1,4}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d(?:[.,]\d{1,9})?))?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
)
"""Pattern of hours, minutes and perhaps seconds, of 24 or of twice 12 hours."""

DAYS = re.compile(r"(?P<days>[+-]?\d{1,6}) days?,?(?: (?P<rest>[+-]?\d{1,2}:[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?))?")
"""A duration as pandas and Python write it: 1 days 02:03:04."""

ISO = re.compile(
    r"(?P<sign>-)?P(?:(?P<days>\d{1,6})D)?(?:T(?:(?P<hours>\d{1,6})H)?(?:(?P<minutes>\d{1,7})M)?"
    r"(?:(?P<seconds>\d{1,9}(?:\.\d{1,9})?)S)?)?"
)
"""A duration as ISO 8601, and with it Polars, writes it: PT1H23M45S."""

EMPTY = 0.01
"""Share of the times up to which an hour counts as empty: times spread over the whole day have four times as many in
each."""

SHORTEST_GAP = 2
"""Smallest number of consecutive hours without times for the day to be counted from their middle."""

CLOCK_NAME = re.compile(r"time|hour|clock|hhmm|uhr|(^|[\W_])(dep|arr|departure|arrival|start|end)([\W_]|$)")
"""Names of columns of times of day. Of numbers up to 2359 by chance four in ten have minutes above 59, so that twenty
different minutes below show a clock in columns of any name, and six in those."""

FEWEST_TIMES = 20
"""Smallest number of numbers that are checked for times."""

LONGEST_RUN = 13.0
"""Hours below which times written as 1:23:45, with seconds and without a zero before the hour, are durations; a column
of times of day would have some in the afternoon, or in the evening."""


def hours_of(text: str) -> tuple[float, str] | None:
    """The hours that a text represents, and what it can be: `TIME`, `DURATION`, or "" for both; None for neither.

    Examples
    --------
    >>> hours_of("14:30"), hours_of("2:30 PM"), hours_of("30:15:00"), hours_of("0 days 01:30:00"), hours_of("PT1H30M")
    ((14.5, ''), (14.5, 'time of day'), (30.25, 'duration'), (1.5, 'duration'), (1.5, 'duration'))
    >>> hours_of("14:60"), hours_of("13:00 PM"), hours_of("3:1"), hours_of("1h 30min"), hours_of("45 min")
    (None, None, None, (1.5, 'duration'), (0.75, 'duration'))
    """
    if not 2 <= len(text) <= LONGEST:
        return None
    if ":" in text and (parts := CLOCK.fullmatch(text)) is not None:
        return _of_clock(parts)
    if "day" in text and (parts := DAYS.fullmatch(text)) is not None:
        rest = CLOCK.fullmatch(parts["rest"] or "0:00")
        read = None if rest is None else _of_clock(rest)
        return None if read is None else (DAY * float(parts["days"]) + read[0], DURATION)
    if text.lstrip("-").startswith("P") and (parts := ISO.fullmatch(text)) is not None:
        days, hours, minutes, secs = (float(parts[name] or 0) for name in ("days", "hours", "minutes", "seconds"))
        if not any(parts[name] for name in ("days", "hours", "minutes", "seconds")):
            return None
        value = DAY * days + hours + minutes / 60 + secs / 3600
        return (-value if parts["sign"] else value), DURATION
    words = spoken_hours(text)
    return None if words is None else (words[0], DURATION)


def _of_clock(parts: re.Match[str]) -> tuple[float, str] | None:
    """The hours of a text with a colon."""
    hour = int(parts["hour"])
    rest = int(parts["minute"]) / 60 + float((parts["second"] or "0").replace(",", ".")) / 3600
    if parts["half"]:
        if not 1 <= hour <= 12 or parts["sign"]:
            return None
        return hour % 12 + 12 * (parts["half"] in "Pp") + rest, TIME
    if parts["sign"]:
        return (-(hour + rest) if parts["sign"] == "-" else hour + rest), DURATION
    return hour + rest, DURATION if hour + rest > DAY else ""


def hours_of_digits(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The hours that numbers such as 517 and 2359 represent, nan for those that are no time of a clock.

    Examples
    --------
    >>> hours_of_digits(np.array([530.0, 2400.0, 575.0, 5.5])).tolist()
    [5.5, 24.0, nan, nan]
    """
    with np.errstate(invalid="ignore"):
        hours, minutes = np.floor_divide(values, 100.0), np.mod(values, 100.0)
        valid = (values >= 0) & (values <= 100.0 * DAY) & (minutes < 60) & (values == np.floor(values))
    return np.where(valid, hours + minutes / 60, np.nan)


def seconds_of(value: object) -> float:
    """The seconds of a duration of Python, numpy or pandas; nan for other values, such as pandas's NaT."""
    if isinstance(value, np.timedelta64):
        return math.nan if np.isnat(value) else float(value / np.timedelta64(1, "s"))
    return value.total_seconds() if isinstance(value, datetime.timedelta) else math.nan


def clock_text(seconds: float) -> str:
    """A duration as people write it.

    Examples
    --------
    >>> clock_text(5025.0), clock_text(-90.5), clock_text(360000.0)
    ('1:23:45', '-0:01:30.5', '100:00:00')
    """
    whole, part = divmod(abs(seconds), 1.0)
    minutes, last = divmod(int(whole), 60)
    fraction = f"{part:.6f}".rstrip("0")[1:].removesuffix(".") if part < 0.9999995 else ""
    return f"{'-' if seconds < 0 else ''}{minutes // 60}:{minutes % 60:02d}:{last:02d}{fraction}"


@final
@attrs.frozen
class ClockSums:
    """Sums of the hours of a column, which add up over blocks of rows.

    Parameters
    ----------
    by_hour : mapping of int to Moments
        Texts that can be times of day, in hours since midnight, by the hour.
    lasting : Moments
        Texts that can only be durations, and columns that came as durations, in hours.
    times : int
        Texts that can only be times of day: with AM or PM, or a zero before the hour.
    runs : int
        Texts such as 1:23:45, with seconds and without a zero before the hour.
    native : bool
        Whether the column came as durations.
    single : Moments
        Texts of a number and one unit, such as 45 min: durations where others have several units, as 5h 10min, or a
        colon; else they are numbers with a unit.
    minutes : frozenset of int
        The different minutes of numbers such as 517, which may be times without a colon.
    """

    by_hour: Mapping[int, Moments] = attrs.field(factory=dict)
    lasting: Moments = attrs.field(factory=Moments)
    times: int = 0
    runs: int = 0
    native: bool = False
    single: Moments = attrs.field(factory=Moments)
    minutes: frozenset[int] = frozenset()

    @classmethod
    def of_texts(cls, counts: Mapping[str, int]) -> ClockSums:
        """The sums of texts, by how often each occurs."""
        hours: dict[int, list[tuple[float, int]]] = {}
        lasting: list[tuple[float, int]] = []
        single: list[tuple[float, int]] = []
        times = runs = 0
        for text, count in counts.items():
            read = hours_of(text)
            if read is None:
                continue
            value, kind = read
            if kind == DURATION:
                words = None if "day" in text and DAYS.fullmatch(text) else spoken_hours(text)
                (lasting if words is None or words[1] else single).append((value, count))
                continue
            hours.setdefault(min(int(value), DAY - 1), []).append((value, count))  # 24:00 ends a day
            times += count * (kind == TIME or (text.startswith("0") and text[1:2] != ":"))
            runs += count * (text.count(":") == 2 and text[1:2] == ":")
        by_hour = {hour: _moments(pairs) for hour, pairs in hours.items()}
        return cls(by_hour, _moments(lasting), times, runs, single=_moments(single))

    @classmethod
    def of_digits(cls, values: NDArray[np.float64], counts: NDArray[np.generic] | None = None) -> ClockSums:
        """The sums of numbers such as 517 and 2359; empty if one of them is no time of a clock."""
        hours = hours_of_digits(values)
        if not len(hours) or np.isnan(hours).any():
            return cls()
        weights = np.ones(len(hours)) if counts is None else counts
        hour = np.minimum(hours, DAY - 1).astype(np.intp)
        by_hour = {int(h): Moments.of(hours[hour == h], weights[hour == h]) for h in np.unique(hour)}
        return cls(by_hour, minutes=frozenset(np.unique(np.mod(values, 100.0)).astype(int).tolist()))

    def are_times(self, name: str) -> bool:
        """Whether numbers such as 517 are times: none has minutes above 59, in many hours, or fewer by the name."""
        fewest_hours, fewest_minutes = (3, 6) if CLOCK_NAME.search(name.lower()) else (12, 20)
        return self.n >= FEWEST_TIMES and len(self.by_hour) >= fewest_hours and len(self.minutes) >= fewest_minutes

    def __add__(self, other: ClockSums) -> ClockSums:
        """The sums of both blocks of rows."""
        both = {*self.by_hour, *other.by_hour}
        by_hour = {hour: self.by_hour.get(hour, Moments()) + other.by_hour.get(hour, Moments()) for hour in both}
        return ClockSums(
            by_hour, self.lasting + other.lasting, self.times + other.times, self.runs + other.runs,
            self.native or other.native, self.single + other.single, self.minutes | other.minutes,
        )  # fmt: skip

    @property
    def n(self) -> int:
        """Texts that are times of day or durations."""
        return self.lasting.n + self.words.n + sum(moments.n for moments in self.by_hour.values())

    @property
    def words(self) -> Moments:
        """The sums of the texts of one unit, if they are durations."""
        return self.single if self.lasting.n else Moments()

    def kind(self) -> str:
        """`TIME` or `DURATION`.

        A column is one of durations if some of its cells can be nothing else, or if it has cells such as 1:23:45, none
        with a zero before the hour, and none from `LONGEST_RUN` hours on.
        """
        if self.lasting.n:
            return DURATION
        latest = max((moments.high for moments in self.by_hour.values()), default=0.0)
        return DURATION if self.runs and not self.times and latest < LONGEST_RUN else TIME

    def begin(self) -> float:
        """The hour at which the day begins: midnight, or else one in the longest stretch of hours without times.

        A day begins at midnight unless there are times before and after it, and where it has times all around.
        """
        end, hours = self._gap()
        if self.kind() == DURATION or end == 0 or hours < SHORTEST_GAP:
            return 0.0
        return float(end - (hours + 1) // 2)

    def is_round(self) -> bool:
        """Whether there are times all around the clock, so that no hour is a natural begin of the day."""
        return self.kind() == TIME and self._gap()[1] < SHORTEST_GAP

    def _gap(self) -> tuple[int, int]:
        """The end and the length of the longest stretch of hours without times; the one at midnight is preferred."""
        most = EMPTY * self.n
        filled = [hour in self.by_hour and self.by_hour[hour].n > most for hour in range(DAY)]
        if not (filled[0] and filled[-1]):
            return 0, DAY
        ends = [hour for hour in range(1, DAY) if filled[hour] and not filled[hour - 1]]
        runs = {end: next(n for n in range(DAY) if filled[end - n - 1]) for end in ends}
        end = max(runs, key=lambda hour: runs[hour], default=0)
        return end, runs.get(end, 0)

    def moments(self, begin: float = 0.0) -> Moments:
        """The sums of all hours, with times of day before `begin` counted as of the next day."""
        parts = [_later(its) if hour < begin else its for hour, its in sorted(self.by_hour.items())]
        return _sum([self.lasting, self.words, *parts])


def _sum(parts: Iterable[Moments]) -> Moments:
    total = Moments()
    for part in parts:
        total = total + part
    return total


def _later(moments: Moments) -> Moments:
    """The sums of the same times on the next day."""
    return attrs.evolve(
        moments, mean=moments.mean + DAY, low=moments.low + DAY, high=moments.high + DAY,
        values=tuple(value + DAY for value in moments.values),
    )  # fmt: skip


def _moments(pairs: list[tuple[float, int]]) -> Moments:
    return Moments.of(np.array([value for value, _ in pairs]), np.array([count for _, count in pairs]))


def reader(clock: str, begin: float, *, digits: bool = False) -> Callable[[str], float | None]:
    """Parser of hours: a time of day on the day that starts at `begin`, also without a colon, or a duration."""

    def read(text: str) -> float | None:
        parts = hours_of(text)
        if digits and parts is None and text.isdecimal() and len(text) <= 4:
            hours = float(hours_of_digits(np.array([float(text)]))[0])
            parts = None if math.isnan(hours) else (hours, TIME)
        if parts is None or (clock == TIME and parts[1] == DURATION):
            return None
        return parts[0] + DAY if clock == TIME and parts[0] < begin else parts[0]

    return read
