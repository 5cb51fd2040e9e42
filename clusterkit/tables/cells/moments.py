"""Sums of a column of numbers that add up over blocks of rows."""

from __future__ import annotations

import math
from typing import Self

import attrs
import numpy as np

from clusterkit._typing import AnyArray

MOST_VALUES = 2
"""Largest number of distinct values that are kept: whether a column has one, two or more of them decides how it is
used."""

ROUNDING = 1e-9
"""Largest relative difference of sums that counts as none."""


def _rounded(value: float) -> float:
    """A sum of logarithms without rounding, to compare it."""
    return round(value, 9)


@attrs.frozen
class Sizes:
    """Count, mean and sum of squared deviations of the logarithms of absolute values, zeros apart.

    Their mean is the logarithm of a typical size that a few large values do not move.

    Parameters
    ----------
    n : int
    mean, squares : float
    """

    n: int = 0
    mean: float = attrs.field(default=0.0, eq=_rounded)
    squares: float = attrs.field(default=0.0, eq=_rounded)

    @classmethod
    def of(cls, values: AnyArray, weights: AnyArray | None = None) -> Self:
        """The sums of values, shape (n,), each counted `weights` times."""
        sizes = np.abs(values)
        some = sizes > 0.0
        logs = np.log(sizes[some], dtype=np.float64)
        if not len(logs):
            return cls()
        w = np.ones(len(logs)) if weights is None else weights[some].astype(np.float64)
        n = float(w.sum())
        mean = float(w @ logs / n)
        return cls(round(n), mean, float(w @ (logs - mean) ** 2))

    def __add__(self, other: Sizes) -> Sizes:
        """The sums of both sets of rows."""
        if not self.n or not other.n:
            return other if not self.n else self
        n = self.n + other.n
        step = other.mean - self.mean
        squares = self.squares + other.squares + step * step * self.n * other.n / n
        return Sizes(n, self.mean + step * other.n / n, squares)

    def times(self, factor: float) -> Sizes:
        """The sums of the values times a positive factor."""
        return attrs.evolve(self, mean=self.mean + math.log(factor)) if self.n else self

    @property
    def spread(self) -> float:
        """Standard deviation of the logarithms, with divisor n."""
        return math.sqrt(self.squares / self.n) if self.n else 0.0


@attrs.frozen
class Moments:
    """Count, mean, sum of squared deviations, extremes, sizes, and whether all values are whole.

    Two sets of rows are merged exactly but for rounding (Chan, Golub, LeVeque 1983, Algorithms for computing the sample
    variance, The American Statistician 37).

    Parameters
    ----------
    n : int
    mean, squares : float
        `squares` is the sum of squared deviations from the mean.
    low, high : float
    whole : bool
    values : tuple of float
        The distinct values, if they are at most two; empty if they are more.
    many : bool
        Whether there are more than two distinct values.
    sizes : Sizes
    """

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0
    low: float = math.inf
    high: float = -math.inf
    whole: bool = True
    values: tuple[float, ...] = ()
    many: bool = False
    sizes: Sizes = attrs.field(factory=Sizes)

    @classmethod
    def of(cls, values: AnyArray, weights: AnyArray | None = None) -> Self:
        """The sums of finite values, shape (n,), each counted `weights` times."""
        if not len(values):
            return cls()
        x = values.astype(np.float64, copy=False)
        w = np.ones(len(x)) if weights is None else weights.astype(np.float64)
        n = float(w.sum())
        with np.errstate(over="ignore", invalid="ignore"):  # sums of the largest numbers overflow
            # about the first value, so that values far from 0 keep their digits
            mean = float(x[0] + (w @ (x - x[0])) / n)
            squares = float(w @ (x - mean) ** 2)
        low, high = float(x.min()), float(x.max())
        many = bool(((x != low) & (x != high)).any())
        if low == high:
            mean, squares = low, 0.0
        return cls(
            round(n), mean, squares, low, high, bool((x == np.floor(x)).all()),
            () if many else tuple(sorted({low, high})), many, Sizes.of(x, w),
        )  # fmt: skip

    def __add__(self, other: Moments) -> Moments:
        """The sums of both sets of rows."""
        if not self.n or not other.n:
            return other if not self.n else self
        n = self.n + other.n
        step = other.mean - self.mean
        distinct = tuple(sorted({*self.values, *other.values}))
        many = self.many or other.many or len(distinct) > MOST_VALUES
        return Moments(
            n, self.mean + step * other.n / n, self.squares + other.squares + step * step * self.n * other.n / n,
            min(self.low, other.low), max(self.high, other.high), self.whole and other.whole,
            () if many else distinct, many, self.sizes + other.sizes,
        )  # fmt: skip

    def times(self, factor: float) -> Moments:
        """The sums of the values times a positive factor.

        Examples
        --------
        >>> Moments.of(np.array([1.0, 3.0])).times(2.0) == Moments.of(np.array([2.0, 6.0]))
        True
        """
        if factor == 1.0 or not self.n:
            return self
        values = tuple(value * factor for value in self.values)
        whole = self.whole and float(factor).is_integer()
        return Moments(
            self.n, self.mean * factor, self.squares * factor * factor, self.low * factor, self.high * factor, whole,
            values, self.many, self.sizes.times(factor),
        )  # fmt: skip

    @property
    def spread(self) -> float:
        """Standard deviation, with divisor n."""
        return math.sqrt(self.squares / self.n) if self.n else 0.0

    def is_numbering(self) -> bool:
        """Whether the values are the whole numbers from low to high, each once, as far as sums tell.

        Examples
        --------
        >>> Moments.of(np.array([3.0, 1.0, 2.0])).is_numbering(), Moments.of(np.array([1.0, 1.0, 3.0])).is_numbering()
        (True, False)
        """
        n = self.n
        if not self.whole or n < 2 or self.high - self.low + 1 != n:
            return False
        squares = n * (n * n - 1) / 12
        middle = (self.low + self.high) / 2
        return abs(self.squares - squares) <= ROUNDING * squares and abs(self.mean - middle) <= ROUNDING * n
