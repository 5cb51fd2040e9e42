"""Types and memory layouts that carry the same values: what a user may pass for X."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

import numpy as np

from clusterkit._typing import Array, Samples

__all__ = ["CONTAINERS", "WITHOUT_REFERENCE", "needs_pandas", "plain"]


def _strided(X: Array) -> Array:
    """Every second row and column of a larger array."""
    larger = np.full((2 * X.shape[0], 2 * X.shape[1]), 7.0)
    larger[::2, ::2] = X
    return larger[::2, ::2]


def _unaligned(X: Array) -> Array:
    """Numbers at odd addresses."""
    buffer = np.zeros(X.nbytes + 1, dtype=np.uint8)
    unaligned = buffer[1:].view(X.dtype).reshape(X.shape)
    unaligned[:] = X
    return unaligned


def _read_only(X: Array) -> Array:
    fixed = X.copy()
    fixed.setflags(write=False)
    return fixed


def _memory_map(X: Array) -> Array:
    """A view of bytes that nobody may write, as of a mapped file."""
    return np.frombuffer(X.tobytes(), dtype=X.dtype).reshape(X.shape)


class _Subclass(np.ndarray):
    """An array of another class, which ufuncs keep."""


class _Described:
    """An object that only knows how to become an array."""

    def __init__(self, X: Array) -> None:
        self._X = X

    def __array__(self, dtype: type | None = None, copy: bool | None = None) -> Array:
        return np.array(self._X, dtype=dtype)

    def __len__(self) -> int:
        return len(self._X)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._X.shape


def _frame(X: Array, **changes: object) -> Samples:
    import pandas

    names = [f"x{j}" for j in range(X.shape[1])]
    return cast("Samples", pandas.DataFrame(X, **{"columns": names, **changes}))


def _mixed_frame(X: Array) -> Samples:
    frame = cast("object", _frame(X))
    return cast("Samples", frame.astype({"x0": "float32"}))  # type: ignore[attr-defined]


def _nullable_frame(X: Array) -> Samples:
    frame = cast("object", _frame(X))
    return cast("Samples", frame.astype("Float64"))  # type: ignore[attr-defined]


def _csr(X: Array) -> Samples:
    from scipy.sparse import csr_array

    return cast("Samples", csr_array(X))


def _csc_matrix(X: Array) -> Samples:
    from scipy.sparse import csc_matrix

    return cast("Samples", csc_matrix(X))


def _coo(X: Array) -> Samples:
    from scipy.sparse import coo_array

    return cast("Samples", coo_array(X))


def _stored_zeros(X: Array) -> Samples:
    """Sparse rows in which zeros are stored and no index is in order."""
    from scipy.sparse import csr_array

    n, d = X.shape
    columns = np.tile(np.arange(d)[::-1], n)
    return cast("Samples", csr_array((X[:, ::-1].ravel(), columns, np.arange(n + 1) * d), shape=(n, d)))


CONTAINERS: Mapping[str, Callable[[Array], Samples]] = {
    "array": lambda X: X,
    "Fortran order": np.asfortranarray,
    "strided": _strided,
    "negative strides": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "transposed": lambda X: np.ascontiguousarray(X.T).T,
    "read-only": _read_only,
    "mapped bytes": _memory_map,
    "unaligned": _unaligned,
    "float16": lambda X: X.astype(np.float16),
    "float32": lambda X: X.astype(np.float32),
    "float32 in Fortran order": lambda X: np.asfortranarray(X.astype(np.float32)),
    "big-endian": lambda X: X.astype(">f8"),
    "big-endian float32": lambda X: X.astype(">f4"),
    "long double": lambda X: X.astype(np.longdouble),
    "int8": lambda X: np.round(X).astype(np.int8),
    "int64": lambda X: np.round(X).astype(np.int64),
    "big-endian int32": lambda X: np.round(X).astype(">i4"),
    "uint8": lambda X: np.round(np.abs(X)).astype(np.uint8),
    "uint64": lambda X: np.round(np.abs(X)).astype(np.uint64),
    "bool": lambda X: X > 1.0,
    "objects": lambda X: X.astype(object),
    "list of lists": lambda X: X.tolist(),
    "tuple of lists": lambda X: tuple(X.tolist()),
    "list of arrays": list,
    "lists of numpy numbers": lambda X: [[np.float64(value) for value in row] for row in X],
    "subclass of ndarray": lambda X: X.view(_Subclass),
    "masked without a mask": np.ma.masked_array,
    "only __array__": lambda X: cast("Samples", _Described(X)),
    "frame": _frame,
    "frame with numbers as names": lambda X: _frame(X, columns=list(range(X.shape[1]))),
    "frame with an odd index": lambda X: _frame(X, index=[f"row {i % 3}" for i in range(len(X))]),
    "frame of two types": _mixed_frame,
    "frame of nullable numbers": _nullable_frame,
    "sparse rows": _csr,
    "sparse columns": _csc_matrix,
    "sparse coordinates": _coo,
    "sparse with stored zeros": _stored_zeros,
}
"""From values (n, d) of float64 to an object with these values, or with rounded ones where the type has no others."""

WITHOUT_REFERENCE = frozenset({"sparse rows", "sparse columns", "sparse coordinates", "sparse with stored zeros"})
"""Containers whose labels are not compared with those of a plain array: stored entries are summed in another order."""


def needs_pandas(container: str) -> bool:
    """Whether a container is made by pandas, which is optional."""
    return container.startswith("frame")


def plain(X: Samples) -> Array:
    """The same values as a C-ordered array of float64, or of float32 where X has only such numbers.

    Examples
    --------
    >>> plain([[1, 2]])
    array([[1., 2.]])
    """
    values = np.asarray(X)
    narrow = values.dtype == np.float32  # not of the other byte order, which scikit-learn widens
    return np.ascontiguousarray(values, dtype=np.float32 if narrow else np.float64)
