"""Which cells of a text pandas takes for gaps: in columns of words none but empty ones, as others may be levels."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from clusterkit.tables.cells import MISSING

__all__ = ["OF_PANDAS", "na_options", "word_columns"]

OF_PANDAS = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
"""Cells that pandas takes for gaps by itself."""

INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
"""An infinite number, beside which a gap may be written in letters."""

GAPS = sorted(
    {*OF_PANDAS, *(form for cell in MISSING for form in (cell, cell.upper(), cell.title(), cell.capitalize()))}
)
"""Cells that are gaps, as pandas takes them: in lower, upper and mixed case."""


def word_columns(rows: Sequence[Sequence[str]], width: int, is_value: Callable[[str], bool]) -> list[int]:
    """Columns whose first filled cell is no number and no date, or none but NA, None and their like.

    Examples
    --------
    >>> word_columns([["NA", "NA", "1"], ["DE", "", "NA"]], 3, str.isdigit)
    [0, 1]
    """
    words = []
    for j in range(width):
        its = [row[j].strip() for row in rows if len(row) > j]
        first = next((cell for cell in its if cell.lower() not in MISSING and not INFINITE.fullmatch(cell)), None)
        if any(cell for cell in its if not INFINITE.fullmatch(cell)) if first is None else not is_value(first):
            words.append(j)
    return words


def na_options(width: int, words: Sequence[int]) -> dict[str, object]:
    """The options of `pandas.read_csv` about gaps, for columns named by their positions."""
    if not words:
        return {"na_values": GAPS, "keep_default_na": False}
    chosen = set(words)
    return {"na_values": {j: [""] if j in chosen else GAPS for j in range(width)}, "keep_default_na": False}
