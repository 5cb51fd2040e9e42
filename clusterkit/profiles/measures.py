"""Columns as numbers that can be compared: a number as it is, a category as one indicator for each level."""

from __future__ import annotations

from collections import Counter
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.profiles.raw_table import Column

__all__ = ["GONE", "Measure", "measures_of"]

MOST_LEVELS = 20
"""Most levels of a category that are looked at, the most frequent ones: a level beyond them is in few rows."""

GONE = "missing"
"""The level that stands for a missing cell of any column."""

TEXT_FROM = 50
"""A column of words with more levels than this, most of which occur once, is an identifier or free text."""


@final
@attrs.frozen(eq=False)
class Measure:
    """A column of numbers, made of a column of the table.

    Parameters
    ----------
    column : Column
    level : str or None
        The level that the indicator is of; None for the numbers of a column.
    values : ndarray of shape (m,)
        nan where missing.
    """

    column: Column
    level: str | None
    values: Array

    @property
    def key(self) -> tuple[str, str | None]:
        """Name of the column, and the level."""
        return self.column.name, self.level


def measures_of(columns: list[Column]) -> tuple[list[Measure], dict[str, str]]:
    """The measures of all columns, and the columns that have none with the reason.

    A column with missing cells also has the indicator of being missing.
    """
    measures: list[Measure] = []
    left_out: dict[str, str] = {}
    for column in columns:
        if column.left_out:
            left_out[column.name] = column.left_out
            continue
        if column.kind == "category":
            reason = _unsuited(column)
            if reason:
                left_out[column.name] = reason
                continue
            measures += _of_levels(column)
        else:
            values = np.asarray(column.values, dtype=np.float64)
            values = np.where(np.isfinite(values), values, np.nan)
            if np.isnan(values).all():
                left_out[column.name] = "empty"
                continue
            if np.nanmin(values) == np.nanmax(values) and not np.isnan(values).any():
                left_out[column.name] = "constant"
                continue
            measures.append(Measure(attrs.evolve(column, values=values), None, values))
            if np.isnan(values).any():
                measures.append(Measure(column, GONE, np.isnan(values).astype(np.float64)))
    return measures, left_out


def _unsuited(column: Column) -> str | None:
    """Why a category is not looked at; None if it is."""
    # of a category, whose values are numbers of levels
    known = column.values[column.values >= 0]  # type: ignore[operator]
    if not len(known):
        return "empty"
    if len(column.levels) == 1 and len(known) == len(column.values):
        return "constant"
    if len(column.levels) > max(TEXT_FROM, len(known) // 2):
        return "almost every row has a value of its own: an identifier or free text"
    return None


def _of_levels(column: Column) -> list[Measure]:
    codes = column.values.tolist()
    common = [code for code, _ in Counter(code for code in codes if code >= 0).most_common(MOST_LEVELS)]
    measures = [Measure(column, column.levels[code], (column.values == code).astype(np.float64)) for code in common]
    if (column.values == -1).any():
        measures.append(Measure(column, GONE, (column.values == -1).astype(np.float64)))
    return measures
