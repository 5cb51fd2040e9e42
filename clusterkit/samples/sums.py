"""Sums over rows in one fixed order, the same in memory, out of core and on several machines.

Sums of floating-point numbers depend on their order. Every pass therefore adds in the same one: the parts of the blocks
of a group of `GROUP` rows from left to right, then the totals of the groups in a tree in which `FAN_IN` neighbours meet
at each node. Who computes a group, and when, then changes no bit. Up to one group the order is that of the blocks.

`target_sums` are the products of a block of features with the targets of its labels, ``H_b' T_b``. Of symmetric and
triangular matrices one triangle is sent (`packed_upper`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any, Protocol, Self, TypeVar, final

import attrs
import numpy as np

from clusterkit._typing import AnyArray, Array, ArrayLike, Counts
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples.array_libraries import (
    array_namespace,
    device_product,
    host_dtype,
    is_device_array,
    to_host,
)
from clusterkit.samples.coding import Coded

__all__ = [
    "FAN_IN",
    "GROUP",
    "GROUPED_COLUMNS",
    "Addable",
    "RowsInOrder",
    "Sums",
    "SymmetricSum",
    "add_as_tree",
    "add_left_to_right",
    "class_totals",
    "groups",
    "packed_upper",
    "products_of_rows",
    "symmetric_of",
    "target_sums",
    "total",
    "total_there",
    "upper_of",
]


GROUP = 2**18
"""Rows whose parts are added from left to right; the unit of work of an engine.

Large enough that a group is worth a task (26 million numbers at 100 attributes), small enough that a machine holds one.
Tests lower it by `clusterkit.testing.compare.small_groups`; results above one group depend on it.
"""

FAN_IN = 16
"""Number of totals that are added at a node of the tree over the groups: two levels serve 67 million rows, three a
billion."""


class Addable(Protocol):
    """Contribution of a block of rows to a pass: those of neighbouring blocks add up to that of both together.

    An optional method `to_host` returns a copy with all arrays on the host; `add_left_to_right` calls it at the end of
    a group, and `total_there` at the end of a pass, so that sums of blocks on a device stay there until then.
    """

    def __add__(self, following: Self, /) -> Self:
        """The part of this block and of the rows that follow it."""


T = TypeVar("T", bound=Addable)


@final
@attrs.frozen(eq=False)
class Sums:
    """Arrays that are added entry by entry, float64 or int64 whatever the type of the data.

    Parameters
    ----------
    arrays : tuple of ndarray
        Floats become float64 and integers int64. Those of a block on a device stay there until `to_host`.

    Examples
    --------
    >>> a, b = (Sums.of(np.array([0.5, 1.0], dtype=np.float32), np.array(n)) for n in (3, 4))
    >>> [array.tolist() for array in (a + b).arrays]
    [[1.0, 2.0], 7]
    """

    arrays: tuple[Array, ...]

    @classmethod
    def of(cls, *arrays: ArrayLike) -> Sums:
        """The sums of a block."""
        return cls(tuple(_wide(array) for array in arrays))

    def __add__(self, following: Sums) -> Sums:
        """The sums of both blocks, entry by entry."""
        return Sums(tuple(one + other for one, other in zip(self.arrays, following.arrays, strict=True)))

    def to_host(self) -> Sums:
        """A copy on the host; the arrays of a device are copied together, in one transfer."""
        there = [array for array in self.arrays if is_device_array(array)]
        if not there:
            return self
        host = iter(_to_host_together(there))
        return Sums(tuple(next(host) if is_device_array(array) else array for array in self.arrays))


@final
@attrs.frozen(eq=False)
class SymmetricSum:
    """A symmetric matrix that is added entry by entry, in float64; its pickle holds one triangle, half as many bytes.

    Parameters
    ----------
    matrix : ndarray of shape (m, m)
        Symmetric bit for bit, as products ``H'H`` of numpy are; one that is not is pickled whole. That of a block on a
        device stays there until `to_host`.

    Examples
    --------
    >>> import pickle
    >>> part = SymmetricSum.of(np.array([[1.0, 2.0], [2.0, 5.0]]))
    >>> pickle.loads(pickle.dumps(part + part)).matrix.tolist()
    [[2.0, 4.0], [4.0, 10.0]]
    """

    matrix: Array

    @classmethod
    def of(cls, matrix: ArrayLike) -> SymmetricSum:
        """The sum of a block."""
        return cls(_wide(matrix))

    def __add__(self, following: SymmetricSum) -> SymmetricSum:
        """The sum of both matrices, entry by entry."""
        return SymmetricSum(self.matrix + following.matrix)

    def to_host(self) -> SymmetricSum:
        """A copy with the matrix on the host."""
        return SymmetricSum(to_host(self.matrix)) if is_device_array(self.matrix) else self

    def __reduce__(self) -> tuple[Callable[..., SymmetricSum], tuple[object, ...]]:
        M = self.matrix
        return (_unpacked, (packed_upper(M), len(M))) if np.array_equal(M, M.T) else (SymmetricSum, (M,))


def _unpacked(triangle: Array, m: int) -> SymmetricSum:
    return SymmetricSum(symmetric_of(triangle, m))


@final
@attrs.frozen(eq=False)
class RowsInOrder:
    """Arrays that are concatenated row by row, in the order of the blocks.

    Parameters
    ----------
    arrays : tuple of ndarray

    Examples
    --------
    >>> (RowsInOrder((np.array([1]),)) + RowsInOrder((np.array([2, 3]),))).arrays[0].tolist()
    [1, 2, 3]
    """

    arrays: tuple[AnyArray, ...]

    def __add__(self, following: RowsInOrder) -> RowsInOrder:
        """The rows of both blocks, array by array."""
        pairs = zip(self.arrays, following.arrays, strict=True)
        return RowsInOrder(tuple(np.concatenate(pair) for pair in pairs))


def _to_host_together(arrays: list[Any]) -> list[Array]:
    """Arrays of float64 and int64 on the host: those of a type in one copy, because each copy waits for the device."""
    xp = array_namespace(arrays[0])
    host: list[Array] = [np.empty(0)] * len(arrays)
    for dtype in (xp.float64, xp.int64):
        places = [place for place, array in enumerate(arrays) if array.dtype == dtype]
        if not places:
            continue
        flat = to_host(xp.concat([xp.reshape(arrays[place], (-1,)) for place in places]))
        ends = np.cumsum([int(np.prod(arrays[place].shape)) for place in places])
        for place, values in zip(places, np.split(flat, ends[:-1]), strict=True):
            host[place] = values.reshape(arrays[place].shape)
    return host


def _wide(array: ArrayLike) -> Array:
    if is_device_array(array):
        there: Any = array
        xp = array_namespace(there)
        return xp.astype(there, xp.float64 if xp.isdtype(there.dtype, "real floating") else xp.int64, copy=False)
    here = np.asarray(array)
    wide: Array = here.astype(np.float64 if here.dtype.kind == "f" else np.int64, copy=False)
    return wide


def groups(n: int) -> Iterator[slice]:
    """Row slices of the groups of n rows.

    Examples
    --------
    >>> [(rows.start, rows.stop) for rows in groups(2**18 + 5)]
    [(0, 262144), (262144, 262149)]
    """
    for start in range(0, n, GROUP):
        yield slice(start, min(n, start + GROUP))


def add_left_to_right(parts: Iterable[T]) -> T:
    """The sum of parts from left to right, on the host; used for the blocks of a group.

    Raises
    ------
    ValueError
        If there is nothing to add.
    """
    iterator = iter(parts)
    try:
        sum_so_far = next(iterator)
    except StopIteration:
        raise ValueError("no rows, so there is nothing to add up") from None
    for part in iterator:
        sum_so_far = sum_so_far + part
    return to_host(sum_so_far)


def add_as_tree(totals: Iterable[T]) -> T:
    """The sum of the totals of all groups, in their order: nodes of `FAN_IN` neighbours, level by level.

    Keeps one total for each level, so that the totals can be made one after the other.
    """
    levels: list[tuple[T, int] | None] = []
    for addend in totals:
        level, carry = 0, addend
        while True:
            if level == len(levels):
                levels.append(None)
            node = levels[level]
            node = (carry, 1) if node is None else (node[0] + carry, node[1] + 1)
            if node[1] < FAN_IN:
                levels[level] = node
                break
            levels[level], carry = None, node[0]
            level += 1
    rest: T | None = None
    for node in levels:  # the last node of each level may have fewer than FAN_IN members
        if node is not None:
            rest = node[0] if rest is None else node[0] + rest
    if rest is None:
        raise ValueError("no rows, so there is nothing to add up")
    return rest


def total(parts: Iterable[tuple[slice, T]]) -> T:
    """The sum of the parts of all blocks, which come with their row slices in ascending order.

    Examples
    --------
    >>> int(total((slice(i, i + 1), Sums.of(np.array(i))) for i in range(5)).arrays[0])
    10
    """
    by_group = groupby(parts, key=lambda pair: pair[0].start // GROUP)
    return add_as_tree(add_left_to_right(part for _, part in members) for _, members in by_group)


GROUPED_COLUMNS = 48
"""Number of target columns from which sorting the rows by label is faster than multiplying by mostly zeros."""

SPLIT_ROWS = 4096
"""Rows per product of float32 numbers on a device; the products are added in float64. A single product of all rows of a
block would lose digits, and blocks of the processor have at most as many rows."""


def total_there(parts: Iterable[tuple[slice, T]]) -> T:
    """The sum of the parts of blocks on a device, which may be larger than groups; it comes to the host at the end.

    The tree is that of `total`, of blocks in place of groups.
    """
    return to_host(add_as_tree(part for _, part in parts))


def target_sums(H: Array, coded: Coded, dtype: np.dtype | type | None = None) -> Array:
    """Features times weighted targets of the same rows, (L, R q); the targets are made for this block only.

    Parameters
    ----------
    H : array or SparseRows of shape (b, L)
        Array of numpy, or of another library of the array API.
    coded : Coded
        Labels (R, b) of these rows.
    dtype : numpy dtype, optional
        Type of the products of features on the host. Default: that of the features.
    """
    xp = array_namespace(H)
    if xp is not np:
        return products_of_rows(H, coded.device_targets(H))
    if coded.k >= GROUPED_COLUMNS and not isinstance(H, SparseRows):
        return _grouped(H, coded)
    targets = coded.block(slice(None), dtype or H.dtype)
    # few columns from the left: BLAS then packs the features in the order in which they lie, in two thirds of the time
    return H.T @ targets if isinstance(H, SparseRows) else np.asarray((targets.T @ H).T)


def class_totals(H: Array, coded: Coded) -> tuple[Array, Counts]:
    """`target_sums` of one start in float64, and the sizes of its classes, (k,), or the sums of their weights."""
    if array_namespace(H) is np:
        return target_sums(H, coded, np.float64), coded.sizes()[0]
    return target_sums(H, coded), coded.device_sizes(H)


def products_of_rows(H: Array, T: Array) -> Array:
    """``H'T``, (L, q), float64, for dense H (b, L) and T (b, q) of another library than numpy and of one type.

    The products are always added in the same order, whichever is computed first.
    """
    xp = array_namespace(H)
    if host_dtype(H) == np.float64:
        product: Array = xp.matmul(H.T, T)
        return product
    b, L = H.shape
    whole = b // SPLIT_ROWS * SPLIT_ROWS
    total: Array = xp.zeros((L, T.shape[1]), dtype=xp.float64, device=H.device)
    if whole:
        cut = (whole // SPLIT_ROWS, SPLIT_ROWS)
        rows, targets = xp.reshape(H[:whole, :], (*cut, L)), xp.reshape(T[:whole, :], (*cut, T.shape[1]))
        products = device_product(xp.permute_dims(rows, (0, 2, 1)), targets)  # (b / 4096, L, q)
        total = xp.sum(products, axis=0, dtype=xp.float64)
    if whole < b:
        total = total + xp.astype(device_product(H[whole:, :].T, T[whole:, :]), xp.float64)
    return total


def _grouped(H: Array, coded: Coded) -> Array:
    """H_b'T_b by class sums: the rows are sorted by label and added, instead of k products per row."""
    parts = []
    for labels in coded.labels:
        order = np.argsort(labels, kind="stable")
        present, first = np.unique(labels[order], return_index=True)
        class_sums = np.zeros((coded.k, H.shape[1]))
        rows = H[order] if coded.weights is None else H[order] * coded.weights[order, None]
        class_sums[present] = np.add.reduceat(rows, first, axis=0, dtype=np.float64)
        parts.append(class_sums.T @ coded.codebook)
    return np.concatenate(parts, axis=1)


def packed_upper(R: Array) -> Array:
    """The entries on and above the diagonal of a matrix (r, m), r <= m, row after row.

    Examples
    --------
    >>> packed_upper(np.array([[1.0, 2.0, 3.0], [0.0, 4.0, 5.0]])).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0]
    """
    return np.concatenate([R[:0, 0], *(R[i, i:] for i in range(len(R)))])


def upper_of(packed: Array, r: int, m: int) -> Array:
    """The matrix (r, m) with these entries on and above the diagonal, and zeros below.

    Examples
    --------
    >>> upper_of(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 2, 3).tolist()
    [[1.0, 2.0, 3.0], [0.0, 4.0, 5.0]]
    """
    R = np.zeros((r, m), dtype=packed.dtype)
    end = 0
    for i in range(r):
        R[i, i:] = packed[end : end + m - i]
        end += m - i
    return R


def symmetric_of(packed: Array, m: int) -> Array:
    """The symmetric matrix (m, m) with an upper triangle from `packed_upper`.

    Examples
    --------
    >>> symmetric_of(np.array([1.0, 2.0, 3.0]), 2).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    M = upper_of(packed, m, m)
    for i in range(m):
        M[i:, i] = M[i, i:]
    return M
