"""A solver of domains on a random part of the samples."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, final

import attrs

from clusterkit._typing import Array, Indices, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task
from clusterkit.contracts.outcomes import Domain, Outcome
from clusterkit.contracts.params import real
from clusterkit.contracts.registry import registry
from clusterkit.errors import InvalidParameter
from clusterkit.numerics.selection import sample_rows
from clusterkit.samples import Space
from clusterkit.samples.coding import Coded

FEWEST_DRAWN = 2
"""Smallest number of samples drawn: a domain around a single sample has no extent."""


def _domain_paths(solver: Solver) -> dict[type[Space], Path]:
    """Spaces on which a solver gives a domain."""
    return {space: path for space, path in solver.paths.items() if issubclass(path.gives, Domain)}


def _suits(solver: Any) -> bool:
    """Whether a value is a solver that learns from no labels and gives a domain."""
    return isinstance(solver, Solver) and solver.targets == "never" and bool(_domain_paths(solver))


def _as_solver(value: Any) -> Solver:
    """The solver with the given name, or from a dict with name and parameters; a solver is returned unchanged."""
    solver, changes = value, {}
    if isinstance(value, Mapping):
        changes = dict(value)
        solver = changes.pop("name", None)
    if isinstance(solver, str):
        solver = registry.get("solver", solver)().with_parameters(**changes)
    if not _suits(solver):
        specimens = registry.specimens("solver").items()
        names = [name for name, specimen in specimens if name != "subsampled" and _suits(specimen)]
        raise InvalidParameter(
            "solver 'subsampled': solver must be a solver that learns from no labels and gives a domain "
            f"({', '.join(names)}), as a name, a dict with 'name' and parameters, or a stage; got {value!r}"
        )
    assert isinstance(solver, Solver)
    return solver


@final
@attrs.frozen
class Subsampled(Solver):
    """Another solver on a random part of the samples; all samples are then labelled by the domain of the part.

    Choose it where the solver is too slow for all samples and a domain around some of them is good enough: with `svdd`
    and the labeler `equilibrium` it is the first half of fast support vector clustering. The cost is that of the solver
    on ``fraction n`` samples. The mathematics is that of the solver; the draw is in `Subsampled.drawn`.

    Parameters
    ----------
    solver : str, dict or Solver, default "svdd"
        A solver that learns from no labels and gives a domain: its name, a dict with ``name`` and parameters, or the
        stage. Its parameters are reached as ``solver__solver__C``.
    fraction : float, default 0.5
        Part of the samples, 0 < fraction <= 1, drawn without replacement; at least 2 samples. 1 means all samples, and
        gives the same bits as the solver alone.
    nu : float or None, default None
        Outlier fraction that the solver is given, as a tuner chooses it; None: that of the solver.

    Raises
    ------
    InvalidParameter
        If `solver` is not such a solver.

    Notes
    -----
    Samples that were not drawn are inside or outside the domain like new samples. Objectives on different
    parts cannot be compared, so that there is one start only; reported is that of the drawn part. ``status.facts`` are
    those of the solver and `n_drawn`, the number of samples drawn.

    References
    ----------
    Jung, Lee, Lee (2010), Fast support-based clustering method for large-scale problems, Pattern Recognition 43.
    """

    name: ClassVar[str] = "subsampled"
    synonyms: ClassVar[tuple[str, ...]] = ("fsvc", "random_subset")
    tunable: ClassVar[frozenset[str]] = frozenset({"nu"})

    solver: Solver = attrs.field(
        factory=partial(_as_solver, "svdd"),
        converter=_as_solver,
        metadata={"invalid": ("ridge", "nmf", 3, {"C": 1.0})},
    )
    fraction: float = real(0.5, above=0.0, at_most=1.0)
    nu: float | None = real(None, above=0.0, at_most=1.0, optional=True)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Spaces on which the solver gives a domain."""
        return {
            space: Path(_prepare, gives=path.gives, inductive=path.inductive)
            for space, path in _domain_paths(self.solver).items()
        }

    def drawn(self, n: int, rng: Rng) -> Indices:
        """Indices of the samples drawn, sorted."""
        return sample_rows(n, max(FEWEST_DRAWN, round(self.fraction * n)), rng)


def _prepare(solver: Subsampled, space: Any, task: Task, rng: Rng) -> Prepared:
    """The solver prepared on the part."""
    index = solver.drawn(space.n, rng)
    part = space if len(index) == space.n else space.take(index)
    inner = solver.solver if solver.nu is None else solver.solver.with_parameters(nu=solver.nu)
    return PreparedSubsampled(inner.prepare(part, Task(len(index), task.n_clusters), rng), len(index))


@final
@attrs.frozen(eq=False)
class PreparedSubsampled(Prepared):
    """The solver prepared on the samples drawn.

    Parameters
    ----------
    inner : Prepared
    n_drawn : int
    """

    inner: Prepared
    n_drawn: int

    @property
    def resolved(self) -> Mapping[str, object]:
        """Parameters that the solver decided, with the prefix ``solver__``."""
        return {f"solver__{name}": value for name, value in self.inner.resolved.items()}

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Outcome:
        """The domain of the samples drawn."""
        outcome = self.inner.solve(targets, None, rng)
        if outcome.status is None:
            return outcome
        facts = {**outcome.status.facts, "n_drawn": self.n_drawn}
        return attrs.evolve(outcome, status=attrs.evolve(outcome.status, facts=facts))

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        """None: objectives on different parts cannot be compared."""
        return None
