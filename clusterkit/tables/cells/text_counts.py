"""Sums over the distinct texts of a column, by reading, each text counted as often as it occurs.

`Marks` is what the cells of a table show of the mark before decimals, a point or a comma.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from clusterkit.tables.cells import parsing
from clusterkit.tables.cells.moments import Moments
from clusterkit.tables.preparing.plans import HOURS

MOST_MARKS = 20
"""Different marks beside the numbers of a column up to which each is counted; more are words and no units."""


def on_circles(seconds: NDArray[np.float64], weights: NDArray[np.generic]) -> NDArray[np.complex128]:
    """Sums of the first two harmonics of each part of dates; the last row counts beginnings of months and of days."""
    sums = np.zeros((len(HOURS) + 1, 2), dtype=np.complex128)
    for i, period in enumerate(HOURS.values()):
        angle = 2j * np.pi * (seconds / 3600.0 % period) / period
        sums[i] = (weights * np.exp(angle)).sum(), (weights * np.exp(2 * angle)).sum()
    moments = seconds.astype("datetime64[s]")
    at_midnight = seconds % 86400.0 == 0.0
    sums[-1] = weights[at_midnight & (moments == moments.astype("datetime64[M]"))].sum(), weights[at_midnight].sum()
    return sums


def add(readings: dict[str, Moments], name: str, values: Sequence[float | None], counts: NDArray[np.int_]) -> None:
    """Add a reading of distinct texts, if it reads any."""
    legible = np.array([value is not None for value in values])
    if legible.any():
        readings[name] = Moments.of(np.array([v for v in values if v is not None]), counts[legible])


def add_by_mark(
    readings: dict[str, Moments], name: str, values: Sequence[float | None], beside: Sequence[str],
    counts: NDArray[np.int_],
) -> None:  # fmt: skip
    """Add a reading of distinct texts for each mark beside the numbers, or for the most frequent ones of many."""
    places: dict[str, list[int]] = {}
    for i, (mark, value) in enumerate(zip(beside, values, strict=True)):
        if value is not None:
            places.setdefault(mark, []).append(i)
    for mark in sorted(places, key=lambda mark: (-len(places[mark]), mark))[:MOST_MARKS]:
        add(readings, name + mark, [values[i] for i in places[mark]], counts[places[mark]])


class Marks:
    """Evidence in the cells of a table about its decimal mark.

    Parameters
    ----------
    width : int
        Number of columns.

    Attributes
    ----------
    points, commas : list of int
        Cells of each column that are numbers with this mark only.
    open : set of int
        Columns with cells that are one number with a point and another one with a comma.
    """

    def __init__(self, width: int) -> None:
        self.points, self.commas = [0] * width, [0] * width
        self.open: set[int] = set()

    def see(self, row: list[str]) -> None:
        """Count the cells of a row."""
        for j, cell in enumerate(row[: len(self.points)]):
            if "." in cell or "," in cell:
                point, comma = parsing.readings(cell.strip())
                if point is None:
                    self.commas[j] += comma is not None
                elif comma is None:
                    self.points[j] += 1
                elif point != comma:
                    self.open.add(j)

    @property
    def of_table(self) -> str | None:
        """The mark that more cells show; None where both do as often."""
        return _more(sum(self.points), sum(self.commas))

    def of_columns(self, mark: str | None) -> dict[int, str]:
        """Columns that show another mark than that of the table.

        Parameters
        ----------
        mark : str or None
            Decimal mark of the table.
        """
        marks = {}
        for j, (points, commas) in enumerate(zip(self.points, self.commas, strict=True)):
            shown = _more(points, commas)
            if shown is not None and shown != mark:
                marks[j] = shown
        return marks


def _more(points: int, commas: int) -> str | None:
    if points == commas:
        return None
    return "." if points > commas else ","


def marks_in(rows: Iterable[list[str]], width: int, sample: int, *, more: bool) -> Marks:
    """The marks in the first `sample` rows; if these show none, also the rows after them up to the first one that does.

    Parameters
    ----------
    rows : iterable of list of str
    width, sample : int
    more : bool
        Whether rows after the first ones may show anything.

    Examples
    --------
    >>> seen = marks_in([["1,5", "1.234"], ["2", "7"]], 2, 1000, more=True)
    >>> seen.of_table, seen.open
    (',', {1})
    """
    seen = Marks(width)
    try:
        for number, row in enumerate(rows):
            if number >= sample and (not more or any(seen.points) or any(seen.commas)):
                break
            seen.see(row)
    except csv.Error:  # the reader of the cells reports the error
        pass
    return seen
