"""The support vector classifier of the current labels: the solver of IterSVM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, final

import attrs

from clusterkit._typing import Rng
from clusterkit.core import params
from clusterkit.core.coding import Coding
from clusterkit.core.outcomes import Scores
from clusterkit.core.spaces import FeatureSpace, KernelSpace, Space
from clusterkit.core.stages import Path, Prepared, Solver, Task
from clusterkit.solvers.regression._libsvm import Features, Kernels, Loss, Machine

__all__ = ["Svm"]


@final
@attrs.frozen
class Svm(Solver):
    """Minimises ``|w|²/2 + C Σ max(0, 1 - y_i (w'h_i + b))`` for the labels y = ±1 of two clusters.

    The scores are ``w'h`` about their mean, without the bias b, which the labeler `bias_threshold` chooses. As
    published it is weak in the loop: the loss does not see samples that are right with confidence, so few labels ever
    turn; `svr` does better. scikit-learn's `SVC` is trained each turn, by `_features` on inner products about the
    mean, by `_kernel` on the kernel matrix: 8n² bytes, O(n² L) or O(n² d) once, O(n) a step and some n steps a turn.

    Parameters
    ----------
    C : float, default 1
        Weight of the losses.
    tol : float, default 1e-4
        Violation of the optimality conditions to stop at, in units of the targets.
    max_iter : int, default 1000000
        Most steps of a turn; a warning says where they were not enough.

    Notes
    -----
    Where all labels are equal the scores are 0. The objective of labels is the minimum above; it may rise from turn
    to turn, because the labeler bounds the sizes and looks at thresholds only.

    References
    ----------
    Zhang, Tsang, Kwok (2007), Maximum margin clustering made practical, ICML; (2009), IEEE Transactions on Neural
    Networks 20(4). Chang, Lin (2011), LIBSVM, ACM Transactions on Intelligent Systems and Technology 2(3).
    """

    name: ClassVar[str] = "svm"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.SIGNED})
    targets: ClassVar[Literal["never", "start", "every_turn"]] = "every_turn"
    default_balancer: ClassVar[str | None] = "band"
    default_labeler: ClassVar[str | Mapping[str, Any] | None] = {"name": "bias_threshold", "loss": "hinge"}
    has_objective: ClassVar[bool] = True
    accuracy: ClassVar[float] = 3e-3
    C: float = params.real(1.0, above=0)
    tol: float = params.real(1e-4, above=0)
    max_iter: int = params.integer(1_000_000, at_least=1)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Features and kernels."""
        return {FeatureSpace: Path(_features, Scores), KernelSpace: Path(_kernel, Scores, square=True)}


def _features(spec: Svm, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    return _machine(spec, Features.of(space))


def _kernel(spec: Svm, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    return _machine(spec, Kernels.of(space))


def _machine(spec: Svm, geometry: Features | Kernels) -> Prepared:
    loss = Loss("hinge", float(spec.C))
    return Machine(spec.name, geometry, geometry.products(), loss, float(spec.tol), int(spec.max_iter))
