"""Support vector data description: the smallest sphere in feature space around all samples but outliers.

The dual on the samples of one space, with its variables, its start and its solution, is `GaussianDual` or `MatrixDual`;
it is minimised in ``_working_sets.py`` for a Gaussian kernel and in ``_steps_jit.py`` otherwise. `Sphere` has the
radius, and `MinusSquaredDistance` and `KernelPower` are the functions of the input space whose level sets it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task
from clusterkit.contracts.outcomes import Domain, FunctionDomain, KernelDomain, Outcome, Status, SupportCounts
from clusterkit.contracts.params import integer, real
from clusterkit.errors import ClusterkitWarning, InvalidParameter
from clusterkit.families.support_vectors._gram import FeatureMatrix, KernelMatrix
from clusterkit.numerics.selection import distinct_rows
from clusterkit.numerics.shapes import array
from clusterkit.numerics.sparse_rows import as_rows
from clusterkit.samples import FeatureSpace, KernelSpace, Space, memory
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    as_type,
    is_device_array,
    row_chunks,
    row_squares,
    to_device_of,
)
from clusterkit.samples.coding import Coded
from clusterkit.samples.kernels import Gaussian, Kernel
from clusterkit.samples.transform import RowMap, block_plan

if TYPE_CHECKING:
    from clusterkit.families.support_vectors._steps_jit import Minimum

__all__ = [
    "GaussianDual",
    "KernelPower",
    "MatrixDual",
    "MinusSquaredDistance",
    "Sphere",
    "Svdd",
    "dual_of",
]


LEAST_SHARED_WEIGHT = 0.5
"""A previous solution serves as the start only if at least this part of its weights belongs to present samples and
fits below their bounds: with less, samples give a better start."""

ROUNDING = 1e-9
"""Largest difference from 1 of a sum of weights that counts as rounding."""


def dual_of(space: KernelSpace | FeatureSpace) -> GaussianDual | MatrixDual:
    """The dual of a space: in centred features, of a Gaussian kernel, or of any other kernel."""
    if isinstance(space, FeatureSpace):
        return MatrixDual(FeatureMatrix.of(space), space.points)
    if isinstance(space.kernel, Gaussian):
        return GaussianDual.of(space.points, space.kernel)
    return MatrixDual(KernelMatrix.of(space), space.points)


@final
@attrs.frozen(eq=False)
class MatrixDual:
    """The dual of any kernel or of features, solved from columns of the matrix; ``_steps_jit.minimise``.

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
        from clusterkit.families.support_vectors._steps_jit import minimise

        return minimise(self.matrix, bounds, self.start(bounds), tol, max_iter, cache_bytes)

    def start(self, bounds: Array) -> Array:
        """All weight on the samples nearest to the mean of the coordinates: the order of the samples has no effect."""
        from clusterkit.families.support_vectors._steps_jit import filled_in_order

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
    kernel : Gaussian
    pools : dict
        Kernel columns of all points, for solutions with other bounds.
    """

    centres: Array
    inverse: Indices | None
    n: int
    kernel: Gaussian
    pools: dict[str, Any] = attrs.field(factory=dict)

    @classmethod
    def of(cls, points: Array, kernel: Gaussian) -> GaussianDual:
        """The dual of samples (n, d); O(n d)."""
        centres = as_rows(points, np.float64)
        n, inverse = len(centres), None
        first, where = distinct_rows(centres)
        if len(first) < n:
            centres, inverse = centres[first], where
        return cls(centres, inverse, n, kernel)

    @property
    def diag(self) -> Array:
        """Ones, (n,)."""
        return np.ones(self.n)

    def minimise(
        self, bounds: Array, tol: float, max_iter: int, cache_bytes: int, previous: Outcome | None = None
    ) -> Minimum:
        """The solution for all samples, started from a previous outcome or else from random samples."""
        from clusterkit.families.support_vectors._working_sets import minimise_gaussian

        distinct_bounds = bounds if self.inverse is None else np.minimum(self._sums(bounds), 1.0)
        start = None if previous is None else self._start(previous, distinct_bounds)
        minimum = minimise_gaussian(
            self.centres, self.kernel, distinct_bounds, tol, max_iter, min(cache_bytes, memory.cap()), start=start,
            pools=self.pools,
        )  # fmt: skip
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
        from clusterkit.families.support_vectors._steps_jit import filled_in_order
        from clusterkit.numerics.structures_jit import find_rows

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
                # The missing weight (of previous samples that are gone, or cut off at the new bounds) goes to the
                # samples with the smallest previous value, the outermost first, each up to its bound.
                order = np.argsort(previous.value(self.centres), kind="stable")
            else:
                order = np.argsort(-np.where(beta > 0.0, room, 0.0), kind="stable")
            beta = np.minimum(beta + filled_in_order(order, room, 1.0 - total), bounds)
        return beta


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
        Map from coordinates to features h.
    centre : ndarray of shape (L,)
    dtype : numpy dtype
        Type of the training data, in which rows are mapped.
    """

    mapping: RowMap
    centre: Array = attrs.field(validator=array("L"))
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
        β of the support vectors.
    kernel : Kernel
    """

    centres: Array = attrs.field(validator=array("s d"))
    weights: Array = attrs.field(validator=array("s"))
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


DEFAULT_C = 1.0
"""C without a parameter: no sample is an outlier."""

SMALLEST_TOLERANCE = 1e-12
"""Least tolerance for the slack of the level: below it rounding decides which samples lie outside."""


def _as_tuple(value: Any) -> Any:
    """A sequence of numbers as a tuple of floats; anything else unchanged, for the validator to refuse."""
    try:
        return None if value is None else tuple(float(weight) for weight in value)
    except (TypeError, ValueError):
        return value


def _check_weights(instance: Svdd, attribute: attrs.Attribute[Any], value: Any) -> None:
    fine = value is None or (
        isinstance(value, tuple)
        and value
        and all(isinstance(weight, float) and np.isfinite(weight) and weight > 0 for weight in value)
    )
    if not fine:
        raise InvalidParameter(
            f"solver 'svdd': weights must be one finite factor > 0 for each sample or None, got {value!r}"
        )


@final
@attrs.frozen
class Svdd(Solver):
    """The smallest enclosing sphere with slack; its contour in the input space bounds the clusters.

    The mathematics is in `minimise_gaussian` of _working_sets.py and the pair step in
    `_move_gaussian` of _steps_jit.py; for other kernels and for features the step is in `_move` of
    _steps_jit.py.

    Choose it for clusters of any shape and unknown number. It minimises ``β'Kβ - Σ K_ii β_i`` over
    ``Σ β_i = 1``, ``0 <= β_i <= C`` by sequential minimal optimisation. Samples with ``β_i > 0`` support the
    contour, those with ``β_i = C < 1`` lie outside. With the Gaussian kernel about ``n s`` kernel values for s
    support vectors (at least ``1 / C``) and O(n d) memory; with other kernels and features O(n) an iteration plus
    columns of the matrix, in all between O(n²) and O(n³).

    Parameters
    ----------
    C : float or None, default None
        Upper bound of every β_i, at least 1 / n. From 1 on (None means 1) there are no outliers.
    nu : float or None, default None
        Takes the place of `C` and overrides it: ``C = 1 / (n nu)`` with 0 < nu <= 1. At most a fraction `nu` of the
        samples are outliers, and at least that many are support vectors.
    tol : float, default 1e-6
        Optimality gap, as a difference of squared radii; the Gaussian kernel has squared radii in [0, 1). For
        other kernels and for features it is relative to the largest squared length (of centred features).
    max_iter : int or None, default None
        Most pairs moved; None means ``max(10**7, 100 n)``. A warning with the gap is issued if the search ends there.
    weights : sequence of n floats or None, default None
        Factors > 0 of the bounds: ``β_i <= C weights_i``. Stored as a tuple.
    cache_mb : int, default 200
        Memory in MiB for columns of the kernel matrix: with the Gaussian kernel those of one working set, else those
        of all samples (the whole matrix is computed at once where it fits).

    Raises
    ------
    InvalidParameter
        Before any work, if ``C < 1 / n`` (with weights ``C < 1 / Σ weights``), because no β can sum to 1 then.

    Notes
    -----
    Outcomes: for the Gaussian kernel a `KernelDomain` whose value is ``Σ β_s k(x_s, x)``; for kernels without a
    constant diagonal a `FunctionDomain`; for explicit features, with the linear kernel, a `FunctionDomain` whose value
    is minus the squared distance to the centre.

    The level lies below the outermost free support vector by a slack of tol / 2, so that rounding puts no
    support vector outside its contour. ``C = 1 / n`` leaves the radius undetermined: it is taken as 0, and every
    sample is an outlier. float32 points are converted to float64 for the kernel sums.

    With the Gaussian kernel equal samples are one variable, and random samples of the rows give the start. Neither
    changes the optimum: the optimality gap is measured over all samples. `PreparedSvdd` is `Resumable`: ``resolve``
    solves for another C or nu from a previous outcome, ``solve`` takes the outcome of another width
    (`KernelSpace.rescaled`). `Status.n_iter` counts the pairs moved, ``facts["rounds"]`` the working sets chosen from
    all samples.

    References
    ----------
    Tax, Duin (2004), Support vector data description, Machine Learning 54, eqs. (5)-(9): the dual.
    Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2, section 2: the contour.
    Fan, Chen, Lin (2005), Working set selection using second order information, JMLR 6, WSS 2.
    Joachims (1999), Making large-scale support vector machine learning practical: the decomposition.
    """

    name: ClassVar[str] = "svdd"
    synonyms: ClassVar[tuple[str, ...]] = ("smo", "one_class_svm", "ocsvm", "support_vector_data_description")
    tunable: ClassVar[frozenset[str]] = frozenset({"C", "nu"})
    has_objective: ClassVar[bool] = True

    C: float | None = real(None, above=0.0, optional=True)
    nu: float | None = real(None, above=0.0, at_most=1.0, optional=True)
    tol: float = real(1e-6, above=0.0)
    max_iter: int | None = integer(None, at_least=1, optional=True)
    weights: tuple[float, ...] | None = attrs.field(
        default=None,
        converter=_as_tuple,
        validator=_check_weights,
        metadata={"invalid": (3.0, (), (1.0, 0.0), (1.0, np.nan), "heavy")},
    )
    cache_mb: int = integer(200, at_least=1)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Kernels, and features with the linear kernel."""
        return {
            KernelSpace: Path(_prepare_kernel, gives=KernelDomain, sparse=True),
            FeatureSpace: Path(_prepare_features, gives=FunctionDomain),
        }

    def bounds(self, n: int) -> tuple[float, Array]:
        """C, from `C` or `nu`, and the upper bounds of β, (n,), none above 1.

        Raises
        ------
        InvalidParameter
            If the weights do not fit the data, or the bounds sum to less than 1.
        """
        weights = np.ones(n) if self.weights is None else np.array(self.weights)
        if len(weights) != n:
            raise InvalidParameter(
                f"solver 'svdd': weights must have one value for each of the {n} samples, got {len(weights)}"
            )
        total = float(weights.sum())
        least = "1/n" if self.weights is None else "1/sum(weights)"
        C = DEFAULT_C if self.C is None else float(self.C)
        if self.nu is not None:
            C = 1.0 / (total * self.nu)
        if C * total < 1.0 - SUM_TOLERANCE:
            raise InvalidParameter(
                f"solver 'svdd': C must be >= {least} = {1.0 / total:.6g} for these {n} samples, got {C:g}"
            )
        return C, np.minimum(C * weights, 1.0)


def _prepare_kernel(solver: Svdd, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """The dual of a kernel: equal samples are merged; no kernel value is computed before the first solve."""
    return _prepare(solver, space)


def _prepare_features(solver: Svdd, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """The dual of features: their mean and squared lengths, two passes."""
    return _prepare(solver, space)


def _prepare(solver: Svdd, space: KernelSpace | FeatureSpace) -> Prepared:
    C, bounds = solver.bounds(space.n)
    return PreparedSvdd(solver, space, dual_of(space), C, bounds)


@final
@attrs.frozen(eq=False)
class PreparedSvdd(Prepared):
    """The dual problem of a space; `Resumable`.

    Parameters
    ----------
    solver : Svdd
    space : KernelSpace or FeatureSpace
    dual : GaussianDual or MatrixDual
    C : float
    bounds : ndarray of shape (n,)
        Upper bounds of β.
    """

    solver: Svdd
    space: KernelSpace | FeatureSpace
    dual: GaussianDual | MatrixDual
    C: float
    bounds: Array

    @property
    def resolved(self) -> Mapping[str, object]:
        """C, where it comes from `nu` or from the default."""
        return {} if self.solver.C is not None and self.solver.nu is None else {"C": self.C}

    @property
    def scale(self) -> float:
        """The largest K_ii, to which `tol` is relative: 1 for the Gaussian kernel."""
        return float(self.dual.diag.max())

    def minimise(self, previous: Outcome | None = None) -> Minimum:
        """The solution of the dual."""
        return self.dual.minimise(
            self.bounds,
            self.solver.tol * self.scale,
            self.solver.max_iter or max(10**7, 100 * len(self.bounds)),
            self.solver.cache_mb * 2**20,
            previous,
        )

    def resolve(self, spec: Svdd, previous: Outcome) -> Domain:
        """The contour for other parameters, such as another C, started from a previous outcome on the same samples."""
        C, bounds = spec.bounds(self.space.n)
        return PreparedSvdd(spec, self.space, self.dual, C, bounds)._domain_from(previous)

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Domain:
        """The contour; nothing is random in it. A previous outcome, of another width or C, serves as the start."""
        return self._domain_from(previous)

    def _domain_from(self, previous: Outcome | None) -> Domain:
        minimum = self.minimise(previous)
        sphere = Sphere.of(minimum.beta, minimum.gradient, self.dual.diag, self.bounds)
        status = minimum.status
        if not status.converged and not status.interrupted:
            warnings.warn(
                f"solver 'svdd' stopped after {status.n_iter} iterations: {status.reason}",
                ClusterkitWarning,
                stacklevel=2,
            )
        facts = {
            "gap": minimum.gap,
            "radius2": sphere.radius2,
            "degenerate": sphere.degenerate,
            "rounds": minimum.rounds,
        }
        # The Gaussian kernel has K_ii = 1: its linear term is the constant 1, left out as in the literature.
        linear = 0.0 if isinstance(self.dual, GaussianDual) else float(minimum.beta @ self.dual.diag)
        history = (sphere.length2 - linear,)
        status = attrs.evolve(status, history=history, facts=facts)
        n_support = int(np.count_nonzero(minimum.beta))
        bound = self.C if self.solver.weights is None else None
        return self._domain(minimum.beta, sphere, status, SupportCounts(n_support, sphere.n_bounded, bound))

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        """The dual to be minimised: ``β'Kβ``, less ``Σ K_ii β_i`` unless the kernel is Gaussian."""
        return None if outcome.status is None else np.array(outcome.status.history)

    def _domain(self, beta: Array, sphere: Sphere, status: Status, counts: SupportCounts) -> Domain:
        """The region inside the sphere, enlarged by the slack of the level."""
        slack = max(SMALLEST_TOLERANCE, self.solver.tol) / 2.0 * self.scale
        if isinstance(self.dual, GaussianDual):
            centres, weights = self.dual.domain_parts(beta)
            level = (1.0 + sphere.length2 - sphere.radius2) / 2.0
            level -= min(slack, 1e-3 * level)
            return KernelDomain(centres, weights, self.dual.kernel, level=level, status=status, support_counts=counts)
        matrix, support = self.dual.matrix, np.flatnonzero(beta)
        supports = self.dual.points[support]
        if isinstance(matrix, FeatureMatrix):
            space = matrix.space
            centre = matrix.mean + matrix.combination(beta)
            # Features of new rows are computed in blocks of other shapes: allow for the rounding of a distance.
            longest = np.sqrt(self.scale)
            error = 64.0 * np.finfo(space.dtype).eps * (np.linalg.norm(matrix.mean) + longest)
            level = -sphere.radius2 - slack - error * (2.0 * longest + error)
            distance = MinusSquaredDistance(space.mapping, centre, space.dtype)
            return FunctionDomain(distance, level=float(level), supports=supports, status=status, support_counts=counts)
        power = KernelPower(matrix.space.points[support], beta[support], matrix.kernel)
        level = sphere.length2 - sphere.radius2 - slack
        return FunctionDomain(power, level=level, supports=supports, status=status, support_counts=counts)
