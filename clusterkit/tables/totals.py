"""A last row of sums, as people write below a table: it is no row like the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from clusterkit.core.errors import first_names
from clusterkit.core.wording import shortened
from clusterkit.tables.frames import Column
from clusterkit.tables.plans import ColumnPlan, NumberColumn
from clusterkit.tables.sums import ColumnSums

__all__ = ["of_totals"]

WORDS = frozenset(
    {
        "total", "totals", "grand total", "sum", "sums", "overall", "overall total", "summe", "summen", "gesamt",
        "gesamtsumme", "insgesamt",
    }
)  # fmt: skip
"""What such a row is called, in lower case."""

ROUNDING = 1e-3
"""Largest difference from the sum, relative to it, that counts as rounding: of cells of three digits."""

FEWEST_ROWS = 3
"""Rows from which a sum is looked for: of two rows of one value, the second is the sum of the first."""

SHOWN = 5
"""Columns that the sentence names."""


def of_totals(plans: Sequence[ColumnPlan], sums: Sequence[ColumnSums], last: Sequence[Column]) -> Iterator[str]:
    """A sentence about the last row if it is called a total and most of its numbers are the sums of those above.

    Parameters
    ----------
    plans : sequence of ColumnPlan
    sums : sequence of ColumnSums
        Of all rows of the same columns.
    last : sequence of Column
        The same columns; at least the last rows of the table.
    """
    if sums[0].rows < FEWEST_ROWS:
        return
    ends = [column.take(slice(-1, None)) for column in last]
    called = next((text for column in ends if (text := _text(column)).lower().strip(" :*") in WORDS), "")
    if not called:
        return
    equal, others = list[str](), 0
    for plan, column, end in zip(plans, sums, ends, strict=True):
        if not isinstance(plan, NumberColumn) or plan.clock:
            continue
        value = float(plan.read(end).values[0])
        numbers = column.as_number()[1]
        rest = numbers.mean * numbers.n - value
        if np.isfinite(value) and value and abs(value - rest) <= ROUNDING * abs(value):
            equal.append(plan.name)
        else:
            others += bool(np.isfinite(value))
    if equal and len(equal) >= others:
        row = last[0].row(len(last[0].values) - 1)
        names = first_names([repr(shortened(name)) for name in equal], SHOWN)
        yield (
            f"the last row ({row}, {called[:40]!r}) has the sums of the rows above in {names}: it is used like the "
            "others; delete it from the table, frame[:-1] in Python, if it is none"
        )


def _text(column: Column) -> str:
    value = column.values[0]
    return value if column.kind == "text" and isinstance(value, str) else ""
