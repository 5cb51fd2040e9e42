"""Fitted row maps in sequence: what a predictor keeps of a space, without the training data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import ClassVar, Protocol, TypeVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.numerics.shapes import array
from clusterkit.numerics.sparse_rows import SparseRows, as_rows
from clusterkit.numerics.threads import each_block
from clusterkit.samples import sums
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    as_type,
    device_product,
    has_array_api,
    host_dtype,
    is_device_array,
    to_device_of,
)

__all__ = [
    "ChosenColumns",
    "IdentityMap",
    "RowMap",
    "Transform",
    "block_plan",
    "block_rows",
    "device_plan",
    "in_blocks",
    "multiply",
    "product",
    "scaling_of",
]

Value = TypeVar("Value")

BLOCK_BYTES = 8 * 1024**2
"""Bytes of a block of features: about the size of a processor's last cache."""

BLOCK_ROWS = 4096
"""Largest number of rows of a block. Sums inside a block have the type of the data: a float32 sum over more rows loses
digits."""


def block_rows(width: int, dtype: np.dtype | type) -> int:
    """Rows of the blocks of `block_plan`; the last one of a group may have fewer."""
    return min(BLOCK_ROWS, max(64, BLOCK_BYTES // max(1, width * np.dtype(dtype).itemsize) // 64 * 64))


def block_plan(n: int, width: int, dtype: np.dtype | type) -> tuple[slice, ...]:
    """Row slices of at most 4,096 rows and about 8 MiB; a function of (n, width, dtype), so all spaces add alike.

    No block crosses the border of a group (`clusterkit.samples.sums.GROUP`).
    """
    return _plan(n, block_rows(width, dtype), sums.GROUP)


@lru_cache(maxsize=32)  # iterations ask for the same plan again and again
def _plan(n: int, rows: int, group: int) -> tuple[slice, ...]:
    ends = ((first, min(n, first + group)) for first in range(0, n, group))
    return tuple(slice(i, min(end, i + rows)) for first, end in ends for i in range(first, end, rows))


DEVICE_BLOCK_BYTES = 256 * 1024**2
"""Bytes of a block of features on a device, or of a table of what is made of it. Maps and products make a few arrays of
this size beside it, and two blocks of rows are there at once: together less than 2 GiB."""


DEVICE_BLOCK_ROWS = 2**20
"""Largest number of rows of a block on a device: numbers of each row, such as those of the digest of its labels, are
tables too."""


def device_plan(n: int, width: int, dtype: np.dtype | type) -> Iterator[slice]:
    """Row slices of about 256 MiB; a function of (n, width, dtype), as `block_plan` for the host.

    Blocks are larger than groups (`clusterkit.samples.sums.GROUP`) where that fits: each costs some dozens of calls.

    A block has a multiple of 4,096 rows, because products of float32 numbers add up so many; fewer where these are
    wider than 256 MiB, but 64 at least. `width` is that of the widest table: the features, or what is made of them.

    Examples
    --------
    >>> [rows.stop - rows.start for rows in device_plan(300_000, 1000, np.float32)]
    [65536, 65536, 65536, 65536, 37856]
    """
    fitting = DEVICE_BLOCK_BYTES // max(1, width * np.dtype(dtype).itemsize)
    rows = min(DEVICE_BLOCK_ROWS, fitting // BLOCK_ROWS * BLOCK_ROWS or max(64, fitting // 64 * 64))
    for start in range(0, n, rows):
        yield slice(start, min(n, start + rows))


def in_blocks(function: Callable[[Array], Array], Y: Array, width: int) -> Array:
    """A function of rows (m, d) of another library than numpy, block by block, (m, ...).

    `width` is the number of columns of the widest table that it makes.
    """
    xp = array_namespace(Y)
    parts = [function(Y[rows, :]) for rows in device_plan(Y.shape[0], max(width, Y.shape[1]), host_dtype(Y))]
    if not parts:
        return function(Y)
    whole: Array = parts[0] if len(parts) == 1 else xp.concat(parts, axis=0)
    return whole


def multiply(H: Array | SparseRows, B: Array, out: Array) -> None:
    """H B into `out`, (m, q); without a copy on the way where H is dense."""
    if isinstance(H, SparseRows):
        out[:] = H @ B
    else:
        product(H, B, out)


WIDE, THIN_PRODUCT = 256, 32
"""Columns of A from which, and of B up to which, ``(B'A')'`` is faster than A B in float64: BLAS then packs A as it
lies. A rule of the columns alone, so that few rows meet the arithmetic that many meet."""


def product(A: Array, B: Array, out: Array | None = None) -> Array:
    """A B, (m, q), of finite numbers.

    OpenBLAS was seen to flag an invalid operation for finite float32 matrices whose product is finite, which numpy
    warns of. What stages return is checked to be finite anyway, so that nothing is lost with the flag.
    """
    with np.errstate(invalid="ignore"):
        if A.dtype != np.float64 or A.shape[1] < WIDE or B.shape[1] > THIN_PRODUCT:
            return np.matmul(A, B, out=out)
        turned = np.matmul(B.T, A.T).T
    if out is None:
        return np.ascontiguousarray(turned)
    out[:] = turned
    return out


class RowMap(Protocol):
    """A fitted feature map: every row of the result depends on its own row of the input alone."""

    @property
    def width(self) -> int:
        """Number of features produced."""

    def __call__(self, Y: Array) -> Array:
        """Map rows, (m, d) to (m, width), keeping float32 or float64."""


def scaling_of(mapping: RowMap) -> RowMap | None:
    """The part of a map that brings the attributes to a scale; None if it has no such part.

    A map that treats every attribute by itself (``columnwise = True``) is that part as a whole. Any other map may have
    it as the attribute `scaling`.
    """
    whole: RowMap | None = mapping if getattr(mapping, "columnwise", False) else getattr(mapping, "scaling", None)
    return whole


@final
@attrs.frozen
class IdentityMap(BlockFunction):
    """The identity row map."""

    array_api: ClassVar[bool] = True

    width: int

    def __call__(self, Y: Array) -> Array:
        """Y itself."""
        return Y

    def inverse(self, H: Array) -> Array:
        """The rows that the map keeps as H."""
        return H


@final
@attrs.frozen(eq=False)
class ChosenColumns(BlockFunction):
    """The row map to some of the columns, in ascending order.

    Parameters
    ----------
    index : ndarray of shape (width,), int
    """

    array_api: ClassVar[bool] = True

    index: Indices = attrs.field(validator=array("width", least=0, ascending=True, distinct=True))

    @property
    def scaling(self) -> ChosenColumns:
        """The map itself: starts see the columns that are kept."""
        return self

    @property
    def width(self) -> int:
        """Number of columns that are kept."""
        return len(self.index)

    def __call__(self, Y: Array) -> Array:
        """These columns of rows, on their device."""
        if is_device_array(Y):
            xp = array_namespace(Y)
            columns: Array = xp.stack([Y[:, int(j)] for j in self.index], axis=1)
            return columns
        return np.ascontiguousarray(Y[:, self.index])


@final
@attrs.frozen(eq=False)
class Transform(BlockFunction):
    """Row maps applied one after the other.

    Parameters
    ----------
    steps : tuple of RowMap
        The first sees the raw data.
    dtype : numpy dtype
        Type of the training data; new rows are converted to it, so that they meet the same arithmetic.
    """

    steps: tuple[RowMap, ...]
    dtype: np.dtype

    @property
    def array_api(self) -> bool:
        """Whether all maps have the mark; without maps, rows of any library stay what they are."""
        return all(has_array_api(step) for step in self.steps)

    @property
    def width(self) -> int | None:
        """Number of features; None without steps."""
        return self.steps[-1].width if self.steps else None

    @property
    def feature_error(self) -> float:
        """Relative error by which the features of equal rows may differ: 0 if they are no sums of products, or float64.

        A product of matrices rounds a row by its position in its block. The error of float64 is that of distances.
        """
        return 0.0 if self.scales or self.dtype == np.float64 else float(np.finfo(self.dtype).eps)

    @property
    def scales(self) -> bool:
        """Whether the maps do nothing but scale columns, and choose some."""
        return all(isinstance(step, IdentityMap) or scaling_of(step) is step for step in self.steps)

    def __call__(self, Y: Array) -> Array:
        """Features of the rows of Y, (m, d) to (m, L); sparse rows stay sparse until a step makes them dense.

        Rows of another library of the array API give features of that library, on their device.
        """
        H = as_type(Y, self.dtype) if is_device_array(Y) else as_rows(Y, self.dtype)
        for step in self.steps:
            H = step(H)
        return H

    def inverse(self, H: Array) -> Array | None:
        """Raw rows of which H, (m, L), are the features; None if a map cannot be undone."""
        for step in reversed(self.steps):
            undo = getattr(step, "inverse", None)
            if undo is None:
                return None
            H = undo(H)
        return H

    def blocks(self, Y: Array) -> Iterator[tuple[slice, Array]]:
        """Row slices of Y with their features."""
        width = self.steps[-1].width if self.steps else Y.shape[1]
        for rows in block_plan(len(Y), width, self.dtype):
            yield rows, self(Y[rows])

    def passed(self, function: Callable[[slice, Array], Value], Y: Array) -> Iterator[tuple[slice, Value]]:
        """``function(rows, features of the rows)`` of all blocks of Y, in their order.

        Where the rows are many or wide several threads call the function, see
        `clusterkit.numerics.threads.each_block`.
        """
        width = self.width or Y.shape[1]
        blocks = ((rows, Y[rows]) for rows in block_plan(len(Y), width, self.dtype))
        return each_block(lambda rows, X: function(rows, self(X)), blocks, len(Y), width)

    def apply(self, Y: Array, B: Array) -> Array:
        """Features times B, (m, q), never holding more than a block of features."""
        if is_device_array(Y):
            width = max(self.width or 1, B.shape[1])
            return in_blocks(lambda rows: device_product(self(rows), to_device_of(B, rows, self.dtype)), Y, width)
        B = B.astype(self.dtype, copy=False)
        F = np.empty((len(Y), B.shape[1]), dtype=self.dtype)
        for _ in self.passed(lambda rows, H: multiply(H, B, F[rows]), Y):
            pass
        return F
