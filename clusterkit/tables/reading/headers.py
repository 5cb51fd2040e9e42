"""Whether the first row of a text has names.

Numbers in the first row may be the names of columns too: years, channels, 0, 1, 2, ... Rows of data come in an order
that says nothing, or in one that goes on from row to row. So the signs (`signs_of`) are estimates, from the rows below,
of how likely a row of data is of the kind of the first one: the columns are taken to be independent, and a cell that
goes on with a slow series of its column proves nothing.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Self

import attrs
import numpy as np

from clusterkit.errors import TableWarning, counted, shortened
from clusterkit.tables.cells import parsing
from clusterkit.tables.cells.times import hours_of

__all__ = [
    "PREVIEW",
    "Above",
    "FirstRow",
    "first_row",
    "is_value",
    "looks_like_names",
    "names_again",
    "names_of_two_rows",
    "of_two_rows",
    "signs_of",
    "stripped",
    "tell_of_first_row",
    "tell_of_names",
    "without_again",
]


SURE = 5e-4
"""Probability of such a row of data, estimated from the rows below it, up to which the row has names."""

OPEN = 0.02
"""Probability up to which the row may have names: less than one of the fifty rows that are compared."""

FEWEST_RUN = 3
"""Fewest consecutive numbers that are a run, of step 1; with any other step one more is needed."""

FOLLOWING = 0.1
"""Largest share of pairs of whole numbers that follow each other, as those of two years do."""

NEAR_STEP = 0.25
"""Relative difference up to which steps are nearly even, such as those of rounded wavelengths."""

FEWEST_NEAR = 5
"""Fewest numbers with nearly even steps that may be names."""

SLOW = 0.35
"""Share of the interquartile range of a column up to which its median step makes it a series, as sorted and measured
ones are: of random rows it is 0.7, of a random walk of fifty steps about 0.2."""

ONE_STEP = 4
"""Largest step of a series, in median steps."""

FEWEST_SERIES = 5
"""Fewest rows that show a series, or the range of a column."""

MOSTLY = 0.9
"""Share of the numbers that must have decimals for a column to be one with decimals."""

COMPARED_ROWS = 12
"""Columns of a run that are compared; more only make a chance row less likely."""

PLAIN = re.compile(r"\d{1,9}(?:[.,]\d{1,9})?")
"""Pattern of numbers that may be names: no sign, no exponent, no separators of thousands."""

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
        Count of the numbers below that are written without decimals.
    """

    value: float
    whole: bool
    n: int
    values: tuple[float, ...]
    wholes: int

    @classmethod
    def of(cls, title: str, filled: Sequence[str]) -> Self | None:
        """The number in a title, with the cells below; None if the title is no plain number."""
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
        """Whether the number may be the first of a series of small steps in the column below."""
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
        """Frequency of each number in the column, with the first row."""
        total = self.n + 1
        return {value: count / total for value, count in Counter(map(_key, (self.value, *self.values))).items()}


def signs_of(numbers: Sequence[Above]) -> tuple[str, bool]:
    """Reason why the numbers of a first row are names, "" if no sign is strong; and whether there are weak signs.

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
    """The number that a text represents with a decimal point or, else, with a decimal comma."""
    value = parsing.number(text, ".")
    return parsing.number(text, ",") if value is None else value


def _key(value: float) -> float:
    """A value rounded so that errors of sums do not matter."""
    return round(value, 9)


def _permuted(numbers: Sequence[Above]) -> bool:
    """Whether a row below has the same numbers in another order, as ranks have."""
    first = sorted(above.value for above in numbers)
    return len(first) > 1 and any(sorted(row) == first for row in _rows(numbers))


def _rows(numbers: Sequence[Above]) -> Iterator[tuple[float, ...]]:
    """The rows of numbers below; none if any cell of these columns is a gap or no number."""
    if all(len(above.values) == len(numbers[0].values) == above.n for above in numbers):
        yield from zip(*(above.values for above in numbers), strict=True)


def _even(row: Sequence[float]) -> float:
    """The constant step between the numbers of a row; 0 if the steps differ or are 0."""
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
    """The probability of even steps in a row of data, estimated from the columns; 1 if the first row has none.

    Rows that begin with 0 or 1 and go on with steps of 1, then all rows with steps of 1, then those with any step: the
    narrowest kind that has the first row is counted.
    """
    step = _step(numbers)
    if not step:
        return 1.0
    compared = numbers[:COMPARED_ROWS]
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


PREVIEW = 50
"""Number of rows from which the delimiter and the header are detected."""

SHOWN = 4
"""Cells of the first row that a notice shows."""

COMPARED = 200
"""Columns that are checked for numbers that are names; more only cost time."""

FEWEST_LABELS = 5
"""Rows from which distinct whole numbers or dates below an empty first cell are taken for labels of the rows."""


@attrs.frozen
class FirstRow:
    """Decision about the first row of a table: names or data.

    Parameters
    ----------
    named : bool
        Whether it has the names of the columns.
    notice : str
        Notice to the user about the decision; empty where it is clear.
    names : tuple of str
        Names combined from the first two rows; empty where the first row has them alone.
    """

    named: bool
    notice: str = ""
    names: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows that have names."""
        return 2 if self.names else int(self.named)


def first_row(preview: list[list[str]], *, numbers: bool = False) -> FirstRow:
    """Decide whether the first of some rows of cells has names, which may be numbers, or data.

    Numbers are names where the row is of a kind that rows of the table would hardly be by chance: below an empty
    corner, evenly spaced, or whole above numbers with decimals.

    Parameters
    ----------
    preview : list of list of str
    numbers : bool, default False
        Whether words have been judged already, by the types of their cells, so that only numbers are checked.

    Examples
    --------
    >>> rows = [["0.5", "1.5", "-0.5"], ["0.1", "0.9", "1.2"]]
    >>> first_row([["2019", "2020", "2021"], *rows]).named, first_row([["0.3", "1.1", "0.7"], *rows]).named
    (True, False)
    """
    preview = without_again(preview)
    two = None if numbers else of_two_rows(preview)
    if two is not None:
        return two
    if not numbers and looks_like_names(preview):
        return FirstRow(True)
    reason, doubt = _number_names(preview)
    if not reason and not doubt:
        return FirstRow(False)
    shown = [shortened(cell.strip()) or "empty" for cell in preview[0][:SHOWN]]
    more = f" and {len(preview[0]) - SHOWN:,} more" if len(preview[0]) > SHOWN else ""
    row = f"the first row ({', '.join(shown)}{more})"
    if reason:
        return FirstRow(
            True,
            f"{row} is taken as the names of the columns, because {reason}; --no-header (header=False in Python) reads "
            "it as data",
        )
    return FirstRow(
        False,
        f"{row} is read as data, but looks unlike the rows below; if it has the names of the columns, use --header "
        "(header=True in Python); --no-header confirms that it is data",
    )


def stripped(row: Sequence[str]) -> list[str]:
    """Cells without blanks and marks of encodings around them."""
    return [cell.strip("\ufeff ") for cell in row]


def names_again(head: Sequence[Sequence[str]]) -> list[list[str]]:
    """The rows of names that are left out where they come again, without marks of encodings; none of numbers alone.

    Examples
    --------
    >>> names_again([["", "a "], ["1", "2"]]), names_again([["2019", ""]])
    ([['', 'a'], ['1', '2']], [])
    """
    rows = list(map(stripped, head))
    words = any(cell.lower() not in parsing.MISSING and not is_value(cell) for row in rows for cell in row)
    return rows if words else []


def without_again(preview: list[list[str]]) -> list[list[str]]:
    """Some rows without those below that are the first one again, or the second one, if that may have names too."""
    rows = preview
    for head in (1, 2):
        again = names_again(rows[head - 1 : head]) if head == 1 or not any(map(is_value, rows[1])) else []
        rows = [*rows[:head], *(row for row in rows[head:] if stripped(row) not in again)]
        if len(rows) == 1:
            break
    return rows


def tell_of_names(title: str, count: int, place: str) -> None:
    """Warn of rows that have the names of the columns again."""
    warnings.warn(
        f"{title}: the names of the columns come again in {counted(count, 'row')} below, the first one in {place}, as "
        f"where files were put together; {'it is' if count == 1 else 'they are'} left out",
        TableWarning,
        stacklevel=4,
    )


def of_two_rows(preview: Sequence[Sequence[str]], *, carry: bool = True) -> FirstRow | None:
    """The names combined from the first two rows, with a notice; None if these rows do not have names together."""
    names = names_of_two_rows(preview, carry=carry)
    if not names:
        return None
    shown = ", ".join(repr(shortened(name)) for name in names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    notice = (
        f"the first two rows are taken as the names of the columns, {shown}, because the second has words above "
        "numbers; --header (header=True in Python) takes the first row alone"
    )
    return FirstRow(True, notice, names)


def names_of_two_rows(preview: Sequence[Sequence[str]], *, carry: bool = True) -> tuple[str, ...]:
    """The names of columns that have them in two rows, each as the group and the name; none where one row has them.

    The second row has a word above every column of numbers. The first one has a name for several columns, or else names
    of its own above two columns of numbers or more, so that the second has units, for example.

    Parameters
    ----------
    preview : sequence of sequence of str
        Some rows, of equal length.
    carry : bool, default True
        Whether the name of a group goes on over empty cells.

    Examples
    --------
    >>> names_of_two_rows([["", "m", "", "n"], ["id", "a", "b", "a"], ["x", "1", "2", "3"]])
    ('id', 'm a', 'm b', 'n a')
    >>> names_of_two_rows([["size", "age"], ["cm", "years"], ["180", "31"]]), names_of_two_rows([["a"], ["b"], ["c"]])
    (('size cm', 'age years'), ())
    >>> names_of_two_rows([["m", "", "n", ""], ["a", "b", "c", ""], ["1", "2", "3", "checked"]])
    ('m a', 'm b', 'n c', '')
    """
    if len(preview) < 3 or len(preview[0]) < 2 or len(preview[0]) != len(preview[1]):
        return ()
    groups, names = ([cell.strip() for cell in row] for row in preview[:2])
    if any(name.lower() not in parsing.MISSING and is_value(name) for name in names):
        return ()
    below = [row for row in preview[2:] if len(row) == len(groups)]
    columns = [j for j in range(len(groups)) if _are_values([row[j] for row in below])]
    if not columns or any(names[j].lower() in parsing.MISSING for j in columns):
        return ()
    filled = [group for group in groups if group]
    grouped = bool(filled) and len(set(filled)) < len(groups)
    if not grouped and (len(columns) < 2 or any(map(is_value, groups))):
        return ()
    if any(names[j] and names[j] in (row[j].strip() for row in below) for j in range(len(groups))):
        return ()
    carried = ""
    both: list[str] = []
    for group, name in zip(groups, names, strict=True):
        carried = group or (carried if carry else "")
        above = carried if group or name else ""  # remarks beside the table have no name
        both.append(name if name == above else f"{above} {name}".strip())
    return tuple(both)


def tell_of_first_row(notice: str) -> None:
    """Warn with the notice about the first row, if there is one."""
    if notice:
        warnings.warn(notice, TableWarning, stacklevel=4)


def _number_names(preview: list[list[str]]) -> tuple[str, bool]:
    """Reason why a first row with numbers has names, "" if it has not, and whether it may have some nevertheless."""
    first = [cell.strip() for cell in preview[0]]
    below = [[cell.strip() for cell in row] for row in preview[1:] if len(row) == len(first)]
    corner = len(first) > 1 and not first[0]
    titles = first[1:] if corner else first
    if not below or any(title.lower() in parsing.MISSING for title in titles) or len(set(titles)) < len(titles):
        return "", False
    numbers = list[Above]()
    for j, title in enumerate(titles[:COMPARED], int(corner)):
        filled = [row[j] for row in below if row[j].lower() not in parsing.MISSING]
        if not is_value(title):
            if title in filled:
                return "", False
            continue
        above = Above.of(title, filled)
        if above is None:  # a date, a unit or a sign beside the number
            return "", False
        numbers.append(above)
    if corner and _are_labels([row[0] for row in below]) and not any(above.like for above in numbers):
        return "its first cell is empty, as above the labels of rows", False
    return signs_of(numbers)


def _are_labels(column: list[str]) -> bool:
    """Whether the cells below an empty first one identify the rows: a numbering, words, or whole numbers or dates."""
    if len(set(column)) < len(column) or any(cell.lower() in parsing.MISSING for cell in column):
        return False
    if not any(map(is_value, column)):
        return True
    if all(cell.isdecimal() for cell in column):
        start = int(column[0])
        numbering = start < 2 and [int(cell) for cell in column] == list(range(start, start + len(column)))
        return numbering or len(column) >= FEWEST_LABELS
    return len(column) >= FEWEST_LABELS and all(map(_is_moment, column))


def looks_like_names(preview: list[list[str]]) -> bool:
    """Whether no cell of the first row is a number or missing, or one is a word with only numbers below it."""
    below = [row for row in preview[1:] if len(row) == len(preview[0])]
    words = [
        cell.strip().lower() not in parsing.MISSING
        and (not is_value(cell) or (_is_moment(cell) and bool(below) and not any(_is_moment(row[j]) for row in below)))
        for j, cell in enumerate(preview[0])
    ]
    if all(words):
        return True
    return bool(below) and any(word and _are_values([row[j] for row in below]) for j, word in enumerate(words))


def _are_values(column: list[str]) -> bool:
    """Whether all filled cells are numbers or dates, and some are filled."""
    filled = [cell for cell in column if cell.strip().lower() not in parsing.MISSING]
    return bool(filled) and all(map(is_value, filled))


def is_value(cell: str) -> bool:
    """Whether a cell is a number, in whatever form, a time or a date."""
    cell = cell.strip()
    return any(parsing.number(cell, mark) is not None for mark in (".", ",")) or _is_moment(cell)


def _is_moment(cell: str) -> bool:
    """Whether a cell is a time or a date; above a column that has none it is a name, such as 2024-03 of a month."""
    cell = cell.strip()
    if hours_of(cell) is not None:
        return True
    return any(parsing.seconds(cell, form) is not None for form in (parsing.MONTH_FIRST, parsing.DAY_FIRST))
