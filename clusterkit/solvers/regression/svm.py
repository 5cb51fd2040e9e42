"""The support vector classifier of the current labels: the solver of IterSVM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, final

import attrs

from clusterkit._typing import Rng
from clusterkit.core import params
from clusterkit.core.coding import Coding
from clusterkit.core.outcomes import Scores
from clusterkit.core.spaces import FeatureSpace, KernelSpace, Space
from clusterkit.core.stages import Path, Prepared, Solver, Task
from clusterkit.solvers.regression._libsvm import CentredFeatures, PreparedMachine, StoredKernel, WeightedLoss

__all__ = ["Svm"]


@final
@attrs.frozen
class Svm(Solver):
    """Minimises ``|w|²/2 + C Σ max(0, 1 - y_i (w'h_i + b))`` for the labels y = ±1 of two clusters.

    The scores are ``w'h`` about their mean, without the bias b, which the labeler `bias_threshold` chooses. In the loop
    the method is weak, as its authors report: the loss ignores samples classified with confidence, so few labels ever
    change; `svr` does better. scikit-learn's `SVC` is trained in each iteration, on inner products about the mean
    (features) or on the kernel matrix: 8n² bytes, O(n² L) or O(n² d) once, O(n) per step of the quadratic program and
    about n steps per iteration. The program is solved in regression/_libsvm.py (`PreparedMachine.solve`).

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
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.SIGNED})
    targets: ClassVar[Literal["never", "start", "every_turn"]] = "every_turn"
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
