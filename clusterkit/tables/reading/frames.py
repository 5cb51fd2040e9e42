"""The one conversion of data frames (pandas, Polars, PyArrow) to typed columns, by narwhals.

`why_no_table` and `why_no_numbers` say why samples are no table, or none of finite numbers.

`na_options` decides which cells of a text pandas takes for gaps: in columns of words only empty ones, as others may be
levels.
"""

from __future__ import annotations

import datetime
import math
import numbers
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import AnyArray
from clusterkit.errors import InvalidData, TableError, counted, first_names
from clusterkit.tables.cells.column_names import check_distinct, shared_names, unique
from clusterkit.tables.cells.parsing import MISSING, plain
from clusterkit.tables.cells.times import seconds_of

if TYPE_CHECKING:
    import narwhals.stable.v1 as nw


Kind = Literal["number", "truth", "text", "date", "complex", "other"]
"""Kinds of the cells of a column."""

MICROSECONDS = "datetime64[us]"
"""The type of dates inside the library: finer than files give them, and wide enough for all dates of Python."""

NA = "NA"
"""A text that means a gap, or Namibia."""

NONE = "none"
"""A text, in lower case, that means a gap, or that there is none of something."""

LONGEST_GAP = max(map(len, MISSING))
"""Letters of the longest word for a gap; longer texts need not be compared with them."""


@attrs.frozen(eq=False)
class Column:
    """A column of a table.

    Parameters
    ----------
    name : str
    kind : {"number", "truth", "text", "date", "complex", "other"}
        "other" are lists and objects, of which nothing can be read, and nothing is read of complex numbers.
    values : ndarray of shape (n,)
        Numbers as float64 or float32 with nan for gaps, truth values as 0, 1 and nan, texts as objects with None for
        gaps, dates as datetime64 with NaT.
    header : str
        The name in the table, where other columns have it too; else empty.
    decimal : {".", ","} or None
        The mark before the decimals of texts, where the table shows it or the user says it.
    order : str or None
        The order of day and month between slashes (`clusterkit.tables.cells.parsing`), where the table shows it or the
        user says it.
    offset : int or None
        For a piece of a table, the number of rows before it; None for a whole column. The texts of a piece do not
        decide what mark and order are, because those of another piece may show another one.
    words : ndarray of shape (n,), object, or None
        The texts of gaps that are written as text: NA, which is Namibia too, None or ?; None for all other cells, or if
        there is no such gap.
    duration : bool
        Whether numbers came as durations; they are then in seconds.
    ranked : tuple of str
        All levels in their order, where a data frame has one: an ordered categorical of pandas.
    categorical : bool
        Whether the type of the column in a data frame, or the user, makes it a category, whatever its levels look like.
    """

    name: str
    kind: Kind
    values: AnyArray
    header: str = ""
    decimal: str | None = None
    order: str | None = None
    offset: int | None = None
    words: NDArray[np.object_] | None = None

    def take(self, rows: AnyArray | slice) -> Column:
        """Some rows."""
        return attrs.evolve(self, values=self.values[rows], words=None if self.words is None else self.words[rows])

    def spelled(self) -> dict[str, int]:
        """Number of gaps with each text."""
        return {} if self.words is None else dict(Counter(text for text in self.words if text is not None))

    def with_words(self, levels: Container[str] | None = None) -> Column:
        """The column with texts where it has gaps that are these levels, NA in whatever case; by default as written."""
        if self.words is None:
            return self
        values = self.values.astype(object)
        for i in np.flatnonzero([text is not None for text in self.words]):
            text = self.words[i]
            if levels is None or as_level(text) in levels:
                values[i] = text if levels is None else as_level(text)
        return attrs.evolve(self, kind="text", values=values, words=None if levels is None else self.words)

    duration: bool = False
    ranked: tuple[str, ...] = ()
    categorical: bool = False

    def missing(self) -> NDArray[np.bool_]:
        """Whether each cell is a gap; a number that is not finite is one."""
        if self.kind == "date":
            return np.isnat(self.values)
        if self.kind in ("number", "truth"):
            return ~np.isfinite(self.values.astype(np.float64, copy=False))
        return np.array([value is None for value in self.values], dtype=bool)

    def row(self, i: int) -> str:
        """The number of a row in the table, for messages.

        Examples
        --------
        >>> Column("n", "number", np.zeros(3), offset=100).row(2)
        'row 103'
        """
        return f"row {(self.offset or 0) + i + 1}"

    def cell(self, i: int) -> str:
        """A cell for messages, of at most 40 characters; whole numbers as in the table, without decimals.

        Examples
        --------
        >>> Column("n", "number", np.array([1234.0, 0.5])).cell(0)
        '1234'
        """
        value = self.values[i]
        whole = self.kind == "number" and math.isfinite(value) and float(value).is_integer()
        return (f"{value:.0f}" if whole else str(value))[:40]


class HoldsFrame:
    """Something with a data frame, or a mapping of names to arrays, as its attribute `frame`.

    `shared` has the names in the table of columns that have one name there (`column_names.shared_names`), `decimal` the
    mark before the decimals of all columns, `decimal_marks` those of columns that have another one, `orders` the order
    of day and month by column, `offset` the rows before those of a piece; see `Column`.
    """

    frame: object
    shared: Mapping[str, str] = MappingProxyType({})
    decimal: str | None = None
    decimal_marks: Mapping[str, str] = MappingProxyType({})
    orders: Mapping[str, str] = MappingProxyType({})
    offset: int | None = None


def as_level(word: str) -> str:
    """A text of a gap as a level: NA is one level, in whatever case."""
    return NA if word.upper() == NA else word


def is_frame(data: object) -> bool:
    """Whether an object is a data frame of pandas, Polars, PyArrow or another library that narwhals knows.

    Loads none of these libraries.
    """
    import sys

    if isinstance(data, HoldsFrame):
        return True
    if isinstance(data, np.ndarray | list | tuple):
        return False
    if not any(name in sys.modules for name in ("pandas", "polars", "pyarrow", "narwhals", "modin", "cudf")):
        return False
    import narwhals.stable.v1 as nw

    return isinstance(data, nw.DataFrame) or nw.dependencies.is_into_dataframe(data)


def columns_of(frame: object) -> list[Column]:
    """The typed columns of a data frame, or of a mapping of names to arrays.

    Parameters
    ----------
    frame : data frame, mapping of str to array of shape (n,) or Column, or HoldsFrame
        Frame of pandas, Polars, PyArrow or another library that narwhals knows.

    Returns
    -------
    list of Column
        Columns in the order of the frame; names that are no texts become texts, and equal ones are made unique.

    Raises
    ------
    TableError
        If it is neither, a query that is not run yet, or has no column.

    Examples
    --------
    >>> [column] = columns_of({"height": np.array([1.5, np.nan])})
    >>> column.kind, column.missing().tolist()
    ('number', [False, True])
    """
    if isinstance(frame, HoldsFrame):
        return [
            attrs.evolve(
                column,
                header=frame.shared.get(column.name, column.header),
                decimal=column.decimal or frame.decimal_marks.get(column.name, frame.decimal),
                order=column.order or frame.orders.get(column.name),
                offset=column.offset if frame.offset is None else frame.offset,
            )
            for column in columns_of(frame.frame)
        ]
    if isinstance(frame, Mapping) and not hasattr(frame, "tocsr"):  # one kind of sparse matrix is a mapping
        columns = [
            attrs.evolve(values, name=str(name))
            if isinstance(values, Column)
            else _of_array(str(name), np.asarray(values))
            for name, values in frame.items()
        ]
    else:
        wrapped, shared = opened(frame)
        every: Iterator[Any] = cast("Any", wrapped).iter_columns()
        columns = [_readable(str(series.name), series) for series in every]
        columns = [attrs.evolve(column, header=shared.get(column.name, "")) for column in columns]
    if not columns:
        raise TableError("the table has no column")
    if len({column.name for column in columns}) < len(columns):
        raise TableError("the table has two columns of one name")
    lengths = {len(column.values) for column in columns}
    if len(lengths) > 1:
        raise TableError(f"the columns of the table have {min(lengths)} to {max(lengths)} rows")
    return columns


def refuse_query(data: object) -> None:
    """Raise `TableError` for a lazy frame or a Dask collection, which is a table that is not computed yet."""
    kind = type(data).__name__
    if hasattr(data, "__dask_graph__"):
        raise TableError(f"a Dask {kind} is a query that is not run yet; pass its result: .compute()")
    if hasattr(data, "collect") and not hasattr(data, "__array__"):
        raise TableError(f"a {kind} is a query that is not run yet; pass its result: .collect()")


def opened(frame: object) -> tuple[object, Mapping[str, str]]:
    """A data frame as one of narwhals, and the names that several of its columns have.

    Returns
    -------
    frame : narwhals.DataFrame
        The frame; names that occur more than once are made unique.
    shared : mapping of str to str
        Unique name to name in the table, from `clusterkit.tables.cells.column_names.shared_names`.

    Raises
    ------
    TableError
        If it is no data frame that narwhals knows, or a query.
    """
    import narwhals.stable.v1 as nw

    if isinstance(frame, nw.DataFrame):
        return frame, {}
    refuse_query(frame)
    native: Any = frame
    shared: Mapping[str, str] = {}
    try:
        header = [str(name) for name in getattr(native, "column_names", getattr(native, "columns", ()))]
        if len(set(header)) < len(header):
            names = unique(header)
            native, shared = renamed(native, names), shared_names(header, names)
        wrapped: nw.DataFrame[Any] = nw.from_native(native, eager_only=True)
    except TypeError:
        raise TableError(
            f"a {type(frame).__name__} is no data frame of pandas, Polars or PyArrow, nor a mapping of columns"
        ) from None
    except Exception as error:  # errors of narwhals or of the library behind it, such as names that occur twice
        raise TableError(f"the data frame cannot be read: {error}") from error
    return wrapped, shared


def renamed(frame: object, names: Sequence[str]) -> object:
    """A data frame of PyArrow, or of pandas and what is like it, with other names of its columns."""
    native: Any = frame
    if hasattr(native, "rename_columns"):
        return cast("object", native.rename_columns(list(names)))
    native = native.copy(deep=False)
    native.columns = list(names)
    return cast("object", native)


def _readable(name: str, series: nw.Series[Any]) -> Column:
    """A column of a data frame; values that its library cannot give out, as of a damaged file, are one error."""
    try:
        return _of_series(name, series)
    except TableError as error:
        raise TableError(f"column {name!r}: {error}") from error
    except ValueError as error:  # pyarrow's errors about values are such
        raise TableError(f"the values of column {name!r} cannot be read: {error}") from error


def _of_series(name: str, series: nw.Series[Any]) -> Column:
    """A column of a data frame."""
    import narwhals.stable.v1 as nw

    dtype = series.dtype
    if dtype == nw.Float32:
        return Column(name, "number", np.asarray(series.to_numpy(), dtype=np.float32))
    if dtype.is_numeric():
        return Column(name, "number", np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64))
    if dtype == nw.Boolean:
        return Column(name, "truth", _numbers(series.to_list()))
    if dtype == nw.String:
        return _of_texts(name, series.to_list())
    if dtype in (nw.Categorical, nw.Enum):
        texts = _of_texts(name, list(map(_as_text, series.to_list())))
        return attrs.evolve(texts, ranked=_ranked(series.to_native()), categorical=True)
    if isinstance(dtype, nw.Datetime) or dtype == nw.Datetime:
        if getattr(dtype, "time_zone", None) is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return Column(name, "date", np.asarray(series.to_numpy()).astype(MICROSECONDS))
    if dtype == nw.Date:
        return Column(name, "date", _dates(series.to_list()))
    if dtype == nw.Duration:
        return _of_durations(name, series.to_list())
    return _of_objects(name, series.to_list())


def _ranked(series: Any) -> tuple[str, ...]:
    """The levels of an ordered categorical of pandas in their order; () for other columns."""
    dtype = getattr(series, "dtype", None)
    if not getattr(dtype, "ordered", False):
        return ()
    levels = [_text(str(_as_text(level))) for level in cast("Any", dtype).categories]
    return tuple(level for level in levels if level is not None)


def _as_text(level: Any) -> object:
    """A level that is a number as its text, which does not depend on whether gaps made floats of whole numbers."""
    if isinstance(level, bool | np.bool_) or not isinstance(level, numbers.Real) or math.isnan(level):
        return level
    return f"{level:.0f}" if float(level).is_integer() else repr(float(level))


def _of_array(name: str, values: AnyArray) -> Column:
    """A column of a mapping."""
    if values.ndim == 0:
        raise TableError(
            f"column {name!r} is {values.item()!r:.40}, and a mapping has a sequence of cells for each name"
        )
    if values.ndim != 1:
        raise TableError(f"column {name!r} has {values.ndim} dimensions instead of one")
    if values.dtype.kind == "b":
        return Column(name, "truth", values.astype(np.float64))
    if values.dtype.kind in "iuf":
        return Column(name, "number", values if values.dtype == np.float32 else values.astype(np.float64))
    if values.dtype.kind == "M":
        return Column(name, "date", values.astype(MICROSECONDS))
    if values.dtype.kind == "m":
        return _of_durations(name, list(values))
    if values.dtype.kind in "US":
        return _of_texts(name, [str(value) for value in values])
    if values.dtype.kind == "c":
        return Column(name, "complex", values.astype(object))
    return _of_objects(name, list(values))


def _of_objects(name: str, values: Sequence[Any]) -> Column:
    """A column of objects: of one kind, or else their texts."""
    cells = [None if _is_gap(value) else value for value in values]
    filled = [value for value in cells if value is not None]
    if filled and all(isinstance(value, bool | np.bool_) for value in filled):
        return Column(name, "truth", _numbers(cells))
    if any(isinstance(value, complex) for value in filled):
        return Column(name, "complex", np.array(cells, dtype=object))
    if filled and all(isinstance(value, numbers.Number) or _is_decimal(value) for value in filled):
        return Column(name, "number", _numbers(cells))
    if filled and all(isinstance(value, datetime.date | np.datetime64) for value in filled):
        return Column(name, "date", _dates(cells))
    if filled and all(isinstance(value, datetime.timedelta | np.timedelta64) for value in filled):
        return _of_durations(name, cells)
    if any(isinstance(value, list | dict | set | tuple | np.ndarray) for value in filled):
        return Column(name, "other", np.array([None if value is None else str(value) for value in cells], dtype=object))
    return _of_texts(name, cells)


def _is_gap(value: object) -> bool:
    """Whether an object means a missing value: None, a nan, pandas's NA and NaT."""
    if value is None or isinstance(value, str):
        return value is None
    if isinstance(value, float):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, np.datetime64) and np.isnat(value))


def _is_decimal(value: object) -> bool:
    return type(value).__name__ == "Decimal"


def _numbers(values: Sequence[Any]) -> NDArray[np.float64]:
    try:
        return np.array([np.nan if _is_gap(value) else float(value) for value in values], dtype=np.float64)
    except OverflowError:
        raise TableError(f"a value is an integer beyond {np.finfo(np.float64).max:.3g}") from None


def _texts(values: Sequence[Any]) -> tuple[NDArray[np.object_], NDArray[np.object_] | None]:
    """Texts without blanks around them, None for those that mean a gap; and the words that do, None elsewhere."""
    texts = np.empty(len(values), dtype=object)
    if set(map(type, values)) <= {str, type(None)}:  # most columns repeat few texts
        known = {cell: None if cell is None else _text(cell) for cell in set(values)}
        texts[:] = [known[cell] for cell in values]
        blanks = [cell for cell, text in known.items() if text is None and cell is not None and cell.strip()]
        if not blanks:
            return texts, None
    else:
        texts[:] = [None if _is_gap(value) else _text(str(value)) for value in values]
    words = np.full(len(texts), None, dtype=object)
    for i, cell in enumerate(values):
        if texts[i] is None and isinstance(cell, str) and cell.strip():
            words[i] = cell.strip()
    return texts, words if any(words) else None


def _of_texts(name: str, cells: Sequence[Any]) -> Column:
    """A column of texts."""
    texts, words = _texts(cells)
    return Column(name, "text", texts, words=words)


def _text(cell: str) -> str | None:
    cell = plain(cell)
    return None if len(cell) <= LONGEST_GAP and cell.lower() in MISSING else cell


def _dates(values: Sequence[Any]) -> NDArray[np.datetime64]:
    return np.array([None if _is_gap(value) else _without_zone(value) for value in values], dtype=MICROSECONDS)


def _without_zone(value: Any) -> Any:
    """A date without its time zone, after which it is taken for UTC."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value


def _of_durations(name: str, values: Sequence[object]) -> Column:
    """A column of durations, in seconds."""
    return Column(name, "number", np.array([seconds_of(value) for value in values], dtype=np.float64), duration=True)


OF_PANDAS = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
"""Cells that pandas takes for gaps by itself."""

INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
"""Pattern of an infinite number; a column that has one may have gaps written in letters."""

GAPS = sorted(
    {*OF_PANDAS, *(form for cell in MISSING for form in (cell, cell.upper(), cell.title(), cell.capitalize()))}
)
"""Cells that are gaps, as pandas takes them: in lower, upper and mixed case."""


def word_columns(rows: Sequence[Sequence[str]], width: int, is_value: Callable[[str], bool]) -> list[int]:
    """Columns whose first filled cell is no number and no date, or none but NA, None and their like.

    Examples
    --------
    >>> word_columns([["NA", "NA", "1"], ["DE", "", "NA"]], 3, str.isdigit)
    [0, 1]
    """
    words = []
    for j in range(width):
        its = [row[j].strip() for row in rows if len(row) > j]
        first = next((cell for cell in its if cell.lower() not in MISSING and not INFINITE.fullmatch(cell)), None)
        if any(cell for cell in its if not INFINITE.fullmatch(cell)) if first is None else not is_value(first):
            words.append(j)
    return words


def na_options(width: int, words: Sequence[int]) -> dict[str, object]:
    """The options of `pandas.read_csv` about gaps, for columns named by their positions."""
    if not words:
        return {"na_values": GAPS, "keep_default_na": False}
    chosen = set(words)
    return {"na_values": {j: [""] if j in chosen else GAPS for j in range(width)}, "keep_default_na": False}


SERIES = (
    "Of series of numbers in time make a row each: the numbers at the same times side by side, "
    "array.reshape(len(array), -1), or the same features of each series, such as mean, trend and frequencies"
)
"""Advice for errors about series, which have more than two dimensions."""

TEXTS = (
    "texts are compared by numbers that stand for them: compute an embedding of each text by a language model, or "
    "counts of words (scikit-learn's TfidfVectorizer), and cluster these numbers, a row for each text"
)
"""Advice for errors about rows that are one text each."""

MOST_FIELDS = 5
"""Names of fields that a message shows."""


COMPLEX = "complex numbers, which cannot be compared; make two columns of their real and imaginary parts"
"""What is said of them."""


def why_no_table(X: object) -> str | None:
    """Why samples are no table of rows and columns, whatever is in them, and what to do; None for all others.

    Examples
    --------
    >>> why_no_table(np.zeros((5, 4, 3)))[:68], why_no_table(np.zeros((5, 4)))
    ('X has 3 dimensions, (5, 4, 3), and a table has two: rows and columns', None)
    """
    shape: tuple[int, ...] | None = getattr(X, "shape", None)
    if X is None or isinstance(X, str | bytes | PathLike | numbers.Number) or shape == ():
        file = isinstance(X, str | PathLike)
        read = "; read a file first, by pandas.read_csv or clusterkit.tables.read_table" if file else ""
        return f"X is {X!r:.80}, and a table is needed: rows and columns, or a data frame{read}"
    fields = getattr(getattr(X, "dtype", None), "names", None)
    if fields:
        shown = first_names(fields, MOST_FIELDS)
        return f"X is a structured array with the fields {shown}; pandas.DataFrame(X) makes columns of them"
    if isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1):
        first = X[0] if len(X) else None
        if isinstance(first, Mapping):
            return f"the rows of X are dicts, such as {first!r:.80}; pandas.DataFrame(X) makes a column of each key"
        rows = [row for row in X if isinstance(row, list | tuple | np.ndarray) and np.ndim(row[:1])]
        lengths = {len(row) for row in rows}
        if len(lengths) > 1:
            return (
                f"the rows of X have {min(lengths)} to {max(lengths)} values, and all must have the same number. "
                f"Series of different lengths are brought to one first, by resampling or cutting. {SERIES}"
            )
        shape = (len(X), *np.shape(rows[0])) if rows else (len(X),)
    if shape is not None and len(shape) == 1:
        cells: Any = X
        if isinstance(next(iter(cells), None), str):
            return f"X has one text a row, such as {next(iter(cells))[:40]!r}, and {TEXTS}"
        return (
            f"X has one dimension, {tuple(shape)}, and a table has two: rows and columns. Reshape your data: one "
            "number a row is a column, X.reshape(-1, 1) of an array and X.to_frame() of a series; one row alone is [X]"
        )
    if shape is None or len(shape) == 2:
        return None
    return f"X has {len(shape)} dimensions, {tuple(shape)}, and a table has two: rows and columns. {SERIES}"


TAKES_TABLES = (
    "Tables with texts, dates or gaps are taken by Auto().fit(frame), by clusterkit.compare, search and profile, and "
    "by the command line (clusterkit fit FILE); for other estimators clusterkit.tables.Preparation makes numbers of "
    "them: Preparation().fit(frame).transform(frame)."
)
"""Advice for a table that is more than numbers."""

SHOWN = 5
"""Columns that a message names."""

LONGEST_CELL = 40
"""Letters of a cell that a message shows."""

TESTS = {"NaN": np.isnan, "infinite values": np.isinf}
"""Values that no method takes, each with its test; scikit-learn's own checks look for these words."""


def plain_frame(X: object) -> object:
    """A data frame as scikit-learn takes it; one with dates, times or durations, with equal names or none is refused.

    So are tables that are no frames. Everything else is as it was.
    """
    if hasattr(X, "tocsr"):  # one kind of sparse matrix is a mapping
        return X
    if isinstance(X, Mapping | HoldsFrame):
        raise InvalidData(f"X is a {type(X).__name__}, no array and no data frame. {TAKES_TABLES}")
    if not is_frame(X):
        return X
    import narwhals.stable.v1 as nw

    frame, shared = opened(X)
    wrapped: Any = frame
    schema: Mapping[str, Any] = wrapped.schema
    if not schema:
        raise InvalidData("X is a data frame without a column")
    check_distinct(schema, shared, list(schema), "X")
    dates = [name for name, dtype in schema.items() if dtype.is_temporal()]
    if dates:
        raise InvalidData(
            f"{_holding([repr(name) for name in dates])} dates, times or durations, and the method takes numbers only. "
            f"{TAKES_TABLES}"
        )
    wide = [name for name, dtype in schema.items() if dtype in (nw.Int128, nw.UInt128)]
    if wide:
        return cast("object", wrapped.with_columns(nw.col(*wide).cast(nw.Float64)).to_native())
    if wrapped.implementation.is_pandas():
        pandas: Any = X
        sparse = {name: dtype for name, dtype in pandas.dtypes.items() if hasattr(dtype, "fill_value")}
        if sparse and (len(sparse) < len(schema) or any(dtype.fill_value != 0 for dtype in sparse.values())):
            X = pandas.astype({name: dtype.subtype for name, dtype in sparse.items()})  # scikit-learn warns or fails
    titles = list(getattr(X, "columns", ()))
    kinds = {isinstance(title, str) for title in titles}
    return renamed(X, [str(title) for title in titles]) if len(kinds) > 1 else X


def why_no_numbers(X: object) -> str | None:
    """Why samples are no table of finite numbers, with the columns that hold other things; None if not known.

    Examples
    --------
    >>> why_no_numbers(np.array([[1.0, np.nan]]))[:34]
    'X has NaN in 1 of 1 row, in column'
    """
    if why := why_no_table(X):
        return why
    try:
        if hasattr(X, "tocsr"):
            return _of_entries(cast("Any", X).tocoo())
        columns = _named(X)
    except Exception:  # where X is so odd that it has no columns, the error of scikit-learn says so
        return None
    imaginary = [column.name for column in columns if column.kind == "complex"]
    if imaginary:
        return f"Complex data not supported: {_holding(imaginary)} {COMPLEX}"
    texts = [(column.name, row) for column in columns if (row := _first_text(column)) is not None]
    if texts:
        name, row = texts[0]
        cell = str(next(column for column in columns if column.name == name).values[row])[:LONGEST_CELL]
        return (
            f"{_holding([title for title, _ in texts])} other things than numbers (row {row + 1} has {cell!r}), and "
            f"the method takes numbers only. {TAKES_TABLES}"
        )
    for what, test in TESTS.items():
        odd = {column.name: test(np.array(column.values, dtype=np.float64)) for column in columns}
        counts = {title: int(cells.sum()) for title, cells in odd.items() if cells.any()}
        if counts:
            cells = np.logical_or.reduce([odd[title] for title in counts])
            return _gaps(what, counts, int(cells.sum()), len(cells))
    return None


def _of_entries(X: Any) -> str | None:
    """Sentence about complex, infinite or missing entries of a sparse matrix; None if there are none."""
    if X.dtype.kind == "c":
        return f"X has {COMPLEX}"
    for what, test in TESTS.items():
        odd = test(X.data)
        if odd.any():
            columns, counts = np.unique(X.col[odd], return_counts=True)
            by_title = {str(j + 1): int(count) for j, count in zip(columns, counts, strict=True)}
            return _gaps(what, by_title, len(np.unique(X.row[odd])), X.shape[0])
    return None


def _named(X: object) -> Sequence[Column]:
    """The columns of a data frame, named as in messages, or of rows, numbered from 1."""
    if is_frame(X):
        return [attrs.evolve(column, name=repr(column.name)) for column in columns_of(X)]
    rows: AnyArray = np.asarray(X) if hasattr(X, "dtype") else np.array(X, dtype=object)
    if rows.ndim != 2:
        return []
    columns = columns_of({str(j + 1): values for j, values in enumerate(rows.T)})
    # of objects in an array only one thing is known: they are no numbers, which scikit-learn says by a TypeError
    return [] if any(column.kind == "other" for column in columns) else columns


def _first_text(column: Column) -> int | None:
    """The first row that is no number; None if all are."""
    if column.kind not in ("text", "date", "other"):
        return None
    for row, cell in enumerate(column.values):
        if cell is None or (isinstance(cell, np.datetime64) and np.isnat(cell)):
            continue
        try:
            float(cell)
        except (TypeError, ValueError):
            return row
    return None


def _holding(titles: Sequence[str]) -> str:
    """Beginning of a sentence about the content of columns."""
    shown = first_names(titles, SHOWN)
    return f"column {shown} of X holds" if len(titles) == 1 else f"{len(titles)} columns of X ({shown}) hold"


def _gaps(what: str, counts: Mapping[str, int], rows: int, n: int) -> str:
    """The message about cells that no method takes, from their number by column and the number of their rows."""
    listed = first_names([f"{title} ({number:,})" for title, number in counts.items()], SHOWN)
    subject = "column" if len(counts) == 1 else f"{len(counts)} columns:"
    return (
        f"X has {what} in {rows:,} of {counted(n, 'row')}, in {subject} {listed}. Leave out these rows or columns, or "
        f"fill the gaps. {TAKES_TABLES}"
    )
