"""Coding of labels as regression targets.

`shaped` and `in_range` check fields that hold arrays: a class states their shapes once, and each of its objects is
checked when it is made. Compiled loops trust the shapes of their arguments. Inside the library these are right by
construction; a file can hold anything, and loading it makes its objects by the same constructors.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from numbers import Number
from os import PathLike
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.errors import first_names
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples.array_libraries import (
    array_namespace,
    class_counts,
    host_dtype,
    move_to,
    row_chunks,
    to_device_of,
)

__all__ = [
    "TEXTS",
    "Coded",
    "Coding",
    "in_range",
    "shaped",
    "unit_vectors",
    "why_no_table",
]


class Coding(Enum):
    """The target of a label."""

    SIGNED = "signed"
    """Label 0 is -1, label 1 is +1: one column."""
    ORDINAL = "ordinal"
    """Label j is the point j + 1 on a line: one column."""
    ONEHOT = "onehot"
    """Label j is the j-th unit vector: k columns."""


@lru_cache(maxsize=8)
def unit_vectors(k: int) -> Array:
    """The k unit vectors, (k, k); always the same array, so that a device keeps its copy."""
    units = np.eye(k)
    units.flags.writeable = False
    return units


@attrs.frozen(eq=False)
class Coded:
    """Labels of R starts with the coding of their targets; the targets themselves are made block by block.

    Parameters
    ----------
    labels : ndarray of shape (R, n)
        Labellings with values 0..k-1, one for each start. In a block program also an array of the library of the block.
    coding : Coding
    k : int
        Number of clusters.
    codebook : ndarray of shape (k, q)
        Row j is the target of label j.
    weights : ndarray of shape (n,) or None
        How much each sample counts; None: all count 1.
    """

    labels: Labels
    coding: Coding
    k: int
    codebook: Array
    weights: Array | None = None

    @property
    def starts(self) -> int:
        """Number of starts, R."""
        return int(self.labels.shape[0])

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.labels.shape[1])

    @property
    def q(self) -> int:
        """Columns of one start's targets."""
        return int(self.codebook.shape[1])

    def block(self, rows: slice, dtype: np.dtype | type = np.float64) -> Array:
        """Targets of some rows times their weights, (b, R q); start r owns the columns r q … (r + 1) q - 1."""
        labels = self.labels[:, rows].T  # (b, R)
        book = self.codebook.astype(dtype, copy=False)
        targets = book[labels].reshape(len(labels), self.starts * self.q)
        return targets if self.weights is None else targets * self.weights[rows, None].astype(dtype, copy=False)

    def of(self, rows: slice) -> Coded:
        """The labels of some rows, still in coded form."""
        return attrs.evolve(
            self, labels=self.labels[:, rows], weights=None if self.weights is None else self.weights[rows]
        )

    def targets(self) -> Array:
        """All targets times the weights, shape (n, R q)."""
        return self.block(slice(None))

    def device_targets(self, H: Array) -> Array:
        """All targets times the weights, (n, R q), in the type of a block of another library, where that lies."""
        xp = array_namespace(H)
        labels = move_to(self.labels, H)
        flat = labels[0, :] if self.starts == 1 else xp.reshape(xp.permute_dims(labels, (1, 0)), (-1,))
        targets: Array
        if self.coding is Coding.ONEHOT:  # comparing writes what reading a table (k, k) would, and reads nothing
            targets = self._hits(flat, host_dtype(H))
        else:
            targets = xp.take(to_device_of(self.codebook, H), flat, axis=0)
        if self.starts > 1:
            targets = xp.reshape(targets, (self.n, self.starts * self.q))
        return targets if self.weights is None else targets * move_to(self.weights, H)[:, None]

    def device_sizes(self, H: Array) -> Counts:
        """Cluster sizes of one start, (k,), or the sums of their weights, where a block of another library lies."""
        labels = move_to(self.labels, H)[0, :]
        if self.weights is None:
            return class_counts(labels, self.k)
        xp = array_namespace(H)
        sums: Counts = xp.zeros(self.k, dtype=xp.float64, device=H.device)
        weights = move_to(self.weights, H, np.float64)
        for part, counted in row_chunks(weights[:, None], self.k):
            sums += xp.matmul(counted[:, 0][None, :], self._hits(labels[part], np.float64))[0, :]
        return sums

    def _hits(self, labels: Labels, dtype: np.dtype | type) -> Array:
        """The unit vector of each label, (b, k), where the labels lie."""
        xp = array_namespace(labels)
        numbers = xp.arange(self.k, dtype=labels.dtype, device=labels.device)
        hits: Array = xp.astype(labels[:, None] == numbers[None, :], getattr(xp, np.dtype(dtype).name))
        return hits

    def sizes(self) -> Counts:
        """Cluster sizes, shape (R, k); with weights their sums, float64."""
        return np.stack([np.bincount(labels, self.weights, minlength=self.k) for labels in self.labels])

    def start(self, index: int) -> Coded:
        """The labels of one start, still in coded form."""
        return attrs.evolve(self, labels=self.labels[index : index + 1])


SERIES = (
    "Of series of numbers in time make a row each: the numbers at the same times side by side, "
    "array.reshape(len(array), -1), or the same features of each series, such as mean, trend and frequencies"
)
"""Advice for errors about series, which have more than two dimensions."""

TEXTS = (
    "texts are compared by numbers that stand for them: compute an embedding of each text by a language model, or "
    "counts of words (scikit-learn's TfidfVectorizer), and cluster these numbers, a row for each text"
)
"""Advice for errors about rows that are one text each."""

MOST_FIELDS = 5
"""Names of fields that a message shows."""


def why_no_table(X: object) -> str | None:
    """Why samples are no table of rows and columns, whatever is in them, and what to do; None for all others.

    Examples
    --------
    >>> why_no_table(np.zeros((5, 4, 3)))[:68], why_no_table(np.zeros((5, 4)))
    ('X has 3 dimensions, (5, 4, 3), and a table has two: rows and columns', None)
    """
    shape: tuple[int, ...] | None = getattr(X, "shape", None)
    if X is None or isinstance(X, str | bytes | PathLike | Number) or shape == ():
        file = isinstance(X, str | PathLike)
        read = "; read a file first, by pandas.read_csv or clusterkit.tables.read_table" if file else ""
        return f"X is {X!r:.80}, and a table is needed: rows and columns, or a data frame{read}"
    fields = getattr(getattr(X, "dtype", None), "names", None)
    if fields:
        shown = first_names(fields, MOST_FIELDS)
        return f"X is a structured array with the fields {shown}; pandas.DataFrame(X) makes columns of them"
    if isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1):
        first = X[0] if len(X) else None
        if isinstance(first, Mapping):
            return f"the rows of X are dicts, such as {first!r:.80}; pandas.DataFrame(X) makes a column of each key"
        rows = [row for row in X if isinstance(row, list | tuple | np.ndarray) and np.ndim(row[:1])]
        lengths = {len(row) for row in rows}
        if len(lengths) > 1:
            return (
                f"the rows of X have {min(lengths)} to {max(lengths)} values, and all must have the same number. "
                f"Series of different lengths are brought to one first, by resampling or cutting. {SERIES}"
            )
        shape = (len(X), *np.shape(rows[0])) if rows else (len(X),)
    if shape is not None and len(shape) == 1:
        cells: Any = X
        if isinstance(next(iter(cells), None), str):
            return f"X has one text a row, such as {next(iter(cells))[:40]!r}, and {TEXTS}"
        return (
            f"X has one dimension, {tuple(shape)}, and a table has two: rows and columns. Reshape your data: one "
            "number a row is a column, X.reshape(-1, 1) of an array and X.to_frame() of a series; one row alone is [X]"
        )
    if shape is None or len(shape) == 2:
        return None
    return f"X has {len(shape)} dimensions, {tuple(shape)}, and a table has two: rows and columns. {SERIES}"


@final
@attrs.frozen(eq=False)
class _Shape:
    """The validator of `shaped`; it reads the shapes of the other fields that have one too."""

    dimensions: tuple[str | int, ...]
    below: str | None

    def __call__(self, instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        cls = type(instance)
        shape = _shape_of(value)
        if len(shape) != len(self.dimensions):
            raise ValueError(
                f"{cls.__name__}: {attribute.name} must be an array of {len(self.dimensions)} dimensions, "
                f"not {len(shape) or type(value).__name__}"
            )
        sizes = self._sizes(instance, attribute)
        for name, size in zip(self.dimensions, shape, strict=True):
            wanted, place = (name, "") if isinstance(name, int) else sizes.setdefault(name, (size, attribute.name))
            if size != wanted:
                why = f"{name} is {wanted} in {place}" if place else f"{wanted} is asked for"
                raise ValueError(f"{cls.__name__}: {attribute.name} has the shape {shape}, and {why}")
        if self.below is not None and self.below in sizes:
            in_range(value, 0, sizes[self.below][0], f"{cls.__name__}: {attribute.name}")

    def _sizes(self, instance: Any, attribute: attrs.Attribute[Any]) -> dict[str, tuple[int, str]]:
        """Size of each dimension that another field has, and the name of that field."""
        sizes: dict[str, tuple[int, str]] = {}
        fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(type(instance))
        for field in fields:
            check = field.validator
            if field is not attribute and field.name != attribute.name and isinstance(check, _Shape):
                for name, size in zip(check.dimensions, _shape_of(getattr(instance, field.name)), strict=False):
                    if isinstance(name, str):
                        sizes.setdefault(name, (size, field.name))
        return sizes


def shaped(*dimensions: str | int, below: str | None = None) -> _Shape:
    """A validator for a field with an array; where several fields of a class name a dimension, it has one size.

    Parameters
    ----------
    *dimensions : str or int
        The name or the size of each dimension. Sparse rows count as an array of two dimensions.
    below : str, optional
        Dimension counted by the entries of an array of integers >= 0: each must be less than the size of this
        dimension.

    Raises
    ------
    ValueError
        Raised by the constructor of the class; names the field.

    Examples
    --------
    >>> @attrs.frozen(eq=False)
    ... class Line:
    ...     points: np.ndarray = attrs.field(validator=shaped("n", 2))
    ...     weights: np.ndarray = attrs.field(validator=shaped("n"))
    >>> Line(np.zeros((3, 2)), np.ones(4))
    Traceback (most recent call last):
    ValueError: Line: points has the shape (3, 2), and n is 4 in weights
    """
    return _Shape(dimensions, below)


def in_range(values: Indices, least: int, end: int, what: str) -> None:
    """Raise ValueError unless all integers are at least `least` and less than `end`."""
    if len(values) and not (least <= int(np.min(values)) and int(np.max(values)) < end):
        raise ValueError(f"{what} has an entry outside {least}..{end - 1}")


def _shape_of(value: object) -> tuple[int, ...]:
    return value.shape if isinstance(value, np.ndarray | SparseRows) else ()
