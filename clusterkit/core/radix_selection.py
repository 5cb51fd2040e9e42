"""The r-th smallest of many values in a few passes: exact selection by histograms of their digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar, final

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array, Counts, Indices, Mask
from clusterkit.core.sums import Addable, RowsInOrder, Sums

__all__ = ["Limit", "Losses", "Reduce", "limit_of", "ordered_keys"]

Part = TypeVar("Part", bound=Addable)

DIGIT_BITS = 16
"""Bits of a digit: 65,536 counts, half a megabyte, for each pass."""
VALUE_DIGITS = 4
"""Digits of the key of a float64; the digits of the row number follow, so that ties are told apart."""
DIGITS = VALUE_DIGITS + 3
"""Digits in all: row numbers below 2^48."""
GATHERED = 2**17
"""Values that are gathered instead of counted: they are sorted in memory, and the selection ends."""

Losses = Callable[[slice, Array], tuple[Array, Indices]]
"""Row slice and costs to the values of the rows that take part, (m,), and to their row numbers, (m,), ascending."""


class Reduce(Protocol):
    """A pass over costs, such as `Costs.reduce`."""

    def __call__(self, part: Callable[[slice, Array], Part], /) -> Part:
        """The sum of ``part(rows, costs of these rows)`` over all blocks."""


@final
@attrs.frozen
class Limit:
    """The r-th smallest pair of value and row number.

    Parameters
    ----------
    value : float
    row : int
    """

    value: float
    row: int

    def below(self, values: Array, rows: Indices) -> Mask:
        """Which of some values are among the r smallest."""
        return (values < self.value) | ((values == self.value) & (rows <= self.row))


def ordered_keys(values: Array) -> NDArray[np.uint64]:
    """Unsigned integers in the order of float64 values; equal values, 0 and -0 among them, have equal keys.

    Examples
    --------
    >>> keys = ordered_keys(np.array([-np.inf, -1.0, -0.0, 0.0, 1e-300, 2.0]))
    >>> bool((keys[1:] >= keys[:-1]).all()), bool(keys[2] == keys[3])
    (True, True)
    """
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)
    sign = np.uint64(1) << np.uint64(63)
    return np.where(bits & sign, ~bits, bits | sign)


def limit_of(reduce: Reduce, losses: Losses, r: int) -> Limit:
    """The r-th smallest value, r >= 1, ties in the order of the rows; at most `DIGITS` passes, usually two.

    Each pass counts one digit of the values that share the digits of the limit so far, until few enough are left.
    """
    prefix: tuple[int, ...] = ()
    left = r
    while True:
        counts: Counts = reduce(_DigitCounts(losses, prefix)).arrays[0].astype(np.int64)
        upto = np.cumsum(counts)
        digit = int(np.searchsorted(upto, left))
        left -= int(upto[digit] - counts[digit])
        prefix = (*prefix, digit)
        if counts[digit] <= GATHERED or len(prefix) == DIGITS:
            values, rows = reduce(_Gather(losses, prefix)).arrays
            order = np.lexsort((rows, values))
            return Limit(float(values[order[left - 1]]), int(rows[order[left - 1]]))


def _digit(keys: NDArray[np.uint64], rows: Indices, place: int) -> NDArray[np.uint64]:
    numbers, last = (keys, VALUE_DIGITS) if place < VALUE_DIGITS else (rows.astype(np.uint64), DIGITS)
    return (numbers >> np.uint64(DIGIT_BITS * (last - 1 - place))) & np.uint64(2**DIGIT_BITS - 1)


def _sharing(values: Array, rows: Indices, prefix: tuple[int, ...]) -> Mask:
    """Which values share the first digits."""
    keys, share = ordered_keys(values), np.ones(len(values), dtype=bool)
    for place, digit in enumerate(prefix):
        share &= _digit(keys, rows, place) == digit
    return share


@final
@attrs.frozen(eq=False)
class _DigitCounts:
    """Part of a pass: how many values have each next digit."""

    losses: Losses
    prefix: tuple[int, ...]

    def __call__(self, rows: slice, costs: Array) -> Sums:
        values, numbers = self.losses(rows, costs)
        share = _sharing(values, numbers, self.prefix)
        digits = _digit(ordered_keys(values[share]), numbers[share], len(self.prefix))
        return Sums.of(np.bincount(digits.astype(np.intp), minlength=2**DIGIT_BITS))


@final
@attrs.frozen(eq=False)
class _Gather:
    """Part of the last pass: the values that are left, and the numbers of their rows."""

    losses: Losses
    prefix: tuple[int, ...]

    def __call__(self, rows: slice, costs: Array) -> RowsInOrder:
        values, numbers = self.losses(rows, costs)
        share = _sharing(values, numbers, self.prefix)
        return RowsInOrder((values[share].astype(np.float64), numbers[share]))
