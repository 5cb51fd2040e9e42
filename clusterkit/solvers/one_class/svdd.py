"""Support vector data description: the smallest sphere in feature space around all samples but outliers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core.coding import Coded
from clusterkit.core.errors import ClusterkitWarning, InvalidParameter
from clusterkit.core.outcomes import Domain, FunctionDomain, KernelDomain, Outcome, Status, SupportCounts
from clusterkit.core.params import choice, integer, real
from clusterkit.core.spaces import FeatureSpace, KernelSpace, Space
from clusterkit.core.stages import Path, Prepared, Solver, Task
from clusterkit.solvers.one_class._gram_columns import FeatureMatrix
from clusterkit.solvers.one_class._problem import GaussianDual, MatrixDual, dual_of
from clusterkit.solvers.one_class._sphere import SUM_TOLERANCE, KernelPower, MinusSquaredDistance, Sphere

if TYPE_CHECKING:
    from clusterkit.solvers.one_class._smo_any_kernel_jit import Minimum

__all__ = ["Svdd"]

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

    The mathematics is in `minimise_gaussian` of one_class/_working_sets.py and the pair step in `_move` of
    one_class/_smo_gaussian_jit.py; for other kernels and for features the step is in `_move` of
    one_class/_smo_any_kernel_jit.py.

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
    precision : {"float64", "float32"}, default "float64"
        Type in which the Gaussian kernel is summed. "float32" changes β by about 1e-6 and is up to twice as fast
        on many samples; `tol` below 1e-6 may then not be reached. Sums at the support vectors are in float64 in any
        case. It has no effect on other kernels and on features.

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
    precision: str = choice("float64", ("float64", "float32"))

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
    return PreparedSvdd(solver, space, dual_of(space, solver.precision), C, bounds)


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
        dual = self.dual if spec.precision == self.solver.precision else dual_of(self.space, spec.precision)
        return PreparedSvdd(spec, self.space, dual, C, bounds)._domain_from(previous)

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
