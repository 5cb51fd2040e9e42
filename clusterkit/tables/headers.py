"""Whether the first row of a text has names."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import attrs

from clusterkit.core.wording import shortened
from clusterkit.tables import cells
from clusterkit.tables.clocks import hours_of
from clusterkit.tables.errors import TableWarning
from clusterkit.tables.number_headers import Above, signs_of

__all__ = [
    "PREVIEW", "FirstRow", "first_row", "is_value", "looks_like_names", "names_of_two_rows", "of_two_rows",
    "tell_of_first_row",
]  # fmt: skip

PREVIEW = 50
"""Number of rows from which the delimiter and the header are detected."""

SHOWN = 4
"""Cells of the first row that a notice shows."""

COMPARED = 200
"""Columns that are looked at for numbers that are names; more only cost time."""

FEWEST_LABELS = 5
"""Rows from which distinct whole numbers or dates below an empty first cell are taken for labels of the rows."""


@attrs.frozen
class FirstRow:
    """What the first row of a table is.

    Parameters
    ----------
    named : bool
        Whether it has the names of the columns.
    notice : str
        What a user has to know about the decision; empty where it is clear.
    names : tuple of str
        The names that the first two rows have together; empty where the first has them alone.
    """

    named: bool
    notice: str = ""
    names: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows that have names."""
        return 2 if self.names else int(self.named)


def first_row(preview: list[list[str]], *, numbers: bool = False) -> FirstRow:
    """What the first of some rows of cells is: names, which may be numbers, or data.

    Numbers are names where the row is of a kind that rows of the table would hardly be by chance: below an empty
    corner, evenly spaced, or whole above numbers with decimals.

    Parameters
    ----------
    preview : list of list of str
    numbers : bool, default False
        Whether words have been judged already, by the types of their cells, and numbers alone are looked at.

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


def of_two_rows(preview: Sequence[Sequence[str]], *, carry: bool = True) -> FirstRow | None:
    """The names that the first two of some rows have together, with what is said of them; None where they have not."""
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
    """
    if len(preview) < 3 or len(preview[0]) < 2 or len(preview[0]) != len(preview[1]):
        return ()
    groups, names = ([cell.strip() for cell in row] for row in preview[:2])
    if any(name.lower() not in cells.MISSING and is_value(name) for name in names):
        return ()
    below = [row for row in preview[2:] if len(row) == len(groups)]
    columns = [j for j in range(len(groups)) if _are_values([row[j] for row in below])]
    if not columns or any(names[j].lower() in cells.MISSING for j in columns):
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
        both.append(name if name == carried else f"{carried} {name}".strip())
    return tuple(both)


def tell_of_first_row(notice: str) -> None:
    """Warn of what a user has to know about the first row, if there is something."""
    if notice:
        warnings.warn(notice, TableWarning, stacklevel=4)


def _number_names(preview: list[list[str]]) -> tuple[str, bool]:
    """Why a first row with numbers has names, "" if it has not, and whether it may have some nevertheless."""
    first = [cell.strip() for cell in preview[0]]
    below = [[cell.strip() for cell in row] for row in preview[1:] if len(row) == len(first)]
    corner = len(first) > 1 and not first[0]
    titles = first[1:] if corner else first
    if not below or any(title.lower() in cells.MISSING for title in titles) or len(set(titles)) < len(titles):
        return "", False
    numbers = list[Above]()
    for j, title in enumerate(titles[:COMPARED], int(corner)):
        filled = [row[j] for row in below if row[j].lower() not in cells.MISSING]
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
    """Whether the cells below an empty first one tell the rows apart: a numbering, words, or whole numbers or dates."""
    if len(set(column)) < len(column) or any(cell.lower() in cells.MISSING for cell in column):
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
        cell.strip().lower() not in cells.MISSING
        and (not is_value(cell) or (_is_moment(cell) and bool(below) and not any(_is_moment(row[j]) for row in below)))
        for j, cell in enumerate(preview[0])
    ]
    if all(words):
        return True
    return bool(below) and any(word and _are_values([row[j] for row in below]) for j, word in enumerate(words))


def _are_values(column: list[str]) -> bool:
    """Whether all filled cells are numbers or dates, and some are filled."""
    filled = [cell for cell in column if cell.strip().lower() not in cells.MISSING]
    return bool(filled) and all(map(is_value, filled))


def is_value(cell: str) -> bool:
    """Whether a cell is a number, in whatever form, a time or a date."""
    cell = cell.strip()
    return any(cells.number(cell, mark) is not None for mark in (".", ",")) or _is_moment(cell)


def _is_moment(cell: str) -> bool:
    """Whether a cell is a time or a date; above a column that has none it is a name, such as 2024-03 of a month."""
    cell = cell.strip()
    if hours_of(cell) is not None:
        return True
    return any(cells.seconds(cell, form) is not None for form in (cells.MONTH_FIRST, cells.DAY_FIRST))
