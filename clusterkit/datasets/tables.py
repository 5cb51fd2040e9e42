"""Unlabelled tables of numbers from files: CSV and TSV (also gzipped), Parquet, NPY.

pandas is not needed. Whatever cannot be clustered is refused here, with the column and the row, because
further inside only an array is left.
"""

from __future__ import annotations

import csv
import difflib
import gzip
import io
import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import attrs
import numpy as np
from numpy.typing import NDArray

__all__ = ["NotNumeric", "Table", "TableError", "read_table", "select"]

PREVIEW = 50
"""Rows looked at to find the delimiter and the header."""
MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})
NAMES_SHOWN = 12


class TableError(ValueError):
    """A file that is no table of numbers."""


class NotNumeric(TableError):
    """Columns that hold something else than numbers, or nothing; `columns` has their names."""

    def __init__(self, message: str, columns: Sequence[str]) -> None:
        super().__init__(message)
        self.columns = tuple(columns)


@attrs.frozen(eq=False)
class Table:
    """Columns of numbers.

    Attributes
    ----------
    data : ndarray of shape (n, d), float64 or float32
        Finite.
    names : tuple of str
        One for each column of `data`; "x1", "x2" ... by position in the file if it names none.
    named : bool
        Whether the names are the file's own.
    rows : list of list of str
        All cells of all columns as they stand in the file; empty unless asked for.
    row_names : tuple of str
        Names of the columns of `rows`.
    """

    data: NDArray[Any]
    names: tuple[str, ...]
    named: bool
    rows: list[list[str]] = attrs.field(factory=list)
    row_names: tuple[str, ...] = ()


def read_table(
    source: str | Path | BinaryIO,
    *,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    header: bool | None = None,
    keep_rows: bool = False,
) -> Table:
    """Read a file; its ending tells the format, and any unknown ending means text with a delimiter.

    Parameters
    ----------
    source : path or binary stream
        A stream is read as CSV.
    columns, drop : sequences of str
        What to use and what to leave out: names, positions from 1, ranges of positions ("2-5").
    delimiter : str, optional
        Of text; found by looking if None.
    header : bool, optional
        Whether the first row of text holds names; found by looking if None.
    keep_rows : bool
        Whether to keep all cells, also of columns that are not used.

    Raises
    ------
    TableError
    OSError
    """
    title = str(source) if isinstance(source, str | Path) else "standard input"
    ending = Path(title).suffix.lower() if isinstance(source, str | Path) else ""
    if ending in {".npy", ".parquet", ".pq"}:
        names, arrays = _npy(title) if ending == ".npy" else _parquet(title)
        chosen = select(names or _numbered(len(arrays)), columns, drop, title)
        every = names or _numbered(len(arrays))
        data = _stack(arrays, every, chosen, title)
        rows = [[str(v) for v in row] for row in zip(*arrays, strict=True)] if keep_rows else []
        return Table(data, tuple(every[j] for j in chosen), bool(names), rows, tuple(every))
    text = _Text(_decoded(source, title), title, delimiter, header)
    chosen = select(text.names, columns, drop, title)
    rows = [row for _, row in text.body()] if keep_rows else []
    return Table(text.parse(chosen), tuple(text.names[j] for j in chosen), text.named, rows, tuple(text.names))


def select(names: Sequence[str], columns: Iterable[str], drop: Iterable[str], title: str) -> list[int]:
    """Positions of the columns to use, in the order asked for; names come before positions.

    Examples
    --------
    >>> select(["id", "a", "b", "c"], ["2-3", "c"], ["a"], "t.csv")
    [2, 3]
    """
    wanted = [j for key in columns for j in _positions(key, names, title)] or range(len(names))
    unwanted = {j for key in drop for j in _positions(key, names, title)}
    chosen = [j for j in dict.fromkeys(wanted) if j not in unwanted]
    if not chosen:
        raise TableError(f"{title}: no column is left to cluster")
    return chosen


def _positions(key: str, names: Sequence[str], title: str) -> Sequence[int]:
    if key in names:
        return [names.index(key)]
    low, dash, high = key.partition("-")
    if low.isdecimal() and (high.isdecimal() if dash else True):
        first, last = int(low), int(high if dash else low)
        if 1 <= first <= last <= len(names):
            return range(first - 1, last)
        raise TableError(f"{title}: no column {key}; there are {len(names)} columns, counted from 1")
    close = difflib.get_close_matches(key, names, n=1)
    offer = f" Did you mean {close[0]!r}?" if close else ""
    shown = ", ".join(names[:NAMES_SHOWN]) + (", ..." if len(names) > NAMES_SHOWN else "")
    raise TableError(f"{title}: no column named {key!r}.{offer} Its {len(names)} columns: {shown}")


class _Text:
    """Delimited text whose delimiter and header are settled."""

    def __init__(self, text: str, title: str, delimiter: str | None, header: bool | None) -> None:
        self.text, self.title = text, title
        self.delimiter = delimiter or ("\t" if ".tsv" in Path(title.lower()).suffixes else _delimiter(text))
        preview = [row for _, row in _rows(text, self.delimiter, PREVIEW + 1)]
        if not preview:
            raise TableError(f"{title} is empty")
        self.named = _looks_like_names(preview) if header is None else header
        self.names = _unique(preview[0]) if self.named else _numbered(len(preview[0]))
        if self.named and len(preview) == 1:
            raise TableError(f"{title} has no row of data, only the names {', '.join(self.names[:NAMES_SHOWN])}")

    def body(self) -> Iterator[tuple[int, list[str]]]:
        """Line number and cells of the rows of data."""
        rows = _rows(self.text, self.delimiter)
        if self.named:
            next(rows)
        return rows

    def parse(self, chosen: list[int]) -> NDArray[np.float64]:
        """Numbers of the chosen columns, at numpy's C speed; only if that fails rows are looked at one by one."""
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

    def _explain(self, chosen: list[int]) -> None:
        """Raise the error that names what is wrong where."""
        words: dict[int, str] = {}
        gaps: dict[int, str] = {}
        for number, (line, cells) in enumerate(self.body(), 1):
            where = f"row {number} (line {line})"
            if len(cells) != len(self.names):
                raise TableError(f"{self.title}: {where} has {len(cells)} cells instead of {len(self.names)}")
            for j in chosen:
                if cells[j].strip().lower() in MISSING:
                    gaps.setdefault(j, f"column {self.names[j]!r}, {where}: {cells[j].strip()!r}")
                elif not _is_number(cells[j]):
                    words.setdefault(j, f"column {self.names[j]!r}, {where}: {cells[j].strip()!r}")
        _refuse(self.title, self.names, words, gaps)


def _refuse(title: str, names: Sequence[str], words: dict[int, str], gaps: dict[int, str]) -> None:
    for found, what in ((words, "not a finite number"), (gaps, "missing value")):
        if found:
            shown = "; ".join(found[j] for j in sorted(found)[:3])
            more = f"; and {len(found) - 3} more columns" if len(found) > 3 else ""
            raise NotNumeric(f"{title}: {what} in {shown}{more}.", [names[j] for j in sorted(found)])


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell)) and "_" not in cell
    except ValueError:
        return False


def _rows(text: str, delimiter: str, most: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells of the rows that are not blank."""
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    for row in reader:
        if row and (len(row) > 1 or row[0].strip()):
            yield reader.line_num, [cell for cell in row if cell] if delimiter == " " else row
            most = None if most is None else most - 1
            if most == 0:
                return


def _delimiter(text: str) -> str:
    """The delimiter that cuts the first rows into the same number of cells, most cells first."""
    best, most = ",", 1
    for mark in ",;\t| ":
        widths = {len(row) for _, row in _rows(text, mark, PREVIEW)}
        if len(widths) == 1 and (width := widths.pop()) > most:
            best, most = mark, width
    return best


def _looks_like_names(preview: list[list[str]]) -> bool:
    """Whether no cell of the first row is a number, or one is a word above numbers."""
    words = [cell.strip().lower() not in MISSING and not _is_number(cell) for cell in preview[0]]
    if all(words):
        return True
    below = [row for row in preview[1:] if len(row) == len(words)]
    return bool(below) and any(word and all(_is_number(row[j]) for row in below) for j, word in enumerate(words))


def _numbered(width: int) -> list[str]:
    return [f"x{j}" for j in range(1, width + 1)]


def _unique(cells: list[str]) -> list[str]:
    """Names without gaps and repetitions."""
    names: list[str] = []
    for j, cell in enumerate(cells, 1):
        name = base = cell.strip() or f"x{j}"
        copies = 1
        while name in names:
            copies += 1
            name = f"{base}.{copies}"
        names.append(name)
    return names


def _decoded(source: str | Path | BinaryIO, title: str) -> str:
    content = Path(source).read_bytes() if isinstance(source, str | Path) else source.read()
    try:
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TableError(f"{title} is not UTF-8 text. Formats: CSV, TSV (also .gz), Parquet, NPY") from None
    except (EOFError, OSError, zlib.error) as error:
        raise TableError(f"{title} cannot be unpacked: {error}") from None


def _npy(title: str) -> tuple[list[str], list[NDArray[Any]]]:
    try:
        array = np.load(title, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise TableError(f"{title} is no NPY file of numbers: {error}") from None
    if array.ndim != 2 or array.dtype.kind not in "iufb":
        raise TableError(f"{title}: needs real numbers in rows and columns, got {array.dtype} of shape {array.shape}")
    return [], list(array.T)


def _parquet(title: str) -> tuple[list[str], list[NDArray[Any]]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise TableError(
            f"{title}: Parquet needs pyarrow, the extra 'parquet': pip install 'clusterkit-toolkit[parquet]'"
        ) from None
    with open(title, "rb") as file:
        try:
            table = pyarrow.parquet.read_table(file)
        except pyarrow.ArrowInvalid as error:
            raise TableError(f"{title} is no Parquet file: {error}") from None
    return _unique(table.column_names), [column.to_numpy() for column in table.columns]


def _stack(arrays: list[NDArray[Any]], names: list[str], chosen: list[int], title: str) -> NDArray[Any]:
    """The chosen columns as one matrix; float32 stays only if all of it is."""
    words: dict[int, str] = {}
    gaps: dict[int, str] = {}
    narrow = all(arrays[j].dtype == np.float32 for j in chosen)
    data = np.empty((len(arrays[0]), len(chosen)), dtype=np.float32 if narrow else np.float64)
    for position, j in enumerate(chosen):
        values = arrays[j]
        if values.dtype.kind in "iufb":
            data[:, position] = values
            bad = np.flatnonzero(~np.isfinite(data[:, position]))
        else:
            bad = np.flatnonzero([v is None or not _is_number(str(v)) for v in values])
            if not len(bad):  # decimals
                data[:, position] = [float(v) for v in values]
        for row in bad:
            gap = values[row] is None or str(values[row]).lower() in MISSING
            found = gaps if gap else words
            found.setdefault(j, f"column {names[j]!r}, row {row + 1}: {str(values[row])!r}")
    if not len(data):
        raise TableError(f"{title} has no row of data")
    _refuse(title, names, words, gaps)
    return data
