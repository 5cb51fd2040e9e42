"""The functions of the library that an array belongs to, by the array API standard, and the way to the host and back.

A function or class that is written against the array namespace of its block carries the mark ``array_api = True``: it
takes blocks of numpy and of every other library of the standard, and leaves its results on the device of the block.
Code without the mark gets a copy of the block on the host. `BlockFunction` derives the mark of a composed function from
its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from numbers import Integral
from threading import Lock
from types import ModuleType
from typing import Any, TypeVar, cast
from weakref import ref

import attrs
import numpy as np

from clusterkit._typing import AnyArray, Array, Counts, Labels
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import devices

T = TypeVar("T")

A = TypeVar("A", bound=AnyArray)

REMEMBERED = 64
"""Number of small arrays whose copies on a device are kept: an iteration needs a dozen, so that those of a few fits
stay."""

CHUNK_BYTES = 64 * 1024**2
"""Bytes of float64 numbers that a block program makes of a part of a block on a device, where the data are float32: a
block may be larger than that, and device memory is scarce."""

CHUNK_ROWS = 64
"""Smallest number of rows of such a part: fewer would be sent through a device one by one where the tables are very
wide."""

_copies: dict[tuple[int, str, str], tuple[Any, Any]] = {}
"""Copies of small arrays, by the identity of the array, the type and the device, with weak references to the arrays."""

_namespaces: dict[type, ModuleType] = {}
"""The namespace of each type of array of another library: the look takes longer than a small product."""

_copying = Lock()
"""Lock of `_copies`: several threads may use one device."""


def array_namespace(H: object) -> ModuleType:
    """numpy for its arrays and for sparse rows, at the cost of a comparison of types; else what the array names.

    The functions of a block (the part of a sum, the scores of rows) are written against this namespace, so that they
    run on the device of the block. Nothing is imported for arrays of numpy.

    Raises
    ------
    ModuleNotFoundError
        If the array names no library, as those of torch and CuPy, and array-api-compat is not installed.

    Examples
    --------
    >>> array_namespace(np.zeros((2, 2))) is np
    True
    """
    if isinstance(H, np.ndarray | SparseRows | np.generic):
        return np
    namespace = _namespaces.get(type(H))
    if namespace is None:
        namespace = _namespaces[type(H)] = _namespace_of(H)
    return namespace


def _namespace_of(H: object) -> ModuleType:
    try:
        from array_api_compat import array_namespace as of
    except ImportError:
        naming = getattr(H, "__array_namespace__", None)
        if naming is None:
            raise ModuleNotFoundError(
                f"arrays of {type(H).__module__.partition('.')[0]} need the package array-api-compat, which is not "
                "installed"
            ) from None
        named: ModuleType = naming()
        return named
    namespace: ModuleType = of(H)
    return namespace


def is_device_array(array: object) -> bool:
    """Whether this is an array of another library than numpy.

    Examples
    --------
    >>> is_device_array(np.zeros(2)), is_device_array(2.0), is_device_array([1.0])
    (False, False, False)
    """
    if isinstance(array, np.ndarray | np.generic | SparseRows | float | int | list | tuple):
        return False
    return hasattr(array, "__dlpack__") and hasattr(array, "device")


def to_host(array: T) -> T:
    """The array as one of numpy: itself, or a copy if it is on a device; sums of arrays by their method `to_host`.

    Examples
    --------
    >>> rows = np.ones((2, 2))
    >>> to_host(rows) is rows
    True
    """
    here: Any = array
    if not is_device_array(array):
        move = getattr(here, "to_host", None)
        return array if move is None else cast("T", move())
    if hasattr(here, "detach"):  # torch
        copy = here.detach().cpu().numpy()
    elif hasattr(here, "get"):  # CuPy
        copy = here.get()
    else:
        namespace = array_namespace(here)
        if namespace.__name__ == "array_api_strict":  # arrays of simulated devices must be copied
            here = namespace.asarray(here, device=namespace.Device("CPU_DEVICE"))
        copy = np.asarray(here)
    return cast("T", copy)


def has_array_api(function: object) -> bool:
    """Whether a function, a method's object or a stage has the mark: it takes blocks on their device.

    Examples
    --------
    >>> has_array_api(len)
    False
    """
    # on a class the attribute is the property itself, and not its value
    return _stated(function, "array_api") is True


def table_columns(function: object) -> int:
    """Columns of the widest table that a function computes from a block: its attribute of this name, or 0.

    The blocks of a device are planned by it: with many clusters, distances and costs are wider than the features.

    Examples
    --------
    >>> table_columns(len)
    0
    """
    columns = _stated(function, "table_columns")
    return int(columns) if isinstance(columns, Integral) else 0


def _stated(function: object, mark: str) -> object:
    """The value of the attribute `mark` of a function or, for a method, of its object; None where both lack it."""
    return getattr(function, mark, getattr(getattr(function, "__self__", None), mark, None))


def block_for(function: object, block: Array) -> Array:
    """A block as a function takes it: on its device, or on the host if the function lacks the mark."""
    return block if not is_device_array(block) or has_array_api(function) else to_host(block)


class BlockFunction:
    """Base of the frozen attrs classes that are sent to where rows lie: maps, parts of passes, functions of rows.

    Their marks follow from their members, the fields that hold functions: callables, what has a method `part`, and what
    states a mark itself, as codecs and domains do; of a tuple, its entries. The object takes blocks on their device if
    all its members do, and its widest table is the widest of theirs. A class without members states its marks as class
    attributes, and so does one whose own code knows better.

    Examples
    --------
    >>> @attrs.frozen
    ... class Doubled(BlockFunction):
    ...     array_api = True
    ...     def __call__(self, H): return H + H
    >>> @attrs.frozen
    ... class Twice(BlockFunction):
    ...     function: Callable
    ...     def __call__(self, H): return self.function(self.function(H))
    >>> has_array_api(Twice(Doubled())), has_array_api(Twice(np.sqrt))
    (True, False)
    """

    __slots__ = ()

    @property
    def array_api(self) -> bool:
        """Whether all members take blocks on their device; False without members."""
        members = [*self._members()]
        return bool(members) and all(map(has_array_api, members))

    @property
    def table_columns(self) -> int:
        """Columns of the widest table that a member makes of a block."""
        return max(map(table_columns, self._members()), default=0)

    def _members(self) -> Iterator[object]:
        for field in attrs.fields(type(self)):  # type: ignore[arg-type] # subclasses are classes of attrs
            value = getattr(self, field.name)
            for entry in value if isinstance(value, tuple) else (value,):
                if callable(entry) or hasattr(entry, "part") or hasattr(entry, "array_api"):
                    yield entry


def host_dtype(array: AnyArray) -> np.dtype:
    """The type of the entries of an array of any library, as numpy has it.

    Examples
    --------
    >>> host_dtype(np.zeros(1, dtype=np.float32))
    dtype('float32')
    """
    dtype: object = array.dtype
    return dtype if isinstance(dtype, np.dtype) else np.dtype(str(dtype).rpartition(".")[2])


def as_type(array: Array, dtype: np.dtype | type) -> Array:
    """The array in a type that numpy names; itself if it has it."""
    xp = array_namespace(array)
    if xp is np:
        return array.astype(dtype, copy=False)
    converted: Array = xp.astype(array, getattr(xp, np.dtype(dtype).name), copy=False)
    return converted


def to_device_of(array: A, block: AnyArray, dtype: np.dtype | type | None = None) -> A:
    """A copy of a small array of the host on the device of a block; an array that is there already stays as it is.

    The copies of the last `REMEMBERED` arrays are kept, so that the constants of an iteration are not sent for every
    block. The array must not be changed afterwards.

    Parameters
    ----------
    array : ndarray, or array of the library of the block
    block : array
    dtype : numpy dtype, optional
        Type of the copy. Default: that of the block for floats, that of the array for all others.
    """
    if is_device_array(array):
        return move_to(array, block, dtype)
    there = _type_of_copy(array, block, dtype)
    return device_copy(array, block, lambda: move_to(array, block, there), there.name)


def device_copy(owner: object, block: AnyArray, make: Callable[[], T], what: str) -> T:
    """The copy of an object's data on the device of a block, made for the first block and kept for the next ones.

    Parameters
    ----------
    owner : object
        The object that the copy belongs to; the copy is deleted together with it.
    block : array
    make : callable
    what : str
        Name of what is made, where an owner has several; with the type of the block and its device it is the key.
    """
    key = (id(owner), what, f"{type(block).__module__} {block.dtype} {block.device}")
    known, there = _copies.get(key, (None, None))
    if known is not None and known() is owner:
        return cast("T", there)
    made = make()
    try:
        alive = ref(owner, lambda dead: _forget(key, dead))
    except TypeError:  # a number of numpy, of which there is nothing to keep
        return made
    with _copying:
        while len(_copies) >= REMEMBERED:
            # an owner may go at any moment, and its copy with it, which no lock can delay
            with suppress(StopIteration, RuntimeError):
                _copies.pop(next(iter(_copies)), None)
        _copies[key] = alive, made
    return made


def _forget(key: tuple[int, str, str], dead: object) -> None:
    """Drop the copy of an owner that is gone; another object may have its number, and a copy under that, by now."""
    known, _ = _copies.get(key, (None, None))
    if known is dead:
        _copies.pop(key, None)


def move_to(array: A, block: AnyArray, dtype: np.dtype | type | None = None) -> A:
    """Copy like `to_device_of`, without keeping the copy: for arrays of one block only, such as its weights."""
    if is_device_array(array):
        return array if dtype is None else cast("A", as_type(cast("Array", array), dtype))
    # a copy of its own: some libraries refuse arrays that cannot be written, or share their memory
    copied = np.array(array, dtype=_type_of_copy(array, block, dtype), order="C")
    return cast("A", array_namespace(block).asarray(copied, device=block.device))


def _type_of_copy(array: AnyArray, block: AnyArray, dtype: np.dtype | type | None) -> np.dtype:
    """The type of the copy that `to_device_of` makes for a block."""
    if dtype is not None:
        return np.dtype(dtype)
    return host_dtype(block) if array.dtype.kind == "f" else np.dtype(array.dtype)


SPLITTER = 2.0**13 + 1.0
"""Factor by which a float32 number is split into its first 11 bits, which a TF32 number has, and the rest (Dekker)."""

_tf32 = Lock()
"""Lock of the setting of PyTorch that lets products be TF32: it is the setting of all threads."""


def device_product(A: Array, B: Array) -> Array:
    """A B, (…, m, q), of arrays on a device; of float32 by the precision that is chosen (`clusterkit.config`).

    References
    ----------
    Dekker (1971), A floating-point technique for extending the available precision, Numerische Mathematik 18(3): the
    split. Henry, Tang, Heinecke (2019), Leveraging the bfloat16 artificial intelligence datatype for higher-precision
    computations, ARITH: products as sums of products of fewer bits.
    """
    xp = array_namespace(A)
    if devices.precision() == "float32" or host_dtype(A) != np.float32:
        product: Array = xp.matmul(A, B)
        return product
    (high, low), (others, rest) = _halves(A), _halves(B)
    return _tf32_product(high, rest) + _tf32_product(low, others) + _tf32_product(high, others)


def _halves(array: Array) -> tuple[Array, Array]:
    """The first 11 bits of float32 numbers, and what is left of them."""
    spread = array * SPLITTER
    high = spread - (spread - array)
    return high, array - high


def _tf32_product(A: Array, B: Array) -> Array:
    """A B, where PyTorch may round what it multiplies to 11 bits; the sums are float32."""
    here: Any = A
    if type(A).__module__.partition(".")[0] != "torch" or here.device.type != "cuda":
        product: Array = array_namespace(A).matmul(A, B)
        return product
    setting = import_module("torch").backends.cuda.matmul
    with _tf32:  # read when the product is sent to the device
        before, setting.allow_tf32 = setting.allow_tf32, True
        try:
            return cast("Array", here @ B)
        finally:
            setting.allow_tf32 = before


def row_squares(H: Array) -> Array:
    """Squared lengths of the rows of a dense block of another library than numpy, (b,), in its type."""
    squares: Array = array_namespace(H).sum(H * H, axis=1)
    return squares


def row_chunks(H: Array, width: int | None = None) -> Iterator[tuple[slice, Array]]:
    """Parts of a block with their slices: at most `CHUNK_BYTES` of float64 numbers, but `CHUNK_ROWS` rows at least.

    `width` is the number of columns of what is made of a row. Default: as many as the block has.
    """
    rows = max(CHUNK_ROWS, CHUNK_BYTES // (8 * max(1, H.shape[1] if width is None else width)))
    for start in range(0, max(1, H.shape[0]), rows):
        part = slice(start, min(H.shape[0], start + rows))
        yield part, H[part, :]


def class_counts(labels: Labels, k: int) -> Counts:
    """How often each of the labels 0..k-1 occurs, (k,), int64; where the labels (b,) lie."""
    xp = array_namespace(labels)
    if xp is np:
        return np.bincount(labels, minlength=k)
    numbers = xp.arange(k, dtype=labels.dtype, device=labels.device)
    hits = xp.astype(labels[:, None] == numbers[None, :], xp.int8)  # a table of k columns: its bytes are the cost
    counts: Counts = xp.sum(hits, axis=0, dtype=xp.int64)
    return counts
