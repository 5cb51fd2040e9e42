"""A table that was read, with what its file says about names and cells.

`of_totals` recognises a last row of sums, as people write below a table: it is no row like the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.errors import NotNumeric, TableError, first_names, shortened
from clusterkit.tables.cells.column_names import select
from clusterkit.tables.cells.readings import as_levels, as_numbers, marks_of
from clusterkit.tables.preparing.findings import of_numbers, warn_of
from clusterkit.tables.preparing.plans import ColumnPlan, NumberColumn
from clusterkit.tables.preparing.sums import ColumnSums
from clusterkit.tables.reading.frames import Column, HoldsFrame, columns_of


@attrs.frozen(eq=False)
class Table(HoldsFrame):
    """Columns of a file, of standard input or of a data set.

    Parameters
    ----------
    title : str
        The name in messages.
    frame : data frame, or mapping of str to array
        Data for a `Preparation`.
    names : tuple of str
        Names of all columns, each one once.
    named : bool
        Whether these are from the file, or x1, x2, ... by position.
    notes : tuple of str
        Notices about the file, for people: its encoding, for example.
    decimal : {".", ","} or None
        Decimal mark of its numbers, where they show it or the user says it.
    line_of : callable
        Function from the number of a row, counted from 0, to a place such as "row 3 (line 4)".
    shared : mapping of str to str
        The name in the file of each column that has it together with others; such columns cannot be used together.
    decimal_marks : mapping of str to str
        The mark before the decimals of columns that have another one than the table.
    orders : mapping of str to str
        The order of day and month between slashes (`clusterkit.tables.cells.parsing`), by column, where it is known.
    offset : int or None
        For a piece of a table, the number of rows before it.
    raw : callable or None
        Gives all cells as they are in the file, row by row; None where they are those of the frame.
    other_sheets : str
        The end of an error about the table, where the file has another one: "; the file has other sheets: ...".
    """

    title: str
    frame: object
    names: tuple[str, ...]
    named: bool = True
    notes: tuple[str, ...] = ()
    decimal: str | None = None
    line_of: Callable[[int], str] = attrs.Factory(
        lambda table: lambda row: f"row {(table.offset or 0) + row + 1}", takes_self=True
    )
    raw: Callable[[], list[list[str]]] | None = None
    shared: Mapping[str, str] = attrs.field(factory=dict, kw_only=True)
    decimal_marks: Mapping[str, str] = attrs.field(factory=dict, kw_only=True)
    orders: Mapping[str, str] = attrs.field(factory=dict, kw_only=True)
    offset: int | None = attrs.field(default=None, kw_only=True)
    other_sheets: str = attrs.field(default="", kw_only=True)
    _memo: dict[str, list[Column]] = attrs.field(factory=dict, init=False, repr=False)

    def columns(self) -> list[Column]:
        """The typed columns."""
        if not self._memo:
            self._memo["columns"] = columns_of(self)
        return self._memo["columns"]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns()[0].values)

    def cells(self) -> list[list[str]]:
        """All cells of all columns as texts, row by row; a gap is empty."""
        if self.raw is not None:
            return self.raw()
        columns = [column.with_words() for column in self.columns()]
        texts = [["" if text is None else text for text in as_levels(column)] for column in columns]
        return [list(row) for row in zip(*texts, strict=True)]

    def take(self, rows: Indices) -> Table:
        """The table of some rows."""
        columns = {column.name: column.take(rows) for column in self.columns()}
        return attrs.evolve(self, frame=columns, raw=None)

    def pick(self, chosen: Sequence[int]) -> Table:
        """The table of the columns at these positions."""
        if list(chosen) == list(range(len(self.names))):
            return self
        columns = self.columns()
        picked = {columns[j].name: columns[j] for j in chosen}
        return attrs.evolve(self, frame=picked, names=tuple(picked), raw=None)

    def select(self, columns: Iterable[str] = (), drop: Iterable[str] = ()) -> Table:
        """The table of the columns that names, positions and ranges stand for; see `clusterkit.tables.select`."""
        return self.pick(select(self.names, columns, drop, self.title))

    def numbers(self) -> Array:
        """All columns as an array (n, d), where every cell is a finite number.

        Raises
        ------
        NotNumeric
            If a cell is missing or no number; names column and row.

        Warns
        -----
        TableWarning
            If the texts of a column leave open whether a number such as 1.234 has decimals or thousands.
        """
        columns = self.columns()
        out = np.empty((len(columns[0].values), len(columns)))
        words: dict[str, str] = {}
        gaps: dict[str, str] = {}
        for j, column in enumerate(columns):
            reading = as_numbers(column, ".")
            warn_of(of_numbers(column, "."))
            beside = marks_of(column)
            if len(beside) > 1:
                raise NotNumeric(
                    f"{self.title}: the numbers of column {shortened(column.name)!r} have several marks: "
                    f"{', '.join(beside)}",
                    [column.name],
                )
            out[:, j] = reading.values
            # a gap where gaps are allowed; here it is told from an empty cell
            infinite = np.isinf(column.values) if column.kind == "number" else np.False_
            for bad, into in ((reading.unread | infinite, words), (column.missing() & ~infinite, gaps)):
                if bad.any():
                    row = int(bad.argmax())
                    cell = f": {str(column.values[row])!r}" if into is words else ""
                    into[column.name] = f"column {shortened(column.name)!r}, {self.line_of(row)}{cell}"
        for places, problem in ((words, "not a finite number"), (gaps, "missing value")):
            if places:
                shown = "; ".join(list(places.values())[:3])
                more = f"; and {len(places) - 3} more columns" if len(places) > 3 else ""
                raise NotNumeric(f"{self.title}: {problem} in {shown}{more}.", list(places))
        narrow = all(column.values.dtype == np.float32 for column in columns)
        return out.astype(np.float32) if narrow else out


def check_not_empty(table: Table) -> Table:
    """The table, if it has a row."""
    if not table.n_rows:
        raise TableError(f"{table.title} has no row of data")
    return table


WORDS = frozenset(
    {
        "total", "totals", "grand total", "sum", "sums", "overall", "overall total", "summe", "summen", "gesamt",
        "gesamtsumme", "insgesamt",
    }
)  # fmt: skip
"""Names of a row of totals, in lower case."""

ROUNDING = 1e-3
"""Largest difference from the sum, relative to it, that counts as rounding: of cells of three digits."""

FEWEST_ROWS = 3
"""Rows from which a sum is looked for: of two rows of one value, the second is the sum of the first."""

SHOWN = 5
"""Columns that the sentence names."""


def of_total_row(plans: Sequence[ColumnPlan], sums: Sequence[ColumnSums], last: Sequence[Column]) -> Iterator[str]:
    """A sentence about the last row if it is called a total and most of its numbers are the sums of those above.

    Parameters
    ----------
    plans : sequence of ColumnPlan
    sums : sequence of ColumnSums
        Sums over all rows of the same columns.
    last : sequence of Column
        At least the last rows of the table, in the same columns.
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
