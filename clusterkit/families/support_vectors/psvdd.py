"""Position regularised support vector data description: the farther from the mean, the cheaper an outlier."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Mask, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task
from clusterkit.contracts.outcomes import KernelDomain, Outcome
from clusterkit.contracts.params import choice, integer, real
from clusterkit.families.support_vectors.svdd import Svdd, gaussian_of
from clusterkit.numerics.selection import few_points
from clusterkit.samples import KernelSpace, Space
from clusterkit.samples.coding import Coded
from clusterkit.samples.kernels import Gaussian

EQUAL_DISTANCES = 1e-9
"""Relative difference of distances up to which all samples count as equally far from the mean: rounding must not decide
which samples are outliers."""


ROUNDING = 64.0 * float(np.finfo(np.float64).eps)
"""Largest rounding error of the squared distances from the mean in the space of the kernel."""

MEETING = 1e-4
"""Kernels meet where they are more than this fraction of their height: above that of points parted by
`clusterkit.numerics.distances.parting_bandwidth`, which is 2^-16."""


def linear(distances: Array) -> Array:
    """``1 - (1 - 1/n) δ_i / max δ``: from 1 at the mean down to 1/n for the farthest sample, (n,)."""
    n = len(distances)
    return 1.0 - (1.0 - 1.0 / n) * distances / distances.max()


def exponential(distances: Array) -> Array:
    """``exp(-δ_i² / mean δ²)``, (n,), but above 0."""
    squares = np.square(distances / distances.max())
    return np.maximum(np.exp(-squares / squares.mean()), np.finfo(np.float64).tiny)


def inverse(distances: Array) -> Array:
    """``min δ / δ_i`` but at least 1/n, (n,)."""
    return np.maximum(distances.min() / np.maximum(distances, np.finfo(np.float64).tiny), 1.0 / len(distances))


WEIGHTS: Mapping[str, Callable[[Array], Array]] = {
    "linear": linear,
    "exponential": exponential,
    "inverse": inverse,
}
"""Functions from distances to bounds, by the value of the parameter `weights` that selects them."""


@final
@attrs.frozen
class Psvdd(Solver):
    """The smallest enclosing sphere with a bound for each sample that depends on its position.

    Choose it instead of `svdd` where there are outliers, but their number is unknown. It solves the dual of `svdd` with
    ``0 <= β_i <= W_i``, where W_i falls with the distance of a sample from the mean of all samples in feature space,
    ``δ_i² = K_ii - (2/n) Σ_j K_ij + (1/n²) Σ_jl K_jl``. O(n² d) time and O(n) memory for the distances, then as
    `svdd`. The bounds are in `Psvdd.bounds`, the rest is where `svdd` has it.

    Parameters
    ----------
    weights : {"linear", "exponential", "inverse"}, default "linear"
        W: ``1 - (1 - 1/n) δ_i / max δ``, ``exp(-δ_i² / mean δ²)``, or ``max(min δ / δ_i, 1/n)``. Every W is 1 where all
        samples are equally far from the mean. Where samples lie at few points whose kernels do not meet, a distance
        tells how many are equal, not where they lie: W of those that are equal to others is 1.
    tol : float, default 1e-6
        Optimality gap, as for `svdd`.
    max_iter : int or None, default None
        Most pairs moved, as for `svdd`.
    cache_mb : int, default 200
        Memory for kernel columns in MiB.

    Raises
    ------
    InvalidData
        For a kernel that is not Gaussian.

    Notes
    -----
    The exact form of W in the source is not reproduced: "linear" is its idea without a parameter, and always feasible.
    With a wide kernel, few samples are far enough from the mean for their bound to matter. The narrower the kernel, the
    more equal the distances and the lower all bounds of "linear": near ``W = 1/n`` nearly every sample is an outlier.

    Spaces and outcomes are the same as for `svdd`, with W for C; a sample is an outlier if ``β_i = W_i < 1``.

    References
    ----------
    Wang, Lai (2013), Position regularized support vector domain description, Pattern Recognition 46.
    """

    name: ClassVar[str] = "psvdd"
    synonyms: ClassVar[tuple[str, ...]] = ("position_regularised_svdd", "psvc")
    has_objective: ClassVar[bool] = True

    weights: str = choice("linear", tuple(WEIGHTS))
    tol: float = real(1e-6, above=0.0)
    max_iter: int | None = integer(None, at_least=1, optional=True)
    cache_mb: int = integer(200, at_least=1)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Gaussian kernels."""
        return {KernelSpace: Path(_prepare, gives=KernelDomain)}

    def bounds(self, squared_distances: Array, piled: Mask | None = None) -> tuple[float, ...]:
        """W from the squared distances δ² from the mean, (n,); 1 where `piled`, (n,)."""
        distances = np.sqrt(np.maximum(squared_distances, 0.0))
        # A rounding error must not decide which samples are outliers.
        equal = np.ptp(distances) <= EQUAL_DISTANCES * distances.max() or np.ptp(squared_distances) <= ROUNDING
        weights = np.ones(len(distances)) if equal else WEIGHTS[self.weights](distances)
        if piled is not None:
            weights = np.where(piled, 1.0, weights)
        return tuple(np.minimum(weights, 1.0).tolist())


def _prepare(solver: Psvdd, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """Squared distances in the space of a kernel, by row sums of the kernel matrix, which is never stored; the dual."""
    kernel, points = gaussian_of(space, solver.name), np.ascontiguousarray(space.points, dtype=np.float64)
    means = kernel.weighted_sum(points, points, np.full(space.n, 1.0 / space.n))
    squares = 1.0 - 2.0 * means + means.mean()
    bounds = solver.bounds(squares, _piled(kernel, points))
    sphere = Svdd(C=1.0, weights=bounds, tol=solver.tol, max_iter=solver.max_iter, cache_mb=solver.cache_mb)
    return PreparedPsvdd(sphere.prepare(space, task, rng))


def _piled(kernel: Gaussian, points: Array) -> Mask | None:
    """Which rows are equal to others, (n,), where rows lie at few points whose kernels do not meet; None elsewhere."""
    if few_points(points) is None:
        return None
    distinct, inverse, counts = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    K = np.abs(kernel(distinct, distinct))  # (p, p)
    if (K - np.diag(np.diag(K))).max() > MEETING * np.diag(K).min():
        return None
    return np.asarray(counts[inverse.reshape(-1)] > 1)


@final
@attrs.frozen(eq=False)
class PreparedPsvdd(Prepared):
    """The dual problem of `svdd` with bounds by position, which are no values to report."""

    sphere: Prepared

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Outcome:
        """The contour; nothing is random in it."""
        return self.sphere.solve(targets, previous, rng)
