"""Any table as columns of numbers and of categories, a few rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, final

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import AnyArray, Array, Indices
from clusterkit.core.errors import InvalidData, InvalidParameter

__all__ = ["Column", "Kind", "RawTable"]

Kind = Literal["number", "category", "date"]
"""What a column holds. Dates are counted in seconds since 1970."""

FRAMES = ("pandas", "polars", "pyarrow", "modin", "cudf")
"""Packages whose tables narwhals reads; other tables must be arrays."""


@final
@attrs.frozen(eq=False)
class Column:
    """A column of some rows.

    Parameters
    ----------
    name : str
    kind : {"number", "category", "date"}
    values : ndarray of shape (m,)
        Numbers, nan where missing; or the codes of the levels, -1 where missing.
    levels : tuple of str
        Of a category.
    """

    name: str
    kind: Kind
    values: AnyArray
    levels: tuple[str, ...] = ()


@final
@attrs.frozen(eq=False)
class RawTable:
    """A table of n rows, of which any can be read as columns.

    Parameters
    ----------
    n : int
    names : tuple of str
    source : object
        An array, a sparse matrix in CSR form, or a data frame of narwhals.
    """

    n: int
    names: tuple[str, ...]
    source: Any

    @classmethod
    def of(cls, X: Any, names: Sequence[str] | None, model: object, caller: str) -> RawTable:
        """A table from whatever the user has: an array-like, a sparse matrix, or a data frame.

        Names are those passed, else of the data frame, else those that the model was fitted with, else x0, x1, ...

        Raises
        ------
        InvalidData
            If X is no table of two dimensions, or a lazy frame.
        InvalidParameter
            If there are more or fewer names than columns.
        """
        package = type(X).__module__.partition(".")[0]
        columns: Sequence[Any] | None = None
        source: Any
        if package in FRAMES and hasattr(X, "columns"):
            source = _frame(X, caller)
            n, d = source.shape
            columns = source.columns
        elif hasattr(X, "tocsr"):
            source = X.tocsr()
            n, d = source.shape
        else:
            source = X if isinstance(X, np.ndarray) else _array(X, caller)
            if source.ndim != 2:
                raise InvalidData(f"{caller}: X must be a table (n, d), got an array of shape {source.shape}")
            n, d = source.shape
        if names is not None and len(names) != d:
            raise InvalidParameter(f"{caller}: names must be one for each of the {d} columns, got {len(names)}")
        fitted = getattr(model, "feature_names_in_", None)
        if columns is None and fitted is not None and len(fitted) == d:
            columns = list(fitted)
        chosen: Sequence[Any] = names if names is not None else columns or [f"x{j}" for j in range(d)]
        return cls(int(n), tuple(str(name) for name in chosen), source)

    def take(self, rows: Indices) -> Any:
        """Some rows in the type that the user passed."""
        part = self.source[rows]
        return part.to_native() if hasattr(part, "to_native") else part

    def columns(self, rows: Indices) -> list[Column]:
        """The columns of some rows, in this order; O(m d) for m rows."""
        if hasattr(self.source, "get_column"):
            part = self.source[rows]
            return [_of_series(name, part.get_column(key)) for name, key in zip(self.names, part.columns, strict=True)]
        cells = self.source[rows]
        if hasattr(cells, "toarray"):
            cells = cells.toarray()
        return [_of_values(name, values) for name, values in zip(self.names, cells.T, strict=True)]


def _frame(X: Any, caller: str) -> Any:
    import narwhals

    try:
        return narwhals.from_native(X, eager_only=True)
    except TypeError as error:
        raise InvalidData(
            f"{caller}: X is a {type(X).__name__}, a query that is not run yet; pass its result (X.collect())"
        ) from error


def _array(X: Any, caller: str) -> AnyArray:
    try:
        array: AnyArray = np.asarray(X)
    except ValueError as error:
        raise InvalidData(f"{caller}: X must be a table (n, d): {error}") from error
    if array.dtype.kind in "US":  # numpy makes text of rows that hold numbers and text
        array = np.array(X, dtype=object)
    return array


def _of_series(name: str, series: Any) -> Column:
    """A column of a data frame."""
    import narwhals

    kind = series.dtype
    if kind.is_numeric():
        return Column(name, "number", np.asarray(series.cast(narwhals.Float64).to_numpy(), dtype=np.float64))
    if kind in (narwhals.Date, narwhals.Datetime):
        return Column(name, "date", _seconds(np.array(series.to_list(), dtype=object)))
    return _of_values(name, np.array([*series.to_list(), None], dtype=object)[:-1])


def _of_values(name: str, values: AnyArray) -> Column:
    """A column of an array: a number where every cell is one."""
    if values.dtype.kind in "iuf":
        return Column(name, "number", values.astype(np.float64))
    if values.dtype.kind == "M":
        return Column(name, "date", _seconds(values))
    missing = np.array([_is_missing(value) for value in values.tolist()], dtype=bool)
    if values.dtype.kind == "O" and not any(isinstance(value, str | bool | np.bool_) for value in values[~missing]):
        numbers = np.full(len(values), np.nan)
        try:
            numbers[~missing] = values[~missing].astype(np.float64)
            return Column(name, "number", numbers)
        except (TypeError, ValueError):
            pass
    words = np.array([str(value) for value in values.tolist()], dtype=object)
    levels = sorted(set(words[~missing].tolist()))
    code = {level: number for number, level in enumerate(levels)}
    codes = np.array([-1 if gone else code[word] for word, gone in zip(words, missing, strict=True)], dtype=np.intp)
    return Column(name, "category", codes, tuple(levels))


def _seconds(values: NDArray[Any]) -> Array:
    """Dates as seconds since 1970, nan where missing."""
    times = (
        np.array([None if _is_missing(value) else value for value in values.tolist()], dtype="datetime64[us]")
        if values.dtype.kind == "O"
        else values.astype("datetime64[us]")
    )
    seconds: Array = times.astype(np.int64) / 1e6
    seconds[np.isnat(times)] = np.nan
    return seconds


def _is_missing(value: object) -> bool:
    """Whether a cell is None, nan, NaT or the missing value of pandas: none of the last three equals itself."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True
