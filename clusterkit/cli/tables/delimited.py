"""Text with a delimiter: CSV, TSV, and numbers between spaces."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from clusterkit.cli.tables.opened import (
    MISSING,
    NAMES_SHOWN,
    OpenedTable,
    TableError,
    is_number,
    numbered,
    refuse,
    unique,
)
from clusterkit.core import memory

__all__ = ["DelimitedTable", "decoded"]

PREVIEW = 50
"""Number of rows from which the delimiter and the header are detected."""


LONGEST_NAME = 80
"""Characters of a column name that the error about a table without rows shows."""


class DelimitedTable(OpenedTable):
    """A table in delimited text, whose delimiter and header have been detected.

    Parameters
    ----------
    text : str
        The content of the file.
    title : str
        The name in messages.
    delimiter : str or None
        Detected if None.
    header : bool or None
        Whether the first row holds names; detected if None.
    """

    def __init__(self, text: str, title: str, delimiter: str | None, header: bool | None) -> None:
        self.text, self.title = text, title
        self.delimiter = delimiter or ("\t" if ".tsv" in Path(title.lower()).suffixes else _delimiter(text))
        try:
            preview = [row for _, row in _rows(text, self.delimiter, PREVIEW + 1)]
        except csv.Error as error:
            raise TableError(f"{title} is no delimited text: {error}") from None
        if not preview:
            raise TableError(f"{title} is empty")
        self.named = _looks_like_names(preview) if header is None else header
        self.names = unique(preview[0]) if self.named else numbered(len(preview[0]))
        if self.named and len(preview) == 1:
            shown = ", ".join(name[:LONGEST_NAME] for name in self.names[:NAMES_SHOWN])
            raise TableError(f"{title} has no row of data, only the names {shown}")

    def cells(self) -> list[list[str]]:
        """All columns of all rows as text."""
        return [row for _, row in self.body()]

    def body(self) -> Iterator[tuple[int, list[str]]]:
        """Line number and cells of each row of data."""
        rows = _rows(self.text, self.delimiter)
        try:
            if self.named:
                next(rows)
            yield from rows
        except csv.Error as error:
            raise TableError(f"{self.title} is no delimited text: {error}") from None

    def numbers(self, chosen: list[int]) -> NDArray[np.float64]:
        """The chosen columns, (n, d), read by numpy's C code. Only if that fails are the rows examined one by one."""
        if len(self.names) == 1:
            self._refuse_gaps()
        blank = None if self.delimiter == " " else self.delimiter
        lines = io.StringIO(self.text)
        try:
            skip = next(_rows(self.text, self.delimiter))[0] if self.named else 0
            some = None if len(chosen) == len(self.names) else chosen
            data = np.loadtxt(
                lines, delimiter=blank, quotechar='"', comments=None, skiprows=skip, usecols=some, ndmin=2
            )
        except ValueError as error:
            self._explain(chosen)
            raise TableError(f"{self.title}: {error}") from None
        if data.shape[1] != len(chosen) or not np.isfinite(data).all():
            self._explain(chosen)
        return data if some is not None else data[:, chosen]

    def _refuse_gaps(self) -> None:
        """Raise for an empty line in a single column: it is a missing value, and to skip it would shift the rows."""
        lines = self.text.splitlines()
        filled = [i for i, line in enumerate(lines) if line.strip()]
        gap = next((a for a, b in itertools.pairwise(filled) if b > a + 1), None)
        if gap is not None:
            raise TableError(f"{self.title}: line {gap + 2} is empty, so column {self.names[0]!r} has no value there")

    def _explain(self, chosen: list[int]) -> None:
        """Raise the error that names the cells which cannot be read."""
        words: dict[int, str] = {}
        gaps: dict[int, str] = {}
        for number, (line, cells) in enumerate(self.body(), 1):
            where = f"row {number} (line {line})"
            if len(cells) != len(self.names):
                raise TableError(f"{self.title}: {where} has {len(cells)} cells instead of {len(self.names)}")
            for j in chosen:
                if cells[j].strip().lower() in MISSING:
                    gaps.setdefault(j, f"column {self.names[j]!r}, {where}: {cells[j].strip()!r}")
                elif not is_number(cells[j]):
                    words.setdefault(j, f"column {self.names[j]!r}, {where}: {cells[j].strip()!r}")
        refuse(self.title, self.names, words, gaps)


def _rows(text: str, delimiter: str, most: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of each row that is not blank, of at most `most` rows."""
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    for row in reader:
        if row and (len(row) > 1 or row[0].strip()):
            yield reader.line_num, [cell for cell in row if cell] if delimiter == " " else row
            most = None if most is None else most - 1
            if most == 0:
                return


def _delimiter(text: str) -> str:
    """The delimiter that cuts all of the first rows into the same number of cells; if several do, the most cells."""
    best, most = ",", 1
    for mark in ",;\t| ":
        try:
            widths = {len(row) for _, row in _rows(text, mark, PREVIEW)}
        except csv.Error:  # a cell longer than the reader takes; another delimiter may cut it
            continue
        if len(widths) == 1 and (width := widths.pop()) > most:
            best, most = mark, width
    return best


def _looks_like_names(preview: list[list[str]]) -> bool:
    """Whether no cell of the first row is a number or missing, or one is a word with only numbers below it."""
    words = [cell.strip().lower() not in MISSING and not is_number(cell) for cell in preview[0]]
    if all(words):
        return True
    below = [row for row in preview[1:] if len(row) == len(words)]
    return bool(below) and any(word and all(is_number(row[j]) for row in below) for j, word in enumerate(words))


def decoded(source: str | Path | BinaryIO, title: str) -> str:
    """The text of a file or stream, decompressed if it is gzipped.

    Raises
    ------
    TableError
        If it is no text, or larger than `clusterkit.core.memory.unpacked_cap` allows when it is decompressed.
    """
    content = Path(source).read_bytes() if isinstance(source, str | Path) else source.read()
    try:
        if content[:2] == b"\x1f\x8b":
            content = _unpacked(content, title)
        # lines of old Macs end in CR alone, which the reader of CSV takes for a part of a cell
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise TableError(f"{title} is not UTF-8 text. Formats: CSV, TSV (also .gz), Parquet, NPY") from None
    except (EOFError, OSError, zlib.error) as error:
        raise TableError(f"{title} cannot be unpacked: {error}") from None


def _unpacked(content: bytes, title: str) -> bytes:
    """The gzipped content, read no further than the cap: a few thousand bytes may stand for gigabytes."""
    allowed = memory.unpacked_cap()
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        text = file.read(allowed + 1)
    if len(text) > allowed:
        raise TableError(
            f"{title} is larger than {memory.human(allowed)} when it is unpacked. If that is right, raise the cap: "
            f"{memory.setting(memory.UNPACKED_VARIABLE, 4 * allowed)}"
        )
    return text
