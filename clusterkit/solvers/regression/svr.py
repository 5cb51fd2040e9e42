"""Regression on the current labels with a bias, by support vectors or least squares: the solver of IterSVR."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core import params
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.outcomes import Outcome, Scores
from clusterkit.core.spaces import FeatureSpace, KernelSpace, Space
from clusterkit.core.stages import Path, Prepared, Solver, Task
from clusterkit.solvers.regression._libsvm import Carry, Features, Kernels, Loss, Machine, nothing, signs
from clusterkit.solvers.regression._regularised_inverse import Factor, factorise

__all__ = ["Svr"]


@final
@attrs.frozen
class Svr(Solver):
    """Minimises ``|w|²/2 + C Σ loss(w'h_i + b - y_i)`` for the labels y = ±1 of two clusters.

    The scores are ``w'h`` about their mean, without the bias b, which the labeler `bias_threshold` chooses; give it
    the same loss. A regression loss pulls samples towards their target from both sides, so that labels turn more
    easily than under the hinge loss of `svm`. It is scikit-learn's `SVR`, trained each turn; `_features` and `_kernel`
    cost what they cost there: 8n² bytes, O(n² L) or O(n² d) once, O(n) a step and some n to 10n steps a turn, more
    where C is large. ``loss="square"`` is factorised once, O(n³), and costs O(n²) a turn; on features with L <= n it
    needs no n x n matrix: O(n L² + L³) once, O(n L) a turn.

    Parameters
    ----------
    loss : {"laplacian", "epsilon", "square"}, default "laplacian"
        Of a residual r: ``|r|``; ``max(0, |r| - epsilon)``, support vector regression; ``r²/2``, the least squares
        support vector machine.
    C : float, default 1
        Weight of the losses.
    epsilon : float, default 0.1
        Residual without loss, for ``loss="epsilon"``.
    tol : float, default 1e-4
        Violation of the optimality conditions to stop at, in units of the targets; not for ``loss="square"``.
    max_iter : int, default 1000000
        Most steps of a turn; a warning says where they were not enough.

    Notes
    -----
    Where all labels are equal the scores are 0. The objective of labels is the minimum above; it may rise from turn
    to turn, because the labeler bounds the sizes and looks at thresholds only.

    References
    ----------
    Zhang, Tsang, Kwok (2007), Maximum margin clustering made practical, ICML; (2009), IEEE Transactions on Neural
    Networks 20(4). Suykens, Vandewalle (1999), Neural Processing Letters 9(3) (least squares).
    """

    name: ClassVar[str] = "svr"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.SIGNED})
    targets: ClassVar[Literal["never", "start", "every_turn"]] = "every_turn"
    default_balancer: ClassVar[str | None] = "band"
    has_objective: ClassVar[bool] = True
    accuracy: ClassVar[float] = 3e-3
    loss: str = params.choice("laplacian", ("laplacian", "epsilon", "square"))
    C: float = params.real(1.0, above=0)
    epsilon: float = params.real(0.1, at_least=0)
    tol: float = params.real(1e-4, above=0)
    max_iter: int = params.integer(1_000_000, at_least=1)

    @property
    def default_labeler(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The bias by the same loss."""
        return {"name": "bias_threshold", "loss": self.loss, "epsilon": self.epsilon}

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Features and kernels."""
        return {FeatureSpace: Path(_features, Scores), KernelSpace: Path(_kernel, Scores, square=True)}


def _features(spec: Svr, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    geometry = Features.of(space)
    if spec.loss == "square" and space.width <= space.n:
        loss = Loss("square", float(spec.C))
        return _Primal(geometry, factorise(geometry.gram(), loss.C, 0.0), loss)
    return _machine(spec, geometry)


def _kernel(spec: Svr, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    return _machine(spec, Kernels.of(space))


def _machine(spec: Svr, geometry: Features | Kernels) -> Prepared:
    K = geometry.products()
    loss = Loss(spec.loss, float(spec.C), float(spec.epsilon) if spec.loss == "epsilon" else 0.0)
    if spec.loss == "square":
        factor = factorise(K, loss.C, 0.0)
        return _Dual(geometry, K, factor, factor.solve(np.ones((len(K), 1)))[:, 0], loss)
    return Machine(spec.name, geometry, K, loss, float(spec.tol), int(spec.max_iter))


@final
@attrs.frozen(eq=False)
class _Primal(Prepared):
    """Least squares from H'y about the mean, where the bias is decoupled."""

    geometry: Features
    factor: Factor
    loss: Loss

    @property
    def resolved(self) -> Mapping[str, Any]:
        return self.factor.resolved

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        assert targets is not None
        y = signs(targets)
        if np.all(y == y[0]):
            return nothing(self.geometry, len(y))
        B = self.factor.solve(self.geometry.combined(y - y.mean()))  # (L, 1)
        rows, extend = self.geometry.scores(B)
        return Scores(rows, extend, carry=Carry(float(np.vdot(B, B))))

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        return self.loss.objective(targets, outcome)


@final
@attrs.frozen(eq=False)
class _Dual(Prepared):
    """Least squares by dual variables: ``[K + I/C, e; e', 0] [α; b] = [y; 0]``.

    Parameters
    ----------
    ones : ndarray of shape (n,)
        ``(K + I/C)^-1 e``.
    """

    geometry: Features | Kernels
    K: Array
    factor: Factor
    ones: Array
    loss: Loss

    @property
    def resolved(self) -> Mapping[str, Any]:
        return self.factor.resolved

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        assert targets is not None
        y = signs(targets)
        if np.all(y == y[0]):
            return nothing(self.geometry, len(y))
        free = self.factor.solve(y[:, None])[:, 0]
        alpha = free - self.ones * (free.sum() / self.ones.sum())
        rows, extend = self.geometry.outcome(alpha)
        return Scores(rows, extend, carry=Carry(float(alpha @ (self.K @ alpha))))

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        return self.loss.objective(targets, outcome)
