"""Two-class maximum margin clustering by cutting planes."""

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

__all__ = ["Cpmmc"]


@final
@attrs.frozen
class Cpmmc(Solver):
    """The hyperplane with the widest soft margin over all labellings into two classes.

    Minimises ``|w|²/2 + (C/n) Σ_i max(0, 1 - |f(x_i)|)``, ``f(x) = w·x + b``, subject to ``|Σ_i f(x_i)| <= l``. The
    constraint balances outputs, not cluster sizes: sizes may differ by more than l. The loop is in
    cutting_plane/_loop.py (CuttingPlaneLoop.advance), the program over the cuts in cutting_plane/_restricted_dual.py
    (solve_cuts).

    Parameters
    ----------
    C : float, default 1
        Weight of margin violations. It has the units of an inverse squared length: below the inverse of the largest
        squared distance from the mean sample no sample reaches its margin.
    tol : float, default 0.01
        Stop once no constraint is violated by more than ξ + tol: ε of the paper.
    cccp_tol : float, default 0.001
        Relative decrease of the objective below which the next cut is added.
    max_iter : int, default 100
        Most cuts.

    Warns
    -----
    ClusterkitWarning
        If `max_iter` cuts do not suffice, with the violation that remains.

    Notes
    -----
    A constraint requires ``Σ |f| >= size - n ξ`` of a set of samples, the cut; the most violated set is that of all
    samples with ``|f| < 1``. ``|f|`` is linearised at the present signs (a concave-convex procedure: the objective
    falls or stays until the next cut is added). The quadratic program over the cuts is solved by its dual, which has
    one variable a cut. Each program costs one pass over the features, O(n L), and a new cut another; on a kernel
    O(n) and O(n²), with the n x n matrix in memory. Besides the features, memory is one byte a sample and cut.

    The solver starts from the signs of the labels it receives: the first hyperplane is normal to the difference of the
    class means. Random labels therefore give a random direction. Labels that are all the same are replaced by a random
    split. The outcome is a local optimum; `n_init` compares starts by the objective.

    `l`, reported as ``balance_slack``, is the largest size minus the smallest in ``Task.bounds``. Features are centred
    inside, so that translations of the data change nothing; the balance is then ``|b| <= l/n`` on the bias at the mean
    sample.

    References
    ----------
    Zhao, Wang, Zhang (2008), Efficient maximum margin clustering via cutting plane algorithm, SIAM SDM.
    Wang, Zhao, Zhang (2010), Linear time maximum margin clustering, IEEE Transactions on Neural Networks 21(2).
    """

    name: ClassVar[str] = "cpmmc"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.SIGNED})
    targets: ClassVar[Literal["never", "start", "every_turn"]] = "start"
    own_balance: ClassVar[bool] = True
    has_objective: ClassVar[bool] = True
    accuracy: ClassVar[float] = GAP_ACCURACY

    C: float = params.real(1.0, above=0)
    tol: float = params.real(0.01, above=0)
    cccp_tol: float = params.real(0.001, above=0)
    max_iter: int = params.integer(100, at_least=1)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Features and kernels."""
        return {FeatureSpace: Path(_prepare, Scores), KernelSpace: Path(_prepare, Scores)}


def _prepare(spec: Cpmmc, space: FeatureSpace | KernelSpace, task: Task, rng: Rng) -> Prepared:
    settings = CuttingPlaneSettings(spec.name, spec.C, spec.tol, spec.cccp_tol, spec.max_iter, n_outputs=1)
    return PreparedCuttingPlanes(settings, space, 2, balance_slack(task))
