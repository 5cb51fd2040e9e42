"""New rows: their columns by those of the fit, and oddities, read with a warning for each kind, or refused."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import final
from unicodedata import normalize

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import AnyArray, Array
from clusterkit.errors import TableError, TableWarning, counted, first_names, shortened
from clusterkit.tables.cells.column_names import numbered, place_of
from clusterkit.tables.cells.measures import are_alike, factor
from clusterkit.tables.cells.readings import as_levels, marks_of
from clusterkit.tables.preparing.findings import filling
from clusterkit.tables.preparing.plans import (
    CategoryColumn,
    ColumnPlan,
    DateColumn,
    LeftOut,
    NumberColumn,
    Observer,
    other_size,
)
from clusterkit.tables.preparing.texts import TextColumn
from clusterkit.tables.reading.frames import Column, columns_of

SHOWN = 5
"""Columns, rows or levels that a message names."""

FEW_FOREIGN = 0.1
"""Share of the numbers with a foreign mark above which new rows are refused; fewer count as gaps, as in a fit."""

MANY_BARE = 2.0
"""How many times as large as in the fit the share of numbers without the unit may be without a warning."""

UNLIKELY = 0.05
"""Probability, by the share of gaps in the fit, below which a column of gaps only is odd."""

FEWEST_OTHERS = 10
"""Smallest number of rows for which it is odd that all levels are rare or new."""


@final
class NewRows(Observer):
    """Collects oddities of new rows, so that columns with the same oddity are one warning.

    Parameters
    ----------
    rows : int
        Number of rows of the fit.
    similar : bool, default False
        Whether gaps are filled from similar rows.
    coded : bool, default False
        Whether gaps stay gaps, for methods of mixed columns.
    """

    def __init__(self, rows: int, *, similar: bool = False, coded: bool = False) -> None:
        self.rows = rows
        self.similar = similar
        self.coded = coded
        self.messages: dict[tuple[str, str], list[tuple[str, str, str]]] = {}

    def add(self, what: str, column: Column, detail: str, alone: str = "", advice: str = "") -> None:
        """Note a column.

        Parameters
        ----------
        what : str
            Kind of oddity, which is the kind of the warning.
        column : Column
        detail : str
            Text behind the name of the column if the warning names several.
        alone : str
            Sentence for a single column.
        advice : str
            End of the sentence.
        """
        name = repr(shortened(column.name))
        self.messages.setdefault((what, advice), []).append((name, detail, alone or f"{what}: {detail}"))

    def odd(self, what: str, cells: NDArray[np.bool_], column: Column, done: str) -> None:
        """Note cells that cannot be read."""
        if cells.any():
            row = int(np.flatnonzero(cells)[0])
            self._cells(f"{what} and {done}", column, int(cells.sum()), row)

    def _cells(self, what: str, column: Column, count: int, row: int, level: str = "", hint: str = "") -> None:
        """Note cells, one of which is shown; for a category its level is."""
        first = f"the first one in {column.row(row)}: {level or column.cell(row)!r}{hint}"
        alone = f"{counted(count, 'cell')} {'is' if count == 1 else 'are'} {what}, {first}"
        self.add(f"cells are {what}", column, f"{counted(count, 'cell')}, {first}", alone)

    def numbers(self, plan: NumberColumn, column: Column, values: NDArray[np.float64]) -> None:
        """Compare unit and size of numbers with those of the fit.

        Raises
        ------
        TableError
            If their marks are not that of the fit, or they have none and are of another size.
        """
        if plan.clock:
            return
        marks = marks_of(column, plan.measure)
        finite = values[np.isfinite(values)]
        readable = sum(count for mark, count in marks.items() if plan.measure.factor(mark) is not None)
        marked, bare = sum(marks.values()), max(0, len(finite) - readable)
        total = marked + bare
        if marks:
            _refuse_foreign(plan, column, marks, total)
        alike = are_alike(finite, plan.extremes, plan.unit, marked=not bare or not plan.unit)
        missing = bool(plan.unit) and bare > MANY_BARE * plan.bare / self.rows * total
        new = [mark for mark in marks if mark not in plan.strange and factor(mark, "") is None]
        more = not plan.unit and bool(new)
        ranges = _ranges(plan, finite)
        if (missing or more) and not alike:
            without = f"have no {plan.unit}, which they have in the fit" if missing else (
                f"have {_names(new)}, which they have not in the fit"
            )  # fmt: skip
            raise TableError(
                f"column {shortened(column.name)!r}: the numbers {without}, and are of another size: {ranges}. Write "
                f"them {'with their unit' if missing else 'as in the fit'}"
            )
        if missing:
            what = "numbers without the unit of the fit are read as if they had it"
            detail = f"{bare:,} of {counted(total, 'number')} without {plan.unit}, {ranges}"
            self.add(what, column, detail, advice="write the unit if it is this one")
        elif more:
            what = "numbers with a mark that the fit has not are read without it"
            self.add(what, column, f"{sum(marks[mark] for mark in new):,} with {_names(new)}, {ranges}")
        elif (bare or not plan.unit) and (sizes := other_size(finite, plan.size) if alike else ranges):
            self.add("numbers are of another size than in the fit", column, sizes, advice="they may be in another unit")

    def levels(self, plan: CategoryColumn, column: Column, new: NDArray[np.bool_]) -> None:
        """Compare levels with those of the fit.

        Raises
        ------
        TableError
            If all of them differ from levels of the fit in case or blanks only.
        """
        if not new.any():
            return
        texts = as_levels(column)
        distinct = list(dict.fromkeys(texts[new]))
        folded = {_folded(level): level for level in plan.levels}
        near = {text: folded[_folded(text)] for text in distinct if _folded(text) in folded}
        every = bool((new | column.missing()).all())
        first = next(iter(near.items()), None)
        if every and len(near) == len(distinct) and first is not None:
            raise TableError(
                f"column {shortened(column.name)!r}: every level is written otherwise than in the fit: "
                f"{first[0][:40]!r} for {first[1][:40]!r}. Write them as in the fit"
            )
        count = int(new.sum())
        hint = "" if first is None else f" (the fit has {first[1][:40]!r} for {first[0][:40]!r})"
        if every and (count >= FEWEST_OTHERS if plan.rare else count > 1):
            seen, now = (first_names([repr(it[:40]) for it in its], SHOWN) for its in (plan.levels, distinct))
            what = "no level is one of the fit, so that the column says nothing about these rows"
            self.add(what, column, f"{now} in {counted(count, 'cell')}, {seen} in the fit{hint}")
        elif not plan.rare:
            what = "a level that the fit did not see and counted as a gap"
            self._cells(what, column, count, int(np.flatnonzero(new)[0]), distinct[0][:40], hint)
        elif first is not None:  # with rare levels in the plan only those near a frequent level are odd
            what = "written otherwise than a level of the fit and counted as a rare level"
            places = np.flatnonzero([text in near for text in texts])
            self._cells(what, column, len(places), int(places[0]), first[0][:40], hint)

    def gaps(self, plan: ColumnPlan, column: Column) -> None:
        """Note a column without a value, unless the share of gaps in the fit makes this likely."""
        if not isinstance(plan, NumberColumn | CategoryColumn | DateColumn | TextColumn):
            return
        n = len(column.values)
        column = plan.worded(column) if isinstance(plan, CategoryColumn) else column
        if (plan.gaps / self.rows) ** n < UNLIKELY and column.missing().all():
            ends = f"no value in {counted(n, 'row')}: every cell is missing or not finite, and counts as"
            what = f"there is {ends} what fills the gaps of the fit"
            filled = "a gap" if self.coded else f"{filling(plan, similar=self.similar)} of the fit"
            self.add(what, column, filled.removesuffix(" of the fit"), f"has {ends} {filled}")

    def warn(self) -> None:
        """Warn once for each kind."""
        for sentence in self._sentences():
            warnings.warn(sentence, TableWarning, stacklevel=5)

    def _sentences(self) -> Iterator[str]:
        for (what, advice), columns in self.messages.items():
            end = f"; {advice}" if advice else ""
            if len(columns) == 1:
                name, _, alone = columns[0]
                yield f"column {name}{'' if alone.startswith('has ') else ':'} {alone}{end}"
            else:
                parts = "; ".join(f"{name} ({detail})" for name, detail, _ in columns[:SHOWN])
                more = f"; and {len(columns) - SHOWN} more" if len(columns) > SHOWN else ""
                yield f"in {counted(len(columns), 'column')} {what}: {parts}{more}{end}"


def warn_of_blanks(columns: Sequence[Column], plans: Sequence[ColumnPlan]) -> int:
    """Warn of rows without a single value; returns their number.

    Parameters
    ----------
    columns : sequence of Column
        Columns that are used.
    plans : sequence of ColumnPlan
        Plans of these columns.
    """
    blank = np.ones(len(columns[0].values), dtype=bool)
    for plan, column in zip(plans, columns, strict=True):
        blank &= (plan.worded(column) if isinstance(plan, CategoryColumn) else column).missing()
        if not blank.any():
            return 0
    rows = np.flatnonzero(blank)
    where = first_names([columns[0].row(int(i)) for i in rows[: SHOWN + 1]], SHOWN)
    warnings.warn(
        f"{counted(len(rows), 'row')} without any value in the columns that are used ({where}): the label is that of "
        "the means and most frequent levels, and says nothing",
        TableWarning,
        stacklevel=5,
    )
    return len(rows)


def _folded(text: str) -> str:
    """A level with equal case, blanks and accents, which people write in several ways."""
    return " ".join(normalize("NFC", text).casefold().split())


def _names(marks: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(marks))


def _refuse_foreign(plan: NumberColumn, column: Column, marks: Counter[str], total: int) -> None:
    """Raise an error if numbers have marks that cannot be converted into that of the fit."""
    measure, new = plan.measure, [mark for mark in marks if mark not in plan.strange]
    foreign = [mark for mark in new if measure.factor(mark) is None]
    several = [mark for mark in new if factor(mark, "") is None]
    if not plan.unit and len(several) > 1:
        raise TableError(
            f"column {shortened(column.name)!r}: the numbers have several marks, {_names(several)}, and none in the fit"
        )
    if sum(marks[mark] for mark in foreign) <= FEW_FOREIGN * total:
        return
    first = next(i for i, text in enumerate(column.values) if text is not None and measure.split(text)[1] in foreign)
    raise TableError(
        f"column {shortened(column.name)!r} is in {plan.unit} in the fit, and {_names(foreign)} cannot be converted: "
        f"{column.row(first)} has {column.cell(first)!r}"
    )


def _ranges(plan: NumberColumn, values: Array) -> str:
    """The range of the new numbers and that of the fit."""
    if not len(values) or not plan.extremes:
        return "of an unknown range in the fit"
    low, high = plan.extremes
    now = f"{values.min():.4g}" if values.min() == values.max() else f"{values.min():.4g} to {values.max():.4g}"
    return f"{now} here, {low:.4g} to {high:.4g} in the fit"


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
    has_names = not isinstance(table, np.ndarray | list)
    columns = columns_of(table if has_names else _of_rows(table))
    if by_position or not has_names:
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
