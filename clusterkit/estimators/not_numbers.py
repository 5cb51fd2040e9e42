"""Samples with text, dates or gaps: one error that names the columns, and what takes such tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from clusterkit._typing import AnyArray
from clusterkit.core.errors import InvalidData, first_names
from clusterkit.core.shapes import why_no_table
from clusterkit.core.wording import counted

if TYPE_CHECKING:
    from clusterkit.tables import Column

__all__ = ["only_numbers"]

TAKES_TABLES = (
    "Tables with texts, dates or gaps are taken by Auto().fit(frame), by clusterkit.compare, search and profile, and "
    "by the command line (clusterkit fit FILE); for other estimators clusterkit.tables.Preparation makes numbers of "
    "them: Preparation().fit(frame).transform(frame)."
)
"""What to do with a table that is more than numbers."""

SHOWN = 5
"""Columns that a message names."""

LONGEST_CELL = 40
"""Letters of a cell that a message shows."""

TESTS = {"NaN": np.isnan, "infinite values": np.isinf}
"""What no method takes, and how it is recognised; scikit-learn's own checks look for these words."""


@contextmanager
def only_numbers(X: object) -> Iterator[None]:
    """Refuse samples with other columns than finite numbers, naming these, where scikit-learn validates the samples.

    Dates in data frames are refused at once, because some libraries turn them into counts of microseconds or
    nanoseconds without a word, which then outweigh every other column. For everything else nothing is computed unless
    scikit-learn has refused the samples.

    Raises
    ------
    InvalidData
        If X is a data frame with dates, times or durations, or a table that is no data frame; if the block raises a
        TypeError or ValueError, and a column of X has texts, NaN or infinite values, or X is no table at all.
    """
    if not isinstance(X, np.ndarray | list | tuple):
        _refuse_dates(X)
    try:
        yield
    except InvalidData:
        raise
    except (TypeError, ValueError):
        reason = why_no_table(X) or _reason(X)
        if reason is None:
            raise
        raise InvalidData(reason) from None


def _refuse_dates(X: object) -> None:
    """Refuse a data frame with dates, times or durations, and tables that are no data frames."""
    from clusterkit.tables.frames import HoldsFrame, is_frame, opened

    if issparse(X):  # one kind of sparse matrix is a mapping
        return
    if isinstance(X, Mapping | HoldsFrame):
        raise InvalidData(f"X is a {type(X).__name__}, no array and no data frame. {TAKES_TABLES}")
    if not is_frame(X):
        return
    schema: Mapping[str, Any] = cast("Any", opened(X)[0]).schema
    dates = [name for name, dtype in schema.items() if dtype.is_temporal()]
    if dates:
        raise InvalidData(
            f"{_holding([repr(name) for name in dates])} dates, times or durations, and the method takes numbers only. "
            f"{TAKES_TABLES}"
        )


def _reason(X: object) -> str | None:
    """Which columns are no numbers, or have gaps; None if there are none, or X is no table."""
    try:
        if issparse(X):
            return _of_entries(cast("Any", X).tocoo())
        columns = _columns(X)
    except Exception:  # where X is so odd that it has no columns, the error of scikit-learn says so
        return None
    if any(column.kind == "complex" for column in columns):
        return None
    texts = [(column.name, row) for column in columns if (row := _first_text(column)) is not None]
    if texts:
        name, row = texts[0]
        cell = str(next(column for column in columns if column.name == name).values[row])[:LONGEST_CELL]
        return (
            f"{_holding([title for title, _ in texts])} other things than numbers (row {row + 1} has {cell!r}), and "
            f"the method takes numbers only. {TAKES_TABLES}"
        )
    numbers = {column.name: _floats(column) for column in columns}
    for what, test in TESTS.items():
        odd = {title: test(values) for title, values in numbers.items()}
        counts = {title: int(cells.sum()) for title, cells in odd.items() if cells.any()}
        if counts:
            cells = np.logical_or.reduce([odd[title] for title in counts])
            return _gaps(what, counts, int(cells.sum()), len(cells))
    return None


def _of_entries(X: Any) -> str | None:
    """The same of the entries of a sparse matrix."""
    for what, test in TESTS.items():
        odd = test(X.data)
        if odd.any():
            columns, counts = np.unique(X.col[odd], return_counts=True)
            by_title = {str(j + 1): int(count) for j, count in zip(columns, counts, strict=True)}
            return _gaps(what, by_title, len(np.unique(X.row[odd])), X.shape[0])
    return None


def _columns(X: object) -> Sequence[Column]:
    """The columns of a data frame, named as in messages, or of rows, numbered from 1."""
    import attrs

    from clusterkit.tables.frames import columns_of, is_frame

    if is_frame(X):
        return [attrs.evolve(column, name=repr(column.name)) for column in columns_of(X)]
    rows: AnyArray = np.asarray(X) if hasattr(X, "dtype") else np.array(X, dtype=object)
    if rows.ndim != 2:
        return []
    columns = columns_of({str(j + 1): values for j, values in enumerate(rows.T)})
    # of objects in an array nothing is known but that they are no numbers, which scikit-learn says by a TypeError
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


def _floats(column: Column) -> NDArray[np.float64]:
    """The cells of a column of numbers, or of texts that are numbers."""
    return np.array(column.values, dtype=np.float64)


def _holding(titles: Sequence[str]) -> str:
    """The beginning of a sentence about what columns hold."""
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
