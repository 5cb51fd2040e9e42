"""Any solver of domains on a random part of the samples."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core.coding import Coded
from clusterkit.core.errors import InvalidParameter
from clusterkit.core.outcomes import Domain, Outcome
from clusterkit.core.params import real
from clusterkit.core.registry import registry
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Path, Prepared, Solver, Task

__all__ = ["Subsampled"]

LEAST = 2


def _domain_paths(solver: Solver) -> dict[type[Space], Path]:
    return {space: path for space, path in solver.paths.items() if issubclass(path.gives, Domain)}


def _suits(solver: Any) -> bool:
    return isinstance(solver, Solver) and solver.targets == "never" and bool(_domain_paths(solver))


def _as_solver(value: Any) -> Solver:
    """The solver that a name, a dict with name and parameters, or a solver means."""
    solver, changes = value, {}
    if isinstance(value, Mapping):
        changes = dict(value)
        solver = changes.pop("name", None)
    if isinstance(solver, str):
        solver = registry.get("solver", solver)().with_parameters(**changes)
    if not _suits(solver):
        names = [name for name, each in registry.specimens("solver").items() if name != "subsampled" and _suits(each)]
        raise InvalidParameter(
            "solver 'subsampled': solver must be a solver that learns from no labels and gives a domain "
            f"({', '.join(names)}), as a name, a dict with 'name' and parameters, or a stage; got {value!r}"
        )
    made: Solver = solver
    return made


@final
@attrs.frozen
class Subsampled(Solver):
    """Another solver on a random part of the samples; its domain then holds all of them.

    Choose it where the solver is too slow for all samples and a domain drawn around some will do: with `svdd` and the
    labeler `equilibrium` it is the first half of fast support vector clustering. Costs what the solver costs for
    ``fraction n`` samples.

    Parameters
    ----------
    solver : str, dict or Solver, default "svdd"
        A solver that learns from no labels and gives a domain: its name, a dict with ``name`` and parameters, or the
        stage. Its own parameters are reached as ``solver__solver__C``.
    fraction : float, default 0.5
        Part of the samples, 0 < fraction <= 1, drawn without replacement; at least 2 samples. 1 means all of them:
        the same bits as the solver alone.

    Raises
    ------
    InvalidParameter
        If `solver` is none of these.

    Notes
    -----
    Samples that were not drawn are inside or outside the domain like new ones. It has no objective: those of
    different parts cannot be compared. ``status.facts`` are the solver's, with `n_drawn` samples added.

    References
    ----------
    Jung, Lee, Lee (2010), Fast support-based clustering method for large-scale problems, Pattern Recognition 43.
    """

    name: ClassVar[str] = "subsampled"

    solver: Solver = attrs.field(
        factory=partial(_as_solver, "svdd"),
        converter=_as_solver,
        metadata={"invalid": ("ridge", "nmf", 3, {"C": 1.0})},
    )
    fraction: float = real(0.5, above=0.0, at_most=1.0)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Those of the solver that give a domain."""
        return {
            space: Path(_prepare, gives=path.gives, inductive=path.inductive)
            for space, path in _domain_paths(self.solver).items()
        }

    def drawn(self, n: int, rng: Rng) -> Array:
        """Indices of the part, in order."""
        size = min(n, max(LEAST, round(self.fraction * n)))
        return np.arange(n) if size == n else np.sort(rng.choice(n, size, replace=False))


def _prepare(solver: Subsampled, space: Any, task: Task, rng: Rng) -> Prepared:
    """The solver prepared on the part."""
    index = solver.drawn(space.n, rng)
    part = space if len(index) == space.n else space.take(index)
    inner = solver.solver.prepare(part, Task(len(index), task.n_clusters), rng)
    return _Prepared(inner, len(index))


@final
@attrs.frozen(eq=False)
class _Prepared(Prepared):
    """The solver bound to its part."""

    inner: Prepared
    n_drawn: int

    @property
    def resolved(self) -> Mapping[str, Any]:
        """What the solver decided, under its own name."""
        return {f"solver__{name}": value for name, value in self.inner.resolved.items()}

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Outcome:
        """The domain of the part."""
        outcome = self.inner.solve(targets, None, rng)
        if outcome.status is None:
            return outcome
        facts = {**outcome.status.facts, "n_drawn": self.n_drawn}
        return attrs.evolve(outcome, status=attrs.evolve(outcome.status, facts=facts))

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        """None."""
        return None
