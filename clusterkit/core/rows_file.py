"""Rows in a temporary file without a name: scores between the passes of a balancer, a copy of what is slow to read."""

from __future__ import annotations

import errno
import shutil
import tempfile
import threading
import weakref
from typing import IO, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.core import memory
from clusterkit.core.errors import NeedsSpace
from clusterkit.core.rows import gather_by_slices

__all__ = ["RowsFile", "missing_room"]

SPARE = 1.02
"""Part of a disk that a file may take, more than its size: file systems need some room for themselves."""

NO_ROOM = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT})
"""What the system says where a disk, a quota, or a limit of the size of files ends a file."""


def missing_room(n_bytes: int, folder: str) -> str | None:
    """How much is free, in words, if a file of that many bytes would not fit on the disk of a folder; else None."""
    free = shutil.disk_usage(folder).free
    return f"{free:,} bytes ({memory.human(free)})" if n_bytes * SPARE > free else None


@final
@attrs.frozen(eq=False)
class RowsFile:
    """Rows (n, d) of a temporary file, written in any order and then read like those of any other source.

    The file has no name, so that it goes with this object, with the process too if that is killed. It is read and
    written by position and not mapped: its pages do not count as memory of the process, and a full disk is an error.

    Parameters
    ----------
    n, d : int
        Rows and columns.
    dtype : numpy dtype
    what : str
        What the rows are, for messages.
    folder : str
        Where the file lies.
    names : tuple of str, optional
        The columns.
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

    def write(self, rows: slice, values: Array) -> None:
        """Put neighbouring rows, (b, d), in their place; several threads may.

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
