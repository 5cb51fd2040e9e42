"""Cells of new rows that show that a column is another one than that of the fit."""

from __future__ import annotations

import numpy as np

from clusterkit.tables.cells import DAY_FIRST, is_slashed, only_order
from clusterkit.tables.errors import TableError
from clusterkit.tables.frames import Column
from clusterkit.tables.readings import Reading

__all__ = ["refuse_both_orders", "refuse_none"]


def refuse_none(reading: Reading, column: Column, what: str, unread: int) -> None:
    """Raise an error if not one filled cell can be read: the column is another one than that of the fit."""
    if not unread and reading.unread.any() and np.isnan(reading.values).all():
        row = int(np.flatnonzero(reading.unread)[0])
        cell = column.cell(row)
        open_order = what == "date" and is_slashed(cell)
        hint = ", which leaves day and month open; write it as 2024-12-31" if open_order else ""
        raise TableError(
            f"column {column.name!r} has no {what}, though it had some in the fit: {column.row(row)} has {cell!r}{hint}"
        )


def refuse_both_orders(reading: Reading, column: Column) -> None:
    """Raise an error if dates between slashes have both orders of day and month.

    Those that leave it open, such as 2/3/2024, would be read by chance.
    """
    if column.kind != "text":
        return
    orders = {int(i): only_order(column.values[i]) for i in np.flatnonzero(reading.unread)}
    odd = next((i for i, order in orders.items() if order is not None), None)
    if odd is None:
        return
    texts = enumerate(column.values)
    other = next((i for i, text in texts if text is not None and only_order(text) not in (None, orders[odd])), None)
    first, second = ("day", "month") if orders[odd] == DAY_FIRST else ("month", "day")
    elsewhere = "the dates before it" if other is None else f"{column.values[other]!r} in {column.row(other)}"
    raise TableError(
        f"column {column.name!r}: {column.values[odd][:40]!r} in {column.row(odd)} has the {first} before the "
        f"{second}, unlike {elsewhere}, so that dates such as 2/3/2024 cannot be told; write them as 2024-12-31"
    )
