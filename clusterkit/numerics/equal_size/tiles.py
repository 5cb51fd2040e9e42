"""What the sweeps of equal clustering need: rows in tiles, in the flat through the seeds, and room."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tiled"]

# So many rows, evenly spaced, give the origin of the tiles' coordinates.
SAMPLED = 256


class Tiled:
    """Turns of `equal_list_jit.sweep`, in single precision unless that decides too few rows.

    Parameters
    ----------
    X : ndarray of shape (n, d), float64
    C : ndarray of shape (d, m), float64
        The seeds; moved in place.
    sizes : ndarray of shape (m,), int64
    end : tuple
        The last arguments of every loop.
    """

    def __init__(self, X: NDArray[Any], C: NDArray[Any], sizes: NDArray[Any], end: tuple[Any, ...]) -> None:
        self.X, self.C, self.sizes, self.end = X, C, sizes, end
        self.origin = X[:: max(1, len(X) // SAMPLED)].mean(axis=0)
        seeds = C - self.origin[:, None]
        # a power of 2, so that nothing is rounded
        self.scale = 2.0 ** -int(np.frexp(np.abs(seeds).max())[1])
        self.args = self._lay(np.float32, seeds) or self._lay(np.float64, seeds)

    def _lay(self, dtype: Any, seeds: NDArray[Any]) -> tuple[Any, ...] | None:
        """The arguments of the loop; None if norms are out of the range of single precision."""
        from clusterkit.numerics.equal_size import border_list_jit as equal_list_jit
        from clusterkit.numerics.equal_size import sweep_jit as equal_sweep_jit

        (n, d), m = self.X.shape, len(self.sizes)
        single = dtype is np.float32
        flat = single and m - 1 < d
        D = m - 1 if flat else d
        axes = np.zeros((0, d))
        if flat:
            axes = np.ascontiguousarray(np.linalg.qr(seeds[:, 1:] - seeds[:, :1], mode="complete")[0].T)
        shape = (-(-n // equal_sweep_jit.TILE), -(-D // 4), 4, equal_sweep_jit.TILE)
        tiles, norms = _aligned(shape, dtype), np.empty((shape[0], 2))
        equal_sweep_jit.lay(self.X, self.origin, axes[:D], self.scale, tiles, norms)
        if single and not norms.max() < equal_list_jit.MOST:
            return None
        chosen = _aligned((int(equal_list_jit.LONG * shape[0]) + 3, *shape[1:]), dtype)
        pairs = (m + 1) // 2
        plan = np.array(equal_list_jit.START)
        if not single:
            plan[equal_list_jit.UNSURE] = -np.inf
        return (
            tiles, np.arange(n, dtype=np.int32), self.origin, axes, self.scale, float(np.finfo(dtype).eps) / 2.0, norms,
            np.zeros((2, pairs, shape[1], 2, 4), dtype=dtype), np.empty((3, 2 * pairs), dtype=dtype),
            np.empty(m), np.empty(m, dtype=dtype), chosen, np.empty(n, dtype=np.int32), np.zeros(m, dtype=np.int64),
            np.zeros((5, D, m)), np.empty((d, m)), _aligned((2 * pairs + 3, shape[3]), dtype), plan,
        )  # fmt: skip

    def __call__(self, first: int, last: int) -> tuple[int, int]:
        """Turns `first` … `last` - 1: how many are done, and why it stopped."""
        from clusterkit.numerics.equal_size import border_list_jit as equal_list_jit
        from clusterkit.numerics.equal_size import drift_jit as equal_jit

        assert self.args is not None
        done, why = equal_list_jit.sweep(self.X, self.C, self.sizes, *self.args, first, last, *self.end)
        if why == equal_jit.DOUBT:
            self.args, why = self._lay(np.float64, self.C), equal_jit.GOING
        return done, why


def _aligned(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Memory that begins with a cache line, as vectors of the processor like it."""
    room = np.empty(int(np.prod(shape)) + 64, dtype=dtype)
    begin = -room.ctypes.data % 64 // room.itemsize
    return room[begin : begin + int(np.prod(shape))].reshape(shape)
