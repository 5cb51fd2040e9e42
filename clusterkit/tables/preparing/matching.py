"""The columns of a table that belong to the columns of a fit: by name, or by position."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from clusterkit._typing import AnyArray
from clusterkit.errors import TableError, counted, first_names
from clusterkit.tables.cells.column_names import numbered, place_of
from clusterkit.tables.preparing.plans import ColumnPlan, LeftOut
from clusterkit.tables.reading.frames import Column, columns_of, is_frame

__all__ = ["matched"]

SHOWN = 5
"""Names in a message."""


def matched(table: object, plans: Sequence[ColumnPlan], *, by_position: bool) -> list[Column]:
    """The columns of the used plans, in their order.

    Parameters
    ----------
    table : data frame, mapping of str to array, or array of shape (n, number of columns)
        An array has no names.
    plans : sequence of ColumnPlan
        Plans of all columns of the fit.
    by_position : bool
        Whether names are ignored.

    Raises
    ------
    TableError
        If columns are missing or there twice, or an array has another number of them.
    """
    named = not by_position and not (isinstance(table, np.ndarray | list) and not is_frame(table))
    columns = columns_of(_of_rows(table) if isinstance(table, np.ndarray | list) else table)
    if not named:
        return _by_position(columns, plans)
    _check_clear(columns, plans)
    by_name = {column.name: column for column in columns}
    used = [plan.name for plan in plans if plan.used]
    free = [name for name in by_name if name not in used]
    for name in used:
        place = None if name in by_name else place_of(name, free)
        if place is not None:  # the same letters, with accents encoded in another way
            by_name[name] = attrs.evolve(by_name[free[place]], name=name)
    missing = [name for name in used if name not in by_name]
    if missing:
        shown = first_names(missing, SHOWN)
        raise TableError(f"the table lacks {len(missing)} of the {len(used)} columns that the model uses: {shown}")
    return [by_name[name] for name in used]


def _check_clear(columns: Sequence[Column], plans: Sequence[ColumnPlan]) -> None:
    """Raise `TableError` if a column that the model uses shares its header with another column of the table.

    Columns that the user explicitly left out of the fit are ignored.
    """
    dropped = {plan.name for plan in plans if isinstance(plan, LeftOut) and plan.asked_for}
    headers = {column.name: column.header for column in columns if column.header and column.name not in dropped}
    for name in (plan.name for plan in plans if plan.used):
        others = [other for other, header in headers.items() if name in headers and header == headers[name]]
        if len(others) > 1:
            raise TableError(
                f"the table has {len(others)} columns named {headers[name]!r}, and the model uses one: rename them, or "
                f"leave out all but one; here they are called {first_names(others, SHOWN)}"
            )


def _of_rows(table: object) -> dict[str, AnyArray]:
    """The columns of an array."""
    rows = np.asarray(table)
    if rows.ndim != 2:
        raise TableError(f"expected rows and columns, got an array of shape {rows.shape}")
    return dict(zip(numbered(rows.shape[1]), rows.T, strict=True))


def _by_position(columns: Sequence[Column], plans: Sequence[ColumnPlan]) -> list[Column]:
    """The columns of the used plans, which are either all columns of the fit, or the used ones alone."""
    used = [plan for plan in plans if plan.used]
    if len(columns) == len(plans):
        columns = [column for column, plan in zip(columns, plans, strict=True) if plan.used]
    elif len(columns) != len(used):
        names = first_names([plan.name for plan in used], SHOWN)
        which = f"the {len(plans)} of the fit in their order"
        if len(used) < len(plans):
            which = f"all {len(plans)} of the fit in their order, or only the {len(used)} that it uses"
        raise TableError(
            f"the rows have {counted(len(columns), 'column')} without names; the model takes {which}: {names}"
        )
    return [attrs.evolve(column, name=plan.name) for column, plan in zip(columns, used, strict=True)]
