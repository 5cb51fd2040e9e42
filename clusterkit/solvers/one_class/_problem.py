"""The dual of data description on the samples of one space: its variables, its start, and its solution.

The minimisation itself is in ``_working_sets.py`` for a Gaussian kernel and in ``_smo_any_kernel_jit.py`` otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.core import memory
from clusterkit.core.kernel import Gaussian
from clusterkit.core.outcomes import KernelDomain, Outcome
from clusterkit.core.spaces import FeatureSpace, KernelSpace
from clusterkit.numerics.sparse_rows import SparseRows, as_rows
from clusterkit.solvers.one_class._gram_columns import FeatureMatrix, KernelMatrix

if TYPE_CHECKING:
    from clusterkit.solvers.one_class._smo_any_kernel_jit import Minimum

__all__ = ["GaussianDual", "MatrixDual", "dual_of"]

LEAST_SHARED_WEIGHT = 0.5
"""A previous solution serves as the start only if at least this part of its weights belongs to present samples and
fits below their bounds: with less, samples give a better start."""

ROUNDING = 1e-9
"""Largest difference from 1 of a sum of weights that counts as rounding."""


def dual_of(space: KernelSpace | FeatureSpace, precision: str) -> GaussianDual | MatrixDual:
    """The dual of a space: in centred features, of a Gaussian kernel, or of any other kernel."""
    if isinstance(space, FeatureSpace):
        return MatrixDual(FeatureMatrix.of(space), space.points)
    if isinstance(space.kernel, Gaussian):
        return GaussianDual.of(space.points, space.kernel, precision)
    return MatrixDual(KernelMatrix.of(space), space.points)


@final
@attrs.frozen(eq=False)
class MatrixDual:
    """The dual of any kernel or of features, solved from columns of the matrix; ``_smo_any_kernel_jit.minimise``.

    Parameters
    ----------
    matrix : KernelMatrix or FeatureMatrix
    points : ndarray of shape (n, d)
        Samples in the coordinates of the input space, for the start.
    """

    matrix: KernelMatrix | FeatureMatrix
    points: Array

    @property
    def diag(self) -> Array:
        """K_ii, (n,)."""
        return self.matrix.diag

    def minimise(
        self, bounds: Array, tol: float, max_iter: int, cache_bytes: int, previous: Outcome | None = None
    ) -> Minimum:
        """The solution. A previous outcome is not used: the start is always `start`."""
        from clusterkit.solvers.one_class._smo_any_kernel_jit import minimise

        return minimise(self.matrix, bounds, self.start(bounds), tol, max_iter, cache_bytes)

    def start(self, bounds: Array) -> Array:
        """All weight on the samples nearest to the mean of the coordinates: the order of the samples has no effect."""
        from clusterkit.solvers.one_class._smo_any_kernel_jit import filled_in_order

        points = self.points.astype(np.float64, copy=False)
        distances = np.square(points - points.mean(axis=0)).sum(axis=1)
        return filled_in_order(np.argsort(distances, kind="stable"), bounds)


@final
@attrs.frozen(eq=False)
class GaussianDual:
    """The dual of a Gaussian kernel over the distinct samples; ``_working_sets.minimise_gaussian``.

    Equal samples are one variable, whose bound is the sum of their bounds. Only the sum of their β is determined; each
    of the equal samples gets a part of it in proportion to its bound.

    Parameters
    ----------
    centres : ndarray of shape (u, d), float64, or sparse rows
        The distinct samples, in order of first appearance.
    inverse : ndarray of shape (n,) or None
        Index of each sample among the distinct ones; None if no two are equal.
    n : int
        Number of samples.
    points : ndarray of shape (u, d)
        Points from which kernel values are computed: `centres`, or in float32 the centred and scaled `centres`.
    kernel : Gaussian
        The kernel on `centres`.
    scaled : Gaussian
        The same kernel on `points`.
    pools : dict
        Kernel columns of all points, for solutions with other bounds.
    """

    centres: Array
    inverse: Indices | None
    n: int
    points: Array
    kernel: Gaussian
    scaled: Gaussian
    pools: dict[str, Any] = attrs.field(factory=dict)

    @classmethod
    def of(cls, points: Array, kernel: Gaussian, precision: str) -> GaussianDual:
        """The dual of samples (n, d); O(n d)."""
        from clusterkit.numerics.distinct_rows_jit import distinct_rows

        centres = as_rows(points, np.float64)
        n, inverse = len(centres), None
        first, where = distinct_rows(centres)
        if len(first) < n:
            centres, inverse = centres[first], where
        if precision == "float64":
            return cls(centres, inverse, n, centres, kernel, kernel)
        if isinstance(centres, SparseRows):
            single = centres.scaled(np.sqrt(kernel.gamma)).astype(np.float32)
            return cls(cast(Any, centres), inverse, n, cast(Any, single), kernel, Gaussian(1.0))
        # Centred and scaled: float32 has too few digits for a common offset, and too small a range for some gamma.
        scaled = (np.sqrt(kernel.gamma) * (centres - centres.mean(axis=0))).astype(np.float32)
        return cls(centres, inverse, n, scaled, kernel, Gaussian(1.0))

    @property
    def diag(self) -> Array:
        """Ones, (n,)."""
        return np.ones(self.n)

    def minimise(
        self, bounds: Array, tol: float, max_iter: int, cache_bytes: int, previous: Outcome | None = None
    ) -> Minimum:
        """The solution for all samples, started from a previous outcome or else from random samples."""
        from clusterkit.solvers.one_class._working_sets import minimise_gaussian

        distinct_bounds = bounds if self.inverse is None else np.minimum(self._sums(bounds), 1.0)
        start = None if previous is None else self._start(previous, distinct_bounds)
        minimum = minimise_gaussian(
            self.points, self.scaled, distinct_bounds, tol, max_iter, min(cache_bytes, memory.cap()), start=start,
            pools=self.pools,
        )  # fmt: skip
        if self.points.dtype != np.float64:
            # The radius and the level are read from the support vectors: there all digits matter.
            support = np.flatnonzero(minimum.beta)
            centres = self.centres[support]
            minimum.gradient[support] = 2.0 * self.kernel.weighted_sum(centres, centres, minimum.beta[support]) - 1.0
        if self.inverse is None:
            return minimum
        part = minimum.beta / self._sums(bounds)
        beta = np.minimum(bounds * part[self.inverse], bounds)
        return attrs.evolve(minimum, beta=beta, gradient=minimum.gradient[self.inverse])

    def domain_parts(self, beta: Array) -> tuple[Array, Array]:
        """Centres and weights of the kernel sum for the β of all samples: one centre for equal samples."""
        weights = beta if self.inverse is None else self._sums(beta)
        support = np.flatnonzero(weights)
        return self.centres[support], weights[support]

    def _sums(self, values: Array) -> Array:
        """Sums of the values (n,) of equal samples, (u,)."""
        assert self.inverse is not None
        return cast("Array", np.bincount(self.inverse, values, minlength=len(self.centres)))

    def _start(self, previous: Outcome, bounds: Array) -> Array | None:
        """The β of a previous outcome made feasible; None if too little of it belongs to these samples."""
        from clusterkit.numerics.distinct_rows_jit import find_rows
        from clusterkit.solvers.one_class._smo_any_kernel_jit import filled_in_order

        if not isinstance(previous, KernelDomain) or previous.centres.shape[1] != self.centres.shape[1]:
            return None
        rows = find_rows(self.centres, previous.centres)
        known = rows >= 0
        beta = np.zeros(len(bounds))
        beta[rows[known]] = np.maximum(previous.weights[known], 0.0)
        beta = np.minimum(beta, bounds)
        total = float(beta.sum())
        if total < LEAST_SHARED_WEIGHT:
            return None
        if total > 1.0:
            return np.minimum(beta / total, bounds)
        if total < 1.0:
            room = bounds - beta
            if total < 1.0 - ROUNDING:
                # The weight that no longer fits below the bounds goes to the outermost samples of that outcome.
                order = np.argsort(previous.value(self.centres), kind="stable")
            else:
                order = np.argsort(-np.where(beta > 0.0, room, 0.0), kind="stable")
            beta = np.minimum(beta + filled_in_order(order, room, 1.0 - total), bounds)
        return beta
