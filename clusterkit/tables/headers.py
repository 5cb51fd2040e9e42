"""Whether the first row of a text has names."""

from __future__ import annotations

from clusterkit.tables import cells
from clusterkit.tables.clocks import hours_of

__all__ = ["is_value", "looks_like_names"]


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
