"""Whether the numbers of new rows are typically as large as those of a fit, or in another unit.

Their logarithms are compared, in which another unit is a shift: columns such as incomes have a few values that carry
the mean, and columns around zero a mean of nothing.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clusterkit.tables.moments import Sizes

__all__ = ["other_size", "size_of"]

FEWEST = 10
"""Numbers from which a typical size is compared; of fewer the extremes alone are."""

TIMES = 8.0
"""Factor from which typical sizes differ: ten, as from millimetres to centimetres, with the difference that samples of
some dozens of rows have."""

CERTAIN = 5.0
"""Standard errors that they must differ by, so that no random rows of a table do."""

SPREADS = 1.0
"""Standard deviations of the fit that they must differ by: of two groups of equal number, either one alone does not."""


def size_of(sizes: Sizes) -> tuple[float, ...]:
    """What a plan keeps of the sizes of its fit: mean and standard deviation of the logarithms."""
    return (sizes.mean, sizes.spread) if sizes.n else ()


def other_size(values: NDArray[np.float64], size: tuple[float, ...]) -> str:
    """The typical sizes of new numbers and of those of the fit, if they differ; "" if they do not.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite.
    size : tuple of float
        As `size_of` returns it.

    Examples
    --------
    >>> fit = np.array([800.0, 1200.0, 2000.0, 20_000.0, 3000.0, 2500.0, 1800.0, 1500.0, 2200.0, 2700.0])
    >>> other_size(100 * fit, size_of(Sizes.of(fit))), other_size(2 * fit, size_of(Sizes.of(fit)))
    ('typically 2.33e+05 here, 2.33e+03 in the fit', '')
    """
    sizes = Sizes.of(values) if size else Sizes()
    if sizes.n < FEWEST:
        return ""
    mean, spread = size
    least = max(math.log(TIMES), SPREADS * spread, CERTAIN * spread / math.sqrt(sizes.n))
    if abs(sizes.mean - mean) <= least:
        return ""
    return f"typically {math.exp(sizes.mean):.3g} here, {math.exp(mean):.3g} in the fit"
