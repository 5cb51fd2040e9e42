"""Support vector data description: the smallest sphere in feature space around all samples but outliers.

The dual on the samples of one space, with its variables, its start and its solution, is `GaussianDual`; it is minimised
in ``_working_sets.py``. `EnclosingSphere` has the radius.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task
from clusterkit.contracts.outcomes import KernelDomain, Outcome, Status, SupportCounts
from clusterkit.contracts.params import integer, real
from clusterkit.errors import ClusterkitWarning, InvalidData, InvalidParameter
from clusterkit.numerics.selection import distinct_rows
from clusterkit.samples import KernelSpace, Space, memory
from clusterkit.samples.coding import Coded
from clusterkit.samples.kernels import Gaussian

if TYPE_CHECKING:
    from clusterkit.families.support_vectors._steps_jit import Minimum


def gaussian_of(space: KernelSpace, solver: str) -> Gaussian:
    """The kernel of a space; raises InvalidData, which names the solver, unless it is Gaussian."""
    if not isinstance(space.kernel, Gaussian):
        raise InvalidData(
            f"solver '{solver}' needs a Gaussian kernel, and this space has a {type(space.kernel).__name__}: "
            "use featuremap 'rbf'"
        )
    return space.kernel


@final
@attrs.frozen(eq=False)
class GaussianDual:
    """The dual of a Gaussian kernel over the distinct samples; ``_working_sets.minimise_gaussian``.

    Equal samples are one variable, whose bound is the sum of their bounds. Only the sum of their β is determined; each
    of the equal samples gets a part of it in proportion to its bound.

    Parameters
    ----------
    centres : ndarray of shape (u, d), float64
        The distinct samples, in order of first appearance.
    inverse : ndarray of shape (n,) or None
        Index of each sample among the distinct ones; None if no two are equal.
    kernel : Gaussian
    """

    centres: Array
    inverse: Indices | None
    kernel: Gaussian

    @classmethod
    def of(cls, points: Array, kernel: Gaussian) -> GaussianDual:
        """The dual of samples (n, d); O(n d)."""
        centres = np.ascontiguousarray(points, dtype=np.float64)
        inverse = None
        first, where = distinct_rows(centres)
        if len(first) < len(centres):
            centres, inverse = centres[first], where
        return cls(centres, inverse, kernel)

    def minimise(self, bounds: Array, tol: float, max_iter: int, cache_bytes: int) -> Minimum:
        """The solution for all samples."""
        from clusterkit.families.support_vectors._working_sets import minimise_gaussian

        distinct_bounds = bounds if self.inverse is None else np.minimum(self._sums(bounds), 1.0)
        pool_bytes = min(cache_bytes, memory.cap())
        minimum = minimise_gaussian(self.centres, self.kernel, distinct_bounds, tol, max_iter, pool_bytes)
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


SUM_TOLERANCE = 1e-12
"""Largest difference from 1 of a sum of bounds that counts as rounding; then only one β is feasible."""

BOUND_TOLERANCE = 1e-9
"""Distance from 0 or from the bound, relative to the bound, within which a β counts as being there: three digits above
the distance at which solvers put it exactly there."""


@final
@attrs.frozen(eq=False)
class EnclosingSphere:
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
    def of(cls, beta: Array, gradient: Array, bounds: Array) -> EnclosingSphere:
        """The sphere of a solution.

        Its radius is the distance of the outermost free support vector; without a free one, the squared radius is
        midway between the inner and the bounded samples.
        """
        margin = BOUND_TOLERANCE * bounds
        length2 = float(beta @ (gradient + 1.0)) / 2.0
        distances = length2 - gradient  # (n,): R²(x_i), since the gradient is 2 K β - 1
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


DEFAULT_C = 1.0
"""C without a parameter: no sample is an outlier."""

SMALLEST_TOLERANCE = 1e-12
"""Smallest tolerance for the slack of the level: below it rounding decides which samples lie outside."""


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
    `_move_gaussian` of _steps_jit.py.

    Choose it for clusters of any shape and unknown number. For a Gaussian kernel it minimises ``β'Kβ`` over
    ``Σ β_i = 1``, ``0 <= β_i <= C`` by sequential minimal optimisation. Samples with ``β_i > 0`` support the
    contour, those with ``β_i = C < 1`` lie outside. It takes about ``n s`` kernel values for s support vectors (at
    least ``1 / C``) and O(n d) memory.

    Parameters
    ----------
    C : float or None, default None
        Upper bound of every β_i, at least 1 / n. From 1 on (None means 1) there are no outliers.
    nu : float or None, default None
        Takes the place of `C` and overrides it: ``C = 1 / (n nu)`` with 0 < nu <= 1. At most a fraction `nu` of the
        samples are outliers, and at least that many are support vectors.
    tol : float, default 1e-6
        Optimality gap, as a difference of squared radii, which are in [0, 1).
    max_iter : int or None, default None
        Most pairs moved; None means ``max(10**7, 100 n)``. A warning with the gap is issued if the search ends there.
    weights : sequence of n floats or None, default None
        Factors > 0 of the bounds: ``β_i <= C weights_i``. Stored as a tuple.
    cache_mb : int, default 200
        Memory in MiB for columns of the kernel matrix of one working set.

    Raises
    ------
    InvalidParameter
        Before any work, if ``C < 1 / n`` (with weights ``C < 1 / Σ weights``), because no β can sum to 1 then.
    InvalidData
        For a kernel that is not Gaussian.

    Notes
    -----
    The outcome is a `KernelDomain` whose value is ``Σ β_s k(x_s, x)``.

    The level lies below the outermost free support vector by a slack of tol / 2, so that rounding puts no
    support vector outside its contour. ``C = 1 / n`` leaves the radius undetermined: it is taken as 0, and every
    sample is an outlier. float32 points are converted to float64 for the kernel sums.

    Equal samples are one variable, and random samples of the rows give the start. Neither
    changes the optimum: the optimality gap is measured over all samples. `Status.n_iter` counts the pairs moved,
    ``facts["rounds"]`` the working sets chosen from all samples.

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
        """Gaussian kernels."""
        return {KernelSpace: Path(_prepare, gives=KernelDomain)}

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


def _prepare(solver: Svdd, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """The dual of a kernel: equal samples are merged; no kernel value is computed before the first solve."""
    C, bounds = solver.bounds(space.n)
    return PreparedSvdd(solver, GaussianDual.of(space.points, gaussian_of(space, solver.name)), C, bounds)


@final
@attrs.frozen(eq=False)
class PreparedSvdd(Prepared):
    """The dual problem of a space.

    Parameters
    ----------
    solver : Svdd
    dual : GaussianDual
    C : float
    bounds : ndarray of shape (n,)
        Upper bounds of β.
    """

    solver: Svdd
    dual: GaussianDual
    C: float
    bounds: Array

    @property
    def resolved(self) -> Mapping[str, object]:
        """C, where it comes from `nu` or from the default."""
        return {} if self.solver.C is not None and self.solver.nu is None else {"C": self.C}

    def minimise(self) -> Minimum:
        """The solution of the dual."""
        max_iter = self.solver.max_iter or max(10**7, 100 * len(self.bounds))
        return self.dual.minimise(self.bounds, self.solver.tol, max_iter, self.solver.cache_mb * 2**20)

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> KernelDomain:
        """The contour; nothing is random in it."""
        minimum = self.minimise()
        sphere = EnclosingSphere.of(minimum.beta, minimum.gradient, self.bounds)
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
        history = (sphere.length2,)
        status = attrs.evolve(status, history=history, facts=facts)
        n_support = int(np.count_nonzero(minimum.beta))
        bound = self.C if self.solver.weights is None else None
        return self._domain(minimum.beta, sphere, status, SupportCounts(n_support, sphere.n_bounded, bound))

    def _domain(self, beta: Array, sphere: EnclosingSphere, status: Status, counts: SupportCounts) -> KernelDomain:
        """The region inside the sphere, enlarged by the slack of the level."""
        slack = max(SMALLEST_TOLERANCE, self.solver.tol) / 2.0
        centres, weights = self.dual.domain_parts(beta)
        level = (1.0 + sphere.length2 - sphere.radius2) / 2.0
        level -= min(slack, 1e-3 * level)
        return KernelDomain(centres, weights, self.dual.kernel, level=level, status=status, support_counts=counts)
