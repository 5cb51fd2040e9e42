"""Fields that hold arrays: their shapes, which a class states once and checks whenever an object of it is made.

Compiled loops trust the shapes of what they get. Inside the library they are right by construction; a file can hold
anything, and loading it makes its objects by the same constructors.
"""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Indices
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["in_range", "shaped", "why_no_table"]


SERIES = (
    "Of series of numbers in time make a row each: the numbers at the same times side by side, "
    "array.reshape(len(array), -1), or the same features of each series, such as mean, trend and frequencies"
)
"""What to do with series."""


def why_no_table(X: object) -> str | None:
    """Why samples are no table of rows and columns, though they are numbers, and what to do; None for all others.

    Examples
    --------
    >>> why_no_table(np.zeros((5, 4, 3)))[:68], why_no_table(np.zeros((5, 4)))
    ('X has 3 dimensions, (5, 4, 3), and a table has two: rows and columns', None)
    """
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1):
        rows = [row for row in X if isinstance(row, list | tuple | np.ndarray) and np.ndim(row[:1])]
        lengths = {len(row) for row in rows}
        if len(lengths) > 1:
            return (
                f"the rows of X have {min(lengths)} to {max(lengths)} values, and all must have the same number. "
                f"Series of different lengths are brought to one first, by resampling or cutting. {SERIES}"
            )
        shape = (len(X), *np.shape(rows[0])) if rows else ()
    if len(shape) < 3:
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
        For an array of integers >= 0: the dimension that its entries number, so that each is less than its size.

    Raises
    ------
    ValueError
        By the constructor of the class, naming the field.

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
