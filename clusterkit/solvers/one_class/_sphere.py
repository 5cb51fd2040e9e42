"""The sphere of a data description: its radius, and the functions of the input space that tell who is inside."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.kernel import Kernel
from clusterkit.core.transform import RowMap, block_plan

__all__ = ["KernelPower", "MinusSquaredDistance", "Sphere"]

SUM_TOLERANCE = 1e-12
BOUND_TOLERANCE = 1e-9


@final
@attrs.frozen(eq=False)
class Sphere:
    """Radius of the solution.

    Parameters
    ----------
    radius2 : float
        R².
    length2 : float
        ``β'Kβ``, the squared length of the centre.
    n_bounded : int
        Support vectors at their bound.
    degenerate : bool
        Whether only one β is feasible, so that the radius is not determined.
    """

    radius2: float
    length2: float
    n_bounded: int
    degenerate: bool

    @classmethod
    def of(cls, beta: Array, gradient: Array, diag: Array, bounds: Array) -> Sphere:
        """Outermost free support vector; without one, midway between the inner and the bounded samples."""
        margin = BOUND_TOLERANCE * bounds
        length2 = float(beta @ (gradient + diag)) / 2.0
        distances = length2 - gradient  # (n,): R²(x_i), since the gradient is 2 K β - diag
        # A bound of 1 never binds: Σ β = 1 alone puts β at 1.
        bounded = (beta > 0) & (beta >= bounds - margin) & (bounds < 1.0)
        degenerate = len(beta) > 1 and float(bounds.sum()) <= 1.0 + SUM_TOLERANCE
        free = (beta > margin) & ~bounded
        if degenerate:
            radius2 = 0.0
        elif free.any():
            radius2 = float(distances[free].max())
        else:
            inner = distances[beta == 0]
            low = float(inner.max()) if len(inner) else 0.0
            radius2 = (low + float(distances[bounded].min())) / 2.0
        return cls(max(radius2, 0.0), length2, int(bounded.sum()), degenerate)


@final
@attrs.frozen(eq=False)
class MinusSquaredDistance:
    """``-|h(x) - centre|²`` for coordinates x; a frozen callable, so that a fit pickles."""

    mapping: RowMap
    centre: Array
    dtype: np.dtype

    def __call__(self, Y: Array) -> Array:
        """Values of the rows of Y, (m,), in blocks; they are mapped in the type of the training data."""
        values = np.empty(len(Y))
        for rows in block_plan(len(Y), len(self.centre), np.float64):
            difference = self.mapping(np.ascontiguousarray(Y[rows], dtype=self.dtype)) - self.centre
            values[rows] = -np.einsum("ij,ij->i", difference, difference)
        return values


@final
@attrs.frozen(eq=False)
class KernelPower:
    """``2 Σ β_s k(x_s, x) - k(x, x)``: minus the squared distance to the centre, but for a constant."""

    centres: Array
    weights: Array
    kernel: Kernel

    def __call__(self, Y: Array) -> Array:
        """Values of the rows of Y, (m,), in blocks."""
        values = np.empty(len(Y))
        for rows in block_plan(len(Y), len(self.centres), np.float64):
            block = Y[rows].astype(np.float64, copy=False)
            values[rows] = 2.0 * (self.kernel(block, self.centres) @ self.weights) - self.kernel.diag(block)
        return values
