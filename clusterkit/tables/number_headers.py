"""Whether numbers in the first row of a text are the names of its columns: years, channels, 0, 1, 2, ...

Rows of data come in an order that says nothing, or in one that goes on from row to row. So the signs are estimates,
from the rows below, of how likely a row of data is of the kind of the first one: the columns are taken to be
independent, and a cell that goes on with a slow series of its column proves nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Self

import attrs
import numpy as np

from clusterkit.tables import cells

__all__ = ["Above", "signs_of"]

SURE = 5e-4
"""Probability, by the rows below, of such a row of data, up to which the row has names."""

OPEN = 0.02
"""Probability up to which it may have some: less than one of the fifty rows that are looked at."""

FEWEST_RUN = 3
"""Numbers that must follow each other to be a run, of step 1; with any other step one more is needed."""

FOLLOWING = 0.1
"""Share of pairs of whole numbers that follow each other, at most, as those of two years do."""

NEAR_STEP = 0.25
"""Relative difference of steps that are nearly even, as those of rounded wavelengths."""

FEWEST_NEAR = 5
"""Numbers with nearly even steps that may be names."""

SLOW = 0.35
"""Share of the interquartile range of a column up to which its median step makes it a series, as sorted and measured
ones are: of random rows it is 0.7, of a random walk of fifty steps about 0.2."""

ONE_STEP = 4
"""Median steps that one step of a series may be long."""

FEWEST_SERIES = 5
"""Rows from which a series, or the range of a column, can be seen."""

MOSTLY = 0.9
"""Share of the numbers that must have decimals for a column to be one with decimals."""

COMPARED = 12
"""Columns of a run that are looked at; more only make a chance row less likely."""

PLAIN = re.compile(r"\d{1,9}(?:[.,]\d{1,9})?")
"""Numbers that may be names: no sign, no exponent, no mark between thousands."""

WHOLE = re.compile(r"[+-]?\d+")
"""A whole number."""


@attrs.frozen
class Above:
    """A number in the first row, and the filled cells of its column below.

    Parameters
    ----------
    value : float
    whole : bool
        Whether it is written without decimals.
    n : int
        Number of filled cells below.
    values : tuple of float
        The numbers below.
    wholes : int
        How many of these are written without decimals.
    """

    value: float
    whole: bool
    n: int
    values: tuple[float, ...]
    wholes: int

    @classmethod
    def of(cls, title: str, filled: Sequence[str]) -> Self | None:
        """The number that a title is above its cells; None for one that is no plain number."""
        value = _value(title) if PLAIN.fullmatch(title) else None
        if value is None:
            return None
        values = tuple(number for number in map(_value, filled) if number is not None)
        wholes = sum(WHOLE.fullmatch(cell) is not None for cell in filled)
        return cls(value, WHOLE.fullmatch(title) is not None, len(filled), values, wholes)

    @property
    def words(self) -> bool:
        """Whether no cell below is a number."""
        return self.n > 0 and not self.values

    @property
    def decimals(self) -> bool:
        """Whether the numbers below are written with decimals, but for a few."""
        return 0 < self.n == len(self.values) and self.wholes <= (1 - MOSTLY) * self.n

    @property
    def like(self) -> bool:
        """Whether the number has decimals as those below."""
        return self.decimals and not self.whole

    @property
    def goes_on(self) -> bool:
        """Whether the column below is a series of small steps that the number may begin."""
        if len(self.values) < max(FEWEST_SERIES, self.n):
            return False
        step = float(np.median(np.abs(np.diff(self.values))))
        low, high = np.quantile(self.values, (0.25, 0.75))
        return step <= SLOW * float(high - low) and abs(self.value - self.values[0]) <= ONE_STEP * step

    @property
    def by_size(self) -> float:
        """Chance of a number of this size: 1 unless it is farther from those below than these are from each other."""
        if len(self.values) < max(FEWEST_SERIES, self.n):
            return 1.0
        low, high = min(self.values), max(self.values)
        return 1.0 / (self.n + 1) if max(low - self.value, self.value - high) > high - low else 1.0

    @property
    def by_form(self) -> float:
        """Chance of a number of this form in the column: 1 where the others have the same form."""
        if self.goes_on:
            return 1.0
        if self.words:
            return 1.0 / (self.n + 1)
        return (self.wholes + 1) / (self.n + 1) if self.decimals and self.whole else 1.0

    def frequencies(self) -> dict[float, float]:
        """How frequent each number is in the column, with the first row."""
        total = self.n + 1
        return {value: count / total for value, count in Counter(map(_key, (self.value, *self.values))).items()}


def signs_of(numbers: Sequence[Above]) -> tuple[str, bool]:
    """Why the numbers of a first row are names, "" if no sign is strong; and whether there are weak ones.

    Parameters
    ----------
    numbers : sequence of Above
        All numbers of the row.

    Examples
    --------
    >>> rows = ["0.5", "-0.1"]
    >>> signs_of([Above.of(title, rows) for title in ("7", "8", "9")])
    ('its numbers are consecutive and whole, above numbers with decimals', False)
    >>> signs_of([Above.of(title, rows) for title in ("0.3", "0.2")])
    ('', False)
    """
    if not numbers or _permuted(numbers):
        return "", False
    decimals = all(above.decimals and above.whole for above in numbers)
    series = any(above.goes_on for above in numbers)
    run = _chance_of_run(numbers)
    if decimals and not series and _step(numbers) == 1.0:
        return "its numbers are consecutive and whole, above numbers with decimals", False
    if run <= SURE:
        return f"its numbers are {'consecutive' if abs(_step(numbers)) == 1.0 else 'evenly spaced'}", False
    forms = [above.by_form for above in numbers]
    every = all(form < 1.0 or above.goes_on for form, above in zip(forms, numbers, strict=True))
    pair = decimals and len(numbers) == 2 and numbers[1].value - numbers[0].value == 1.0
    if every and math.prod(forms) * (FOLLOWING if pair else 1.0) <= SURE:
        what = "whole, above numbers with decimals" if decimals else "above words, or whole above numbers with decimals"
        return f"its numbers are {what}", False
    sizes = [min(form, above.by_size) for form, above in zip(forms, numbers, strict=True)]
    unlike = math.prod(sizes) if max(sizes) < 1.0 else 1.0
    return "", run <= OPEN or unlike <= OPEN or _nearly_even([above.value for above in numbers])


def _value(text: str) -> float | None:
    """The number that a text is with a point or, else, with a comma before decimals."""
    value = cells.number(text, ".")
    return cells.number(text, ",") if value is None else value


def _key(value: float) -> float:
    """A value without the rounding of sums."""
    return round(value, 9)


def _permuted(numbers: Sequence[Above]) -> bool:
    """Whether a row below has the same numbers in another order, as ranks have."""
    first = sorted(above.value for above in numbers)
    return len(first) > 1 and any(sorted(row) == first for row in _rows(numbers))


def _rows(numbers: Sequence[Above]) -> Iterator[tuple[float, ...]]:
    """The rows below, where no cell of these columns is a gap or no number."""
    if all(len(above.values) == len(numbers[0].values) == above.n for above in numbers):
        yield from zip(*(above.values for above in numbers), strict=True)


def _even(row: Sequence[float]) -> float:
    """The step between the numbers of a row; 0 where they have none, or different ones."""
    steps = {_key(after - before) for before, after in pairwise(row)}
    return steps.pop() if len(steps) == 1 else 0.0


def _step(numbers: Sequence[Above]) -> float:
    """The step between numbers that are a run; 0 where they are none, or rows below are runs too."""
    step = _even([above.value for above in numbers])
    if step != 1.0 or not all(above.whole for above in numbers):
        step = 0.0 if len(numbers) <= FEWEST_RUN else step
    if len(numbers) < FEWEST_RUN or not step or any(_even(row) for row in _rows(numbers)):
        return 0.0
    return step


def _chance_of_run(numbers: Sequence[Above]) -> float:
    """The probability of a row of data with even steps, as far as the columns tell; 1 where the first row has none.

    Rows that begin with 0 or 1 and go on with steps of 1, then all rows with steps of 1, then those with any step: the
    narrowest kind that has the first row is counted.
    """
    step = _step(numbers)
    if not step:
        return 1.0
    compared = numbers[:COMPARED]
    frequencies = [above.frequencies() for above in compared]
    free = [above.goes_on for above in compared]
    starts = list(frequencies[0])
    if step == 1.0:
        runs = [(start, 1.0) for start in ((0.0, 1.0) if numbers[0].value in (0.0, 1.0) else starts)]
    else:
        runs = [(a, b - a) for a, b in product(starts, frequencies[1]) if a != b]
    chance = 0.0
    for start, width in runs:
        its = 1.0
        for j, (known, goes_on) in enumerate(zip(frequencies, free, strict=True)):
            its *= 1.0 if goes_on else known.get(_key(start + j * width), 0.0)
            if not its:
                break
        chance += its
    return min(chance, 1.0)


def _nearly_even(row: Sequence[float]) -> bool:
    """Whether several numbers rise with nearly even steps."""
    if len(row) < FEWEST_NEAR:
        return False
    steps = np.diff(row)
    middle = float(np.median(steps))
    return middle > 0.0 and bool((np.abs(steps - middle) <= NEAR_STEP * middle).all())
