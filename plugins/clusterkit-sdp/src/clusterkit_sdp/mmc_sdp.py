"""Maximum margin clustering as a semidefinite program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.outcomes import Outcome, Scores
from clusterkit.errors import InvalidData
from clusterkit.samples import KernelSpace, Space
from clusterkit.samples.coding import Coded, Coding
from clusterkit_sdp import _cvx
from clusterkit_sdp._interior import interior_point
from clusterkit_sdp._margin import MarginProgram, inverse_margin, without_bias
from clusterkit_sdp._moments import leading
from clusterkit_sdp._multiclass import factor

__all__ = ["MmcSdp"]

INSTEAD = (
    "Recipe 'gmmc' solves a relaxation of the same kind on more rows, recipe 'emmc' alternates and is linear in n."
)
"""Recipes for more samples, for the same message."""

DEFINITE = 1e-6
"""Error of the factor of a semidefinite kernel matrix, at most, as a share of its largest entry."""

CLARABEL_UP_TO = 30
"""Most samples for which Clarabel is tried where SCS fails; its time grows like n⁶."""


@final
@attrs.frozen
class MmcSdp(Solver):
    """The largest margin between two balanced clusters, relaxed to a semidefinite program: small data, certified.

    Choose it to know how far a labelling is from the best one: the optimum of the relaxation bounds the objective of
    every balanced labelling from below. The program is in clusterkit_sdp/_margin.py (MarginProgram.of). It replaces
    ``y y'`` by a matrix M (M ⪰ 0, M_ii = 1, |M e| <= l) and minimises ``max {2 λ'e - λ'(K∘M)λ : 0 <= λ <= C}``; the
    scores are the leading eigenvector of M times the root of its eigenvalue, ±1 where the relaxation is exact
    (`tightness` 1). There is no bias, so a kernel whose diagonal is not 1 is centred first. l, reported as
    ``balance_slack``, comes from the balancer, by default `band`; with ``balancer=None`` the optimum is the trivial
    cluster of all samples. Labels are signs and may miss the sizes by a few samples; an explicit balancer repairs that.
    Transductive.

    O(n³) an iteration, 15 to 40 of IPM (clusterkit_sdp/_interior.py), some hundred to some thousand of SCS; Clarabel is
    O(n⁶) and too slow above n = 40. ``outcome_.status.facts`` holds `value`, the objective of the solver; `bound`,
    below which no balanced labelling can be, whatever the accuracy of the solver; `gap`, value less bound, negative
    where the point of a conic solver is slightly infeasible; `rounded`, the objective of the signs; `tightness`, the
    largest eigenvalue of M over n; `smallest_eigenvalue` and `residual`, the feasibility of the point; `solver`,
    `solver_status`, `seconds`.

    Parameters
    ----------
    C : float, default 1.0
        Price of a sample inside the margin, the bound of λ. With narrow kernels the bound is never reached.
    solver : {"auto", "IPM", "SCS", "CLARABEL"}, default "auto"
        "IPM" is the interior-point method of this plugin, for positive semidefinite kernel matrices. "auto" is IPM; for
        other matrices SCS, and Clarabel if SCS fails on at most 30 samples.
    tol : float, default 1e-4
        Tolerance of the solver, by IPM of value less bound as a share of the optimum (or of 1). Labels need no more;
        1e-6 for objectives.
    max_iter : int or None, default None
        Most iterations; None means 200 of IPM and Clarabel, 100,000 of SCS.
    max_size : int, default 1000
        More samples are refused.

    References
    ----------
    Xu, Neufeld, Larson, Schuurmans (2004), Maximum margin clustering, NIPS 17, section 3.
    """

    name: ClassVar[str] = "mmc_sdp"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.SIGNED})
    own_balance: ClassVar[bool] = True
    has_objective: ClassVar[bool] = True
    max_clusters: ClassVar[int | None] = 2
    trial: ClassVar[Mapping[str, object]] = {"max_iter": 5000}

    C: float = params.real(1.0, at_least=1e-9, at_most=1e9)
    solver: str = params.choice("auto", ("auto", "IPM", "SCS", "CLARABEL"))
    tol: float = params.real(1e-4, above=0.0, below=1.0)
    max_iter: int | None = params.integer(None, at_least=1, optional=True)
    max_size: int = params.integer(1000, at_least=2)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Kernels only."""
        return {KernelSpace: Path(_prepare, gives=Scores, inductive=False)}


def _prepare(solver: MmcSdp, space: KernelSpace, task: Task, rng: np.random.Generator) -> PreparedMmcSdp:
    """The kernel matrix, centred if its diagonal is not 1, and the balance l."""
    _cvx.load(solver.name)
    _cvx.require_size(solver.name, space.n, solver.max_size, solver.solver == "CLARABEL", INSTEAD)
    K, centred = without_bias(space)
    R = factor(K)
    definite = bool(np.abs(R @ R.T - K).max() <= DEFINITE * np.abs(K).max(initial=0.0))
    if solver.solver == "IPM" and not definite:
        raise InvalidData("solver='IPM' needs a positive semidefinite kernel matrix, and this one is not. Use 'SCS'")
    return PreparedMmcSdp(solver, K, R if definite else None, most_imbalance(task), centred)


def most_imbalance(task: Task) -> float:
    """Largest |N+ - N-| that the bounds of two clusters allow."""
    if task.bounds is None or task.k == 1:
        return float(task.n)
    (low, low_other), (high, high_other) = task.bounds
    least, most = max(low, task.n - high_other), min(high, task.n - low_other)
    return float(max(abs(2 * least - task.n), abs(2 * most - task.n)))


@final
@attrs.frozen(eq=False)
class PreparedMmcSdp(Prepared):
    """The kernel matrix with the balance.

    Parameters
    ----------
    solver : MmcSdp
    K : ndarray of shape (n, n)
    R : ndarray of shape (n, r) or None
        A factor of K; None where K is not positive semidefinite.
    balance_slack : float
        l, the largest ``|N+ - N-|``.
    centred : bool
        Whether K was centred.
    """

    solver: MmcSdp
    K: np.ndarray
    R: np.ndarray | None
    balance_slack: float
    centred: bool

    @property
    def resolved(self) -> Mapping[str, object]:
        """The balance, the order of the solvers, and whether the kernel was centred."""
        return {"balance_slack": self.balance_slack, "centred": self.centred, "solver": self.candidates[0]}

    @property
    def objective_factor(self) -> float:
        """C."""
        return self.solver.C

    @property
    def candidates(self) -> tuple[str, ...]:
        """The interior-point method where K has a factor, else conic solvers in the order they are tried."""
        if self.solver.solver == "auto" and self.R is not None:
            return ("IPM",)
        return _cvx.candidates(self.solver.solver, ("SCS", "CLARABEL"), len(self.K) <= CLARABEL_UP_TO)

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: np.random.Generator) -> Scores:
        """Solve the relaxation and round it; nothing is random in it."""
        spec = self.solver
        if self.R is not None and self.candidates[0] == "IPM":
            run, solution = interior_point(self.R, spec.C, self.balance_slack, spec.tol, spec.max_iter, spec.name)
        else:
            program = MarginProgram.of(self.K, spec.C, self.balance_slack)
            run = _cvx.solve(program.problem, spec.name, self.candidates, spec.tol, spec.max_iter)
            solution = program.solution()
        scores, tightness = leading(solution.M)
        rounded = inverse_margin(self.K, np.where(scores > 0, 1.0, -1.0), spec.C)
        status = _cvx.status_of(spec.name, spec.tol, run, solution, rounded, tightness)
        return Scores(scores[:, None], None, status=status)

    def objective(self, targets: Coded | None, outcome: Outcome) -> np.ndarray | None:
        """The optimum of the relaxation, twice the objective of a support vector machine."""
        return None if outcome.status is None else np.array(outcome.status.history)
