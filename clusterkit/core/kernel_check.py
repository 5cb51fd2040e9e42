"""Warns of a Gaussian kernel whose width tells no samples apart, or no samples together."""

from __future__ import annotations

import math
import warnings

import numpy as np

from clusterkit._typing import Indices
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.kernel import Gaussian
from clusterkit.core.spaces import KernelSpace, Space

__all__ = ["warn_of_degenerate_kernel"]

LOOKED_AT = 64
"""Rows of the kernel matrix that are looked at: their median tells a usable width from a useless one, and they cost
64 n kernel values at most."""
FIRST_COLUMNS = 2048
"""Columns looked at first. Only where they leave a doubt, because a nearer or a farther sample may be among the others,
all columns are looked at."""
UNRELATED = 1e-3
"""Kernel values below this are nothing beside the value 1 of a sample with itself: less than the tolerance of most
solvers, and far below the ridge that a bounded multiplier or a penalty C of 1 adds to the diagonal."""


def warn_of_degenerate_kernel(space: Space) -> None:
    """Warn if the matrix of a Gaussian kernel is numerically the identity or numerically constant.

    Identity: the median, over some samples, of the kernel value with the nearest other sample is below `UNRELATED`.
    Constant: the smallest of their values is within the square root of the machine precision of 1, so that half of the
    digits of every distance are lost. O(n d), for at most `LOOKED_AT` rows of the matrix; O(1) for usual widths.

    Parameters
    ----------
    space : Space
        Of samples that are not all equal. Anything but a `KernelSpace` with a Gaussian kernel is passed over.
    """
    if not isinstance(space, KernelSpace) or not isinstance(space.kernel, Gaussian) or space.n < 2:
        return
    n = space.n
    rows = _spread(n, LOOKED_AT)
    largest, smallest = _extremes(space, rows, _spread(n, FIRST_COLUMNS))
    least_range = math.sqrt(float(np.finfo(space.dtype).eps))
    doubtful = largest < UNRELATED or smallest > 1.0 - least_range
    if doubtful and n > FIRST_COLUMNS:
        largest, smallest = _extremes(space, rows, np.arange(n))
    gamma = space.kernel.gamma
    if largest < UNRELATED:
        _warn(
            f"with gamma = {gamma:.3g} the kernel matrix is numerically the identity: half of the samples have a "
            f"kernel value below {largest:.1e} with their nearest sample, so that none resembles another; decrease "
            "gamma (increase sigma or sigma_fraction)"
        )
    elif smallest > 1.0 - least_range:
        _warn(
            f"with gamma = {gamma:.3g} the kernel matrix is numerically constant: its entries differ from 1 by "
            f"{1.0 - smallest:.1e} at most, so that all samples look alike; increase gamma (decrease sigma or "
            "sigma_fraction)"
        )


def _spread(n: int, count: int) -> Indices:
    """At most `count` indices at even distances."""
    return np.unique(np.linspace(0, n - 1, min(n, count)).astype(np.intp))


def _extremes(space: KernelSpace, rows: Indices, columns: Indices) -> tuple[float, float]:
    """The median over rows of the largest value beside the diagonal, and the smallest value of all."""
    smallest, of_nearest = 1.0, np.zeros(len(rows))
    for first in range(0, len(columns), FIRST_COLUMNS):
        part = columns[first : first + FIRST_COLUMNS]
        K = np.asarray(space.kernel(space.points[rows], space.points[part]), dtype=np.float64)
        smallest = min(smallest, float(K.min()))
        K[rows[:, None] == part] = 0.0
        np.maximum(of_nearest, K.max(axis=1), out=of_nearest)
    return float(np.median(of_nearest)), smallest


def _warn(text: str) -> None:
    warnings.warn(text, ClusterkitWarning, stacklevel=4)
