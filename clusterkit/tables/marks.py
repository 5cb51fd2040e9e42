"""Which mark stands before the decimals of a text, by what its cells show."""

from __future__ import annotations

import csv
from collections.abc import Iterable

from clusterkit.tables import cells

__all__ = ["Marks", "marks_in"]


class Marks:
    """What the cells of a table show of the mark before decimals.

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
                point, comma = cells.readings(cell.strip())
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
            That of the table.
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
    """The marks in the first `sample` rows, and in those after them up to the first that shows one if these show none.

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
    except csv.Error:  # what reads the cells says what is wrong with them
        pass
    return seen
