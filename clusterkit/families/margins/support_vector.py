"""Support vector machines of the current labels: the classifier of IterSVM, and the regression of IterSVR.

The regression has a bias and is by support vectors or by least squares.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.outcomes import Outcome, Scores
from clusterkit.families.margins._libsvm import (
    CentredFeatures,
    PreparedMachine,
    SquaredNorm,
    StoredKernel,
    WeightedLoss,
    signs,
    zero_scores,
)
from clusterkit.families.margins.ridge import FactorisedSolver, RegularisedInverse, factorise
from clusterkit.samples import FeatureSpace, KernelSpace, Space
from clusterkit.samples.coding import Coded, Coding


@final
@attrs.frozen
class Svm(Solver):
    """Minimises ``|w|²/2 + C Σ max(0, 1 - y_i (w'h_i + b))`` for the labels y = ±1 of two clusters.

    The scores are ``w'h`` about their mean, without the bias b, which the labeler `bias_threshold` chooses. In the loop
    the method is weak, as its authors report: the loss ignores samples classified with confidence, so few labels ever
    change; `svr` does better. scikit-learn's `SVC` is trained in each iteration, on inner products about the mean
    (features) or on the kernel matrix: 8n² bytes, O(n² L) or O(n² d) once, O(n) per step of the quadratic program and
    about n steps per iteration. The program is solved in _libsvm.py (`PreparedMachine.solve`).

    Parameters
    ----------
    C : float, default 1
        Weight of the losses.
    tol : float, default 1e-4
        Largest violation of the optimality conditions at which the solver stops, in units of the targets.
    max_iter : int, default 1000000
        Maximum number of steps per iteration; a warning is issued if it is reached.

    Notes
    -----
    If all labels are equal, the scores are 0. The objective of a labelling is the minimum above; it may rise from one
    iteration to the next, because the labeler bounds the sizes and considers thresholds only.

    References
    ----------
    Zhang, Tsang, Kwok (2007), Maximum margin clustering made practical, ICML; (2009), IEEE Transactions on Neural
    Networks 20(4). Chang, Lin (2011), LIBSVM, ACM Transactions on Intelligent Systems and Technology 2(3).
    """

    name: ClassVar[str] = "svm"
    synonyms: ClassVar[tuple[str, ...]] = ("svc", "hinge", "iter_svm")
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.SIGNED})
    targets: ClassVar[Literal["never", "start", "every_iteration"]] = "every_iteration"
    default_balancer: ClassVar[str | None] = "band"
    default_labeler: ClassVar[str | Mapping[str, object] | None] = {"name": "bias_threshold", "loss": "hinge"}
    has_objective: ClassVar[bool] = True
    accuracy: ClassVar[float] = 3e-3
    C: float = params.real(1.0, above=0)
    tol: float = params.real(1e-4, above=0)
    max_iter: int = params.integer(1_000_000, at_least=1)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The implementations, by the type of the space."""
        return {FeatureSpace: Path(_features, Scores), KernelSpace: Path(_kernel, Scores, square=True)}


def _features(spec: Svm, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    return _machine(spec, CentredFeatures.of(space))


def _kernel(spec: Svm, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    return _machine(spec, StoredKernel.of(space))


def _machine(spec: Svm, geometry: CentredFeatures | StoredKernel) -> Prepared:
    loss = WeightedLoss("hinge", float(spec.C))
    return PreparedMachine(spec.name, geometry, geometry.products(), loss, float(spec.tol), int(spec.max_iter))


@final
@attrs.frozen
class Svr(Solver):
    """Minimises ``|w|²/2 + C Σ loss(w'h_i + b - y_i)`` for the labels y = ±1 of two clusters.

    The scores are ``w'h`` about their mean, without the bias b, which the labeler `bias_threshold` chooses with the
    same loss. A regression loss pulls samples towards their target from both sides, so labels change more easily than
    under the hinge loss of `svm`. scikit-learn's `SVR` is trained in each iteration: 8n² bytes, O(n² L) or O(n² d)
    once, O(n) per step and about n to 10n steps per iteration, more for a large C. With ``loss="square"`` one
    factorisation serves all iterations, O(n³) once and O(n²) per iteration; on features with L <= n no n x n matrix is
    needed: O(n L² + L³) once, O(n L) per iteration. The mathematics is in `PreparedMachine.solve` of
    _libsvm.py, and for the square loss in `_PrimalLeastSquares.solve` and `_DualLeastSquares.solve`.

    Parameters
    ----------
    loss : {"laplacian", "epsilon", "square"}, default "laplacian"
        Loss of a residual r: ``|r|``; ``max(0, |r| - epsilon)``, support vector regression; ``r²/2``, the least
        squares support vector machine.
    C : float, default 1
        Weight of the losses.
    epsilon : float, default 0.1
        Size of the residuals without loss; used by ``loss="epsilon"`` only.
    tol : float, default 1e-4
        Largest violation of the optimality conditions at which the solver stops, in units of the targets; not used by
        ``loss="square"``.
    max_iter : int, default 1000000
        Maximum number of steps per iteration; a warning is issued if it is reached.

    Notes
    -----
    If all labels are equal, the scores are 0. The objective of a labelling is the minimum above; it may rise from one
    iteration to the next, because the labeler bounds the sizes and considers thresholds only.

    References
    ----------
    Zhang, Tsang, Kwok (2007), Maximum margin clustering made practical, ICML; (2009), IEEE Transactions on Neural
    Networks 20(4). Suykens, Vandewalle (1999), Neural Processing Letters 9(3) (least squares).
    """

    name: ClassVar[str] = "svr"
    synonyms: ClassVar[tuple[str, ...]] = ("iter_svr", "support_vector_regression")
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.SIGNED})
    targets: ClassVar[Literal["never", "start", "every_iteration"]] = "every_iteration"
    default_balancer: ClassVar[str | None] = "band"
    has_objective: ClassVar[bool] = True
    accuracy: ClassVar[float] = 3e-3
    loss: str = params.choice("laplacian", ("laplacian", "epsilon", "square"))
    C: float = params.real(1.0, above=0)
    epsilon: float = params.real(0.1, at_least=0)
    tol: float = params.real(1e-4, above=0)
    max_iter: int = params.integer(1_000_000, at_least=1)

    @property
    def default_labeler(self) -> Mapping[str, object]:  # type: ignore[override] # a property for a class attribute
        """`bias_threshold` with the loss of this solver."""
        return {"name": "bias_threshold", "loss": self.loss, "epsilon": self.epsilon}

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The implementations, by the type of the space."""
        return {FeatureSpace: Path(_svr_features, Scores), KernelSpace: Path(_svr_kernel, Scores, square=True)}


def _svr_features(spec: Svr, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    geometry = CentredFeatures.of(space)
    if spec.loss == "square" and space.width <= space.n:
        loss = WeightedLoss("square", float(spec.C))
        return _PrimalLeastSquares(geometry, factorise(geometry.gram(), loss.C, 0.0), loss)
    return _svr_machine(spec, geometry)


def _svr_kernel(spec: Svr, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    return _svr_machine(spec, StoredKernel.of(space))


def _svr_machine(spec: Svr, geometry: CentredFeatures | StoredKernel) -> Prepared:
    K = geometry.products()
    loss = WeightedLoss(spec.loss, float(spec.C), float(spec.epsilon) if spec.loss == "epsilon" else 0.0)
    if spec.loss == "square":
        factor = factorise(K, loss.C, 0.0)
        return _DualLeastSquares(geometry, K, factor, factor.solve(np.ones((len(K), 1)))[:, 0], loss)
    return PreparedMachine(spec.name, geometry, K, loss, float(spec.tol), int(spec.max_iter))


class _LeastSquares(FactorisedSolver):
    """Least squares of the signs of the labels."""

    geometry: CentredFeatures | StoredKernel
    loss: WeightedLoss

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        assert targets is not None
        y = signs(targets)
        if np.all(y == y[0]):
            return zero_scores(self.geometry, len(y))
        return self._scores(y)

    @abstractmethod
    def _scores(self, y: Array) -> Scores:
        """The scores for targets ±1 of both signs."""

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        return self.loss.objective(targets, outcome)


@final
@attrs.frozen(eq=False)
class _PrimalLeastSquares(_LeastSquares):
    """Least squares by the coefficients, from H'y about the mean, where the bias drops out of the system."""

    geometry: CentredFeatures
    factor: RegularisedInverse
    loss: WeightedLoss

    def _scores(self, y: Array) -> Scores:
        B = self.factor.solve(self.geometry.combined(y - y.mean()))  # (L, 1)
        rows, extend = self.geometry.scores(B)
        return Scores(rows, extend, carry=SquaredNorm(float(np.vdot(B, B))))


@final
@attrs.frozen(eq=False)
class _DualLeastSquares(_LeastSquares):
    """Least squares by dual variables: ``[K + I/C, e; e', 0] [α; b] = [y; 0]``.

    Parameters
    ----------
    ones : ndarray of shape (n,)
        ``(K + I/C)^-1 e``.
    """

    geometry: CentredFeatures | StoredKernel
    K: Array
    factor: RegularisedInverse
    ones: Array
    loss: WeightedLoss

    def _scores(self, y: Array) -> Scores:
        free = self.factor.solve(y[:, None])[:, 0]
        alpha = free - self.ones * (free.sum() / self.ones.sum())
        rows, extend = self.geometry.outcome(alpha)
        return Scores(rows, extend, carry=SquaredNorm(float(alpha @ (self.K @ alpha))))
