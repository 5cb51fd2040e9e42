"""Which cells of a text pandas takes for gaps: NA stays a word in columns of words, where it may be Namibia."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clusterkit.tables.cells import MISSING
from clusterkit.tables.frames import NA

__all__ = ["OF_PANDAS", "na_options", "word_columns"]

OF_PANDAS = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
"""Cells that pandas takes for gaps by itself."""

GAPS = sorted(
    {*OF_PANDAS, *(form for cell in MISSING for form in (cell, cell.upper(), cell.title(), cell.capitalize()))}
)
"""Cells that are gaps, as pandas takes them: in lower, upper and mixed case."""


def word_columns(rows: Sequence[Sequence[str]], width: int, is_value: Callable[[str], bool]) -> list[int]:
    """Columns whose first filled cell is no number and no date, or that have no filled cell but NA.

    Examples
    --------
    >>> word_columns([["NA", "NA", "1"], ["DE", "", "NA"]], 3, str.isdigit)
    [0, 1]
    """
    words = []
    for j in range(width):
        its = [row[j].strip() for row in rows if len(row) > j]
        first = next((cell for cell in its if cell.lower() not in MISSING), None)
        if NA in map(str.upper, its) if first is None else not is_value(first):
            words.append(j)
    return words


def na_options(width: int, words: Sequence[int]) -> dict[str, object]:
    """The options of `pandas.read_csv` about gaps, for columns named by their positions."""
    if not words:
        return {"na_values": GAPS, "keep_default_na": False}
    of_words = [cell for cell in GAPS if cell.upper() != NA]
    chosen = set(words)
    return {"na_values": {j: of_words if j in chosen else GAPS for j in range(width)}, "keep_default_na": False}
