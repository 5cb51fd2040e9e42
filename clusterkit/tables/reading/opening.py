"""Tables that are read block by block instead of into memory: `open` and the rows it gives.

`RawRows` are rows as raw numbers in a file: a copy of rows that are slow to read, for many passes.
"""

from __future__ import annotations

import builtins
import errno
import glob
import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Iterable, Iterator, Sequence
from io import FileIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.errors import InvalidData, NeedsSpace, first_names, need
from clusterkit.files import replacing, same_file
from clusterkit.samples import memory
from clusterkit.samples.engines import LocalEngine
from clusterkit.samples.limits import Report, notify
from clusterkit.samples.rows import Rows, Sliceable, SlicedRows, missing_room

if TYPE_CHECKING:
    from pyarrow import DataType, RecordBatch
    from pyarrow.parquet import ParquetFile

    from clusterkit.tables.reading.chunks import TextReading
    from clusterkit.tables.reading.delimited import Form

SHOWN = 6
"""Columns that a warning names."""

COMPARED = 1024
"""Number of rows at each end by which an earlier copy is recognised."""


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


def _copied(rows: Rows) -> Iterator[Array]:
    """All rows in their order, the next ones read by a thread; reports the progress."""
    for block, X in LocalEngine().blocks(rows, rows.d):
        yield X
        notify(Report("copy", block.stop, rows.n))


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
        Delimiter, header, encoding and decimal, see `clusterkit.tables.read_table`.

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
    from clusterkit.tables.cells.column_names import select
    from clusterkit.tables.reading.chunks import lines_of, table_chunks, text_form

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
    """Positions of the chosen columns in a part; None if it has other columns, or shared names in another order."""
    place_of = {name: place for place, name in enumerate(part_names)}
    if place_of.keys() != set(form.names):
        return None
    places = [place_of[form.names[j]] for j in chosen]
    return None if form.shared and places != list(chosen) else places


def _warn_of_equal_names(path: str, names: Sequence[str], form: Form) -> None:
    """Warn of columns that share their name with others, and say how each is named here."""
    if not names:
        return
    from clusterkit.errors import TableWarning

    listed = [f"column {form.names.index(name) + 1} ({form.shared[name]}) is called {name!r}" for name in names]
    warnings.warn(
        f"{path}: columns have the same name, so that nothing but their order tells them apart; here "
        f"{first_names(listed, SHOWN)}",
        TableWarning,
        stacklevel=4,
    )


def is_text(paths: Iterable[str]) -> bool:
    """Whether all files are text by their endings."""
    from clusterkit.tables.reading.chunks import TEXT_ENDINGS

    return all(Path(path).suffix.lower() in TEXT_ENDINGS for path in paths)


BATCH_ROWS = 2**14
"""Rows that are decoded from Parquet at once: 6.5 MB at 100 columns of float32. Larger batches are no faster and leave
the caches of a core; with smaller ones each column costs more calls than numbers."""

PADDING = 16
"""Numbers between the columns of a batch. Without them the columns begin a power of two of bytes apart, where caches
keep only a few of them at once, and turning them into rows takes three times as long."""


def open(source: object, columns: Sequence[str] | None = None, cache: str | os.PathLike[str] | None = None) -> Rows:
    """Samples that stay where they are, for recipes that read them block by block.

    Parameters
    ----------
    source : str, path, or object with a shape, a type and slices
        A file ``x.npy``, a Parquet file, a folder of them or a pattern such as ``"part-*.parquet"`` (read in the order
        of their names), a folder ``x.zarr``, or a memory map, an array of zarr, a data set of h5py and the like. Text
        (``x.csv``, ``"part-*.csv"``, .tsv, .txt) is parsed once into a temporary file of raw float64, which goes with
        the rows.
    columns : sequence of str, optional
        Columns of Parquet files or of text to read, in this order; default all.
    cache : path, optional
        Copy the rows to this file ``x.npy`` first, as float32, and read them there: for Parquet and other sources that
        are slow to read in many passes. The file is kept. One that is there already is replaced if it is such a copy
        of the same rows, by its shape, type, and first and last rows.

    Returns
    -------
    Rows
        Rows for `fit` and `predict` of a recipe; ``n``, ``d`` and ``names`` describe them, ``read(slice(0, 10))`` reads
        some.

    Raises
    ------
    InvalidData
        If there is no such file, or it holds something else than a table of numbers; if `columns` is given for a source
        whose columns have no names; if `cache` is a file that is read, holds something else, or is no ``.npy``.
    NeedsSpace
        If the copy, or the numbers of a text, would not fit on the disk.

    Warns
    -----
    TableWarning
        If columns of a text have the same name, and are called by others here: a, a.2.

    Examples
    --------
    >>> import clusterkit, numpy as np
    >>> rows = clusterkit.open(np.zeros((1000, 3), dtype=np.float32))
    >>> rows.n, rows.d, str(rows.dtype)
    (1000, 3, 'float32')
    """
    if cache is not None:
        _check_cache(source, os.fspath(cache))
        return cached(open(source, columns), os.fspath(cache))
    named = isinstance(source, str | os.PathLike) and Path(source).suffix not in (".npy", ".zarr")
    if columns is not None and not named:
        raise InvalidData(
            "columns= chooses columns of Parquet files and of text by their names; arrays, .npy and .zarr have none"
        )
    if not isinstance(source, str | os.PathLike):
        return SlicedRows(cast("Sliceable", source))
    text = os.fspath(source)
    path = Path(text)
    if not text:
        raise InvalidData("cannot open '': the name of a file or a folder is empty")
    if columns is not None and not len(columns):
        raise InvalidData(f"columns=[] chooses no column of {text!r}; leave it out for all")
    if path.suffix == ".npy":
        return NpyRows.of(text)
    if path.suffix == ".zarr":
        return SlicedRows(_zarr(text))
    files = sorted(glob.glob(str(path / "*.parquet") if path.is_dir() else text))
    if files and all(Path(file).suffix in (".parquet", ".pq") for file in files):
        return ParquetRows.of(files, columns)
    if files and is_text(files):
        return spooled_text(files, columns)
    if files:
        reason = "it is no Parquet, .npy, .zarr, .csv, .tsv or .txt"
    elif path.is_dir():
        reason = f"the folder holds no .parquet; name other files by a pattern, such as {str(path / '*.csv')!r}"
    else:
        reason = "there is no such file"
    raise InvalidData(f"cannot open {text!r} row by row: {reason}")


def _check_cache(source: object, cache: str) -> None:
    """Raise `InvalidData` for a cache file that would replace the source, or could not be read again."""
    if not cache.endswith(".npy"):
        raise InvalidData(f"cache={cache!r} must end in .npy, the form of the copy")
    if not Path(cache).resolve().parent.is_dir():
        raise InvalidData(f"cache={cache!r}: there is no folder {str(Path(cache).parent)!r}")
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        sources = [text, *glob.glob(text)]
    else:
        places = (getattr(source, name, None) for name in ("filename", "path"))  # names in memory maps, and in rows
        sources = [os.fspath(place) for place in places if isinstance(place, str | os.PathLike)]
    if any(same_file(cache, each) for each in sources):
        raise InvalidData(f"cache={cache!r} is the file that is read; the copy needs a file of its own")


def holds_numbers(kind: DataType) -> bool:
    """Whether a type of pyarrow is one of numbers."""
    from pyarrow import types

    return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind))


def _footer(path: str) -> ParquetFile:
    """A Parquet file after its footer is read; the error for a broken one names it."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        return ParquetFile(path)
    except (ArrowException, OSError) as error:
        raise InvalidData(f"cannot open {path!r}: {error}") from error


def _zarr(path: str) -> Sliceable:
    try:
        import zarr
    except ImportError:
        raise InvalidData(f"{path!r} needs the package zarr, which is not installed") from None
    return cast("Sliceable", zarr.open_array(path, mode="r"))


@final
@attrs.frozen(eq=False)
class NpyRows(SlicedRows):
    """Rows of a file of `numpy.save`, mapped into memory page by page; a pickle holds the path only."""

    @classmethod
    def of(cls, path: str) -> NpyRows:
        """The rows of a file."""
        try:
            mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise InvalidData(f"cannot open {path!r}: {error}") from error
        if getattr(mapped, "ndim", 0) != 2:
            shape = getattr(mapped, "shape", "no shape")
            raise InvalidData(f"cannot open {path!r} row by row: it has {shape}, not the shape (n, d) of a table")
        return cls(mapped)

    def __reduce__(self) -> tuple[object, ...]:
        return NpyRows.of, (cast("np.memmap", self.source).filename,)


@final
@attrs.frozen(eq=False)
class ParquetRows:
    """Rows of Parquet files, decoded batch by batch, the chosen columns only.

    Consecutive reads continue in a row group; a read elsewhere begins at the start of its row group.

    Parameters
    ----------
    paths : tuple of str
    names : tuple of str
        The columns.
    dtype : numpy dtype
        float32 if all columns are float32 or float16, else float64.
    ends : tuple of int
        Number of the first row of each row group, and the number of all rows.
    groups : tuple of (int, int)
        File and number of each row group.
    """

    paths: tuple[str, ...]
    names: tuple[str, ...]
    dtype: np.dtype
    ends: tuple[int, ...]
    groups: tuple[tuple[int, int], ...]
    _cursor: list[_Cursor] = attrs.field(init=False, factory=list, repr=False)

    @classmethod
    def of(cls, paths: Iterable[str], columns: Sequence[str] | None = None) -> ParquetRows:
        """The rows of files with the same columns; only their footers are read."""
        from clusterkit.errors import NotNumeric
        from clusterkit.tables.cells.column_names import NAMES_SHOWN

        types = need("pyarrow.types", "Parquet", "parquet")
        paths, names, narrow = tuple(paths), tuple(columns or ()), True
        ends, groups = [0], []
        for number, path in enumerate(paths):
            with _footer(path) as file:
                schema = file.schema_arrow
                if not columns and names and (further := [name for name in schema.names if name not in names]):
                    raise InvalidData(
                        f"{path!r} has columns that {paths[0]!r} has not: {', '.join(further)[:200]}; choose columns"
                    )
                names = names or tuple(schema.names)
                for name in names:
                    if (number_of := schema.names.count(name)) != 1:
                        has = f"{number_of} columns named {name!r}; rename them" if number_of else f"no column {name!r}"
                        raise InvalidData(f"{path!r} has {has}; it has {', '.join(schema.names)[:200]}")
                kinds = {name: schema.field(name).type for name in names}
                if others := [name for name, kind in kinds.items() if not holds_numbers(kind)]:
                    listed = first_names([f"{name} ({kinds[name]})" for name in others], NAMES_SHOWN)
                    raise NotNumeric(f"{path!r} has columns that are no numbers: {listed}; choose columns.", others)
                narrow &= all(types.is_float32(kind) or types.is_float16(kind) for kind in kinds.values())
                for group in range(file.num_row_groups):
                    groups.append((number, group))
                    ends.append(ends[-1] + file.metadata.row_group(group).num_rows)
        return cls(paths, names, np.dtype(np.float32 if narrow else np.float64), tuple(ends), tuple(groups))

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.ends[-1]

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.names)

    def read(self, rows: slice) -> Array:
        """Neighbouring rows, (b, d)."""
        X = np.empty((rows.stop - rows.start, self.d), dtype=self.dtype)
        cursor = self._cursor.pop() if self._cursor else None
        if cursor is None or cursor.position != rows.start:
            _release(cursor)
            cursor = _Cursor(self, rows.start)
        cursor.fill(X)
        self._cursor.append(cursor)
        return X

    def gather(self, index: Indices) -> Array:
        """Some rows, (m, d); each row group that has one of them is decoded once."""
        wanted, place = np.unique(np.asarray(index, dtype=np.intp), return_inverse=True)
        parts = [np.empty((0, self.d), dtype=self.dtype)]
        for first, stop in pairwise(self.ends):
            inside = wanted[(wanted >= first) & (wanted < stop)]
            for start in range(first, stop, BATCH_ROWS) if len(inside) else ():
                rows = inside[(inside >= start) & (inside < start + BATCH_ROWS)]
                X = self.read(slice(start, min(stop, start + BATCH_ROWS)))
                parts.append(X[rows - start])
        return np.concatenate(parts)[place]

    def __reduce__(self) -> tuple[object, ...]:
        return ParquetRows, (self.paths, self.names, self.dtype, self.ends, self.groups)


@attrs.define(eq=False)
class _Cursor:
    """Position in a Parquet file: the batches that follow, and the unread rest of the present one."""

    rows: ParquetRows
    position: int
    _batches: Iterator[RecordBatch] = attrs.field(init=False)
    _left: RecordBatch | None = attrs.field(init=False, default=None)

    def __attrs_post_init__(self) -> None:
        group = int(np.searchsorted(self.rows.ends, self.position, side="right")) - 1
        self._batches = _batches_from(self.rows, group)
        skipped = self.position - self.rows.ends[min(group, len(self.rows.groups))]
        while skipped > 0:
            batch = self._next()
            if batch.num_rows > skipped:
                self._left = batch.slice(skipped)
            skipped -= batch.num_rows

    def fill(self, X: Array) -> None:
        """Decode the next len(X) rows."""
        filled = 0
        room = np.empty((self.rows.d, min(len(X), BATCH_ROWS) + PADDING), dtype=X.dtype)
        while filled < len(X):
            batch = self._next()
            if batch.num_rows > len(X) - filled:
                self._left = batch.slice(len(X) - filled)
                batch = batch.slice(0, len(X) - filled)
            columns = []
            for name in self.rows.names:
                column = batch.column(name)
                if column.null_count:
                    row = self.position + filled + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
                    raise InvalidData(
                        f"column {name!r} has no value in row {row}; leave such rows or columns out, or fill the gaps"
                    )
                columns.append(column.to_numpy(zero_copy_only=False))
            # few calls for many numbers: each one waits until the threads that compute leave the interpreter
            decoded = room[:, : batch.num_rows]
            np.stack(columns, out=decoded)
            X[filled : filled + batch.num_rows] = decoded.T
            filled += batch.num_rows
        self.position += filled

    def drop(self) -> None:
        """Forget all batches; the cursor cannot read any further."""
        self._left, self._batches = None, iter(())

    def _next(self) -> RecordBatch:
        batch, self._left = self._left, None
        return next(self._batches) if batch is None else batch


def _batches_from(rows: ParquetRows, group: int) -> Iterator[RecordBatch]:
    """The batches of a row group and of all that follow it.

    No method of the cursor: a generator that refers to the cursor that refers to it would stay in memory, with all it
    has decoded, until the garbage collector looks.
    """
    from pyarrow.parquet import ParquetFile

    path, metadata = "", None
    for number, each in rows.groups[group:]:
        path, metadata = rows.paths[number], metadata if rows.paths[number] == path else None
        # The file is mapped, so that uncompressed pages are decoded without a copy. It is opened anew for each row
        # group, because mapped pages that were read count as memory of the process until it is closed.
        with ParquetFile(path, metadata=metadata, pre_buffer=False, memory_map=True) as file:
            metadata = file.metadata
            yield from file.iter_batches(BATCH_ROWS, row_groups=[each], columns=list(rows.names), use_threads=False)


def _release(cursor: _Cursor | None) -> None:
    """Give the memory of what a cursor has decoded back to the system.

    A pass reads in a thread of its own, and the memory that an ended thread has freed is not what the next one takes.
    """
    if cursor is not None:
        from pyarrow import default_memory_pool

        cursor.drop()
        default_memory_pool().release_unused()
