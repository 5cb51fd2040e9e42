"""The rows of a factor on disk, turn by turn: whole after every turn, or still those of the turn before."""

from __future__ import annotations

import errno
import io
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.core.errors import InvalidData, NeedsSpace
from clusterkit.core.file_locks import HeldFiles
from clusterkit.core.namespaces import as_type, is_device_array, to_device_of, to_host
from clusterkit.core.rows import Rows
from clusterkit.core.whole_files import replacing
from clusterkit.datasets.raw_rows import RawRows, require_space

__all__ = ["FactorFiles", "ScaledRows"]

LOCK: Final = "in-use"
"""The file that a fit holds while it works in the folder."""

STATE: Final = "state.npz"
"""The file of what is small. It names the turn whose rows count, and is replaced in one step once they are there."""


@final
@attrs.frozen
class FactorFiles:
    """A folder with the rows of the last turn, ``factor-TURN.npy``, and a file of what is small.

    The rows of a turn are a new file, so that a process that still writes those of an older one, or is killed, changes
    nothing that counts.

    Parameters
    ----------
    folder : str
    n, k : int
        Shape of the factor.
    dtype : numpy dtype
    """

    folder: str
    n: int
    k: int
    dtype: np.dtype

    def prepare(self, held: HeldFiles) -> None:
        """Make the folder, ask for the space of the rows of two turns, and keep other fits out.

        Raises
        ------
        NeedsSpace
        InvalidData
            If another fit works in the folder.
        """
        os.makedirs(self.folder, exist_ok=True)
        there = sum(file.stat().st_size for file in Path(self.folder).glob("factor-*.npy"))
        needed = 2 * self.n * self.k * self.dtype.itemsize - there
        require_space(max(0, needed), self.folder, f"two copies of the {self.n} x {self.k} numbers of a checkpoint")
        held.take(os.path.join(self.folder, LOCK), f"the checkpoint in {self.folder!r}")

    def rows(self, turn: int) -> RawRows:
        """The rows of a turn."""
        return RawRows(self._path(turn), self.n, self.k, self.dtype, None, len(self._header()))

    def write(self, turn: int, rows: slice, A: Array) -> None:
        """Put some rows of a turn, (b, k), in their place.

        Raises
        ------
        NeedsSpace
            If the disk is full.
        """
        header = self._header()
        with self._saying_when_full():
            # neither cut nor locked: other blocks of the turn are written at the same time
            descriptor = os.open(self._path(turn), os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            with os.fdopen(descriptor, "r+b", buffering=0) as file:
                if rows.start == 0:
                    _write_all(file, header)
                file.seek(len(header) + rows.start * self.k * self.dtype.itemsize)
                _write_all(file, np.ascontiguousarray(to_host(A), dtype=self.dtype).tobytes())

    def commit(self, turn: int, **small: Array) -> None:
        """Make the rows of a turn those that count, with arrays that belong to them; older rows are removed.

        Raises
        ------
        InvalidData
            If the first rows of the turn are gone: another fit works in the same folder.
        """
        with self._saying_when_full():
            with open(self._path(turn), "rb+") as stored:
                if stored.read(len(self._header())) != self._header():
                    raise InvalidData(
                        f"the checkpoint in {self.folder!r} was changed during the fit: another fit of the same "
                        "samples and parameters works in it. Let them run one after the other, or with a folder each"
                    )
                os.fsync(stored.fileno())
            arrays: dict[str, Any] = {"turn": np.array(turn), **small}
            with replacing(Path(self.folder) / STATE) as part:
                np.savez(part, **arrays)
        for older in Path(self.folder).glob("factor-*.npy"):
            number = older.stem.removeprefix("factor-")
            if number.isdigit() and int(number) < turn:
                with suppress(OSError):  # a reader may have it open, where that forbids its removal
                    older.unlink()

    def state(self) -> dict[str, Array] | None:
        """What `commit` wrote last, with the array "turn"; None if there was no commit.

        Raises
        ------
        InvalidData
            If files were changed by others.
        """
        path = Path(self.folder) / STATE
        if not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as arrays:
                small = dict(arrays)
            turn, size = int(small["turn"]), os.path.getsize(self._path(int(small["turn"])))
            if size != len(self._header()) + self.n * self.k * self.dtype.itemsize:
                raise ValueError(f"the rows of turn {turn} are not whole")
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InvalidData(
                f"the checkpoint in {self.folder!r} was changed or damaged: {error}. Remove the folder to start anew"
            ) from error
        return small

    def _path(self, turn: int) -> str:
        return os.path.join(self.folder, f"factor-{turn}.npy")

    def _header(self) -> bytes:
        """The first bytes of the files, in the form of `numpy.save`."""
        content = io.BytesIO()
        header = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.n, self.k)}
        np.lib.format.write_array_header_1_0(content, header)
        return content.getvalue()

    @contextmanager
    def _saying_when_full(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise NeedsSpace(
                f"the disk of {self.folder} is full; the turns so far are stored, and the fit goes on from there once "
                "there is room"
            ) from error


def _write_all(file: io.RawIOBase, content: bytes) -> None:
    left = memoryview(content)
    while left:
        written = file.write(left)
        left = left[written:]


@final
@attrs.frozen(eq=False)
class ScaledRows:
    """Rows that are stored, with each column multiplied by a factor.

    Parameters
    ----------
    stored : Rows
    factors : ndarray of shape (k,)
    """

    stored: Rows
    factors: Array

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.stored.n

    @property
    def d(self) -> int:
        """Number of columns."""
        return self.stored.d

    @property
    def dtype(self) -> np.dtype:
        """float64."""
        return np.dtype(np.float64)

    @property
    def names(self) -> None:
        """None."""

    def read(self, rows: slice) -> Array:
        """Neighbouring rows, (b, k), where they are stored."""
        stored = self.stored.read(rows)
        if is_device_array(stored):
            return as_type(stored, np.float64) * to_device_of(self.factors, stored, np.float64)
        return stored * self.factors

    def gather(self, index: Indices) -> Array:
        """Some rows, (m, k), on the host."""
        return self.stored.gather(index) * self.factors
