"""Shared code of `svm` and `svr`: inner products about the mean, scores from dual variables, the call of LIBSVM.

A machine with a free bias does not change when all samples are shifted by one vector, and its scores without the bias
equal those of the differences from the mean, which add up to 0. On features the inner products are also computed of
these differences, so that an offset of the data costs no digits.
"""

from __future__ import annotations

import warnings
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.contracts import Prepared
from clusterkit.contracts.outcomes import Extension, KernelRows, Outcome, Scores
from clusterkit.errors import ClusterkitWarning, InvalidData
from clusterkit.numerics.losses import best_bias, loss_of
from clusterkit.numerics.shapes import array, scalar
from clusterkit.samples import FeatureSpace, KernelSpace, memory
from clusterkit.samples.coding import Coded
from clusterkit.samples.transform import Transform


@final
@attrs.frozen(eq=False)
class WeightedLoss:
    """A loss function and its weight C.

    Parameters
    ----------
    name : str
        One of `clusterkit.numerics.losses.LOSSES`.
    C : float
    epsilon : float
        Residual without loss, for "epsilon".
    """

    name: str
    C: float
    epsilon: float = 0.0

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array:
        """``|w|²/2 + C Σ loss`` at the best bias, (1,); the square loss is halved."""
        assert targets is not None
        assert isinstance(outcome, Scores)
        assert isinstance(outcome.carry, SquaredNorm)
        y, g = signs(targets), outcome.rows[:, 0].astype(np.float64)
        residual = g + best_bias(g, y, self.name, self.epsilon) - y
        weight = 0.5 * self.C if self.name == "square" else self.C
        return np.array([0.5 * outcome.carry.norm + weight * loss_of(residual, y, self.name, self.epsilon)])


@final
@attrs.frozen(eq=False)
class SquaredNorm:
    """The part of an outcome that the objective needs besides the scores.

    Parameters
    ----------
    norm : float
        |w|².
    """

    norm: float


@final
@attrs.frozen(eq=False)
class CentredRows:
    """Scores ``(h(Y) - origin) B`` of new rows.

    Parameters
    ----------
    transform : Transform
    origin : ndarray of shape (L,)
    coefficients : ndarray of shape (L, q)
    """

    transform: Transform
    origin: Array = attrs.field(validator=array("L"))
    coefficients: Array = attrs.field(validator=array("L q"))

    def __call__(self, Y: Array) -> Array:
        """Scores of raw rows, (m, d) to (m, q), in blocks."""
        scores = np.empty((len(Y), self.coefficients.shape[1]), dtype=self.transform.dtype)
        for rows, H in self.transform.blocks(Y):
            scores[rows] = (H - self.origin) @ self.coefficients
        return scores

    def columns(self, index: slice | Indices) -> CentredRows:
        """The extension with some columns of the coefficients."""
        return attrs.evolve(self, coefficients=self.coefficients[:, index])


@final
@attrs.frozen(eq=False)
class CentredKernelRows:
    """Kernel sums of new rows, less the mean of the kernel sums of the training samples.

    Parameters
    ----------
    sums : KernelRows
    mean : float
    """

    sums: KernelRows
    mean: float = attrs.field(validator=scalar())

    def __call__(self, Y: Array) -> Array:
        """Scores of raw rows, (m, d) to (m, q)."""
        return self.sums(Y) - self.mean

    def columns(self, index: slice | Indices) -> CentredKernelRows:
        """The extension with some columns of the coefficients."""
        return attrs.evolve(self, sums=self.sums.columns(index))


@final
@attrs.frozen(eq=False)
class CentredFeatures:
    """Explicit features, less their mean.

    Parameters
    ----------
    space : FeatureSpace
    origin : ndarray of shape (L,)
        Mean of all samples, in the type of the data.
    """

    space: FeatureSpace
    origin: Array

    @classmethod
    def of(cls, space: FeatureSpace) -> CentredFeatures:
        """The features of a space about their mean: one pass."""
        return cls(space, space.mean().astype(space.dtype))

    def products(self) -> Array:
        """Inner products of the samples, (n, n), float64."""
        n = self.space.n
        memory.require(
            8 * n * n,
            f"the {n} x {n} matrix of inner products",
            "Use fewer rows, or solver 'ridge', whose cost is linear in them.",
        )
        H = self.space.rows().astype(np.float64)
        H -= self.origin
        return H @ H.T

    def gram(self) -> Array:
        """H'H, (L, L), float64."""
        total = np.zeros((self.space.width, self.space.width))
        for _, H in self.space.blocks():
            part = (H - self.origin).astype(np.float64, copy=False)
            total += part.T @ part
        return total

    def combined(self, alpha: Array) -> Array:
        """H'α for α (n,), (L, 1), float64."""
        total = np.zeros((self.space.width, 1))
        for rows, H in self.space.blocks():
            total[:, 0] += (H - self.origin).astype(np.float64, copy=False).T @ alpha[rows]
        return total

    def scores(self, B: Array) -> tuple[Array, Extension]:
        """Scores of the samples (n, 1) for coefficients B (L, 1), by the same products as in prediction."""
        extend = CentredRows(self.space.transform, self.origin, B.astype(self.space.dtype))
        rows = np.empty((self.space.n, B.shape[1]), dtype=self.space.dtype)
        for block, H in self.space.blocks():
            rows[block] = (H - self.origin) @ extend.coefficients
        return rows, extend

    def outcome(self, alpha: Array) -> tuple[Array, Extension]:
        """Scores from dual variables (n,)."""
        return self.scores(self.combined(alpha))


@final
@attrs.frozen(eq=False)
class StoredKernel:
    """The kernel matrix as inner products.

    Parameters
    ----------
    space : KernelSpace
    K : ndarray of shape (n, n), float64
    """

    space: KernelSpace
    K: Array

    @classmethod
    def of(cls, space: KernelSpace) -> StoredKernel:
        """The kernel matrix, if the memory cap allows it."""
        return cls(space, space.gram().astype(np.float64, copy=False))

    def products(self) -> Array:
        """Inner products of the samples, (n, n), float64."""
        return self.K

    def outcome(self, alpha: Array) -> tuple[Array, Extension]:
        """Scores from dual variables (n,); prediction needs the support vectors only."""
        space = self.space
        supports = np.flatnonzero(alpha)
        supports = supports if len(supports) else np.zeros(1, dtype=np.intp)
        g = self.K @ alpha
        # A smooth kernel is nearly constant: the part of the scores that all samples share is a rounding error of
        # large sums.
        mean = float(g.mean())
        sums = KernelRows(space.coordinates, space.points[supports], space.kernel, alpha[supports, None])
        return (g - mean)[:, None].astype(space.dtype, copy=False), CentredKernelRows(sums, mean)


@final
@attrs.frozen(eq=False)
class PreparedMachine(Prepared):
    """scikit-learn's support vector machine on the matrix of inner products.

    Parameters
    ----------
    solver : str
        Name of the solver, for warnings.
    geometry : CentredFeatures or StoredKernel
    K : ndarray of shape (n, n)
        Inner products of the samples.
    loss : WeightedLoss
    tol : float
    max_iter : int
    """

    solver: str
    geometry: CentredFeatures | StoredKernel
    K: Array
    loss: WeightedLoss
    tol: float
    max_iter: int

    @property
    def objective_factor(self) -> float:
        return self.loss.C

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        assert targets is not None
        y = signs(targets)
        if np.all(y == y[0]):
            return zero_scores(self.geometry, len(y))
        # The first sample always has target +1, so that exchanged labels give exactly opposite scores, bit for bit.
        sign = y[0]
        alpha = sign * self._dual_variables(y * sign)
        with np.errstate(over="ignore", invalid="ignore"):
            rows, extend = self.geometry.outcome(alpha)
            norm = float(alpha @ (self.K @ alpha))
        if not (np.isfinite(norm) and np.isfinite(rows).all()):
            raise self._too_large()
        return Scores(rows, extend, carry=SquaredNorm(norm))

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        with np.errstate(over="ignore", invalid="ignore"):
            objective = self.loss.objective(targets, outcome)
        if not np.isfinite(objective).all():
            raise self._too_large()
        return objective

    def _dual_variables(self, y: Array) -> Array:
        """Dual variables (n,) with sign for targets y = ±1, from LIBSVM."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import SVC, SVR

        shared = {"kernel": "precomputed", "C": self.loss.C, "tol": self.tol, "max_iter": self.max_iter}
        machine = SVC(**shared) if self.loss.name == "hinge" else SVR(epsilon=self.loss.epsilon, **shared)
        with warnings.catch_warnings(record=True) as records:
            warnings.simplefilter("always", ConvergenceWarning)
            fitted = self._fitted(machine, y)
        if any(issubclass(record.category, ConvergenceWarning) for record in records):
            warnings.warn(
                f"solver '{self.solver}' stopped after max_iter = {self.max_iter} steps, before the tolerance "
                f"{self.tol:.2g}; a smaller C or features of unit scale need fewer",
                ClusterkitWarning,
                stacklevel=3,
            )
        alpha = np.zeros(len(y))
        alpha[fitted.support_] = fitted.dual_coef_[0]
        return alpha

    def _fitted(self, machine: Any, y: Array) -> Any:
        """The machine after the fit; inner products so large that LIBSVM loses its numbers are refused."""
        try:
            return machine.fit(self.K, y)
        except ValueError as error:  # scikit-learn finds coefficients that are no finite numbers
            raise self._too_large() from error

    def _too_large(self) -> InvalidData:
        """The error where the coefficients, the scores or the objective leave the floats."""
        return InvalidData(
            f"solver '{self.solver}': coefficients, scores or objective are not finite for inner products up to "
            f"{float(np.abs(self.K).max()):.3g} and C = {self.loss.C:g}. Scale the data first, for example by "
            "featuremap 'minmax', or take a smaller C"
        )


def signs(targets: Coded) -> Array:
    """Targets -1 and +1 of the single start, (n,)."""
    return targets.codebook[targets.labels[0], 0].astype(np.float64)


def zero_scores(geometry: CentredFeatures | StoredKernel, n: int) -> Scores:
    """The outcome where all targets are equal: the bias alone fits them, and all scores are 0."""
    rows, extend = geometry.outcome(np.zeros(n))
    return Scores(rows, extend, carry=SquaredNorm(0.0))
