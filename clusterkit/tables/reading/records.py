"""JSON as a table: rows that name their cells, rows of cells, or columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clusterkit.errors import TableError, counted
from clusterkit.tables.cells.column_names import numbered, shared_names, unique
from clusterkit.tables.reading import unpacking
from clusterkit.tables.reading.table import Table, check_not_empty

__all__ = ["read_json"]

FORMS = 'a list of rows, [{"a": 1, "b": 2}, ...] or [[1, 2], ...], or columns, {"a": [1, ...], "b": [2, ...]}'
"""The forms of a table in JSON."""


def read_json(title: str, header: bool | None, encoding: str | None, *, lines: bool) -> Table:
    """The table of a JSON file.

    Parameters
    ----------
    title : str
        The file.
    header : bool or None
        Whether the first of rows without names holds them; it does not by default.
    encoding : str or None
    lines : bool
        Whether each line is a row.

    Raises
    ------
    TableError
        If it is no JSON, or no table.
    """
    text, _ = unpacking.decoded(unpacking.content_of(title, title), title, encoding)
    try:
        value: Any = [json.loads(line) for line in text.split("\n") if line.strip()] if lines else json.loads(text)
    except (ValueError, RecursionError) as error:
        of_lines = not lines and getattr(error, "msg", "") == "Extra data"
        more = "; a file with a row in each line is read if its name ends in .jsonl" if of_lines else ""
        raise TableError(f"{title} is no JSON{' in lines' * lines}: {error}{more}") from None
    if isinstance(value, Mapping) and {"columns", "data"} <= value.keys():  # the form of pandas with orient="split"
        return _of_rows(title, value["data"], value["columns"])
    if isinstance(value, Mapping):
        return _of_columns(title, value)
    if not isinstance(value, list):
        raise TableError(f"{title} is no table: {FORMS} is one")
    if all(isinstance(row, Mapping) for row in value):
        names = list(dict.fromkeys(name for row in value for name in row))
        return _table(title, names, ([row.get(name) for row in value] for name in names))
    return _of_rows(title, value[1:], value[0]) if header and value else _of_rows(title, value, None)


def _of_columns(title: str, value: Mapping[str, Any]) -> Table:
    """A table of columns by name: lists of cells, or cells by the names of their rows."""
    columns = [list(its.values()) if isinstance(its, Mapping) else its for its in value.values()]
    if not columns or not all(isinstance(its, list) for its in columns):
        raise TableError(f"{title} is no table: {FORMS} is one")
    if len({len(its) for its in columns}) > 1:
        sizes = sorted({len(its) for its in columns})
        raise TableError(f"{title}: the columns have {sizes[0]:,} to {sizes[-1]:,} cells")
    rows = {tuple(its) for its in value.values() if isinstance(its, Mapping)}
    if len(rows) > 1:
        raise TableError(f"{title}: the columns have cells for different rows")
    return _table(title, list(value), columns)


def _of_rows(title: str, rows: Any, names: Any) -> Table:
    """A table of rows of cells."""
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise TableError(f"{title} is no table: {FORMS} is one")
    width = len(names) if isinstance(names, list) else max(map(len, rows), default=0)
    odd = next((i for i, row in enumerate(rows) if len(row) != width), None)
    if odd is not None:
        raise TableError(f"{title}: row {odd + 1} has {counted(len(rows[odd]), 'cell')} instead of {width}")
    return _table(title, names, ([row[j] for row in rows] for j in range(width)))


def _table(title: str, names: Sequence[Any] | None, columns: Iterable[list[Any]]) -> Table:
    """A table of lists of cells; lists and objects in cells are no values."""
    titles = [] if names is None else [str(name) for name in names]
    cells = [_column(its) for its in columns]
    if not cells:
        raise TableError(f"{title} has no column")
    unique_names = unique(titles) if titles else numbered(len(cells))
    frame = dict(zip(unique_names, cells, strict=True))
    shared = shared_names(titles, unique_names)
    return check_not_empty(Table(title, frame, tuple(unique_names), bool(titles), shared=shared))


def _column(cells: list[Any]) -> NDArray[np.object_]:
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column
