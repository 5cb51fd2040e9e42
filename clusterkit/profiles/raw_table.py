"""Tables of any type as columns of numbers and of categories, a few rows at a time.

Columns leave as a data frame of whichever library is installed (`as_frame`), or as text (`as_text`).
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any, Literal, final

import attrs
import numpy as np

from clusterkit._typing import AnyArray, Array, Indices, Mask
from clusterkit.errors import STEERING, InvalidData, InvalidParameter, escaped, shortened
from clusterkit.tables.cells.measures import PLAIN
from clusterkit.tables.cells.readings import NATIVE, as_hours, as_levels, as_numbers, as_seconds, settled
from clusterkit.tables.cells.times import DURATION, TIME, clock_text
from clusterkit.tables.preparing.plans import CLOCK, CategoryColumn, ColumnPlan, DateColumn, LeftOut, NumberColumn
from clusterkit.tables.preparing.preparation import FittedPreparation
from clusterkit.tables.preparing.texts import TextColumn
from clusterkit.tables.reading.frames import (
    COMPLEX,
    Column,
    HoldsFrame,
    columns_of,
    is_frame,
    opened,
    refuse_query,
    why_no_table,
)

Kind = Literal["number", "category", "date"]
"""Kind of the cells of a column. Dates are counted in seconds since 1970."""


@final
@attrs.frozen(eq=False)
class RawColumn:
    """A column of some rows.

    Parameters
    ----------
    name : str
    kind : {"number", "category", "date"}
    values : ndarray of shape (m,)
        Numbers, nan where missing; or the codes of the levels, -1 where missing.
    levels : tuple of str
        Levels of a category.
    left_out : str
        Reason why the preparation of the model left the column out; empty if it did not.
    begin : float or None
        Hour at which the day of times of day begins; None for other columns.
    """

    name: str
    kind: Kind
    values: AnyArray
    levels: tuple[str, ...] = ()
    left_out: str = ""
    begin: float | None = None

    @property
    def missing(self) -> Mask:
        """Which rows have no value."""
        return np.asarray(self.values == -1 if self.kind == "category" else ~np.isfinite(self.values))

    @property
    def cells(self) -> AnyArray:
        """The cells as a table has them: numbers, times, or levels as texts, of which those missing are None."""
        if self.kind == "category":
            return np.array([*self.levels, None], dtype=object)[self.values]
        return self.values.astype("datetime64[s]") if self.kind == "date" else self.values


@final
@attrs.frozen(eq=False)
class RawTable:
    """A table of n rows, of which any can be read as columns.

    Parameters
    ----------
    n : int
    names : tuple of str
    source : object
        An array, a sparse matrix in CSR form, a data frame of narwhals, or a list of columns.
    preparation : FittedPreparation or None
        Says which columns are numbers, categories and dates, and which are left out.
    """

    n: int
    names: tuple[str, ...]
    source: object
    preparation: FittedPreparation | None = None

    @classmethod
    def of(cls, X: object, names: Sequence[str] | None, model: object, caller: str) -> RawTable:
        """A table from whatever the user has: an array-like, a sparse matrix, a data frame, or columns by name.

        Names are those passed, else of the data frame, else those that the model was fitted with, else x0, x1, ... Of a
        model that was fitted to this table, its preparation says what the columns are.

        Raises
        ------
        InvalidData
            If X is no table of two dimensions, or a lazy frame (as `TableError`).
        InvalidParameter
            If there are more or fewer names than columns.
        """
        fitted = vars(model).get("preparation_") if hasattr(model, "__dict__") else None
        columns: Sequence[Any] | None = None
        source: Any
        if hasattr(X, "tocsr"):  # one kind of sparse matrix is a mapping
            if why := why_no_table(X):
                raise InvalidData(f"{caller}: {why}")
            source = X.tocsr()
            n, d = source.shape
        elif isinstance(X, Mapping | HoldsFrame):
            source = columns_of(X)
            n, d, columns = len(source[0].values), len(source), [column.name for column in source]
        elif is_frame(X):
            source, _ = opened(X)
            (n, d), columns = source.shape, source.columns
        else:
            refuse_query(X)
            source = X if isinstance(X, np.ndarray) else _array(X, caller)
            if source.ndim != 2:
                why = (
                    why_no_table(X)
                    or why_no_table(source)
                    or f"X must be a table (n, d), got an array of shape {source.shape}"
                )
                raise InvalidData(f"{caller}: {why}")
            n, d = source.shape
        if isinstance(names, str):
            raise InvalidParameter(f"{caller}: names must be a list of {d} names, got the text {shortened(names)!r}")
        if names is not None and len(names) != d:
            raise InvalidParameter(f"{caller}: names must be one for each of the {d} columns, got {len(names)}")
        known = getattr(model, "feature_names_in_", None)
        applies = fitted is not None and columns is not None and set(fitted.used) <= set(map(str, columns))
        if columns is None and known is not None and len(known) == d:
            columns = list(known)
        if fitted is not None and applies and isinstance(source, list):
            plans = {plan.name: plan for plan in fitted.plans}
            source = [_settled(column, plans.get(column.name)) for column in source]
        chosen: Sequence[Any] = names if names is not None else columns or [f"x{j}" for j in range(d)]
        return cls(int(n), tuple(str(name) for name in chosen), source, fitted if applies else None)

    def take(self, rows: Indices) -> object:
        """Some rows in the type that the user passed; a mapping of columns gives a mapping."""
        if isinstance(self.source, list):
            return {column.name: column.take(rows) for column in self.source}
        source: Any = self.source
        part: Any = source[rows]
        taken: object = part.to_native() if hasattr(part, "to_native") else part
        return taken

    def columns(self, rows: Indices) -> list[RawColumn]:
        """The columns of some rows, in this order; O(m d) for m rows."""
        source: Any = self.source
        if isinstance(source, list):
            typed = [column.take(rows) for column in source]
        elif hasattr(source, "get_column"):
            typed = columns_of(source[rows])
        else:
            cells = source[rows]
            if hasattr(cells, "toarray"):
                cells = cells.toarray()
            typed = columns_of({str(j): values for j, values in enumerate(cells.T)})
        plans = {} if self.preparation is None else {plan.name: plan for plan in self.preparation.plans}
        return [_read(name, column, plans.get(column.name)) for name, column in zip(self.names, typed, strict=True)]


def columns_of_samples(model: object, samples: Array) -> list[RawColumn]:
    """The columns of rows that a model or a preparation uses, as it reads them, in the units of the table.

    A gap that was filled is what filled it. Columns that became points on a sphere have no values.
    """
    preparation = model if isinstance(model, FittedPreparation) else vars(model).get("preparation_")
    if preparation is None:
        names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(samples.shape[1])])
        return [RawColumn(str(name), "number", values) for name, values in zip(names, samples.T, strict=True)]
    columns, coded = list[RawColumn](), preparation.coded
    parts = np.split(samples, np.cumsum(preparation.widths)[:-1], axis=1)
    for plan, F in zip((plan for plan in preparation.plans if plan.used), parts, strict=True):
        x = F[:, 0]
        if isinstance(plan, CategoryColumn):
            if plan.or_gap or (plan.n_groups == 2 and not coded):
                x = (x > 0) - 1.0 * plan.or_gap
            elif not coded:
                x = F[:, : plan.n_groups].argmax(axis=1).astype(np.float64)
            codes = np.nan_to_num(x, nan=-1).astype(np.intp)
            order = np.argsort(plan.ranks) if plan.ranks and coded else np.arange(plan.n_groups)
            levels = (*plan.levels, "(other)")
            columns.append(RawColumn(plan.name, "category", np.append(order, -1)[codes], levels))
        elif isinstance(plan, DateColumn):
            x = (x * 86400.0 if coded else x / plan.factor) + plan.centre
            columns.append(RawColumn(plan.name, "date", x))
        elif isinstance(plan, TextColumn):
            columns.append(RawColumn(plan.name, "category", plan.nearest_ends(F), plan.ends))
        elif isinstance(plan, NumberColumn):
            if plan.circle:
                x = np.where(F[:, :2].any(axis=1), np.arctan2(x, F[:, 1]) / (2 * np.pi) % 1 * CLOCK, np.nan)
            elif plan.sphere or not coded:
                x = np.full(len(x), np.nan) if plan.sphere else x / plan.factor + plan.centre
            columns.append(RawColumn(plan.name, "number", x, begin=_begin(plan)))
    return columns


def _array(X: Any, caller: str) -> AnyArray:
    try:
        array: AnyArray = np.asarray(X)
    except ValueError as error:
        why = why_no_table(X) or f"X must be a table (n, d): {error}"
        raise InvalidData(f"{caller}: {why}") from error
    if array.dtype.kind in "US":  # numpy makes text of rows that hold numbers and text
        array = np.array(X, dtype=object)
    return array


def _begin(plan: NumberColumn) -> float | None:
    return plan.begin if plan.clock == TIME else None


def _settled(column: Column, plan: ColumnPlan | None) -> Column:
    """The column, so that some of its rows are read as all of them are."""
    mark, measure = (plan.decimal, plan.measure) if isinstance(plan, NumberColumn) else (".", PLAIN)
    return settled(column, mark, plan.form if isinstance(plan, DateColumn) else NATIVE, measure)


def _read(name: str, column: Column, plan: ColumnPlan | None) -> RawColumn:
    """A column read by its plan, or without a plan by its type."""
    if isinstance(plan, LeftOut):
        return RawColumn(name, "category", np.full(len(column.values), -1), left_out=plan.reason)
    if column.kind == "complex":
        raise InvalidData(f"column {shortened(name)!r} has {COMPLEX}")
    if isinstance(plan, NumberColumn) and column.kind != "truth":  # "is True" says more than "is high"
        return RawColumn(name, "number", plan.read(column).values, begin=_begin(plan))
    if plan is None and column.kind == "number":
        reading = as_hours(column, DURATION, 0.0) if column.duration else as_numbers(column, ".")
        return RawColumn(name, "number", reading.values)
    if isinstance(plan, TextColumn):
        return RawColumn(name, "category", plan.nearest_ends(plan.scores(column)[0]), plan.ends)
    if isinstance(plan, DateColumn) or (plan is None and column.kind == "date"):
        return RawColumn(name, "date", as_seconds(column, plan.form if isinstance(plan, DateColumn) else NATIVE).values)
    texts = as_levels(plan.worded(column) if isinstance(plan, CategoryColumn) else column)
    levels = sorted({text for text in texts if text is not None})
    code = {level: number for number, level in enumerate(levels)}
    codes = np.array([-1 if text is None else code[text] for text in texts], dtype=np.intp)
    return RawColumn(name, "category", codes, tuple(levels))


LIBRARIES = {"pandas": ("pandas", "DataFrame"), "polars": ("polars", "DataFrame"), "pyarrow": ("pyarrow", "table")}
"""Module and function that makes a table of a mapping of columns."""

CONTROL = re.compile(f"[{STEERING}]")
"""Characters that steer a terminal instead of being shown."""

WIDEST = 40
"""Characters of a cell of a table of texts."""


def as_frame(columns: Mapping[str, Sequence[object]], library: str | None) -> object:
    """A data frame of a library, or of the first of pandas, Polars and PyArrow that is installed.

    Raises
    ------
    ImportError
        If none is installed, or not this one.
    InvalidParameter
        If the library is not known.
    """
    if library is None:
        library = next((name for name in LIBRARIES if find_spec(name)), None)
        if library is None:
            raise ImportError("a data frame needs pandas, polars or pyarrow; install one of them")
    if library not in LIBRARIES:
        raise InvalidParameter(f"library must be one of {', '.join(map(repr, LIBRARIES))}, got {library!r}")
    module, function = LIBRARIES[library]
    make: Any = getattr(importlib.import_module(module), function)
    frame: object = make(dict(columns))
    return frame


def as_text(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table for people: the first column to the left, numbers to the right, decimals in two digits.

    Examples
    --------
    >>> print(as_text(("method", "score"), [("k-means", 0.8125), ("svc", float("nan")), ("emmc", 12)]))
    method   score
    k-means   0.81
    svc          –
    emmc        12
    """
    texts = [[as_cell(value) for value in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = (
        "  ".join(
            text.rjust(width) if j else text.ljust(width)
            for j, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in texts
    )
    return "\n".join(line.rstrip() for line in lines)


GROUPED = 9999.5
"""Number from which separators of thousands are written."""


def number(value: float) -> str:
    """A number of a table, with four digits at least; marks between thousands from 10,000 on, as years have none.

    Examples
    --------
    >>> number(1234567.8), number(2024.4), number(0.00123456), number(12.0), number(math.nan)
    ('1,234,568', '2024', '0.001235', '12', '–')
    """
    if math.isnan(value):
        return "–"
    if 1000 <= abs(value) < GROUPED:
        return f"{value:.0f}"
    return f"{value:,.0f}" if GROUPED <= abs(value) < 1e15 else f"{value:.4g}"


def times(value: float) -> str:
    """How many times one number is another.

    Examples
    --------
    >>> times(2.04), times(12345.6), times(1e150)
    ('2.0', '12,346', '1e+150')
    """
    return f"{value:.1f}" if value < 100 else number(value)


def in_unit(value: float, kind: Kind, clock: str = "") -> str:
    """A number, the date of seconds since 1970, or hours of a `clock` as it shows them; a dash for none.

    Examples
    --------
    >>> in_unit(8.25, "number", "time of day"), in_unit(86400.0, "date"), in_unit(2024.0, "number")
    ('8:15', '1970-01-02', '2024')
    """
    if clock and not math.isnan(value):
        minutes = round(60 * (value % 24 if clock == TIME else value))
        return clock_text(60.0 * (minutes % (24 * 60) if clock == TIME else minutes)).removesuffix(":00")
    if kind == "date":
        try:
            return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d")
        except (OverflowError, OSError, ValueError):
            return "–"
    return number(value)


def as_cell(value: object, most: int = WIDEST) -> str:
    """A value for people: harmless, and of at most so many characters."""
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) < GROUPED else number(value)
    if isinstance(value, int):
        return f"{value:,}"
    return shortened(escaped(str(value), CONTROL), most)
