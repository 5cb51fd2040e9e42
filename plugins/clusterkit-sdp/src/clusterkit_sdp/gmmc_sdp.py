"""Generalised maximum margin clustering as a semidefinite program."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.outcomes import Outcome, Scores
from clusterkit.samples import KernelSpace, Space
from clusterkit.samples.coding import Coded, Coding
from clusterkit_sdp import _cvx
from clusterkit_sdp._generalised import GeneralisedProgram, margin_matrix
from clusterkit_sdp._moments import leading

__all__ = ["GmmcSdp"]

CLARABEL_UP_TO = 60
"""Most samples for which Clarabel is tried first: there it takes at most twice the time of SCS and is more accurate."""

INSTEAD = "Solver 'gmmc' (recipe 'gmmc') solves the same program on some thousand samples."
"""Advice for more samples, for the same message."""


def _as_float(value: Any) -> Any:
    """A number as a float; nan for an integer beyond the floats; all else as it is, for the error."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        return value
    try:
        return float(value)
    except OverflowError:
        return math.nan


def _positive(value: object) -> str | None:
    """None for a number > 0, infinity included, else the words for the error."""
    fine = isinstance(value, float) and value >= params.SMALLEST
    return None if fine else f"a number > 0, not below {params.SMALLEST:.3g}, infinity included"


@final
@attrs.frozen
class GmmcSdp(Solver):
    """The largest margin with a bias between two clusters as a semidefinite program in n unknowns; certified.

    Solver `gmmc` of clusterkit solves the same program much faster, by a method of its own: choose this one to check
    it by general conic solvers, or for an infinite `bias_penalty`. The program is in clusterkit_sdp/_generalised.py
    (GeneralisedProgram.of). It maximises ``Σ g`` over ``S - diag(g) ⪰ 0``, ``g >= 0`` with
    ``S = (K + δI)⁻¹ - kk'/(e'k) + C_e ee'``, k the row sums of the inverse and C_e the `bias_penalty`: the Lagrange
    dual of the largest margin whose bias is free. The scores are the leading eigenvector of the moment matrix W, the
    multiplier of the matrix inequality, times the root of its eigenvalue: the margins. (The eigenvector to the smallest
    eigenvalue of ``S - diag(g)``, as in most descriptions, is arbitrary, because that null space mostly has more than
    one dimension.) Transductive.

    O(n⁴) to O(n⁵) by Clarabel, O(n³) an iteration of SCS, thousands of iterations. ``outcome_.status.facts`` holds
    `value` of a feasible W and `bound` by a feasible g, between which the optimum lies; their `gap`; `rounded`, the
    objective of the signs (infinite if `bias_penalty` is and the signs are not balanced); `tightness`, the largest
    eigenvalue of W over its trace; `smallest_eigenvalue` of the inequality; `solver_value`, `solver`, `solver_status`,
    `seconds`.

    If all samples are equal, every split has the same objective, and the labels mean nothing.

    Parameters
    ----------
    delta : float, default 0.1
        Added to the diagonal of the kernel matrix, which is singular for samples close to each other. It acts as
        squared slack.
    bias_penalty : float, default 1.0
        C_e of the paper, the price of imbalance. If it is infinite the scores sum to 0, solved exactly on the
        complement of the ones; prefer that to very large values, at which the conic solvers lose accuracy.
    slack_penalty : float or None, default None
        C_δ of the paper, the price of margins that fall short, ``Σ max(0, 1 - W_ii)``, and the bound of g; None forbids
        these.
    solver : {"auto", "SCS", "CLARABEL"}, default "auto"
        "auto" is Clarabel up to 60 samples, then SCS if that fails, and SCS above.
    tol : float, default 1e-5
        Absolute and relative tolerance of the conic solver.
    max_iter : int or None, default None
        Most iterations; None means 100,000 of SCS, 200 of Clarabel.
    max_size : int, default 200
        More samples are refused.

    References
    ----------
    Valizadegan, Jin (2006), Generalized maximum margin clustering and unsupervised kernel learning, NIPS 19.
    """

    name: ClassVar[str] = "gmmc_sdp"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.SIGNED})
    has_objective: ClassVar[bool] = True
    max_clusters: ClassVar[int | None] = 2
    trial: ClassVar[Mapping[str, object]] = {"max_iter": 5000}

    delta: float = params.real(0.1, above=0.0)
    bias_penalty: float = params.free(
        1.0, _positive, invalid=(0.0, -1.0, 1e-320, math.nan, "much"), converter=_as_float
    )
    slack_penalty: float | None = params.real(None, above=0.0, optional=True)
    solver: str = params.choice("auto", _cvx.SOLVERS)
    tol: float = params.real(1e-5, above=0.0, below=1.0)
    max_iter: int | None = params.integer(None, at_least=1, optional=True)
    max_size: int = params.integer(200, at_least=2)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Kernels only."""
        return {KernelSpace: Path(_prepare, gives=Scores, inductive=False)}


def _prepare(solver: GmmcSdp, space: KernelSpace, task: Task, rng: np.random.Generator) -> PreparedGmmcSdp:
    """The matrix S."""
    _cvx.load(solver.name)
    _cvx.require_size(solver.name, space.n, solver.max_size, solver.solver == "CLARABEL", INSTEAD)
    K = np.asarray(space.gram(), dtype=np.float64)
    return PreparedGmmcSdp(solver, margin_matrix(K, solver.delta, solver.bias_penalty))


@final
@attrs.frozen(eq=False)
class PreparedGmmcSdp(Prepared):
    """The solver with the matrix S, (n, n)."""

    solver: GmmcSdp
    S: np.ndarray

    @property
    def resolved(self) -> Mapping[str, object]:
        """The conic solver tried first."""
        return {"solver": self.candidates[0]}

    @property
    def candidates(self) -> tuple[str, ...]:
        """Conic solvers in the order they are tried."""
        return _cvx.candidates(self.solver.solver, ("CLARABEL", "SCS"), len(self.S) <= CLARABEL_UP_TO)

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: np.random.Generator) -> Scores:
        """Solve the program and round it; nothing is random in it."""
        spec = self.solver
        balanced = math.isinf(spec.bias_penalty)
        program = GeneralisedProgram.of(self.S, balanced, spec.slack_penalty)
        run = _cvx.solve(program.problem, spec.name, self.candidates, spec.tol, spec.max_iter)
        solution = program.solution()
        scores, tightness = leading(solution.M)
        signs = np.where(scores > 0, 1.0, -1.0)
        rounded = math.inf if balanced and signs.sum() else float(signs @ self.S @ signs)
        status = _cvx.status_of(spec.name, spec.tol, run, solution, rounded, tightness)
        return Scores(scores[:, None], None, status=status)

    def objective(self, targets: Coded | None, outcome: Outcome) -> np.ndarray | None:
        """``<S, W>``, the optimum from above."""
        return None if outcome.status is None else np.array(outcome.status.history)
