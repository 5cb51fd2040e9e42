"""Updates of a factorisation that start from the rows of the iteration before, which are stored between the iterations.

The rows of the factor are stored on disk (`FactorFiles`), whole after every iteration or still those of the iteration
before, or in memory in the blocks in which they are computed (`FactorInMemory`).
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, Final, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.contracts.outcomes import LinearRows
from clusterkit.contracts.pass_solver import RowFunction, Step, Stored
from clusterkit.errors import InvalidData, NeedsSpace
from clusterkit.families.factors._updates import TABLES, FoldIn, RowUpdate, factor_gram, inner, update_rows
from clusterkit.files import HeldFiles, replacing
from clusterkit.samples import FeatureSpace, memory
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    as_type,
    is_device_array,
    move_to,
    row_chunks,
    row_squares,
    to_device_of,
    to_host,
)
from clusterkit.samples.rows import Rows
from clusterkit.samples.sums import Sums
from clusterkit.samples.transform import Transform
from clusterkit.tables.reading.opening import RawRows, require_space

__all__ = [
    "FactorFiles",
    "FactorInMemory",
    "FeatureTotals",
    "HeldRows",
    "ScaledRows",
    "StoredIterations",
    "TotalsAnywhere",
]


LOCK: Final = "in-use"
"""The file that a fit holds while it works in the folder."""

STATE: Final = "state.npz"
"""The file of the small arrays. It names the valid iteration, and is replaced in one step once its rows exist."""


@final
@attrs.frozen
class FactorFiles:
    """A folder with the rows of the last iteration, ``factor-TURN.npy``, and a file of small arrays, `STATE`.

    The rows of an iteration are a new file, so that a process that still writes an older one, or is killed, leaves the
    valid iteration unchanged.

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
        """Make the folder, ask for the space of the rows of two iterations, and keep other fits out.

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

    def rows(self, iteration: int) -> RawRows:
        """The rows of an iteration."""
        return RawRows(self._path(iteration), self.n, self.k, self.dtype, None, len(self._header()))

    def write(self, iteration: int, rows: slice, A: Array) -> None:
        """Write some rows of an iteration, (b, k), to their positions.

        Raises
        ------
        NeedsSpace
            If the disk is full.
        """
        header = self._header()
        with self._saying_when_full():
            # neither cut nor locked: other blocks of the iteration are written at the same time
            descriptor = os.open(self._path(iteration), os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            with os.fdopen(descriptor, "r+b", buffering=0) as file:
                if rows.start == 0:
                    _write_all(file, header)
                file.seek(len(header) + rows.start * self.k * self.dtype.itemsize)
                _write_all(file, np.ascontiguousarray(to_host(A), dtype=self.dtype).tobytes())

    def commit(self, iteration: int, **small: Array) -> None:
        """Make an iteration the valid one, with small arrays that belong to it, and remove older rows.

        Raises
        ------
        InvalidData
            If the first rows of the iteration are gone: another fit works in the same folder.
        """
        with self._saying_when_full():
            with open(self._path(iteration), "rb+") as stored:
                if stored.read(len(self._header())) != self._header():
                    raise InvalidData(
                        f"the checkpoint in {self.folder!r} was changed during the fit: another fit of the same "
                        "samples and parameters works in it. Let them run one after the other, or with a folder each"
                    )
                os.fsync(stored.fileno())
            arrays: dict[str, Any] = {"turn": np.array(iteration), **small}
            with replacing(Path(self.folder) / STATE) as part:
                np.savez(part, **arrays)
        for older in Path(self.folder).glob("factor-*.npy"):
            number = older.stem.removeprefix("factor-")
            if number.isdigit() and int(number) < iteration:
                with suppress(OSError):  # a reader may have the file open, which on some systems forbids its removal
                    older.unlink()

    def state(self) -> dict[str, Array] | None:
        """The small arrays written by the last `commit`, and the array "turn"; None if there was no commit.

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
            iteration, size = int(small["turn"]), os.path.getsize(self._path(int(small["turn"])))
            if size != len(self._header()) + self.n * self.k * self.dtype.itemsize:
                raise ValueError(f"the rows of iteration {iteration} are incomplete")
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InvalidData(
                f"the checkpoint in {self.folder!r} was changed or damaged: {error}. Remove the folder to start anew"
            ) from error
        return small

    def _path(self, iteration: int) -> str:
        return os.path.join(self.folder, f"factor-{iteration}.npy")

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
                f"the disk of {self.folder} is full; the iterations so far are stored, and the fit goes on from there "
                "once there is room"
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


@final
@attrs.frozen(eq=False)
class HeldRows:
    """The rows of one iteration in memory.

    Parameters
    ----------
    blocks : dict
        The blocks of rows, (b, k), by the index of their first row.
    n, k : int
    dtype : numpy dtype
    """

    blocks: dict[int, Array]
    n: int
    k: int
    dtype: np.dtype

    @property
    def d(self) -> int:
        """Number of columns."""
        return self.k

    @property
    def names(self) -> None:
        """None."""

    def read(self, rows: slice) -> Array:
        """Consecutive rows, (b, k): a block on its own device, and any other range on the host."""
        block = self.blocks.get(rows.start)
        if block is not None and block.shape[0] == rows.stop - rows.start:
            return block
        table = np.empty((rows.stop - rows.start, self.k), dtype=self.dtype)
        for start, part in self.blocks.items():
            low, high = max(start, rows.start), min(start + part.shape[0], rows.stop)
            if low < high:
                table[low - rows.start : high - rows.start] = to_host(part[low - start : high - start, :])
        return table

    def gather(self, index: Indices) -> Array:
        """Some rows, (m, k), on the host."""
        return np.asarray(to_host(self.read(slice(0, self.n))))[index]


@attrs.define(eq=False)
class FactorInMemory:
    """The factor and its state in memory instead of on disk (`FactorFiles`), for a fit by one process.

    Parameters
    ----------
    n, k : int
        Shape of the factor.
    dtype : numpy dtype
    on_host : bool
        Whether the blocks are brought to the host, because the samples lie there too; else they stay where they are
        computed.
    """

    n: int
    k: int
    dtype: np.dtype
    on_host: bool
    _iterations: dict[int, dict[int, Array]] = attrs.field(factory=dict, init=False)
    _small: dict[str, Array] | None = attrs.field(default=None, init=False)

    def prepare(self, held: HeldFiles) -> None:
        """Ask for the memory of the rows of two iterations; there is no file to hold."""
        if self.on_host:
            memory.require(
                2 * self.n * self.k * self.dtype.itemsize,
                f"two copies of the {self.n} x {self.k} numbers of a factor of all rows",
                "Keep them in a file, by solver__checkpoint='FOLDER', or use solver__update='anls', which keeps none.",
            )

    def rows(self, iteration: int) -> HeldRows:
        """The rows of an iteration."""
        return HeldRows(self._iterations.setdefault(iteration, {}), self.n, self.k, self.dtype)

    def write(self, iteration: int, rows: slice, A: Array) -> None:
        """Write some rows of an iteration, (b, k), to their positions."""
        self._iterations.setdefault(iteration, {})[rows.start] = np.asarray(to_host(A)) if self.on_host else A

    def commit(self, iteration: int, **small: Array) -> None:
        """Make an iteration the valid one, with small arrays that belong to it, and remove older rows."""
        self._small = {"turn": np.array(iteration), **small}
        for older in [each for each in self._iterations if each < iteration]:
            del self._iterations[older]

    def state(self) -> dict[str, Array] | None:
        """The small arrays kept by the last `commit`; None if there was no commit."""
        return self._small


FORM: Final = 1
"""Version of the files; those of another one are not looked at."""


@final
@attrs.frozen(eq=False)
class FeatureTotals:
    """The smallest feature of a block, the sum of its features, the sum of their squares, and a digest of them."""

    smallest: float
    total: Array
    norm: float
    digest: bytes

    @classmethod
    def of(cls, rows: slice, H: Array) -> FeatureTotals:
        """The totals of a block of features, H (b, L)."""
        return cls._of(H, _digest(np.ascontiguousarray(H).tobytes()))

    @classmethod
    def _of(cls, H: Array, digest: bytes) -> FeatureTotals:
        if is_device_array(H):
            xp = array_namespace(H)
            total = sum(xp.sum(as_type(chunk, np.float64), axis=0) for _, chunk in row_chunks(H))
            norm = sum(xp.sum(row_squares(as_type(chunk, np.float64))) for _, chunk in row_chunks(H))
            return cls(float(xp.min(H)), to_host(total)[:, None], float(norm), digest)
        ones = np.ones((len(H), 1), dtype=H.dtype)
        total = (H.T @ ones).astype(np.float64, copy=False)
        norm = float(np.einsum("ij,ij->", H, H, dtype=np.float64))
        return cls(float(H.min(initial=np.inf)), total, norm, digest)

    def mean(self, n: int) -> float:
        """The mean feature of n rows."""
        return float(self.total.sum()) / (n * len(self.total))

    def __add__(self, following: FeatureTotals) -> FeatureTotals:
        smallest = min(self.smallest, following.smallest)
        digest = _digest(self.digest + following.digest)
        return FeatureTotals(smallest, self.total + following.total, self.norm + following.norm, digest)


@final
@attrs.frozen(eq=False)
class TotalsAnywhere(BlockFunction):
    """`FeatureTotals` without a digest, computed on the device of the features."""

    array_api: ClassVar[bool] = True

    def __call__(self, rows: slice, H: Array) -> FeatureTotals:
        """The totals of a block of features, H (b, L)."""
        return FeatureTotals._of(H, b"")


@final
@attrs.frozen(eq=False)
class _IterationDone(BlockFunction):
    """The result of an iteration besides the rows of A, which are stored: W, and the history of the fit.

    Parameters
    ----------
    fold : FoldIn
        Rows of A for new samples, by W.
    files : FactorFiles or FactorInMemory
    begin : mapping
        State of the random generator before the entries of the first A.
    history : tuple of float
        Objectives of the iterations so far.
    change : float
        Root mean square change of the factors in the last iteration.
    """

    fold: FoldIn
    files: FactorFiles | FactorInMemory
    begin: Mapping[str, Any]
    history: tuple[float, ...] = ()
    change: float = np.inf

    def __call__(self, Y: Array) -> Array:
        return self.fold(Y)

    def on(self, H: Array) -> Array:
        return self.fold.on(H)

    def columns(self, index: slice | Indices) -> _IterationDone:
        raise NotImplementedError("all columns of a factor belong to one start")


@final
@attrs.frozen(eq=False)
class StoredIterations(BlockFunction):
    """The iterations of the solver `nmf` with a checkpoint, or with its rows of A in memory, for a device.

    Parameters
    ----------
    transform : Transform
        Raw rows to features.
    n, k : int
    checkpoint : str or None
        Folder of the checkpoints; each start has one of its own in it. None keeps the rows of A in memory.
    totals : FeatureTotals
        Totals of all features.
    rows, columns, new : RowUpdate
        Updates of the rows of A, of the rows of W, and of new samples.
    tol, max_iter, normalize
        Parameters of the solver `nmf`.
    on_host : bool
        Whether rows of A that are kept in memory lie on the host; else each block stays where it is computed.
    """

    transform: Transform
    n: int
    k: int
    checkpoint: str | None
    totals: FeatureTotals
    rows: RowUpdate
    columns: RowUpdate
    new: RowUpdate
    tol: float
    max_iter: int
    normalize: bool
    on_host: bool = True
    held: HeldFiles = attrs.field(factory=HeldFiles, init=False)

    array_api: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Name of the solver, for progress reports."""
        return "nmf"

    @property
    def resolved(self) -> Mapping[str, object]:
        """Empty: no parameter is chosen during the fit."""
        return {}

    @property
    def table_columns(self) -> int:
        """Columns of the temporary arrays of a block: `TABLES` arrays of k columns, the rows of A and their updates."""
        return TABLES * self.k

    def begin(self, space: FeatureSpace, rng: Rng) -> RowFunction:
        """Random factors, as in memory: A row by row in the first iteration, W now; or the last stored iteration."""
        state: Mapping[str, Any] = rng.bit_generator.state
        W = ((1.0 - _drawn(state, self.n * self.k, space.width, self.k)) * self._scale).astype(self.transform.dtype)
        files: FactorFiles | FactorInMemory
        if self.checkpoint is None:
            files = FactorInMemory(self.n, self.k, self.transform.dtype, self.on_host)
        else:
            files = FactorFiles(self._folder(self.checkpoint, W), self.n, self.k, self.transform.dtype)
        files.prepare(self.held)
        # the next draws, by a labeler, are then the same as for a fit in memory
        cast("np.random.PCG64", rng.bit_generator).advance((self.n + space.width) * self.k)
        return self.latest(_IterationDone(self._fold(W), files, state))

    def latest(self, function: RowFunction) -> RowFunction:
        """The last iteration that is stored."""
        assert isinstance(function, _IterationDone)
        state = function.files.state()
        if state is None:
            return function
        history, change = tuple(state["history"].tolist()), float(state["change"])
        return attrs.evolve(function, fold=self._fold(state["W"]), history=history, change=change)

    def part(self, H: Array, function: RowFunction, before: RowFunction | None, weights: Array | None) -> Sums:
        """Not used: a block needs its rows of A."""
        raise NotImplementedError

    def part_of(self, rows: slice, H: Array, function: RowFunction) -> Sums:
        """Update the rows of A; ``H_b'A_b``, (L, k), ``A_b'A_b``, (k, k), and the sum of the squared changes."""
        assert isinstance(function, _IterationDone)
        iteration = len(function.history)
        if iteration:
            A = function.files.rows(iteration).read(rows)
        else:
            drawn = _drawn(function.begin, rows.start * self.k, H.shape[0], self.k)
            A = ((1.0 - drawn) * self._scale).astype(self.transform.dtype)
        if is_device_array(H):
            from clusterkit.families.factors._updates import update_block

            fold = function.fold
            there, *added = update_block(H, fold.basis, fold.gram, move_to(A, H, self.transform.dtype), self.rows)
            function.files.write(iteration + 1, rows, there)
            return Sums.of(*added)
        P, gram, moved = update_rows(lambda: iter([(slice(0, len(H)), H)]), function.fold.basis, A, self.rows, None)
        function.files.write(iteration + 1, rows, A)
        return Sums.of(P, gram, np.array(moved))

    def finish(self, total: Sums, function: RowFunction) -> Step:
        """Update W, and make the new rows of A the valid ones."""
        assert isinstance(function, _IterationDone)
        P, gram, moved = total.arrays
        W = np.ascontiguousarray(function.fold.basis).copy()
        change = self.columns.advance(W, P, gram)
        fit = inner(factor_gram(W), gram) - 2.0 * inner(W, P)
        history = (*function.history, max(0.0, 0.5 * (self.totals.norm + fit)))
        change = float(max(np.sqrt(moved / (self.n * self.k)), np.sqrt(change / W.size)))
        function.files.commit(len(history), W=W, history=np.array(history), change=np.array(change))
        return self._step(attrs.evolve(function, fold=self._fold(W), history=history, change=change))

    def release(self) -> None:
        """Let other fits use the folders."""
        self.held.release()

    def last(self, function: RowFunction) -> tuple[tuple[float, ...], Step] | None:
        """The objectives of the iterations so far, and the end of the last one."""
        assert isinstance(function, _IterationDone)
        return (function.history, self._step(function)) if function.history else None

    def stored(self, function: RowFunction) -> Stored:
        """The rows of A, with each column scaled by the length of the column of W."""
        assert isinstance(function, _IterationDone)
        W = function.fold.basis
        norms = np.linalg.norm(W.astype(np.float64, copy=False), axis=0)
        rows: Rows = function.files.rows(len(function.history))
        scores, fold, scale = ScaledRows(rows, norms), function.fold, norms
        if self.normalize:
            rows = scores
            fold = self._fold(np.divide(W, norms, out=np.zeros_like(W), where=norms > 0))
            scale = (norms > 0).astype(np.float64)
        return Stored(scores, rows, fold, scale)

    @property
    def _scale(self) -> float:
        return float(np.sqrt(self.totals.mean(self.n) / self.k))

    def _step(self, iteration: _IterationDone) -> Step:
        settled = (
            f"tolerance reached: the factors changed by {iteration.change:.1e}" if iteration.change < self.tol else None
        )
        if self.totals.norm == 0.0:
            settled = "all features are zero, and so are the factors"
        return Step(iteration, iteration.history[-1], settled, f", the factors still changed by {iteration.change:.1e}")

    def _fold(self, W: Array) -> FoldIn:
        products = LinearRows(self.transform, W)
        return FoldIn(products, factor_gram(W), self.new, self.transform.dtype, np.arange(self.k))

    def _folder(self, checkpoint: str, W: Array) -> str:
        """Path of the folder for these data, parameters and start: its name is a digest of them."""
        updates = [attrs.astuple(update) for update in (self.rows, self.columns)]
        facts = json.dumps([FORM, self.n, self.k, updates]).encode()
        digest = _digest(facts + self.totals.digest + W.tobytes())
        return os.path.join(os.path.abspath(checkpoint), f"nmf-{digest.hex()}")


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _drawn(state: Mapping[str, Any], before: int, rows: int, columns: int) -> Array:
    """Uniform numbers (rows, columns) of a stream, after the first `before`, as if all were drawn at once."""
    bits = np.random.PCG64()
    bits.state = dict(state)  # type: ignore[assignment] # of the same kind of generator
    bits.advance(before)  # a number of 53 bits takes one step
    return np.random.Generator(bits).random((rows, columns))
