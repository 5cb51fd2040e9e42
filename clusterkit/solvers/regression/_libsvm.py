"""What `svm` and `svr` share: the matrix of inner products, and scores from dual variables.

A machine with a free bias does not change when the samples move together, and its scores without the bias are those of
differences from the mean: they add up to 0. On features the products are of such differences too, so that an offset of
the data costs no digits.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core import memory
from clusterkit.core.coding import Coded
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.outcomes import Extension, KernelRows, Outcome, Scores
from clusterkit.core.spaces import FeatureSpace, KernelSpace
from clusterkit.core.stages import Prepared
from clusterkit.core.transform import Transform
from clusterkit.numerics.losses import best_bias, loss_of

__all__ = ["Carry", "Features", "Kernels", "Loss", "Machine", "nothing", "signs"]


@final
@attrs.frozen(eq=False)
class Loss:
    """A loss with its weight.

    Parameters
    ----------
    name : str
        One of `clusterkit.numerics.losses.LOSSES`.
    C : float
    epsilon : float
    """

    name: str
    C: float
    epsilon: float = 0.0

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array:
        """``|w|²/2 + C Σ loss`` at the best bias, (1,); half the square."""
        assert targets is not None
        assert isinstance(outcome, Scores)
        assert isinstance(outcome.carry, Carry)
        y, g = signs(targets), outcome.rows[:, 0].astype(np.float64)
        residual = g + best_bias(g, y, self.name, self.epsilon) - y
        weight = 0.5 * self.C if self.name == "square" else self.C
        return np.array([0.5 * outcome.carry.norm + weight * loss_of(residual, y, self.name, self.epsilon)])


@final
@attrs.frozen(eq=False)
class Carry:
    """What the objective takes from an outcome.

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
    origin: Array
    coefficients: Array

    def __call__(self, Y: Array) -> Array:
        """Scores of raw rows, (m, d) to (m, q), in blocks."""
        scores = np.empty((len(Y), self.coefficients.shape[1]), dtype=self.transform.dtype)
        for rows, H in self.transform.blocks(Y):
            scores[rows] = (H - self.origin) @ self.coefficients
        return scores

    def columns(self, index: slice) -> CentredRows:
        """Some columns of the coefficients."""
        return attrs.evolve(self, coefficients=self.coefficients[:, index])


@final
@attrs.frozen(eq=False)
class KernelScores:
    """Kernel sums of new rows about the mean of those of the samples.

    Parameters
    ----------
    sums : KernelRows
    mean : float
    """

    sums: KernelRows
    mean: float

    def __call__(self, Y: Array) -> Array:
        """Scores of raw rows, (m, d) to (m, q)."""
        return self.sums(Y) - self.mean

    def columns(self, index: slice) -> KernelScores:
        """Some columns of the coefficients."""
        return attrs.evolve(self, sums=self.sums.columns(index))


@final
@attrs.frozen(eq=False)
class Features:
    """Explicit features about their mean.

    Parameters
    ----------
    space : FeatureSpace
    origin : ndarray of shape (L,)
        Mean of all samples, in the type of the data.
    """

    space: FeatureSpace
    origin: Array

    @classmethod
    def of(cls, space: FeatureSpace) -> Features:
        """One pass."""
        first: Array | None = None
        total = np.zeros(space.width)
        for _, H in space.blocks():
            first = H[0] if first is None else first
            total += (H - first).sum(axis=0, dtype=np.float64)  # equal samples have a mean that equals them exactly
        assert first is not None
        return cls(space, (first + total / space.n).astype(space.dtype))

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
        """Scores of the samples (n, 1) for coefficients B (L, 1), by the products that predict."""
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
class Kernels:
    """A kernel.

    Parameters
    ----------
    space : KernelSpace
    K : ndarray of shape (n, n), float64
    """

    space: KernelSpace
    K: Array

    @classmethod
    def of(cls, space: KernelSpace) -> Kernels:
        """The kernel matrix, if the memory cap allows it."""
        return cls(space, space.gram().astype(np.float64, copy=False))

    def products(self) -> Array:
        """Inner products of the samples, (n, n), float64."""
        return self.K

    def outcome(self, alpha: Array) -> tuple[Array, Extension]:
        """Scores from dual variables (n,); new rows meet the support vectors only."""
        space = self.space
        supports = np.flatnonzero(alpha)
        supports = supports if len(supports) else np.zeros(1, dtype=np.intp)
        g = self.K @ alpha
        # A smooth kernel is nearly constant: the part of the scores that all samples share is rounding of large sums.
        mean = float(g.mean())
        sums = KernelRows(space.coordinates, space.points[supports], space.kernel, alpha[supports, None])
        return (g - mean)[:, None].astype(space.dtype, copy=False), KernelScores(sums, mean)


@final
@attrs.frozen(eq=False)
class Machine(Prepared):
    """scikit-learn's support vector machine on the matrix of inner products."""

    who: str
    geometry: Features | Kernels
    K: Array
    loss: Loss
    tol: float
    max_iter: int

    @property
    def resolved(self) -> Mapping[str, Any]:
        return {}

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        assert targets is not None
        y = signs(targets)
        if np.all(y == y[0]):
            return nothing(self.geometry, len(y))
        # Renumbered labels give the same numbers with the other sign, bit for bit.
        turned = y[0]
        alpha = turned * self._dual_variables(y * turned)
        rows, extend = self.geometry.outcome(alpha)
        return Scores(rows, extend, carry=Carry(float(alpha @ (self.K @ alpha))))

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        return self.loss.objective(targets, outcome)

    def _dual_variables(self, y: Array) -> Array:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import SVC, SVR

        shared = {"kernel": "precomputed", "C": self.loss.C, "tol": self.tol, "max_iter": self.max_iter}
        machine = SVC(**shared) if self.loss.name == "hinge" else SVR(epsilon=self.loss.epsilon, **shared)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", ConvergenceWarning)
            fitted = machine.fit(self.K, y)
        if any(issubclass(each.category, ConvergenceWarning) for each in said):
            warnings.warn(
                f"solver '{self.who}' stopped after max_iter = {self.max_iter} steps, before the tolerance "
                f"{self.tol:.2g}; a smaller C or features of unit scale need fewer",
                ClusterkitWarning,
                stacklevel=3,
            )
        alpha = np.zeros(len(y))
        alpha[fitted.support_] = fitted.dual_coef_[0]
        return alpha


def signs(targets: Coded) -> Array:
    """Targets -1 and +1 of the one start, (n,)."""
    return targets.codebook[targets.labels[0], 0].astype(np.float64)


def nothing(geometry: Features | Kernels, n: int) -> Scores:
    """Where all targets are equal the bias does it all: scores of 0."""
    rows, extend = geometry.outcome(np.zeros(n))
    return Scores(rows, extend, carry=Carry(0.0))
