"""Position regularised support vector data description: the farther from the mean, the cheaper an outlier."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Mask, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task
from clusterkit.contracts.outcomes import Domain, FunctionDomain, KernelDomain, Outcome
from clusterkit.contracts.params import integer, real
from clusterkit.errors import InvalidParameter
from clusterkit.families.support_vectors._gram import FeatureMatrix
from clusterkit.families.support_vectors.svdd import PreparedSvdd, Svdd
from clusterkit.numerics.selection import few_points
from clusterkit.samples import FeatureSpace, KernelSpace, Space
from clusterkit.samples.coding import Coded
from clusterkit.samples.kernels import Kernel

__all__ = ["Psvdd", "exponential", "inverse", "linear"]

EQUAL_DISTANCES = 1e-9
"""Relative difference of distances up to which all samples count as equally far from the mean: rounding must not decide
which samples are outliers."""


MEETING = 1e-4
"""Kernels meet where they are more than this fraction of their height: above that of points parted by
`clusterkit.numerics.distances.parting_bandwidth`, which is 2^-16."""


def linear(distances: Array) -> Array:
    """``1 - (1 - 1/n) δ_i / max δ``: from 1 at the mean down to 1/n for the farthest sample, (n,)."""
    n = len(distances)
    return 1.0 - (1.0 - 1.0 / n) * distances / distances.max()


def exponential(distances: Array) -> Array:
    """``exp(-δ_i² / mean δ²)``, (n,)."""
    squares = np.square(distances / distances.max())
    return np.asarray(np.exp(-squares / squares.mean()))


def inverse(distances: Array) -> Array:
    """``min δ / δ_i`` but at least 1/n, (n,)."""
    return np.maximum(distances.min() / np.maximum(distances, np.finfo(np.float64).tiny), 1.0 / len(distances))


WEIGHTS: Mapping[str, Callable[[Array], Array]] = {
    "linear": linear,
    "exponential": exponential,
    "inverse": inverse,
}
"""Functions from distances to bounds, by the value of the parameter `weights` that selects them."""


def _as_weights(value: Any) -> Any:
    """A sequence of numbers as a tuple of floats; names, functions and anything else unchanged."""
    if isinstance(value, str) or callable(value):
        return value
    try:
        return tuple(float(weight) for weight in value)
    except (TypeError, ValueError):
        return value


def _check_weights(instance: Psvdd, attribute: attrs.Attribute[Any], value: Any) -> None:
    fine = value in WEIGHTS if isinstance(value, str) else callable(value)
    if isinstance(value, tuple):
        fine = bool(value) and all(isinstance(w, float) and np.isfinite(w) and w > 0 for w in value)
    if not fine:
        words = ", ".join(repr(name) for name in WEIGHTS)
        raise InvalidParameter(
            f"solver 'psvdd': weights must be one of {words}, a function of the distances, or one finite bound > 0 "
            f"for each sample, got {value!r}"
        )


@final
@attrs.frozen
class Psvdd(Solver):
    """The smallest enclosing sphere with a bound for each sample that depends on its position.

    Choose it instead of `svdd` where there are outliers, but their number is unknown. It solves the dual of `svdd` with
    ``0 <= β_i <= W_i``, where W_i falls with the distance of a sample from the mean of all samples in feature space,
    ``δ_i² = K_ii - (2/n) Σ_j K_ij + (1/n²) Σ_jl K_jl``. O(n² d) time and O(n) memory for the distances (one pass on
    features), then as `svdd`. The bounds are in `Psvdd.bounds`, the rest is where `svdd` has it.

    Parameters
    ----------
    weights : {"linear", "exponential", "inverse"}, sequence of n floats, or callable, default "linear"
        W: ``1 - (1 - 1/n) δ_i / max δ``, ``exp(-δ_i² / mean δ²)``, ``max(min δ / δ_i, 1/n)``, the bounds themselves
        (stored as a tuple), or a function from the distances δ (n,) to the bounds. A function must be importable by its
        name for the stage to pickle. Every W is 1 where all samples are equally far from the mean. Where samples lie
        at few points whose kernels do not meet, a distance tells how many are equal, not where they lie: W of those
        that are equal to others is 1.
    tol : float, default 1e-6
        Optimality gap, as for `svdd`.
    max_iter : int or None, default None
        Most pairs moved, as for `svdd`.
    cache_mb : int, default 200
        Memory for kernel columns in MiB.

    Raises
    ------
    InvalidParameter
        If there is not one bound > 0 for each sample, or the bounds sum to less than 1, so that no β can sum to 1.

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

    weights: str | tuple[float, ...] | Callable[[Array], Array] = attrs.field(
        default="linear",
        converter=_as_weights,
        validator=_check_weights,
        metadata={"invalid": (3.0, (), (1.0, 0.0), (1.0, np.nan), "heavy"), "options": tuple(WEIGHTS)},
    )
    tol: float = real(1e-6, above=0.0)
    max_iter: int | None = integer(None, at_least=1, optional=True)
    cache_mb: int = integer(200, at_least=1)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Kernels, and features with the linear kernel."""
        return {
            KernelSpace: Path(_prepare_kernel, gives=KernelDomain),
            FeatureSpace: Path(_prepare_features, gives=FunctionDomain),
        }

    def bounds(self, squared_distances: Array, rounding: float = 0.0, piled: Mask | None = None) -> tuple[float, ...]:
        """W from the squared distances δ², (n,), whose rounding error is at most `rounding`; 1 where `piled`, (n,).

        Raises
        ------
        InvalidParameter
            See the class.
        """
        n = len(squared_distances)
        if isinstance(self.weights, tuple):
            weights = np.array(self.weights)
        else:
            function = WEIGHTS[self.weights] if isinstance(self.weights, str) else self.weights
            distances = np.sqrt(np.maximum(squared_distances, 0.0))
            # A rounding error must not decide which samples are outliers.
            equal = np.ptp(distances) <= EQUAL_DISTANCES * distances.max() or np.ptp(squared_distances) <= rounding
            weights = np.ones(n) if equal else _evaluated(function, distances)
            if piled is not None and weights.shape == (n,):
                weights = np.where(piled, 1.0, weights)
        if weights.shape != (n,) or not np.all(np.isfinite(weights) & (weights > 0)):
            raise InvalidParameter(
                f"solver 'psvdd': weights must be one finite bound > 0 for each of the {n} samples, got {weights}"
            )
        total = float(weights.sum())
        if total < 1.0 - 1e-12:
            raise InvalidParameter(f"solver 'psvdd': weights must sum to 1 at least, got {total:g}")
        return tuple(np.minimum(weights, 1.0).tolist())

    def bounded(self, squared_distances: Array, rounding: float, piled: Mask | None = None) -> Svdd:
        """`svdd` with the bounds W of the squared distances."""
        weights = self.bounds(squared_distances, rounding, piled)
        return Svdd(C=1.0, weights=weights, tol=self.tol, max_iter=self.max_iter, cache_mb=self.cache_mb)


def _evaluated(function: Callable[[Array], Array], distances: Array) -> Array:
    """The bounds that a function gives for distances."""
    try:
        return np.asarray(function(distances), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(
            f"solver 'psvdd': weights must be a function of the array of distances (n,) that returns as many bounds, "
            f"and {getattr(function, '__name__', function)!r} raised {type(error).__name__}: {error}"
        ) from error


def _prepare_kernel(solver: Psvdd, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """Squared distances in the space of a kernel: row sums of the kernel matrix, which is never stored."""
    points = np.ascontiguousarray(space.points, dtype=np.float64)
    means = space.kernel.weighted_sum(points, points, np.full(space.n, 1.0 / space.n))
    diag = space.kernel.diag(points)
    rounding = 64.0 * float(np.finfo(np.float64).eps) * float(diag.max())
    return _prepare(solver, space, task, rng, diag - 2.0 * means + means.mean(), rounding, _piled(space.kernel, points))


def _piled(kernel: Kernel, points: Array) -> Mask | None:
    """Which rows are equal to others, (n,), where rows lie at few points whose kernels do not meet; None elsewhere."""
    if few_points(points) is None:
        return None
    distinct, inverse, counts = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    K = np.abs(kernel(distinct, distinct))  # (p, p)
    if (K - np.diag(np.diag(K))).max() > MEETING * np.diag(K).min():
        return None
    return np.asarray(counts[inverse.reshape(-1)] > 1)


def _prepare_features(solver: Psvdd, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """Squared distances of features from their mean."""
    return _prepare(solver, space, task, rng, FeatureMatrix.of(space).diag, 0.0)


def _prepare(
    solver: Psvdd, space: Space, task: Task, rng: Rng, squares: Array, rounding: float, piled: Mask | None = None
) -> Prepared:
    sphere = solver.bounded(squares, rounding, piled).prepare(space, task, rng)
    assert isinstance(sphere, PreparedSvdd)
    return PreparedPsvdd(squares, rounding, sphere, piled)


@final
@attrs.frozen(eq=False)
class PreparedPsvdd(Prepared):
    """The dual problem with bounds by position; `Resumable`.

    Parameters
    ----------
    squared_distances : ndarray of shape (n,)
        Squared distances from the mean in feature space.
    rounding : float
        Largest rounding error of these.
    sphere : PreparedSvdd
    piled : ndarray of shape (n,) or None
        Rows whose bound is 1 whatever their distance.
    """

    squared_distances: Array
    rounding: float
    sphere: PreparedSvdd
    piled: Mask | None = None

    @property
    def resolved(self) -> Mapping[str, object]:
        """Empty: the bounds are n numbers, too many to report."""
        return {}

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Domain:
        """The contour; nothing is random in it."""
        return self.sphere.solve(targets, previous, rng)

    def resolve(self, spec: Psvdd, previous: Outcome) -> Domain:
        """The contour for other parameters, started from a previous outcome on the same samples."""
        return self.sphere.resolve(spec.bounded(self.squared_distances, self.rounding, self.piled), previous)

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        """The dual to be minimised, as for `svdd`."""
        return self.sphere.objective(targets, outcome)
