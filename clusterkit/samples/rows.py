"""Sources of samples that need not be in memory: `Rows`, read by slices and gathered by index.

`RowsFile` has rows in a temporary file without a name, such as the scores between the passes of a balancer.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable
from typing import IO, Protocol, final, runtime_checkable

import attrs
import numpy as np

from clusterkit._typing import Array, ArrayLike, Indices
from clusterkit.errors import InvalidData, NeedsSpace
from clusterkit.samples import memory

__all__ = [
    "Rows",
    "RowsFile",
    "RowsOfColumns",
    "Sliceable",
    "SlicedRows",
    "gather_by_slices",
    "missing_room",
    "place_of",
    "read_whole",
]


@runtime_checkable
class Rows(Protocol):
    """Samples as an engine reads them. Reading is pure: the same slice has the same bits each time."""

    @property
    def n(self) -> int:
        """Number of rows."""

    @property
    def d(self) -> int:
        """Number of columns."""

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64, of what is read."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, where they have some."""

    def read(self, rows: slice) -> Array:
        """Neighbouring rows, (b, d), in C order."""

    def gather(self, index: Indices) -> Array:
        """Some rows in the order of the index, (m, d); a row may come several times."""


def place_of(rows: Rows) -> Callable[[int], str] | None:
    """The method ``place(row)`` of rows, if they have it: where a row lies, as text after a space, for errors."""
    place: Callable[[int], str] | None = getattr(rows, "place", None)
    return place


class Sliceable(Protocol):
    """Array that `SlicedRows` can read: a shape, a type and slices of rows."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, d)."""

    @property
    def dtype(self) -> np.dtype:
        """The type of the numbers."""

    def __getitem__(self, rows: slice, /) -> ArrayLike:
        """Neighbouring rows."""


@attrs.frozen(eq=False)
class SlicedRows:
    """Rows of any object that has a shape, a type, and slices: an array, a memory map, a dataset of h5py or of zarr.

    Parameters
    ----------
    source : object
        ``source.shape`` is (n, d), and ``source[start:stop]`` is what numpy makes an array of.
    names : tuple of str or None

    Examples
    --------
    >>> rows = SlicedRows(np.arange(6, dtype=np.float32).reshape(3, 2))
    >>> rows.n, rows.d, rows.gather(np.array([2, 0])).tolist()
    (3, 2, [[4.0, 5.0], [0.0, 1.0]])
    """

    source: Sliceable
    names: tuple[str, ...] | None = None
    dtype: np.dtype = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        shape = getattr(self.source, "shape", None)
        if not isinstance(shape, tuple) or len(shape) != 2:
            raise InvalidData(f"rows need an object with a shape of two numbers and slices, got {type(self.source)!r}")
        stored = np.dtype(self.source.dtype)
        if stored.kind not in "fiub":
            raise InvalidData(f"rows must be numbers, got the type {stored}; convert the columns or leave them out")
        exact = stored.kind == "f" and stored.itemsize <= 4
        object.__setattr__(self, "dtype", np.dtype(np.float32 if exact else np.float64))

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.source.shape[0])

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.source.shape[1])

    def read(self, rows: slice) -> Array:
        """Neighbouring rows, (b, d)."""
        return np.ascontiguousarray(self.source[rows.start : rows.stop], dtype=self.dtype)

    def gather(self, index: Indices) -> Array:
        """Some rows, (m, d)."""
        if isinstance(self.source, np.ndarray):
            return np.ascontiguousarray(self.source[index], dtype=self.dtype)
        return gather_by_slices(self, index)


def gather_by_slices(rows: Rows, index: Indices) -> Array:
    """Some rows of an object that reads slices only, each run of neighbours by one slice, (m, d)."""
    wanted, place = np.unique(np.asarray(index, dtype=np.intp), return_inverse=True)
    runs = np.split(wanted, np.flatnonzero(np.diff(wanted) > 1) + 1)
    parts = [rows.read(slice(int(run[0]), int(run[-1]) + 1)) for run in runs if len(run)]
    if not parts:
        return np.empty((0, rows.d), dtype=rows.dtype)
    return np.concatenate(parts)[place]


def read_whole(rows: Rows, what: str, advice: str) -> Array:
    """All rows as an array of the host, (n, d), if the memory cap allows it; `what` and `advice` are for the error.

    Raises
    ------
    NeedsMemory
    """
    memory.require(rows.n * rows.d * rows.dtype.itemsize, what, advice)
    return rows.read(slice(0, rows.n))


@final
@attrs.frozen(eq=False)
class RowsOfColumns:
    """Some columns of rows.

    Parameters
    ----------
    source : Rows
    index : ndarray of int
    """

    source: Rows
    index: Indices

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.source.n

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.index)

    @property
    def dtype(self) -> np.dtype:
        """Type of the source's values."""
        return self.source.dtype

    @property
    def names(self) -> None:
        """None, because these columns are never shown."""

    def read(self, rows: slice) -> Array:
        """Neighbouring rows, (b, d)."""
        return np.ascontiguousarray(self.source.read(rows)[:, self.index])

    def gather(self, index: Indices) -> Array:
        """Some rows, (m, d)."""
        return np.ascontiguousarray(self.source.gather(index)[:, self.index])


SPARE = 1.02
"""Free space on the disk that a file needs, in multiples of its size: file systems need some room for themselves."""

NO_ROOM = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT})
"""Error numbers of the system for a full disk, a quota, or a limit on the size of files."""


def missing_room(n_bytes: int, folder: str) -> str | None:
    """How much is free, in words, if a file of that many bytes would not fit on the disk of a folder; else None."""
    free = shutil.disk_usage(folder).free
    return f"{free:,} bytes ({memory.human(free)})" if n_bytes * SPARE > free else None


@final
@attrs.frozen(eq=False)
class RowsFile:
    """Rows (n, d) of a temporary file, written in any order and then read like those of any other source.

    The file has no name, so that it is removed with this object, and with the process if that is killed. It is read and
    written by position and not mapped: its pages do not count as memory of the process, and a full disk is an error.

    Parameters
    ----------
    n, d : int
        Rows and columns.
    dtype : numpy dtype
    what : str
        Description of the rows, for messages.
    folder : str
        Folder of the file.
    names : tuple of str, optional
        Names of the columns.
    """

    n: int
    d: int
    dtype: np.dtype
    what: str
    folder: str = attrs.field(factory=tempfile.gettempdir)
    names: tuple[str, ...] | None = None
    _file: IO[bytes] = attrs.field(init=False)
    _position: threading.Lock = attrs.field(init=False, factory=threading.Lock)

    def __attrs_post_init__(self) -> None:
        file = tempfile.TemporaryFile(prefix="clusterkit-rows-", dir=self.folder, buffering=0)  # noqa: SIM115 - `close`
        object.__setattr__(self, "_file", file)
        weakref.finalize(self, file.close)

    @property
    def n_bytes(self) -> int:
        """Bytes of the whole file."""
        return self.n * self.d * self.dtype.itemsize

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, d): `SlicedRows` of the file cannot be written, so that an engine may keep copies of them."""
        return self.n, self.d

    def __getitem__(self, rows: slice) -> Array:
        """Neighbouring rows, (b, d)."""
        return self.read(rows)

    def write(self, rows: slice, values: Array) -> None:
        """Write consecutive rows, (b, d), to their position in the file. Thread-safe.

        Raises
        ------
        NeedsSpace
            If the disk is full.
        """
        left = np.ascontiguousarray(values, dtype=self.dtype).reshape(-1).view(np.uint8).data
        try:
            with self._position:
                self._file.seek(rows.start * self.d * self.dtype.itemsize)
                while left:
                    left = left[self._file.write(left) :]
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            raise NeedsSpace(
                f"the disk of {self.folder} became full with {self.what}, which take {memory.human(self.n_bytes)}; "
                "choose a folder with more room (TMPDIR, for temporary files)"
            ) from error

    def read(self, rows: slice) -> Array:
        """Neighbouring rows, (b, d)."""
        values = np.empty((rows.stop - rows.start, self.d), dtype=self.dtype)
        left = values.reshape(-1).view(np.uint8).data
        with self._position:
            self._file.seek(rows.start * self.d * self.dtype.itemsize)
            while left:
                count = self._file.readinto(left)  # type: ignore[attr-defined] # a raw file has it, its type does not say
                if not count:
                    raise EOFError(f"{self.what} end before row {rows.stop}")
                left = left[count:]
        return values

    def gather(self, index: Indices) -> Array:
        """Some rows, (m, d)."""
        return gather_by_slices(self, index)

    def close(self) -> None:
        """Remove the file."""
        self._file.close()
