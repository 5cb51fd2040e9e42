"""Whether the first row of a text has names.

Numbers in the first row may be the names of columns too: years, channels, 0, 1, 2, ... They are names where a row of
data would hardly be of their kind, by the columns below, which are taken to be independent. A column that goes on with
its number, as a slow series does, proves nothing.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Sequence
from itertools import pairwise

import attrs
import numpy as np

from clusterkit.errors import TableWarning, first_names, shortened
from clusterkit.tables.cells import parsing
from clusterkit.tables.cells.times import hours_of

SURE = 5e-4
"""Probability of such a row of data, estimated from the rows below it, up to which the row has names."""

FEWEST_RUN = 3
"""Fewest consecutive whole numbers that are a run; with another step one more is needed."""

FOLLOWING = 0.1
"""Largest share of pairs of whole numbers that follow each other, as those of two years do."""

SLOW = 0.35
"""Share of the interquartile range of a column up to which its median step makes it a series, as sorted and measured
ones are: of random rows it is 0.7, of a random walk of fifty steps about 0.2."""

ONE_STEP = 4
"""Largest step of a series, in median steps."""

FEWEST_SERIES = 5
"""Fewest rows that show a series."""

MOSTLY = 0.9
"""Share of the numbers that must have decimals for a column to be one with decimals."""

PLAIN = re.compile(r"\d{1,9}(?:[.,]\d{1,9})?")
"""Pattern of numbers that may be names: no sign, no exponent, no separators of thousands."""

WHOLE = re.compile(r"[+-]?\d+")
"""A whole number."""


@attrs.frozen
class _Above:
    """A number in the first row, as a text, and the filled cells of its column below."""

    title: str
    cells: list[str]

    @property
    def value(self) -> float:
        """The number."""
        return _value(self.title) or 0.0

    @property
    def values(self) -> list[float]:
        """The numbers below."""
        return [number for number in map(_value, self.cells) if number is not None]

    @property
    def decimals(self) -> bool:
        """Whether the cells below are numbers that are written with decimals, but for a few."""
        return 0 < len(self.cells) == len(self.values) and self._wholes <= (1 - MOSTLY) * len(self.cells)

    @property
    def whole(self) -> bool:
        """Whether the number is written without decimals."""
        return WHOLE.fullmatch(self.title) is not None

    @property
    def _wholes(self) -> int:
        return sum(WHOLE.fullmatch(cell) is not None for cell in self.cells)

    @property
    def goes_on(self) -> bool:
        """Whether the number may be the first of a series of small steps in the column below."""
        values = self.values
        if len(values) < max(FEWEST_SERIES, len(self.cells)):
            return False
        step = float(np.median(np.abs(np.diff(values))))
        low, high = np.quantile(values, (0.25, 0.75))
        return step <= SLOW * float(high - low) and abs(self.value - values[0]) <= ONE_STEP * step

    @property
    def by_form(self) -> float:
        """Chance of a number of this form in the column: 1 where the others have the same form, or go on with it."""
        unlike = (self.decimals and self.whole) or not self.values
        return (self._wholes + 1) / (len(self.cells) + 1) if unlike and self.cells and not self.goes_on else 1.0


def _sign_of(numbers: Sequence[_Above]) -> str:
    """Reason why all numbers of a first row are names; "" if there is none.

    Examples
    --------
    >>> rows = ["0.5", "-0.1"]
    >>> _sign_of([_Above(title, rows) for title in ("7", "8", "9")]), _sign_of([_Above("0.3", rows)])
    ('its numbers are consecutive and whole, above numbers with decimals', '')
    """
    values, series = [above.value for above in numbers], any(above.goes_on for above in numbers)
    step, decimals = _even(values), all(above.decimals and above.whole for above in numbers)
    rows = [row for row in zip(*(above.values for above in numbers), strict=False) if len(row) == len(values)]
    if step and len(values) >= FEWEST_RUN and not series and not any(map(_even, rows)):
        if step == 1.0 and decimals:
            return "its numbers are consecutive and whole, above numbers with decimals"
        equal = math.prod((above.values.count(above.value) + 1) / (len(above.cells) + 1) for above in numbers)
        if step == 1.0 and equal <= SURE and all(above.whole for above in numbers):
            return "its numbers are consecutive"
        apart = all(not min(above.values) <= above.value <= max(above.values) for above in numbers if above.values)
        if apart and equal <= SURE and len(values) > FEWEST_RUN:
            return f"its numbers are {'consecutive' if abs(step) == 1.0 else 'evenly spaced'}"
    forms = [above.by_form for above in numbers]
    pair = decimals and len(values) == 2 and step == 1.0
    unlike = all(form < 1.0 or above.goes_on for form, above in zip(forms, numbers, strict=True))
    if numbers and unlike and math.prod(forms) * (FOLLOWING if pair else 1.0) <= SURE:
        what = "whole, above numbers with decimals" if decimals else "above words, or whole above numbers with decimals"
        return f"its numbers are {what}"
    return ""


def _value(text: str) -> float | None:
    """The number that a text represents with a decimal point or, else, with a decimal comma."""
    value = parsing.number(text, ".")
    return parsing.number(text, ",") if value is None else value


def _even(row: Sequence[float]) -> float:
    """The constant step between the numbers of a row; 0 if the steps differ or are 0, or there is none."""
    steps = {round(after - before, 9) for before, after in pairwise(row)}
    return steps.pop() if len(steps) == 1 else 0.0


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
    two = None if numbers else of_two_rows(preview)
    if two is not None:
        return two
    if not numbers and looks_like_names(preview):
        return FirstRow(True)
    reason = _number_names(preview)
    if not reason:
        return FirstRow(False)
    shown = [shortened(cell.strip()) or "empty" for cell in preview[0][:SHOWN]]
    more = f" and {len(preview[0]) - SHOWN:,} more" if len(preview[0]) > SHOWN else ""
    row = f"the first row ({', '.join(shown)}{more})"
    return FirstRow(
        True,
        f"{row} is taken as the names of the columns, because {reason}; --no-header (header=False in Python) reads it "
        "as data",
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

    Names stand in two rows if the second one has a word above every column of numbers, and the first one has either a
    name for several columns, or a name above two or more columns of numbers (the second row may then have units).

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
    below = [row for row in preview[2:] if len(row) == len(groups) and row not in preview[:2]]
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


def is_again(row: Sequence[str], header: Sequence[Sequence[str]]) -> bool:
    """Whether a row has the names of the columns again, as where files were put together.

    Parameters
    ----------
    row : sequence of str
        Cells.
    header : sequence of list of str
        What `may_repeat` gives.
    """
    return [cell.strip() for cell in row] in header


def may_repeat(rows: Iterable[Sequence[str]], *, chosen: bool) -> list[list[str]]:
    """Those of the rows of names that are names where they come again: of several, a word among them if a user chose.

    A row of data may be 0, 1 like the names of two columns that a user says are names.
    """
    texts = [[cell.strip() for cell in row] for row in rows]
    return [row for row in texts if len(row) > 1 and not (chosen and all(map(is_value, row)))]


def tell_of_repeats(title: str, places: Sequence[int], where: str) -> None:
    """Warn that the names come again at these places, and are left out there."""
    if places:
        at = first_names([str(place) for place in places], 5)
        warnings.warn(
            f"{title}: the names of the columns come again, in {where} {at}; left out there",
            TableWarning,
            stacklevel=4,
        )


def tell_of_first_row(notice: str) -> None:
    """Warn with the notice about the first row, if there is one."""
    if notice:
        warnings.warn(notice, TableWarning, stacklevel=4)


def _number_names(preview: list[list[str]]) -> str:
    """Reason why a first row with numbers has names; "" if it has not."""
    first = [cell.strip() for cell in preview[0]]
    below = [[cell.strip() for cell in row] for row in preview[1:] if len(row) == len(first)]
    corner = len(first) > 1 and not first[0]
    titles = first[1:] if corner else first
    if not below or any(title.lower() in parsing.MISSING for title in titles) or len(set(titles)) < len(titles):
        return ""
    numbers = list[_Above]()
    for j, title in enumerate(titles[:COMPARED], int(corner)):
        filled = [row[j] for row in below if row[j].lower() not in parsing.MISSING]
        if not is_value(title):
            if filled.count(title) > preview[1:].count(preview[0]):  # names may come again
                return ""
            continue
        if not PLAIN.fullmatch(title):  # a date, a unit or a sign beside the number
            return ""
        numbers.append(_Above(title, filled))
    like = any(above.decimals and not above.whole for above in numbers)
    if corner and not like and _are_labels([row[0] for row in below]):
        return "its first cell is empty, as above the labels of rows"
    return _sign_of(numbers)


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


def are_levels(preview: list[list[str]]) -> bool:
    """Whether most cells of the first row are below it too, each in its column, as the levels of categories are.

    Examples
    --------
    >>> are_levels([["y", "n"], ["n", "n"], ["y", "y"]]), are_levels([["a", "b"], ["y", "n"], ["a", "b"]])
    (True, False)
    """
    others = [row for row in preview[1:] if row != preview[0]]
    below = [cell in column for cell, column in zip(preview[0], zip(*others, strict=False), strict=False)]
    return 2 * sum(below) > len(preview[0])


def looks_like_names(preview: list[list[str]]) -> bool:
    """Whether no cell of the first row is a number or missing, or one is a word with only numbers below it."""
    below = [row for row in preview[1:] if len(row) == len(preview[0])]
    words = [
        cell.strip().lower() not in parsing.MISSING
        and (not is_value(cell) or (_is_moment(cell) and bool(below) and not any(_is_moment(row[j]) for row in below)))
        for j, cell in enumerate(preview[0])
    ]
    if all(words):
        return not are_levels(preview)
    return bool(below) and any(word and _are_values([row[j] for row in below]) for j, word in enumerate(words))


def _are_values(column: list[str]) -> bool:
    """Whether all filled cells are numbers or dates, and some are filled."""
    filled = [cell for cell in column if cell.strip().lower() not in parsing.MISSING]
    return bool(filled) and all(map(is_value, filled))


def is_value(cell: str) -> bool:
    """Whether a cell is a number, in whatever form, a time or a date."""
    cell = parsing.plain(cell)
    return any(parsing.number(cell, mark) is not None for mark in (".", ",")) or _is_moment(cell)


def _is_moment(cell: str) -> bool:
    """Whether a cell is a time or a date; above a column that has none it is a name, such as 2024-03 of a month."""
    cell = cell.strip()
    if hours_of(cell) is not None:
        return True
    return any(parsing.seconds(cell, form) is not None for form in (parsing.MONTH_FIRST, parsing.DAY_FIRST))
