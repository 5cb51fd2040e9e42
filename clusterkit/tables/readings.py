"""A column as numbers, as levels or as moments in time, whatever its cells are."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit.tables import cells
from clusterkit.tables.frames import Column

__all__ = ["NATIVE", "Reading", "as_levels", "as_numbers", "as_seconds"]

NATIVE = "as they are"
"""The form of dates that came as dates."""

MICRO = 1e6
"""Microseconds in a second."""


@attrs.frozen(eq=False)
class Reading:
    """A column, read in one way.

    Parameters
    ----------
    values : ndarray of shape (n,), float64
        nan where there is a gap or a cell that cannot be read.
    unread : ndarray of shape (n,), bool
        The cells that are filled and cannot be read.
    """

    values: NDArray[np.float64]
    unread: NDArray[np.bool_]


def as_numbers(column: Column, decimal: str) -> Reading:
    """The cells as numbers; those of text with `decimal` before their decimals, or the other mark where that fits all.

    Parameters
    ----------
    column : Column
    decimal : {".", ","}
    """
    gaps = column.missing()
    if column.kind in ("number", "truth"):
        values = column.values.astype(np.float64)
        values[gaps] = np.nan
        return Reading(values, np.zeros(len(values), dtype=bool))
    if column.kind != "text":
        return Reading(np.full(len(gaps), np.nan), ~gaps)
    return _of_texts(column, lambda text: cells.number(text, decimal))


def as_seconds(column: Column, form: str) -> Reading:
    """The cells as seconds since 1970, whatever the form of their texts.

    Parameters
    ----------
    column : Column
    form : str
        What dates between slashes are (`clusterkit.tables.cells`). If it is neither order, the texts themselves say it;
        those that leave it open are not read.
    """
    gaps = column.missing()
    if column.kind == "date":
        values = column.values.astype("datetime64[us]").astype(np.int64) / MICRO
        return Reading(np.where(gaps, np.nan, values), np.zeros(len(gaps), dtype=bool))
    if column.kind != "text":
        return Reading(np.full(len(gaps), np.nan), ~gaps)

    if form not in (cells.MONTH_FIRST, cells.DAY_FIRST):
        form = cells.date_order({text for text in column.values if text is not None}) or cells.ANY
    return _of_texts(column, lambda text: cells.seconds(text, form))


def as_levels(column: Column) -> NDArray[np.object_]:
    """The cells as texts; None for a gap. A whole number has no decimals, a truth value is True or False.

    Examples
    --------
    >>> as_levels(Column("n", "number", np.array([3.0, 2.5, np.nan]))).tolist()
    ['3', '2.5', None]
    """
    levels = np.empty(len(column.values), dtype=object)
    gaps = column.missing()
    if column.kind == "number":
        texts = [f"{value:.0f}" if value.is_integer() else repr(value) for value in _floats(column, gaps)]
    elif column.kind == "truth":
        texts = [str(bool(value)) for value in _floats(column, gaps)]
    else:
        texts = [str(value) for value in column.values[~gaps]]
    levels[~gaps] = texts
    return levels


def _floats(column: Column, gaps: NDArray[np.bool_]) -> list[float]:
    values: list[float] = column.values[~gaps].astype(np.float64).tolist()
    return values


def _of_texts(column: Column, read: Callable[[str], float | None]) -> Reading:
    """Each distinct text is read once."""
    known: dict[str, float] = {}
    values = np.empty(len(column.values))
    for i, text in enumerate(column.values):
        if text is None:
            values[i] = np.nan
            continue
        value = known.get(text)
        if value is None:
            number = read(text)
            value = known[text] = np.nan if number is None else number
        values[i] = value
    filled = ~column.missing()
    return Reading(values, filled & np.isnan(values))
