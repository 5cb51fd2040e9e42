"""Gaussian kernel values where the rows lie: by matrix products, for rows of another library of the array API.

Rows of numpy never come here: compiled loops serve them (`clusterkit.numerics.gaussian_jit`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from types import ModuleType
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.core.namespaces import array_namespace, as_type, is_device_array, move_to

__all__ = ["Centres", "left_with", "over_exponents", "pair_chunks", "rows_at"]

CHUNK = 2**24
"""Pairs of a row and a centre whose values are held at once: 128 MiB in float64, and at most four such arrays live
together. Fewer would leave a device idle between short products."""

PRODUCT_REACH = 1024.0
"""Largest squared distance of a centre from the mean of the centres, in units of ``1 / gamma``, up to which squared
distances come from matrix products. Their error is a few ``eps`` times this number, so that kernel values are right to
1e-12; above it the differences are formed explicitly, attribute by attribute."""

FAR = 1e150
"""Scaled coordinates are clipped to this: the kernel is 0 there, and squares stay below the largest number."""


def pair_chunks(n: int, d: int, count: int) -> Iterator[slice]:
    """Slices of n rows of d coordinates that are compared with `count` points each, at most `CHUNK` numbers in a slice.

    Examples
    --------
    >>> [(rows.start, rows.stop) for rows in pair_chunks(5, 2, CHUNK // 3)]
    [(0, 3), (3, 5)]
    """
    size = max(1, CHUNK // max(1, d, count))
    for start in range(0, n, size):
        yield slice(start, min(n, start + size))


@final
@attrs.frozen(eq=False)
class Centres:
    """Centres that lie beside the rows they are compared with, in scaled coordinates ``root (x - origin)``.

    Parameters
    ----------
    xp : module
        Namespace of the rows.
    origin : array of shape (d,)
    root : float
    points : array of shape (s, d)
        Scaled, float64, where the rows lie.
    by_products : bool
        Whether they are near enough to each other for squared distances by matrix products.
    factor : array of shape (d + 2, s)
        What rows ``(y, |y|², 1)`` are multiplied by to give ``-|y - c|²``.
    """

    xp: ModuleType
    origin: Array
    root: float
    points: Array
    by_products: bool
    factor: Array

    @classmethod
    def to_device_of(cls, Y: Array, centres: Array, gamma: float = 1.0, *, reach: float = PRODUCT_REACH) -> Centres:
        """Centres (s, d) of numpy on the device of rows Y; `reach` is the limit for matrix products."""
        if Y.shape[1] != centres.shape[1]:
            raise ValueError(f"points of {Y.shape[1]} coordinates and of {centres.shape[1]}")
        centres = np.asarray(centres, dtype=np.float64)
        origin, root = centres.mean(axis=0), sqrt(gamma)
        scaled = np.clip((centres - origin) * root, -FAR, FAR)
        squares = np.square(scaled).sum(axis=1)
        factor = np.concatenate([2.0 * scaled.T, np.full((1, len(scaled)), -1.0), -squares[None]])
        by_products = bool(squares.max(initial=0.0) <= reach)
        xp = array_namespace(Y)
        return cls(
            xp,
            move_to(origin, Y, np.float64),
            root,
            move_to(scaled, Y, np.float64),
            by_products,
            move_to(factor, Y, np.float64),
        )

    def scaled(self, Y: Array) -> Array:
        """Rows (b, d) in the coordinates of the centres, float64."""
        scaled: Array = self.xp.clip((as_type(Y, np.float64) - self.origin) * self.root, -FAR, FAR)
        return scaled

    def exponents(self, scaled: Array) -> Array:
        """``-|y - c|²`` of scaled rows and all centres, (b, s)."""
        xp = self.xp
        if self.by_products:
            squares = xp.sum(xp.square(scaled), axis=1, keepdims=True)
            rows = xp.concat([scaled, squares, xp.ones_like(squares)], axis=1)
            product: Array = xp.matmul(rows, self.factor)
            return product
        total = -xp.square(scaled[:, :1] - self.points[:, 0])
        for column in range(1, scaled.shape[1]):
            total = total - xp.square(scaled[:, column : column + 1] - self.points[:, column])
        explicit: Array = total
        return explicit


def over_exponents(Y: Array, centres: Array, gamma: float, of: Callable[[Array], Array]) -> Array:
    """What a function makes of ``-gamma |y - c|²`` (b, s), chunk by chunk, for all rows of Y in their order."""
    there = Centres.to_device_of(Y, centres, gamma)
    parts = [
        of(there.exponents(there.scaled(Y[rows, :]))) for rows in pair_chunks(Y.shape[0], Y.shape[1], len(centres))
    ]
    joined: Array = there.xp.concat(parts, axis=0) if parts else of(there.exponents(there.scaled(Y)))
    return joined


def rows_at(points: Array, index: Indices) -> Array:
    """Some rows of an array of any library, (m, d)."""
    if not is_device_array(points):
        return points[index]
    rows: Array = array_namespace(points).take(points, move_to(index, points), axis=0)
    return rows


def left_with(points: Array, labels: Labels) -> Labels:
    """Labels of numpy, (b,), as an array of the library of the points, where they lie."""
    there: Labels = move_to(labels, points) if is_device_array(points) else labels
    return there
