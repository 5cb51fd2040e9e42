"""Passes over rows: the extremes of every column, values that are no finite numbers, and few distinct rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar, final

import attrs
import numpy as np

from clusterkit._typing import AnyArray, Array, Indices, Rng
from clusterkit.errors import InvalidData
from clusterkit.numerics.selection import FIRST_FACTOR, SECOND_FACTOR, STEP, sets_of_equal_rows, uniforms
from clusterkit.numerics.sparse_rows import column_extremes
from clusterkit.samples import sums
from clusterkit.samples.array_libraries import BlockFunction, array_namespace, is_device_array, to_host
from clusterkit.samples.features import FeatureSpace

Value = TypeVar("Value")


@final
@attrs.frozen(eq=False)
class Extremes:
    """Smallest and largest value of every column, and the first value that is no finite number.

    Parameters
    ----------
    low, high : ndarray of shape (L,)
    odd : tuple of (row, column, value) or None
    """

    array_api: ClassVar[bool] = True
    """`of` is written against the namespace of its blocks"""

    low: Array
    high: Array
    odd: tuple[int, int, float] | None = None

    @classmethod
    def of(cls, rows: slice, H: Array) -> Extremes:
        """The extremes of a block of rows, (b, L), on the host."""
        if is_device_array(H):
            return cls._of_device(rows, H)
        low, high = column_extremes(H)
        odd = None
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            row, column = np.argwhere(~np.isfinite(H))[0]
            odd = (rows.start + int(row), int(column), float(H[row, column]))
        return cls(low, high, odd)

    @classmethod
    def _of_device(cls, rows: slice, H: Any) -> Extremes:
        xp = array_namespace(H)
        low, high = (to_host(ends(H, axis=0)) for ends in (xp.min, xp.max))
        odd = None
        if not (np.isfinite(low).all() and np.isfinite(high).all()):  # nan makes both extremes nan
            finite = xp.reshape(xp.astype(xp.isfinite(H), xp.int32), (-1,))
            row, column = divmod(int(xp.argmin(finite)), H.shape[1])
            odd = (rows.start + row, column, float(H[row, column]))
        return cls(low, high, odd)

    def __add__(self, following: Extremes) -> Extremes:
        """The extremes of both blocks together."""
        low, high = np.minimum(self.low, following.low), np.maximum(self.high, following.high)
        return Extremes(low, high, following.odd if self.odd is None else self.odd)

    def check(
        self, names: tuple[str, ...] | None, place: Callable[[int], str] | None = None, before: str = "the fit"
    ) -> None:
        """Refuse values that are no finite numbers, by column and row; `place` says where a row lies."""
        if self.odd is not None:
            row, column, value = self.odd
            title = f"'{names[column]}'" if names is not None else f"{column + 1} of {len(self.low)}"
            lies = "" if place is None else place(row)
            raise InvalidData(
                f"column {title} has the value {value} in row {row}{lies}; all values must be finite numbers. Leave "
                f"such rows or columns out, or fill the gaps, before {before}"
            )


@final
@attrs.frozen(eq=False)
class OfFiniteRows(BlockFunction, Generic[Value]):
    """A function of the blocks of new rows, which refuses values that are no finite numbers.

    Parameters
    ----------
    function : callable
        Row slice and rows to anything.
    names : tuple of str or None
        Names of the columns, for the message.
    before : str
        Step that the check precedes, for the message: "the fit" or "the prediction".
    """

    function: Callable[[slice, Array], Value]
    names: tuple[str, ...] | None = None
    before: str = "the prediction"

    def __call__(self, rows: slice, X: Array) -> Value:
        """The value of the function, after a check that all rows are finite."""
        if X.shape[0]:
            Extremes.of(rows, X).check(self.names, before=self.before)
        return self.function(rows, X)


@final
@attrs.frozen(eq=False)
class DistinctRowsOfBlock:
    """The distinct rows of a block, or `enough` of them: the part of `DistinctUpTo`.

    Parameters
    ----------
    rows : ndarray of shape (m, d)
    enough : int
        How many of them there are at most. Their number is the same in whatever blocks the rows are seen.
    """

    rows: Array
    enough: int

    def __add__(self, following: DistinctRowsOfBlock) -> DistinctRowsOfBlock:
        """Those of both blocks."""
        if len(self.rows) >= self.enough:
            return self
        both = _distinct(np.concatenate((self.rows, following.rows)))
        return DistinctRowsOfBlock(both[: self.enough], self.enough)


@final
@attrs.frozen
class DistinctUpTo(BlockFunction):
    """The distinct rows of a block, counted only until there are `enough`."""

    enough: int

    def __call__(self, rows: slice, H: Array) -> DistinctRowsOfBlock:
        """Those of a block (b, L): of its first rows, if enough of these are distinct."""
        distinct = _distinct(H[: 2 * self.enough])
        if len(distinct) < self.enough and len(H) > 2 * self.enough:
            distinct = _distinct(H)
        return DistinctRowsOfBlock(distinct[: self.enough], self.enough)


def _distinct(H: Array) -> Array:
    """The distinct rows of H (b, L), each once."""
    inverse = sets_of_equal_rows(H)
    return H if inverse is None else H[np.unique(inverse, return_index=True)[1]]


def extremes(space: FeatureSpace) -> Extremes:
    """The extremes of all features, in one pass."""
    known: Extremes | None = getattr(space, "known", None)
    return space.reduce(Extremes.of) if known is None else known


def draw_rows(rng: Rng, n: int, size: int) -> Indices:
    """Different rows drawn at random, min(n, size) of them, in random order.

    Above one group of rows (`clusterkit.samples.sums.GROUP`) without a permutation of all.
    """
    return rng.permutation(n)[:size] if n <= sums.GROUP else rng.choice(n, min(n, size), replace=False)


def draw_weighted(rng: Rng, weights: Array, size: int) -> Indices:
    """Different rows drawn with probabilities in proportion to their weights, in the order drawn.

    At most `size` of them, and none of weight 0. By exponential keys: Efraimidis, Spirakis (2006).
    """
    positive = np.flatnonzero(weights > 0)
    keys = rng.exponential(size=len(positive)) / weights[positive]
    return positive[np.argsort(keys, kind="stable")[:size]]


def uniforms_of(seed: int, rows: slice, block: AnyArray) -> Array:
    """Numbers in [0, 1), one for each row of a block, on its device: those of `uniforms`, bit for bit.

    By whole numbers with a sign, which every library has; their products wrap.
    """
    if not is_device_array(block):
        return uniforms(seed, rows)
    xp = array_namespace(block)
    state = xp.arange(rows.start + 1, rows.stop + 1, dtype=xp.int64, device=block.device) * _signed(STEP)
    state = state + _signed(seed)
    for shift, factor in ((30, FIRST_FACTOR), (27, SECOND_FACTOR)):
        state = (state ^ _shifted(state, shift)) * _signed(factor)
    uniform: Array = xp.astype(_shifted(state ^ _shifted(state, 31), 11), xp.float64) * 2.0**-53
    return uniform


def _signed(number: Any) -> int:
    """A number below 2^64 as the whole number with a sign of the same bits."""
    return (int(number) + 2**63) % 2**64 - 2**63


def _shifted(state: Any, bits: int) -> Any:
    """The bits of whole numbers with a sign moved to the right, with zeros behind them."""
    return (state >> bits) & (2 ** (64 - bits) - 1)
