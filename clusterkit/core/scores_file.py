"""Scores of all rows in a temporary file: a pass of a turn writes them, other passes of its balancer read them."""

from __future__ import annotations

import errno
import shutil
import tempfile
import threading
import warnings
from typing import IO, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.core import memory
from clusterkit.core.errors import ClusterkitWarning, NeedsSpace
from clusterkit.core.rows import gather_by_slices

__all__ = ["ScoresFile"]

SPARE = 1.02
"""Part of a disk that the file may take, more than its size: file systems need some room for themselves."""


@final
@attrs.frozen(eq=False)
class ScoresFile:
    """Scores (n, q) as rows of a file in the folder of `tempfile.gettempdir` (``TMPDIR``).

    The file has no name, so that it goes with this object, with the process too if that is killed. It is read and
    written by position and not mapped: its pages do not count as memory of the process, and a full disk is an error.

    Parameters
    ----------
    n, d : int
        Rows and columns of the scores.
    dtype : numpy dtype
    """

    n: int
    d: int
    dtype: np.dtype
    _file: IO[bytes]
    _position: threading.Lock = attrs.field(init=False, factory=threading.Lock)

    @classmethod
    def room_for(cls, n: int, d: int, dtype: np.dtype) -> ScoresFile | None:
        """A file for scores; None where the disk has no room for it.

        Warns
        -----
        ClusterkitWarning
            If there is no room.
        """
        folder, n_bytes = tempfile.gettempdir(), n * d * dtype.itemsize
        free = shutil.disk_usage(folder).free
        if n_bytes * SPARE > free:
            warnings.warn(
                f"the scores of {n:,} rows take {memory.human(n_bytes)} in {folder}, where {memory.human(free)} are "
                "free: the balancer maps the rows anew in each of its passes, which takes longer. Set TMPDIR to a "
                "folder with more room",
                ClusterkitWarning,
                stacklevel=2,
            )
            return None
        file = tempfile.TemporaryFile(prefix="clusterkit-scores-", buffering=0)  # noqa: SIM115 - `close` does
        return cls(n, d, dtype, file)

    @property
    def names(self) -> None:
        """None: scores have no names."""
        return None

    def write(self, rows: slice, scores: Array) -> None:
        """Put scores of neighbouring rows, (b, q), in their place; several threads may.

        Raises
        ------
        NeedsSpace
            If the disk is full.
        """
        left = np.ascontiguousarray(scores, dtype=self.dtype).reshape(-1).view(np.uint8).data
        try:
            with self._position:
                self._file.seek(rows.start * self.d * self.dtype.itemsize)
                while left:
                    left = left[self._file.write(left) :]
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise NeedsSpace(
                f"the disk of {tempfile.gettempdir()} became full with the scores of {self.n:,} rows, which take "
                f"{memory.human(self.n * self.d * self.dtype.itemsize)}; set TMPDIR to a folder with more room"
            ) from error

    def read(self, rows: slice) -> Array:
        """Scores of neighbouring rows, (b, q)."""
        scores = np.empty((rows.stop - rows.start, self.d), dtype=self.dtype)
        left = scores.reshape(-1).view(np.uint8).data
        with self._position:
            self._file.seek(rows.start * self.d * self.dtype.itemsize)
            while left:
                count = self._file.readinto(left)  # type: ignore[attr-defined] # a raw file has it, its type does not say
                if not count:
                    raise EOFError(f"the scores end before row {rows.stop}")
                left = left[count:]
        return scores

    def gather(self, index: Indices) -> Array:
        """Scores of some rows, (m, q)."""
        return gather_by_slices(self, index)

    def close(self) -> None:
        """Remove the file."""
        self._file.close()
