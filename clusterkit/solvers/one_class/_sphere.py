"""The sphere of a data description: its radius, and the functions of the input space whose level sets it is."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.kernel import Kernel
from clusterkit.core.namespaces import (
    BlockFunction,
    array_namespace,
    as_type,
    is_device_array,
    row_chunks,
    row_squares,
    to_device_of,
)
from clusterkit.core.transform import RowMap, block_plan

__all__ = ["KernelPower", "MinusSquaredDistance", "Sphere"]

SUM_TOLERANCE = 1e-12
"""Largest difference from 1 of a sum of bounds that counts as rounding; then only one β is feasible."""

BOUND_TOLERANCE = 1e-9
"""Distance from 0 or from the bound, relative to the bound, within which a β counts as being there: three digits above
the distance at which solvers put it exactly there."""


@final
@attrs.frozen(eq=False)
class Sphere:
    """Radius and centre of the solution.

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
        """The sphere of a solution.

        Its radius is the distance of the outermost free support vector; without a free one, the squared radius is
        midway between the inner and the bounded samples.
        """
        margin = BOUND_TOLERANCE * bounds
        length2 = float(beta @ (gradient + diag)) / 2.0
        distances = length2 - gradient  # (n,): R²(x_i), since the gradient is 2 K β - diag
        # A bound of 1 is never active: Σ β = 1 alone limits β to 1.
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
class MinusSquaredDistance(BlockFunction):
    """``-|h(x) - centre|²`` for coordinates x; a frozen callable, so that a fit pickles.

    Parameters
    ----------
    mapping : RowMap
        From coordinates to features h.
    centre : ndarray of shape (L,)
    dtype : numpy dtype
        Type of the training data, in which rows are mapped.
    """

    mapping: RowMap
    centre: Array
    dtype: np.dtype

    def __call__(self, Y: Array) -> Array:
        """Values of the rows of Y, (m,), in blocks."""
        if is_device_array(Y):
            parts = []
            for _, part in row_chunks(Y):
                H = as_type(self.mapping(as_type(part, self.dtype)), np.float64)
                parts.append(-row_squares(H - to_device_of(self.centre, H)))
            joined: Array = array_namespace(Y).concat(parts, axis=0)
            return joined
        values = np.empty(len(Y))
        for rows in block_plan(len(Y), len(self.centre), np.float64):
            difference = self.mapping(np.ascontiguousarray(Y[rows], dtype=self.dtype)) - self.centre
            values[rows] = -np.einsum("ij,ij->i", difference, difference)
        return values


@final
@attrs.frozen(eq=False)
class KernelPower(BlockFunction):
    """``2 Σ β_s k(x_s, x) - k(x, x)``: minus the squared distance to the centre up to a constant.

    Parameters
    ----------
    centres : ndarray of shape (s, d)
        Support vectors.
    weights : ndarray of shape (s,)
        Their β.
    kernel : Kernel
    """

    centres: Array
    weights: Array
    kernel: Kernel

    def __call__(self, Y: Array) -> Array:
        """Values of the rows of Y, (m,), in blocks."""
        if is_device_array(Y):
            Y = as_type(Y, np.float64)
            return 2.0 * self.kernel.weighted_sum(Y, self.centres, self.weights) - self.kernel.diag(Y)
        values = np.empty(len(Y))
        for rows in block_plan(len(Y), len(self.centres), np.float64):
            block = Y[rows].astype(np.float64, copy=False)
            values[rows] = 2.0 * (self.kernel(block, self.centres) @ self.weights) - self.kernel.diag(block)
        return values
