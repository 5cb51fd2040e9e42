"""The calls of a solver in a fit: named in exceptions, and their answers checked."""

from __future__ import annotations

import math

from clusterkit._typing import Array, Rng
from clusterkit.core.coding import Coded
from clusterkit.core.contracts import During, check_objective, check_outcome
from clusterkit.core.outcomes import Outcome, Status
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Prepared, Solver, Task

__all__ = ["objective_of", "reported", "solved"]


def solved(
    prepared: Prepared,
    solver: Solver | None,
    coded: Coded | None,
    previous: Outcome | None,
    space: Space,
    task: Task,
    rng: Rng,
) -> Outcome:
    """The outcome of one turn, checked."""
    with During(solver):
        outcome = prepared.solve(coded, previous, rng)
    path = None if solver is None else solver.path(type(space))
    check_outcome(solver, outcome, Outcome if path is None else path.gives, task.n, coded)
    return outcome


def objective_of(
    prepared: Prepared, solver: Solver | None, coded: Coded | None, outcome: Outcome, starts: int
) -> Array | None:
    """The objective of each start, checked; None if the solver has none."""
    with During(solver):
        values = prepared.objective(coded, outcome)
    check_objective(solver, values, starts)
    return values


def reported(status: Status | None) -> float:
    """The objective of a solver that has none to compare starts by: the one it reports, or the last of its history."""
    if status is None:
        return math.nan
    if status.objective is not None:
        return status.objective
    return status.history[-1] if status.history else math.nan
