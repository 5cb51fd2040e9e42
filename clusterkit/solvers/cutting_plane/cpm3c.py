"""Maximum margin clustering of several classes by cutting planes."""

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
from clusterkit.solvers.cutting_plane._loop import CuttingPlanes, Rule, slack_of

__all__ = ["Cpm3c"]


@final
@attrs.frozen
class Cpm3c(Solver):
    """Seeks one output a cluster such that the largest output of a sample leads by 1 as far as it pays.

    Minimises ``Σ_p |w_p|²/2 + (C/n) Σ_i max(0, 1 - (f_z(x_i) - f_r(x_i)))`` where z has the largest and r the next
    output, ``f_p(x) = w_p·x + b_p``, subject to ``|Σ_i f_p(x_i) - Σ_i f_q(x_i)| <= l`` for all p, q. The balance is
    one of outputs, not of cluster sizes.

    Parameters
    ----------
    C : float, default 1
        Trade-off, 1/β of the paper. It has the units of an inverse squared length.
    eps : float, default 0.01
        Stop once no constraint is violated by more than ξ + eps.
    cccp_tol : float, default 0.001
        Relative decrease of the objective below which the next cut is sought.
    max_iter : int, default 100
        Most cuts.
    intercept : bool, default True
        Whether outputs have biases, which are not penalised. The published method has none, and its balance then says
        nothing on centred features: all samples in one cluster is admitted.

    Warns
    -----
    ClusterkitWarning
        If `max_iter` cuts do not suffice; it names the violation.

    Notes
    -----
    As `cpmmc`, with k outputs: O(n L k) for each program and each cut, O(n k) and O(n² k) on a kernel, a byte a sample
    and cut. Its dual has one variable a cut and k for the balance instead of k (k - 1), because the amounts by which
    the outputs are lowered sum to 0.

    One change makes the objective fall or stay between two cuts, as it does for two clusters: where the rival that a
    cut names becomes the winner, it changes places with the old winner; as published the sample drops out of the cut
    for as long.

    With two clusters it is `cpmmc` with twice the C: ``f_1 = -f_0`` at the optimum.

    The start are the labels given: cuts are added at these, first with the second nearest mean as rivals, until the
    labels are fitted within eps, as by a multiclass support vector machine; then the winners follow the outputs. (The
    plane of a single cut would lose clusters at once.) Random labels give nearly equal means, so n_init should be
    large for them. Labels that are all the same are replaced by a random split.

    For more than two clusters the balance does not forbid an empty one: outputs that are 0 everywhere have the sum
    of any others that are balanced.

    References
    ----------
    Zhao, Wang, Zhang (2008), Efficient multiclass maximum margin clustering, ICML.
    """

    name: ClassVar[str] = "cpm3c"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    targets: ClassVar[Literal["never", "start", "every_turn"]] = "start"
    own_balance: ClassVar[bool] = True
    has_objective: ClassVar[bool] = True

    C: float = params.real(1.0, above=0)
    eps: float = params.real(0.01, above=0)
    cccp_tol: float = params.real(0.001, above=0)
    max_iter: int = params.integer(100, at_least=1)
    intercept: bool = params.flag(True)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Features and kernels."""
        return {FeatureSpace: Path(_prepare, Scores), KernelSpace: Path(_prepare, Scores)}


def _prepare(spec: Cpm3c, space: FeatureSpace | KernelSpace, task: Task, rng: Rng) -> Prepared:
    rule = Rule(spec.name, spec.C, spec.eps, spec.cccp_tol, spec.max_iter, task.k, bool(spec.intercept))
    return CuttingPlanes(rule, space, task.k, slack_of(task))
