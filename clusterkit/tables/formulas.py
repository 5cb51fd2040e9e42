"""Formulas of spreadsheets that have no value: what wrote the file did not compute them."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from clusterkit.core.errors import first_names
from clusterkit.core.wording import counted

__all__ = ["REMEDY", "pieces", "uncomputed", "warning_of"]

FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")
"""A formula in a sheet of an XLSX file."""

PIECE = 2**20
"""Bytes of a sheet that are looked at together."""

OVERLAP = 128
"""Bytes of a piece that are looked at again with the next one: the longest element that is searched for."""

SHOWN = 5
"""Columns that a warning names."""

REMEDY = "open the file in a spreadsheet program and save it there, which computes them"
"""What to do about them."""


def uncomputed(title: str, sheet: str) -> NDArray[np.intp]:
    """Row and column, from 0, of each cell of a sheet that holds a formula without a value, shape (m, 2).

    Parameters
    ----------
    title : str
        An XLSX file that has been read once.
    sheet : str
    """
    if not _has_formulas(title):
        return np.empty((0, 2), dtype=np.intp)
    import openpyxl

    places: list[tuple[int, int]] = []
    with_values = openpyxl.load_workbook(title, read_only=True, data_only=True)
    with_formulas = openpyxl.load_workbook(title, read_only=True, data_only=False)
    try:
        sheets = with_values[sheet], with_formulas[sheet]
        for one in sheets:
            one.reset_dimensions()  # rows would be filled up to those that the file names
        for values, formulas in zip(sheets[0].rows, sheets[1].rows, strict=False):
            for value, formula in zip(values, formulas, strict=False):
                if value.value is None and formula.value is not None and formula.data_type == "f":
                    places.append((formula.row - 1, formula.column - 1))
    finally:
        with_values.close()
        with_formulas.close()
    return np.array(places, dtype=np.intp).reshape(-1, 2)


def warning_of(title: str, sheet: str, columns: Sequence[str], count: int) -> str:
    """The sentence about formulas without values.

    Parameters
    ----------
    title, sheet : str
    columns : sequence of str
        Names of the columns that have some.
    count : int
        Number of the cells.
    """
    where = f"column{'s' * (len(columns) > 1)} {first_names(columns, SHOWN)}"
    verb = "holds a formula" if count == 1 else "hold formulas"
    counts = "counts" if count == 1 else "count"
    return (
        f"{title}, sheet {sheet!r}: {counted(count, 'cell')} of {where} {verb} without a value, and {counts} as "
        f"missing; {REMEDY}"
    )


def _has_formulas(title: str) -> bool:
    """Whether a formula is in some sheet; most files have none, and need not be read again."""
    try:
        with zipfile.ZipFile(title) as archive:
            sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
            return any(FORMULA.search(piece) for name in sheets for piece in pieces(archive, name))
    except (OSError, zipfile.BadZipFile):
        return False


def pieces(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """The content of a file of an archive, in pieces that overlap by the length of a mark."""
    before = b""
    with archive.open(name) as file:
        while piece := file.read(PIECE):
            yield before + piece
            before = piece[-OVERLAP:]
