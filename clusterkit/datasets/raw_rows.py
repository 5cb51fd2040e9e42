"""Rows as raw numbers in a file: a copy of what is slow to read, for many passes."""

from __future__ import annotations

import builtins
import errno
import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Iterable, Iterator, Sequence
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.core import memory
from clusterkit.core.errors import InvalidData, NeedsSpace, first_names
from clusterkit.core.local_engine import LocalEngine
from clusterkit.core.progress import Report, tell
from clusterkit.core.rows import Rows
from clusterkit.core.rows_file import RowsFile, missing_room
from clusterkit.core.whole_files import replacing

if TYPE_CHECKING:
    from clusterkit.tables.chunks import TextReading
    from clusterkit.tables.delimited import Form

__all__ = ["RawRows", "cached", "is_text", "require_space", "spooled", "spooled_text"]

SHOWN = 6
"""Columns that a warning names."""

COMPARED = 1024
"""Rows at each end that tell an earlier copy from another file."""


@final
@attrs.frozen(eq=False)
class RawRows:
    """Rows of numbers that lie in a file one after the other; read by position, not mapped.

    The pages of a file that is mapped count as memory of the process. A pickle holds the path only.

    Parameters
    ----------
    path : str
    n, d : int
    dtype : numpy dtype
    names : tuple of str or None
    offset : int
        Bytes before the first row.
    """

    path: str
    n: int
    d: int
    dtype: np.dtype
    names: tuple[str, ...] | None = None
    offset: int = 0

    def read(self, rows: slice) -> Array:
        """Neighbouring rows, (b, d)."""
        with builtins.open(self.path, "rb", buffering=0) as file:
            return self._read(file, rows.start, rows.stop)

    def gather(self, index: Indices) -> Array:
        """Some rows, (m, d), each run of neighbours by one read."""
        wanted, place = np.unique(np.asarray(index, dtype=np.intp), return_inverse=True)
        runs = [run for run in np.split(wanted, np.flatnonzero(np.diff(wanted) > 1) + 1) if len(run)]
        parts = [np.empty((0, self.d), dtype=self.dtype)]
        with builtins.open(self.path, "rb", buffering=0) as file:
            parts += [self._read(file, int(run[0]), int(run[-1]) + 1) for run in runs]
        return np.concatenate(parts)[place]

    def _read(self, file: FileIO, start: int, stop: int) -> Array:
        X = np.empty((stop - start, self.d), dtype=self.dtype)
        left = X.reshape(-1).view(np.uint8).data
        file.seek(self.offset + start * self.d * self.dtype.itemsize)
        while left:
            count = file.readinto(left)
            if not count:
                raise InvalidData(f"{self.path!r} has become shorter: it ends before row {stop}")
            left = left[count:]
        return X


def require_space(n_bytes: int, folder: str | os.PathLike[str], what: str) -> None:
    """Raise `NeedsSpace` if a file of that many bytes would not fit on the disk of a folder."""
    if (free := missing_room(n_bytes, os.fspath(folder))) is not None:
        raise NeedsSpace(
            f"{what} needs {n_bytes:,} bytes ({memory.human(n_bytes)}) in {os.fspath(folder)}, where {free} are free. "
            "Make room, or choose another folder"
        )


def cached(rows: Rows, path: str) -> RawRows:
    """A copy of rows as float32, in the form of `numpy.save`; written whole or not at all, and not removed.

    Raises
    ------
    InvalidData
        If the file is there already and is no earlier copy of these rows.
    NeedsSpace
        Before anything is written, if the copy would not fit.
    """
    if os.path.isfile(path) and os.path.getsize(path) and not _is_copy(path, rows):
        raise InvalidData(
            f"{path!r}, the file for the copy of the rows, is there already and holds something else; remove it, or "
            "name another one"
        )
    require_space(rows.n * rows.d * 4, Path(os.path.realpath(path)).parent, f"a copy of {rows.n} x {rows.d} float32")
    header = {"descr": "<f4", "fortran_order": False, "shape": (rows.n, rows.d)}
    with replacing(path) as part, builtins.open(part, "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        offset = file.tell()
        for X in _copied(rows):
            # a number too large for float32 becomes infinite, which the fit refuses by row and column
            with np.errstate(over="ignore"):
                X.astype("<f4").tofile(file)
    return RawRows(os.path.abspath(path), rows.n, rows.d, np.dtype("<f4"), rows.names, offset)


def _is_copy(path: str, rows: Rows) -> bool:
    """Whether a file has the shape and the type of a copy of the rows, and the same first and last rows."""
    try:
        stored = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return False
    if not isinstance(stored, np.ndarray) or stored.shape != (rows.n, rows.d) or stored.dtype != np.dtype("<f4"):
        return False
    ends = (slice(0, min(rows.n, COMPARED)), slice(max(0, rows.n - COMPARED), rows.n))
    with np.errstate(over="ignore"):
        return all(np.array_equal(stored[end], rows.read(end).astype("<f4"), equal_nan=True) for end in ends)


def spooled(rows: Rows, folder: str) -> RowsFile:
    """A copy of rows with the same bits in a temporary file without a name, which goes with what is returned.

    Raises
    ------
    NeedsSpace
        Before anything is written, if the copy would not fit; or if the disk becomes full.
    """
    what = f"copies of {rows.n:,} x {rows.d} numbers"
    require_space(rows.n * rows.d * rows.dtype.itemsize, folder, what)
    file, start = RowsFile(rows.n, rows.d, rows.dtype, what, folder, rows.names), 0
    try:
        for X in _copied(rows):
            file.write(slice(start, start + len(X)), X)
            start += len(X)
    except BaseException:
        file.close()
        raise
    return file


def _copied(rows: Rows) -> Iterator[Array]:
    """All rows in their order, the next ones read by a thread; tells how many were taken."""
    for block, X in LocalEngine().blocks(rows, rows.d):
        yield X
        tell(Report("copy", block.stop, rows.n))


def spooled_text(paths: Sequence[str], columns: Sequence[str] | None = None, **reading: Unpack[TextReading]) -> RawRows:
    """The rows of text files, which are parsed once into a temporary file of raw float64.

    The folder is that of `tempfile.gettempdir` (``TMPDIR``). The file goes with the rows, or at the end of the process.

    Parameters
    ----------
    paths : sequence of str
        Files with the same columns, in their order.
    columns : sequence of str, optional
        Columns to take, in this order; default all.
    **reading
        Delimiter, header, encoding and decimal, as of `clusterkit.tables.read_table`.

    Raises
    ------
    NeedsSpace
        Before the first row is read, if the numbers would not fit.
    TableError
        If a file is no table of numbers.

    Warns
    -----
    TableWarning
        If columns that are taken have a name that others have too, and are called by another one.
    """
    from clusterkit.tables.chunks import lines_of, table_chunks, text_form
    from clusterkit.tables.selection import select

    form, _ = text_form(paths[0], **reading)
    chosen = select(form.names, columns or (), (), paths[0])
    names = tuple(form.names[j] for j in chosen)
    _warn_of_equal_names(paths[0], [name for name in names if name in form.shared], form)
    folder = tempfile.mkdtemp(prefix="clusterkit-spool-")
    try:
        most = sum(map(lines_of, paths)) * len(chosen) * 8
        require_space(most, folder, f"the table of numbers of {', '.join(paths)[:200]}")
        spool = os.path.join(folder, "rows")
        n = 0
        with builtins.open(spool, "wb") as file:
            for path in paths:
                for chunk in table_chunks(path, **reading):
                    places = _places(chosen, form, chunk.names)
                    if places is None:
                        shown, expected = (", ".join(each)[:200] for each in (chunk.names, form.names))
                        raise InvalidData(
                            f"{path!r} has other columns than {paths[0]!r}: {shown} instead of {expected}"
                        )
                    numbers = chunk.pick(places).numbers().astype(np.float64, copy=False)
                    numbers.tofile(file)
                    n += len(numbers)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise NeedsSpace(f"the disk of {folder} is full; set TMPDIR to a folder with more room") from error
        raise
    rows = RawRows(spool, n, len(chosen), np.dtype(np.float64), names if form.named else None)
    weakref.finalize(rows, shutil.rmtree, folder, ignore_errors=True)
    return rows


def _places(chosen: Sequence[int], form: Form, part_names: Sequence[str]) -> list[int] | None:
    """Where the chosen columns lie in a part; None if it has other columns, or shared names in another order."""
    place_of = {name: place for place, name in enumerate(part_names)}
    if place_of.keys() != set(form.names):
        return None
    places = [place_of[form.names[j]] for j in chosen]
    return None if form.shared and places != list(chosen) else places


def _warn_of_equal_names(path: str, names: Sequence[str], form: Form) -> None:
    """Warn of columns that share their name with others, and say what each is called here."""
    if not names:
        return
    from clusterkit.tables.errors import TableWarning

    listed = [f"column {form.names.index(name) + 1} ({form.shared[name]}) is called {name!r}" for name in names]
    warnings.warn(
        f"{path}: columns have the same name, so that nothing but their order tells them apart; here "
        f"{first_names(listed, SHOWN)}",
        TableWarning,
        stacklevel=4,
    )


def is_text(paths: Iterable[str]) -> bool:
    """Whether all files are text by their endings."""
    from clusterkit.tables.chunks import TEXT_ENDINGS

    return all(Path(path).suffix.lower() in TEXT_ENDINGS for path in paths)
