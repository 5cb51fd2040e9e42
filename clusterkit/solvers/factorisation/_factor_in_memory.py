"""The rows of a factor in memory, turn by turn, in the blocks in which they are computed."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.core import memory
from clusterkit.core.file_locks import HeldFiles
from clusterkit.core.namespaces import to_host

__all__ = ["FactorInMemory", "HeldRows"]


@final
@attrs.frozen(eq=False)
class HeldRows:
    """The rows of one turn.

    Parameters
    ----------
    blocks : dict
        First row of a block to its rows, (b, k).
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
        """Neighbouring rows, (b, k): a block where it lies, and anything else on the host."""
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
    """What `FactorFiles` keeps on disk, for a fit whose blocks are all computed by one process.

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
    _turns: dict[int, dict[int, Array]] = attrs.field(factory=dict, init=False)
    _small: dict[str, Array] | None = attrs.field(default=None, init=False)

    def prepare(self, held: HeldFiles) -> None:
        """Ask for the memory of the rows of two turns; there is no file to hold."""
        if self.on_host:
            memory.require(
                2 * self.n * self.k * self.dtype.itemsize,
                f"two copies of the {self.n} x {self.k} numbers of a factor of all rows",
                "Keep them in a file, by solver__checkpoint='FOLDER', or use solver__update='anls', which keeps none.",
            )

    def rows(self, turn: int) -> HeldRows:
        """The rows of a turn."""
        return HeldRows(self._turns.setdefault(turn, {}), self.n, self.k, self.dtype)

    def write(self, turn: int, rows: slice, A: Array) -> None:
        """Put some rows of a turn, (b, k), in their place."""
        self._turns.setdefault(turn, {})[rows.start] = np.asarray(to_host(A)) if self.on_host else A

    def commit(self, turn: int, **small: Array) -> None:
        """Make the rows of a turn those that count, with arrays that belong to them; older rows are removed."""
        self._small = {"turn": np.array(turn), **small}
        for older in [each for each in self._turns if each < turn]:
            del self._turns[older]

    def state(self) -> dict[str, Array] | None:
        """What `commit` wrote last; None if there was no commit."""
        return self._small
