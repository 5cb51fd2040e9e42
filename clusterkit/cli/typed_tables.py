"""Labels, and the columns before them, as Parquet or Excel: numbers stay numbers, and dates dates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from clusterkit.cli.failures import BadInput

if TYPE_CHECKING:
    from clusterkit._typing import Labels
    from clusterkit.tables import Column

__all__ = ["WRITERS", "check"]

LIBRARIES: Mapping[str, str] = MappingProxyType({".parquet": "pyarrow", ".xlsx": "openpyxl"})
"""What writes files of an ending."""

MOST_ROWS = 1_048_575
"""Rows below the names of the columns that a sheet of Excel can have."""

WHOLE = 2.0**53
"""Below it every whole number has a float of its own."""

WRITTEN_ROWS = 2**18
"""Labels that are written at once."""


def check(path: str) -> None:
    """Raise `BadInput` if the library that writes the file is missing."""
    library = LIBRARIES[Path(path).suffix.lower()]
    try:
        __import__(library)
    except ImportError:
        raise BadInput(f"{path} needs {library}; install clusterkit-toolkit with the extra 'tables'") from None


def write_parquet(path: Path, columns: Sequence[Column], name: str, labels: Labels) -> None:
    """Write columns and labels as Parquet, labels alone piece by piece."""
    import numpy as np
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    columns = [column.with_words() for column in columns]
    arrays = {column.name: pa.array(*_for_arrow(column)) for column in columns}
    schema = pa.schema([*((key, array.type) for key, array in arrays.items()), (name, pa.int64())])
    with ParquetWriter(path, schema) as writer:
        for start in range(0, len(labels), WRITTEN_ROWS):
            part = slice(start, start + WRITTEN_ROWS)
            piece = {key: array[part] for key, array in arrays.items()}
            writer.write_table(pa.table({**piece, name: np.asarray(labels[part], dtype=np.int64)}, schema=schema))


def _for_arrow(column: Column) -> tuple[Any, ...]:
    """Values, and which of them are gaps where they cannot be None."""
    import numpy as np
    import pyarrow as pa

    if column.kind == "number":
        if (
            np.isfinite(column.values).all()
            and (np.abs(column.values) < WHOLE).all()
            and (column.values % 1 == 0).all()
        ):
            return (column.values.astype(np.int64),)
        return column.values, None, np.isnan(column.values)
    if column.kind == "date":
        return (column.values,)
    return _cells(column), pa.bool_() if column.kind == "truth" else pa.string()


def _cells(column: Column) -> list[Any]:
    """The cells as objects of Python; None for gaps."""
    gaps = column.missing()
    values = column.values.tolist()
    if column.kind == "number":  # a sheet has no infinite numbers
        return [None if math.isnan(value) else str(value) if math.isinf(value) else value for value in values]
    if column.kind == "truth":
        values = [bool(value == 1) for value in values]
    elif column.kind in ("text", "complex", "other"):
        values = [str(value) for value in values]
    return [None if gap else value for gap, value in zip(gaps.tolist(), values, strict=True)]


def write_excel(path: Path, columns: Sequence[Column], name: str, labels: Labels) -> None:
    """Write columns and labels as a sheet of Excel; texts stay texts, also where they look like formulas.

    Raises
    ------
    BadInput
        If a sheet cannot have so many rows.
    """
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if len(labels) > MOST_ROWS:
        raise BadInput(f"Excel has room for {MOST_ROWS:,} rows, not for {len(labels):,}; write .csv or .parquet")
    book = Workbook(write_only=True)
    sheet = book.create_sheet("clusters")

    def cell(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        made = WriteOnlyCell(sheet, ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", value))
        made.data_type = "s"
        return made

    sheet.append([cell(title) for title in (*(column.name for column in columns), name)])
    for row in zip(*(_cells(column.with_words()) for column in columns), labels.tolist(), strict=True):
        sheet.append([cell(value) for value in row])
    with path.open("wb") as file:
        book.save(file)


WRITERS: Mapping[str, Callable[[Path, Sequence[Column], str, Labels], None]] = MappingProxyType(
    {".parquet": write_parquet, ".xlsx": write_excel}
)
"""What writes each kind of table, by the ending of the file."""
