"""Notices to the user about texts with two readings: which one was taken, and what decides it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from clusterkit.errors import TableWarning, shortened
from clusterkit.tables.cells import parsing
from clusterkit.tables.cells.measures import PLAIN, Measure
from clusterkit.tables.cells.readings import ORDERS
from clusterkit.tables.preparing.decisions import (
    mixed_marks,
    other_decimals,
    partly_dates,
    partly_numbers,
    several_units,
    unread_values,
)
from clusterkit.tables.preparing.plans import ColumnPlan, DateColumn, LeftOut, NumberColumn
from clusterkit.tables.preparing.redundant_columns import as_option
from clusterkit.tables.preparing.sums import ColumnSums
from clusterkit.tables.reading.frames import Column

__all__ = [
    "of_fit",
    "of_infinite",
    "of_numbers",
    "of_rows",
    "of_sparse",
    "of_units",
    "of_unread",
    "warn_of",
]

FIRST = {parsing.MONTH_FIRST: "month", parsing.DAY_FIRST: "day"}
"""Part of the date that stands first, by the order of day and month."""


COLUMNS = 5
"""Columns that a sentence names."""

CELLS = 3
"""Cells of a column that a sentence shows."""


def of_fit(plans: Sequence[ColumnPlan], sums: Sequence[ColumnSums]) -> Iterator[str]:
    """Sentences about the columns that a fit uses and whose texts leave open what they mean.

    Parameters
    ----------
    plans : sequence of ColumnPlan
    sums : sequence of ColumnSums
        Sums of the columns of `plans`.
    """
    for plan, column in zip(plans, sums, strict=True):
        if isinstance(plan, NumberColumn) and column.leaves_decimals_open():
            yield _open_decimals(column.name, column.open_number, plan.decimal)
        if isinstance(plan, DateColumn) and plan.both_orders:
            taken, other = (FIRST[order] for order in (ORDERS if plan.form == ORDERS[0] else ORDERS[::-1]))
            example = column.shown[next(order for order in ORDERS if order != plan.form)]
            yield (
                f"column {column.name!r} has dates between slashes with the {taken} first, and others with the {other} "
                f"first, such as {example[:40]!r}, which count as gaps; of dates such as 2/3/2024 it is unknown which "
                f"they are, and they are read with the {taken} first"
            )
        elif isinstance(plan, DateColumn) and (example := column.leaves_order_open()):
            yield (
                f"column {column.name!r}: no day is above 12, so that {example[:40]!r} may have the day or the month "
                f"first; it is read with the {FIRST[plan.form]} first. The option --day-first or --month-first "
                "(day_first=True or False in Python) decides"
            )


def of_units(plans: Sequence[ColumnPlan], sums: Sequence[ColumnSums]) -> Iterator[str]:
    """Sentences about units beside numbers of a fit, one for all columns of a kind, with what decides otherwise.

    Parameters
    ----------
    plans : sequence of ColumnPlan
    sums : sequence of ColumnSums
        Sums of the columns of `plans`.
    """
    bare, strange, units, decimals, mixed, partly, dated, unread = (list[str]() for _ in range(8))
    for plan, column in zip(plans, sums, strict=True):
        name = repr(shortened(plan.name))
        if isinstance(plan, NumberColumn):
            parts = column.by_mark(plan.decimal)
            if plan.bare:
                bare.append(f"{name} ({plan.bare:,} of {sum(its.n for its in parts.values()):,} without {plan.unit})")
            if reason := mixed_marks(column):
                other = "," if plan.decimal == "." else "."
                yield (
                    f"column {name}: {reason}; {plan.decimal!r} is taken to be before decimals, and {other!r} between "
                    "thousands or part of a word: write them with one mark"
                )
            if plan.strange:
                others = ", ".join(f"{mark}: {parts[mark].n:,}" for mark in plan.strange)
                strange.append(f"{name} ({others}; the unit is {plan.unit or 'none'})")
        elif column.kind == "text" and not column.categorical and not (isinstance(plan, LeftOut) and plan.asked_for):
            reasons = several_units(column), other_decimals(column), mixed_marks(column)
            for reason, into in zip(reasons, (units, decimals, mixed), strict=True):
                into += [f"{name} ({reason})"] if reason else []
            reasons = partly_numbers(column), partly_dates(column), unread_values(column)
            for reason, into in zip(reasons, (partly, dated, unread), strict=True):
                into += [f"{name} ({reason})"] if isinstance(plan, LeftOut) and plan.reason == reason else []
    if bare:
        yield (
            f"numbers without the unit of their column are read as if they had it: {_columns(bare)}; --drop or "
            "--as-category decides otherwise"
        )
    if strange:
        yield f"numbers in a unit that cannot be converted into that of their column count as gaps: {_columns(strange)}"
    for texts, what, advice in (
        (units, "numbers", "--as-number takes those in the most frequent unit"),
        (decimals, "numbers", "another --decimal, or none, reads them"),
        (mixed, "numbers", "write them with one mark"),
        (partly, "numbers", "--as-number takes those that are, and the others for gaps"),
        (dated, "dates", "--as-date takes those that are, and the others for gaps"),
        (unread, "numbers or dates", "write plain numbers, or dates as 2024-03-31, if they are some"),
    ):
        if texts:
            yield f"columns that look like {what} are not used as such: {_columns(texts)}; {advice}"


def of_unread(plans: Sequence[ColumnPlan], sums: Sequence[ColumnSums]) -> Iterator[str]:
    """A sentence about cells in columns of numbers, times or dates of a fit that are neither readable nor gaps.

    Parameters
    ----------
    plans : sequence of ColumnPlan
    sums : sequence of ColumnSums
        Sums of the columns of `plans`.
    """
    columns: list[str] = []
    for plan, column in zip(plans, sums, strict=True):
        if not isinstance(plan, NumberColumn | DateColumn) or not plan.unread or column.kind != "text":
            continue
        if isinstance(plan, DateColumn) and plan.both_orders:  # another sentence is about them
            continue
        texts = np.array(list(column.levels or ()), dtype=object)
        levels = Column(plan.name, "text", texts, decimal=column.decimal, order=column.order, offset=0)
        unread = [text for text in texts[plan.read(levels).unread] if not parsing.is_infinite(text)]
        if isinstance(plan, NumberColumn) and plan.strange:  # cells in other units have a sentence of their own
            unread = [text for text in unread if plan.measure.split(text)[1] not in plan.strange]
            if not unread:
                continue
        counts = column.levels or {}
        unread.sort(key=lambda text: (-counts[text], text))
        shown = ", ".join(repr(text[:40]) for text in unread[:CELLS]) + (", ..." if len(unread) > CELLS else "")
        number = sum(counts[text] for text in unread) or plan.unread
        what = "date" if isinstance(plan, DateColumn) else plan.clock or "number"
        which = f": {shown}" if shown else ""
        columns.append(f"{shortened(plan.name)!r} ({number:,} of {column.filled:,} are no {what}{which})")
    if columns:
        yield (
            f"cells that cannot be read count as gaps: {_columns(columns)}; --as-category makes the cells of a column "
            "levels, --drop leaves it out"
        )


def of_sparse(plans: Sequence[ColumnPlan], sums: Sequence[ColumnSums], *, similar: bool) -> Iterator[str]:
    """A sentence about columns that are used though most of their cells are missing.

    Parameters
    ----------
    plans : sequence of ColumnPlan
    sums : sequence of ColumnSums
        Sums of the columns of `plans`.
    similar : bool
        Whether gaps are filled from similar rows.
    """
    columns, names = list[str](), list[str]()
    for plan, column in zip(plans, sums, strict=True):
        # another sentence is about infinite cells
        gaps = getattr(plan, "gaps", 0) - (column.infinite if isinstance(plan, NumberColumn) else 0)
        if plan.used and 2 * gaps > column.rows and not getattr(plan, "or_gap", False):
            columns.append(f"{shortened(plan.name)!r} ({gaps:,} of {column.rows:,})")
            names.append(plan.name)
    if columns:
        how = "the values of similar rows" if similar else "what is typical of the column"
        yield (
            f"more than half of the cells are missing, and are filled with {how}: {_columns(columns)}; --drop "
            f"{as_option(names[:COLUMNS])} (drop={names[:COLUMNS]!r} in Python) leaves such columns out"
        )


def of_infinite(plans: Sequence[ColumnPlan], sums: Sequence[ColumnSums]) -> Iterator[str]:
    """A sentence about infinite cells of a fit, which a division by zero makes, for example.

    Parameters
    ----------
    plans : sequence of ColumnPlan
    sums : sequence of ColumnSums
        Sums of the columns of `plans`.
    """
    columns = [
        f"{shortened(column.name)!r} ({column.infinite:,} of {column.rows:,})"
        for plan, column in zip(plans, sums, strict=True)
        if column.infinite
        and (isinstance(plan, NumberColumn) if column.kind == "text" else not getattr(plan, "asked_for", False))
    ]
    if columns:
        yield f"infinite cells count as gaps: {_columns(columns)}; --drop leaves a column out"


def _columns(parts: Sequence[str]) -> str:
    more = f"; and {len(parts) - COLUMNS} more columns" if len(parts) > COLUMNS else ""
    return "; ".join(parts[:COLUMNS]) + more


def of_rows(plan: ColumnPlan, column: Column) -> Iterator[str]:
    """Sentences about a column of new rows that can be read in several ways, or is read otherwise than in the fit.

    Parameters
    ----------
    plan : ColumnPlan
        Plan of the column in the fit.
    column : Column
    """
    if isinstance(plan, NumberColumn):
        yield from of_numbers(column, plan.decimal, plan.measure)
    if column.kind == "text" and not column.offset and isinstance(plan, DateColumn) and plan.form in ORDERS:
        row = _reversed(column, plan.form)
        if row is not None:
            now, then = ("day", "month") if plan.form == parsing.MONTH_FIRST else ("month", "day")
            yield (
                f"column {column.name!r}: dates between slashes are read with the {now} first, as "
                f"{str(column.values[row])[:40]!r} in {column.row(row)} shows; in the fit the {then} was first"
            )


def of_numbers(column: Column, mark: str, measure: Measure = PLAIN) -> Iterator[str]:
    """A sentence about a column of numbers whose texts leave open whether they have decimals or thousands.

    Parameters
    ----------
    column : Column
        The column, or its first piece for a table in pieces; other pieces give no sentence.
    mark : {".", ","}
        Decimal mark that is assumed.
    measure : Measure
        Units that may stand beside the numbers.
    """
    if column.kind == "text" and column.decimal is None and not column.offset:
        example = _open_number(column, measure)
        if example:
            yield _open_decimals(column.name, example, mark)


def warn_of(sentences: Iterable[str], stacklevel: int = 4, category: type[TableWarning] = TableWarning) -> None:
    """Warn of each sentence, at the line that called so many functions above this one."""
    for sentence in sentences:
        warnings.warn(sentence, category, stacklevel=stacklevel)


def _open_decimals(name: str, example: str, mark: str) -> str:
    """The sentence about numbers such as 1.234."""
    point, comma = parsing.readings(example)
    assert point is not None
    assert comma is not None
    taken, other = (point, comma) if mark == "." else (comma, point)
    against = "," if mark == "." else "."
    return (
        f"column {name!r}: {example[:40]!r} is read as {taken:.15g} and may mean {other:.15g}, because every cell fits "
        f"both. The option --decimal {against} (decimal={against!r} in Python) reads {other:.15g}, and --decimal "
        f"{mark} confirms {taken:.15g}"
    )


def _open_number(column: Column, measure: Measure) -> str:
    """A text that is another number with a point than with a comma; "" if some cell of the column shows the mark."""
    example = ""
    for cell in dict.fromkeys(column.values):
        if cell is not None:
            text = measure.bare(cell)
            point, comma = parsing.readings(text)
            if (point is None) != (comma is None) or parsing.is_undivided(text):
                return ""
            if point != comma:
                example = example or text
    return example


def _reversed(column: Column, form: str) -> int | None:
    """The first row that shows the other order of day and month than `form`, if the column is read so."""
    if column.order == form or (column.order is None and column.offset is not None):
        return None
    texts = np.flatnonzero([text is not None and parsing.is_slashed(text) for text in column.values])
    orders = {int(i): parsing.only_order(column.values[i]) for i in texts}
    rows = [i for i, order in orders.items() if order is not None and order != form]
    return rows[0] if len(rows) > sum(order == form for order in orders.values()) else None
