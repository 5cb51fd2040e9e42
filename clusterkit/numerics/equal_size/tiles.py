"""The arrays that the sweeps of equal clustering work on, and the calls of their loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clusterkit._typing import Array, Counts

if TYPE_CHECKING:
    from clusterkit.numerics.equal_size.border_list_jit import BorderList, SweepRoom
    from clusterkit.numerics.equal_size.drift_jit import DriftRecord, DriftSettings
    from clusterkit.numerics.equal_size.sweep_jit import TiledRows

__all__ = ["TiledLoop"]

ORIGIN_ROWS = 256
"""So many evenly spaced rows give the origin of the tiles' coordinates, their mean: any point near the rows will do."""
CACHE_LINE = 64
"""Bytes of a cache line, and of the longest vector registers."""


class TiledLoop:
    """Iterations of `border_list_jit.run_with_tiles`: in single precision, unless that decides too few rows.

    Parameters
    ----------
    X : ndarray of shape (n, d), float64
    C : ndarray of shape (d, m), float64
        The seeds; moved in place.
    sizes : integer ndarray of shape (m,)
        Sizes of the last iteration, written in place.
    settings : DriftSettings
    record : DriftRecord
    """

    rows: TiledRows
    border: BorderList
    room: SweepRoom
    plan: np.void

    def __init__(
        self,
        X: Array,
        C: Array,
        sizes: Counts,
        settings: DriftSettings,
        record: DriftRecord,
    ) -> None:
        self.X, self.C, self.sizes = X, C, sizes
        self.settings, self.record = settings, record
        self.origin = X[:: max(1, len(X) // ORIGIN_ROWS)].mean(axis=0)
        seeds = C - self.origin[:, None]
        # a power of 2, so that nothing is rounded
        self.scale = 2.0 ** -int(np.frexp(np.abs(seeds).max())[1])
        if not self._lay(np.float32, seeds):
            self._lay(np.float64, seeds)

    def _lay(self, dtype: Any, seeds: Array) -> bool:
        """Arrange rows and work space in a type; False if norms are out of the range of single precision."""
        from clusterkit.numerics.equal_size import border_list_jit, sweep_jit

        (n, d), m = self.X.shape, len(self.sizes)
        single = dtype is np.float32
        projected = single and m - 1 < d
        D = m - 1 if projected else d
        axes = np.zeros((0, d))
        if projected:
            axes = np.ascontiguousarray(np.linalg.qr(seeds[:, 1:] - seeds[:, :1], mode="complete")[0].T)
        shape = (-(-n // sweep_jit.TILE), -(-D // 4), 4, sweep_jit.TILE)
        tiles, norms = _aligned(shape, dtype), np.empty((shape[0], 2))
        sweep_jit.lay(self.X, self.origin, axes[:D], self.scale, tiles, norms)
        if single and not norms.max() < border_list_jit.MOST:
            return False
        unit, pairs = float(np.finfo(dtype).eps) / 2.0, (m + 1) // 2
        self.rows = sweep_jit.TiledRows(tiles, np.arange(n, dtype=np.int32), self.origin, axes, self.scale, unit, norms)
        self.border = border_list_jit.BorderList(
            _aligned((int(border_list_jit.LONGEST * shape[0]) + 3, *shape[1:]), dtype),
            np.empty(n, dtype=np.int32),
            np.zeros(m, dtype=np.int64),
            np.empty(m),
            np.empty(m, dtype=dtype),
        )
        centres, previous, begin, path, spare = np.zeros((5, D, m))
        self.room = border_list_jit.SweepRoom(
            centres=centres,
            previous=previous,
            begin=begin,
            path=path,
            spare=spare,
            weights=np.zeros((2, pairs, shape[1], 2, 4), dtype=dtype),
            offsets=np.empty((3, 2 * pairs), dtype=dtype),
            rest=np.empty((d, m)),
            scores=_aligned((2 * pairs + 3, shape[3]), dtype),
        )
        self.plan = border_list_jit.first_plan(0.0 if single else -np.inf)
        return True

    def __call__(self, first: int, last: int) -> tuple[int, int]:
        """Run iterations `first` … `last` - 1; return how many are finished, and why the loop stopped."""
        from clusterkit.numerics.equal_size import border_list_jit, drift_jit

        done, why = border_list_jit.run_with_tiles(
            self.X, self.C, self.sizes, self.rows, self.border, self.room, self.plan, first, last,
            self.settings, self.record,
        )  # fmt: skip
        if why == drift_jit.DOUBT:
            self._lay(np.float64, self.C)
            why = drift_jit.GOING
        return done, why


def _aligned(shape: tuple[int, ...], dtype: Any) -> Array:
    """An array that begins at a cache line, from where the processor loads its vectors fastest."""
    memory = np.empty(int(np.prod(shape)) + CACHE_LINE, dtype=dtype)
    begin = -memory.ctypes.data % CACHE_LINE // memory.itemsize
    return memory[begin : begin + int(np.prod(shape))].reshape(shape)
