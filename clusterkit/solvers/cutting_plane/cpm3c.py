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
from clusterkit.solvers.cutting_plane._loop import CuttingPlaneSettings, PreparedCuttingPlanes, balance_slack
from clusterkit.solvers.cutting_plane._restricted_dual import GAP_ACCURACY

__all__ = ["Cpm3c"]


@final
@attrs.frozen
class Cpm3c(Solver):
    """One output for each cluster such that the largest output of a sample exceeds the next by a soft margin of 1.

    Minimises ``Σ_p |w_p|²/2 + (C/n) Σ_i max(0, 1 - (f_z(x_i) - f_r(x_i)))`` where z has the largest and r the next
    output, ``f_p(x) = w_p·x + b_p``, subject to ``|Σ_i f_p(x_i) - Σ_i f_q(x_i)| <= l`` for all p, q. The constraint
    balances outputs, not cluster sizes. The loop is in cutting_plane/_loop.py (CuttingPlaneLoop.advance), the program
    over the cuts in cutting_plane/_restricted_dual.py (solve_cuts).

    Parameters
    ----------
    C : float, default 1
        Weight of margin violations, 1/β of the paper. It has the units of an inverse squared length.
    tol : float, default 0.01
        Stop once no constraint is violated by more than ξ + tol: ε of the paper.
    cccp_tol : float, default 0.001
        Relative decrease of the objective below which the next cut is added.
    max_iter : int, default 100
        Most cuts.
    intercept : bool, default True
        Whether outputs have biases, which are not penalised. The published method has no biases, and its balance then
        has no effect on centred features: all samples in one cluster are allowed.

    Warns
    -----
    ClusterkitWarning
        If `max_iter` cuts do not suffice, with the violation that remains.

    Notes
    -----
    As `cpmmc`, with k outputs: O(n L k) for each program and each cut, O(n k) and O(n² k) on a kernel, one byte a
    sample and cut. The dual has one variable a cut and k for the balance instead of k (k - 1), because the amounts by
    which the outputs are lowered sum to 0.

    One change to the published method makes the objective fall or stay between two cuts, as it does for two clusters:
    where the rival of a sample in a cut becomes the winner, it changes places with the old winner; as published, the
    sample leaves the cut until the rival loses again.

    With two clusters it is `cpmmc` with twice the C: ``f_1 = -f_0`` at the optimum.

    The solver starts from the labels it receives: cuts are added at these labels, first with the second nearest mean as
    rival, until the labels are fitted within tol, as by a multiclass support vector machine; from then on the winners
    follow the outputs. (The outputs of a single cut would lose clusters at once.) Random labels give nearly equal
    means, so n_init should be large for them. Labels that are all the same are replaced by a random split.

    For more than two clusters the balance does not forbid an empty cluster: an output that is 0 everywhere has the same
    sum as balanced outputs.

    References
    ----------
    Zhao, Wang, Zhang (2008), Efficient multiclass maximum margin clustering, ICML.
    """

    name: ClassVar[str] = "cpm3c"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    targets: ClassVar[Literal["never", "start", "every_turn"]] = "start"
    own_balance: ClassVar[bool] = True
    has_objective: ClassVar[bool] = True
    accuracy: ClassVar[float] = GAP_ACCURACY

    C: float = params.real(1.0, above=0)
    tol: float = params.real(0.01, above=0)
    cccp_tol: float = params.real(0.001, above=0)
    max_iter: int = params.integer(100, at_least=1)
    intercept: bool = params.flag(True)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Features and kernels."""
        return {FeatureSpace: Path(_prepare, Scores), KernelSpace: Path(_prepare, Scores)}


def _prepare(spec: Cpm3c, space: FeatureSpace | KernelSpace, task: Task, rng: Rng) -> Prepared:
    settings = CuttingPlaneSettings(
        spec.name, spec.C, spec.tol, spec.cccp_tol, spec.max_iter, task.k, bool(spec.intercept)
    )
    return PreparedCuttingPlanes(settings, space, task.k, balance_slack(task))
